//go:build postgres

package store_test

import (
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	_ "github.com/jackc/pgx/v5/stdlib"

	"github.com/murksim/murksim/internal/waiting"
	"github.com/murksim/murksim/replay/audit"
	"github.com/murksim/murksim/replay/audit/store"
)

var onPostgres = database{name: "postgres", driver: "pgx", fresh: schema, raw: func(dsn string) string { return dsn }}

// servers are the databases beside SQLite.
func servers() []database {
	return []database{onPostgres}
}

var schemas atomic.Int64

// server returns the DSN of the server that tools/ci/postgres.sh has started.
func server(t testing.TB) *url.URL {
	t.Helper()
	u, err := url.Parse(os.Getenv("MURKSIM_POSTGRES"))
	if err != nil || u.Scheme != "postgres" {
		t.Fatal("MURKSIM_POSTGRES is no DSN; run tools/ci/postgres.sh")
	}
	return u
}

// schema makes an empty schema and returns a DSN whose tables are in it.
func schema(t testing.TB) string {
	t.Helper()
	u := server(t)
	db, err := sql.Open("pgx", u.String())
	if err != nil {
		t.Fatal(err)
	}
	name := fmt.Sprintf("test_%d_%d", os.Getpid(), schemas.Add(1))
	if _, err := db.Exec("CREATE SCHEMA " + name); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if _, err := db.Exec("DROP SCHEMA " + name + " CASCADE"); err != nil {
			t.Error(err)
		}
		db.Close()
	})
	q := u.Query()
	q.Set("search_path", name)
	u.RawQuery = q.Encode()
	return u.String()
}

// with returns a DSN with a parameter.
func with(t *testing.T, dsn, name, value string) string {
	t.Helper()
	u, err := url.Parse(dsn)
	if err != nil {
		t.Fatal(err)
	}
	q := u.Query()
	q.Set(name, value)
	u.RawQuery = q.Encode()
	return u.String()
}

// TestPostgresRefuses: each reason has its error, and none shows the password.
func TestPostgresRefuses(t *testing.T) {
	good := server(t)
	password := *good
	password.User = url.UserPassword(good.User.Username(), "wrong-secret")
	user := *good
	user.User = url.UserPassword("nobody-such", "wrong-secret")
	base := *good
	base.Path = "/nothing"
	for _, tt := range []struct {
		name string
		dsn  string
		kind store.Kind
	}{
		{"another password", password.String(), store.ErrRefused},
		{"another user", user.String(), store.ErrRefused},
		{"another database", base.String(), store.ErrNoDatabase},
		{"a schema that is not there", with(t, good.String(), "search_path", "nothing"), store.ErrNoDatabase},
	} {
		for name, open := range openers {
			_, err := open(ctx, tt.dsn)
			if tt.kind == store.ErrNoDatabase && errors.Is(err, store.ErrForeign) {
				continue // a reader of a schema that is not there
			}
			secret, _ := good.User.Password()
			if !errors.Is(err, tt.kind) || strings.Contains(err.Error(), "wrong-secret") || strings.Contains(err.Error(), secret) {
				t.Errorf("%s: %s: %v, want %q", name, tt.name, err, tt.kind)
			}
		}
	}
}

