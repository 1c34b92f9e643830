package store_test

import (
	"errors"
	"strings"
	"testing"

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
