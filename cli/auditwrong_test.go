package cli

import (
	"errors"
	"strings"
	"testing"

	"github.com/murksim/murksim/internal/compare"
	"github.com/murksim/murksim/internal/evidence"
	"github.com/murksim/murksim/internal/report"
	"github.com/murksim/murksim/internal/session"
	"github.com/murksim/murksim/replay/audit"
	"github.com/murksim/murksim/replay/audit/store"
)

// TestForkOfWrong: a fork that begins at or behind a tick of its parent, or of the parent of that, which the database knows to be wrong,
// is not gone on with, forked or signed, not even with --force. One that begins before it is.
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
		told := db.Alert(t.Context(), &alert)
		if err = errors.Join(err, told, db.Audit(t.Context(), row), db.Close()); err != nil {
			t.Fatal(err)
		}
		for i, run := range runIDs(t, name)[1:] {
			for _, args := range [][]string{
				{"audit", "sign", name, "--run", run, "--key", "mine.key", "-o", what + run + ".sig"}, {"audit", "fork", name, "--run", run},
				{"run", "--resume", name, "--audit-run", run, "--no-record", "--until", "60", "--force"},
				{"run", "--resume", name, "--audit-run", run, "--no-record", "--until", "60"},
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

// TestWrongIsNoted: a chain that a program of this user has committed is believed only in the database where it was, and nowhere once an
// audit of any copy has failed: then it is computed from its first tick before it is gone on with or signed. A chain without that tick is
// not held against the note.
func TestWrongIsNoted(t *testing.T) {
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	t.Chdir(t.TempDir())
	done(t, "audit", "key", "mine.key")
	done(t, "run", "heat", "-q", "--until", "60", "--audit", "good.db", "--audit-every", "10", "--no-record")
	done(t, "audit", "export", "good.db", "-o", "good.audit")
	f := forge(t, "good.audit")
	f.redigest(25, 3)
	f.write("wrong.audit")
	id, err := audit.ParseID(runIDs(t, "good.db")[0])
	if err != nil {
		t.Fatal(err)
	}
	resume := func(name, until string, status int) {
		t.Helper()
		got, out, errs := murksim(t, nil, "run", "--resume", name, "--no-record", "--until", until)
		if got != status || status == report.StatusHalted && !strings.Contains(errs, `"tick":25,`) {
			t.Errorf("%s: %d, want %d\n%s", name, got, status, out+errs)
		}
	}
	names := []string{"here.db", "there.db", "copy.db", "copy2.db"}
	for _, name := range names {
		done(t, "audit", "import", "wrong.audit", name)
	}
	db, err := store.OpenReader(t.Context(), "here.db")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	e, end, err := db.Evidence(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	l, err := audit.LinkAt(t.Context(), e, 60)
	if err = errors.Join(err, end(), memoryOf(id).note(db.Place(), l.Tick, l.Hash, l.InputHash)); err != nil {
		t.Fatal(err)
	}
	if err := memoryOf(id).write(strings.ReplaceAll(memoryOf(id).read().text, "here.db", "new.db")); err != nil {
		t.Fatal(err)
	}
	done(t, "audit", "import", "wrong.audit", "new.db")
	if n := memoryOf(id).read(); n == nil || n.in != "" || n.tick != 60 {
		t.Errorf("after an import to where the run was committed, the note is %+v", n)
	}
	resume("there.db", "70", report.StatusHalted) // this marks the note, too
	if n := memoryOf(id).read(); n == nil || n.wrong == nil || *n.wrong != 25 {
		t.Fatalf("the note is %+v", n)
	}
	if err := memoryOf(id).note(db.Place(), l.Tick, l.Hash, l.InputHash); err != nil {
		t.Fatal(err)
	}
	done(t, "audit", "sign", "copy.db", "--key", "mine.key", "-o", "before.sig")
	if status, _, _ := murksim(t, nil, "audit", "fork", "good.db", "--tick", "20"); status != report.StatusEvidence {
		t.Errorf("a fork of another chain than the noted one: %d", status)
	}
	for _, source := range []string{"copy.db", "wrong.audit"} {
		if err := memoryOf(id).note(db.Place(), l.Tick, l.Hash, l.InputHash); err != nil {
			t.Fatal(err)
		}
		if status, _, _ := murksim(t, nil, "audit", source, "--no-verdict"); status != report.StatusDiverged {
			t.Errorf("audit of %s: %d", source, status)
		}
		if n := memoryOf(id).read(); n == nil || n.wrong == nil || *n.wrong != 25 || n.in != db.Place() {
			t.Fatalf("the note is %+v", n)
		}
	}
	status, out, errs := murksim(t, nil, "audit", "sign", "copy2.db", "--key", "mine.key", "-o", "after.sig")
	if status != report.StatusDiverged {
		t.Errorf("sign: %d, %s", status, out+errs)
	}
	resume("here.db", "70", report.StatusHalted)
	done(t, "audit", "fork", "good.db", "--tick", "20", "-q")
	done(t, "audit", "sign", "good.db", "--run", id.String(), "--key", "mine.key", "-o", "good.sig")
	done(t, "run", "--resume", "good.db", "--audit-run", id.String(), "--until", "70", "--no-record", "-q")
	if n := memoryOf(id).read(); n == nil || n.wrong != nil || n.tick != 70 {
		t.Errorf("after all was compared, the note is %+v", n)
	}
}

// TestReadmeOfUnstable: of a tick that does not come to the same each time, the README of a diagnosis recommends what finds it, not what
// computes that tick alone; and a tick that only failed another time has no hash.
func TestReadmeOfUnstable(t *testing.T) {
	for _, stable := range []bool{true, false} {
		j := &auditDiagnoseJob{examiner: (&app{Session: &session.Session{Name: "murksim"}}).examiner()}
		r := &j.chains.Result
		r.Tick, r.A.Hash = 15, "c0"
		r.B = &compare.SideView{Hash: "c0"}
		r.B.Stable, r.B.Repeats = &stable, []compare.RepeatView{{Error: "boom", Times: 1}, {Hash: "c0", Times: 3}}
		text := j.readme()
		alone, search := strings.Contains(text, "--tick 15"), strings.Contains(text, "synctest")
		if alone != stable || search == stable || !strings.Contains(text, " audit diff evidence.audit") {
			t.Errorf("stable %t:\n%s", stable, text)
		}
		if hash, failed := j.chains.Calculated(); hash != "" || failed != "boom" {
			t.Errorf("calculated %q, failed %q", hash, failed)
		}
	}
}
