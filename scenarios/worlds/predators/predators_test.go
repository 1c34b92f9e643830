package predators_test

import (
	"testing"

	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/scenarios/internal/scenariotest"
)

// TestPredatorsLive holds that slots and energies stay sound, and that there is coming and going.
func TestPredatorsLive(t *testing.T) {
	w := scenariotest.Run(t, "predators", 200)
	id, kind, cell := engine.EntityColumns(2)
	alive, born := 0, 0
	for slot := range 8192 {
		entity := uint64(w.Value(id, slot))
		if entity == 0 {
			continue
		}
		alive++
		if entity>>20 > 1 {
			born++
		}
		if k, c, e := w.Value(kind, slot), w.Value(cell, slot), w.Value(1, slot); k > 1 || c < 0 || e < 0 || e > 5 {
			t.Errorf("entity %d: kind %v, cell %v, energy %v; want 0 or 1, a cell, 0 to 5", entity, k, c, e)
		}
	}
	if alive != w.Population() || born == 0 || born == alive {
		t.Errorf("%d live of %d counted, %d of them born on the way; want all, and some but not all", alive, w.Population(), born)
	}
}
