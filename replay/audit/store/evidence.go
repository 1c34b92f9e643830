package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"iter"
	"math"
	"slices"
	"sync"

	"github.com/klauspost/compress/zstd"

	"github.com/murksim/murksim/commands"
	"github.com/murksim/murksim/replay/audit"
)

// Evidence opens what is committed of a run, as it stands now, in one read-only transaction, which the returned function ends. Several goroutines
// may read its lists at the same time.
func (d *DB) Evidence(ctx context.Context, id audit.ID) (audit.Evidence, func() error, error) {
	conn, err := d.sql.Conn(ctx)
	if err != nil {
		return nil, nil, d.wrap(err, "reading run %s", id)
	}
	e := &evidence{db: d, conn: conn, id: d.backend.id(id)}
	e.most = sync.OnceValue(func() int64 {
		if d.MostState == nil {
			return audit.MaxState
		}
		return min(d.MostState(e.run.Genesis), audit.MaxState)
	})
	within, done := d.limit(ctx)
	defer done()
	if _, err = conn.ExecContext(within, d.backend.beginRead()); err == nil {
		e.run, err = d.run(ctx, conn, id) // the first query fixes the moment
	}
	if err != nil {
		e.close()
		return nil, nil, d.wrap(err, "reading run %s", id)
	}
	return e, sync.OnceValue(e.close), nil
}

type evidence struct {
	db   *DB
	conn *sql.Conn
	id   any
	run  *audit.Run
	most func() int64 // bytes of a state
}

var _ audit.Evidence = (*evidence)(nil)

func (e *evidence) close() error {
	within, done := parting(context.Background())
	defer done()
	e.conn.ExecContext(within, "ROLLBACK")
	return e.conn.Close()
}

// read runs one statement and reads its rows.
func (e *evidence) read(ctx context.Context, query string, args []any, each func(row) error) (err error) {
	defer e.db.unwritten(&err)
	ctx, done := e.db.limit(ctx)
	defer done()
	return e.db.backend.read(ctx, e.conn, query, args, each)
}

// Run implements [audit.Evidence].
func (e *evidence) Run() *audit.Run { return e.run }

// Halt implements [audit.Evidence].
func (e *evidence) Halt(ctx context.Context) (*audit.Halt, error) {
	return e.db.halt(ctx, e.conn, e.run.ID)
}

// maxLinks is how many links one query reads. No query stays open while rows are yielded, so that lists can be
// read side by side on one connection.
const maxLinks = 4096

// Links implements [audit.Evidence].
func (e *evidence) Links(ctx context.Context, from uint64) iter.Seq2[*audit.Link, error] {
	is := "CASE WHEN octet_length(prev_hash) = 32 AND octet_length(world_hash) = 32 AND octet_length(input_hash) = 32 AND octet_length(section_digests) <= 4096 THEN "
	query := "SELECT tick, input_seq, " + is + "state_len ELSE -1 END, " + is + e.db.backend.joined("prev_hash || world_hash || input_hash || section_digests") + " END FROM " + e.db.backend.table("chain_hashes") + " WHERE run_id = $1 AND tick >= $2 ORDER BY tick LIMIT $3"
	return func(yield func(*audit.Link, error) bool) {
		links, digests := make([]audit.Link, 0, maxLinks), []audit.Digest(nil)
		for next := from; next <= audit.MaxTick; {
			links, digests = links[:0], digests[:0]
			err := e.read(ctx, query, []any{e.id, orLess(next), int64(maxLinks)}, func(r row) error {
				links = append(links, audit.Link{})
				var err error
				digests, err = link(&links[len(links)-1], r, digests)
				return err
			})
			if errors.Is(err, ErrWritten) {
				links = nil // some may be of another moment
			}
			rest := digests
			for i := range links {
				n := len(links[i].Digests) // append may have moved the list
				links[i].Digests, rest = rest[:n:n], rest[n:]
				if err != nil && i == len(links)-1 {
					break // the faulty one
				}
				if !yield(&links[i], nil) {
					return
				}
			}
			if err != nil {
				yield(nil, e.db.wrap(err, "reading the links of run %s from tick %d", e.run.ID, next))
				return
			}
			if len(links) < maxLinks {
				return
			}
			next = links[len(links)-1].Tick + 1
		}
	}
}

