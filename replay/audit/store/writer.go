package store

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/klauspost/compress/zstd"

	"github.com/murksim/murksim/replay/audit"
)

// A Writer adds ticks to a run. A run has only one; close it at the end. One goroutine uses it.
type Writer struct {
	db       *DB
	run      audit.Run
	since    atomic.Int64 // when the commit that is under way began, in nanoseconds since 1970; 0: none is
	create   bool         // the run, with its first ticks
	next     uint64       // tick, after those that were committed here; 0: none was
	conn     *sql.Conn
	prepared prepared
	unlock   func()
	written  func() error // holds that what is committed is there
	pack     *zstd.Encoder
	packed   [][]byte // of the batch's snapshots; nil: as it is
	digests  []byte
}

var _ audit.Store = (*Writer)(nil)

// Writer opens a run to add to it. A run has one writer at a time, in any process; a second one is refused with [ErrWriter]. A killed
// writer no longer counts. A halted run is refused with [ErrHalted].
func (d *DB) Writer(ctx context.Context, id audit.ID) (*Writer, error) {
	run, err := d.run(ctx, d.sql, id)
	if err != nil {
		return nil, err
	}
	halt, err := d.Halted(ctx, id)
	if err != nil {
		return nil, err
	}
	if halt != nil {
		return nil, &Error{fmt.Sprintf("run %s in %s", id, d.name), ErrHalted, fmt.Errorf("at tick %d, %s", halt.Tick, halt.Code)}
	}
	return d.writer(ctx, run)
}

// Begin is [DB.Create] and [DB.Writer] of a new run, but commits the row of the run together with its first ticks: a run in the database always
// has some. The first Commit returns an error of the row.
func (d *DB) Begin(ctx context.Context, r *audit.Run) (*Writer, error) {
	w, err := d.writer(ctx, r)
	if err == nil {
		w.create = true
	}
	return w, err
}

// writer takes the lock of a run and what a writer needs.
func (d *DB) writer(ctx context.Context, run *audit.Run) (*Writer, error) {
	id := run.ID
	if d.reader {
		return nil, &Error{fmt.Sprintf("writing run %s in %s", id, d.name), ErrReadOnly, errors.New("it was opened to read")}
	}
	conn, err := d.sql.Conn(ctx)
	if err != nil {
		return nil, d.wrap(err, "writing run %s", id)
	}
	name, err := d.backend.unguarded(ctx, conn)
	if err == nil && name != "" {
		err = &Error{fmt.Sprintf("writing run %s in %s", id, d.name), ErrUnguarded, fmt.Errorf("%s: make it again, or copy the runs to a database of their own (audit export, audit import)", name)}
	}
	if err != nil {
		conn.Close()
		return nil, d.wrap(err, "writing run %s", id)
	}
	unlock, err := d.backend.lockRun(ctx, conn, id)
	if err != nil {
		conn.Close()
		return nil, d.wrap(err, "writing run %s", id)
	}
	written, err := d.backend.written(ctx, conn)
	if err != nil {
		unlock()
		conn.Close()
		return nil, d.wrap(err, "writing run %s", id)
	}
	pack, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithLowerEncoderMem(true))
	if err != nil {
		panic(err) // the options are right
	}
	return &Writer{db: d, run: *run, conn: conn, prepared: prepared{}, unlock: unlock, written: written, pack: pack}, nil
}

// Close lets others write the run. The error is [ErrGone] if what was committed is no longer there.
func (w *Writer) Close() error {
	if w.conn == nil {
		return nil
	}
	for _, s := range w.prepared {
		s.Close()
	}
	err := w.written()
	w.unlock()
	err = errors.Join(err, w.conn.Close())
	w.conn = nil
	return err
}

// Waiting returns how long the commit under way has taken so far; 0: there is none. Any goroutine may call it.
func (w *Writer) Waiting() time.Duration {
	if since := w.since.Load(); since != 0 {
		return time.Since(time.Unix(0, since))
	}
	return 0
}

