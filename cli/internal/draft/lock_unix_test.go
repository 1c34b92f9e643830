//go:build darwin || dragonfly || freebsd || illumos || linux || netbsd || openbsd

package draft_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/murksim/murksim/cli/internal/draft"
)

// TestLockForAllUsers: other users can lock a file and sign the lock, whatever the umask is.
func TestLockForAllUsers(t *testing.T) {
	defer syscall.Umask(syscall.Umask(0o077))
	dir := t.TempDir()
	f := open(t, filepath.Join(dir, "a"))
	defer f.Close()
	info, err := os.Stat(filepath.Join(dir, ".a.lock"))
	if err != nil || info.Mode() != 0o666 {
		t.Errorf("the lock has the mode %v, %v; want 0666", info.Mode(), err)
	}
}

// TestDeadHolder: a lock that a killed process left, and that another process holds without
// the right to sign it, is not said to be held by the dead one.
func TestDeadHolder(t *testing.T) {
	dead := exec.Command("true")
	if err := dead.Run(); err != nil {
		t.Fatal(err)
	}
	host, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	signature, err := json.Marshal(draft.Holder{Process: dead.Process.Pid, Host: host, Command: "murksim run"})
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "a")
	lock := filepath.Join(filepath.Dir(path), ".a.lock")
	if err := os.WriteFile(lock, signature, 0o666); err != nil {
		t.Fatal(err)
	}
	other, err := os.Open(lock)
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	if err := syscall.Flock(int(other.Fd()), syscall.LOCK_EX); err != nil {
		t.Fatal(err)
	}
	if _, err := draft.Open(path); err == nil || err.Error() != path+": another process is writing to it" {
		t.Errorf("Open of a file that another process locks = %v", err)
	}
}
