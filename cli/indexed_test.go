package cli

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"github.com/murksim/murksim/internal/report"
	"github.com/murksim/murksim/internal/waiting"
)

// indexBeside: a run writes an index beside its recording, which a run that is killed leaves,
// too. A run without an index leaves none of another recording. No error of the index ends a
// run, and a file that is no index stays as it is.
func indexBeside(t *testing.T, p program) {
	seek := func(tick, from string) {
		t.Helper()
		status, out, errs := p.run(t, p.command("seek", "a.murk", "--tick", tick))
		if want := regexp.MustCompile(", from the " + from + "\n"); status != report.StatusOK || errs != "" || !want.MatchString(out) {
			t.Errorf("seek = %d, %s; want %q", status, out+errs, want)
		}
	}
	p.must(t, "run", "heat", "-q", "-o", "a.murk")
	seek("1000", "keyframe of tick [0-9,]+")
	p.must(t, "run", "heat", "-q", "--no-index", "-o", "a.murk")
	if _, err := os.Stat(filepath.Join(p.dir, "a.murk.idx")); err == nil {
		t.Error("the index of an older recording stays beside a new one")
	}

	p.must(t, "run", "heat", "-q", "-o", "a.murk")
	c, _ := p.start(t, p.command("run", "heat", "--ticks", "1000000000", "--no-index", "-o", "a.murk"))
	p.vanishes(t, "a.murk.idx") // not only when the run ends
	c.Process.Kill()
	c.Wait()

	c, _ = p.start(t, p.command("run", "heat", "--ticks", "1000000000", "-o", "a.murk"))
	p.grows(t, "a.murk", 50_000)
	p.grows(t, "a.murk.idx", 20_000)
	p.grows(t, "a.murk", 40_000)
	c.Process.Kill()
	c.Wait()
	_, _, errs := p.run(t, p.command("seek", "a.murk", "--tick", "999999999"))
	last := regexp.MustCompile("it ends with tick ([0-9,]+)").FindStringSubmatch(errs)
	if last == nil {
		t.Fatal(errs)
	}
	seek(strings.ReplaceAll(last[1], ",", ""), "keyframe of tick [0-9,]+") // a slow machine has none of the first ticks

	notes := []byte("notes\n")
	if err := os.WriteFile(filepath.Join(p.dir, "a.murk.idx"), notes, 0o666); err != nil {
		t.Fatal(err)
	}
	status, _, errs := p.run(t, p.command("run", "heat", "-o", "a.murk"))
	if want := "a.murk.idx: it exists and is no index; the recording has no index, or one of its first ticks\n"; status != report.StatusOK || errs != want {
		t.Errorf("run = %d, %q; want %q", status, errs, want)
	}
	p.is(t, "a.murk.idx", notes)
	p.must(t, "verify", "-q", "a.murk")

	if runtime.GOOS == "windows" {
		return // it has no limit of a file's size
	}
	os.Remove(filepath.Join(p.dir, "a.murk.idx"))
	if status, _, errs := p.run(t, p.shell(`mkfifo a.murk.idx; "$M" run heat -q -o a.murk; s=$?; rm a.murk.idx; exit $s`)); status != report.StatusOK {
		t.Errorf("run beside a pipe = %d, %s", status, errs)
	}
	const few = `ulimit -f 100; exec "$M" run heat --index-budget 1GiB -o a.murk` // blocks of 512 bytes; the index needs more
	status, _, errs = p.run(t, p.shell(few))
	if status != report.StatusOK || !strings.HasPrefix(errs, "a.murk.idx: file too large; ") {
		t.Errorf("run = %d, %q; want only a message about the index", status, errs)
	}
	p.must(t, "verify", "-q", "a.murk")
	status, out, errs := p.run(t, p.command("seek", "a.murk", "--tick", "1000"))
	if status != report.StatusOK {
		t.Errorf("seek with the index that is left = %d, %s", status, out+errs)
	}
}

// vanishes waits until a file is gone.
func (p program) vanishes(t *testing.T, name string) {
	t.Helper()
	waiting.For(t, name+" is gone", func() bool {
		_, err := os.Stat(filepath.Join(p.dir, name))
		return errors.Is(err, fs.ErrNotExist)
	})
}

// indexOnFullDisk: an index makes room for all that a run writes.
func indexOnFullDisk(t *testing.T, p program) {
	c := exec.Command("unshare", "--map-root-user", "--mount", "sh", "-c", `mount -t tmpfs -o size=320k tmpfs . || exit 77
		cd "$PWD" && "$M" run heat -q --hashes h.tsv --save-state s.state --index-budget 1GiB && "$M" verify -q --hashes h.tsv heat.murk && ls`)
	c.Dir, c.Env = p.dir, append(os.Environ(), "M="+p.path)
	status, out, errs := p.run(t, c)
	if runtime.GOOS != "linux" || status == 77 || strings.Contains(errs, "unshare") {
		t.Log("this system lets no user mount; TestMakeRoom has to do")
		return
	}
	const want = "heat.murk.idx: the disk is full, and the recording needs the room; the recording has no index, or one of its first ticks\n"
	if status != report.StatusOK || errs != want || out != "h.tsv\nheat.murk\ns.state\n" {
		t.Errorf("run on a small disk = %d, %s%s", status, out, errs)
	}
}

