package audit_test

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"iter"
	"math"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/replay/audit"
	"github.com/murksim/murksim/runner"
	"github.com/murksim/murksim/scenarios"
	"github.com/murksim/murksim/scenarios/worlds"
)

// kept is a run in memory.
type kept struct {
	mu        sync.Mutex
	run       audit.Run
	inputs    []audit.Input
	links     []audit.Link
	snapshots []audit.Snapshot
	halt      *audit.Halt
	batches   int
	fails     uint64 // the commit of this tick; 0: none
}

var errFull = errors.New("the disk is full")

func (k *kept) Commit(_ context.Context, b *audit.Batch) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	if last := b.Links[len(b.Links)-1].Tick; k.fails > 0 && last >= k.fails {
		return errFull
	}
	k.batches++
	k.inputs = append(k.inputs, b.Inputs...)
	for _, l := range b.Links {
		l.Digests = slices.Clone(l.Digests) // the batch will be changed
		k.links = append(k.links, l)
	}
	k.snapshots = append(k.snapshots, b.Snapshots...)
	return nil
}

func (k *kept) Run() *audit.Run { return &k.run }

func (k *kept) Inputs(_ context.Context, after uint64) iter.Seq2[*audit.Input, error] {
	return func(yield func(*audit.Input, error) bool) {
		for i := range k.inputs {
			if x := k.inputs[i]; x.Seq > after && !yield(&x, nil) {
				return
			}
		}
	}
}

func (k *kept) Links(_ context.Context, from uint64) iter.Seq2[*audit.Link, error] {
	return func(yield func(*audit.Link, error) bool) {
		for i := range k.links {
			if x := k.links[i]; x.Tick >= from && !yield(&x, nil) {
				return
			}
		}
	}
}

func (k *kept) Snapshots(context.Context) (ticks []uint64, err error) {
	for i := range k.snapshots {
		ticks = append(ticks, k.snapshots[i].Tick)
	}
	return ticks, nil
}

func (k *kept) Snapshot(_ context.Context, tick uint64) (*audit.Snapshot, error) {
	i := slices.IndexFunc(k.snapshots, func(s audit.Snapshot) bool { return s.Tick == tick })
	return &k.snapshots[i], nil
}

func (k *kept) Halt(context.Context) (*audit.Halt, error) { return k.halt, nil }

// clone copies a run, so that it can be tampered with.
func (k *kept) clone() *kept {
	c := &kept{run: k.run, links: slices.Clone(k.links)}
	for _, x := range k.inputs {
		x.Payload = slices.Clone(x.Payload)
		c.inputs = append(c.inputs, x)
	}
	for _, x := range k.snapshots {
		x.State = slices.Clone(x.State)
		c.snapshots = append(c.snapshots, x)
	}
	return c
}

func world(t testing.TB, name string, sets ...string) (*scenarios.Scenario, *engine.World) {
	t.Helper()
	s, err := worlds.Open(worlds.Registry(), name, sets...)
	if err != nil {
		t.Fatal(err)
	}
	w, err := s.World(1)
	if err != nil {
		t.Fatal(err)
	}
	return s, w
}

// record runs a scenario with its audit.
func record(t testing.TB, name string, every uint64, sets ...string) *kept {
	t.Helper()
	s, w := world(t, name, sets...)
	return recordWorld(t, s, w, every)
}

// recordWorld runs a world of a scenario with its audit.
func recordWorld(t testing.TB, s *scenarios.Scenario, w *engine.World, every uint64) *kept {
	t.Helper()
	return recordAs(t, s, w, s.Descriptor(), every)
}

// recordAs is recordWorld with a genesis document, such as that of a fork.
func recordAs(t testing.TB, s *scenarios.Scenario, w *engine.World, genesis []byte, every uint64) *kept {
	t.Helper()
	k := &kept{run: audit.Run{
		Seed: s.Seed, Rate: must(audit.RateOf(s.TickRate)), Rules: engine.RulesVersion, Format: audit.StateFormat, Generator: s.Generator,
		Genesis: genesis, Digest: sha256.Sum256(genesis),
	}}
	r, err := audit.NewRecorder(k, w, genesis, every)
	if err != nil {
		t.Fatal(err)
	}
	w.Record(r)
	run := runner.Run{Scenario: s, World: w}
	if err := errors.Join(run.To(t.Context(), s.Ticks), r.Close()); err != nil {
		t.Fatal(err)
	}
	return k
}

