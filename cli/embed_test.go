package cli_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/murksim/murksim/cli"
	"github.com/murksim/murksim/internal/filelock"
	"github.com/murksim/murksim/replay"
)

// A program that has murksim in it runs its commands, with their exit statuses, and looks at recordings.
func TestEmbedded(t *testing.T) {
	var out, errs bytes.Buffer
	file := filepath.Join(t.TempDir(), "heat.murk")
	call := func(ctx context.Context, want int, args ...string) {
		t.Helper()
		out.Reset()
		errs.Reset()
		if got := (cli.Program{}).Call(ctx, args, strings.NewReader(""), &out, &errs); got != want {
			t.Errorf("%q ended with %d, want %d: %s", args, got, want, &errs)
		}
	}
	call(t.Context(), 0, "run", "heat", "--ticks", "50", "-o", file, "--json")
	call(t.Context(), 0, "verify", "--json", file)
	if !strings.Contains(out.String(), `"status":"ok","ticks":50`) {
		t.Errorf("verify said %s", &out)
	}
	call(t.Context(), 2, "verify")
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	call(ended, 1, "verify", file)
	r, closeAll, err := cli.Program{}.Open(t.Context(), file, cli.Look{})
	if err != nil {
		t.Fatal(err)
	}
	defer closeAll()
	if w, err := r.At(t.Context(), 50); err != nil || w.Tick() != 50 {
		t.Errorf("At(50) = %v, %v", w, err)
	}
	testOpenWritten(t, file)
	if _, _, err := (cli.Program{}).Open(t.Context(), "nowhere.murk", cli.Look{}); err == nil || !strings.Contains(err.Error(), "nowhere.murk") {
		t.Errorf("a recording that is not there: %v", err)
	}
	s, err := cli.Program{}.Scenario("heat", []string{"seed=7"}, 0)
	if err != nil || s.Seed != 7 {
		t.Errorf("Scenario = %v, %v", s, err)
	}
	if _, err := (cli.Program{}).Scenario("heat", nil, 1000); err == nil {
		t.Error("a world may take more than its limit")
	}
}

// testOpenWritten: a recording on which somebody holds a lock, as its writer does, has the ticks that are whole, and says whether more may come.
func testOpenWritten(t *testing.T, file string) {
	if !filelock.Supported {
		return
	}
	all, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	frames, err := replay.NewReader(bytes.NewReader(all))
	if err != nil {
		t.Fatal(err)
	}
	head := int(frames.Position().Offset)
	bad := bytes.Clone(all)
	bad[head] ^= 1 // the number of the first tick
	for what, tt := range map[string]struct {
		b       []byte
		last    uint64
		problem string
	}{
		"whole": {all, 50, ""}, "no frame": {all[:head], 0, "still being written"}, "cut in a frame": {all[:len(all)-1], 49, "still being written"},
		"damaged": {bad, 0, "malformed"},
	} {
		name := filepath.Join(t.TempDir(), "written.murk")
		if err := os.WriteFile(name, tt.b, 0o666); err != nil {
			t.Fatal(err)
		}
		unlock := locked(t, name)
		r, closeAll, err := cli.Program{}.Open(t.Context(), name, cli.Look{})
		if err != nil {
			t.Errorf("%s: %v", what, err)
			continue
		}
		if a := r.About(); a.Last != tt.last || (tt.problem == "") != (a.Problem == "") || !strings.Contains(a.Problem, tt.problem) {
			t.Errorf("%s: it has %d ticks and the problem %q, want %d and %q", what, a.Last, a.Problem, tt.last, tt.problem)
		}
		if w, err := r.At(t.Context(), tt.last); err != nil || w.Tick() != tt.last {
			t.Errorf("%s: At(%d) = %v", what, tt.last, err)
		}
		closeAll()
		if err := errors.Join(unlock(), os.WriteFile(name, all[:head/2], 0o666)); err != nil {
			t.Fatal(err)
		}
		unlock = locked(t, name)
		if _, _, err := (cli.Program{}).Open(t.Context(), name, cli.Look{}); !errors.Is(err, replay.ErrTruncated) || !strings.Contains(err.Error(), "still being written") {
			t.Errorf("a header that is cut: %v", err)
		}
		unlock()
	}
}

// locked holds a lock of a file, as a program that writes it does.
func locked(t *testing.T, name string) (unlock func() error) {
	t.Helper()
	f, err := os.Open(name)
	if err == nil {
		err = filelock.Lock(f)
	}
	if err != nil {
		t.Fatal(err)
	}
	return f.Close
}
