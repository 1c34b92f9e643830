package store_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
	"math"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"

	"github.com/murksim/murksim/replay/audit"
	"github.com/murksim/murksim/replay/audit/store"
)

var ctx = context.Background()

// TestRoundTrip: what is written is read, to the ends of what numbers can be.
func TestRoundTrip(t *testing.T) {
	on(t, func(t *testing.T, _ database, dsn string) {
		d := open(t, dsn)
		first := newRun(1)
		create(t, d, first)
		odd := &audit.Run{ID: audit.ID(bytes.Repeat([]byte{0xff}, 16)), Created: time.Date(1969, 12, 31, 23, 59, 59, 999_999_000, time.UTC), Label: "ü'\"%\n$1",
			Seed: math.MaxUint64, Rate: audit.Rate{Num: math.MaxInt64, Den: math.MaxInt64}, Rules: math.MaxUint32, Format: math.MaxInt32, Generator: "chacha20",
			Genesis: []byte{}, Digest: sha256.Sum256(nil), Engine: "", First: audit.MaxTick - 1, Parent: first.ID}
		create(t, d, odd)

		large := make([]byte, 1<<20)
		rand.Read(large)
		in := []audit.Input{
			{Event: audit.Event{Seq: 1, Tick: 1, Payload: []byte{}}, Hash: audit.Hash{1}},
			{Event: audit.Event{Seq: 2, Tick: audit.MaxTick, Source: [16]byte(bytes.Repeat([]byte{0xfe}, 16)), Kind: math.MaxUint16, Payload: large}, Prev: audit.Hash{1}, Hash: audit.Hash{2}},
		}
		chain := []audit.Link{
			{Tick: audit.MaxTick - 1, Hash: audit.Hash{3}, StateLen: 14},
			{Tick: audit.MaxTick, Prev: audit.Hash{3}, Hash: audit.Hash{4}, InputSeq: math.MaxInt64, InputHash: audit.Hash{5}, StateLen: math.MaxInt64,
				Digests: []audit.Digest{{Section: math.MaxUint16, Sum: audit.Hash{6}}, {Section: 0}}},
		}
		states := []audit.Snapshot{{Tick: audit.MaxTick - 1, Hash: audit.Hash{3}, State: bytes.Repeat([]byte("compressible"), 1000)}, {Tick: audit.MaxTick, Hash: audit.Hash{4}, State: large}}
		commit(t, writer(t, d, odd.ID), &audit.Batch{Inputs: in, Links: chain, Snapshots: states})

		e := evidence(t, d, odd.ID)
		if !reflect.DeepEqual(e.Run(), odd) {
			t.Errorf("run %+v, want %+v", e.Run(), odd)
		}
		if got := inputs(t, e); !reflect.DeepEqual(got, in) {
			t.Errorf("%d inputs are not the %d written", len(got), len(in))
		}
		if got := links(t, e); !slices.EqualFunc(got, chain, equalLinks) {
			t.Errorf("links %v, want %v", got, chain)
		}
		if got, err := e.Snapshots(ctx); !slices.Equal(got, []uint64{audit.MaxTick - 1, audit.MaxTick}) || err != nil {
			t.Errorf("snapshots %d, %v", got, err)
		}
		for _, want := range states {
			if got, err := e.Snapshot(ctx, want.Tick); err != nil || !reflect.DeepEqual(got, &want) {
				t.Errorf("the snapshot of tick %d differs: %v", want.Tick, err)
			}
		}
		if s, err := e.Snapshot(ctx, 5); s != nil || err == nil {
			t.Errorf("a snapshot of tick 5 is there: %v, %v", s, err)
		}
		all, err := d.Runs(ctx)
		if err != nil || len(all) != 2 || all[0].Run.ID != odd.ID || all[0].Last != audit.MaxTick || !all[0].Links || all[1].Links || all[1].Run.Seed != 7 || all[0].Halt != nil {
			t.Errorf("runs %+v, %v", all, err)
		}
	})
}

func equalLinks(a, b audit.Link) bool {
	da, db := a.Digests, b.Digests
	a.Digests, b.Digests = nil, nil
	return reflect.DeepEqual(a, b) && slices.Equal(da, db)
}