// rerun computes a run again, from a snapshot unless its tick is 0.
func rerun(t testing.TB, k *kept, name string, from uint64, sets ...string) error {
	t.Helper()
	s, w := world(t, name, sets...)
	r := &audit.Rerun{Evidence: k, World: w, Descriptor: s.Descriptor(), To: s.Ticks}
	if from > 0 {
		x, head, err := audit.Open(t.Context(), k, from)
		if err != nil {
			return err
		}
		if r.World, err = s.Restore(1, x.State, nil); err != nil {
			t.Fatal(err)
		}
		r.From = head
	}
	if from == 0 { // the second time it need not read the links again
		err := r.Run(t.Context())
		if found, wrong := audit.Check(t.Context(), k); wrong == nil {
			_, w = world(t, name, sets...)
			again := (&audit.Rerun{Evidence: k, World: w, Descriptor: s.Descriptor(), To: s.Ticks, Hashes: found.Hashes}).Run(t.Context())
			if fmt.Sprint(again) != fmt.Sprint(err) {
				t.Errorf("with the hashes of the check: %v, without: %v", again, err)
			}
		}
		return err
	}
	return r.Run(t.Context())
}

// TestRecorder holds that the chain of a run is that of its saved states, that it can be checked and computed again, from genesis and from
// each snapshot.
func TestRecorder(t *testing.T) {
	for _, name := range []string{"heat", "predators", "colony"} {
		sets := []string{"ticks=130", "expect=[]"}
		k := record(t, name, 50, sets...)
		s, w := world(t, name, sets...)
		run := runner.Run{Scenario: s, World: w}
		var prev audit.Hash
		for i := range k.links {
			l := &k.links[i]
			if err := run.To(t.Context(), uint64(i)); err != nil {
				t.Fatal(err)
			}
			state, err := w.Save(s.Descriptor())
			if err != nil {
				t.Fatal(err)
			}
			want, err := audit.NewLink(prev, state)
			if err != nil {
				t.Fatal(err)
			}
			want.InputSeq, want.InputHash = l.InputSeq, l.InputHash
			if !reflect.DeepEqual(l, want) {
				t.Fatalf("%s: link %d is %+v, want %+v", name, i, l, want)
			}
			prev = l.Hash
		}
		ticks, _ := k.Snapshots(t.Context())
		if len(k.links) != 131 || !slices.Equal(ticks, []uint64{0, 50, 100, 130}) {
			t.Errorf("%s: %d links, snapshots of %v", name, len(k.links), ticks)
		}
		found, err := audit.Check(t.Context(), k)
		if err != nil || found.Hash != prev || found.Ticks != 131 || found.Inputs != uint64(len(k.inputs)) || len(found.Refused) > 0 {
			t.Errorf("%s: the evidence: %+v, %v", name, found, err)
		}
		for _, from := range ticks {
			if err := rerun(t, k, name, from, sets...); err != nil {
				t.Errorf("%s from tick %d: %v", name, from, err)
			}
		}
	}
}

// TestFault holds that a change of one state is found in its tick, also if the chain after it was computed anew.
func TestFault(t *testing.T) {
	sets := []string{"ticks=60", "expect=[]"}
	k := record(t, "heat", 20, sets...)
	bad := k.clone()
	bad.links[33].Digests = slices.Clone(bad.links[33].Digests)
	bad.links[33].Digests[2].Sum[0] ^= 1
	for i := 33; i < len(bad.links); i++ {
		bad.links[i].Prev = bad.links[i-1].Hash
		bad.links[i].Rehash()
	}
	bad.snapshots = nil
	if _, err := audit.Check(t.Context(), bad); err != nil {
		t.Fatalf("the evidence: %v", err)
	}
	err := rerun(t, bad, "heat", 0, sets...)
	d, ok := errors.AsType[*audit.DivergenceError](err)
	if !ok || d.Tick != 33 || d.Calculated != k.links[33].Hash || d.Expected != bad.links[33].Hash || !slices.Equal(d.Sections, []uint16{3}) {
		t.Errorf("%v", err)
	}
	if err := rerun(t, k, "heat", 0, "ticks=60", "expect=[]", "propagators.diffusion.rate=3.9"); err == nil || !strings.Contains(err.Error(), "tick 0 has hash") {
		t.Errorf("another genesis: %v", err)
	}
}

