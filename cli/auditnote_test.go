package cli

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/internal/evidence"
	"github.com/murksim/murksim/internal/report"
	"github.com/murksim/murksim/replay/audit"
	"github.com/murksim/murksim/replay/audit/store"
)

// TestNotedWithoutSnapshots: what was committed is noted, also where no snapshot is kept: a chain that lacks it is not continued.
func TestNotedWithoutSnapshots(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, every := range []string{"0", "1000"} {
		done(t, "run", "heat", "-q", "--ticks", "200", "--until", "120", "--audit", every+".db", "--audit-every", every, "--no-record")
		tamper(t, every+".db", "DROP TRIGGER chain_hashes_delete; DROP TRIGGER snapshots_delete; DROP TRIGGER input_events_delete; "+
			"DELETE FROM chain_hashes WHERE tick > 90; DELETE FROM snapshots WHERE tick > 90; DELETE FROM input_events WHERE tick > 90")
		if status, _, errs := murksim(t, nil, "run", "--resume", every+".db", "--no-record", "--until", "130"); status != report.StatusEvidence || !strings.Contains(errs, "a program of yours has committed tick 120") {
			t.Errorf("--audit-every %s: %d, %q", every, status, errs)
		}
	}
}

// TestOtherThanNoted: a chain that this user's programs committed otherwise is not signed, and no signature of it is called good; nor is a fork
// continued whose parent, which is not there, would be one.
func TestOtherThanNoted(t *testing.T) {
	t.Chdir(t.TempDir())
	done(t, "run", "heat", "-q", "--ticks", "200", "--until", "60", "--audit", "run.db", "--no-record", "--audit-every", "20")
	parent := runIDs(t, "run.db")[0]
	done(t, "audit", "key", "mine.key")
	done(t, "audit", "sign", "run.db", "--key", "mine.key", "-o", "good.sig")
	done(t, "audit", "fork", "run.db", "-q")
	fork := runIDs(t, "run.db")[1]
	id, err := audit.ParseID(parent)
	if err != nil {
		t.Fatal(err)
	}
	memoryOf(id).note("", 60, audit.Hash{7}, audit.Hash{8})
	refused := func(args ...string) {
		t.Helper()
		if status, out, errs := murksim(t, nil, args...); status != report.StatusEvidence || !strings.Contains(out+errs, "a program of yours has committed tick 60") {
			t.Errorf("%s: %d, %q", args, status, out+errs)
		}
	}
	refused("audit", "sign", "run.db", "--run", parent, "--key", "mine.key", "-o", "x.sig")
	refused("audit", "sign", "run.db", "--run", fork, "--key", "mine.key", "-o", "x.sig")
	refused("audit", "check", "good.sig", "run.db", "--key", "mine.key.pub")
	tamper(t, "run.db", "PRAGMA foreign_keys = 0", "DROP TRIGGER runs_delete", "DROP TRIGGER chain_hashes_delete", "DROP TRIGGER snapshots_delete", "DROP TRIGGER input_events_delete",
		"DELETE FROM input_events WHERE run_id = '"+parent+"'", "DELETE FROM snapshots WHERE run_id = '"+parent+"'", "DELETE FROM chain_hashes WHERE run_id = '"+parent+"'", "DELETE FROM runs WHERE run_id = '"+parent+"'")
	refused("run", "--resume", "run.db", "--audit-run", fork, "--no-record", "--until", "70")
}