// indexBesideFullDisk: a file on another disk, which is full, does not cost the index.
func indexBesideFullDisk(t *testing.T, p program) {
	if _, err := os.Stat("/dev/full"); err != nil {
		return // this system has no device that is full
	}
	const line = `ln -sf /dev/full full.csv; "$M" run heat -q --ticks 500 -o a.murk --stats full.csv; "$M" seek -q a.murk --tick 1 --index a.murk.idx`
	status, out, errs := p.run(t, p.shell(line))
	if status != report.StatusOK || strings.Contains(errs, "a.murk.idx") || !strings.Contains(errs, "full.csv: no space left on device") {
		t.Errorf("run --stats full.csv, and seek with the index that is left = %d, %s%s", status, out, errs)
	}
	c := exec.Command("unshare", "--map-root-user", "--mount", "sh", "-c", `mkdir small && mount -t tmpfs -o size=16k tmpfs small || exit 77
		"$M" run heat -q --hashes small/h.tsv -o a.murk; ls a.murk.idx`)
	c.Dir, c.Env = p.dir, append(os.Environ(), "M="+p.path)
	status, out, errs = p.run(t, c)
	if status == 77 || strings.Contains(errs, "unshare") {
		t.Log("this system lets no user mount; the device has to do")
		return
	}
	if out != "a.murk.idx\n" || !strings.HasPrefix(errs, "small/h.tsv: no space left on device") {
		t.Errorf("run beside a small disk = %s%s", out, errs)
	}
}

// TestMakeRoom: what does not fit on a full disk is written once more if something made room.
func TestMakeRoom(t *testing.T) {
	disk := &smallDisk{room: 3}
	o := &output{Writer: disk, onFull: func() bool { disk.room += 10; return true }}
	if n, err := o.Write([]byte("recording")); n != 9 || err != nil || string(disk.held) != "recording" {
		t.Errorf("Write = %d, %v; the disk holds %q", n, err, disk.held)
	}
	o.onFull = func() bool { return false }
	if n, err := o.Write([]byte("recording")); n != 4 || !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("Write without room = %d, %v", n, err)
	}
}

type smallDisk struct {
	held []byte
	room int
}

func (d *smallDisk) Write(b []byte) (n int, err error) {
	if n = min(len(b), d.room); n < len(b) {
		err = &os.PathError{Op: "write", Path: "a", Err: syscall.ENOSPC}
	}
	d.held, d.room = append(d.held, b[:n]...), d.room-n
	return n, err
}

// otherKinds: a state replaces a state only, and an index an index.
func otherKinds(t *testing.T, p program) {
	p.must(t, "run", "heat", "-q", "--until", "20", "-o", "a.murk")
	p.must(t, "new", "mine", "-q")
	mine, recorded := p.read(t, "mine.yaml"), p.read(t, "a.murk.idx")
	p.fails(t, p.command("seek", "a.murk", "--tick", "5", "--save-state", "mine.yaml"), "^mine.yaml exists and is no saved state; choose another file\n$")
	p.fails(t, p.command("seek", "a.murk", "--tick", "5", "--save-state", "a.murk.idx"), "^a.murk.idx exists and is no saved state")
	p.fails(t, p.command("index", "a.murk", "-o", "mine.yaml"), "^mine.yaml exists and is no index; choose another file\n$")
	p.is(t, "mine.yaml", mine)
	p.is(t, "a.murk.idx", recorded)
	p.must(t, "seek", "a.murk", "--tick", "5", "-q", "--save-state", "a.state")
	p.must(t, "seek", "a.murk", "--tick", "6", "-q", "--save-state", "a.state")
	p.must(t, "index", "-q", "a.murk")
	write(t, p, "b.murk.idx", "precious")
	p.must(t, "recover", "a.murk", "-q", "-o", "b.murk", "--force")
	p.is(t, "b.murk.idx", []byte("precious"))
	damaged := p.read(t, "a.murk.idx")
	damaged[len(damaged)-60] ^= 1 // in the payload of the last chunks
	write(t, p, "c.murk", string(p.read(t, "a.murk")))
	write(t, p, "c.murk.idx", string(damaged))
	p.must(t, "recover", "c.murk", "-q", "-o", "d.murk")
	if copied := p.read(t, "d.murk.idx"); len(copied) >= len(damaged)-60 || !bytes.HasPrefix(damaged, copied) {
		t.Errorf("recover copies %d bytes of an index of which byte %d is damaged", len(copied), len(damaged)-60)
	}
	write(t, p, "in.idx", string(p.read(t, "a.murk")))
	write(t, p, "in.idx.idx", string(p.read(t, "a.murk.idx")))
	p.must(t, "recover", "in.idx", "-q", "-o", "in", "--force")
	p.is(t, "in.idx", p.read(t, "a.murk"))
	if runtime.GOOS == "windows" {
		return
	}
	for _, row := range [][2]string{
		{`"$M" index a.murk -o -`, "index writes a file, not standard output\n"},
		{`"$M" index a.murk -o /dev/stdout | cat`, "index writes a file, not standard output\n"},
		{`mkfifo p; "$M" index a.murk -o p; rm p`, "p is no regular file, which an index must be\n"},
		{`rm a.murk.idx; mkfifo a.murk.idx; "$M" seek a.murk --tick 3 > out`, "a.murk.idx: it is no regular file; it is not used\n"},
		{`"$M" seek a.murk --tick 3 --index a.murk.idx`, "a.murk.idx: it is no regular file\n"},
		{`"$M" seek a.murk.idx --tick 3`, "a.murk.idx: it is no regular file\n"},
		{`"$M" recover a.murk.idx -o r.murk`, "a.murk.idx: it is no regular file\n"},
	} {
		line, want := row[0], row[1]
		if _, _, errs := p.run(t, p.shell(line)); errs != want {
			t.Errorf("%s: %q, want %q", line, errs, want)
		}
	}
}