// TestEvidence holds that whatever is changed in the rows is found, and named.
func TestEvidence(t *testing.T) {
	k := record(t, "heat", 50, "ticks=220", "expect=[]")
	if len(k.inputs) < 60 {
		t.Fatalf("only %d inputs", len(k.inputs))
	}
	rehash := func(b *kept) {
		var c audit.Events
		for i := range b.inputs {
			x := &b.inputs[i]
			x.Seq, x.Prev = c.Seq+1, c.Hash
			if err := c.Add(&x.Event); err != nil {
				t.Fatal(err)
			}
			x.Hash = c.Hash
		}
	}
	first := int(k.inputs[0].Tick)
	for _, tt := range []struct {
		what string
		do   func(*kept)
		want string
	}{
		{"an input is lost", func(b *kept) { b.inputs = slices.Delete(b.inputs, 5, 6) }, "input_events, seq 7: it stands on"},
		{"the last input is lost", func(b *kept) { b.inputs = b.inputs[:len(b.inputs)-1] }, fmt.Sprintf("chain_hashes, tick %d: its last input is", k.inputs[len(k.inputs)-1].Tick)},
		{"an input is doubled", func(b *kept) { b.inputs = slices.Insert(b.inputs, 5, b.inputs[4]) }, "input_events, seq 5: it stands on"},
		{"inputs are exchanged", func(b *kept) { b.inputs[3], b.inputs[4] = b.inputs[4], b.inputs[3] }, "input_events, seq 5: it stands on"},
		{"an input is changed", func(b *kept) { b.inputs[3].Payload[9] ^= 1 }, "input_events, seq 4: its hash is"},
		{"an input moves", func(b *kept) { b.inputs[len(b.inputs)-1].Tick++ }, fmt.Sprintf("input_events, seq %d: its hash is", len(k.inputs))},
		{"an input moves back", func(b *kept) { b.inputs[30].Tick = uint64(first) - 1 }, "input_events, seq 31: it is of tick"},
		{"all events are hashed anew", func(b *kept) { b.inputs[3].Payload[9] ^= 1; rehash(b) }, fmt.Sprintf("chain_hashes, tick %d: its inputs have the hash", first)},
		{"one less, hashed anew", func(b *kept) { b.inputs = b.inputs[1:]; rehash(b) }, fmt.Sprintf("chain_hashes, tick %d: its last input is", first)},
		{"an input after the end", func(b *kept) {
			b.inputs[len(b.inputs)-1].Tick = 900
			rehash(b)
			b.links[k.inputs[len(k.inputs)-1].Tick].InputSeq--
		}, "chain_hashes, tick"},
		{"a hash is changed", func(b *kept) { b.links[70].Hash[3] ^= 8 }, "chain_hashes, tick 70: its hash is"},
		{"the last hash is changed", func(b *kept) { b.links[220].Hash[3] ^= 8 }, "chain_hashes, tick 220: its hash is"},
		{"a digest is changed", func(b *kept) {
			b.links[70].Digests = slices.Clone(b.links[70].Digests)
			b.links[70].Digests[4].Sum[9] ^= 8
		}, "chain_hashes, tick 70: its hash is"},
		{"a link is removed", func(b *kept) { b.links = slices.Delete(b.links, 70, 71) }, "chain_hashes, tick 70: it is missing; tick 71 follows"},
		{"the first link is removed", func(b *kept) { b.links = b.links[1:] }, "chain_hashes, tick 0: it is missing"},
		{"all links are removed", func(b *kept) { b.links = nil }, "chain_hashes, tick 0: it is missing, as are all others"},
		{"a link is doubled", func(b *kept) { b.links = slices.Insert(b.links, 70, b.links[70]) }, "chain_hashes, tick 71: it is missing; tick 70 follows"},
		{"links are exchanged", func(b *kept) { b.links[70], b.links[71] = b.links[71], b.links[70] }, "chain_hashes, tick 70: it is missing; tick 71 follows"},
		{"the first stands on something", func(b *kept) { b.links[0].Prev[0] = 1 }, "chain_hashes, tick 0: it is the first"},
		{"genesis is changed", func(b *kept) { b.run.Genesis = append(slices.Clone(b.run.Genesis), ' ') }, "runs, 00000000-0000-0000-0000-000000000000: its genesis has another SHA-256"},
		{"a first tick that is none", func(b *kept) { b.run.First = audit.MaxTick + 1 }, "its first tick is 9223372036854775808"},
		{"another format", func(b *kept) { b.run.Format = 9 }, "its states have format 9"},
		{"a snapshot is changed", func(b *kept) { b.snapshots[2].State[100] ^= 1 }, "snapshots, tick 100: it is not the state of its tick"},
		{"snapshots are exchanged", func(b *kept) { x, y := &b.snapshots[1], &b.snapshots[2]; x.State, y.State = y.State, x.State }, "snapshots, tick 50: it is not the state of its tick"},
		{"a snapshot is cut", func(b *kept) { b.snapshots[2].State = b.snapshots[2].State[:99] }, "snapshots, tick 100: it has 99 bytes"},
		{"a snapshot of no tick", func(b *kept) { b.snapshots[4].Tick = 900 }, "snapshots, tick 900: there is no such tick"},
	} {
		b := k.clone()
		tt.do(b)
		found, err := audit.Check(t.Context(), b)
		if err == nil && len(found.Refused) > 0 {
			err = found.Refused[0]
		}
		if e, ok := errors.AsType[*audit.EvidenceError](err); !ok || !strings.Contains(e.Error(), tt.want) {
			t.Errorf("%s: %v, want %q", tt.what, err, tt.want)
		}
	}
	bad := k.clone()
	bad.snapshots[1].State[70] ^= 1
	if err := rerun(t, bad, "heat", 0, "ticks=220", "expect=[]"); err != nil {
		t.Errorf("from genesis, with a snapshot that is changed: %v", err)
	}
	if err := rerun(t, bad, "heat", 50, "ticks=220", "expect=[]"); err == nil || !strings.Contains(err.Error(), "it is not the state of its tick") {
		t.Errorf("from a snapshot that is changed: %v", err)
	}
}

