package cli

import (
	"bytes"
	"os"
	"strings"
	"testing"

	"github.com/murksim/murksim/internal/report"
	"github.com/murksim/murksim/replay/audit"
)

// A doubt is a run in wrong.db, of the program unsteady, whose ticks from 30 on do not come out again, and a fork of its tick 35, in a
// folder of its own with the key mine.key.
type doubt struct {
	*testing.T
	run, fork string
}

func newDoubt(t *testing.T) *doubt {
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	t.Chdir(t.TempDir())
	scenario := "murksim: 1\nname: pond\nticks: 90\nspace: {kind: square4, rows: 4, cols: 4}\nfields:\n  - {name: heat}\n" +
		"propagators:\n  - unsteady: {field: heat}\n"
	if err := os.WriteFile("pond.yaml", []byte(scenario), 0o666); err != nil {
		t.Fatal(err)
	}
	d := &doubt{T: t}
	t.Setenv("UNSTEADY", "other")
	d.status(report.StatusOK, "", "run", "pond.yaml", "-q", "--until", "40", "--audit", "wrong.db", "--no-record")
	d.run = runIDs(t, "wrong.db")[0]
	d.status(report.StatusOK, "", "audit", "fork", "wrong.db", "--tick", "35", "-q")
	d.fork = runIDs(t, "wrong.db")[1]
	d.status(report.StatusOK, "", "audit", "key", "mine.key")
	tamper(t, "wrong.db", "VACUUM INTO 'copy.db'")
	return d
}

// status runs a command line, which must end with a status and say something.
func (d *doubt) status(status int, says string, args ...string) {
	d.Helper()
	var b bytes.Buffer
	p := Program{Name: "unsteady", Components: unsteadyComponents()}
	if got := p.run(d.Context(), args, nil, &b, &b); got != status || !strings.Contains(b.String(), says) {
		d.Errorf("%s: %d, want %d and %q\n%s", args, got, status, says, b.String())
	}
}

// TestForkOfNotedWrong: a fork whose parent is wrong as this user's note says is refused, also where the source knows nothing of it, or
// does not have the parent; where the parent is there and comes out as committed, it is not.
func TestForkOfNotedWrong(t *testing.T) {
	d := newDoubt(t)
	t.Setenv("UNSTEADY", "")
	d.status(report.StatusDiverged, "FAIL tick=30", "audit", "wrong.db", "--run", d.run)
	d.status(report.StatusOK, "", "audit", "export", "copy.db", "--run", d.fork, "-o", "fork.audit")
	id, err := audit.ParseID(d.run)
	if err != nil {
		t.Fatal(err)
	}
	const known = "of which tick 30 is known to be wrong"
	d.status(report.StatusHalted, known+", as "+string(memoryOf(id))+" says", "audit", "sign", "fork.audit", "--key", "mine.key", "-o", "x.sig")
	t.Setenv("UNSTEADY", "other") // as if it had been another copy that was wrong
	d.status(report.StatusOK, "", "audit", "sign", "copy.db", "--run", d.fork, "--key", "mine.key", "-o", "right.sig")
	t.Setenv("UNSTEADY", "")
	d.status(report.StatusHalted, known, "audit", "sign", "copy.db", "--run", d.fork, "--key", "mine.key", "-o", "x.sig")
	d.status(report.StatusHalted, known, "audit", "fork", "copy.db", "--run", d.fork)
	d.status(report.StatusHalted, known, "run", "--resume", "copy.db", "--audit-run", d.fork, "--no-record", "--force")
	d.status(report.StatusHalted, known, "run", "--resume", "copy.db", "--audit-run", d.fork, "--no-record")
}

// TestImportToForkOfWrong: nothing is added to a fork that may not be gone on with. Where it is not there yet, it is imported as it is.
func TestImportToForkOfWrong(t *testing.T) {
	d := newDoubt(t)
	tamper(t, "wrong.db", "VACUUM INTO 'new.db'")
	t.Setenv("XDG_CONFIG_HOME", t.TempDir()) // another user
	t.Setenv("UNSTEADY", "other")
	d.status(report.StatusOK, "", "run", "--resume", "copy.db", "--audit-run", d.fork, "--until", "50", "--no-record", "-q")
	d.status(report.StatusOK, "", "audit", "export", "copy.db", "--run", d.run, "-o", "parent.audit")
	d.status(report.StatusOK, "", "audit", "export", "copy.db", "--run", d.fork, "-o", "longer.audit")
	t.Setenv("UNSTEADY", "")
	d.status(report.StatusDiverged, "FAIL tick=30", "audit", "wrong.db", "--run", d.run)
	t.Setenv("UNSTEADY", "other")
	d.status(report.StatusHalted, "of which tick 30 is known to be wrong", "audit", "import", "longer.audit", "wrong.db")
	d.status(report.StatusOK, "", "audit", "import", "longer.audit", "new.db")
	d.status(report.StatusOK, "", "audit", "import", "parent.audit", "empty.db")
	d.status(report.StatusOK, "", "audit", "import", "longer.audit", "empty.db")
}

// TestSignOfFailed: a run of which the source has a FAIL, or a halt for it, is signed and cosigned up to the ticks that come out again, also by who has
// no note of it.
func TestSignOfFailed(t *testing.T) {
	d := newDoubt(t)
	d.status(report.StatusOK, "", "audit", "sign", "wrong.db", "--run", d.run, "--key", "mine.key", "-o", "other.sig")
	d.status(report.StatusOK, "", "audit", "sign", "wrong.db", "--run", d.fork, "--key", "mine.key", "-o", "fork.sig")
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	t.Setenv("UNSTEADY", "")
	d.status(report.StatusHalted, "FAIL tick=30", "audit", "wrong.db", "--run", d.run, "--halt")
	d.status(report.StatusDiverged, "FAIL tick=30", "audit", "copy.db", "--run", d.run)
	d.status(report.StatusOK, "", "audit", "export", "wrong.db", "--run", d.run, "-o", "wrong.audit")
	for _, source := range []string{"wrong.db", "copy.db", "wrong.audit"} {
		d.status(report.StatusDiverged, "tick 30 has hash", "audit", "sign", source, "--run", d.run, "--key", "mine.key", "-o", "x.sig")
		d.status(report.StatusDiverged, "tick 30 has hash", "audit", "cosign", "other.sig", source, "--key", "mine.key", "--name", "example.com/w1")
		d.status(report.StatusOK, "signed", "audit", "sign", source, "--run", d.run, "--key", "mine.key", "--tick", "29", "-o", "29.sig", "--force")
		d.status(report.StatusOK, "cosigned", "audit", "cosign", "29.sig", source, "--key", "mine.key", "--name", "example.com/w1")
	}
	d.status(report.StatusHalted, "of which tick 30 is known to be wrong", "audit", "cosign", "fork.sig", "copy.db", "--key", "mine.key", "--name", "example.com/w1")
}

// TestHaltWithoutAlert: a run that fails is halted also where its alert cannot be added, and that is told.
func TestHaltWithoutAlert(t *testing.T) {
	d := newDoubt(t)
	tamper(t, "wrong.db", "INSERT INTO alerts (alert_id, run_id, tick, code, severity, raised_at) VALUES (9223372036854775807, '"+d.run+"', 1, 'X', 'warning', 0)")
	t.Setenv("UNSTEADY", "")
	d.status(report.StatusHalted, "the alert is not in the database: ", "audit", "wrong.db", "--run", d.run, "--halt")
	d.status(report.StatusHalted, "", "run", "--resume", "wrong.db", "--audit-run", d.run, "--no-record")
}
