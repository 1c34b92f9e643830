package cli

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/murksim/murksim/internal/waiting"
)

// A sight is what the system says of a process. If it is idle, those that it started count, too.
type sight struct {
	idle  bool          // all threads wait for something that none of them does
	spent time.Duration // the processor time, in steps of 10 ms
}

// look looks at a process. It reports whether there is something to see: not if it has ended, nor
// on a system without /proc.
func look(pid int) (s sight, ok bool) {
	state, _, spent, ok := stat(filepath.Join("/proc", strconv.Itoa(pid)))
	if !ok || state == "Z" {
		return s, false
	}
	s = sight{idle: true, spent: spent}
	tasks, _ := filepath.Glob(filepath.Join("/proc", strconv.Itoa(pid), "task/*"))
	for _, task := range tasks {
		if state, _, _, ok := stat(task); ok && state != "S" && state != "Z" {
			s.idle = false
		}
	}
	if !s.idle {
		return s, true
	}
	names, _ := filepath.Glob("/proc/[0-9]*")
	for _, name := range names {
		if _, parent, _, ok := stat(name); ok && parent == pid {
			child, _ := strconv.Atoi(filepath.Base(name))
			if c, ok := look(child); ok {
				s.idle, s.spent = s.idle && c.idle, s.spent+c.spent
			}
		}
	}
	return s, true
}

// stat reads the file stat of a process or of a thread.
func stat(folder string) (state string, parent int, spent time.Duration, ok bool) {
	b, err := os.ReadFile(filepath.Join(folder, "stat"))
	if err != nil {
		return "", 0, 0, false
	}
	values := strings.Fields(string(b[strings.LastIndexByte(string(b), ')')+1:]))
	number := func(i int) int { n, _ := strconv.Atoi(values[i]); return n }
	return values[0], number(1), time.Duration(number(11)+number(12)) * 10 * time.Millisecond, true
}

// rests waits until a command, with all that it started, waits for something that does not come,
// or has ended. A system that does not tell has two seconds.
func rests(t *testing.T, c *exec.Cmd) {
	t.Helper()
	if _, err := os.Stat("/proc/self/stat"); err != nil {
		time.Sleep(2 * time.Second)
		return
	}
	var before sight
	looks := 0 // in which it did nothing, one after the other
	waiting.For(t, "a command waits", func() bool {
		now, running := look(c.Process.Pid)
		if looks++; !now.idle || now != before {
			looks = 0
		}
		before = now
		return !running || looks >= 10
	})
}

// works waits until a command has taken so much processor time, or has ended. A system that does
// not tell has as much time of the clock.
func works(t *testing.T, c *exec.Cmd, d time.Duration) {
	t.Helper()
	if _, err := os.Stat("/proc/self/stat"); err != nil {
		time.Sleep(d)
		return
	}
	waiting.For(t, "a command has worked for "+d.String(), func() bool {
		now, running := look(c.Process.Pid)
		return !running || now.spent >= d
	})
}

// spent returns the processor time that a command took which has ended.
func spent(c *exec.Cmd) time.Duration { return c.ProcessState.UserTime() + c.ProcessState.SystemTime() }

// ends waits for a command's end. One that hangs is killed, and fails the test.
func ends(t *testing.T, c *exec.Cmd) error {
	t.Helper()
	late := time.AfterFunc(waiting.Hang, func() { c.Process.Kill() })
	err := c.Wait()
	if !late.Stop() {
		t.Errorf("%v has not ended after %v", c.Args, waiting.Hang)
	}
	return err
}
