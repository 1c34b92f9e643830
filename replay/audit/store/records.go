package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/murksim/murksim/replay/audit"
)

// An Audit is the outcome of an audit.
type Audit struct {
	ID                 audit.ID
	Run                audit.ID
	Started, Finished  time.Time
	Engine, Platform   string
	From, To           uint64 // the ticks that were audited
	Verdict            string // PASS, FAIL, EVIDENCE or ERROR
	Divergent          uint64 // with FAIL: the first tick that differs
	Expected, Computed audit.Hash
	Report             string // JSON
}

// An Alert reports a fault.
type Alert struct {
	Number   int64 // 1, 2, 3, …: set when it is read
	Run      audit.ID
	Tick     uint64
	Code     string // such as [audit.Divergence]
	Severity string // warning or critical
	Detail   string // JSON
	At       time.Time
	Audit    audit.ID // that raised it; zeros: none did
}

// orEmpty returns a JSON text, {} for none.
func orEmpty(json string) string {
	if json == "" {
		return "{}"
	}
	return json
}

// null returns the bytes of a hash, nil for zeros.
func null(h *audit.Hash) any {
	if *h == (audit.Hash{}) {
		return nil
	}
	return h[:]
}

// Halt ends a run for good. It waits for a commit that is under way. The detail is JSON; empty is {}. A run that is halted stays so:
// the error is [ErrHalted] then.
func (d *DB) Halt(ctx context.Context, id audit.ID, h audit.Halt) error {
	ctx, done := d.limit(ctx)
	defer done()
	return d.wrap(d.change(ctx, func(conn *sql.Conn) error { return d.addHalt(ctx, conn, id, &h) }), "halting run %s", id)
}

func (d *DB) addHalt(ctx context.Context, to execer, id audit.ID, h *audit.Halt) error {
	if err := ticks(h.Tick); err != nil {
		return &Error{"halting run " + id.String(), ErrInvalid, err}
	}
	err := d.add(ctx, to, "run_halts", "run_id, tick, code, detail, halted_at", d.backend.id(id), int64(h.Tick), h.Code, orEmpty(h.Detail), d.backend.time(h.At))
	err = d.wrap(err, "halting run %s", id)
	switch {
	case errors.Is(err, ErrAppendOnly):
		return &Error{fmt.Sprintf("halting run %s in %s", id, d.name), ErrHalted, err}
	case errors.Is(err, ErrChain):
		return &Error{fmt.Sprintf("halting run %s in %s", id, d.name), ErrNoRun, err}
	}
	return err
}

// Writing reports whether a process, this one or another, writes a run.
func (d *DB) Writing(ctx context.Context, id audit.ID) (bool, error) {
	ctx, done := d.limit(ctx)
	defer done()
	writing, err := d.backend.lockedRun(ctx, d.sql, id)
	return writing, d.wrap(err, "looking for the writer of run %s", id)
}

// Halted says why a run was halted; nil: it was not, or there is no such run.
func (d *DB) Halted(ctx context.Context, id audit.ID) (*audit.Halt, error) {
	return d.halt(ctx, d.sql, id)
}

func (d *DB) halt(ctx context.Context, q querier, id audit.ID) (_ *audit.Halt, err error) {
	defer d.unwritten(&err)
	ctx, done := d.limit(ctx)
	defer done()
	c, err := scanned(haltWidth, q.QueryRowContext(ctx, "SELECT "+d.haltColumns()+" FROM "+d.backend.table("run_halts")+" h WHERE h.run_id = $1", d.backend.id(id)).Scan)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil
	}
	if err != nil {
		return nil, d.unread(err, "reading the halt of run %s", id)
	}
	h := c.halt()
	if err := odd("run_halts", id.String(), c); err != nil {
		return nil, err
	}
	return h, nil
}

