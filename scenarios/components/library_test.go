package components_test

import (
	"reflect"
	"testing"

	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/engine/propagators"
	"github.com/murksim/murksim/fields"
	"github.com/murksim/murksim/scenarios"
	"github.com/murksim/murksim/scenarios/internal/scenariotest"
)

// TestLibraryKeys holds that every key of a kind of the library comes to where it belongs in
// the propagator: no value is the default, and no two numbers of a kind are alike.
func TestLibraryKeys(t *testing.T) {
	const a, b, c, k, pair = 0, 1, 2, 3, 4
	id := func(f fields.ID) *fields.ID { return &f }
	number := func(v float64) *float64 { return &v }
	for _, tt := range []struct {
		yaml string
		want engine.Propagator
	}{
		{"diffusion: {field: a, rate: 1, decay: 2, blocked_by: b, min: 3, max: 4, output: c, gradient: pair}", propagators.Diffusion{
			Name: "diffusion", Field: a, Rate: 1, Decay: 2, BlockedBy: id(b), Min: number(3), Max: number(4), Output: id(c), Gradient: id(pair),
		}},
		{"wave: {displacement: a, velocity: b, speed: 1, damping: 2}", propagators.Wave{
			Name: "wave", Displacement: a, Velocity: b, Speed: 1, Damping: 2,
		}},
		{"flow: {field: b, output: pair, normalise: true}", propagators.Flow{
			Name: "flow", Field: b, Output: pair, Normalise: true,
		}},
		{"resource: {field: a, presence: b, consumption: 1, regrowth: 2, logistic: true, capacity: 3}", propagators.Resource{
			Name: "resource", Field: a, Presence: id(b), Consumption: 1, Regrowth: 2, Logistic: true, Capacity: 3,
		}},
		{"movement: {agents: b, actions: k, blocked_by: c, keep: true}", propagators.Movement{
			Name: "movement", Agents: b, Actions: k, BlockedBy: id(c), Keep: true,
		}},
		{"emission: {presence: b, field: c, intensity: 2, set: true}", propagators.Emission{
			Name: "emission", Presence: b, Field: c, Intensity: 2, Set: true,
		}},
		{"reward: {heat: b, presence: c, field: a, heat_bonus: 2, step_cost: 3}", propagators.Reward{
			Name: "reward", Heat: b, Presence: c, Field: a, HeatBonus: 2, StepCost: 3,
		}},
		{"morphology: {field: b, output: c, op: erode, radius: 2, threshold: 3}", propagators.Morphology{
			Name: "morphology", Field: b, Output: c, Op: propagators.Erode, Radius: 2, Threshold: 3,
		}},
		{"copy: {field: b, output: c, now: true}", propagators.Copy{
			Name: "copy", Field: b, Output: c, Now: true,
		}},
		{"gray_scott: {u: b, v: c, diff_u: 0.1, diff_v: 0.2, feed: 0.3, kill: 0.4}", propagators.GrayScott{
			Name: "gray_scott", U: b, V: c, DiffU: 0.1, DiffV: 0.2, Feed: 0.3, Kill: 0.4,
		}},
		{"shallow_water: {depth: b, flux: pair, bed: c, gravity: 1, drag: 2, viscosity: 3, max_depth: 4}", propagators.ShallowWater{
			Name: "shallow_water", Depth: b, Flux: pair, Bed: id(c), Gravity: 1, Drag: 2, Viscosity: 3, MaxDepth: 4,
		}},
		{"advection: {field: b, velocity: pair, max_speed: 2}", propagators.Advection{
			Name: "advection", Field: b, Velocity: pair, MaxSpeed: 2,
		}},
		{"majority: {field: b, states: 3, self: true, ties: lowest, noise: 0.5}", propagators.Majority{
			Name: "majority", Field: b, States: 3, Self: true, Ties: propagators.TakeLowest, Noise: 0.5,
		}},
		{"percolation: {field: b, open_in: c}", propagators.Percolation{
			Name: "percolation", Field: b, OpenIn: id(c),
		}},
		{"percolation: {field: b, open: 0.5}", propagators.Percolation{
			Name: "percolation", Field: b, Open: 0.5,
		}},
		{"distance: {source: b, blocks: c, distance: a, limit: 2, far: 3}", propagators.Distance{
			Name: "distance", Source: b, Blocks: id(c), Distance: a, Limit: 2, Far: 3,
		}},
		{"sight: {viewer: b, blocks: c, visible: a, radius: 2}", propagators.Sight{
			Name: "sight", Viewer: b, Blocks: id(c), Visible: a, Radius: 2,
		}},
	} {
		s, err := scenariotest.Parse("a.yaml", `murksim: 1
name: one
tick_rate: 100
space: {kind: square4, rows: 4, cols: 4}
fields: [{name: a}, {name: b}, {name: c}, {name: k, type: categorical, values: [stay, go]}, {name: pair, type: vector(2)}]
propagators: [{`+tt.yaml+`}]
`)
		if err != nil {
			t.Error(err)
			continue
		}
		made, err := s.Config(1)
		if err != nil {
			t.Errorf("%s: %v", tt.yaml, err)
			continue
		}
		if got := made.Propagators[0]; !reflect.DeepEqual(got, tt.want) {
			t.Errorf("%s makes\n%+v, want\n%+v", tt.yaml, got, tt.want)
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
	s, err := scenariotest.Parse("all.yaml", text)
	if err != nil {
		t.Fatal(err)
	}
	again, err := scenariotest.FromDescriptor(s.Descriptor())
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
		for range 50 {
			scenariotest.Step(t, s, w)
			checks.Observe(w)
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