// TestManyLinks: lists longer than what is read at once, from any tick, and read side by side.
func TestManyLinks(t *testing.T) {
	on(t, func(t *testing.T, _ database, dsn string) {
		d := open(t, dsn)
		r := newRun(1)
		create(t, d, r)
		w := writer(t, d, r.ID)
		m := maker{sections: 3}
		var want []audit.Link
		for i := range 10 {
			b := m.batch(900+i, 500)
			commit(t, w, b)
			want = append(want, b.Links...)
		}
		e := evidence(t, d, r.ID)
		if got := links(t, e); !slices.EqualFunc(got, want, equalLinks) {
			t.Errorf("%d links are not the %d written", len(got), len(want))
		}
		for _, from := range []uint64{1, 4095, 4096, 4097, uint64(len(want) - 1), uint64(len(want)), math.MaxInt64, math.MaxUint64} {
			next := from
			for l, err := range e.Links(ctx, from) {
				if err != nil || l.Tick != next {
					t.Fatalf("from %d: tick %d, %v; want %d", from, l.Tick, err, next)
				}
				next++
			}
			if end := max(from, uint64(len(want))); next != end {
				t.Errorf("from %d: the links end before %d, not %d", from, next, end)
			}
		}
		n := 0
		for l, err := range e.Links(ctx, 0) { // each link beside a new list of inputs
			if err != nil {
				t.Fatal(err)
			}
			for in, err := range e.Inputs(ctx, l.InputSeq) {
				if err != nil || in.Seq != l.InputSeq+1 {
					t.Fatalf("tick %d: input %d, %v; want %d", l.Tick, in.Seq, err, l.InputSeq+1)
				}
				break
			}
			if n++; n == 100 {
				break
			}
		}
		if got := inputs(t, e); len(got) != 5000 || got[4999].Hash != m.inputs {
			t.Errorf("%d inputs, want 5000", len(got))
		}
	})
}

// TestOutOfOrder: what does not follow is refused, all of its batch with it, and what is refused leaves the writer fit to go on.
func TestOutOfOrder(t *testing.T) {
	on(t, func(t *testing.T, _ database, dsn string) {
		d := open(t, dsn)
		r := newRun(1)
		create(t, d, r)
		w := writer(t, d, r.ID)
		m := maker{sections: 1}
		commit(t, w, m.batch(10, 3))
		for _, tt := range []struct {
			name   string
			change func(b *audit.Batch)
			kind   store.Kind
			text   string
		}{
			{"gap", func(b *audit.Batch) { b.Links = b.Links[1:] }, store.ErrChain, "tick 11 does not follow"},
			{"gap inside", func(b *audit.Batch) { b.Links = slices.Delete(b.Links, 2, 3) }, store.ErrChain, "tick 13 does not follow"},
			{"broken", func(b *audit.Batch) { b.Links[0].Prev[5] ^= 1 }, store.ErrChain, "tick 10 stands on"},
			{"broken inside", func(b *audit.Batch) { b.Links[4].Prev[5] ^= 1 }, store.ErrChain, "tick 14 stands on"},
			{"first again", func(b *audit.Batch) { b.Links[0] = audit.Link{Tick: 0, Hash: audit.Hash{1}, StateLen: 14} }, store.ErrConflict, "tick 0 has "},
			{"conflict", func(b *audit.Batch) { b.Links = []audit.Link{{Tick: 7, Hash: audit.Hash{1}, StateLen: 14}} }, store.ErrConflict, "tick 7 has "},
			{"inputs with a gap", func(b *audit.Batch) { b.Inputs = b.Inputs[1:] }, store.ErrChain, "input_events"},
			{"inputs broken", func(b *audit.Batch) { b.Inputs[1].Prev[0] ^= 1 }, store.ErrChain, "input_events"},
			{"input out of order", func(b *audit.Batch) { b.Inputs[1].Tick++ }, store.ErrOrder, "earlier tick"},
			{"late input", func(b *audit.Batch) { b.Inputs[0].Tick = 9 }, store.ErrLate, "committed already"},
			{"snapshot of no link", func(b *audit.Batch) { b.Snapshots[0].Tick = 99 }, store.ErrChain, "snapshots"},
			{"snapshot of another hash", func(b *audit.Batch) { b.Snapshots[0].Hash[0] ^= 1 }, store.ErrChain, "snapshots"},
			{"short state", func(b *audit.Batch) { b.Links[3].StateLen = 13 }, store.ErrInvalid, "chain_hashes"},
			{"large tick", func(b *audit.Batch) { b.Links[3].Tick = 1 << 63 }, store.ErrInvalid, "above 2^63-1"},
			{"hash of no input", func(b *audit.Batch) { b.Links[3].InputSeq = 0 }, store.ErrInvalid, "chain_hashes"},
		} {
			next := m
			b := next.batch(60, 3)
			b.Snapshots = []audit.Snapshot{{Tick: 12, Hash: b.Links[2].Hash, State: []byte("state")}}
			tt.change(b)
			err := w.Commit(ctx, b)
			if !errors.Is(err, tt.kind) || !strings.Contains(err.Error(), tt.text) {
				t.Errorf("%s: %v, want %q and %q", tt.name, err, tt.kind, tt.text)
			}
			all, err := d.Runs(ctx)
			if err != nil || all[0].Last != 9 {
				t.Fatalf("%s: tick %d is committed, %v; want 9", tt.name, all[0].Last, err)
			}
			if got := inputs(t, evidence(t, d, r.ID)); len(got) != 3 {
				t.Fatalf("%s: %d inputs, want 3", tt.name, len(got))
			}
		}
		commit(t, w, m.batch(10, 3))
	})
}

