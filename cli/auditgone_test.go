package cli

import (
	"database/sql"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"github.com/murksim/murksim/internal/report"
	"github.com/murksim/murksim/internal/waiting"
	"github.com/murksim/murksim/internal/words"
)

// audited starts a run with an audit that does not end, and returns when it has committed ticks.
func (p program) audited(t *testing.T, name string) (c *exec.Cmd, said *strings.Builder) {
	t.Helper()
	c, said = p.command("run", "heat", "--ticks", "1000000000", "--no-record", "--quiet", "--audit", name), new(strings.Builder)
	c.Stderr = said
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Process.Kill() })
	waiting.For(t, "ticks are committed", func() bool {
		status, out, _ := p.run(t, p.command("audit", "list", name))
		return status == report.StatusOK && regexp.MustCompile(`ticks 0 to [1-9]`).MatchString(out)
	})
	return c, said
}

// TestDatabaseGone holds that a run whose database is removed meanwhile ends with an error that says so, and that none is made in its place.
func TestDatabaseGone(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		return // an open file cannot be removed
	}
	p := build(t)
	c, said := p.audited(t, "gone.db")
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
	if got := said.String(); c.ProcessState.ExitCode() != report.StatusError || !strings.Contains(got, "the file was removed or replaced while it was open: what was committed is lost: ") || strings.Contains(got, "are committed") {
		t.Errorf("%v, %s", c.ProcessState, got)
	}
	if names, _ := filepath.Glob(filepath.Join(p.dir, "gone.db")); len(names) > 0 {
		t.Errorf("%v was made", names)
	}
}

// TestChainConflict holds that a run one of whose ticks is removed behind its back ends as halted, at the tick that cannot be committed, and says which is
// the last that is there.
func TestChainConflict(t *testing.T) {
	t.Parallel()
	p := build(t)
	c, said := p.audited(t, "cut.db")
	db, err := sql.Open("sqlite", "file:"+filepath.Join(p.dir, "cut.db")+"?_pragma=busy_timeout(10000)")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Exec("DROP TRIGGER chain_hashes_delete; PRAGMA foreign_keys = 0; DELETE FROM chain_hashes WHERE tick = (SELECT max(tick) FROM chain_hashes)"); err != nil {
		t.Fatal(err)
	}
	c.Wait()
	var last, halted int64
	if err := db.QueryRow("SELECT (SELECT max(tick) FROM chain_hashes), tick FROM run_halts").Scan(&last, &halted); err != nil {
		t.Fatal(err)
	}
	if c.ProcessState.ExitCode() != report.StatusHalted || halted != last+2 || strings.Contains(said.String(), "are committed") {
		t.Errorf("%v, halted at tick %d, and the last is %d: %s", c.ProcessState, halted, last, said)
	}
	want := fmt.Sprintf("what was committed is lost: chain_hashes: tick %s is missing; the last before it is tick %s", words.Number(uint64(last+1)), words.Number(uint64(last)))
	if !strings.Contains(said.String(), want) {
		t.Errorf("%s, want %s", said, want)
	}
}
