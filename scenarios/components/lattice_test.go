package components_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/murksim/murksim/scenarios"
	"github.com/murksim/murksim/scenarios/internal/scenariotest"
)

// TestRuleCase holds that b3/s23 is B3/S23, to its descriptor, and that letters which are
// counts stay as they are.
func TestRuleCase(t *testing.T) {
	for rule, want := range map[string]string{"b3/s23": "B3/S23", "B2/s/3": "B2/S/3", "b3/S32": "B3/S32", "bb/sb": "Bb/Sb",
		"B3S23": "B3/S23", "3/2": "B2/S3", "B12/S1V": "B12/S1"} {
		text := strings.Replace(scenariotest.Small, "diffusion: {field: heat, rate: 0.5, blocked_by: wall}", "automaton: {field: wall, rule: "+rule+"}", 1)
		s, err := scenariotest.Parse("small.yaml", text)
		if err != nil {
			t.Errorf("%s: %v", rule, err)
			continue
		}
		descriptor := string(s.Descriptor())
		if !strings.Contains(descriptor, `"rule":"`+want+`"`) {
			t.Errorf("%s: the descriptor is %s, want the rule %s in it", rule, descriptor, want)
		}
		if _, err := scenariotest.FromDescriptor([]byte(strings.Replace(descriptor, `"rule":"`+want, `"rule":"`+rule, 1))); !errors.Is(err, scenarios.ErrNotCanonical) {
			t.Errorf("%s in a descriptor: %v, want ErrNotCanonical", rule, err)
		}
	}
}

// TestLatticeErrors: what is wrong with a rule from cell to cell is said with line and
// column. Each stands in place of the propagator of the small scenario.
func TestLatticeErrors(t *testing.T) {
	for _, tt := range []struct{ what, want string }{
		{"automaton: {field: wall}", "10:16: an automaton needs one of rule, elementary and table"},
		{"automaton: {field: wall, rule: B3/S23, elementary: 30}", "10:16: an automaton needs one of rule, elementary and table"},
		{"automaton: {field: wall, rule: WireWorld}", `10:36: rule "WireWorld": must look like B3/S23`},
		{"automaton: {field: wall, rule: W30}", `10:36: "W30" is not a rule such as B3/S23; for a Wolfram code write "elementary: 30"`},
		{`automaton: {field: wall, rule: "B3/S23:T40,60"}`, `10:36: rule "B3/S23:T40,60": :T40,60 is a torus: the space would have to be {kind: square4, rows: 60, cols: 40, edge: wrap}`},
		{"automaton: {field: wall, rule: 30}", "is an elementary rule: write \"elementary: 30\""},
		{`automaton: {field: wall, rule: "110"}`, `10:36: "110" is not a rule such as B3/S23; for a Wolfram code write "elementary: 110"`},
		{"automaton: {field: wall, rule: B3/X23}", `10:36: rule "B3/X23": "X23" does not begin with S`},
		{"automaton: {field: wall, elementary: 30}", "10:42: table: an elementary rule needs a lattice of two directions; this one has 4"},
		{"automaton: {field: wall, elementary: 256}", "10:42: 256 is out of range: it must be 0 to 255"},
		{"automaton: {field: wall, table: [{from: brik, become: open}]}", `10:45: field "wall" has no value "brik"; did you mean "brick"?`},
		{"automaton: {field: wall, table: [{from: open}]}", `10:38: the key "become" is missing`},
		{"automaton: {field: wall, table: [{become: 0}, {become: open, when: [{state: open, at: up}]}]}", `10:73: table: transition 2: condition 1: there is no direction "up"`},
		{"automaton: {field: wall, table: [{become: 1, when: [{state: 0, min: 1, at: north}]}]}", "10:57: table: transition 1: condition 1: has counts and a direction"},
		{"automaton: {field: wall, table: [{become: 1, when: [{state: 0, min: 5}]}]}", "never holds: cells have 0 to 4 neighbours here"},
		{"automaton: {field: heat, table: [{become: 1.5}]}", "10:47: 1.5 is no state; states are whole numbers from 0 to 255"},
		{"automaton: {field: heat, table: [{become: 1, when: [{state: -1}]}]}", "10:65: -1 is no state"},
		{"majority: {field: wall, states: 3}", `10:37: field "wall" has 2 values`},
		{"majority: {field: heat, ties: toss}", `10:35: ties "toss" is unknown`},
		{"percolation: {field: heat}", "10:18: a percolation needs one of open and open_in"},
		{"percolation: {field: heat, open: 0.5, open_in: wall}", "10:18: a percolation needs one of open and open_in"},
		{"percolation: {field: heat, open: 1.5}", "open must be at most 1, not 1.5"},
		{"percolation: {field: heat, open_in: heat}", `10:41: field and open_in are both "heat"`},
		{"sight: {viewer: wall, visible: heat, radius: 0}", "10:50: 0 is out of range: it must be 1 to 16384"},
		{"sight: {viewer: heat, visible: heat, radius: 3}", `10:36: viewer and visible are both "heat"`},
		{"distance: {source: wall, distance: wall}", `field "wall" is a categorical field; a scalar field is needed here`},
		{"distance: {source: heat, distance: heat}", `10:40: source and distance are both "heat"`},
		{"distance: {source: wall, distance: heat, far: 0}", "10:51: far is 0 as a float32, which is the distance of a source"},
		{"distance: {source: wall, distance: heat, far: 1e-60}", "10:51: far is 0 as a float32"},
	} {
		text := strings.Replace(scenariotest.Small, "diffusion: {field: heat, rate: 0.5, blocked_by: wall}", tt.what, 1)
		if _, err := scenariotest.Parse("small.yaml", text); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %s", tt.what, err, tt.want)
		}
	}
}