// TestCommitFails holds that a run whose store fails ends, and says which ticks are committed.
func TestCommitFails(t *testing.T) {
	s, w := world(t, "heat")
	k := &kept{fails: 700}
	r, err := audit.NewRecorder(k, w, s.Descriptor(), 0)
	if err != nil {
		t.Fatal(err)
	}
	w.Record(r)
	run := runner.Run{Scenario: s, World: w}
	err = errors.Join(run.To(t.Context(), s.Ticks), r.Close())
	commit, ok := errors.AsType[*audit.CommitError](err)
	if !ok || !errors.Is(err, errFull) || commit.Committed != int64(k.links[len(k.links)-1].Tick) || commit.Committed >= 700 {
		t.Errorf("%v; the store has %d ticks", err, len(k.links))
	}
	if ahead := int64(w.Tick()) - commit.Committed; ahead > audit.MaxHashing+audit.MaxUncommitted+1 {
		t.Errorf("the world went on for %d ticks", ahead)
	}
}

// TestFlush holds that what was flushed is committed, and that the chain goes on behind it.
func TestFlush(t *testing.T) {
	s, w := world(t, "heat", "ticks=40", "expect=[]")
	k := new(kept)
	r, err := audit.NewRecorder(k, w, s.Descriptor(), 0)
	if err != nil {
		t.Fatal(err)
	}
	w.Record(r)
	run := runner.Run{Scenario: s, World: w}
	for tick := uint64(10); tick <= 40; tick += 10 {
		if err := errors.Join(run.To(t.Context(), tick), r.Flush()); err != nil || r.Committed() != int64(tick) || len(k.links) != int(tick)+1 {
			t.Errorf("tick %d: %v; committed is %d, the store has %d links", tick, err, r.Committed(), len(k.links))
		}
	}
	if err := r.Close(); err != nil {
		t.Error(err)
	}
	if k = record(t, "heat", 0, "ticks=10", "expect=[]"); len(k.snapshots) > 0 {
		t.Errorf("%d snapshots, of which the recorder was to keep none", len(k.snapshots))
	}
}

