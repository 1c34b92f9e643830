package scenarios_test

import (
	"testing"

	"github.com/murksim/murksim/scenarios/internal/scenariotest"
)

// TestOccupancy holds that a scenario's rule of how many may stand on a cell reaches
// its world.
func TestOccupancy(t *testing.T) {
	const text = `murksim: 1
name: crowd
ticks: 1
space: {kind: line, length: 3}
fields: [{name: a}]
entities: {capacity: 9, kinds: [x], occupancy: 2, spawn: [{kind: x, count: 9}]}
`
	s, err := scenariotest.Parse("crowd.yaml", text)
	if err != nil {
		t.Fatal(err)
	}
	w, err := s.World(1)
	if err != nil {
		t.Fatal(err)
	}
	scenariotest.Step(t, s, w)
	if n := w.Population(); n == 0 || n > 6 {
		t.Errorf("%d entities live on 3 cells, want 1 to 6", n)
	}
}