// TestFirstLink: only the first tick of a run follows none.
func TestFirstLink(t *testing.T) {
	on(t, func(t *testing.T, on database, dsn string) {
		d := open(t, dsn)
		r := newRun(1)
		r.First = 5
		create(t, d, r)
		m := maker{tick: 4}
		b := m.batch(2, 0)
		if err := writer(t, d, r.ID).Commit(ctx, b); !errors.Is(err, store.ErrChain) {
			t.Errorf("a link before the first: %v", err)
		}
		raw := on.direct(t, dsn)
		for _, row := range []string{"4, NULL", "5, 4", "6, NULL"} {
			_, err := raw.Exec(fmt.Sprintf("INSERT INTO chain_hashes (run_id, tick, prev_tick, prev_hash, world_hash, input_seq, input_hash, state_len, section_digests, committed_at) SELECT run_id, %s, %s, %s, 0, %[2]s, 14, %s, created_at FROM runs",
				row, zeros(on), zeros(on), empty(on)))
			if err == nil || !strings.Contains(err.Error(), "MS005") {
				t.Errorf("tick, previous tick %s: %v, want MS005", row, err)
			}
		}
	})
}

// zeros and empty are literals of blobs.
func zeros(on database) string {
	if on.name == "sqlite" {
		return "zeroblob(32)"
	}
	return "decode(repeat('00', 32), 'hex')"
}

func empty(on database) string {
	if on.name == "sqlite" {
		return "x''"
	}
	return `'\x'::bytea`
}

// TestHalt: nothing is added to a halted run, by raw SQL neither, and there is no way back.
func TestHalt(t *testing.T) {
	on(t, func(t *testing.T, on database, dsn string) {
		d := open(t, dsn)
		r := newRun(1)
		create(t, d, r)
		w := writer(t, d, r.ID)
		m := maker{}
		commit(t, w, m.batch(10, 1))
		if h, err := d.Halted(ctx, r.ID); h != nil || err != nil {
			t.Errorf("halted before: %v, %v", h, err)
		}
		halt := audit.Halt{Tick: 4, Code: audit.Divergence, Detail: `{"expected": "00"}`, At: time.UnixMicro(1_800_000_000_000_001).UTC()}
		if err := d.Halt(ctx, r.ID, halt); err != nil {
			t.Fatal(err)
		}
		e := evidence(t, d, r.ID)
		if got, err := e.Halt(ctx); err != nil || got == nil || *got != halt {
			t.Errorf("halt %+v, %v; want %+v", got, err, halt)
		}
		all, err := d.Runs(ctx)
		if err != nil || all[0].Halt == nil || *all[0].Halt != halt || all[0].Last != 9 {
			t.Errorf("runs %+v, %v", all, err)
		}
		if err := w.Commit(ctx, m.batch(1, 0)); !errors.Is(err, store.ErrHalted) {
			t.Errorf("a tick after the halt: %v", err)
		}
		if err := w.Commit(ctx, &audit.Batch{Links: []audit.Link{{Tick: 3, Hash: audit.Hash{1}, StateLen: 14}}}); !errors.Is(err, store.ErrHalted) {
			t.Errorf("a tick again after the halt: %v", err)
		}
		w.Close()
		if _, err := d.Writer(ctx, r.ID); !errors.Is(err, store.ErrHalted) {
			t.Errorf("a writer after the halt: %v", err)
		}
		if err := d.Halt(ctx, r.ID, audit.Halt{Code: audit.Panic}); !errors.Is(err, store.ErrHalted) {
			t.Errorf("a second halt: %v", err)
		}
		if err := d.Halt(ctx, audit.ID{9}, audit.Halt{Code: audit.Panic}); !errors.Is(err, store.ErrNoRun) {
			t.Errorf("a halt of no run: %v", err)
		}
		raw := on.direct(t, dsn)
		for table, values := range map[string]string{
			"chain_hashes (run_id, tick, prev_tick, prev_hash, world_hash, input_seq, input_hash, state_len, section_digests, committed_at)": "10, 9, Z, Z, 0, Z, 14, E, created_at",
			"input_events (run_id, seq, tick, source, kind, payload, prev_hash, event_hash, accepted_at)":                                    "2, 10, run_id, 0, E, Z, Z, created_at",
			"snapshots (run_id, tick, world_hash, codec, state_len, state)":                                                                  "3, Z, 'raw', 0, E",
		} {
			values = strings.NewReplacer("Z", zeros(on), "E", empty(on)).Replace(values)
			if _, err := raw.Exec("INSERT INTO " + table + " SELECT run_id, " + values + " FROM runs"); err == nil || !strings.Contains(err.Error(), "MS002") {
				t.Errorf("INSERT INTO %.12s after the halt: %v, want MS002", table, err)
			}
		}
	})
}

