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

// TestMarking: an opening to write that was killed while it gave the file a new mark, before the mark was in the file, has cost nothing; nor has
// one beside another that writes.
func TestMarking(t *testing.T) {
	name := sqliteFile.fresh(t)
	d := open(t, name)
	create(t, d, newRun(1))
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	killed := sqliteFile.fresh(t)
	raw := sqliteFile.direct(t, name)
	if _, err := raw.Exec("PRAGMA user_version = 77"); err != nil {
		t.Fatal(err)
	}
	for _, ending := range []string{"", "-wal"} {
		b, err := os.ReadFile(name + ending)
		if err = errors.Join(err, os.WriteFile(killed+ending, b, 0o666)); err != nil || len(b) == 0 {
			t.Fatal(len(b), err)
		}
	}
	d = open(t, killed)
	create(t, d, newRun(2))
	w := writer(t, d, newRun(2).ID)
	var m maker
	commit(t, w, m.batch(3, 0))
	create(t, open(t, killed), newRun(3))
	commit(t, w, m.batch(3, 0))
	r, err := store.OpenReader(ctx, killed)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if runs, err := r.Runs(ctx); err != nil || len(runs) != 3 {
		t.Errorf("%d runs, %v", len(runs), err)
	}
}

// TestMarkedAnew: each opening to write gives the file another mark, also after somebody has looked at it and left an empty log.
func TestMarkedAnew(t *testing.T) {
	name := sqliteFile.fresh(t)
	marks := map[int]bool{}
	for range 3 {
		d := open(t, name)
		create(t, d, newRun(uint64(len(marks))+1))
		if err := d.Close(); err != nil {
			t.Fatal(err)
		}
		r, err := store.OpenReader(ctx, name)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := r.Runs(ctx); err != nil {
			t.Fatal(err)
		}
		if err := r.Close(); err != nil {
			t.Fatal(err)
		}
		if info, err := os.Stat(name + "-wal"); err != nil || info.Size() != 0 {
			t.Fatalf("who looks leaves no empty log: %v", err)
		}
		raw, mark := sqliteFile.direct(t, name), 0
		if err := raw.QueryRow("PRAGMA user_version").Scan(&mark); err != nil || mark == 0 || marks[mark] {
			t.Fatalf("mark %d after %v, %v", mark, marks, err)
		}
		raw.Close()
		if err := os.WriteFile(name+"-wal", nil, 0o666); err != nil {
			t.Fatal(err)
		}
		marks[mark] = true
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
			b = slices.Concat(b, b[32:][:head], bytes.Repeat([]byte("old page"), page/8))
		}
		if err := os.WriteFile(killed+ending, b, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	if runs, err := open(t, killed).Runs(ctx); err != nil || len(runs) != 1 {
		t.Errorf("%d runs, %v", len(runs), err)
	}
}

// TestMarkedAfterCrash: the database of a run that crashed, and its copy, which was made with the log, have other marks once the run goes on. So the copy does
// not get the log of what is written then; nor does the copy of one that had no mark.
func TestMarkedAfterCrash(t *testing.T) {
	files := func(from, to string, endings ...string) {
		t.Helper()
		for _, ending := range endings {
			b, err := os.ReadFile(from + ending)
			if err = errors.Join(err, os.WriteFile(to+ending, b, 0o666)); err != nil || len(b) == 0 {
				t.Fatal(len(b), err)
			}
		}
	}
	refused := func(copied, log string) {
		t.Helper()
		files(log, copied, "-wal")
		if d, err := store.Open(ctx, copied); !errors.Is(err, store.ErrForeign) {
			t.Errorf("a copy with the log of what was written later: %v, %v", d, err)
		}
	}
	name, crashed, copied := sqliteFile.fresh(t), sqliteFile.fresh(t), sqliteFile.fresh(t)
	create(t, open(t, name), newRun(1))
	files(name, crashed, "", "-wal") // as it is after kill -9
	files(name, copied, "", "-wal")
	merged := sqliteFile.direct(t, copied)
	if _, err := merged.Exec("PRAGMA wal_checkpoint(TRUNCATE)"); err != nil {
		t.Fatal(err)
	}
	merged.Close()
	d := open(t, crashed)
	create(t, d, newRun(2))
	if runs, err := d.Runs(ctx); err != nil || len(runs) != 2 {
		t.Errorf("%d runs, %v", len(runs), err)
	}
	refused(copied, crashed)

	old := sqliteFile.fresh(t)
	create(t, open(t, old), newRun(1))
	raw := sqliteFile.direct(t, old)
	if _, err := raw.Exec("PRAGMA user_version = 0; PRAGMA wal_checkpoint(TRUNCATE)"); err != nil {
		t.Fatal(err)
	}
	now, unmarked := sqliteFile.fresh(t), sqliteFile.fresh(t)
	files(old, now, "")
	files(old, unmarked, "")
	create(t, open(t, now), newRun(2))
	refused(unmarked, now)
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
