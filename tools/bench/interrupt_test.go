//go:build unix

package main

import (
	"bytes"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/murksim/murksim/internal/waiting"
)

// TestInterrupted holds that a signal, also that of a terminal that is closed, ends a measurement that waits for a
// compiler, which may never end; nothing is left behind, but its profile.
func TestInterrupted(t *testing.T) {
	bench, err := exec.LookPath("bench") // this program, see TestMain
	if err != nil {
		t.Fatal(err)
	}
	dir, temp := t.TempDir(), t.TempDir()
	gcc := "#!/bin/sh\n[ \"$1\" = --version ] && [ ! -e patient ] && exit\n: > started\nexec /bin/sleep 1000\n"
	if err := os.WriteFile(filepath.Join(dir, "gcc"), []byte(gcc), 0o777); err != nil {
		t.Fatal(err)
	}
	for i, s := range endings {
		if i > 0 { // first it hangs when it compiles, then already when it is asked what it is
			if err := os.WriteFile(filepath.Join(dir, "patient"), nil, 0o666); err != nil {
				t.Fatal(err)
			}
		}
		heard := make(chan os.Signal, 1)
		signal.Notify(heard, s) // under nohup the program would ignore it, as it should
		defer signal.Stop(heard)
		started, profile := filepath.Join(dir, "started"), filepath.Join(dir, s.String())
		os.Remove(started)
		c := exec.Command(bench, "--cpuprofile", profile, "ring")
		c.Dir, c.Env = dir, append(os.Environ(), "PATH="+dir, "TMPDIR="+temp)
		var errs bytes.Buffer
		c.Stderr = &errs
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		late := time.AfterFunc(waiting.Hang, func() { c.Process.Kill() })
		waiting.For(t, "the compiler has started", func() bool {
			_, err := os.Stat(started)
			return err == nil
		})
		c.Process.Signal(s)
		err := c.Wait()
		if !late.Stop() {
			t.Errorf("%v: it has not ended", s)
		}
		if c.ProcessState.ExitCode() != statusMissed || errs.String() != "interrupted, in row ring\n" {
			t.Errorf("%v: %v, %q; want status 1 and that it was interrupted", s, err, &errs)
		}
		if b, err := os.ReadFile(profile); err != nil || len(b) == 0 {
			t.Errorf("%v: the profile has %d bytes, %v", s, len(b), err)
		}
		if left, err := os.ReadDir(temp); err != nil || len(left) > 0 {
			t.Errorf("%d files are left in the folder for temporary ones, %v; want none", len(left), err)
		}
	}
}

var endings = []os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGHUP}