// Commit implements [audit.Store]: one transaction. After an error nothing of the batch is there, unless the connection to a server broke
// while it committed; then the run's last tick says. Errors are [ErrHalted], [ErrConflict], [ErrChain], [ErrFull] and others.
func (w *Writer) Commit(ctx context.Context, b *audit.Batch) error {
	doing := fmt.Sprintf("committing to run %s", w.run.ID)
	if n := len(b.Links); n > 0 {
		doing = fmt.Sprintf("committing ticks %d to %d of run %s", b.Links[0].Tick, b.Links[n-1].Tick, w.run.ID)
	}
	if w.conn == nil {
		return &Error{doing, "", errors.New("the writer is closed")}
	}
	if err := w.fits(b); err != nil {
		return &Error{doing, ErrInvalid, err}
	}
	w.compress(b)
	w.since.Store(time.Now().UnixNano())
	defer w.since.Store(0)
	err := w.transact(ctx, b)
	if err == nil {
		if n := len(b.Links); n > 0 {
			w.next = b.Links[n-1].Tick + 1
		}
		return w.db.wrap(w.written(), "%s", doing)
	}
	within, done := parting(ctx)
	defer done()
	if reason := w.explain(within, b); reason != nil && !errors.Is(w.db.wrap(err, "%s", doing), ErrHalted) {
		reason.Doing = doing + " in " + w.db.name
		return reason
	}
	return w.db.wrap(err, "%s", doing)
}

// fits checks that numbers fit into the 63 bits that the database has for them.
func (w *Writer) fits(b *audit.Batch) error {
	for i := range b.Inputs {
		if err := ticks(b.Inputs[i].Seq, b.Inputs[i].Tick); err != nil {
			return fmt.Errorf("input %d of tick %d: %w", b.Inputs[i].Seq, b.Inputs[i].Tick, err)
		}
	}
	for i := range b.Links {
		if err := ticks(b.Links[i].Tick, b.Links[i].InputSeq); err != nil {
			return fmt.Errorf("tick %d: %w", b.Links[i].Tick, err)
		}
	}
	for i := range b.Snapshots {
		if err := ticks(b.Snapshots[i].Tick); err != nil {
			return fmt.Errorf("snapshot of tick %d: %w", b.Snapshots[i].Tick, err)
		}
	}
	return nil
}

// compress makes the states smaller before the database is locked.
func (w *Writer) compress(b *audit.Batch) {
	w.packed = w.packed[:0]
	for i := range b.Snapshots {
		state := b.Snapshots[i].State
		packed := w.pack.EncodeAll(state, nil)
		if len(packed) >= len(state) {
			packed = nil
		}
		w.packed = append(w.packed, packed)
	}
}

// transact inserts a batch, all or nothing.
func (w *Writer) transact(ctx context.Context, b *audit.Batch) error {
	err := w.db.transact(ctx, w.conn, func() error {
		if w.create {
			if err := w.db.insertRun(ctx, w.conn, &w.run); err != nil {
				return err
			}
		}
		return w.insert(ctx, b)
	})
	if err == nil {
		w.create = false
	}
	return err
}

// transact makes all changes of f in one transaction, or none.
func (d *DB) transact(ctx context.Context, conn *sql.Conn, f func() error) error {
	err := d.backend.begin(ctx, conn)
	if err == nil {
		err = f()
	}
	if err == nil {
		if _, err = conn.ExecContext(ctx, "COMMIT"); err == nil {
			return nil
		}
	}
	// Where none has begun, or the database has rolled back by itself, on a full disk, there is nothing to roll back.
	within, done := parting(ctx)
	defer done()
	conn.ExecContext(within, "ROLLBACK")
	return err
}