// stdoutByName: standard output by a name such as /dev/stdout takes nothing but the data, and
// no file that it goes to is replaced.
func stdoutByName(t *testing.T, p program) {
	if runtime.GOOS == "windows" {
		return // it has no such names
	}
	p.must(t, "run", "heat", "-q", "--until", "20", "-o", "a.murk", "--save-state", "a.state")
	p.must(t, "convert", "-q", "a.murk", "a.jsonl")
	for line, file := range map[string]string{
		`"$M" run heat --until 20 -o /dev/stdout | cat`:                                 "a.murk",
		`"$M" run heat --until 20 --no-record --save-state /dev/stdout | cat`:           "a.state",
		`"$M" seek a.murk --tick 20 --save-state /dev/fd/1 | cat`:                       "a.state",
		`"$M" seek a.murk --tick 20 --save-state - | cat`:                               "a.state",
		`"$M" convert a.jsonl /dev/stdout | cat`:                                        "a.murk",
		`"$M" run heat -q --until 20 --save-state - > heat.murk.idx; cat heat.murk.idx`: "a.state",
	} {
		if _, out, errs := p.run(t, p.shell(line)); out != string(p.read(t, file)) {
			t.Errorf("%s: %.80q and %q; want the bytes of %s", line, out, errs, file)
		}
	}
	if status, _, errs := p.run(t, p.shell(`exec "$M" convert a.murk - >> a.murk`)); status != report.StatusUsage {
		t.Errorf("convert into its input = %d, %s", status, errs)
	}
	for _, args := range []string{
		"seek a.murk --tick 5 --save-state s > s", "recover a.murk --force -o s > s", "export a.murk --tick 3 --force -o s.csv > s.csv",
		"convert a.murk --force s > s", "new mine --force -o s > s", "export a.murk --tick 3 -o s.csv > s.csv",
	} {
		if status, _, errs := p.run(t, p.shell(`exec "$M" `+args)); status == report.StatusOK {
			t.Errorf("%s = %d, %s; its report goes to the same file", args, status, errs)
		}
	}
	if status, out, errs := p.run(t, p.shell(`"$M" new mine -o /dev/stdout | tail -n 1`)); status != report.StatusOK || strings.HasPrefix(out, "next") {
		t.Errorf("new -o /dev/stdout = %d, %s%s", status, out, errs)
	}
	p.must(t, "verify", "-q", "a.murk")

	// A parent that wants nothing of the output opens the null device for both directions.
	if status, _, errs := p.run(t, p.shell(`exec "$M" verify --json a.murk 1<>/dev/null`)); status != report.StatusOK {
		t.Errorf("verify --json to a null device = %d, %s", status, errs)
	}
}

// rareSyncs: however rarely a run is written through to the disk, a killed one leaves its
// ticks but for those of the last second. A table of hashes ends with a whole line.
func rareSyncs(t *testing.T, p program) {
	c, _ := p.start(t, p.command("run", "heat", "--ticks", "1000000000", "--sync=1h", "-o", "a.murk"))
	p.grows(t, "a.murk", header)
	c.Process.Kill()
	c.Wait()
	if runtime.GOOS == "windows" {
		return // it has no limit of a file's size
	}
	p.run(t, p.shell(`ulimit -f 16; exec "$M" run heat --ticks 900 -q --no-index -o x.murk --hashes x.tsv`))
	if b := p.read(t, "x.tsv"); len(b) < 4096 || b[len(b)-1] != '\n' {
		t.Errorf("a table that could not be written whole has %d bytes and ends with %.20q", len(b), b[max(0, len(b)-20):])
	}
}
