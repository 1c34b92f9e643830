package cli

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
)

// TestDatabaseGone holds that a run whose database is removed meanwhile ends with an error that says so, and that none is made in its place.
func TestDatabaseGone(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("an open file cannot be removed")
	}
	p := build(t)
	c := p.command("run", "heat", "--ticks", "1000000000", "--no-record", "--quiet", "--audit", "gone.db")
	var said strings.Builder
	c.Stderr = &said
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	defer c.Process.Kill()
	for late := time.Now().Add(30 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		status, out, _ := p.run(t, p.command("audit", "list", "gone.db"))
		if status == statusOK && strings.Contains(out, "ticks 0 to ") && !strings.Contains(out, "ticks 0 to 0 ") {
			break
		}
		if time.Now().After(late) {
			t.Fatal("no tick is committed")
		}
	}
	names, err := filepath.Glob(filepath.Join(p.dir, "gone.db*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		if err := os.Remove(name); err != nil {
			t.Fatal(err)
		}
	}
	c.Wait()
	if got := said.String(); c.ProcessState.ExitCode() != statusError || !strings.Contains(got, "the file was removed or replaced while it was open: what was committed is lost: ") || strings.Contains(got, "are committed") {
		t.Errorf("%v, %s", c.ProcessState, got)
	}
	if names, _ := filepath.Glob(filepath.Join(p.dir, "gone.db")); len(names) > 0 {
		t.Errorf("%v was made", names)
	}
}