// TestForkIsNoted: a fork whose only state was replaced by another one, and whose parent was removed, is not gone on with, signed or
// forked.
func TestForkIsNoted(t *testing.T) {
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	t.Chdir(t.TempDir())
	done(t, "run", "heat", "-q", "--ticks", "200", "--until", "60", "--audit", "run.db", "--no-record", "--audit-every", "20")
	done(t, "audit", "fork", "run.db", "--tick", "40", "-q")
	fork := runIDs(t, "run.db")[1]
	done(t, "audit", "key", "mine.key")
	done(t, "audit", "export", "run.db", "--run", fork, "-o", "fork.audit")
	var forged []byte
	f := forge(t, "fork.audit")
	f.each("snapshot", func(row map[string]any) { forged = f.bytes(row, "state") })
	state, err := engine.ReadState(forged)
	if err != nil {
		t.Fatal(err)
	}
	state.Sections[2][400] ^= 1 // of the heat of a cell, in the bytes of the state
	l, err := audit.NewLink(audit.Hash{}, forged)
	if err != nil {
		t.Fatal(err)
	}
	tamper(t, "run.db", "VACUUM INTO 'forged.db'")
	statements := []string{
		"PRAGMA foreign_keys = 0", "DROP TRIGGER chain_hashes_update", "DROP TRIGGER snapshots_update",
		fmt.Sprintf("UPDATE chain_hashes SET world_hash = X'%s', section_digests = X'%x' WHERE run_id = '%s'",
			l.Hash, audit.AppendDigests(nil, l.Digests), fork),
		fmt.Sprintf("UPDATE snapshots SET world_hash = X'%s', codec = 'raw', state = X'%x' WHERE run_id = '%s'", l.Hash, forged, fork),
	}
	for _, table := range []string{"input_events", "snapshots", "chain_hashes", "runs"} {
		statements = append(statements, "DROP TRIGGER "+table+"_delete", "DELETE FROM "+table+" WHERE run_id <> '"+fork+"'")
	}
	tamper(t, "forged.db", statements...)
	want := "a program of yours has committed tick 40 of run " + fork
	for _, args := range [][]string{
		{"audit", "sign", "forged.db", "--key", "mine.key", "-o", "x.sig"}, {"audit", "fork", "forged.db"},
		{"run", "--resume", "forged.db", "--no-record", "--until", "70"},
	} {
		status, out, errs := murksim(t, nil, args...)
		if status != report.StatusEvidence || !strings.Contains(errs, want) || !strings.Contains(errs, "has another one there") {
			t.Errorf("%s: %d, %q", args, status, out+errs)
		}
	}
	done(t, "audit", "sign", "run.db", "--run", fork, "--key", "mine.key", "-o", "good.sig")
	done(t, "run", "--resume", "run.db", "--audit-run", fork, "--no-record", "--until", "70")
}

// TestForceIsForTheChain: --force of a run that goes on with a chain replaces no recording.
func TestForceIsForTheChain(t *testing.T) {
	t.Chdir(t.TempDir())
	done(t, "run", "heat", "-q", "--ticks", "200", "--until", "60", "--audit", "run.db", "--no-record")
	id, err := audit.ParseID(runIDs(t, "run.db")[0])
	if err != nil {
		t.Fatal(err)
	}
	memoryOf(id).note("", 60, audit.Hash{7}, audit.Hash{8})
	done(t, "run", "life", "-q", "-o", "heat-from-60.murk")
	was, err := os.ReadFile("heat-from-60.murk")
	if err != nil {
		t.Fatal(err)
	}
	status, _, errs := murksim(t, nil, "run", "--resume", "run.db", "--until", "70", "--force")
	now, err := os.ReadFile("heat-from-60.murk")
	if status != report.StatusOK || err != nil || string(now) != string(was) || !strings.Contains(errs, "so it stays; this run is recorded in heat-from-60-2.murk\n") {
		t.Errorf("%d, %q, %v", status, errs, err)
	}
}

// TestStateOfAFork: the state that is written of a fork is one with which run --state goes on, and which the recording of a fork needs.
func TestStateOfAFork(t *testing.T) {
	t.Chdir(t.TempDir())
	done(t, "run", "heat", "-q", "--set", "space.rows=600", "--set", "space.cols=600", "--ticks", "60", "--until", "20", "--audit", "run.db", "--audit-every", "10", "--no-record")
	done(t, "audit", "fork", "run.db", "--tick", "15", "-q")
	fork := runIDs(t, "run.db")[1]
	done(t, "run", "--resume", "run.db", "--audit-run", fork, "--until", "40", "--no-record", "-q")
	done(t, "run", "--resume", "run.db", "--audit-run", fork, "--until", "50", "-q")
	if status, _, _ := murksim(t, nil, "verify", "heat-from-40.murk"); status == report.StatusOK {
		t.Fatal("the recording holds its state; make the world larger")
	}
	done(t, "audit", "state", "run.db", "--run", fork, "--tick", "40", "-o", "40.state")
	done(t, "verify", "heat-from-40.murk", "--state", "40.state")
	done(t, "run", "heat", "--set", "space.rows=600", "--set", "space.cols=600", "--ticks", "60", "--state", "40.state", "--no-record")
}

