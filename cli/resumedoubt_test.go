package cli

import (
	"database/sql"
	"os"
	"testing"

	"github.com/murksim/murksim/internal/report"
)

// chainOfPond computes 60 ticks of pond.yaml as UNSTEADY "" says, into run.db with snapshots.
func (d *doubt) chainOfPond(more ...string) {
	d.Helper()
	d.Setenv("UNSTEADY", "")
	d.status(report.StatusOK, "", append([]string{"run", "pond.yaml", "-q", "--until", "60", "--audit", "run.db", "--no-record"}, more...)...)
}

// untouched checks that run.db is neither halted nor alerted, and that the program that recorded it goes on with it.
func (d *doubt) untouched() {
	d.Helper()
	for _, table := range []string{"run_halts", "alerts"} {
		if n := count(d.T, "run.db", table); n != 0 {
			d.Errorf("%s has %d rows, want none", table, n)
		}
	}
	d.Setenv("UNSTEADY", "")
	d.status(report.StatusOK, "PASS ticks=0..60 ", "audit", "run.db", "--no-verdict")
	d.status(report.StatusOK, "", "run", "--resume", "run.db", "--no-record", "-q")
}

// TestResumeOfTwoOutcomes: a chain of which two replays come to different things is not halted, and gets no alert.
func TestResumeOfTwoOutcomes(t *testing.T) {
	const says = "run.db: two replays of it in this process came to different things:\n  first: tick 30"
	t.Run("fails, then differs", func(t *testing.T) {
		d := newDoubt(t)
		d.chainOfPond()
		t.Setenv("XDG_CONFIG_HOME", t.TempDir())
		t.Setenv("UNSTEADY", "strikes down")
		if err := os.WriteFile("strike", nil, 0o666); err != nil {
			t.Fatal(err)
		}
		d.status(report.StatusDiverged, says+": unsteady: cell [0, 0]: struck\n  then, from where it begins: tick 30 has hash ", "run", "--resume", "run.db", "--no-record")
		d.untouched()
	})
	t.Run("another hash each time", func(t *testing.T) {
		d := newDoubt(t)
		d.chainOfPond()
		t.Setenv("XDG_CONFIG_HOME", t.TempDir())
		t.Setenv("UNSTEADY", "shared")
		d.status(report.StatusDiverged, "this tells nothing against the chain, and nothing is added to it\n  synctest, given its scenario, ", "run", "--resume", "run.db", "--no-record")
		d.untouched()
	})
	t.Run("from a snapshot", func(t *testing.T) {
		d := newDoubt(t)
		d.chainOfPond("--audit-every", "25")
		t.Setenv("UNSTEADY", "shared")
		d.status(report.StatusDiverged, says, "run", "--resume", "run.db", "--no-record")
		d.untouched()
	})
}

// TestResumeOfOneOutcome: a chain that differs twice in the same way is halted: where it fails, and where the ticks from a snapshot on differ, too.
func TestResumeOfOneOutcome(t *testing.T) {
	for _, mode := range []string{"other", "fails"} {
		d := newDoubt(t)
		d.chainOfPond("--audit-every", "25")
		t.Setenv("UNSTEADY", mode)
		d.status(report.StatusHalted, "tick 30", "run", "--resume", "run.db", "--no-record")
		for _, table := range []string{"run_halts", "alerts"} {
			if n := count(t, "run.db", table); n != 1 {
				t.Errorf("%s: %s has %d rows, want 1", mode, table, n)
			}
		}
	}
}

// count returns how many rows a table of a file has.
func count(t *testing.T, name, table string) (rows int) {
	t.Helper()
	db, err := sql.Open("sqlite", name)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if err := db.QueryRow("SELECT count(*) FROM " + table).Scan(&rows); err != nil {
		t.Fatal(err)
	}
	return rows
}
