//go:build unix

package cli

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/murksim/murksim/internal/report"
)

// elsewhere builds the program in a folder that other users can enter, and returns how one of
// them runs it: a user other than root, who may do anything.
func elsewhere(t *testing.T) (p program, command func(args ...string) *exec.Cmd) {
	t.Helper()
	folder, err := os.MkdirTemp("", "murksim-test-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.Chmod(folder, 0o777); os.RemoveAll(folder) })
	if err := os.Chmod(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(folder, "murksim")
	if err := os.Rename(build(t).path, path); err != nil {
		t.Fatal(err)
	}
	p = program{path, folder}
	return p, func(args ...string) *exec.Cmd { return asUser(p.command(args...)) }
}

// asUser lets a command that root would run be run by another user.
func asUser(c *exec.Cmd) *exec.Cmd {
	if os.Getuid() == 0 {
		c.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	}
	return c
}

// TestOverwritingWithoutPermission: in a folder that takes no other file, or no other in
// place of somebody else's, a file is written in place, once there is a tick, and is locked;
// a file that may not be written is not replaced.
func TestOverwritingWithoutPermission(t *testing.T) {
	p, command := elsewhere(t)
	folder := p.dir
	p.must(t, "run", "heat", "--ticks", "5", "-q", "-o", "a.murk")
	older := p.read(t, "a.murk")
	write(t, p, "locked.murk", string(older))
	write(t, p, "falling.yaml", falling)
	for _, mode := range []os.FileMode{0o555, 0o777 | os.ModeSticky} {
		write(t, p, "a.murk", string(older))
		for name, mode := range map[string]os.FileMode{".": mode, "a.murk": 0o666, "locked.murk": 0o444} {
			if err := os.Chmod(filepath.Join(folder, name), mode); err != nil {
				t.Fatal(err)
			}
		}
		inode, err := os.Stat(filepath.Join(folder, "a.murk"))
		if err != nil {
			t.Fatal(err)
		}
		if status, _, errs := p.run(t, command("run", "falling.yaml", "-o", "a.murk")); status != report.StatusHalted {
			t.Errorf("run = %d, %s", status, errs)
		}
		p.is(t, "a.murk", older)
		p.fails(t, command("run", "heat", "-o", "locked.murk"), "^locked.murk: permission denied\n$")
		p.is(t, "locked.murk", older)

		c := command("run", "heat", "--ticks", "1000000000", "-o", "a.murk")
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		p.grows(t, "a.murk", header)
		p.fails(t, command("run", "heat", "-o", "a.murk"), "^a.murk: (another process is|process [0-9]+ on .*) ")
		c.Process.Signal(os.Interrupt)
		if err := c.Wait(); err != nil {
			t.Error(err)
		}
		p.must(t, "verify", "-q", "a.murk")
		if now, err := os.Stat(filepath.Join(folder, "a.murk")); err != nil || !os.SameFile(now, inode) {
			if os.Getuid() == 0 || mode == 0o555 { // else it is one's own
				t.Errorf("the file was replaced, %v", err)
			}
		}
		p.onlyFiles(t, "a.murk", "falling.yaml", "locked.murk")
	}
}

// TestOtherUsersRun: a file that a run of one user writes cannot be written by another user,
// whatever the umask of the first one is, and the error says which process writes it.
func TestOtherUsersRun(t *testing.T) {
	p, command := elsewhere(t)
	if err := os.Chmod(p.dir, 0o777|os.ModeSticky); err != nil {
		t.Fatal(err)
	}
	first, _ := p.start(t, p.shell(`umask 077; exec "$M" run heat --ticks 1000000000 -q -o n.murk`))
	p.grows(t, "n.murk", header) // which the other one cannot read, either
	p.fails(t, command("run", "heat", "-q", "-o", "n.murk", "--ticks", "7"), fmt.Sprintf("^n.murk: process %d on ", first.Process.Pid))
}

// TestFailedInPlace: where a file must be written in place, a command that fails or is
// interrupted leaves what it held, and says so; one that succeeds leaves nothing else.
func TestFailedInPlace(t *testing.T) {
	p, command := elsewhere(t)
	p.must(t, "run", "heat", "-q", "-o", "a.murk", "--save-state", "a.state")
	p.must(t, "convert", "-q", "a.murk", "a.jsonl")
	was := map[string][]byte{}
	for _, name := range []string{"a.jsonl", "a.murk", "a.murk.idx", "a.state"} {
		was[name] = p.read(t, name)
		if err := os.Chmod(filepath.Join(p.dir, name), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	write(t, p, "input.murk", string(was["a.murk"]))
	temp := filepath.Join(p.dir, "tmp")
	if err := errors.Join(os.Mkdir(temp, 0o777), os.Chmod(temp, 0o777), os.Chmod(p.dir, 0o555)); err != nil {
		t.Fatal(err)
	}
	t.Setenv("TMPDIR", temp)
	inPlace := program{p.path, temp}

	shell := func(line string) *exec.Cmd { return asUser(p.shell(line)) }
	full := " file too large in " + regexp.QuoteMeta(temp) + "\n"
	p.fails(t, shell(`ulimit -f 1; exec "$M" run heat -q --no-index -o a.murk`),
		"^a.murk:"+full+"  the run ended after tick [0-9,]+; no tick was recorded; a.murk is still the older recording\n$")
	p.fails(t, shell(`ulimit -f 64; exec "$M" run heat --no-record -q --save-state a.state`), "^a.state:"+full+"$")
	p.fails(t, shell(`ulimit -f 64; exec "$M" seek input.murk --tick 5 -q --save-state a.state`), "^a.state:"+full+"$")
	p.fails(t, shell(`ulimit -f 64; exec "$M" convert --force a.murk a.jsonl`), "^a.jsonl:"+full+"$")
	p.fails(t, shell(`ulimit -f 1; exec "$M" index a.murk`), "^a.murk")
	if status, _, errs := p.run(t, shell(`exec "$M" convert --force - a.murk <a.murk`)); status != report.StatusUsage || !strings.Contains(errs, "a.murk is the input itself") {
		t.Errorf("convert of a file onto itself = %d, %s", status, errs)
	}
	interrupted := command("convert", "--force", "-", "a.murk")
	in, err := interrupted.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	_, errs := p.start(t, interrupted)
	in.Write(was["a.jsonl"]) // its end is missing
	interrupted.Process.Signal(syscall.SIGTERM)
	interrupted.Wait()
	if want := "standard input: interrupted; a.murk was not written\n"; errs.String() != want {
		t.Errorf("convert says %q, want %q", errs, want)
	}
	for name, want := range was {
		p.is(t, name, want)
	}
	inPlace.onlyFiles(t)

	for _, args := range []string{
		"convert --force input.murk a.jsonl", "convert --force a.jsonl a.murk", "index a.murk", "run heat -q --no-record --save-state a.state",
	} {
		if status, _, errs := p.run(t, shell(`exec "$M" `+args)); status != report.StatusOK {
			t.Errorf("murksim %s = %d, %s", args, status, errs)
		}
	}
	for _, name := range []string{"a.jsonl", "a.murk", "a.state"} {
		p.is(t, name, was[name])
	}
	inPlace.onlyFiles(t)
}
