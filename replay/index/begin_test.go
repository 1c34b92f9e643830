package index_test

import (
	"bytes"
	"errors"
	"slices"
	"testing"

	"github.com/murksim/murksim/replay"
	"github.com/murksim/murksim/replay/index"
)

// recordFrom records a scenario up to a tick, and from the state there on.
func recordFrom(t *testing.T, name string, begin, ticks uint64) (whole, rest *recorded) {
	t.Helper()
	first := record(t, name, begin, index.Options{Now: ticking()}, false)
	rest = &recorded{scenario: first.scenario, state: first.last}
	rest.run(t, ticks, index.Options{Now: ticking()}, true)
	return record(t, name, ticks, index.Options{Now: ticking()}, false), rest
}

// TestBegin holds that the index of a recording that begins at a state leads to each of its
// ticks and to no other, knows its frames and the digests of the run in one go, and lets its
// parts be verified.
func TestBegin(t *testing.T) {
	const begin, ticks = 40, 100
	for _, name := range []string{"heat", "predators", "colony"} {
		whole, rest := recordFrom(t, name, begin, ticks)
		if !bytes.Equal(whole.last, rest.last) {
			t.Errorf("%s: the last state is another one", name)
		}
		x := rest.open(t)
		if x.Begin != begin || x.Last != ticks || !x.Complete || x.Cut != nil || len(x.Keyframes()) == 0 {
			t.Fatalf("%s: the index begins after tick %d and ends with %d, complete: %v, cut: %v, %d keyframes; want %d and %d", name, x.Begin, x.Last, x.Complete, x.Cut, len(x.Keyframes()), begin, ticks)
		}
		each := uint64(4)
		if testing.Short() {
			each = 10
		}
		for tick := uint64(begin); tick <= ticks; tick += each {
			p, err := rest.seek(x, tick)
			if err != nil {
				t.Fatalf("%s: tick %d: %v", name, tick, err)
			}
			if p.World.Tick() != tick || tick > begin && p.World.Hash() != whole.hashes[tick] {
				t.Fatalf("%s: at tick %d with hash %016x, want %d, %016x", name, p.World.Tick(), p.World.Hash(), tick, whole.hashes[tick])
			}
			if n, err := p.Verify(); n != ticks-tick || err != nil {
				t.Fatalf("%s: from tick %d: %d ticks match, %v; want %d", name, tick, n, err, ticks-tick)
			}
		}
		for _, tick := range []uint64{0, 1, begin - 1, ticks + 1} {
			if _, err := rest.seek(x, tick); !errors.Is(err, index.ErrNoTick) {
				t.Errorf("%s: Seek(%d) = %v, want %v", name, tick, err, index.ErrNoTick)
			}
			if _, err := x.Frame(tick); !errors.Is(err, index.ErrNoTick) {
				t.Errorf("%s: Frame(%d) = %v, want %v", name, tick, err, index.ErrNoTick)
			}
		}
		rest.knowsFrames(t, x, whole.open(t))
		b, idx := rest.recording.Bytes(), rest.index.Bytes()
		rest.agrees(t, name, b, idx)
		rest.agrees(t, name+" with other states in the index", b, withOtherStates(t, idx))
		damaged := bytes.Clone(b)
		damaged[len(b)-300] ^= 1
		rest.agrees(t, name+" with a damaged frame", damaged, idx)
		if err := x.Belongs(&replay.Header{Descriptor: rest.scenario.Descriptor()}); !errors.Is(err, index.ErrOther) {
			t.Errorf("%s: Belongs = %v, want %v", name, err, index.ErrOther)
		}
		rd, err := replay.NewReader(bytes.NewReader(b))
		if err != nil {
			t.Fatal(err)
		}
		for _, tick := range []uint64{begin, 0, begin - 1, begin + 1} {
			if x.Begin = tick; errors.Is(x.Belongs(&rd.Header), index.ErrOther) != (tick != begin) {
				t.Errorf("%s: Belongs = %v if the index begins after tick %d", name, x.Belongs(&rd.Header), tick)
			}
		}
	}
}

