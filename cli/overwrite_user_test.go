//go:build unix

package cli

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
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
	write(t, p, "locked.murk", "MURK")
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
		if status, _, errs := p.run(t, command("run", "falling.yaml", "-o", "a.murk")); status != statusHalted {
			t.Errorf("run = %d, %s", status, errs)
		}
		p.is(t, "a.murk", older)
		p.fails(t, command("run", "heat", "-o", "locked.murk"), "^locked.murk: permission denied\n$")
		p.is(t, "locked.murk", []byte("MURK"))

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
	p.grows(t, ".n.murk.lock", 0)
	p.fails(t, command("run", "heat", "-q", "-o", "n.murk", "--ticks", "7"), fmt.Sprintf("^n.murk: process %d on ", first.Process.Pid))
}
