package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

// TestRun runs checks of every outcome. What each prints comes with it, the table has a row each,
// and what failed is followed by the command that repeats it.
func TestRun(t *testing.T) {
	t.Chdir("../../..")
	all := []check{
		{name: "good", do: `echo good speaks; $(full false true)`, adds: "more", waits: true},
		{name: "bad", do: `echo bad speaks; false; echo never`},
		{name: "apart", do: `missing "it needs a moon"`},
		{name: "late", do: `true`, night: true},
		{name: "fast", do: `! $long`, quick: true},
	}
	for _, tt := range []struct {
		args   string
		status int
		last   string
		want   []string // patterns
	}{
		{"", 1, "2 passed, 1 failed, 1 skipped", nil},
		{"good", 0, "1 passed, 0 failed, 0 skipped", []string{`(?m)^good speaks$`, `(?m)^good .* passed +more$`}},
		{"--long good", 1, "0 passed, 1 failed, 0 skipped", []string{`(?m)^repeat it alone: tools/ci/test.sh --long good$`}},
		{"bad", 1, "0 passed, 1 failed, 0 skipped", []string{`(?m)^bad speaks$\n\n`, `(?m)^repeat it alone: tools/ci/test.sh bad$`}},
		{"apart", 0, "0 passed, 0 failed, 1 skipped", []string{`(?m)^apart .* skipped +skipped: it needs a moon$`}},
		{"--quick", 0, "1 passed, 0 failed, 0 skipped", []string{`(?m)^fast .* passed`}},
		{"late good", 0, "2 passed, 0 failed, 0 skipped", nil},
	} {
		var out bytes.Buffer
		status, err := run(t.Context(), all, strings.Fields(tt.args), &out)
		if err != nil || status != tt.status {
			t.Errorf("%q: status %d, error %v, want %d; it printed\n%s", tt.args, status, err, tt.status, &out)
		}
		if lines := strings.Split(strings.TrimSpace(out.String()), "\n"); lines[len(lines)-1] != tt.last {
			t.Errorf("%q: the last line is %q, want %q", tt.args, lines[len(lines)-1], tt.last)
		}
		for _, pattern := range tt.want {
			if !regexp.MustCompile(pattern).MatchString(out.String()) {
				t.Errorf("%q: nothing like %s in\n%s", tt.args, pattern, &out)
			}
		}
	}
}

func TestUsage(t *testing.T) {
	for _, args := range []string{"--quick --long", "--fast", "nothing"} {
		var out bytes.Buffer
		if status, err := run(t.Context(), checks, strings.Fields(args), &out); status != 2 || err == nil {
			t.Errorf("%q: status %d, error %v, want 2 and an error", args, status, err)
		}
	}
}

// TestInterrupted ends a check that would take an hour, with all that it started; no other begins.
func TestInterrupted(t *testing.T) {
	t.Chdir("../../..")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	file := filepath.Join(t.TempDir(), "began")
	slow := check{name: "slow", waits: true, do: `(sleep 3600) & touch '` + file + `'; wait`}
	go func() {
		for ctx.Err() == nil {
			if _, err := os.Stat(file); err == nil {
				cancel()
			}
			time.Sleep(time.Millisecond)
		}
	}()
	results := runAll(ctx, []check{slow, slow, slow}, mode{}, &bytes.Buffer{})
	for i, r := range results {
		if r.verdict() != "stopped" {
			t.Errorf("check %d %s, want stopped", i, r.verdict())
		}
	}
}

// TestNames holds what the command line and the table need of all checks.
func TestNames(t *testing.T) {
	var names []string
	for _, c := range checks {
		if !regexp.MustCompile(`^[a-z0-9]{1,12}$`).MatchString(c.name) || c.what == "" || c.do == "" || slices.Contains(names, c.name) {
			t.Errorf("%+v has no name of its own in a short word, or says nothing, or does nothing", c)
		}
		names = append(names, c.name)
	}
}

// TestFirst holds that nothing begins before a check that is to end first.
func TestFirst(t *testing.T) {
	t.Chdir("../../..")
	dir := t.TempDir()
	list := []check{
		{name: "before", do: "touch '" + dir + "/before'"},
		{name: "first", first: true, do: "[ ! -e '" + dir + "/after' ] && sleep 0.2 && [ ! -e '" + dir + "/after' ] && touch '" + dir + "/first'"},
		{name: "after", do: "[ -e '" + dir + "/first' ] && touch '" + dir + "/after'"},
		{name: "waiting", waits: true, do: "[ -e '" + dir + "/first' ]"},
	}
	for i, r := range runAll(t.Context(), list, mode{}, &bytes.Buffer{}) {
		if r.verdict() != "passed" {
			t.Errorf("%s %s", list[i].name, r.verdict())
		}
	}
}
