//go:build darwin || dragonfly || freebsd || illumos || linux || netbsd || openbsd

package draft_test

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/murksim/murksim/internal/draft"
)

// TestLockForAllUsers: other users can lock a file and read who has the lock, whatever the umask is.
func TestLockForAllUsers(t *testing.T) {
	defer syscall.Umask(syscall.Umask(0o077))
	dir := t.TempDir()
	f := open(t, filepath.Join(dir, "a"))
	defer f.Close()
	info, err := os.Stat(filepath.Join(dir, ".a.lock"))
	if err != nil || info.Mode() != 0o644 {
		t.Errorf("the lock has the mode %v, %v; want 0644", info.Mode(), err)
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

// TestLockTellsNoSecrets: what lies in a lock's file, where others can read it, has the program and its subcommand, and nothing else
// that was typed.
func TestLockTellsNoSecrets(t *testing.T) {
	for _, tt := range []struct {
		args []string
		want string
	}{
		{[]string{"/opt/bin/murksim", "run", "heat", "--audit", "postgres://me:secret@host/db?password=secret"}, "murksim run"},
		{[]string{"murksim", "--webhook=https://host/secret", "run"}, "murksim"},
		{[]string{"murksim", "https://host/join?token=secret"}, "murksim"},
		{[]string{"murksim"}, "murksim"},
		{nil, ""},
	} {
		if got := draft.Command(tt.args); got != tt.want {
			t.Errorf("%q: %q, want %q", tt.args, got, tt.want)
		}
	}
	name := filepath.Join(t.TempDir(), "a")
	f, err := draft.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	lock := filepath.Join(filepath.Dir(name), ".a.lock")
	b, err := os.ReadFile(lock)
	if err != nil {
		t.Fatal(err)
	}
	for _, arg := range os.Args[1:] {
		if len(arg) > 0 && bytes.Contains(b, []byte(arg)) {
			t.Errorf("the lock tells %q: %s", arg, b)
		}
	}
}