// knowsFrames checks where an index says that frames are, and that their digests are those of
// the run in one go.
func (r *recorded) knowsFrames(t *testing.T, x, whole *index.Index) {
	t.Helper()
	rd, err := replay.NewReader(bytes.NewReader(r.recording.Bytes()))
	if err != nil {
		t.Fatal(err)
	}
	for tick := x.Begin + 1; tick <= x.Last; tick++ {
		var f replay.Frame
		if err := rd.Next(&f); err != nil {
			t.Fatal(err)
		}
		if got, err := x.Frame(tick); err != nil || got != f.Position {
			t.Fatalf("Frame(%d) = %+v, %v; want %+v", tick, got, err, f.Position)
		}
		if got, err := x.Hash(tick); err != nil || got != f.Hash {
			t.Fatalf("Hash(%d) = %016x, %v; want %016x", tick, got, err, f.Hash)
		}
		got, want := make([]uint64, len(x.Fields)), make([]uint64, len(x.Fields))
		if err := errors.Join(x.Digests(tick, got), whole.Digests(tick, want)); err != nil || !slices.Equal(got, want) {
			t.Fatalf("tick %d: digests %x, %v; want %x", tick, got, err, want)
		}
	}
	for _, tick := range x.Keyframes() {
		k, err := x.Keyframe(tick)
		if err != nil || k.Next.Frame != int(tick-x.Begin) {
			t.Fatalf("Keyframe(%d): the next frame is %+v, %v; want that with the index %d", tick, k.Next, err, tick-x.Begin)
		}
	}
}

// TestBeginResumed holds that an index that was cut off anywhere can be continued, also
// before its first chunk.
func TestBeginResumed(t *testing.T) {
	const begin, ticks = 30, 60
	_, rest := recordFrom(t, "predators", begin, ticks)
	idx := rest.index.Bytes()
	for n := len(idx); n > 0; n -= len(idx)/9 + 1 {
		x, err := index.Open(bytes.NewReader(idx[:n]), int64(n))
		if err != nil {
			continue // in the header
		}
		last, length := x.Prefix(ticks)
		p, err := rest.seek(nil, last)
		if err != nil {
			t.Fatalf("cut at %d: Prefix = %d: %v", n, last, err)
		}
		again := bytes.NewBuffer(bytes.Clone(idx[:length]))
		played := &frames{
			world: p.World, end: func() int64 { return p.Frame().Position.Offset + p.Frame().Position.Size },
			hash: func() uint64 { return p.Frame().Hash },
		}
		rec, err := index.ResumeRecorder(again, p.World, p.Source.Head(), x, played, index.Options{Now: ticking()})
		if err != nil {
			t.Fatalf("cut at %d: %v", n, err)
		}
		p.World.Record(rec)
		if _, err := p.Verify(); err != nil {
			t.Fatal(err)
		}
		if err := rec.Close(); err != nil {
			t.Fatal(err)
		}
		whole := &recorded{scenario: rest.scenario, state: rest.state}
		whole.index.Write(again.Bytes())
		y := whole.open(t)
		if y.Begin != begin || y.Last != ticks || !y.Complete {
			t.Errorf("cut at %d: the index ends with tick %d, complete: %v; want %d", n, y.Last, y.Complete, ticks)
		}
		rest.knowsFrames(t, y, rest.open(t))
	}
}

// TestBeginRebuilt makes the index of a recording that has none.
func TestBeginRebuilt(t *testing.T) {
	_, rest := recordFrom(t, "heat", 20, 50)
	p, err := rest.seek(nil, 20)
	if err != nil {
		t.Fatal(err)
	}
	var again recorded
	if n, err := index.Rebuild(&again.index, p, 0, key); n != 30 || err != nil {
		t.Fatalf("Rebuild = %d, %v; want 30", n, err)
	}
	x := again.open(t)
	if !x.Rebuilt || x.Begin != 20 || x.Last != 50 || x.Belongs(p.Source.Head()) != nil {
		t.Errorf("the index begins after tick %d and ends with %d, rebuilt: %v; want 20, 50 and true", x.Begin, x.Last, x.Rebuilt)
	}
	rest.knowsFrames(t, x, rest.open(t))
}