// TestDatabaseBehindALink: a link that leads to where no database is yet is as the place itself.
func TestDatabaseBehindALink(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := os.Mkdir("data", 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("data/run.db", "link.db"); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile("data/run.db-wal", []byte("all the ticks of a run that crashed"), 0o666); err != nil {
		t.Fatal(err)
	}
	run := []string{"run", "heat", "-q", "--ticks", "5", "--audit", "link.db", "--no-record"}
	status, _, errs := murksim(t, nil, run...)
	if b, err := os.ReadFile("data/run.db-wal"); status != report.StatusError || err != nil || len(b) != 35 {
		t.Fatalf("%d, %q, the log has %d bytes, %v", status, errs, len(b), err)
	}
	if err := os.Remove("data/run.db-wal"); err != nil {
		t.Fatal(err)
	}
	done(t, run...)
	done(t, "audit", "data/run.db")
	if err := os.WriteFile("data/run.db-journal", []byte("what is to be undone in another database"), 0o666); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{run, {"audit", "data/run.db"}} {
		status, _, errs := murksim(t, nil, args...)
		if b, err := os.ReadFile("data/run.db-journal"); status != report.StatusError || err != nil || len(b) != 40 {
			t.Fatalf("%d, %q, the journal has %d bytes, %v", status, errs, len(b), err)
		}
	}
}

// TestLogOfAnotherDatabase: a database that takes the place of one whose run crashed, another one or a copy from an earlier state, does not get its log,
// and none loses a tick. A copy from the very state in which the log begins gets all of it.
func TestLogOfAnotherDatabase(t *testing.T) {
	t.Chdir(t.TempDir())
	done(t, "run", "heat", "-q", "--ticks", "40", "--audit", "good.db", "--no-record")
	done(t, "run", "heat", "-q", "--ticks", "30", "--audit", "crashed.db", "--no-record")
	copyFile := func(from, to string) {
		b, err := os.ReadFile(from)
		if err = errors.Join(err, os.WriteFile(to, b, 0o666)); err != nil {
			t.Fatal(err)
		}
	}
	copyFile("crashed.db", "earlier.db")
	done(t, "run", "heat", "-q", "--ticks", "2", "--audit", "crashed.db", "--no-record")
	copyFile("crashed.db", "before.db")
	db, err := store.Open(t.Context(), "crashed.db")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	list, err := db.Runs(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	run := list[0].Run
	run.ID, run.Genesis = evidence.FreshID(), bytes.Repeat([]byte("{}"), 5000) // more than the file has room for
	run.Digest = sha256.Sum256(run.Genesis)
	if err := db.Create(t.Context(), &run); err != nil {
		t.Fatal(err)
	}
	copyFile("crashed.db-wal", "run.db-wal") // as it is after kill -9
	copyFile("crashed.db", "copy.db")
	was, err := os.ReadFile("run.db-wal")
	if err != nil || len(was) == 0 {
		t.Fatal(len(was), err)
	}
	for _, file := range []string{"good.db", "earlier.db"} {
		copyFile(file, "run.db")
		for _, args := range []string{"audit list run.db", "audit run.db", "run --resume run.db --no-record", "run heat --ticks 3 --audit run.db --no-record", "audit fork run.db"} {
			status, _, errs := murksim(t, nil, strings.Fields(args)...)
			now, err := os.ReadFile("run.db-wal")
			if status != report.StatusError || !strings.Contains(errs, "run.db-wal belongs to another file") || err != nil || !bytes.Equal(was, now) {
				t.Errorf("%s as run.db: %s: %d, %q, %v", file, args, status, errs, err)
			}
		}
	}
	for _, file := range []string{"copy.db", "before.db"} {
		copyFile("run.db-wal", file+"-wal")
		if ids := runIDs(t, file); len(ids) != 3 {
			t.Errorf("beside %s, from which it goes on, the log gives %d runs", file, len(ids))
		}
	}
}
