package store_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/murksim/murksim/replay/audit"
	"github.com/murksim/murksim/replay/audit/store"
)

// endless is a query without an end.
const endless = "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT count(*) FROM n"

// strange are what somebody can add to a database, by what the error names.
var strange = map[string]map[string][]string{
	"sqlite": {
		"endless":    {"CREATE TRIGGER endless BEFORE INSERT ON audits BEGIN " + endless + "; END"},
		"endless_2":  {"CREATE TRIGGER endless_2 AFTER INSERT ON alerts BEGIN " + endless + "; END"},
		"endless_3":  {"CREATE TRIGGER endless_3 BEFORE INSERT ON audit_migrations BEGIN " + endless + "; END"},
		"runs_index": {"CREATE INDEX runs_index ON runs (label GLOB '*a*a*a*b')"},
		"some_index": {"CREATE INDEX some_index ON audits (report) WHERE report GLOB '*a*a*a*b'"},
		"alerts":     {"ALTER TABLE alerts ADD COLUMN more TEXT AS (code || severity)"},
		"audits":     {"ALTER TABLE audits ADD COLUMN more TEXT CHECK (report NOT GLOB '*a*a*a*b')"},
		"audits_insert": {"DROP TRIGGER audits_insert", "CREATE TRIGGER audits_insert BEFORE INSERT ON audits WHEN EXISTS (SELECT 1 FROM audits WHERE audit_id = NEW.audit_id) BEGIN " +
			endless + "; END"},
		"lying": {"PRAGMA writable_schema = 1", "CREATE TRIGGER lying BEFORE INSERT ON audits BEGIN " + endless + "; END",
			"UPDATE sqlite_schema SET sql = 'create/**/TRIGGER' || substr(sql, 15) WHERE name = 'lying'"},
	},
	"postgres": {
		"trigger endless of audits": {"CREATE FUNCTION endless() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM count(*) FROM (" + endless + ") AS n; RETURN NEW; END $$",
			"CREATE TRIGGER endless BEFORE INSERT ON audits FOR EACH ROW EXECUTE FUNCTION endless()"},
		"trigger append_only of audits": {"CREATE FUNCTION endless() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM pg_sleep(1e9); RETURN NEW; END $$", "DROP TRIGGER append_only ON audits",
			"CREATE TRIGGER append_only BEFORE INSERT ON audits FOR EACH ROW EXECUTE FUNCTION endless()"},
		"trigger append_only of alerts": {"DROP TRIGGER append_only ON alerts",
			"CREATE TRIGGER append_only BEFORE INSERT ON alerts FOR EACH ROW WHEN (pg_sleep(1e9) IS NULL) EXECUTE FUNCTION murksim_append_only()"},
		"function murksim_append_only()":                    {"CREATE OR REPLACE FUNCTION murksim_append_only() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM pg_sleep(1e9); RETURN NEW; END $$"},
		"function murksim_link()":                           {"ALTER FUNCTION murksim_link() SET search_path = pg_temp, public"},
		"function murksim_locked(run text)":                 {"CREATE FUNCTION murksim_locked(run text) RETURNS bigint LANGUAGE sql AS 'SELECT 1'"},
		"rule strange of alerts":                            {"CREATE RULE strange AS ON INSERT TO alerts DO ALSO SELECT pg_sleep(1e9)"},
		"policy strange of audits":                          {"CREATE POLICY strange ON audits USING (pg_sleep(1e9) IS NULL)"},
		"constraint strange on table audits":                {"CREATE FUNCTION slow(t text) RETURNS bool LANGUAGE sql AS 'SELECT pg_sleep(1e9) IS NULL'", "ALTER TABLE audits ADD CONSTRAINT strange CHECK (slow(platform))"},
		"default value for column platform of table audits": {"CREATE FUNCTION slow() RETURNS text LANGUAGE sql AS 'SELECT pg_sleep(1e9)::text'", "ALTER TABLE audits ALTER platform SET DEFAULT slow()"},
		"type of platform of audits": {"CREATE FUNCTION slow(t text) RETURNS bool LANGUAGE sql AS 'SELECT pg_sleep(1e9) IS NULL'", "CREATE DOMAIN inner_domain AS text CHECK (slow(VALUE))",
			"CREATE DOMAIN outer_domain AS inner_domain", "ALTER TABLE audits ALTER platform TYPE outer_domain"},
		"type of report of audits": {"CREATE DOMAIN strange AS jsonb", "ALTER TABLE audits ALTER report TYPE strange"},
		"table strange":            {"CREATE TABLE strange () INHERITS (audits)"},
		"audits is no table of its own": {"ALTER TABLE audits RENAME TO old", "CREATE TABLE audits (LIKE old INCLUDING DEFAULTS INCLUDING CONSTRAINTS) PARTITION BY LIST (run_id)",
			"CREATE TABLE archive PARTITION OF audits DEFAULT", "CREATE FUNCTION endless() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM pg_sleep(1e9); RETURN NEW; END $$",
			"CREATE TRIGGER endless BEFORE INSERT ON archive FOR EACH ROW EXECUTE FUNCTION endless()"},
		"row security of audits": {"ALTER TABLE audits ENABLE ROW LEVEL SECURITY"},
		"index strange":          {"CREATE FUNCTION slow(t text) RETURNS text LANGUAGE sql IMMUTABLE AS 'SELECT t'", "CREATE INDEX strange ON audits (slow(platform))"},
	},
}