// change makes a change in a transaction of its own.
func (d *DB) change(ctx context.Context, f func(*sql.Conn) error) error {
	conn, err := d.sql.Conn(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	return d.transact(ctx, conn, func() error { return f(conn) })
}

// add adds a row to a table.
func (d *DB) add(ctx context.Context, to execer, table, columns string, values ...any) error {
	holders := "$1"
	for i := range values[1:] {
		holders += fmt.Sprintf(", $%d", i+2)
	}
	result, err := to.ExecContext(ctx, "INSERT INTO "+d.backend.table(table)+" ("+columns+") VALUES ("+holders+")", values...)
	if err != nil {
		return err
	}
	return addedBy(result, table, 1)
}

func (w *Writer) insert(ctx context.Context, b *audit.Batch) error {
	be, run, now := w.db.backend, w.db.backend.id(w.run.ID), w.db.backend.time(time.Now())
	err := be.insert(ctx, w.conn, w.prepared, &bulk{"input_events", []string{"run_id", "seq", "tick", "source", "kind", "payload", "prev_hash", "event_hash", "accepted_at"},
		len(b.Inputs), func(i int, row []driver.Value) {
			e := &b.Inputs[i]
			row[0], row[1], row[2], row[3], row[4] = run, int64(e.Seq), int64(e.Tick), be.id(e.Source), int64(e.Kind)
			row[5], row[6], row[7], row[8] = notNil(e.Payload), e.Prev[:], e.Hash[:], now
		}})
	if err != nil {
		return err
	}
	w.digests = w.digests[:0]
	for i := range b.Links {
		w.digests = audit.AppendDigests(w.digests, b.Links[i].Digests)
	}
	digests := w.digests
	err = be.insert(ctx, w.conn, w.prepared, &bulk{"chain_hashes", []string{"run_id", "tick", "prev_tick", "prev_hash", "world_hash", "input_seq", "input_hash", "state_len",
		"section_digests", "committed_at"}, len(b.Links), func(i int, row []driver.Value) {
		l := &b.Links[i]
		row[0], row[1], row[3], row[4] = run, int64(l.Tick), l.Prev[:], l.Hash[:]
		if l.Tick != w.run.First {
			row[2] = int64(l.Tick) - 1
		}
		n := len(l.Digests) * audit.DigestSize
		row[5], row[6], row[7], row[8], row[9] = int64(l.InputSeq), l.InputHash[:], l.StateLen, notNil(digests[:n:n]), now
		digests = digests[n:]
	}})
	if err != nil {
		return err
	}
	return be.insert(ctx, w.conn, w.prepared, &bulk{"snapshots", []string{"run_id", "tick", "world_hash", "codec", "state_len", "state"}, len(b.Snapshots),
		func(i int, row []driver.Value) {
			s := &b.Snapshots[i]
			row[0], row[1], row[2], row[3], row[4], row[5] = run, int64(s.Tick), s.Hash[:], "raw", int64(len(s.State)), notNil(s.State)
			if w.packed[i] != nil {
				row[3], row[5] = "zstd", w.packed[i]
			}
		}})
}

// notNil returns bytes that are not null to a database.
func notNil(b []byte) []byte {
	if b == nil {
		return []byte{}
	}
	return b
}

// explain finds the first link of a batch that cannot be added to what is committed, nil if all can. The databases name the table only.
func (w *Writer) explain(ctx context.Context, b *audit.Batch) *Error {
	var prev audit.Hash
	next := w.run.First
	for i := range b.Links {
		l := &b.Links[i]
		hash, found, err := w.hash(ctx, l.Tick)
		switch {
		case err != nil:
			return nil
		case found && hash != l.Hash:
			return &Error{Kind: ErrConflict, Err: fmt.Errorf("chain_hashes: tick %d has %s, not %s", l.Tick, hash, l.Hash)}
		case found:
			return &Error{Kind: ErrAppendOnly, Err: fmt.Errorf("chain_hashes: tick %d is committed already", l.Tick)}
		}
		if i == 0 && l.Tick > 0 {
			if hash, found, err = w.hash(ctx, l.Tick-1); err != nil {
				return nil
			}
			if !found && w.next == l.Tick {
				return w.missing(ctx, l.Tick-1)
			}
			if found {
				prev, next = hash, l.Tick
			}
		}
		if l.Tick != next {
			return &Error{Kind: ErrChain, Err: fmt.Errorf("chain_hashes: tick %d does not follow", l.Tick)}
		}
		if l.Prev != prev {
			return &Error{Kind: ErrChain, Err: fmt.Errorf("chain_hashes: tick %d stands on %s, the hash before it is %s", l.Tick, l.Prev, prev)}
		}
		prev, next = l.Hash, l.Tick+1
	}
	return nil
}

// missing returns the error for a tick that was committed here and is gone; it names the last tick that is there.
func (w *Writer) missing(ctx context.Context, tick uint64) *Error {
	var last sql.NullInt64
	if err := w.conn.QueryRowContext(ctx, "SELECT max(tick) FROM "+w.db.backend.table("chain_hashes")+" WHERE run_id = $1 AND tick < $2", w.db.backend.id(w.run.ID), int64(tick)).Scan(&last); err != nil {
		return nil
	}
	if !last.Valid {
		return &Error{Kind: ErrChain, Err: fmt.Errorf("%w: chain_hashes: tick %d is missing, as are all before it", audit.ErrLost, tick)}
	}
	return &Error{Kind: ErrChain, Err: fmt.Errorf("%w: chain_hashes: tick %d is missing; the last before it is tick %d", audit.ErrLost, tick, last.Int64)}
}

// hash returns that of a committed tick.
func (w *Writer) hash(ctx context.Context, tick uint64) (h audit.Hash, found bool, err error) {
	var b []byte
	err = w.conn.QueryRowContext(ctx, "SELECT world_hash FROM "+w.db.backend.table("chain_hashes")+" WHERE run_id = $1 AND tick = $2", w.db.backend.id(w.run.ID), int64(tick)).Scan(&b)
	if errors.Is(err, sql.ErrNoRows) {
		return h, false, nil
	}
	copy(h[:], b)
	return h, err == nil, err
}
