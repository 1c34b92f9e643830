package store_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/murksim/murksim/replay/audit"
	"github.com/murksim/murksim/replay/audit/store"
)

// TestGone holds that the next commit says so if the file or its log is taken away, and that a writer which has nothing more to commit says so
// when it is closed.
func TestGone(t *testing.T) {
	if runtime.GOOS == "windows" {
		return // an open file cannot be removed
	}
	for _, tt := range []struct {
		what string
		do   func(name string) error
		late bool // only a commit shows it
	}{
		{"the file is removed", os.Remove, false},
		{"the file is replaced", func(name string) error {
			return errors.Join(os.WriteFile(name+"2", nil, 0o666), os.Rename(name+"2", name))
		}, false},
		{"the file is moved", func(name string) error { return os.Rename(name, name+"2") }, false},
		{"the log is removed", func(name string) error { return os.Remove(name + "-wal") }, false},
		{"the log is emptied", func(name string) error { return os.Truncate(name+"-wal", 0) }, true},
	} {
		for _, last := range []bool{false, true} {
			name := sqliteFile.fresh(t)
			d := open(t, name)
			create(t, d, newRun(1))
			w := writer(t, d, newRun(1).ID)
			var m maker
			commit(t, w, m.batch(3, 0))
			if err := tt.do(name); err != nil {
				t.Fatal(err)
			}
			err := w.Commit(ctx, m.batch(3, 2))
			if last {
				err = w.Close()
			}
			if !errors.Is(err, store.ErrGone) || !errors.Is(err, audit.ErrLost) {
				t.Errorf("%s, at the end %t: %v, want %v", tt.what, last, err, store.ErrGone)
			}
		}
		name := sqliteFile.fresh(t)
		d := open(t, name)
		create(t, d, newRun(1))
		w := writer(t, d, newRun(1).ID)
		commit(t, w, new(maker).batch(3, 0))
		if err := tt.do(name); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); !errors.Is(err, store.ErrGone) && !tt.late {
			t.Errorf("%s, and nothing is committed after it: %v, want %v", tt.what, err, store.ErrGone)
		}
	}
}

// filesOf copies a database, as one does who knows of no log, or all of it.
func filesOf(t *testing.T, from, to string, endings ...string) {
	t.Helper()
	for _, ending := range endings {
		b, err := os.ReadFile(from + ending)
		if err = errors.Join(err, os.WriteFile(to+ending, b, 0o666)); err != nil || len(b) == 0 {
			t.Fatal(len(b), err)
		}
	}
}

// TestLogOfAnotherState: a log goes on from one state of one file. Beside an older copy, or a newer one, it is refused, whatever the change was, and whoever else
// had the database open; beside the file itself, and a copy from the very state in which it begins, it is merged.
func TestLogOfAnotherState(t *testing.T) {
	name := sqliteFile.fresh(t)
	reader := func() {
		r, err := store.OpenReader(ctx, name) // it stays open
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { r.Close() })
		if _, err := r.Runs(ctx); err != nil {
			t.Fatal(err)
		}
	}
	merge := func() {
		raw := sqliteFile.direct(t, name)
		if _, err := raw.Exec("PRAGMA wal_checkpoint(TRUNCATE)"); err != nil {
			t.Fatal(err)
		}
		raw.Close()
	}
	run, runs := newRun(1), 1
	create(t, open(t, name), run)
	copies := map[string]int{} // and how many runs each has
	for _, change := range []func(d *store.DB){
		func(d *store.DB) { runs++; create(t, d, newRun(uint64(runs))) },
		func(d *store.DB) {
			if err := d.Audit(ctx, &store.Audit{ID: newRun(99).ID, Run: run.ID, Started: time.Now(), Finished: time.Now(), Verdict: "PASS"}); err != nil {
				t.Fatal(err)
			}
		},
		func(d *store.DB) {
			if err := d.Alert(ctx, &store.Alert{Run: run.ID, Code: "replay_divergence", Severity: "critical", At: time.Now()}); err != nil {
				t.Fatal(err)
			}
		},
		func(d *store.DB) {
			if err := d.Halt(ctx, run.ID, audit.Halt{Code: "operator", At: time.Now()}); err != nil {
				t.Fatal(err)
			}
		},
		func(d *store.DB) { runs++; create(t, d, newRun(uint64(runs))) },
	} {
		merge()
		before := sqliteFile.fresh(t)
		filesOf(t, name, before, "")
		copies[before] = runs
		reader()
		d := open(t, name)
		change(d)
		merge()
		merged := sqliteFile.fresh(t)
		filesOf(t, name, merged, "")
		copies[merged] = runs
		d.Close()
	}
	whole := runs
	d := open(t, name)
	start := sqliteFile.fresh(t)
	filesOf(t, name, start, "")
	runs++
	create(t, d, newRun(uint64(runs)))
	for copied, has := range copies {
		state, err := os.ReadFile(copied)
		if err != nil {
			t.Fatal(err)
		}
		now, _ := os.ReadFile(start)
		filesOf(t, name, copied, "-wal")
		if d, err := store.Open(ctx, copied); !errors.Is(err, store.ErrForeign) && !bytes.Equal(state, now) {
			t.Errorf("a copy with %d runs, beside the log of what was written later: %v, %v", has, d, err)
		}
	}
	filesOf(t, name, start, "-wal")
	if all, err := open(t, start).Runs(ctx); err != nil || len(all) != whole+1 {
		t.Errorf("the copy in whose state the log begins: %d runs, %v", len(all), err)
	}
	older := sqliteFile.fresh(t) // a log, beside what the file was later
	filesOf(t, name, older, "-wal")
	create(t, d, newRun(uint64(runs+1)))
	merge()
	filesOf(t, name, older, "")
	if d, err := store.OpenReader(ctx, older); !errors.Is(err, store.ErrForeign) {
		t.Errorf("a newer copy beside an older log: %v, %v", d, err)
	}
}

