package store

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"database/sql"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/murksim/murksim/replay/audit"
)

// A Listed is a run, and how far it came.
type Listed struct {
	Key   string    // the id, as it stands there
	Wrong error     // an [*audit.EvidenceError] for a row that this package cannot have written; nil: it is right
	Run   audit.Run // without the genesis document
	Links bool      // whether any tick is committed
	Last  uint64    // the last committed tick
	Halt  *audit.Halt
}

// when is a column of time: microseconds in SQLite.
type when struct{ time.Time }

// Scan implements sql.Scanner.
func (w *when) Scan(v any) error {
	switch v := v.(type) {
	case int64:
		w.Time = time.UnixMicro(v).UTC()
	case time.Time:
		w.Time = v.UTC()
	default:
		return fmt.Errorf("%T is no time", v)
	}
	return nil
}

// uuid is a column with an id; null: zeros.
type uuid audit.ID

// Scan implements sql.Scanner.
func (u *uuid) Scan(v any) (err error) {
	*u = uuid{}
	if text, ok := v.(string); ok {
		var id audit.ID
		id, err = audit.ParseID(text)
		*u = uuid(id)
	}
	return err
}

// Create adds a run. It keeps the time of creation to the microsecond; a zero time means now. A fork's parent must be in the database.
func (d *DB) Create(ctx context.Context, r *audit.Run) error {
	err := d.change(ctx, func(conn *sql.Conn) error { return d.insertRun(ctx, conn, r) })
	return d.wrap(err, "creating run %s", r.ID)
}

// insertRun adds the row of a run.
func (d *DB) insertRun(ctx context.Context, to execer, r *audit.Run) error {
	var parent, fork any
	if r.Parent != (audit.ID{}) {
		parent, fork = d.backend.id(r.Parent), int64(r.First)
	}
	if r.First > audit.MaxTick {
		return &Error{"creating run " + r.ID.String(), ErrInvalid, fmt.Errorf("first tick %d is above 2^63-1", r.First)}
	}
	if r.Digest != sha256.Sum256(r.Genesis) {
		return &Error{"creating run " + r.ID.String(), ErrInvalid, errors.New("the digest is not that of the genesis document")}
	}
	created, digest, genesis := r.Created, r.Digest, r.Genesis
	if created.IsZero() {
		created = time.Now()
	}
	if genesis == nil {
		genesis = []byte{} // nil is null
	}
	err := d.add(ctx, to, "runs", `run_id, created_at, label, master_seed, rate_num, rate_den, rules_version, state_format,
		rng_alg, genesis, genesis_digest, engine_version, first_tick, parent_run_id, fork_tick`,
		d.backend.id(r.ID), d.backend.time(created), r.Label, strconv.FormatUint(r.Seed, 10), r.Rate.Num, r.Rate.Den, int64(r.Rules), int64(r.Format),
		r.Generator, genesis, digest[:], r.Engine, int64(r.First), parent, fork)
	if err = d.wrap(err, "creating run %s", r.ID); errors.Is(err, ErrChain) {
		return &Error{fmt.Sprintf("creating run %s in %s", r.ID, d.name), ErrNoRun, fmt.Errorf("its parent %s is not there: %w", r.Parent, err)}
	}
	return err
}

// created is a time that is scanned in place.
type created time.Time

// Scan implements sql.Scanner.
func (c *created) Scan(v any) error {
	var w when
	err := w.Scan(v)
	*c = created(w.Time)
	return err
}

// Runs lists the runs, oldest first. It lists a row that this package cannot have written as [Listed.Wrong], and then the others.
func (d *DB) Runs(ctx context.Context) (_ []Listed, err error) {
	defer d.unwritten(&err)
	ctx, done := d.limit(ctx)
	defer done()
	rows, err := d.sql.QueryContext(ctx, "SELECT "+d.runColumns()+", (SELECT max(tick) FROM "+d.backend.table("chain_hashes")+" c WHERE c.run_id = r.run_id), h.run_id IS NOT NULL, "+
		d.haltColumns()+" FROM "+d.backend.table("runs")+" r LEFT JOIN "+d.backend.table("run_halts")+" h ON h.run_id = r.run_id")
	if err != nil {
		return nil, d.wrap(err, "listing the runs")
	}
	defer rows.Close()
	var all []Listed
	seen := map[audit.ID]bool{}
	for rows.Next() {
		c, err := scanned(runWidth+2+haltWidth, rows.Scan)
		if err != nil {
			return nil, d.wrap(err, "listing the runs")
		}
		var l Listed
		id := c.values[0]
		c.run(&l.Run)
		l.Key, l.Wrong = key(id), odd("runs", id, c)
		if last, ok := c.next().(int64); ok && last >= 0 {
			l.Links, l.Last = true, uint64(last)
		}
		if halted := c.next(); halted == true || halted == int64(1) {
			c.wrong = ""
			l.Halt = c.halt()
			l.Wrong = cmp.Or(l.Wrong, odd("run_halts", id, c))
		}
		if l.Wrong == nil && seen[l.Run.ID] { // a real table has one row of each
			return nil, &Error{"listing the runs in " + d.name, ErrInvalid, fmt.Errorf("run %s is there twice; the file is damaged", l.Run.ID)}
		}
		seen[l.Run.ID] = true
		all = append(all, l)
	}
	slices.SortStableFunc(all, func(a, b Listed) int {
		return cmp.Or(a.Run.Created.Compare(b.Run.Created), bytes.Compare(a.Run.ID[:], b.Run.ID[:]))
	})
	return all, d.wrap(rows.Err(), "listing the runs")
}

// A querier is a database or a connection, and so is an execer.
type querier interface {
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

type execer interface {
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
}

// run reads a run with its genesis document.
func (d *DB) run(ctx context.Context, q querier, id audit.ID) (_ *audit.Run, err error) {
	defer d.unwritten(&err)
	ctx, done := d.limit(ctx)
	defer done()
	row := q.QueryRowContext(ctx, "SELECT "+d.runColumns()+", "+d.backend.bounded("r.genesis", maxGenesis)+", "+d.backend.plain("r.genesis_digest")+" FROM "+d.backend.table("runs")+" r WHERE r.run_id = $1", d.backend.id(id))
	c, err := scanned(runWidth+2, row.Scan)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, &Error{fmt.Sprintf("run %s in %s", id, d.name), ErrNoRun, nil}
	}
	if err != nil {
		return nil, d.wrap(err, "reading run %s", id)
	}
	r := new(audit.Run)
	of := c.values[0]
	c.run(r)
	r.Genesis = notNil(c.blob("genesis"))
	digest := c.blob("genesis_digest")
	if copy(r.Digest[:], digest) != len(digest) || len(digest) != len(r.Digest) {
		c.odd("genesis_digest", "32 bytes", digest)
	}
	if err := odd("runs", of, c); err != nil {
		return nil, err
	}
	return r, nil
}

// ticks checks that numbers fit into the 63 bits of the database.
func ticks(all ...uint64) error {
	for _, n := range all {
		if n > math.MaxInt64 {
			return fmt.Errorf("%d is above 2^63-1", n)
		}
	}
	return nil
}
