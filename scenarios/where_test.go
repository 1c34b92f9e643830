package scenarios_test

import (
	"strings"
	"testing"

	"github.com/murksim/murksim/scenarios/internal/scenariotest"
)

// TestHexEdge: a hex has an edge to choose; the default is not written to descriptors, so
// that those of before are the same, and what is written gives the same world.
func TestHexEdge(t *testing.T) {
	for _, tt := range []struct{ yaml, descriptor, text string }{
		{"{kind: hex, cols: 7, rows: 5}", `"space":{"kind":"hex","rows":5,"cols":7},`, "hex 7×5 absorb"},
		{"{kind: hex, cols: 7, rows: 5, edge: absorb}", `"space":{"kind":"hex","rows":5,"cols":7},`, "hex 7×5 absorb"},
		{"{kind: hex, cols: 7, rows: 5, edge: clamp}", `"space":{"kind":"hex","rows":5,"cols":7,"edge":"clamp"},`, "hex 7×5 clamp"},
		{"{kind: hex, cols: 7, rows: 5, edge: wrap}", `"space":{"kind":"hex","rows":5,"cols":7,"edge":"wrap"},`, "hex 7×5 wrap"},
		{"{kind: product, parts: [{kind: hex, cols: 7, rows: 5, edge: wrap}, {kind: ring, length: 3}]}",
			`"parts":[{"kind":"hex","rows":5,"cols":7,"edge":"wrap"},{"kind":"ring","length":3}]},`, "product (hex 7×5 wrap, ring 3)"},
	} {
		text := "murksim: 1\nname: comb\nticks: 5\nspace: " + tt.yaml +
			"\nfields: [{name: heat, initial: {noise: {from: 0, to: 1}}}]\npropagators: [{diffusion: {field: heat, rate: 2}}]\n"
		s, err := scenariotest.Parse("comb.yaml", text)
		if err != nil {
			t.Errorf("%s: %v", tt.yaml, err)
			continue
		}
		if got := string(s.Descriptor()); !strings.Contains(got, tt.descriptor) || s.Lattice().Space().String() != tt.text {
			t.Errorf("%s is %v, its descriptor %s; want %s and %s", tt.yaml, s.Lattice().Space(), got, tt.text, tt.descriptor)
		}
		again, err := scenariotest.FromDescriptor(s.Descriptor())
		if err != nil {
			t.Errorf("%s: %v", tt.yaml, err)
			continue
		}
		a, err := s.World(1)
		if err != nil {
			t.Fatal(err)
		}
		b, err := again.World(2)
		if err != nil {
			t.Fatal(err)
		}
		for range s.Ticks {
			scenariotest.Step(t, s, a)
			scenariotest.Step(t, again, b)
		}
		if a.Hash() != b.Hash() {
			t.Errorf("%s: hash %016x from the descriptor, want %016x", tt.yaml, b.Hash(), a.Hash())
		}
	}
}

// TestSpaceErrors: what is wrong with a space is said with line and column.
func TestSpaceErrors(t *testing.T) {
	for _, tt := range []struct{ yaml, want string }{
		{"{kind: hexes, cols: 7, rows: 5}", `4:15: kind "hexes" is unknown`},
		{"{kind: hex, cols: 7}", `4:8: the key "rows" is missing; a hex has cols, rows or edge`},
		{"{kind: hex, cols: 7, rows: 5, edge: round}", `4:44: edge "round" is unknown`},
		{"{kind: hex, cols: 7, rows: 5, w: 3}", `4:38: a hex has no "w"; it has cols, rows, edge`},
		{"{kind: ring, length: 7, edge: wrap}", `4:32: a ring has no "edge"; it has length`},
		{"{kind: fcc12, w: 4, h: 4, d: 5, edge: wrap}", "4:37: fcc12: d must be even if the edge wraps, not 5"},
		{"{kind: product, parts: []}", "product: parts are none"},
	} {
		_, err := scenariotest.Parse("a.yaml", "murksim: 1\nname: a\nticks: 5\nspace: "+tt.yaml+"\n")
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %s", tt.yaml, err, tt.want)
		}
	}
}
