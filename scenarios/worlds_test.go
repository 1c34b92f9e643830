package scenarios_test

import (
	"math"
	"strings"
	"testing"

	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/fields"
	"github.com/murksim/murksim/scenarios"
	"github.com/murksim/murksim/space"
)

// run makes a scenario's world and computes some ticks.
func run(t *testing.T, name string, ticks int, sets ...string) *engine.World {
	t.Helper()
	s, err := scenarios.Open(name, sets...)
	if err != nil {
		t.Fatal(err)
	}
	w, err := s.World(2)
	if err != nil {
		t.Fatal(err)
	}
	for range ticks {
		step(t, s, w)
	}
	return w
}

func sum(w *engine.World, id fields.ID) (total float64) {
	for i := range w.Lattice().Cells() {
		total += w.Value(id, i)
	}
	return total
}

// TestCrystalConserves holds that no vapour is lost or made.
func TestCrystalConserves(t *testing.T) {
	before, after := run(t, "crystal", 0), run(t, "crystal", 300)
	want, got := sum(before, 0)+sum(before, 1), sum(after, 0)+sum(after, 1)
	if math.Abs(got-want) > 1e-5*want || sum(after, 2) < 50 {
		t.Errorf("vapour and frost are %v after %v cells froze, want %v as at the start", got, sum(after, 2), want)
	}
}

// TestFireWind lights one tree in a full forest and looks how far the fire gets, east
// and west: in a storm to the east much further there, in a calm about as far.
func TestFireWind(t *testing.T) {
	for _, tt := range []struct {
		strength string
		low      float64 // east over west
		high     float64
	}{{"1", 1.5, 10}, {"0", 0.7, 1.4}} {
		w := run(t, "fire", 60, "fields.forest.initial=[{fill: tree}, {cells: [[64, 64]], value: burning}]", "commands=[]",
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

// TestPredatorsLive holds that slots and energies stay sound, and that there is coming and going.
func TestPredatorsLive(t *testing.T) {
	w := run(t, "predators", 200)
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

// TestPinned holds that the island of the pond stays dry.
func TestPinned(t *testing.T) {
	w := run(t, "waves", 120)
	wet := 0
	for i := range w.Lattice().Cells() {
		h, v, rock := w.Value(0, i), w.Value(1, i), w.Value(2, i)
		if rock != 0 && (h != 0 || v != 0) {
			t.Errorf("rock at %v has height %v and velocity %v, want 0", w.Lattice().Coord(i), h, v)
		}
		if h != 0 {
			wet++
		}
	}
	if wet < 1000 {
		t.Errorf("the waves have reached %d cells, want 1000 at least", wet)
	}
}

// TestPinTooLarge holds that a value which a field cannot hold is refused at once.
func TestPinTooLarge(t *testing.T) {
	for value, want := range map[string]string{"1e300": "cannot hold +Inf", "2": "cannot hold 2", "1": ""} {
		s, err := scenarios.Parse("a.yaml", "", []byte(`murksim: 1
name: pinned
space: {kind: ring, length: 4}
fields: [{name: a, type: categorical, values: [off, on]}, {name: b}]
propagators: [{pin: {field: a, where: b, value: `+value+`}}]
`))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.World(1); (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("value %s: %v, want %q", value, err, want)
		}
	}
}

// TestLibrary builds the components that no embedded scenario uses.
func TestLibrary(t *testing.T) {
	const text = `murksim: 1
name: all
space: {kind: square4, rows: 6, cols: 6, edge: wrap}
fields:
  - {name: a, initial: {noise: {from: 0, to: 1}}}
  - {name: slope, type: vector(2)}
  - {name: down, type: vector(2)}
  - {name: here, initial: {cells: [[2, 2]], value: 1}}
  - {name: food, initial: 0.5}
propagators:
  - gradient: {field: a, output: slope}
  - flow: {field: a, output: down, normalise: true}
  - diffusion: {field: a, rate: 1, decay: 0.1, hold: [{cells: [[0, 0]], value: 3}]}
  - noise: {field: a, kind: gaussian, scale: 0.01}
  - resource: {field: food, presence: here, consumption: 2, regrowth: 0.5, logistic: true, capacity: 1}
expect:
  - {field: food, range: [0, 1]}
`
	s, err := scenarios.Parse("all.yaml", "", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	again, err := scenarios.FromDescriptor(s.Descriptor())
	if err != nil {
		t.Fatal(err)
	}
	var hashes []uint64
	for _, s := range []*scenarios.Scenario{s, again} {
		w, err := s.World(2)
		if err != nil {
			t.Fatal(err)
		}
		checks := scenarios.NewChecker(s, w)
		w.Watch(checks.Watch)
		for range 50 {
			step(t, s, w)
		}
		if r := checks.Results(); !r[0].OK || w.Value(4, 14) >= w.Value(4, 0) || w.Value(1, 3) == 0 {
			t.Errorf("%v; food %v where it is eaten, %v elsewhere, slope %v", r, w.Value(4, 14), w.Value(4, 0), w.Value(1, 3))
		}
		hashes = append(hashes, w.Hash())
	}
	if hashes[0] != hashes[1] {
		t.Errorf("hash %016x, from the descriptor %016x", hashes[0], hashes[1])
	}
}
