package crystal_test

import (
	"math"
	"testing"

	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/fields"
	"github.com/murksim/murksim/scenarios/internal/scenariotest"
)

// TestCrystalConserves holds that no vapour is lost or made.
func TestCrystalConserves(t *testing.T) {
	before, after := scenariotest.Run(t, "crystal", 0), scenariotest.Run(t, "crystal", 300)
	want, got := sum(before, 0)+sum(before, 1), sum(after, 0)+sum(after, 1)
	if math.Abs(got-want) > 1e-5*want || sum(after, 2) < 50 {
		t.Errorf("vapour and frost are %v after %v cells froze, want %v as at the start", got, sum(after, 2), want)
	}
}

func sum(w *engine.World, id fields.ID) (total float64) {
	for i := range w.Lattice().Cells() {
		total += w.Value(id, i)
	}
	return total
}