// Record adds a verdict, an alert and a halt of a run, each unless it is nil, in one transaction. Where the run is halted already, it stays so,
// and the others are added. Where the alert alone cannot be, such as with a number that somebody has taken, they are added without it: the
// error is [ErrNoAlert].
func (d *DB) Record(ctx context.Context, id audit.ID, v *Audit, a *Alert, h *audit.Halt) error {
	within, done := d.limit(ctx)
	defer done()
	var unalerted error
	err := d.change(within, func(conn *sql.Conn) error {
		if h != nil { // first, since it waits for all who add to the run
			if err := d.addHalt(within, conn, id, h); err != nil {
				return err
			}
		}
		if v != nil {
			if err := d.addAudit(within, conn, v); err != nil {
				return err
			}
		}
		if a != nil {
			unalerted = d.addAlert(within, conn, a)
		}
		return unalerted
	})
	if h != nil && errors.Is(err, ErrHalted) {
		return d.Record(ctx, id, v, a, nil)
	}
	if unalerted != nil && (v != nil || h != nil) && ctx.Err() == nil {
		if err = d.Record(ctx, id, v, nil, h); err == nil {
			err = &Error{fmt.Sprintf("alert of run %s in %s", id, d.name), ErrNoAlert, unalerted}
		}
	}
	return d.wrap(err, "adding a verdict on run %s", id)
}

// Alert adds an alert.
func (d *DB) Alert(ctx context.Context, a *Alert) error { return d.Record(ctx, a.Run, nil, a, nil) }

func (d *DB) addAlert(ctx context.Context, to execer, a *Alert) error {
	if err := ticks(a.Tick); err != nil {
		return &Error{"alert of run " + a.Run.String(), ErrInvalid, err}
	}
	var by any
	if a.Audit != (audit.ID{}) {
		by = d.backend.id(a.Audit)
	}
	result, err := to.ExecContext(ctx, d.backend.insertAlert(), d.backend.id(a.Run), int64(a.Tick), a.Code, a.Severity, orEmpty(a.Detail), d.backend.time(a.At), by)
	if err == nil {
		err = addedBy(result, "alerts", 1)
	}
	return d.wrap(err, "adding an alert of run %s", a.Run)
}

// Alerts lists the alerts of a run as they came.
func (d *DB) Alerts(ctx context.Context, id audit.ID) ([]Alert, error) {
	return list(ctx, d, "alerts", id, `SELECT alert_id, run_id, tick, code, severity, detail, raised_at, audit_id FROM `+d.backend.table("alerts")+`
		WHERE run_id = $1 ORDER BY raised_at, alert_id`, func(a *Alert, scan func(...any) error) error {
		return scan(&a.Number, (*uuid)(&a.Run), &a.Tick, &a.Code, &a.Severity, &a.Detail, (*created)(&a.At), (*uuid)(&a.Audit))
	})
}

// Audit adds the outcome of an audit.
func (d *DB) Audit(ctx context.Context, a *Audit) error { return d.Record(ctx, a.Run, a, nil, nil) }

func (d *DB) addAudit(ctx context.Context, to execer, a *Audit) error {
	if err := ticks(a.From, a.To, a.Divergent); err != nil {
		return &Error{"audit " + a.ID.String(), ErrInvalid, err}
	}
	var divergent any
	if a.Verdict == "FAIL" {
		divergent = int64(a.Divergent)
	}
	err := d.add(ctx, to, "audits", `audit_id, run_id, started_at, finished_at, engine_version, platform, from_tick, to_tick,
		verdict, first_divergent_tick, expected_hash, calculated_hash, report`,
		d.backend.id(a.ID), d.backend.id(a.Run), d.backend.time(a.Started), d.backend.time(a.Finished), a.Engine, a.Platform, int64(a.From), int64(a.To),
		a.Verdict, divergent, null(&a.Expected), null(&a.Computed), orEmpty(a.Report))
	return d.wrap(err, "adding audit %s of run %s", a.ID, a.Run)
}

