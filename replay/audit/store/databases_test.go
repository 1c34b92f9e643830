package store_test

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/binary"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/murksim/murksim/replay/audit"
	"github.com/murksim/murksim/replay/audit/store"
	_ "modernc.org/sqlite"
)

// A database is a kind of database that every test of the suite runs on.
type database struct {
	name   string
	driver string
	fresh  func(t testing.TB) (dsn string) // of an empty one that goes with the test
	raw    func(dsn string) string         // for the driver
}

var sqliteFile = database{
	name: "sqlite", driver: "sqlite",
	fresh: func(t testing.TB) string { return filepath.Join(t.TempDir(), "run.db") },
	raw:   func(dsn string) string { return "file:" + dsn + "?_pragma=foreign_keys(1)&_pragma=busy_timeout(5000)" },
}

// on runs a test on every database.
func on(t *testing.T, test func(t *testing.T, on database, dsn string)) {
	for _, d := range append([]database{sqliteFile}, servers()...) {
		t.Run(d.name, func(t *testing.T) { test(t, d, d.fresh(t)) })
	}
}

func open(t testing.TB, dsn string) *store.DB {
	t.Helper()
	d, err := store.Open(context.Background(), dsn)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.Close() })
	return d
}

// direct opens a database past the store.
func (d database) direct(t testing.TB, dsn string) *sql.DB {
	t.Helper()
	db, err := sql.Open(d.driver, d.raw(dsn))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return db
}

func create(t testing.TB, d *store.DB, r *audit.Run) {
	t.Helper()
	if err := d.Create(context.Background(), r); err != nil {
		t.Fatal(err)
	}
}

func writer(t testing.TB, d *store.DB, id audit.ID) *store.Writer {
	t.Helper()
	w, err := d.Writer(context.Background(), id)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { w.Close() })
	return w
}

func commit(t testing.TB, w *store.Writer, b *audit.Batch) {
	t.Helper()
	if err := w.Commit(context.Background(), b); err != nil {
		t.Fatal(err)
	}
}

func evidence(t testing.TB, d *store.DB, id audit.ID) audit.Evidence {
	t.Helper()
	e, done, err := d.Evidence(context.Background(), id)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := done(); err != nil {
			t.Error(err)
		}
	})
	return e
}

func newRun(number uint64) *audit.Run {
	var id audit.ID
	binary.BigEndian.PutUint64(id[8:], number)
	return &audit.Run{ID: id, Created: time.UnixMicro(1_700_000_000_123_456).UTC(), Label: "a run", Seed: 7, Rate: audit.Rate{Num: 20, Den: 1}, Rules: 1,
		Format: audit.StateFormat, Generator: "chacha8", Genesis: []byte("genesis"), Digest: sha256.Sum256([]byte("genesis")), Engine: "test"}
}

// A maker makes batches that follow each other.
type maker struct {
	tick     uint64 // of the next link
	seq      uint64
	sections int
	world    audit.Hash
	inputs   audit.Hash
}

// batch makes links of ticks, with as many inputs of the first of them.
func (m *maker) batch(links, inputs int) *audit.Batch {
	b := &audit.Batch{}
	for range inputs {
		m.seq++
		in := audit.Input{Event: audit.Event{Seq: m.seq, Tick: max(m.tick, 1), Source: [16]byte{1, 2, byte(m.seq)}, Kind: uint16(m.seq), Payload: fmt.Append(nil, "payload ", m.seq)}, Prev: m.inputs}
		m.inputs = m.inputs.Next(in.Append(nil))
		in.Hash = m.inputs
		b.Inputs = append(b.Inputs, in)
	}
	for range links {
		l := audit.Link{Tick: m.tick, Prev: m.world, InputSeq: m.seq, InputHash: m.inputs, StateLen: 100}
		if m.tick == 0 { // no input is of tick 0
			l.InputSeq, l.InputHash = 0, audit.Hash{}
		}
		m.world = m.world.Next(m.state())
		l.Hash = m.world
		for s := range m.sections {
			l.Digests = append(l.Digests, audit.Digest{Section: uint16(s + 1), Sum: sha256.Sum256([]byte{byte(s), byte(m.tick)})})
		}
		b.Links = append(b.Links, l)
		m.tick++
	}
	return b
}

// state is that of the next tick.
func (m *maker) state() []byte { return fmt.Append(nil, "the state of tick ", m.tick) }

// links reads all links.
func links(t testing.TB, e audit.Evidence) []audit.Link {
	t.Helper()
	var all []audit.Link
	for l, err := range e.Links(context.Background(), 0) {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, *l)
		all[len(all)-1].Digests = append([]audit.Digest(nil), l.Digests...)
	}
	return all
}

// inputs reads all inputs.
func inputs(t testing.TB, e audit.Evidence) []audit.Input {
	t.Helper()
	var all []audit.Input
	for in, err := range e.Inputs(context.Background(), 0) {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, *in)
	}
	return all
}
