package cli

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/murksim/murksim/internal/report"
	"github.com/murksim/murksim/internal/waiting"
)

// interruptedExport: a signal ends an export, and nothing of the new file is left.
func (p program) interruptedExport(t *testing.T) {
	if runtime.GOOS == "windows" {
		return // it has no interrupts that one process may send to another
	}
	if status, out, errs := p.run(t, p.command("run", "heat", "--ticks", "20000", "--no-index", "-o", "long.murk")); status != 0 {
		t.Fatalf("run = %d\n%s", status, out+errs)
	}
	if err := os.WriteFile(filepath.Join(p.dir, "long.csv"), []byte("older"), 0o666); err != nil {
		t.Fatal(err)
	}
	c := p.command("export", "long.murk", "--force", "-o", "long.csv")
	var errs bytes.Buffer
	c.Stderr = &errs
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	waiting.For(t, "the export has begun", func() bool {
		found, _ := filepath.Glob(filepath.Join(p.dir, ".long.csv.new-*"))
		return len(found) > 0
	})
	if err := c.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	err := c.Wait()
	said := strings.ReplaceAll(errs.String(), "waiting for the tick, or what else is under way, to end; another Ctrl-C ends it at once\n", "") // a busy machine does
	if c.ProcessState.ExitCode() != report.StatusError || said != "interrupted; long.csv was not written\n" {
		t.Errorf("export = %v, %q", err, errs.String())
	}
	if got := string(p.read(t, "long.csv")); got != "older" {
		t.Errorf("the older file has become %.20q", got)
	}
	if left, _ := filepath.Glob(filepath.Join(p.dir, ".long.csv*")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

// An export that is interrupted before it begins writes nothing.
func TestExportInterruptedAtOnce(t *testing.T) {
	dir := t.TempDir()
	recording, out := filepath.Join(dir, "heat.murk"), filepath.Join(dir, "x.npy")
	if status, _, errs := murksim(t, nil, "run", "heat", "--ticks", "5", "-o", recording); status != 0 {
		t.Fatal(errs)
	}
	for _, more := range [][]string{nil, {"--tick", "3"}} {
		ctx, interrupt := context.WithCancel(t.Context())
		interrupt()
		var text, errs bytes.Buffer
		args := append([]string{"export", recording, "-o", out}, more...)
		status := Program{}.run(ctx, args, strings.NewReader(""), &text, &errs)
		if want := "interrupted; " + out + " was not written\n"; status != report.StatusError || errs.String() != want || text.Len() > 0 {
			t.Errorf("%v = %d, %q, %q; want %q", more, status, errs.String(), text.String(), want)
		}
		if _, err := os.Stat(out); err == nil {
			t.Error("there is a file")
		}
	}
}

// TestRunExportInterrupted: a run that ends too early for its --export says what it came to all the
// same, and fails.
func TestRunExportInterrupted(t *testing.T) {
	t.Chdir(t.TempDir())
	ctx, cancel := context.WithCancel(t.Context())
	go func() { // when there are ticks
		defer cancel()
		head := int64(0)
		waiting.Until(func() bool {
			info, err := os.Stat("heat.murk")
			if err == nil && head == 0 {
				head = info.Size()
			}
			return err == nil && info.Size() > head
		})
	}()
	var text, errs bytes.Buffer
	status := Program{}.run(ctx, []string{"run", "heat", "--realtime", "--export", "k.npz"}, strings.NewReader(""), &text, &errs)
	for _, want := range []string{"stopped early\n", "recorded  heat.murk  ", "\nnext      murksim verify heat.murk\n"} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("run says %s, want %q", text.String(), want)
		}
	}
	const begin = "heat: k.npz: it was not written: a .npz is laid out for all ticks up to 1,000, and the run ended after tick "
	if got := errs.String(); status != report.StatusError || !strings.HasPrefix(got, begin) || !strings.HasSuffix(got, "\n  murksim export heat.murk -o k.npz takes those that there are\n") {
		t.Errorf("run = %d, %q, want %q", status, got, begin)
	}
	if _, err := os.Stat("k.npz"); err == nil || strings.Contains(text.String(), "k.npz") {
		t.Errorf("there is a file, or run says so: %s", text.String())
	}
}

// TestExportIntoPipe: what is written from its beginning to its end can go into a pipe, and has the
// bytes of a file; an .npz is refused before anything is done.
func TestExportIntoPipe(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		return // it has no pipes with names in folders
	}
	p := build(t)
	p.must(t, "run", "heat", "--ticks", "30", "-q", "-o", "a.murk")
	for _, ending := range []string{"npy", "csv", "parquet", "mcap", "png", "svg", "gif"} {
		for _, line := range []string{
			`"$M" export a.murk -q -o `,
			`"$M" run heat --ticks 30 -q --no-record --export `,
		} {
			if ending == "gif" {
				line = strings.NewReplacer("-o ", "--scale 0..100 -o ", "--export ", "--export-scale 0..100 --export ").Replace(line)
			}
			line = "rm -f pipe.* file.*; mkfifo pipe.E; cat pipe.E >got & " + line + "pipe.E && wait && " + line + "file.E && cmp got file.E"
			if status, out, errs := p.run(t, p.shell(strings.ReplaceAll(line, ".E", "."+ending))); status != report.StatusOK {
				t.Errorf("%s: %d\n%s", line, status, out+errs)
			}
		}
	}
	const want = "a.npz is a pipe, which takes no .npz; write to a regular file\n"
	for _, line := range []string{`"$M" export a.murk -o a.npz`, `"$M" run heat --no-record --export a.npz`} {
		if status, _, errs := p.run(t, p.shell("rm -f a.npz; mkfifo a.npz; "+line)); status != report.StatusUsage || errs != want {
			t.Errorf("%s = %d, %q; want %q", line, status, errs, want)
		}
	}
}