// Audits lists the audits of a run by the time of their start.
func (d *DB) Audits(ctx context.Context, id audit.ID) ([]Audit, error) {
	return list(ctx, d, "audits", id, `SELECT audit_id, run_id, started_at, finished_at, engine_version, platform, from_tick, to_tick,
		verdict, first_divergent_tick, expected_hash, calculated_hash, report FROM `+d.backend.table("audits")+` WHERE run_id = $1 ORDER BY started_at, audit_id`,
		func(a *Audit, scan func(...any) error) error {
			var divergent sql.NullInt64
			var expected, computed []byte
			err := scan((*uuid)(&a.ID), (*uuid)(&a.Run), (*created)(&a.Started), (*created)(&a.Finished), &a.Engine, &a.Platform, &a.From, &a.To,
				&a.Verdict, &divergent, &expected, &computed, &a.Report)
			a.Divergent = uint64(divergent.Int64)
			copy(a.Expected[:], expected)
			copy(a.Computed[:], computed)
			return err
		})
}

// Doubted reports whether an audit of a run found a tick that differs, or an alert of the run says so. Where this user may not read
// that, it is not known: the error is [ErrUnreadable].
func (d *DB) Doubted(ctx context.Context, id audit.ID) (doubted bool, err error) {
	defer d.unwritten(&err)
	ctx, done := d.limit(ctx)
	defer done()
	is := func(table, query, what string) error {
		return d.sql.QueryRowContext(ctx, "SELECT EXISTS (SELECT 1 FROM "+d.backend.table(table)+" WHERE run_id = $1 AND "+query+" = $2)", d.backend.id(id), what).Scan(&doubted)
	}
	if err = is("alerts", "code", audit.Divergence); err == nil && !doubted {
		err = is("audits", "verdict", "FAIL")
	}
	return doubted, d.unread(err, "reading verdicts on run %s", id)
}

// Wrong returns the first tick of a run that is known not to be as it was committed: by an audit that failed, an alert, or a halt. What
// came out as committed when it was computed again is not known to be wrong. Errors are those of [DB.Doubted].
func (d *DB) Wrong(ctx context.Context, id audit.ID) (tick uint64, wrong bool, err error) {
	add := func(at uint64, told string) {
		var is struct{ Unconfirmed bool }
		if _ = json.Unmarshal([]byte(told), &is); !is.Unconfirmed && (!wrong || at < tick) {
			tick, wrong = at, true
		}
	}
	halt, err := d.Halted(ctx, id)
	if err != nil {
		return 0, false, err
	}
	if halt != nil && halt.Code == audit.Divergence {
		add(halt.Tick, halt.Detail)
	}
	alerts, err := d.Alerts(ctx, id)
	if err != nil {
		return 0, false, err
	}
	for i := range alerts {
		if alerts[i].Code == audit.Divergence {
			add(alerts[i].Tick, alerts[i].Detail)
		}
	}
	audits, err := d.Audits(ctx, id)
	for i := range audits {
		if audits[i].Verdict == "FAIL" {
			add(audits[i].Divergent, audits[i].Report)
		}
	}
	return tick, wrong, err
}

// list reads all rows of a run.
func list[T any](ctx context.Context, d *DB, table string, id audit.ID, query string, read func(*T, func(...any) error) error,
) (_ []T, err error) {
	defer d.unwritten(&err)
	ctx, done := d.limit(ctx)
	defer done()
	rows, err := d.sql.QueryContext(ctx, query, d.backend.id(id))
	if err != nil {
		return nil, d.unread(err, "reading %s of run %s", table, id)
	}
	defer rows.Close()
	var all []T
	for rows.Next() {
		var one T
		if err := read(&one, rows.Scan); err != nil {
			return nil, d.unread(err, "reading %s of run %s", table, id)
		}
		all = append(all, one)
	}
	return all, d.unread(rows.Err(), "reading %s of run %s", table, id)
}