// TestLogOfAnotherWay: of two copies of one database that went different ways, and of one that another program has written anew, none gets the other's log.
func TestLogOfAnotherWay(t *testing.T) {
	name, other, anew, begins := sqliteFile.fresh(t), sqliteFile.fresh(t), sqliteFile.fresh(t), sqliteFile.fresh(t)
	d := open(t, name)
	create(t, d, newRun(1))
	d.Close()
	for _, copied := range []string{other, anew, begins} {
		filesOf(t, name, copied, "")
	}
	d = open(t, other)
	create(t, d, newRun(2))
	create(t, d, newRun(3))
	d.Close()
	raw := sqliteFile.direct(t, anew)
	if _, err := raw.Exec("CREATE TABLE theirs (x); INSERT INTO theirs VALUES (zeroblob(20000)); VACUUM; PRAGMA wal_checkpoint(TRUNCATE)"); err != nil {
		t.Fatal(err)
	}
	raw.Close()
	d = open(t, name)
	create(t, d, newRun(4))
	create(t, d, newRun(5))
	for _, copied := range []string{other, anew} {
		filesOf(t, name, copied, "-wal")
		if d, err := store.Open(ctx, copied); !errors.Is(err, store.ErrForeign) {
			t.Errorf("a copy that went another way: %v, %v", d, err)
		}
	}
	filesOf(t, name, begins, "-wal")
	if all, err := open(t, begins).Runs(ctx); err != nil || len(all) != 3 {
		t.Errorf("the copy in whose state the log begins: %d runs, %v", len(all), err)
	}
}

// TestLogOfSibling: of two copies of one database, to each of which one transaction of ours was added, none gets the other's log, whichever
// connection wrote them.
func TestLogOfSibling(t *testing.T) {
	for _, long := range []bool{false, true} { // one connection writes what both have, and the one more
		name, base, sibling := sqliteFile.fresh(t), sqliteFile.fresh(t), sqliteFile.fresh(t)
		d := open(t, name)
		create(t, d, newRun(1))
		merge := func() {
			if _, err := sqliteFile.direct(t, name).Exec("PRAGMA wal_checkpoint(TRUNCATE)"); err != nil {
				t.Fatal(err)
			}
		}
		merge()
		filesOf(t, name, base, "")
		if !long {
			d.Close()
			d = open(t, name)
		}
		create(t, d, newRun(2))
		merge()
		filesOf(t, name, sibling, "")
		create(t, open(t, base), newRun(3))
		filesOf(t, base, sibling, "-wal")
		if d, err := store.OpenReader(ctx, sibling); !errors.Is(err, store.ErrForeign) {
			t.Errorf("one connection %t: beside the log of a sibling: %v, %v", long, d, err)
		}
	}
}

