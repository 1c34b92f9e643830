package store_test

import (
	"database/sql"
	"os"
	"os/exec"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/pressly/goose/v3"

	"github.com/murksim/murksim/replay/audit/store"
)

// older makes a database of version 1, with a run of some ticks and inputs.
func older(t *testing.T, dsn string) *sql.DB {
	t.Helper()
	const first = "00001_audit.sql"
	text, err := os.ReadFile("migrations/sqlite/" + first)
	if err != nil {
		t.Fatal(err)
	}
	raw := sqliteFile.direct(t, dsn)
	p, err := goose.NewProvider(goose.DialectSQLite3, raw, fstest.MapFS{first: {Data: text}}, goose.WithDisableGlobalRegistry(true), goose.WithTableName("audit_migrations"))
	if err == nil {
		_, err = p.Up(ctx)
	}
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

// TestOlder: a database of version 1 is read and added to as it is, and brought up to date with all its rows when it is opened to write.
func TestOlder(t *testing.T) {
	dsn := sqliteFile.fresh(t)
	raw := older(t, dsn)
	r, err := store.OpenReader(ctx, dsn)
	if err != nil {
		t.Fatal(err)
	}
	w, err := r.Writable(ctx)
	if err != nil {
		t.Fatal(err)
	}
	fill(t, w)
	if _, err := raw.Exec("DROP TRIGGER input_events_insert; INSERT INTO input_events (run_id, seq, tick, source, kind, payload, payload_json, prev_hash, event_hash, accepted_at) SELECT run_id, 3, 40, source, 7, x'01', '{}', event_hash, event_hash, 5 FROM input_events WHERE seq = 2"); err != nil {
		t.Fatal(err)
	}
	id := newRun(1).ID
	e, done, err := r.Evidence(ctx, id)
	if err != nil {
		t.Fatal(err)
	}
	wantInputs, wantLinks := inputs(t, e), links(t, e)
	if len(wantInputs) != 3 || len(wantLinks) != 10 {
		t.Fatalf("%d inputs and %d links", len(wantInputs), len(wantLinks))
	}
	done()
	w.Close()
	r.Close()

	d := open(t, dsn)
	e = evidence(t, d, id)
	if !reflect.DeepEqual(inputs(t, e), wantInputs) || !slices.EqualFunc(links(t, e), wantLinks, equalLinks) {
		t.Error("the rows are others")
	}
	var left, odd int
	if err := raw.QueryRow("SELECT count(*) FILTER (WHERE sql LIKE '%input_events_2%'), (SELECT count(*) FROM input_events WHERE payload_json IS NOT NULL AND accepted_at <> 5) FROM sqlite_schema").Scan(&left, &odd); err != nil || left != 0 || odd != 0 {
		t.Errorf("%d definitions name the table that was made, %d rows have other columns, %v", left, odd, err)
	}
	for _, s := range []string{"UPDATE input_events SET kind = 1", "DELETE FROM input_events", "INSERT OR REPLACE INTO input_events SELECT run_id, seq, tick, source, kind, payload, NULL, prev_hash, event_hash, accepted_at FROM input_events",
		"INSERT INTO input_events (run_id, seq, tick, source, kind, payload, prev_hash, event_hash, accepted_at) SELECT run_id, 9, 50, source, 7, x'', zeroblob(32), event_hash, 5 FROM input_events WHERE seq = 3"} {
		if _, err := raw.Exec(s); err == nil {
			t.Errorf("%s: done", s)
		}
	}
	var version int
	if err := raw.QueryRow("SELECT max(version_id) FROM audit_migrations").Scan(&version); err != nil || version != 2 {
		t.Errorf("version %d, %v", version, err)
	}
	checkIntegrity(t, raw, dsn)
}

// checkIntegrity asks SQLite, and the program sqlite3 if there is one, which is an older version.
func checkIntegrity(t *testing.T, raw *sql.DB, dsn string) {
	t.Helper()
	for _, pragma := range []string{"integrity_check", "foreign_key_check"} {
		var said string
		if err := raw.QueryRow("PRAGMA " + pragma).Scan(&said); err != nil && err != sql.ErrNoRows || said != "" && said != "ok" {
			t.Errorf("%s: %s, %v", pragma, said, err)
		}
	}
	if _, err := exec.LookPath("sqlite3"); err != nil {
		return
	}
	if out, err := exec.Command("sqlite3", dsn, "PRAGMA integrity_check").CombinedOutput(); err != nil || strings.TrimSpace(string(out)) != "ok" {
		t.Errorf("sqlite3: %s, %v", out, err)
	}
}
