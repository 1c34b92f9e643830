package store

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/pressly/goose/v3"
	"github.com/pressly/goose/v3/lock"

	"github.com/murksim/murksim/replay/audit"
)

// postgres is the backend of a database on a server.
//
// Anyone who may create something in a schema of the search path can put a function or an operator there that takes the types of our arguments more exactly
// than that of Postgres, and would be called instead. So no schema but those of Postgres is in the search path of our sessions, and our statements name
// the schema of our tables. Only statements that make tables have it in the path.
type postgres struct {
	config                 *pgx.ConnConfig
	user, server, database string   // as the DSN has them
	path                   []string // the schemas of the user's search path; nil: no connection was made yet
	schema                 string   // of our tables
	found, system          string   // the database, and what tells its server from others; "": the user may not ask
}

// openPostgres reads a DSN. If that fails, it shows no text of another package: any part of the DSN may be a password.
func openPostgres(dsn string, how opening) (*DB, error) {
	// If several @ stand before the path, pgx ends the password at the first, and net/url at the last.
	_, rest, _ := strings.Cut(dsn, "://")
	if authority, _, _ := strings.Cut(rest, "/"); strings.Count(authority, "@") > 1 {
		return nil, &Error{"this DSN of Postgres", ErrDSN, hint("it has more than one @ before the host")}
	}
	u, err := url.Parse(dsn)
	if err != nil || strings.Contains(u.Path+u.RawQuery, "@") || u.Fragment != "" {
		return nil, &Error{"this DSN of Postgres", ErrDSN, hint("it cannot be read")}
	}
	name := (&url.URL{Scheme: "postgres", Host: u.Host, Path: u.Path}).String()
	config, err := pgx.ParseConfig(dsn)
	if err != nil {
		return nil, &Error{name, ErrDSN, hint("it has an option or a port that pgx does not know")}
	}
	if config.ConnectTimeout == 0 {
		config.ConnectTimeout = 10 * time.Second
	}
	if config.RuntimeParams["application_name"] == "" {
		config.RuntimeParams["application_name"] = "murksim"
	}
	if how == reading {
		config.RuntimeParams["default_transaction_read_only"] = "on"
	}
	if how != writing && config.RuntimeParams["statement_timeout"] == "" { // so that the server, too, stops when no client waits any more
		config.RuntimeParams["statement_timeout"] = fmt.Sprint(statementLimit.Milliseconds())
	}
	p := &postgres{config: config, user: config.User, server: net.JoinHostPort(config.Host, fmt.Sprint(config.Port)), database: config.Database}
	return &DB{sql: p.dial("pg_catalog, pg_temp"), backend: p, name: name}, nil
}

// dial opens a pool of connections with a search path. It connects to nothing yet.
func (p *postgres) dial(path string) *sql.DB {
	return stdlib.OpenDB(*p.config, stdlib.OptionAfterConnect(func(ctx context.Context, conn *pgx.Conn) error {
		if p.path == nil { // the first, when nothing else is done yet
			if err := conn.QueryRow(ctx, "SELECT pg_catalog.current_schemas(false)").Scan(&p.path); err != nil {
				return err
			}
		}
		_, err := conn.Exec(ctx, "SET search_path = "+path)
		return err
	}))
}

// making opens a pool whose search path has the schema of our tables.
func (p *postgres) making() *sql.DB { return p.dial(quoted(p.schema) + ", pg_temp") }

// place implements backend. Copies of a server have what tells it from others, so its address counts, too.
func (p *postgres) place() string {
	return fmt.Sprintf("postgres://%s/%s?search_path=%s&system=%s", p.server, url.PathEscape(p.found), url.QueryEscape(p.schema), p.system)
}

// table implements backend.
func (p *postgres) table(name string) string { return quoted(p.schema) + "." + name }

// quoted returns a name as SQL.
func quoted(name string) string { return pgx.Identifier{name}.Sanitize() }

func (p *postgres) dialect() goose.Dialect { return goose.DialectPostgres }
func (p *postgres) begin(ctx context.Context, conn *sql.Conn) error {
	_, err := conn.ExecContext(ctx, "BEGIN ISOLATION LEVEL READ COMMITTED")
	return err
}
func (p *postgres) beginRead() string    { return "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY" }
func (p *postgres) id(id audit.ID) any   { return [16]byte(id) }
func (p *postgres) time(t time.Time) any { return t }

func (p *postgres) joined(bytes string) string { return bytes }

func (p *postgres) plain(column string) string { return column }
func (p *postgres) text(column string) string  { return column + "::text" }

func (p *postgres) bounded(column string, bytes int64) string {
	return fmt.Sprintf("CASE WHEN octet_length(%s) <= %d THEN %[1]s END", column, bytes)
}

func (p *postgres) insertAlert() string {
	return "INSERT INTO " + p.table("alerts") + " (run_id, tick, code, severity, detail, raised_at, audit_id) VALUES ($1, $2, $3, $4, $5, $6, $7)"
}

func (p *postgres) opened() error { return nil }
func (p *postgres) merge()        {}
func (p *postgres) there() error  { return nil }