// tables are all tables: the key, a column to change, and columns that can be inserted.
var tables = []struct{ name, key, column, columns string }{
	{"runs", "run_id", "label", "run_id, created_at, label, master_seed, rate_num, rate_den, rules_version, state_format, rng_alg, genesis, genesis_digest, engine_version"},
	{"input_events", "run_id, seq", "kind", "run_id, seq, tick, source, kind, payload, prev_hash, event_hash, accepted_at"},
	{"chain_hashes", "run_id, tick", "state_len", "run_id, tick, prev_tick, prev_hash, world_hash, input_seq, input_hash, state_len, section_digests, committed_at"},
	{"snapshots", "run_id, tick", "codec", "run_id, tick, world_hash, codec, state_len, state"},
	{"run_halts", "run_id", "code", "run_id, tick, code, detail, halted_at"},
	{"audits", "audit_id", "platform", "audit_id, run_id, started_at, finished_at, engine_version, platform, from_tick, to_tick, verdict"},
	{"alerts", "alert_id", "code", "alert_id, run_id, tick, code, severity, detail, raised_at"},
}

// fill puts rows into every table. Another run than the one with ticks is halted.
func fill(t *testing.T, d *store.DB) {
	t.Helper()
	for i := range uint64(2) {
		r := newRun(i)
		create(t, d, r)
		m := maker{sections: 1}
		b := m.batch(10, 2)
		b.Snapshots = []audit.Snapshot{{Tick: 0, Hash: b.Links[0].Hash, State: []byte("state")}}
		commit(t, writer(t, d, r.ID), b)
		now := time.Now()
		if err := d.Audit(ctx, &store.Audit{ID: r.ID, Run: r.ID, Started: now, Finished: now, Verdict: "PASS"}); err != nil {
			t.Fatal(err)
		}
		if err := d.Alert(ctx, &store.Alert{Run: r.ID, Code: "X", Severity: "warning", At: now}); err != nil {
			t.Fatal(err)
		}
	}
	if err := d.Halt(ctx, newRun(1).ID, audit.Halt{Code: audit.Panic, At: time.Now()}); err != nil {
		t.Fatal(err)
	}
}

