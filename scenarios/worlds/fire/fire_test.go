package fire_test

import (
	"math"
	"testing"

	"github.com/murksim/murksim/scenarios/internal/scenariotest"
	"github.com/murksim/murksim/space"
)

// TestFireWind lights one tree in a full forest and looks how far the fire gets, east
// and west: in a storm to the east much further there, in a calm about as far.
func TestFireWind(t *testing.T) {
	for _, tt := range []struct {
		strength string
		low      float64 // east over west
		high     float64
	}{{"1", 1.5, 10}, {"0", 0.7, 1.4}} {
		w := scenariotest.Run(t, "fire", 60, "fields.forest.initial=[{fill: tree}, {cells: [[64, 64]], value: burning}]", "commands=[]",
			"parameters={wind: 0, strength: "+tt.strength+"}", "propagators.forest_fire.lightning=0", "propagators.forest_fire.growth=0", "expect=[]")
		extent := func(step int32) (n float64) {
			for q := int32(64); q >= 0 && q < 128; q += step {
				if rank, ok := w.Lattice().Rank(space.At(q, 64)); ok && w.Value(0, rank) != 1 {
					n = math.Abs(float64(q - 64))
				}
			}
			return n
		}
		if east, west := extent(1), extent(-1); east < 5 || east/west < tt.low || east/west > tt.high {
			t.Errorf("strength %s: it burnt %v cells east and %v west, want a ratio of %v to %v", tt.strength, east, west, tt.low, tt.high)
		}
	}
}