func (p *postgres) written(context.Context, *sql.Conn) (func() error, error) { return p.there, nil }

func (p *postgres) same(other backend) bool {
	o, ok := other.(*postgres)
	return ok && o.place() == p.place()
}

func (p *postgres) tables(ctx context.Context, db *sql.DB) (versions, others bool, err error) {
	doing := "opening database " + p.database + " at " + p.server
	if err := db.PingContext(ctx); err != nil { // which finds the path
		return false, false, err
	}
	if len(p.path) == 0 {
		return false, false, &Error{doing, ErrNoDatabase, fmt.Errorf("no schema of its search_path is there that user %q may use", p.user)}
	}
	p.schema = p.path[0]
	rows, err := db.QueryContext(ctx, "SELECT nspname, relname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE nspname = ANY ($1) AND relname IN "+ourTables, p.path)
	if err != nil {
		return false, false, err
	}
	defer rows.Close()
	first := p.schema
	for rows.Next() {
		var schema, table string
		if err := rows.Scan(&schema, &table); err != nil {
			return false, false, err
		}
		switch {
		case table == versionTable && versions: // one of them may be somebody else's
			return false, false, &Error{doing, ErrForeign, fmt.Errorf("the schemas %q and %q of its search_path have such tables both; name the right one: …?search_path=NAME", p.schema, schema)}
		case table == versionTable:
			p.schema, versions = schema, true
		case schema == first && (table == "runs" || table == "chain_hashes"): // other programs may have others beside ours
			others = true
		}
	}
	if err := rows.Err(); err != nil {
		return false, false, err
	}
	return versions, others, p.identify(ctx, db)
}

// identify asks the server which one and which database it is.
func (p *postgres) identify(ctx context.Context, db *sql.DB) error {
	err := db.QueryRowContext(ctx, "SELECT current_database(), system_identifier::text FROM pg_control_system()").Scan(&p.found, &p.system)
	if _, refused := errors.AsType[*pgconn.PgError](err); refused {
		err = db.QueryRowContext(ctx, "SELECT current_database()").Scan(&p.found)
	}
	return err
}

func (p *postgres) untrue(ctx context.Context, db *sql.DB) (name string, err error) {
	err = db.QueryRowContext(ctx, "SELECT coalesce(max(c.relname), '') FROM pg_class c WHERE c.oid IN "+tablesOfOurs+" AND relkind <> 'r'", p.schema).Scan(&name)
	return name, err
}

// lockMigrations checks the right to make tables, too: goose says that its table is missing.
func (p *postgres) lockMigrations(ctx context.Context, db *sql.DB) (*sql.DB, lock.SessionLocker, func(), error) {
	var user string
	var may bool
	err := db.QueryRowContext(ctx, "SELECT current_user, has_schema_privilege($1::text, 'CREATE')", p.schema).Scan(&user, &may)
	if err == nil && !may {
		err = &Error{"opening database " + p.database + " at " + p.server, ErrReadOnly, fmt.Errorf("its tables are to be made, and user %q may make none in schema %q", user, p.schema)}
	}
	if err != nil {
		return nil, nil, nil, err
	}
	making := p.making()
	return making, migrationLock("murksim migration of " + p.schema), func() { making.Close() }, nil
}

// migrationLock is an advisory lock of the schema that the tables are in.
type migrationLock string

// SessionLock implements [lock.SessionLocker].
func (l migrationLock) SessionLock(ctx context.Context, conn *sql.Conn) error {
	_, err := conn.ExecContext(ctx, "SELECT pg_catalog.pg_advisory_lock("+lockKey+")", string(l))
	return err
}

// SessionUnlock implements [lock.SessionLocker].
func (l migrationLock) SessionUnlock(ctx context.Context, conn *sql.Conn) error {
	_, err := conn.ExecContext(ctx, "SELECT pg_catalog.pg_advisory_unlock("+lockKey+")", string(l))
	return err
}

// lockKey is the key of a lock, of 64 bits.
const lockKey = "pg_catalog.hashtextextended($1, 0)"

// writerOf names the lock of a run's writer.
func (p *postgres) writerOf(id audit.ID) string {
	return "murksim writer of " + p.schema + " " + id.String()
}

// lockedRun looks for the lock of a run's writer. It takes none. A standby has none of the locks of its primary.
func (p *postgres) lockedRun(ctx context.Context, db *sql.DB, id audit.ID) (locked bool, err error) {
	var standby bool
	err = db.QueryRowContext(ctx, `SELECT pg_is_in_recovery(), EXISTS (SELECT FROM pg_locks WHERE locktype = 'advisory' AND granted AND objsubid = 1
		AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
		AND (classid::bigint << 32 | objid::bigint) = `+lockKey+")", p.writerOf(id)).Scan(&standby, &locked)
	if err == nil && standby {
		err = &Error{Kind: ErrStandby}
	}
	return locked, err
}

