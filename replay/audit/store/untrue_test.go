package store_test

import (
	"encoding/binary"
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/murksim/murksim/replay/audit"
	"github.com/murksim/murksim/replay/audit/store"
)

// TestViews: a database one of whose tables is a view is refused, before anything is read from it. An endless one would never end.
func TestViews(t *testing.T) {
	for _, table := range []string{"runs", "input_events", "chain_hashes", "snapshots", "run_halts", "audit_migrations"} {
		t.Run(table, func(t *testing.T) {
			on(t, func(t *testing.T, on database, dsn string) {
				open(t, dsn)
				raw := on.direct(t, dsn)
				raw.SetMaxOpenConns(1)
				statements := []string{"ALTER TABLE " + table + " RENAME TO hidden", "CREATE VIEW " + table + " AS SELECT h.* FROM hidden h, (WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT x FROM n) AS endless"}
				if on.name == "sqlite" {
					statements = append([]string{"PRAGMA legacy_alter_table = 1"}, statements...)
				}
				for _, s := range statements {
					if _, err := raw.Exec(s); err != nil {
						t.Fatalf("%s: %v", s, err)
					}
				}
				for name, open := range openers {
					if _, err := open(ctx, dsn); !errors.Is(err, store.ErrForeign) || table != "audit_migrations" && !strings.Contains(err.Error(), table+" is no table of its own") {
						t.Errorf("%s: %s: %v, want %q", name, table, err, store.ErrForeign)
					}
				}
			})
		})
	}
}

// TestUnguarded: where a trigger of the migrations is missing or disabled, no run is written; a verdict and a halt are.
func TestUnguarded(t *testing.T) {
	on(t, func(t *testing.T, on database, dsn string) {
		without := map[string]string{"chain_hashes_insert": "DROP TRIGGER chain_hashes_insert", "audits_delete": "DROP TRIGGER audits_delete"}
		if on.name == "postgres" {
			without = map[string]string{"an_input of input_events": "ALTER TABLE input_events DISABLE TRIGGER USER", "append_only of audits": "DROP TRIGGER append_only ON audits",
				"a_link of chain_hashes": "ALTER TABLE chain_hashes ENABLE REPLICA TRIGGER a_link"}
		}
		for name, statement := range without {
			dsn := on.fresh(t)
			d := open(t, dsn)
			r := newRun(1)
			create(t, d, r)
			if _, err := on.direct(t, dsn).Exec(statement); err != nil {
				t.Fatal(err)
			}
			d = open(t, dsn)
			_, err := d.Writer(ctx, r.ID)
			_, begun := d.Begin(ctx, newRun(2))
			for _, err := range []error{err, begun} {
				if !errors.Is(err, store.ErrUnguarded) || !strings.Contains(err.Error(), name) {
					t.Errorf("%s: %v, want %q", statement, err, store.ErrUnguarded)
				}
			}
			if err := d.Halt(ctx, r.ID, audit.Halt{Code: audit.Divergence}); err != nil {
				t.Errorf("%s: a halt: %v", statement, err)
			}
		}
	})
}

// TestPageTwice: a file in which a page of a table is linked twice has rows that come again and, with more such links, never end. It is
// refused at the first of them.
func TestPageTwice(t *testing.T) {
	path := sqliteFile.fresh(t)
	d := open(t, path)
	for i := range uint64(300) {
		create(t, d, newRun(i+1))
	}
	d.Close()
	raw := sqliteFile.direct(t, path)
	var root int
	if err := raw.QueryRow("SELECT rootpage FROM sqlite_schema WHERE name = 'runs'").Scan(&root); err != nil {
		t.Fatal(err)
	}
	if _, err := raw.Exec("PRAGMA wal_checkpoint(TRUNCATE)"); err != nil {
		t.Fatal(err)
	}
	raw.Close()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	page := b[(root-1)*int(binary.BigEndian.Uint16(b[16:])):] // https://www.sqlite.org/fileformat2.html#b_tree_pages
	if page[0] != 2 {
		t.Fatalf("the root of the table is a page of kind %d; want an interior one", page[0])
	}
	first := page[binary.BigEndian.Uint16(page[12:]):][:4] // the page that the first cell leads to
	copy(page[8:12], first)                                // and now the last one, too
	if err := os.WriteFile(path, b, 0o666); err != nil {
		t.Fatal(err)
	}
	if list, err := open(t, path).Runs(ctx); !errors.Is(err, store.ErrInvalid) || !strings.Contains(err.Error(), "is there twice; the file is damaged") {
		t.Errorf("%d runs, %v", len(list), err)
	}
}