// TestPostgresRoles: an engine records, an auditor audits, and neither does the other's work or alters anything.
func TestPostgresRoles(t *testing.T) {
	dsn := schema(t)
	d := open(t, dsn)
	for range 2 { // it may be run again
		if err := d.Grant(ctx); err != nil {
			t.Fatal(err)
		}
	}
	r, now := newRun(1), time.Now()
	engine, auditor := with(t, dsn, "role", "murksim_engine"), with(t, dsn, "role", "murksim_auditor")
	e := open(t, engine)
	create(t, e, r)
	m := maker{sections: 1}
	b := m.batch(5, 1)
	b.Snapshots = []audit.Snapshot{{Tick: 0, Hash: b.Links[0].Hash, State: []byte("state")}}
	w := writer(t, e, r.ID)
	commit(t, w, b)
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := e.Audit(ctx, &store.Audit{ID: r.ID, Run: r.ID, Started: now, Finished: now, Verdict: "PASS"}); !errors.Is(err, store.ErrReadOnly) {
		t.Errorf("an engine audits: %v", err)
	}
	if doubted, err := e.Doubted(ctx, r.ID); err != nil || doubted {
		t.Errorf("an engine reads verdicts: %t, %v", doubted, err)
	}

	a := open(t, auditor)
	if got := links(t, evidence(t, a, r.ID)); len(got) != 5 {
		t.Errorf("an auditor sees %d links, want 5", len(got))
	}
	if err := a.Create(ctx, newRun(2)); !errors.Is(err, store.ErrReadOnly) {
		t.Errorf("an auditor creates a run: %v", err)
	}
	if err := writer(t, a, r.ID).Commit(ctx, m.batch(1, 0)); !errors.Is(err, store.ErrReadOnly) {
		t.Errorf("an auditor commits: %v", err)
	}
	err := a.Record(ctx, r.ID, &store.Audit{ID: r.ID, Run: r.ID, Started: now, Finished: now, Verdict: "PASS"},
		&store.Alert{Run: r.ID, Code: "X", Severity: "warning", At: now}, &audit.Halt{Code: audit.Divergence, At: now})
	if err != nil {
		t.Error(err)
	}
	for _, dsn := range []string{engine, auditor} {
		raw := onPostgres.direct(t, dsn)
		for _, s := range []string{"ALTER TABLE chain_hashes DISABLE TRIGGER ALL", "DROP TABLE chain_hashes CASCADE", "UPDATE runs SET label = ''", "DELETE FROM run_halts",
			"TRUNCATE snapshots", "DROP TRIGGER append_only ON runs", "CREATE OR REPLACE FUNCTION murksim_append_only() RETURNS trigger LANGUAGE sql AS ''",
			"SELECT murksim_locked(run_id) FROM runs", "DELETE FROM audit_migrations",
			"INSERT INTO alerts (alert_id, run_id, tick, code, severity) OVERRIDING SYSTEM VALUE SELECT 2, run_id, 1, 'X', 'warning' FROM runs", "SET session_replication_role = replica"} {
			if _, err := raw.Exec(s); err == nil {
				t.Errorf("%s: a role may", s)
			}
		}
	}
	other := schema(t)
	if _, err := store.Open(ctx, with(t, other, "role", "murksim_engine")); !errors.Is(err, store.ErrNoDatabase) {
		t.Errorf("a role that may not use a schema: %v, want %q", err, store.ErrNoDatabase)
	}
	u, err := url.Parse(other)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := onPostgres.direct(t, dsn).Exec("GRANT USAGE ON SCHEMA " + u.Query().Get("search_path") + " TO murksim_engine"); err != nil {
		t.Fatal(err)
	}
	if _, err := store.Open(ctx, with(t, other, "role", "murksim_engine")); !errors.Is(err, store.ErrReadOnly) {
		t.Errorf("a role that may make no tables: %v, want %q", err, store.ErrReadOnly)
	}
	for _, d := range []*store.DB{e, a} {
		if err := d.Grant(ctx); !errors.Is(err, store.ErrReadOnly) {
			t.Errorf("a role grants: %v", err)
		}
	}
}

// TestPostgresUnread: whether a run is doubted or wrong is not known to a user who may not read verdicts and alerts; such a user may add an alert.
func TestPostgresUnread(t *testing.T) {
	dsn := schema(t)
	d, r, now := open(t, dsn), newRun(1), time.Now()
	create(t, d, r)
	if err := d.Grant(ctx); err != nil {
		t.Fatal(err)
	}
	e := open(t, with(t, dsn, "role", "murksim_engine"))
	if _, err := onPostgres.direct(t, dsn).Exec("REVOKE SELECT ON audits, alerts FROM murksim_engine"); err != nil {
		t.Fatal(err)
	}
	if doubted, err := e.Doubted(ctx, r.ID); !errors.Is(err, store.ErrUnreadable) {
		t.Errorf("Doubted of who may not read verdicts: %t, %v", doubted, err)
	}
	if _, wrong, err := e.Wrong(ctx, r.ID); !errors.Is(err, store.ErrUnreadable) {
		t.Errorf("Wrong of who may not read verdicts: %t, %v", wrong, err)
	}

	if err := e.Alert(ctx, &store.Alert{Run: r.ID, Code: audit.EvidenceFault, Severity: "critical", At: now}); err != nil {
		t.Errorf("an alert of who may not read alerts: %v", err)
	}
}

