//go:build postgres

package store_test

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/murksim/murksim/replay/audit"
	"github.com/murksim/murksim/replay/audit/store"
)

// foreignFunctions are functions that statements of ours call, or could, with types that fit what is given better than those of Postgres.
var foreignFunctions = []string{"quote_ident(name)", "starts_with(name, text)", "format(text, text)", "format(text, name, text)", "hashtextextended(text, int)",
	"set_config(text, text, bool)", "has_schema_privilege(text, text)", "has_schema_privilege(name, text)", "pg_describe_object(oid, oid, int)", "replace(text, text, name)",
	"pg_try_advisory_lock(int)", "octet_length(murksim_hash)", "max(murksim_hash)", "sha256(murksim_hash)", "array_length(name[], int)"}

// foreignOperators are such operators.
var foreignOperators = []string{"murksim_hash || murksim_hash", "bytea || murksim_hash", "murksim_hash || bytea", "text || name", "name || name", "text || oid",
	"murksim_hash = murksim_hash", "murksim_hash = bytea", "bytea = murksim_hash", "murksim_hash <> murksim_hash", "name <> text", "bigint << bigint"}

// TestPostgresForeignCode: functions and operators that anybody made in the schema of our tables, before they were made or while a database is open,
// are not called by what the store does.
func TestPostgresForeignCode(t *testing.T) {
	dsn := schema(t)
	raw := onPostgres.direct(t, dsn)
	for _, f := range foreignFunctions {
		if !strings.Contains(f, "murksim_hash") {
			foreign(t, raw.Exec, f+" RETURNS text")
		}
	}
	d := open(t, dsn)
	for _, f := range foreignFunctions {
		if strings.Contains(f, "murksim_hash") {
			foreign(t, raw.Exec, f+" RETURNS text")
		}
	}
	for i, o := range foreignOperators {
		left, sign, right := words(o)
		f := fmt.Sprintf("operator_%d(%s, %s)", i, left, right)
		foreign(t, raw.Exec, f+" RETURNS text")
		if _, err := raw.Exec(fmt.Sprintf("CREATE OPERATOR %s (LEFTARG = %s, RIGHTARG = %s, FUNCTION = operator_%d)", sign, left, right, i)); err != nil {
			t.Fatalf("%s: %v", o, err)
		}
	}
	if _, err := raw.Exec("SELECT prev_hash || world_hash FROM (SELECT decode(repeat('00', 32), 'hex')::murksim_hash AS prev_hash, decode(repeat('00', 32), 'hex')::murksim_hash AS world_hash) x"); err == nil {
		t.Fatal("another program's statement does not call them; want an error")
	}
	useAll(t, d)
	useAll(t, open(t, dsn))
	reader, err := store.OpenReader(ctx, dsn)
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	if path, err := reader.SearchPath(); err != nil || path != "{pg_catalog}" {
		t.Errorf("the schemas that are searched are %s, %v; want {pg_catalog}", path, err)
	}
}

// TestPostgresForeignMade: a check of our tables that came to call a foreign operator when it was made is found when they are made.
func TestPostgresForeignMade(t *testing.T) {
	dsn := schema(t)
	raw := onPostgres.direct(t, dsn)
	foreign(t, raw.Exec, "at_least(numeric, int) RETURNS bool")
	if _, err := raw.Exec("CREATE OPERATOR >= (LEFTARG = numeric, RIGHTARG = int, FUNCTION = at_least)"); err != nil {
		t.Fatal(err)
	}
	if _, err := store.Open(ctx, dsn); !errors.Is(err, store.ErrForeign) || !strings.Contains(err.Error(), "constraint runs_master_seed_check") {
		t.Errorf("%v, want %q", err, store.ErrForeign)
	}
}

// words returns the left type, the sign and the right type of an operator.
func words(operator string) (left, sign, right string) {
	w := strings.Fields(operator)
	return w[0], w[1], w[2]
}

// foreign makes a function that fails when it is called.
func foreign[R any](t *testing.T, exec func(string, ...any) (R, error), signature string) {
	t.Helper()
	if _, err := exec("CREATE FUNCTION " + signature + " LANGUAGE plpgsql IMMUTABLE AS $$ BEGIN RAISE EXCEPTION 'foreign code runs'; END $$"); err != nil {
		t.Fatalf("%s: %v", signature, err)
	}
}

