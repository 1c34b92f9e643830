package index_test

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/replay"
	"github.com/murksim/murksim/replay/index"
)

// seldom is a condition that holds in some states, one by one and in stretches. It hangs on the state before, too, but for the first.
func seldom() (index.Condition, error) {
	before := uint64(0)
	return func(w *engine.World, first bool) (bool, error) {
		if first {
			before = 0
		}
		hash := w.Hash()
		is := (hash>>1^before>>2)%5 < 2
		before = hash
		return is, nil
	}, nil
}

// looks returns the spans of a condition, from a replay tick by tick.
func (r *recorded) looks(t *testing.T, recording []byte, conditions func() (index.Condition, error)) (list []index.Span) {
	t.Helper()
	frames, err := replay.NewReader(bytes.NewReader(recording))
	if err != nil {
		t.Fatal(err)
	}
	p, err := replay.NewPlayer(frames, r.build)
	holds, err2 := conditions()
	for first := true; err == nil && err2 == nil; err = p.Step() {
		is, wrong := holds(p.World, first)
		first = false
		switch tick, n := p.World.Tick(), len(list); {
		case wrong != nil:
			return list
		case is && n > 0 && list[n-1].Last == tick-1:
			list[n-1].Last = tick
		case is:
			list = append(list, index.Span{First: tick, Last: tick})
		}
	}
	return list
}

// finds checks that a search in parts, whose verification ended with an error or none, finds what a replay tick by tick does.
func (r *recorded) finds(t *testing.T, what string, recording []byte, x *index.Index, parallel int, ticks uint64, wrong error) {
	t.Helper()
	got, err := index.Find(bytes.NewReader(recording), int64(len(recording)), x, r.build, seldom, parallel, nil)
	want := r.looks(t, recording, seldom)
	if got.Verified.Ticks != ticks || fmt.Sprint(err) != fmt.Sprint(wrong) || !slices.Equal(got.Spans, want) {
		t.Errorf("%s, %d worlds: Find = %v, %d ticks, %v; want %v, %d ticks, %v", what, parallel, got.Spans, got.Verified.Ticks, err, want, ticks, wrong)
	}
}

// TestFindFails: an error of a condition ends the search at the first tick that has it, in any number of worlds. What was found before it is returned.
func TestFindFails(t *testing.T) {
	r := record(t, "heat", 60, index.Options{Now: ticking()}, false)
	b, enough := r.recording.Bytes(), errors.New("enough")
	conditions := func() (index.Condition, error) {
		return func(w *engine.World, first bool) (bool, error) {
			if w.Tick() >= 31 {
				return false, enough
			}
			return w.Tick()%10 < 2, nil
		}, nil
	}
	for _, parallel := range []int{1, 2, 4} {
		got, err := index.Find(bytes.NewReader(b), int64(len(b)), r.open(t), r.build, conditions, parallel, nil)
		want := []index.Span{{First: 0, Last: 1}, {First: 10, Last: 11}, {First: 20, Last: 21}, {First: 30, Last: 30}}
		if !errors.Is(err, enough) || !slices.Equal(got.Spans, want) || got.Ticks() != 7 {
			t.Errorf("%d worlds: %v, %v; want %v", parallel, got.Spans, err, want)
		}
	}
	_, err := index.Find(bytes.NewReader(b), int64(len(b)), nil, r.build, func() (index.Condition, error) { return nil, enough }, 2, nil)
	if err != enough {
		t.Errorf("Find = %v, want %v", err, enough)
	}
}

// TestFindSingle: where a part begins with a state that is not that of the run, what was looked at in the parts does not count, and Find says so.
func TestFindSingle(t *testing.T) {
	r := record(t, "heat", 60, index.Options{Now: ticking()}, false)
	b, forged := r.recording.Bytes(), withOtherStates(t, r.index.Bytes())
	x, err := index.Open(bytes.NewReader(forged), int64(len(forged)))
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		x     *index.Index
		alone bool
	}{{r.open(t), false}, {x, true}, {nil, false}} { // without an index there is one part, which is all
		looks := 0
		seldom := func() (index.Condition, error) { looks++; return seldom() }
		got, err := index.Find(bytes.NewReader(b), int64(len(b)), tt.x, r.build, seldom, 2, nil)
		if err != nil || got.Single != tt.alone || tt.x == nil && looks != 1 {
			t.Errorf("Find: single %v with %d conditions, %v; want %v", got.Single, looks, err, tt.alone)
		}
	}
}

// BenchmarkFind looks for what costs nothing, beside a verification of the same recording.
func BenchmarkFind(b *testing.B) {
	const ticks = 3000
	r := record(b, "heat", ticks, index.Options{}, false)
	recording, x := r.recording.Bytes(), r.open(b)
	b.Run("verify", func(b *testing.B) {
		for b.Loop() {
			if _, err := index.Verify(bytes.NewReader(recording), int64(len(recording)), x, r.build, 1, nil); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("find", func(b *testing.B) {
		for b.Loop() {
			never := func() (index.Condition, error) {
				return func(*engine.World, bool) (bool, error) { return false, nil }, nil
			}
			if _, err := index.Find(bytes.NewReader(recording), int64(len(recording)), x, r.build, never, 1, nil); err != nil {
				b.Fatal(err)
			}
		}
	})
}