// TestAppendOnly: no row is changed, removed or replaced by raw SQL, not even where no row would be.
func TestAppendOnly(t *testing.T) {
	on(t, func(t *testing.T, on database, dsn string) {
		d := open(t, dsn)
		fill(t, d)
		raw := on.direct(t, dsn)
		for _, table := range tables {
			var before, after string
			count := "SELECT count(*) || ' ' || max(" + table.column + ") FROM " + table.name
			if err := raw.QueryRow(count).Scan(&before); err != nil || strings.HasPrefix(before, "0") {
				t.Fatalf("%s: %q rows, %v", table.name, before, err)
			}
			statements := []string{"UPDATE T SET C = C", "DELETE FROM T", "DELETE FROM T WHERE C = (SELECT max(C) FROM T)"}
			if on.name == "sqlite" {
				statements = append(statements, "UPDATE OR REPLACE T SET C = C", "INSERT OR REPLACE INTO T (L) SELECT L FROM T WHERE run_id NOT IN (SELECT run_id FROM run_halts)",
					"INSERT INTO T (L) SELECT L FROM T WHERE run_id NOT IN (SELECT run_id FROM run_halts) ON CONFLICT (K) DO UPDATE SET C = 'x'")
				if table.name == "run_halts" {
					statements = append(statements[:4], "REPLACE INTO T (L) SELECT L FROM T")
				}
			} else {
				statements = append(statements, "TRUNCATE T CASCADE", "UPDATE T SET C = C WHERE false",
					"INSERT INTO T (L) OVERRIDING SYSTEM VALUE SELECT L FROM T WHERE false ON CONFLICT (K) DO UPDATE SET C = excluded.C",
					"SET session_replication_role = replica; DELETE FROM T")
			}
			for _, s := range statements {
				s = strings.NewReplacer("(K)", "("+table.key+")", "(L)", "("+table.columns+")", " L ", " "+table.columns+" ", " T", " "+table.name, " C ", " "+table.column+" ", "(C)", "("+table.column+")",
					".C", "."+table.column, "= C", "= "+table.column).Replace(s)
				if _, err := raw.Exec(s); err == nil || !strings.Contains(err.Error(), "MS001") {
					t.Errorf("%s: %v, want MS001", s, err)
				}
			}
			if err := raw.QueryRow(count).Scan(&after); err != nil || after != before {
				t.Errorf("%s: %s rows, %v; before %s", table.name, after, err, before)
			}
		}
	})
}

// TestWriters: a run has one writer at a time; other runs have theirs.
func TestWriters(t *testing.T) {
	on(t, func(t *testing.T, _ database, dsn string) {
		d, other := open(t, dsn), open(t, dsn)
		a, b := newRun(1), newRun(2)
		create(t, d, a)
		create(t, d, b)
		written := func(want bool) {
			t.Helper()
			for _, d := range []*store.DB{d, other} {
				if writing, err := d.Writing(ctx, a.ID); err != nil || writing != want {
					t.Errorf("somebody writes it: %v, %v; want %v", writing, err, want)
				}
			}
		}
		written(false)
		first := writer(t, d, a.ID)
		written(true)
		for _, d := range []*store.DB{d, other} {
			if w, err := d.Writer(ctx, a.ID); !errors.Is(err, store.ErrWriter) {
				w.Close()
				t.Fatalf("a second writer: %v", err)
			}
		}
		second := writer(t, other, b.ID)
		var all sync.WaitGroup
		for _, w := range []*store.Writer{first, second} {
			all.Go(func() {
				m := maker{sections: 1}
				for range 50 {
					if err := w.Commit(ctx, m.batch(3, 1)); err != nil {
						t.Error(err)
						return
					}
				}
			})
		}
		all.Wait()
		written(true)
		if err := first.Close(); err != nil {
			t.Fatal(err)
		}
		written(false)
		if err := first.Commit(ctx, &audit.Batch{}); err == nil {
			t.Error("a closed writer commits")
		}
		m := maker{sections: 1}
		m.batch(150, 0)
		commit(t, writer(t, other, a.ID), m.batch(1, 0))
		if got := links(t, evidence(t, d, a.ID)); len(got) != 151 {
			t.Errorf("%d links, want 151", len(got))
		}
		if _, err := d.Writer(ctx, audit.ID{7}); !errors.Is(err, store.ErrNoRun) {
			t.Errorf("a writer of no run: %v", err)
		}
	})
}