func TestRate(t *testing.T) {
	for rate, want := range map[float64]audit.Rate{20: {20, 1}, 0.5: {1, 2}, 29.97: {2997, 100}, 1e9: {1000000000, 1}, 1e-9: {1, 1000000000}} {
		if got, err := audit.RateOf(rate); err != nil || got != want {
			t.Errorf("%v is %v, %v; want %v", rate, got, err, want)
		}
	}
	for _, rate := range []float64{0, -1, math.Inf(1), math.NaN(), 1e300} {
		if got, err := audit.RateOf(rate); err == nil {
			t.Errorf("%v is %v", rate, got)
		}
	}
}

// A turncoat is evidence that answers differently from read to read.
type turncoat struct {
	*kept
	second *kept // from the second list of inputs on
	lists  int
}

func (x *turncoat) Inputs(ctx context.Context, after uint64) iter.Seq2[*audit.Input, error] {
	if x.lists++; x.lists > 1 {
		return x.second.Inputs(ctx, after)
	}
	return x.kept.Inputs(ctx, after)
}

// TestOtherInputs holds that a rerun with other inputs than those that were checked is no proof of these, though it comes to the same states.
func TestOtherInputs(t *testing.T) {
	sets := []string{"ticks=220", "expect=[]"}
	honest := record(t, "heat", 0, sets...)
	forged := honest.clone()
	last := &forged.inputs[len(forged.inputs)-1]
	last.Payload[9] ^= 1
	e := audit.Events{Seq: last.Seq - 1, Tick: last.Tick, Hash: last.Prev}
	if err := e.Add(&last.Event); err != nil {
		t.Fatal(err)
	}
	last.Hash = e.Hash
	for i := range forged.links {
		if l := &forged.links[i]; l.InputSeq == last.Seq {
			l.InputHash = last.Hash
		}
	}
	for _, keep := range []bool{true, false} {
		x := &turncoat{kept: forged, second: honest}
		found, err := audit.Check(t.Context(), x)
		if err != nil {
			t.Fatal(err)
		}
		s, w := world(t, "heat", sets...)
		r := &audit.Rerun{Evidence: x, World: w, Descriptor: s.Descriptor(), To: s.Ticks}
		if keep {
			r.Hashes = found.Hashes
		}
		want := fmt.Sprintf("chain_hashes, tick %d: the inputs up to it have the hash ", last.Tick)
		if err := r.Run(t.Context()); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("with the hashes of the check %t: %v, want %s", keep, err, want)
		}
	}
}

// TestAgain holds that a checker sees what was changed of that which it has checked.
func TestAgain(t *testing.T) {
	k := record(t, "heat", 0, shortHeat...)
	s, w := otherHeat(t, planted{by: at(5, 1)}, shortHeat...)
	for _, tt := range []struct {
		what, want string
		do         func(*kept)
		check      bool // the next check sees it, too
	}{
		{"nothing", "", func(*kept) {}, false},
		{"the seed", "runs, ", func(b *kept) { b.run.Seed++ }, true},
		{"the genesis", "runs, ", func(b *kept) { b.run.Genesis = nil }, true},
		{"an input", "input_events, seq 1: ", func(b *kept) { b.inputs[0].Payload[9] ^= 1 }, false},
		{"a link", "chain_hashes, tick 10: ", func(b *kept) { b.links[10].StateLen++ }, false},
		{"another chain", "chain_hashes, tick 120: ", func(b *kept) {
			other := recordWorld(t, s, w, 0)
			b.links, b.inputs = other.links, other.inputs
		}, false},
	} {
		b := k.clone()
		var c audit.Checker
		if _, err := c.Check(t.Context(), b); err != nil {
			t.Fatal(err)
		}
		tt.do(b)
		if _, err := c.Again(t.Context(), b); fmt.Sprint(err) != "<nil>" != (tt.want != "") || tt.want != "" && !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %q", tt.what, err, tt.want)
		}
		if _, err := c.Check(t.Context(), b); (err != nil) != tt.check {
			t.Errorf("%s: the next check gives %v", tt.what, err)
		}
	}
}