// TestUnmade: a database is refused in which something runs with our rows that no migration has made; its name is told.
func TestUnmade(t *testing.T) {
	on(t, func(t *testing.T, on database, _ string) {
		for name, statements := range strange[on.name] {
			t.Run(name, func(t *testing.T) {
				dsn := on.fresh(t)
				d := open(t, dsn)
				raw := on.direct(t, dsn)
				raw.SetMaxOpenConns(1)
				for _, s := range statements {
					if _, err := raw.Exec(s); err != nil {
						t.Fatalf("%s: %v", s, err)
					}
				}
				raw.Close()
				for as, open := range openers {
					if _, err := open(ctx, dsn); !errors.Is(err, store.ErrForeign) || !strings.Contains(err.Error(), name) {
						t.Errorf("%s: %v, want %q of %s", as, err, store.ErrForeign, name)
					}
				}
				if _, err := d.Writable(ctx); !errors.Is(err, store.ErrForeign) {
					t.Errorf("once more, to write: %v", err)
				}
			})
		}
	})
}

// TestForeignBeside: what others have in the file, and does not run with our rows, is left alone.
func TestForeignBeside(t *testing.T) {
	dsn := sqliteFile.fresh(t)
	open(t, dsn)
	raw := sqliteFile.direct(t, dsn)
	for _, s := range []string{"CREATE TABLE notes (id INTEGER PRIMARY KEY, text TEXT)", "CREATE INDEX notes_by_text ON notes (text)", "CREATE VIEW latest AS SELECT * FROM runs", "ANALYZE"} {
		if _, err := raw.Exec(s); err != nil {
			t.Fatalf("%s: %v", s, err)
		}
	}
	open(t, dsn)
}