// TestReaderWhileWriting: evidence is of one moment, whatever is committed meanwhile.
func TestReaderWhileWriting(t *testing.T) {
	on(t, func(t *testing.T, _ database, dsn string) {
		d := open(t, dsn)
		r := newRun(1)
		create(t, d, r)
		w := writer(t, d, r.ID)
		reader, err := store.OpenReader(ctx, dsn)
		if err != nil {
			t.Fatal(err)
		}
		defer reader.Close()
		stop := make(chan struct{})
		var all sync.WaitGroup
		all.Go(func() {
			m := maker{sections: 2}
			for {
				select {
				case <-stop:
					return
				default:
				}
				b := m.batch(7, 3)
				last := b.Links[6]
				b.Snapshots = []audit.Snapshot{{Tick: last.Tick, Hash: last.Hash, State: []byte("state")}}
				if err := w.Commit(ctx, b); err != nil {
					t.Error(err)
					return
				}
			}
		})
		seen := 0
		for range 30 {
			e, done, err := reader.Evidence(ctx, r.ID)
			if err != nil {
				t.Fatal(err)
			}
			n := len(links(t, e))
			time.Sleep(2 * time.Millisecond)
			in, again := inputs(t, e), len(links(t, e))
			states, err := e.Snapshots(ctx)
			if err != nil || n%7 != 0 || len(in) != n/7*3 || len(states) != n/7 || again != n {
				t.Errorf("%d links, then %d, %d inputs, %d snapshots, %v", n, again, len(in), len(states), err)
			}
			seen = max(seen, n)
			done()
		}
		close(stop)
		all.Wait()
		if seen == 0 {
			t.Error("the reader saw nothing")
		}
	})
}

// TestRecords: audits and alerts are listed as they were added.
func TestRecords(t *testing.T) {
	on(t, func(t *testing.T, _ database, dsn string) {
		d := open(t, dsn)
		r := newRun(1)
		create(t, d, r)
		create(t, d, newRun(2))
		at := time.UnixMicro(1_800_000_000_000_001).UTC()
		audits := []store.Audit{
			{ID: audit.ID{1}, Run: r.ID, Started: at, Finished: at.Add(time.Second), Engine: "v1", Platform: "linux/amd64", From: 0, To: 9, Verdict: "PASS", Report: `{"ticks": 10}`},
			{ID: audit.ID{2}, Run: r.ID, Started: at.Add(1), Finished: at.Add(time.Hour), From: 5, To: audit.MaxTick, Verdict: "FAIL", Divergent: 5, Expected: audit.Hash{1}, Computed: audit.Hash{2}, Report: "{}"},
		}
		audits[1].Started = at.Add(time.Microsecond)
		for i := range audits {
			if err := d.Audit(ctx, &audits[i]); err != nil {
				t.Fatal(err)
			}
		}
		if got, err := d.Audits(ctx, r.ID); err != nil || !slices.Equal(got, audits) {
			t.Errorf("audits %+v, %v; want %+v", got, err, audits)
		}
		alerts := []store.Alert{
			{Run: r.ID, Tick: 5, Code: audit.Divergence, Severity: "critical", Detail: `{"tick": 5}`, At: at, Audit: audit.ID{2}},
			{Run: r.ID, Tick: audit.MaxTick, Code: audit.EvidenceFault, Severity: "warning", Detail: "{}", At: at},
		}
		for i := range alerts {
			if err := d.Alert(ctx, &alerts[i]); err != nil {
				t.Fatal(err)
			}
			alerts[i].Number = int64(i + 1)
		}
		if got, err := d.Alerts(ctx, r.ID); err != nil || !slices.Equal(got, alerts) {
			t.Errorf("alerts %+v, %v; want %+v", got, err, alerts)
		}
		if got, err := d.Alerts(ctx, newRun(2).ID); err != nil || len(got) != 0 {
			t.Errorf("alerts of another run: %+v, %v", got, err)
		}
		bad := audits[0]
		bad.ID, bad.Verdict = audit.ID{3}, "MAYBE"
		if err := d.Audit(ctx, &bad); !errors.Is(err, store.ErrInvalid) {
			t.Errorf("a verdict of MAYBE: %v", err)
		}
	})
}

