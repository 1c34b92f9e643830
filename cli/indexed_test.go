package cli

import (
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"
)

// indexBeside: a run writes an index beside its recording, which a run that is killed leaves,
// too. A run without an index leaves none of another recording. No error of the index ends a
// run, and a file that is no index stays as it is.
func indexBeside(t *testing.T, p program) {
	seek := func(tick, from string) {
		t.Helper()
		status, out, errs := p.run(t, p.command("seek", "a.murk", "--tick", tick))
		if want := regexp.MustCompile(", from the " + from + "\n"); status != statusOK || errs != "" || !want.MatchString(out) {
			t.Errorf("seek = %d, %s; want %q", status, out+errs, want)
		}
	}
	p.must(t, "run", "heat", "-q", "-o", "a.murk")
	seek("1000", "keyframe of tick [0-9,]+")
	p.must(t, "run", "heat", "-q", "--no-index", "-o", "a.murk")
	if _, err := os.Stat(filepath.Join(p.dir, "a.murk.idx")); err == nil {
		t.Error("the index of an older recording stays beside a new one")
	}

	c, _ := p.start(t, p.command("run", "heat", "--ticks", "1000000000", "-o", "a.murk"))
	p.grows(t, "a.murk.idx", 20_000)
	c.Process.Kill()
	c.Wait()
	seek("500", "keyframe of tick [0-9,]+")

	notes := []byte("notes\n")
	if err := os.WriteFile(filepath.Join(p.dir, "a.murk.idx"), notes, 0o666); err != nil {
		t.Fatal(err)
	}
	status, _, errs := p.run(t, p.command("run", "heat", "-o", "a.murk"))
	if want := "a.murk.idx: it exists and is no index; the recording has no index, or one of its first ticks\n"; status != statusOK || errs != want {
		t.Errorf("run = %d, %q; want %q", status, errs, want)
	}
	p.is(t, "a.murk.idx", notes)
	p.must(t, "verify", "-q", "a.murk")

	if runtime.GOOS == "windows" {
		return // it has no limit of a file's size
	}
	os.Remove(filepath.Join(p.dir, "a.murk.idx"))
	if status, _, errs := p.run(t, p.shell(`mkfifo a.murk.idx; "$M" run heat -q -o a.murk; s=$?; rm a.murk.idx; exit $s`)); status != statusOK {
		t.Errorf("run beside a pipe = %d, %s", status, errs)
	}
	const few = `ulimit -f 100; exec "$M" run heat --index-budget 1GiB -o a.murk` // blocks of 512 bytes; the index needs more
	status, _, errs = p.run(t, p.shell(few))
	if status != statusOK || !strings.HasPrefix(errs, "a.murk.idx: file too large; ") {
		t.Errorf("run = %d, %q; want only a message about the index", status, errs)
	}
	p.must(t, "verify", "-q", "a.murk")
	status, out, errs := p.run(t, p.command("seek", "a.murk", "--tick", "1000"))
	if status != statusOK {
		t.Errorf("seek with the index that is left = %d, %s", status, out+errs)
	}
}
