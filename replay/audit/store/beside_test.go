package store_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/murksim/murksim/replay/audit/store"
)

// TestCompanion: no database is made or written to under a name that SQLite or a lock has beside another database. Beside another file it
// is.
func TestCompanion(t *testing.T) {
	id := newRun(1).ID
	for _, ending := range []string{"-wal", "-shm", "-journal", "-migration", fmt.Sprint("-writer-", id)} {
		name := sqliteFile.fresh(t)
		d := open(t, name)
		create(t, d, newRun(1))
		d.Close()
		const want = "belongs to the database run.db; write to another file"
		if d, err := store.Open(ctx, name+ending); !errors.Is(err, store.ErrDSN) || !strings.Contains(err.Error(), want) {
			t.Errorf("Open(%s): %v, %v", ending, d, err)
		}
		if _, err := os.Stat(name + ending); err == nil {
			t.Errorf("%s was made", ending)
		}
		other := sqliteFile.fresh(t) + "-text"
		if err := os.WriteFile(other, []byte("no database"), 0o666); err != nil {
			t.Fatal(err)
		}
		open(t, other+ending)
	}
}

// TestStrangeBeside: what lies beside a database under the name of a file of SQLite, or of a lock, and is none, is neither overwritten
// nor removed.
func TestStrangeBeside(t *testing.T) {
	id := newRun(1).ID
	for _, ending := range []string{"-wal", "-shm", "-journal", "-migration", fmt.Sprint("-writer-", id)} {
		for _, fresh := range []bool{true, false} {
			other, name := sqliteFile.fresh(t), sqliteFile.fresh(t)
			for _, dsn := range []string{other, name} {
				if dsn == other || !fresh {
					d := open(t, dsn)
					create(t, d, newRun(1))
					d.Close()
				}
			}
			was, err := os.ReadFile(other)
			if err = errors.Join(err, os.WriteFile(name+ending, was, 0o666)); err != nil {
				t.Fatal(err)
			}
			for opener, open := range openers {
				d, err := open(ctx, name)
				if err == nil {
					w, refused := d.Writer(ctx, id)
					if refused == nil {
						w.Close()
					}
					err = errors.Join(refused, d.Close())
				}
				if opener == "Open" && err == nil && ending != "-migration" { // which is locked only to make the tables
					t.Errorf("%s, fresh %t: opened", ending, fresh)
				}
				if now, err := os.ReadFile(name + ending); err != nil || !bytes.Equal(now, was) {
					t.Fatalf("%s, fresh %t: %s: it has %d bytes, not %d, %v", ending, fresh, opener, len(now), len(was), err)
				}
			}
		}
	}
}
