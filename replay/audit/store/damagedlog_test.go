package store_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/murksim/murksim/replay/audit/store"
)

// Sizes in a log of SQLite.
const logHead, logFrame = 32, 24 + 4096

// TestDamagedLog: a log that is damaged before its end, or no log, is refused, by who reads and by who writes, and stays as it is. What
// killed processes leave is accepted.
func TestDamagedLog(t *testing.T) {
	name, earlier := sqliteFile.fresh(t), sqliteFile.fresh(t)
	d := open(t, name)
	create(t, d, newRun(1))
	w := writer(t, d, newRun(1).ID)
	var m maker
	for range 6 {
		commit(t, w, m.batch(3, 2))
	}
	filesOf(t, name, earlier, "", "-wal")
	log, err := os.ReadFile(earlier + "-wal")
	if err != nil {
		t.Fatal(err)
	}
	frames := (len(log) - logHead) / logFrame
	flip := func(at int) []byte {
		b := bytes.Clone(log)
		b[at] ^= 1
		return b
	}
	last := logHead + (frames-1)*logFrame
	for _, tt := range []struct {
		what string
		log  []byte
		at   int // where it is damaged; -1: it is accepted
	}{
		{"a page of the first frame", flip(logHead + 24 + 2000), logHead},
		{"the first byte", flip(0), 0},
		{"the size of a page", flip(10), 0},
		{"the salts of the head", flip(20), 0},
		{"its checksum", flip(28), 0},
		{"zeros at the beginning", slices.Concat(make([]byte, 4096), log[4096:]), 0},
		{"a page in the middle", flip(logHead + frames/2*logFrame + 1000), logHead + frames/2*logFrame},
		{"the salts of a frame in the middle", flip(logHead + frames/2*logFrame + 9), logHead + frames/2*logFrame},
		{"a text", []byte("no log"), 0},
		{"a database", bytes.Repeat([]byte("SQLite format 3\x00"), 1000), 0},
		{"whole", log, -1},
		{"cut in the last frame", log[:last+500], -1},
		{"cut in the head", log[:20], -1},
		{"the last frame", flip(last + 100), -1},
		{"more than its end", slices.Concat(log, bytes.Repeat([]byte("old page"), logFrame)), -1},
		{"zeros", make([]byte, len(log)), -1},
		{"zeros behind it", slices.Concat(log, make([]byte, 3*logFrame)), -1},
	} {
		damaged := sqliteFile.fresh(t)
		filesOf(t, earlier, damaged, "")
		file, _ := os.ReadFile(damaged)
		for _, opener := range []string{"OpenReader", "Open"} {
			if err := os.WriteFile(damaged+"-wal", tt.log, 0o666); err != nil {
				t.Fatal(err)
			}
			d, err := openers[opener](ctx, damaged)
			if err == nil {
				d.Close()
			}
			if tt.at < 0 {
				if err != nil && !errors.Is(err, store.ErrForeign) { // without its log the file may have no tables yet
					t.Errorf("%s: %s: %v", tt.what, opener, err)
				}
				os.Remove(damaged + "-wal")
				filesOf(t, earlier, damaged, "")
				continue
			}
			if want := fmt.Sprintf("damaged at byte %d,", tt.at); !errors.Is(err, store.ErrDamaged) || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %s: %v, want %q", tt.what, opener, err, want)
			}
			now, _ := os.ReadFile(damaged)
			beside, _ := os.ReadFile(damaged + "-wal")
			if !bytes.Equal(now, file) || !bytes.Equal(beside, tt.log) {
				t.Errorf("%s: %s: the file, or the log, was touched", tt.what, opener)
			}
		}
	}
}

// TestOldFramesBehind: behind the end of a log lie frames of an earlier one, or those of a transaction that was given up. They are no
// damage.
func TestOldFramesBehind(t *testing.T) {
	const many = "INSERT INTO notes WITH RECURSIVE s(n) AS (VALUES (1) UNION ALL SELECT n + 1 FROM s WHERE n < 100) " +
		"SELECT n, randomblob(4000) FROM s"
	for what, before := range map[string][]string{
		"an earlier log":                {many, "PRAGMA wal_checkpoint(RESTART)"},
		"a transaction without its end": {"PRAGMA cache_size = 5", "BEGIN", many, "ROLLBACK"},
	} {
		name, killed := sqliteFile.fresh(t), sqliteFile.fresh(t)
		create(t, open(t, name), newRun(1))
		raw := sqliteFile.direct(t, name)
		raw.SetMaxOpenConns(1)
		if _, err := raw.Exec("CREATE TABLE notes (n, text)"); err != nil {
			t.Fatal(err)
		}
		for _, statement := range before {
			if _, err := raw.Exec(statement); err != nil {
				t.Fatal(err)
			}
		}
		create(t, open(t, name), newRun(2))
		filesOf(t, name, killed, "", "-wal")
		log, err := os.ReadFile(killed + "-wal")
		if err != nil || len(log) < 90*logFrame {
			t.Fatal(len(log), err)
		}
		r, err := store.OpenReader(ctx, killed)
		if err != nil {
			t.Errorf("%s: %v", what, err)
			continue
		}
		if runs, err := r.Runs(ctx); err != nil || len(runs) != 2 {
			t.Errorf("%s: %d runs, %v", what, len(runs), err)
		}
		r.Close()
	}
}
