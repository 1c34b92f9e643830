package refworld_test

import (
	"math"
	"slices"
	"testing"

	"github.com/murksim/murksim/engine/internal/refworld"
	"github.com/murksim/murksim/fields"
	"github.com/murksim/murksim/rng"
)

// A fault makes the reference wrong on purpose: its description before it is built,
// or itself before a tick's inputs are taken.
type fault struct {
	name   string
	config func(*scenario)
	tick   func(*refworld.World)
}

var faults = []fault{
	{name: "neighbours the other way round", tick: func(w *refworld.World) {
		if w.Tick()%2 == 0 { // at every second tick, lest it undo itself
			w.ReverseMoves()
		}
	}},
	{name: "one ulp in one value", config: func(s *scenario) {
		for i := range s.ref.Parts {
			s.ref.Parts[i].Run = oneUlp(s.ref.Parts[i])
		}
	}},
	{name: "a bound one ulp off", config: func(s *scenario) {
		s.ref.Fields = slices.Clone(s.ref.Fields)
		for i := range s.ref.Fields {
			if b := s.ref.Fields[i].Bounds; b != nil {
				next := math.Nextafter32(float32(b.Max), math.MaxFloat32)
				s.ref.Fields[i].Bounds = &fields.Bounds{Min: b.Min, Max: float64(next), Mode: b.Mode}
			}
		}
	}},
	{name: "one part too few", config: func(s *scenario) {
		if n := len(s.ref.Parts); n > 0 {
			s.ref.Parts = s.ref.Parts[:n-1]
		}
	}},
	{name: "another seed", config: func(s *scenario) { s.ref.Seed ^= 1 << 63 }},
	{name: "another generator", config: func(s *scenario) { s.ref.Generator ^= rng.ChaCha8 ^ rng.ChaCha20 }},
	{name: "a stream of another name", config: func(s *scenario) {
		for i := range s.ref.Parts {
			s.ref.Parts[i].Name += "'"
		}
	}},
	{name: "a step a millionth longer", config: func(s *scenario) { s.ref.Dt *= 1 + 1e-6 }},
	{name: "a handler too few", config: func(s *scenario) { s.ref.Handlers = nil }},
	{name: "a longer queue", config: func(s *scenario) { s.ref.QueueSize++ }},
	{name: "a deaf recorder", config: func(s *scenario) { s.ref.Record = nil }},
	{name: "an unknown parameter", config: func(s *scenario) { delete(s.ref.Parameters, gain) }},
	{name: "arrivals the other way round", tick: (*refworld.World).ReverseQueue},
	{name: "a lost arrival number", tick: func(w *refworld.World) {
		if w.Tick() == 2 {
			w.SkipArrival()
		}
	}},
	{name: "a lost event", tick: (*refworld.World).DropEvent},
}

// oneUlp is a part that gets one value wrong, by as little as there is.
func oneUlp(p refworld.Part) func(*refworld.Tick) error {
	return func(t *refworld.Tick) error {
		if err := p.Run(t); err != nil {
			return err
		}
		for _, id := range slices.Concat(p.Full, p.Incremental) {
			if f := t.Next(id); f.Element() == fields.Float32 && len(f.Places()) > 0 {
				at := f.Places()[0]
				f.SetFloat(at.At, at.Part, math.Nextafter32(f.Float(at.At, at.Part), 2))
				return nil
			}
		}
		return nil
	}
}

// TestFaultsAreNoticed plants each fault in the reference and sees that some world
// of few shows it, and that none does without.
func TestFaultsAreNoticed(t *testing.T) {
	const worlds, seed = 60, 1
	noticed := func(f *fault) (n, first int) {
		first = -1
		for i := range worlds {
			s := randomWorld(seed, i, nil)
			s.fault = f
			if err := compare(s, nil); err != nil {
				if n++; first < 0 {
					first = i
					t.Logf("%s: %.200v", f.name, err)
				}
			}
		}
		return n, first
	}
	if n, first := noticed(&fault{name: "none"}); n > 0 {
		t.Errorf("%d of %d worlds differ without a fault, world %d first", n, worlds, first)
	}
	for i := range faults {
		n, first := noticed(&faults[i])
		if n == 0 {
			t.Errorf("%s: not noticed in %d worlds", faults[i].name, worlds)
			continue
		}
		t.Logf("%s: noticed in %d of %d worlds, world %d first", faults[i].name, n, worlds, first)
	}
}
