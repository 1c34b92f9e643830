package predators_test

import (
	"math"
	"testing"

	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/fields"
	"github.com/murksim/murksim/scenarios/internal/scenariotest"
)

// TestEnergyIsConserved: where nothing grows and life costs nothing, what hares graze, foxes take from hares and mothers
// share with their young only changes hands.
func TestEnergyIsConserved(t *testing.T) {
	const entities = "{capacity: 600, kinds: [hare, fox], spawn: [{kind: hare, count: 60}, {kind: fox, count: 8}]}"
	s, w := meadow(t, "{kind: square8, rows: 16, cols: 16, edge: wrap}", entities, "{name: grass, initial: {noise: {from: 0, to: 2}}}",
		"grazing: {kind: hare, energy: energy, food: grass, pace: 4, bite: 1, cost: 0, breed_at: 2}, "+
			"hunting: {kind: fox, energy: energy, prey: hare, pace: 6, catch: 2, gain: 1, cost: 0, breed_at: 4}")
	scenariotest.Step(t, s, w) // the animals come
	grass, animals := held(w)
	total := grass + animals
	most, fewer := w.Population(), 0
	for range 200 {
		before := w.Population()
		scenariotest.Step(t, s, w)
		most = max(most, w.Population())
		fewer += max(0, before-w.Population())
		if grass, animals = held(w); math.Abs(grass+animals-total) > 1e-5*total {
			t.Fatalf("tick %d: grass %v and animals %v, together %v; want %v", w.Tick(), grass, animals, grass+animals, total)
		}
	}
	if most < 100 || fewer < 20 || grass > total/4 {
		t.Errorf("at most %d lived, %d fewer in some ticks, %v grass is left: nothing was tested", most, fewer, grass)
	}
}

// held returns the energy in the grass and in the animals.
func held(w *engine.World) (grass, animals float64) {
	v := w.Snapshot()
	defer v.Release()
	for i := range v.Len(1) {
		grass += v.At(1, i)
	}
	ids, _, _ := engine.EntityColumns(2)
	for slot := range v.Len(ids) {
		if v.At(ids, slot) != 0 {
			animals += v.At(fields.ID(0), slot)
		}
	}
	return grass, animals
}