// TestPostgresHaltWaits: a halt and a commit come one after the other, and nothing is inserted at an isolation level that would not see the halt.
func TestPostgresHaltWaits(t *testing.T) {
	dsn := schema(t)
	d := open(t, dsn)
	r := newRun(1)
	create(t, d, r)
	raw := onPostgres.direct(t, dsn)
	const insert = `INSERT INTO chain_hashes (run_id, tick, prev_tick, prev_hash, world_hash, input_seq, input_hash, state_len, section_digests)
		SELECT run_id, $1::bigint, nullif($1::bigint - 1, -1), Z, Z, 0, Z, 14, '' FROM runs`
	link := strings.ReplaceAll(insert, "Z", "decode(repeat('00', 32), 'hex')")
	tx, err := raw.Begin()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tx.Exec(link, 0); err != nil {
		t.Fatal(err)
	}
	halted := make(chan error)
	go func() { halted <- d.Halt(ctx, r.ID, audit.Halt{Code: audit.Panic, At: time.Now()}) }()
	select {
	case err := <-halted:
		t.Fatalf("the halt did not wait for the commit: %v", err)
	case <-time.After(300 * time.Millisecond):
	}
	if _, err := tx.Exec(link, 1); err != nil {
		t.Errorf("the commit was halted in its midst: %v", err)
	}
	if err := errors.Join(tx.Commit(), <-halted); err != nil {
		t.Fatal(err)
	}
	if _, err := raw.Exec(link, 2); err == nil || !strings.Contains(err.Error(), "MS002") {
		t.Errorf("after the halt: %v, want MS002", err)
	}
	tx, err = raw.BeginTx(ctx, &sql.TxOptions{Isolation: sql.LevelRepeatableRead})
	if err != nil {
		t.Fatal(err)
	}
	defer tx.Rollback()
	if _, err := tx.Exec(link, 2); err == nil || !strings.Contains(err.Error(), "MS006") {
		t.Errorf("at repeatable read: %v, want MS006", err)
	}
}

// TestPostgresConnectionLost: a writer whose connection is cut fails, and a new one goes on.
func TestPostgresConnectionLost(t *testing.T) {
	dsn := schema(t)
	d := open(t, with(t, dsn, "application_name", "cut"))
	r := newRun(1)
	create(t, d, r)
	w := writer(t, d, r.ID)
	m := maker{sections: 1}
	commit(t, w, m.batch(5, 1))
	_, err := onPostgres.direct(t, dsn).Exec("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'cut'")
	if err != nil {
		t.Fatal(err)
	}
	b := m.batch(5, 1)
	if err := w.Commit(ctx, b); !errors.Is(err, store.ErrUnreachable) {
		t.Errorf("with the connection cut: %v, want %q", err, store.ErrUnreachable)
	}
	w.Close()
	commit(t, writer(t, d, r.ID), b)
}

// TestPostgresStandby: a hot standby has the rows, and not the lock of who writes: it does not say that nobody does.
func TestPostgresStandby(t *testing.T) {
	dsn := schema(t)
	d, r := open(t, dsn), newRun(1)
	create(t, d, r)
	writer(t, d, r.ID)
	standby := os.Getenv("MURKSIM_POSTGRES_STANDBY")
	if standby == "" {
		t.Fatal("MURKSIM_POSTGRES_STANDBY is not set; run tools/ci/postgres.sh")
	}
	var s *store.DB
	waiting.For(t, "the rows are on the standby", func() bool {
		var err error
		if s, err = store.OpenReader(ctx, with(t, standby, "search_path", schemaOf(t, dsn))); err != nil {
			return false
		}
		runs, err := s.Runs(ctx)
		if err != nil || len(runs) == 0 {
			s.Close()
		}
		return err == nil && len(runs) == 1
	})
	defer s.Close()
	if writing, err := s.Writing(ctx, r.ID); !errors.Is(err, store.ErrStandby) {
		t.Errorf("Writing: %t, %v; want %q", writing, err, store.ErrStandby)
	}
}
