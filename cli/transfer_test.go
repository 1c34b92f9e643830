package cli

import (
	"bytes"
	"errors"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/murksim/murksim/internal/report"
	"github.com/murksim/murksim/internal/session"
	"github.com/murksim/murksim/internal/vectors"
	"github.com/murksim/murksim/internal/waiting"
)

// TestVectorsConvertCommand converts every recording of the codec's vectors to JSON lines
// and back with the program itself, by its files and through pipes.
func TestVectorsConvertCommand(t *testing.T) {
	p := build(t)
	files, err := filepath.Glob(filepath.Join(vectors.Path("murk/codec"), "*.murkreplay"))
	if err != nil || len(files) == 0 {
		t.Fatalf("%d recordings, %v", len(files), err)
	}
	must := func(c *exec.Cmd) string {
		t.Helper()
		status, out, errs := p.run(t, c)
		if status != 0 || errs != "" {
			t.Fatalf("%v = %d\n%.500s", c.Args, status, errs)
		}
		return out
	}
	for _, path := range files {
		want, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		path, err := filepath.Abs(path)
		if err != nil {
			t.Fatal(err)
		}
		must(p.command("convert", "--force", path, "lines.jsonl"))
		must(p.command("convert", "--force", "lines.jsonl", "back.murk"))
		must(p.command("convert", "--force", "back.murk", "again.jsonl"))
		if got := p.read(t, "back.murk"); !bytes.Equal(got, want) {
			t.Errorf("%s: %d bytes come back, not the same as the %d", filepath.Base(path), len(got), len(want))
		}
		lines := p.read(t, "lines.jsonl")
		if !bytes.Equal(p.read(t, "again.jsonl"), lines) {
			t.Errorf("%s: other lines the second time", filepath.Base(path))
		}
		back := p.command("convert", "-q", "-", "-")
		back.Stdin = bytes.NewReader(lines)
		if got := must(back); got != string(want) {
			t.Errorf("%s: %d bytes come back through pipes, not the same as the %d", filepath.Base(path), len(got), len(want))
		}
	}
	p.onlyFiles(t, "again.jsonl", "back.murk", "lines.jsonl")
	t.Logf("%d recordings", len(files))
}

// onlyFiles checks that the folder holds these files beside the program, and no others but
// indexes.
func (p program) onlyFiles(t *testing.T, want ...string) {
	t.Helper()
	entries, err := os.ReadDir(p.dir)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, e := range entries {
		if e.Name() != filepath.Base(p.path) && !strings.Contains(e.Name(), ".idx") {
			got = append(got, e.Name())
		}
	}
	if strings.Join(got, " ") != strings.Join(want, " ") {
		t.Errorf("the folder holds %q, want %q", got, want)
	}
}

// TestTransferFiles: the new file has the mode of the one that it replaces, a link
// stays a link, and a folder is no output.
func TestTransferFiles(t *testing.T) {
	p := program{dir: t.TempDir()}
	in, out := filepath.Join(p.dir, "in.murk"), filepath.Join(p.dir, "out.jsonl")
	if err := os.WriteFile(in, record(t, "heat", "--ticks", "3"), 0o666); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(os.WriteFile(out, nil, 0o640), os.Chmod(out, 0o640)); err != nil { // whatever the umask
		t.Fatal(err)
	}
	link := filepath.Join(p.dir, "link")
	if err := os.Symlink(out, link); err != nil && runtime.GOOS != "windows" {
		t.Fatal(err)
	}
	to := map[bool]string{true: out, false: link}[runtime.GOOS == "windows"]
	if status, _, errs := murksim(t, nil, "convert", "--force", in, to); status != report.StatusOK {
		t.Fatal(errs)
	}
	info, err := os.Stat(out)
	if err != nil || info.Size() == 0 || info.Mode().Perm() != 0o640 && runtime.GOOS != "windows" {
		t.Errorf("the file has mode %v and %d bytes, %v; want 0640 and some", info.Mode(), info.Size(), err)
	}
	if status, _, errs := murksim(t, nil, "convert", "--force", in, p.dir); status != report.StatusError || !strings.Contains(errs, "is a directory") {
		t.Errorf("convert to a folder = %d, %s", status, errs)
	}
	if status, _, errs := murksim(t, nil, "convert", p.dir, out+"2"); status != report.StatusError || !strings.Contains(errs, "is a directory") {
		t.Errorf("convert of a folder = %d, %s", status, errs)
	}
	p.path = "murksim"
	p.onlyFiles(t, "in.murk", "link", "out.jsonl")
}

// TestTransferToNowhere: an empty name is no file; a link that leads to no file yet stays,
// and the file is made; no temporary file stays.
func TestTransferToNowhere(t *testing.T) {
	p := program{dir: t.TempDir(), path: "murksim"}
	t.Chdir(p.dir)
	if err := os.WriteFile("in.murk", record(t, "heat", "--ticks", "3"), 0o666); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"in.murk", ""}, {"", "out.jsonl"}} {
		if status, _, errs := murksim(t, nil, append([]string{"convert"}, args...)...); status != report.StatusUsage || !strings.Contains(errs, "one is empty") {
			t.Errorf("convert %q = %d, %s; want %d", args, status, errs, report.StatusUsage)
		}
	}
	p.onlyFiles(t, "in.murk")
	if err := os.Symlink("nowhere", "link"); err != nil {
		if runtime.GOOS == "windows" {
			return // not everybody may make one
		}
		t.Fatal(err)
	}
	if status, _, errs := murksim(t, nil, "convert", "in.murk", "link"); status != report.StatusOK {
		t.Errorf("convert to a link = %d, %s", status, errs)
	}
	if to, err := os.Readlink("link"); to != "nowhere" {
		t.Errorf("the link leads to %q, %v", to, err)
	}
	p.onlyFiles(t, "in.murk", "link", "nowhere")
}

