package components_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/murksim/murksim/scenarios/document"
	"github.com/murksim/murksim/scenarios/internal/scenariotest"
)

// TestPlaces holds that what the checks of the engine's library refuse is shown at the
// key that is to blame.
func TestPlaces(t *testing.T) {
	for _, tt := range []struct{ what, key, want string }{
		{"diffusion: {field: a, rate: 1, blocked_by: pair}", "blocked_by", `diffusion: blocked_by: field "pair" has 2 components`},
		{"diffusion: {field: a, rate: 1e39}", "rate", "diffusion: rate must be finite as a float32, not 1e+39"},
		{"diffusion: {name: d, field: k, rate: 1}", "field", `diffusion "d": field: field "k" is categorical`},
		{"diffusion: {field: a, rate: 1, min: 2, max: 1}", "max", "diffusion: max must be at least 2, not 1"},
		{"diffusion: {field: pair, rate: 1, gradient: pair}", "gradient", "diffusion: gradient"},
		{"wave: {displacement: a, velocity: a, speed: 1}", "displacement", `wave: displacement and velocity are both field "a"`},
		{"wave: {displacement: a, velocity: b, speed: 1e30}", "speed", "wave: speed 1e+30 is too large: its square"},
		{"gradient: {field: pair, output: pair}", "field", "gradient: field"},
		{"resource: {field: a, presence: a, capacity: 1}", "field", "resource: field and presence are both"},
		{"resource: {field: a, capacity: 1e-60}", "capacity", "resource: capacity must be above 0, not 1e-60"},
		{"noise: {field: a, kind: salt_pepper, scale: 2}", "scale", "noise: scale must be at most 1 for salt_pepper, not 2"},
		{"emission: {presence: pair, field: a, intensity: 1}", "presence", "emission: presence"},
		{"reward: {heat: a, presence: b, field: b, heat_bonus: 1}", "field", `reward: field and presence are both`},
		{"reward: {heat: a, presence: b, field: c, heat_bonus: 1e40}", "heat_bonus", "reward: heat_bonus must be finite as a float32, not 1e+40"},
		{"movement: {agents: a, actions: a}", "agents", "movement: agents and actions are both"},
		{"movement: {agents: a, actions: k, blocked_by: a}", "agents", "movement: agents and blocked_by are both"},
		{"movement: {agents: a, actions: k, blocked_by: pair}", "blocked_by", "movement: blocked_by: field"},
		{"morphology: {field: a, output: pair, radius: 1}", "output", "morphology: output"},
		{"copy: {field: a, output: pair}", "output", "copy: output"},
		{"automaton: {field: k, rule: B2/S/5}", "field", `automaton: rule B2/S/5: has 5 states`},
		{"automaton: {field: a, rule: B8/S23}", "rule", "automaton: rule B8/S23: counts 8 neighbours"},
		{"majority: {field: pair}", "field", "majority: field"},
		{"percolation: {field: pair, open: 1}", "field", "percolation: field"},
		{"distance: {source: pair, distance: a}", "source", "distance: source"},
		{"sight: {viewer: pair, visible: a, radius: 1}", "viewer", "sight: viewer"},
		{"advection: {field: a, velocity: b}", "velocity", "advection: velocity"},
		{"shallow_water: {depth: a, flux: b, gravity: 1, max_depth: 1}", "flux", "shallow_water: flux"},
		{"gray_scott: {u: a, v: b, diff_u: 1e39, feed: 1, kill: 1}", "diff_u", "gray_scott: diff_u must be finite as a float32, not 1e+39"},
		{"pin: {field: k, where: a, value: 7}", "value", "pin: value: field"},
		{"pin: {field: a, where: pair}", "where", "pin: where: field"},
		{"decay: {field: k, rate: 1}", "field", "decay: field"},
	} {
		s, err := scenariotest.Parse("a.yaml", `murksim: 1
name: one
tick_rate: 100
space: {kind: square4, rows: 4, cols: 4}
fields: [{name: a}, {name: b}, {name: c}, {name: k, type: categorical, values: [stay, go]}, {name: pair, type: vector(2)}]
propagators: [{`+tt.what+`}]
`)
		if err != nil {
			t.Errorf("%s: %v, want it read", tt.what, err)
			continue
		}
		_, err = s.World(1)
		e, ok := errors.AsType[*document.Error](err)
		if !ok {
			t.Errorf("%s: %v, want an error with a place", tt.what, err)
			continue
		}
		col := len("propagators: [{") + strings.Index(tt.what, tt.key+": ") + len(tt.key+": ") + 1
		if !strings.HasPrefix(e.Msg, tt.want) || e.Line != 6 || e.Col != col {
			t.Errorf("%s\n\tgives %d:%d: %s,\n\twant  6:%d: %s", tt.what, e.Line, e.Col, e.Msg, col, tt.want)
		}
	}
}

// TestBodiesOccupancy holds that bodies, which cannot wait for each other, are not built in a
// world that limits how many stand on a cell.
func TestBodiesOccupancy(t *testing.T) {
	s, err := scenariotest.Open("bodies", "entities.occupancy=3")
	if err == nil {
		_, err = s.World(1)
	}
	if err == nil || !strings.Contains(err.Error(), "bodies fall onto a cell in any number; the entities must have no occupancy, not 3") {
		t.Errorf("bodies with an occupancy of 3: %v, want them refused", err)
	}
}