// orLess returns the least tick of a list from first on. A list of all rows also has ticks below 0, which only another program can have written.
func orLess(first uint64) int64 {
	if first == 0 {
		return math.MinInt64
	}
	return int64(first)
}

// link reads a row of chain_hashes. Its bytes come as one column, since a column costs more than its bytes. The section digests are
// appended to a list.
func link(l *audit.Link, r row, digests []audit.Digest) ([]audit.Digest, error) {
	l.Tick, l.InputSeq, l.StateLen = uint64(r.integer(0)), uint64(r.integer(1)), r.integer(2)
	if l.Tick > audit.MaxTick {
		return digests, badRow("chain_hashes", l.Tick, "its tick is below 0")
	}
	b := r.blob(3)
	const hashes = 3 * len(audit.Hash{})
	if l.StateLen < 0 || len(b) < hashes {
		return digests, badRow("chain_hashes", l.Tick, "its hashes have not 32 bytes each, its section_digests more than 4096, or its state_len is negative")
	}
	l.Prev, l.Hash, l.InputHash = audit.Hash(b), audit.Hash(b[32:]), audit.Hash(b[64:])
	all, err := audit.ParseDigests(digests, b[hashes:])
	if err != nil {
		return digests, badRow("chain_hashes", l.Tick, "section_digests: %v", err)
	}
	l.Digests = all[len(digests):]
	return all, nil
}

// How many inputs one query reads at most: fewer where they are large.
const (
	maxInputs     = 4096
	maxInputBytes = 1 << 20
	maxPageBytes  = 64 << 20
	maxPayload    = commands.MaxPayload + 1<<10 // with what stands before it in a frame
)

// Inputs implements [audit.Evidence].
func (e *evidence) Inputs(ctx context.Context, after uint64) iter.Seq2[*audit.Input, error] {
	b := e.db.backend
	query := "SELECT seq, tick, " + b.plain("source") + ", kind, " + b.bounded("payload", maxPayload) + ", " + b.bounded("prev_hash", 64) + ", " + b.bounded("event_hash", 64) +
		", octet_length(payload) FROM " + b.table("input_events") + " WHERE run_id = $1 AND seq >= $2 ORDER BY seq LIMIT $3"
	return func(yield func(*audit.Input, error) bool) {
		var inputs []audit.Input
		least := int64(math.MinInt64) // also rows of another program
		for limit := 16; after < audit.MaxTick; {
			if after > 0 {
				least = int64(after) + 1
			}
			inputs = inputs[:0]
			size := 0
			err := e.read(ctx, query, []any{e.id, least, int64(limit)}, func(r row) error {
				if size > maxPageBytes {
					return io.EOF // the rest is read the next time
				}
				var in audit.Input
				err := input(&in, r)
				if err == nil {
					inputs = append(inputs, in)
					size += len(in.Payload)
				}
				return err
			})
			if errors.Is(err, ErrWritten) {
				inputs = nil // some may be of another moment
			}
			for i := range inputs {
				if !yield(&inputs[i], nil) {
					return
				}
			}
			if err != nil {
				yield(nil, e.db.wrap(err, "reading the inputs of run %s after %d", e.run.ID, after))
				return
			}
			if len(inputs) < limit && size <= maxPageBytes {
				return
			}
			after = inputs[len(inputs)-1].Seq
			if size <= maxInputBytes {
				limit = min(2*limit, maxInputs)
			} else {
				limit = max(1, limit/2)
			}
		}
	}
}

// input reads a row of input_events.
func input(in *audit.Input, r row) error {
	in.Seq, in.Tick = uint64(r.integer(0)), uint64(r.integer(1))
	if in.Seq == 0 || in.Seq > audit.MaxTick {
		return badRow("input_events", in.Seq, "inputs are numbered from 1")
	}
	source, err := r.id(2)
	if err != nil {
		return badRow("input_events", in.Seq, "source: %v", err)
	}
	kind := r.integer(3)
	if in.Source, in.Kind = source, uint16(kind); int64(in.Kind) != kind {
		return badRow("input_events", in.Seq, "kind %d has more than 16 bits", kind)
	}
	if n := r.integer(7); n > maxPayload {
		return badRow("input_events", in.Seq, "its payload has %d bytes; that of a command has up to %d", n, maxPayload)
	}
	in.Payload = append([]byte{}, r.blob(4)...)
	for _, h := range []struct {
		to     *audit.Hash
		column int
		name   string
	}{{&in.Prev, 5, "prev_hash"}, {&in.Hash, 6, "event_hash"}} {
		if b := r.blob(h.column); copy(h.to[:], b) != len(h.to) || len(b) > len(h.to) {
			return badRow("input_events", in.Seq, "%s has %d bytes, not 32", h.name, len(b))
		}
	}
	return nil
}

