package cli

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/murksim/murksim/internal/report"
)

// TestLostWhileWritten: a run whose recording another program removes, renames, replaces or
// cuts does not end as if it were there.
func TestLostWhileWritten(t *testing.T) {
	if runtime.GOOS == "windows" {
		return // it has no interrupts that one process may send to another
	}
	p := build(t)
	at := func(name string) string { return filepath.Join(p.dir, name) }
	for what, lose := range map[string]func() error{
		"folder removed": func() error { return os.RemoveAll(at("r")) },
		"removed":        func() error { return os.Remove(at("r/a.murk")) },
		"renamed":        func() error { return os.Rename(at("r/a.murk"), at("r/b.murk")) },
		"replaced": func() error {
			return errors.Join(os.WriteFile(at("r/other"), []byte("notes"), 0o666), os.Rename(at("r/other"), at("r/a.murk")))
		},
		"cut":      func() error { return os.Truncate(at("r/a.murk"), 0) },
		"extended": func() error { return os.Truncate(at("r/a.murk"), 1<<30) },
	} {
		if err := os.Mkdir(at("r"), 0o777); err != nil {
			t.Fatal(err)
		}
		c, errs := p.start(t, p.command("run", "heat", "--ticks", "1000000000", "-q", "--no-index", "-o", "r/a.murk"))
		p.grows(t, "r/a.murk", header)
		if err := lose(); err != nil {
			t.Fatal(err)
		}
		c.Process.Signal(os.Interrupt)
		c.Wait()
		want := regexp.MustCompile("^r/a.murk: another program has removed, renamed, replaced or changed it\n" +
			"  the run ended after tick [0-9,]+; r/a.murk does not hold its ticks\n$")
		if c.ProcessState.ExitCode() != report.StatusError || !want.MatchString(errs.String()) {
			t.Errorf("%s: run = %v, %q; want %s", what, c.ProcessState, errs, want)
		}
		os.RemoveAll(at("r"))
	}
}

// TestNewAtOnce: of several commands that make one file at once, one makes it; the others
// neither overwrite it nor say that they made it.
func TestNewAtOnce(t *testing.T) {
	dir := t.TempDir()
	for round := range 100 {
		path := filepath.Join(dir, fmt.Sprintf("%d.yaml", round))
		const commands = 8
		names := make([]string, commands)
		var all sync.WaitGroup
		for i := range commands {
			all.Go(func() {
				name := fmt.Sprintf("world%d", i)
				if status, _, _ := murksim(t, nil, "new", name, "-o", path); status == report.StatusOK {
					names[i] = name
				}
			})
		}
		all.Wait()
		made := strings.Join(slices.DeleteFunc(names, func(s string) bool { return s == "" }), " ")
		if b, err := os.ReadFile(path); err != nil || !strings.Contains(string(b), "\nname: "+made+"\n") {
			t.Fatalf("made by %q, but the file holds %.200q, %v", made, b, err)
		}
	}
}

// TestIndexIsAnotherFile: a run says in its own words that the name of its index leads to
// another of its outputs, or that another process writes that file.
func TestIndexIsAnotherFile(t *testing.T) {
	p := build(t)
	if err := os.Symlink("a.murk", filepath.Join(p.dir, "a.murk.idx")); err != nil {
		if runtime.GOOS == "windows" {
			return // not everybody may make one
		}
		t.Fatal(err)
	}
	const less = "; the recording has no index, or one of its first ticks\n"
	status, _, errs := p.run(t, p.command("run", "heat", "-o", "a.murk"))
	if want := "a.murk.idx: it is also another output of this run" + less; status != report.StatusOK || errs != want {
		t.Errorf("run = %d, %q; want %q", status, errs, want)
	}
	other, _ := p.start(t, p.command("run", "heat", "--ticks", "1000000000", "-q", "--no-index", "-o", "b.murk.idx"))
	p.grows(t, ".b.murk.idx.lock", 0)
	status, _, errs = p.run(t, p.command("run", "heat", "-o", "b.murk"))
	want := regexp.MustCompile(fmt.Sprintf("^b.murk.idx: process %d on [^;]*%s$", other.Process.Pid, less))
	if status != report.StatusOK || !want.MatchString(errs) {
		t.Errorf("run = %d, %q; want %s", status, errs, want)
	}
}