// TestOtherProgramFirst: where another program has changed a database that it keeps open, our changes do not follow its own in
// the log. So after a crash the file is opened with its log, and a copy that is older than what the other program did is not.
func TestOtherProgramFirst(t *testing.T) {
	for _, tt := range []struct {
		what         string
		open, number bool // we have it open meanwhile; the other program has a number of its own in user_version
	}{{"before us", false, false}, {"between our changes", true, false}, {"with a number", true, true}} {
		name, backup, crashed := sqliteFile.fresh(t), sqliteFile.fresh(t), sqliteFile.fresh(t)
		d := open(t, name)
		create(t, d, newRun(1))
		d.Close()
		filesOf(t, name, backup, "")
		if tt.open {
			d = open(t, name)
			create(t, d, newRun(2))
		}
		last := "CREATE TABLE more (x)"
		if tt.number {
			last = "PRAGMA user_version = 3"
		}
		other := sqliteFile.direct(t, name)
		other.SetMaxOpenConns(1)
		for _, statement := range []string{"CREATE TABLE theirs (x)", "INSERT INTO theirs VALUES (zeroblob(50000))",
			"PRAGMA wal_checkpoint(RESTART)", last} {
			if _, err := other.Exec(statement); err != nil {
				t.Fatal(err)
			}
		}
		if !tt.open {
			d = open(t, name)
			create(t, d, newRun(2))
		}
		for number := range 3 {
			create(t, d, newRun(uint64(3+number)))
		}
		filesOf(t, name, crashed, "", "-wal")
		filesOf(t, name, backup, "-wal")
		if d, err := store.Open(ctx, backup); !errors.Is(err, store.ErrForeign) {
			t.Errorf("%s, an older copy beside the log: %v, %v", tt.what, d, err)
		}
		if runs, err := open(t, crashed).Runs(ctx); err != nil || len(runs) != 5 {
			t.Errorf("%s, the file and its log: %d runs, %v", tt.what, len(runs), err)
		}
	}
}

// TestReaderKeepsLog: while a reader keeps a log that begins with another program's change from being begun anew, we go on, and the file is
// opened with its log. Once it has ended, the log is begun anew.
func TestReaderKeepsLog(t *testing.T) {
	name, backup, crashed := sqliteFile.fresh(t), sqliteFile.fresh(t), sqliteFile.fresh(t)
	d := open(t, name)
	create(t, d, newRun(1))
	d.Close()
	filesOf(t, name, backup, "")
	other := sqliteFile.direct(t, name)
	if _, err := other.Exec("CREATE TABLE theirs (x); PRAGMA wal_checkpoint(RESTART); CREATE TABLE more (x)"); err != nil {
		t.Fatal(err)
	}
	reader, err := other.Begin()
	if err == nil {
		err = reader.QueryRow("SELECT count(*) FROM theirs").Scan(new(int))
	}
	if err != nil {
		t.Fatal(err)
	}
	d = open(t, name)
	create(t, d, newRun(2))
	create(t, d, newRun(3))
	filesOf(t, name, crashed, "", "-wal")
	if runs, err := open(t, crashed).Runs(ctx); err != nil || len(runs) != 3 {
		t.Errorf("while there is a reader: %d runs, %v", len(runs), err)
	}
	if err := reader.Rollback(); err != nil {
		t.Fatal(err)
	}
	create(t, d, newRun(4))
	filesOf(t, name, backup, "-wal")
	if d, err := store.Open(ctx, backup); !errors.Is(err, store.ErrForeign) {
		t.Errorf("an older copy beside the log: %v, %v", d, err)
	}
}

// TestOtherProgramLast: a log in which another program has set user_version is the file's own, where our changes before it are
// merged and none follows.
func TestOtherProgramLast(t *testing.T) {
	name, crashed := sqliteFile.fresh(t), sqliteFile.fresh(t)
	d := open(t, name)
	create(t, d, newRun(1))
	other := sqliteFile.direct(t, name)
	other.SetMaxOpenConns(1)
	for _, statement := range []string{"PRAGMA wal_checkpoint(RESTART)", "PRAGMA user_version = 3", "CREATE TABLE theirs (x)"} {
		if _, err := other.Exec(statement); err != nil {
			t.Fatal(err)
		}
	}
	filesOf(t, name, crashed, "", "-wal")
	if d, err := store.OpenReader(ctx, crashed); err != nil {
		t.Error(err)
	} else {
		d.Close()
	}
	d = open(t, crashed)
	create(t, d, newRun(2))
	if runs, err := d.Runs(ctx); err != nil || len(runs) != 2 {
		t.Errorf("%d runs, %v", len(runs), err)
	}
}