// useAll does with a database what can be done with it.
func useAll(t *testing.T, d *store.DB) {
	t.Helper()
	all, err := d.Runs(ctx)
	if err != nil {
		t.Fatal(err)
	}
	r, m, now := newRun(uint64(1+len(all))), maker{sections: 1}, time.Now()
	create(t, d, r)
	w, b := writer(t, d, r.ID), m.batch(5, 2)
	b.Snapshots = []audit.Snapshot{{Tick: 0, Hash: b.Links[0].Hash, State: []byte("state")}}
	commit(t, w, b)
	if err := w.Commit(ctx, b); !errors.Is(err, store.ErrAppendOnly) {
		t.Errorf("once more: %v, want %q", err, store.ErrAppendOnly)
	}
	writing, err := d.Writing(ctx, r.ID)
	if err != nil || !writing {
		t.Errorf("Writing: %t, %v", writing, err)
	}
	e := evidence(t, d, r.ID)
	if got := len(links(t, e)) + len(inputs(t, e)); got != 7 {
		t.Errorf("there are %d links and inputs, want 7", got)
	}
	ticks, err := e.Snapshots(ctx)
	if err != nil || len(ticks) != 1 {
		t.Errorf("snapshots %d, %v", ticks, err)
	}
	_, err = e.Snapshot(ctx, 0)
	alerted := d.Alert(ctx, &store.Alert{Run: r.ID, Code: audit.Divergence, Severity: "critical", At: now})
	err = errors.Join(err, alerted, d.Audit(ctx, &store.Audit{ID: r.ID, Run: r.ID, Started: now, Finished: now, Verdict: "PASS"}), d.Halt(ctx, r.ID, audit.Halt{Code: audit.Divergence, At: now}), d.Grant(ctx))
	if err != nil {
		t.Error(err)
	}
	if doubted, err := d.Doubted(ctx, r.ID); err != nil || !doubted {
		t.Errorf("Doubted: %t, %v", doubted, err)
	}
	if _, wrong, err := d.Wrong(ctx, r.ID); err != nil || !wrong {
		t.Errorf("Wrong: %t, %v", wrong, err)
	}
}

// TestPostgresOneSchema: all tables are those of the schema that has ours, whatever another one of the search path has before it. Where two have such tables, the
// database is refused.
func TestPostgresOneSchema(t *testing.T) {
	dsn := schema(t)
	d := open(t, dsn)
	useAll(t, d)
	ours, before := schemaOf(t, dsn), schemaOf(t, schema(t))
	raw := onPostgres.direct(t, dsn)
	if _, err := raw.Exec(fmt.Sprintf("CREATE TABLE %s.chain_hashes (LIKE %s.chain_hashes)", before, ours)); err != nil {
		t.Fatal(err)
	}
	both := with(t, dsn, "search_path", before+","+ours)
	other := open(t, both)
	if got := links(t, evidence(t, other, newRun(1).ID)); len(got) != 5 {
		t.Errorf("with a table of another schema before ours: %d links, want 5", len(got))
	}
	r := newRun(2)
	create(t, d, r)
	writer(t, d, r.ID)
	if _, err := other.Writer(ctx, r.ID); !errors.Is(err, store.ErrWriter) {
		t.Errorf("a second writer by another search path: %v, want %q", err, store.ErrWriter)
	}
	if _, err := raw.Exec(fmt.Sprintf("CREATE TABLE %s.audit_migrations (LIKE %s.audit_migrations)", before, ours)); err != nil {
		t.Fatal(err)
	}
	for name, open := range openers {
		if _, err := open(ctx, both); !errors.Is(err, store.ErrForeign) || !strings.Contains(err.Error(), before) || !strings.Contains(err.Error(), ours) {
			t.Errorf("%s: two such schemas: %v, want %q", name, err, store.ErrForeign)
		}
	}
}

// TestPostgresPlace: two databases or two schemas never have one place, by whatever part of the DSN they are told apart; one has the same place by each.
func TestPostgresPlace(t *testing.T) {
	dsn, other := schema(t), schema(t)
	raw := onPostgres.direct(t, dsn)
	name := fmt.Sprintf("place_%d", os.Getpid())
	if _, err := raw.Exec("CREATE DATABASE " + name); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if _, err := raw.Exec("DROP DATABASE " + name); err != nil {
			t.Error(err)
		}
	})
	place := func(dsn string) string {
		d, err := store.Open(ctx, dsn)
		if err != nil {
			t.Fatal(err)
		}
		defer d.Close()
		return d.Place()
	}
	u, plain := server(t), server(t)
	plain.Path = "/"
	inPath := *u
	inPath.Path = "/" + name
	host := *plain
	host.Host = ""
	query := host.Query()
	query.Set("host", u.Hostname())
	query.Set("port", u.Port())
	query.Set("dbname", name)
	host.RawQuery = query.Encode()
	if _, err := raw.Exec("CREATE SCHEMA IF NOT EXISTS public"); err != nil {
		t.Fatal(err)
	}
	first := place(inPath.String())
	for _, same := range []string{with(t, plain.String(), "dbname", name), host.String(), with(t, inPath.String(), "search_path", "public")} {
		if is := place(same); is != first {
			t.Errorf("one place is %s and %s", is, first)
		}
	}
	if one, two := place(dsn), place(other); one == two || one == first || two == first {
		t.Errorf("two schemas and another database are in %s, %s, %s", one, two, first)
	}
}

// schemaOf returns the schema of a DSN.
func schemaOf(t *testing.T, dsn string) string {
	t.Helper()
	_, name, _ := strings.Cut(dsn, "search_path=")
	name, _, _ = strings.Cut(name, "&")
	return name
}