// TestPatience: a statement that does not end is ended after a while, or with its context, and the error says what it was for.
func TestPatience(t *testing.T) {
	triggers := map[string][]string{"sqlite": strange["sqlite"]["endless"], "postgres": strange["postgres"]["trigger endless of audits"]}
	on(t, func(t *testing.T, on database, dsn string) {
		d := open(t, dsn)
		r, now := newRun(1), time.Now()
		create(t, d, r)
		raw := on.direct(t, dsn)
		for _, s := range triggers[on.name] { // while it is open
			if _, err := raw.Exec(s); err != nil {
				t.Fatal(err)
			}
		}
		verdict := &store.Audit{ID: r.ID, Run: r.ID, Started: now, Finished: now, Verdict: "PASS"}
		d.Patience = 200 * time.Millisecond
		if err := d.Audit(ctx, verdict); !errors.Is(err, store.ErrSlow) || !strings.Contains(err.Error(), "adding audit ") {
			t.Errorf("%v, want %q", err, store.ErrSlow)
		}
		d.Patience = 0
		within, cancel := context.WithCancel(ctx)
		time.AfterFunc(200*time.Millisecond, cancel)
		if err := d.Audit(within, verdict); !errors.Is(err, context.Canceled) {
			t.Errorf("%v, want %v", err, context.Canceled)
		}
		if err := d.Alert(ctx, &store.Alert{Run: r.ID, Code: audit.Divergence, Severity: "critical", At: now}); err != nil {
			t.Errorf("afterwards: %v", err)
		}
	})
}

// droppers make triggers that drop all new rows of a table.
var droppers = map[string][]string{
	"sqlite": {"CREATE TRIGGER drops BEFORE INSERT ON TABLE_ BEGIN SELECT raise(ignore); END"},
	"postgres": {"CREATE OR REPLACE FUNCTION drops() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN NULL; END $$",
		"CREATE TRIGGER drops BEFORE INSERT ON TABLE_ FOR EACH ROW EXECUTE FUNCTION drops()"},
}

// TestDropped: what adds rows fails if a trigger that was made meanwhile drops them; nothing of a batch is there then.
func TestDropped(t *testing.T) {
	now := time.Now()
	for table, add := range map[string]func(d *store.DB, w *store.Writer, m *maker) error{
		"runs":         func(d *store.DB, _ *store.Writer, _ *maker) error { return d.Create(ctx, newRun(2)) },
		"input_events": func(_ *store.DB, w *store.Writer, m *maker) error { return w.Commit(ctx, m.batch(60, 3)) },
		"chain_hashes": func(_ *store.DB, w *store.Writer, m *maker) error { return w.Commit(ctx, m.batch(60, 0)) },
		"snapshots": func(_ *store.DB, w *store.Writer, m *maker) error {
			b := m.batch(1, 0)
			b.Snapshots = []audit.Snapshot{{Tick: b.Links[0].Tick, Hash: b.Links[0].Hash, State: []byte("state")}}
			return w.Commit(ctx, b)
		},
		"run_halts": func(d *store.DB, _ *store.Writer, _ *maker) error {
			return d.Halt(ctx, newRun(1).ID, audit.Halt{Code: audit.Panic, At: now})
		},
		"audits": func(d *store.DB, _ *store.Writer, _ *maker) error {
			return d.Audit(ctx, &store.Audit{Run: newRun(1).ID, Started: now, Finished: now, Verdict: "PASS"})
		},
		"alerts": func(d *store.DB, _ *store.Writer, _ *maker) error {
			return d.Alert(ctx, &store.Alert{Run: newRun(1).ID, Code: audit.Panic, Severity: "critical", At: now})
		},
	} {
		t.Run(table, func(t *testing.T) {
			on(t, func(t *testing.T, on database, dsn string) {
				d := open(t, dsn)
				create(t, d, newRun(1))
				w, m := writer(t, d, newRun(1).ID), &maker{sections: 1}
				commit(t, w, m.batch(5, 1))
				raw := on.direct(t, dsn)
				for _, s := range droppers[on.name] {
					if _, err := raw.Exec(strings.ReplaceAll(s, "TABLE_", table)); err != nil {
						t.Fatal(err)
					}
				}
				if err := add(d, w, m); !errors.Is(err, store.ErrDropped) || !strings.Contains(err.Error(), table) {
					t.Errorf("%v, want %q of %s", err, store.ErrDropped, table)
				}
				if got := len(links(t, evidence(t, d, newRun(1).ID))); got != 5 {
					t.Errorf("%d links are there, want 5", got)
				}
			})
		})
	}
}
