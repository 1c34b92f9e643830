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
		"row security of audits":   {"ALTER TABLE audits ENABLE ROW LEVEL SECURITY"},
		"index strange":            {"CREATE FUNCTION slow(t text) RETURNS text LANGUAGE sql IMMUTABLE AS 'SELECT t'", "CREATE INDEX strange ON audits (slow(platform))"},
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
		if _, err := d.Alert(ctx, &store.Alert{Run: r.ID, Code: audit.Divergence, Severity: "critical", At: now}); err != nil {
			t.Errorf("afterwards: %v", err)
		}
	})
}
