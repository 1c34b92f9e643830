//go:build postgres

package store_test

import (
	"database/sql"
	"fmt"
	"net/url"
	"os"
	"sync/atomic"
	"testing"

	_ "github.com/jackc/pgx/v5/stdlib"
)

// servers are the databases beside SQLite.
func servers() []database {
	return []database{{name: "postgres", driver: "pgx", fresh: schema, raw: func(dsn string) string { return dsn }}}
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
