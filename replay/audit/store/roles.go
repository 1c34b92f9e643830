package store

import (
	"context"
	_ "embed"
	"errors"
)

// Roles are statements of Postgres that make the roles murksim_engine, which may insert and read run data, and murksim_auditor, which may
// read all and insert audits, alerts and halts. psql runs them, also more than once.
//
//go:embed roles.sql
var Roles string

// Grant runs [Roles]. The user must own the tables, and be allowed to create roles unless the two are there already; if not, the error is
// [ErrReadOnly], and an administrator runs [Roles] by psql. SQLite has no roles: a user who may write the file may do everything.
func (d *DB) Grant(ctx context.Context) error {
	p, ok := d.backend.(*postgres)
	if !ok {
		return &Error{"granting roles in " + d.name, "", errors.New("SQLite has no roles; the rights of the file are all there is")}
	}
	var owns bool // Postgres only warns a user who owns none of them, but may do something with each
	err := d.sql.QueryRowContext(ctx, "SELECT coalesce(bool_and(pg_has_role(relowner, 'USAGE')), false) FROM pg_class WHERE oid IN "+tablesOfOurs, p.schema).Scan(&owns)
	if err == nil && !owns {
		return &Error{"granting roles in " + d.name, ErrReadOnly, errors.New("another user owns the tables")}
	}
	if err == nil {
		making := p.making()
		defer making.Close()
		_, err = making.ExecContext(ctx, Roles)
	}
	return d.wrap(err, "granting roles")
}
