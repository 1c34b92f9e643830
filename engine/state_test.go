package engine_test

import (
	"testing"

	"github.com/murksim/murksim/commands"
	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/fields"
)

// A state is what a world is made of, but for world.rest.
type state struct {
	fields     []uint64 // hashes
	parameters [2]float64
	population int
	pending    int
}

func stateOf(w *engine.World) state {
	s := state{population: w.Population(), pending: w.Pending()}
	for i := range w.Defs()[:len(w.Defs())-1] {
		s.fields = append(s.fields, w.FieldHash(fields.ID(i)))
	}
	s.parameters[0], _ = w.Parameter(zooRate)
	s.parameters[1], _ = w.Parameter(zooGain)
	return s
}

// wantSame checks that nothing but world.rest changed.
func wantSame(t testing.TB, w *engine.World, want state) {
	t.Helper()
	got := stateOf(w)
	for i, h := range got.fields {
		if h != want.fields[i] {
			t.Errorf("field %q changed: %v", w.Defs()[i].Name, values(w, fields.ID(i)))
		}
	}
	if got.parameters != want.parameters || got.population != want.population || got.pending != want.pending {
		t.Errorf("parameters %v, population %d, %d events, want %v, %d, %d",
			got.parameters, got.population, got.pending, want.parameters, want.population, want.pending)
	}
}

// equal steps both worlds with the same commands and compares their hashes.
func equal(t testing.TB, a, b *engine.World, list ...commands.Command) {
	t.Helper()
	step(t, a, list...)
	step(t, b, list...)
	if a.Hash() != b.Hash() {
		t.Errorf("tick %d: hashes %016x and %016x differ", a.Tick(), a.Hash(), b.Hash())
		for i, d := range a.Defs() {
			if id := fields.ID(i); a.FieldHash(id) != b.FieldHash(id) {
				t.Errorf("field %q: %v and %v", d.Name, values(a, id), values(b, id))
			}
		}
	}
}
