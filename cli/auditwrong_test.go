package cli

import (
	"errors"
	"strings"
	"testing"

	"github.com/murksim/murksim/internal/evidence"
	"github.com/murksim/murksim/internal/report"
	"github.com/murksim/murksim/replay/audit"
	"github.com/murksim/murksim/replay/audit/store"
)

// TestForkOfWrong: a fork that begins at or behind a tick of its parent, or of the parent of that, which the database knows to be wrong, is not gone on
// with, forked or signed, not even with --force. One that begins before it is.
func TestForkOfWrong(t *testing.T) {
	t.Chdir(t.TempDir())
	done(t, "audit", "key", "mine.key")
	done(t, "run", "heat", "-q", "--until", "40", "--audit", "good.db", "--no-record")
	first := runIDs(t, "good.db")[0]
	done(t, "audit", "fork", "good.db", "--tick", "25", "-q")
	fork := runIDs(t, "good.db")[1]
	done(t, "run", "--resume", "good.db", "--audit-run", fork, "--until", "50", "--no-record", "-q")
	done(t, "audit", "fork", "good.db", "--run", fork, "--tick", "45", "-q")
	for what, of := range map[string]struct {
		run         string
		tick        uint64
		unconfirmed bool
		forks       [2]bool // whether the fork, and that of the fork, is right as far as is known
	}{
		"before it":     {first, 15, false, [2]bool{}},
		"its own tick":  {first, 25, false, [2]bool{}},
		"behind it":     {first, 26, false, [2]bool{true, true}},
		"the fork":      {fork, 30, false, [2]bool{true, false}},
		"not confirmed": {first, 15, true, [2]bool{true, true}},
	} {
		t.Setenv("XDG_CONFIG_HOME", t.TempDir()) // the copies go on in different ways
		name := strings.ReplaceAll(what, " ", "-") + ".db"
		tamper(t, "good.db", "VACUUM INTO '"+name+"'")
		db, err := store.Open(t.Context(), name)
		if err != nil {
			t.Fatal(err)
		}
		id, err := audit.ParseID(of.run)
		alert := store.Alert{Run: id, Tick: of.tick, Code: audit.Divergence, Severity: "critical"}
		row := (&evidence.Report{ID: id, Verdict: "FAIL", To: 50, Tick: &of.tick, Hidden: of.unconfirmed}).Kept()
		if of.unconfirmed {
			alert.Detail = `{"unconfirmed":true}`
		}
		_, told := db.Alert(t.Context(), &alert)
		if err = errors.Join(err, told, db.Audit(t.Context(), row), db.Close()); err != nil {
			t.Fatal(err)
		}
		for i, run := range runIDs(t, name)[1:] {
			for _, args := range [][]string{
				{"audit", "sign", name, "--run", run, "--key", "mine.key", "-o", what + run + ".sig"}, {"audit", "fork", name, "--run", run},
				{"run", "--resume", name, "--audit-run", run, "--no-record", "--until", "60", "--force"}, {"run", "--resume", name, "--audit-run", run, "--no-record", "--until", "60"},
			} {
				if args[len(args)-1] == "--force" && of.forks[i] {
					continue
				}
				status, out, errs := murksim(t, nil, args...)
				refused := status == report.StatusHalted && strings.Contains(errs, of.run) && strings.Contains(errs, " is known to be wrong")
				if of.forks[i] && status != report.StatusOK || !of.forks[i] && !refused {
					t.Errorf("%s: %s: %d, %s", what, args, status, out+errs)
				}
			}
		}
	}
}