// TestCreate: what a run may not be is refused, and an id is taken once.
func TestCreate(t *testing.T) {
	on(t, func(t *testing.T, on database, dsn string) {
		d := open(t, dsn)
		create(t, d, newRun(1))
		for _, tt := range []struct {
			name   string
			change func(r *audit.Run)
			kind   store.Kind
		}{
			{"the same id", func(r *audit.Run) { r.ID = newRun(1).ID }, store.ErrAppendOnly},
			{"no rate", func(r *audit.Run) { r.Rate.Den = 0 }, store.ErrInvalid},
			{"no rules", func(r *audit.Run) { r.Rules = 0 }, store.ErrInvalid},
			{"no format", func(r *audit.Run) { r.Format = 0 }, store.ErrInvalid},
			{"unknown generator", func(r *audit.Run) { r.Generator = "pcg" }, store.ErrInvalid},
			{"large first tick", func(r *audit.Run) { r.First = math.MaxUint64 }, store.ErrInvalid},
			{"unknown parent", func(r *audit.Run) { r.Parent = audit.ID{5} }, store.ErrNoRun},
		} {
			r := newRun(2)
			tt.change(r)
			if err := d.Create(ctx, r); !errors.Is(err, tt.kind) {
				t.Errorf("%s: %v, want %q", tt.name, err, tt.kind)
			}
		}
		if on.name == "postgres" {
			_, err := on.direct(t, dsn).Exec(`INSERT INTO runs (run_id, master_seed, rate_num, rate_den, rules_version, state_format, rng_alg, genesis, genesis_digest, engine_version)
				SELECT '11111111-1111-1111-1111-111111111111', 0, 1, 1, 1, 1, 'chacha8', 'x', genesis_digest, '' FROM runs`)
			if err == nil || !strings.Contains(err.Error(), "23514") {
				t.Errorf("a digest of another genesis document: %v", err)
			}
		}
	})
}

// TestLargeGenesis: a genesis document that holds what a scenario takes from files is as long as a saved state may be.
func TestLargeGenesis(t *testing.T) {
	on(t, func(t *testing.T, _ database, dsn string) {
		d := open(t, dsn)
		r := newRun(1)
		r.Genesis = bytes.Repeat([]byte("0.125, "), 24<<20/7)
		r.Digest = sha256.Sum256(r.Genesis)
		create(t, d, r)
		if got := evidence(t, d, r.ID).Run(); !reflect.DeepEqual(got, r) {
			t.Errorf("a genesis document of %d bytes is read as one of %d", len(r.Genesis), len(got.Genesis))
		}
	})
}

// TestLyingSnapshots: a snapshot that is not what its row says is an error that names the row, and takes no memory for what it claims.
func TestLyingSnapshots(t *testing.T) {
	on(t, func(t *testing.T, on database, dsn string) {
		d := open(t, dsn)
		r := newRun(1)
		create(t, d, r)
		m := maker{}
		commit(t, writer(t, d, r.ID), m.batch(10, 0))
		pack, err := zstd.NewWriter(nil)
		if err != nil {
			t.Fatal(err)
		}
		zeros := pack.EncodeAll(make([]byte, 64<<20), nil)
		good := pack.EncodeAll([]byte("the state"), nil)
		insert := "INSERT INTO snapshots (run_id, tick, world_hash, codec, state_len, state) SELECT run_id, tick, world_hash, 'zstd', CAST($1 AS bigint), $2 FROM chain_hashes WHERE tick = CAST($3 AS bigint)"
		if on.name == "postgres" {
			insert = strings.Replace(insert, "$2", "CAST($2 AS bytea)", 1)
		}
		raw := on.direct(t, dsn)
		for tick, tt := range []struct {
			name  string
			size  int64
			state []byte
			text  string
		}{
			{"good", 9, good, ""},
			{"longer than it says", 8, good, "9 bytes, not 8"},
			{"shorter than it says", 1 << 30, good, "it has 1073741824 bytes; the state of its tick has 100"},
			{"larger than any", math.MaxInt64, good, "it has 9223372036854775807 bytes; the state of its tick has 100"},
			{"a bomb", 9, zeros, "the compressed state: "},
			{"cut", 9, good[:len(good)-2], "the compressed state: "},
			{"nothing", 9, []byte{}, "0 bytes, not 9"},
			{"no zstd", 9, []byte("the state"), "the compressed state: "},
		} {
			if _, err := raw.Exec(insert, tt.size, tt.state, tick); err != nil {
				t.Fatal(err)
			}
			var before, after runtime.MemStats
			e := evidence(t, d, r.ID)
			runtime.ReadMemStats(&before)
			_, err := e.Snapshot(ctx, uint64(tick))
			runtime.ReadMemStats(&after)
			bad, ok := errors.AsType[*audit.EvidenceError](err)
			if ok != (tt.text != "") || ok && (bad.Table != "snapshots" || bad.Row != fmt.Sprintf("tick %d", tick) || !strings.Contains(bad.Reason, tt.text)) {
				t.Errorf("%s: %v, want %q", tt.name, err, tt.text)
			}
			if n := after.TotalAlloc - before.TotalAlloc; n > 16<<20 {
				t.Errorf("%s: reading it took %d MiB", tt.name, n>>20)
			}
		}
	})
}