// lockRun takes an advisory lock of the session. It tries for a while, since the server notices late that a writer was killed.
func (p *postgres) lockRun(ctx context.Context, conn *sql.Conn, id audit.ID) (func(), error) {
	for deadline := time.Now().Add(3 * time.Second); ; {
		var locked bool
		if err := conn.QueryRowContext(ctx, "SELECT pg_try_advisory_lock("+lockKey+")", p.writerOf(id)).Scan(&locked); err != nil {
			return nil, err
		}
		if locked {
			return func() {
				within, done := parting(ctx)
				defer done()
				conn.ExecContext(within, "SELECT pg_advisory_unlock("+lockKey+")", p.writerOf(id))
			}, nil
		}
		if time.Now().After(deadline) {
			return nil, &Error{fmt.Sprintf("run %s", id), ErrWriter, nil}
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(50 * time.Millisecond):
		}
	}
}

func (p *postgres) insert(ctx context.Context, conn *sql.Conn, _ prepared, b *bulk) error {
	if b.rows == 0 {
		return nil
	}
	return conn.Raw(func(raw any) error {
		i, row, values := 0, make([]driver.Value, len(b.columns)), make([]any, len(b.columns))
		rows, err := raw.(*stdlib.Conn).Conn().CopyFrom(ctx, pgx.Identifier{p.schema, b.table}, b.columns, pgx.CopyFromFunc(func() ([]any, error) {
			if i == b.rows {
				return nil, nil
			}
			clear(row)
			b.fill(i, row)
			for k, v := range row {
				values[k] = v
			}
			i++
			return values, nil
		}))
		if err != nil {
			return err
		}
		return added(b.table, rows, int64(b.rows))
	})
}

func (p *postgres) read(ctx context.Context, conn *sql.Conn, query string, args []any, each func(row) error) error {
	return conn.Raw(func(raw any) error {
		rows, err := raw.(*stdlib.Conn).Conn().Query(ctx, query, append([]any{pgx.QueryResultFormats{pgx.BinaryFormatCode}}, args...)...)
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			if err := each(postgresRow(rows.RawValues())); err != nil {
				if err == io.EOF {
					err = nil
				}
				return err
			}
		}
		return rows.Err()
	})
}

// postgresRow is a row in the server's binary form; null is nil.
type postgresRow [][]byte

func (r postgresRow) integer(column int) int64 {
	switch b := r[column]; len(b) {
	case 8:
		return int64(binary.BigEndian.Uint64(b))
	case 4:
		return int64(int32(binary.BigEndian.Uint32(b)))
	}
	return 0
}

func (r postgresRow) blob(column int) []byte { return r[column] }
func (r postgresRow) text(column int) string { return string(r[column]) }

func (r postgresRow) id(column int) (id audit.ID, err error) {
	if copy(id[:], r[column]) != len(id) {
		return id, errors.New("a UUID has 16 bytes")
	}
	return id, nil
}

func (p *postgres) kind(err error) (Kind, error) {
	e, ok := errors.AsType[*pgconn.PgError](err)
	if !ok {
		if c, ok := errors.AsType[*pgconn.ConnectError](err); ok {
			first, _, _ := strings.Cut(c.Unwrap().Error(), "\n") // a line for each address of the host
			return ErrUnreachable, fmt.Errorf("%s: %s", p.server, first)
		}
		if _, ok := errors.AsType[net.Error](err); ok {
			return ErrUnreachable, err
		}
		if errors.Is(err, driver.ErrBadConn) {
			return ErrUnreachable, errors.New("the connection was lost")
		}
		return "", err
	}
	if kind, ok := codes[e.Code]; ok {
		return kind, err
	}
	switch {
	case e.Code == "28P01", e.Code == "28000":
		return ErrRefused, fmt.Errorf("user %q at %s: %w", p.user, p.server, e)
	case e.Code == "3D000":
		return ErrNoDatabase, fmt.Errorf("%q at %s: %w", p.database, p.server, e)
	case e.Code == "3F000":
		return ErrNoDatabase, fmt.Errorf("the schema: %w", e)
	case e.Code == "42501":
		return ErrReadOnly, fmt.Errorf("user %q may not: %w", p.user, e)
	case e.Code == "25006":
		return ErrReadOnly, err
	case e.Code == "23503":
		return ErrChain, fmt.Errorf("%s: %w: %s", e.TableName, e, e.Detail)
	case e.Code == "23505":
		return ErrAppendOnly, fmt.Errorf("%s: %w: %s", e.TableName, e, e.Detail)
	case strings.HasPrefix(e.Code, "22"), strings.HasPrefix(e.Code, "23"):
		return ErrInvalid, fmt.Errorf("%s: %w", e.TableName, e)
	case e.Code == "57014":
		return ErrSlow, err
	case e.Code == "53100":
		return ErrFull, err
	case e.Code == "55P03":
		return ErrLocked, err
	case strings.HasPrefix(e.Code, "08"), strings.HasPrefix(e.Code, "57P"):
		return ErrUnreachable, err
	case strings.HasPrefix(e.Code, "XX"):
		return ErrDamaged, err
	}
	return "", err
}