// Snapshots implements [audit.Evidence].
func (e *evidence) Snapshots(ctx context.Context) (ticks []uint64, err error) {
	err = e.read(ctx, "SELECT tick FROM "+e.db.backend.table("snapshots")+" WHERE run_id = $1 ORDER BY tick", []any{e.id}, func(r row) error {
		ticks = append(ticks, uint64(r.integer(0)))
		return nil
	})
	slices.Sort(ticks) // those below 0 come last
	return ticks, e.db.wrap(err, "listing the snapshots of run %s", e.run.ID)
}

// Snapshot implements [audit.Evidence].
func (e *evidence) Snapshot(ctx context.Context, tick uint64) (*audit.Snapshot, error) {
	if err := ticks(tick); err != nil {
		return nil, &Error{"reading a snapshot", ErrInvalid, err}
	}
	const small = 1 << 20
	b, most := e.db.backend, e.most()
	var s *audit.Snapshot
	err := e.read(ctx, "SELECT "+b.bounded("s.world_hash", 64)+", "+b.bounded("s.codec", 64)+", s.state_len, "+b.bounded("s.state", most+small)+`, coalesce(c.state_len, 0), octet_length(s.state)
		FROM `+b.table("snapshots")+` s LEFT JOIN `+b.table("chain_hashes")+` c ON c.run_id = s.run_id AND c.tick = s.tick WHERE s.run_id = $1 AND s.tick = $2`, []any{e.id, int64(tick)}, func(r row) error {
		hash := r.blob(0)
		if is, want := r.integer(2), r.integer(4); is > max(want, small) { // before it takes memory
			return badRow("snapshots", tick, "it has %d bytes; the state of its tick has %d", is, want)
		}
		if is := max(r.integer(2), r.integer(5)); is > most+small {
			return badRow("snapshots", tick, "it has %d bytes; a state of this run has up to %d", is, most)
		}
		if len(hash) != len(audit.Hash{}) {
			return badRow("snapshots", tick, "world_hash has %d bytes, not 32", len(hash))
		}
		state, err := unpack(r.text(1), r.integer(2), r.blob(3))
		if err != nil {
			return badRow("snapshots", tick, "%v", err)
		}
		s = &audit.Snapshot{Tick: tick, Hash: audit.Hash(hash), State: state}
		return nil
	})
	if err == nil && s == nil {
		return nil, &Error{fmt.Sprintf("reading run %s in %s", e.run.ID, e.db.name), "", fmt.Errorf("there is no snapshot of tick %d", tick)}
	}
	return s, e.db.wrap(err, "reading the snapshot of tick %d of run %s", tick, e.run.ID)
}

// unpack decompresses a state. It allocates for the bytes that come, never for the size that the row claims.
func unpack(codec string, size int64, b []byte) ([]byte, error) {
	if size < 0 || size > audit.MaxState {
		return nil, fmt.Errorf("state_len is %d; states have up to %d bytes", size, audit.MaxState)
	}
	switch codec {
	case "raw":
		if int64(len(b)) != size {
			return nil, fmt.Errorf("the state has %d bytes, not %d", len(b), size)
		}
		return append([]byte{}, b...), nil
	case "zstd":
	default:
		return nil, fmt.Errorf("codec %.20q is not known", codec)
	}
	d, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(uint64(max(size, 1<<20))), zstd.WithDecoderLowmem(true))
	if err != nil {
		return nil, err
	}
	defer d.Close()
	state, err := d.DecodeAll(b, nil)
	if err == nil && int64(len(state)) != size {
		err = fmt.Errorf("it has %d bytes, not %d", len(state), size)
	}
	if errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	if err != nil {
		return nil, fmt.Errorf("the compressed state: %w", err)
	}
	return state, nil
}