// TestLogOfBroken: a log beside a file that is no database, or beside a copy of which some is missing, is another file's; both stay as
// they are. A file that was cut while its own log was merged is opened.
func TestLogOfBroken(t *testing.T) {
	name, backup := sqliteFile.fresh(t), sqliteFile.fresh(t)
	for number := range 2 {
		d := open(t, name)
		create(t, d, newRun(uint64(1+number)))
		d.Close()
		if number == 0 {
			filesOf(t, name, backup, "")
		}
	}
	d := open(t, name)
	create(t, d, newRun(3))
	copied, err := os.ReadFile(backup)
	if err != nil {
		t.Fatal(err)
	}
	own, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	log, err := os.ReadFile(name + "-wal")
	if err != nil {
		t.Fatal(err)
	}
	const page = 4096
	for what, content := range map[string][]byte{
		"half of it":    copied[:len(copied)/2/page*page],
		"half a page":   copied[:page/2],
		"50 bytes":      copied[:50],
		"no schema":     slices.Concat(copied[:page/40], make([]byte, 8), copied[page/40+8:]),
		"no first page": slices.Concat(make([]byte, page), copied[page:]),
		"a recording":   bytes.Repeat([]byte("MURK"), page),
	} {
		broken := sqliteFile.fresh(t)
		if err := errors.Join(os.WriteFile(broken, content, 0o666), os.WriteFile(broken+"-wal", log, 0o666)); err != nil {
			t.Fatal(err)
		}
		for _, open := range []func() (*store.DB, error){
			func() (*store.DB, error) { return store.OpenReader(ctx, broken) },
			func() (*store.DB, error) { return store.Open(ctx, broken) },
		} {
			if d, err := open(); err == nil || !strings.Contains(err.Error(), "belongs to another file") {
				t.Errorf("%s: %v, %v", what, d, err)
			}
		}
		file, _ := os.ReadFile(broken)
		beside, _ := os.ReadFile(broken + "-wal")
		if !bytes.Equal(file, content) || !bytes.Equal(beside, log) {
			t.Errorf("%s: the file, or the log, was touched", what)
		}
	}
	cut := sqliteFile.fresh(t)
	if err := errors.Join(os.WriteFile(cut, own[:len(own)-page], 0o666), os.WriteFile(cut+"-wal", log, 0o666)); err != nil {
		t.Fatal(err)
	}
	if d, err := store.OpenReader(ctx, cut); errors.Is(err, store.ErrForeign) {
		t.Error(err)
	} else if err == nil {
		d.Close()
	}
}

// TestMergedAfterReader: who reads a database and writes to it in between leaves no log behind.
func TestMergedAfterReader(t *testing.T) {
	name := sqliteFile.fresh(t)
	d := open(t, name)
	create(t, d, newRun(1))
	d.Close()
	r, err := store.OpenReader(ctx, name)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.Runs(ctx); err != nil {
		t.Fatal(err)
	}
	w, err := r.Writable(ctx)
	if err != nil {
		t.Fatal(err)
	}
	create(t, w, newRun(2))
	if err := errors.Join(w.Close(), r.Close()); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(name + "-wal"); err == nil && info.Size() > 0 {
		t.Errorf("a log of %d bytes is left", info.Size())
	}
}