// TestInterruptedTransfer: a signal leaves no file behind, and the old one as it was.
func TestInterruptedTransfer(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		return // it has no interrupts that one process may send to another
	}
	p := build(t)
	if err := os.WriteFile(filepath.Join(p.dir, "out.murk"), []byte("old"), 0o666); err != nil {
		t.Fatal(err)
	}
	for _, s := range endings {
		t.Run(s.String(), func(t *testing.T) { p.interruptedTransfer(t, s) })
	}
}

// interruptedTransfer ends a transfer onto out.murk with a signal.
func (p program) interruptedTransfer(t *testing.T, s os.Signal) {
	heard := make(chan os.Signal, 1)
	signal.Notify(heard, s) // under nohup the program would ignore it, as it should
	defer signal.Stop(heard)
	c := p.command("convert", "--force", "-", "out.murk")
	var errs bytes.Buffer
	c.Stderr = &errs
	in, err := c.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := in.Write([]byte("{")); err != nil {
		t.Fatal(err)
	}
	p.appears(t, ".out.murk.lock") // it has begun
	rests(t, c)
	if err := c.Process.Signal(s); err != nil {
		t.Fatal(err)
	}
	c.Wait()
	if status, want := c.ProcessState.ExitCode(), "standard input: interrupted; out.murk was not written\n"; status != report.StatusError || errs.String() != want {
		t.Errorf("status %d, %q, want %d, %q", status, errs.String(), report.StatusError, want)
	}
	p.onlyFiles(t, "out.murk")
	if got := p.read(t, "out.murk"); string(got) != "old" {
		t.Errorf("the file holds %q, want what it held before", got)
	}
}

// TestInterruptedAfterTransfer: a signal that comes when the new file is there does not make
// convert say that it was not written.
func TestInterruptedAfterTransfer(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		return // it has no interrupts that one process may send to another
	}
	p := build(t)
	p.must(t, "run", "heat", "--ticks", "3", "-q", "-o", "in.murk")
	times := 100
	if testing.Short() {
		times = 40
	}
	for range times {
		write(t, p, "out.jsonl", "old")
		c, errs := p.start(t, p.command("convert", "-q", "--force", "in.murk", "out.jsonl"))
		for began := time.Now(); time.Since(began) < waiting.Hang; { // without a rest, so that the signal comes soon
			if info, err := os.Stat(filepath.Join(p.dir, "out.jsonl")); err == nil && info.Size() > 3 {
				break
			}
		}
		c.Process.Signal(os.Interrupt)
		c.Wait()
		if errs.Len() > 0 {
			t.Fatalf("the new file is there, but convert says %q", errs)
		}
	}
}

// TestReadErrorKeepsOlderFile: an error of reading is no damage, and what was read before it
// replaces no older file, but makes a new one.
func TestReadErrorKeepsOlderFile(t *testing.T) {
	p := program{dir: t.TempDir(), path: "murksim"}
	t.Chdir(p.dir)
	recording := record(t, "heat", "--ticks", "300")
	half := len(recording) / 2
	failed := errors.New("connection reset by peer")
	write(t, p, "whole.murk", string(recording))
	if status, _, errs := murksim(t, nil, "convert", "whole.murk", "older.jsonl"); status != report.StatusOK {
		t.Fatal(errs)
	}
	older := p.read(t, "older.jsonl")
	for _, tt := range []struct{ out, want string }{
		{"older.jsonl", "older.jsonl stays as it was; write to another file for what was read before that: [0-9]+ frames"},
		{"new.jsonl", "new.jsonl has what is whole before it: [0-9]+ frames"},
	} {
		in := io.MultiReader(bytes.NewReader(recording[:half]), iotest.ErrReader(failed))
		status, out, errs := murksim(t, in, "convert", "-", tt.out, "--force")
		if want := regexp.MustCompile("^standard input: .*" + failed.Error() + "\n  " + tt.want + "\n$"); status != report.StatusError || out != "" || !want.MatchString(errs) {
			t.Errorf("convert to %s = %d, %q, %q; want %d and %v", tt.out, status, out, errs, report.StatusError, want)
		}
	}
	p.is(t, "older.jsonl", older)
	if got := p.read(t, "new.jsonl"); len(got) == 0 || !bytes.HasPrefix(older, got) {
		t.Errorf("the new file has %d bytes, which are not the first of the %d", len(got), len(older))
	}

	broken := readerAt(func(b []byte, at int64) (int, error) {
		if at >= int64(half) {
			return 0, failed
		}
		return copy(b, recording[at:half]), nil
	})
	j := &recoverJob{app: &app{Session: &session.Session{Printer: &report.Printer{Quiet: true, Errs: new(report.Output)}}}, output: "whole.murk", force: true}
	end, _, reason := wholePart(t.Context(), broken, int64(len(recording)), j.Meter(0))
	if err := j.copyable("in.murk", end, reason); err == nil || !strings.Contains(err.Error(), failed.Error()+"\n  whole.murk stays as it was; ") {
		t.Errorf("recover over an older file: %v", err)
	}
	j.output = "other.murk"
	if err := j.copyable("in.murk", end, reason); err != nil {
		t.Errorf("recover to a new file: %v", err)
	}
}

type readerAt func(b []byte, at int64) (int, error)

func (r readerAt) ReadAt(b []byte, at int64) (int, error) { return r(b, at) }