// TestCutFrame: a frame whose head says that it has the first page, and whose page a killed process has not written, has no mark.
func TestCutFrame(t *testing.T) {
	name, killed := sqliteFile.fresh(t), sqliteFile.fresh(t)
	create(t, open(t, name), newRun(1))
	for _, ending := range []string{"", "-wal"} {
		b, err := os.ReadFile(name + ending)
		if err != nil {
			t.Fatal(err)
		}
		if ending != "" { // once more the head of the first frame, which has page 1, before what was there
			const head, page = 24, 4096
			end := 32
			for bytes.Equal(b[end+8:end+16], b[16:24]) { // behind it lie frames of an earlier log
				end += head + page
			}
			copy(b[end:], slices.Concat(b[32:][:head], bytes.Repeat([]byte("old page"), page/8)))
		}
		if err := os.WriteFile(killed+ending, b, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	if runs, err := open(t, killed).Runs(ctx); err != nil || len(runs) != 1 {
		t.Errorf("%d runs, %v", len(runs), err)
	}
}

// TestLogMerged holds that a log which another process has merged into the file is no fault.
func TestLogMerged(t *testing.T) {
	name := sqliteFile.fresh(t)
	d := open(t, name)
	create(t, d, newRun(1))
	w := writer(t, d, newRun(1).ID)
	var m maker
	other := sqliteFile.direct(t, name)
	for range 3 {
		commit(t, w, m.batch(3, 2))
		if _, err := other.Exec("PRAGMA wal_checkpoint(TRUNCATE)"); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Error(err)
	}
}

// TestWritable holds that a database is opened a second time only if it is the same, and that nothing is made in its place.
func TestWritable(t *testing.T) {
	on(t, func(t *testing.T, on database, dsn string) {
		d := open(t, dsn)
		create(t, d, newRun(1))
		r, err := store.OpenReader(ctx, dsn)
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		w, err := r.Writable(ctx)
		if err != nil {
			t.Fatal(err)
		}
		create(t, w, newRun(2))
		w.Close()
		if on.name != "sqlite" || runtime.GOOS == "windows" {
			return
		}
		if err := os.Remove(dsn); err != nil {
			t.Fatal(err)
		}
		if w, err := r.Writable(ctx); !errors.Is(err, store.ErrGone) {
			t.Errorf("a file that was removed: %v, %v", w, err)
		}
		if _, err := os.Stat(dsn); err == nil {
			t.Error("a file was made")
		}
		if err := os.WriteFile(dsn, nil, 0o666); err != nil {
			t.Fatal(err)
		}
		if w, err := r.Writable(ctx); !errors.Is(err, store.ErrGone) {
			t.Errorf("a file that was replaced: %v, %v", w, err)
		}
		if info, err := os.Stat(dsn); err != nil || info.Size() > 0 {
			t.Errorf("the other file has changed: %v", err)
		}
	})
}

// TestLostLink: a writer whose last tick was removed says which one is missing, and which is the last.
func TestLostLink(t *testing.T) {
	on(t, func(t *testing.T, on database, dsn string) {
		d := open(t, dsn)
		create(t, d, newRun(1))
		w := writer(t, d, newRun(1).ID)
		var m maker
		commit(t, w, m.batch(10, 3))
		raw := on.direct(t, dsn)
		drop := "DROP TRIGGER chain_hashes_delete"
		if on.name == "postgres" {
			drop = "DROP TRIGGER append_only ON chain_hashes"
		}
		for _, s := range []string{drop, "DELETE FROM chain_hashes WHERE tick = 9"} {
			if _, err := raw.Exec(s); err != nil {
				t.Fatal(err)
			}
		}
		err := w.Commit(ctx, m.batch(10, 3))
		if !errors.Is(err, store.ErrChain) || !errors.Is(err, audit.ErrLost) || !strings.Contains(err.Error(), "tick 9 is missing; the last before it is tick 8") {
			t.Error(err)
		}
	})
}

// TestLocksKept: while a database is open, this process keeps its locks on the file, whatever it opens beside it. Else another program takes itself for
// the last one, and removes the log.
func TestLocksKept(t *testing.T) {
	if runtime.GOOS != "linux" {
		return // there is no list of locks
	}
	name := sqliteFile.fresh(t)
	d := open(t, name)
	create(t, d, newRun(1))
	locked := func() int {
		b, err := os.ReadFile("/proc/locks")
		if err != nil {
			t.Fatal(err)
		}
		info, err := os.Stat(name)
		if err != nil {
			t.Fatal(err)
		}
		return strings.Count(string(b), fmt.Sprintf(":%v ", reflect.ValueOf(info.Sys()).Elem().FieldByName("Ino")))
	}
	before := locked()
	if before == 0 {
		t.Fatal("a database that is open has no lock")
	}
	for range 2 {
		r, err := store.OpenReader(ctx, name)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := r.Runs(ctx); err != nil {
			t.Fatal(err)
		}
		w, err := r.Writable(ctx)
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(w.Close(), r.Close()); err != nil {
			t.Fatal(err)
		}
	}
	if now := locked(); now < before {
		t.Errorf("%d locks of %d are left", now, before)
	}
}
