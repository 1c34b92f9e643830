package components_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/murksim/murksim/scenarios/internal/scenariotest"
)

// tables returns a scenario with automata that have tables of many transitions.
func tables(automata, transitions int) string {
	const transition = "{from: 0, when: [{state: 1, min: 2}], become: 1}, "
	table := strings.Repeat(transition, transitions)
	var fields, list string
	for i := range automata {
		fields += fmt.Sprintf("  - name: f%d\n", i)
		list += fmt.Sprintf("  - automaton: {field: f%d, table: [%s]}\n", i, table)
	}
	return "murksim: 1\nname: a\nspace: {kind: ring, length: 9}\nfields:\n" + fields + "propagators:\n" + list
}

// TestMakingTablesCanBeEnded: the tables of automata count as work of making the world, which can
// be ended meanwhile.
func TestMakingTablesCanBeEnded(t *testing.T) {
	s, err := scenariotest.Parse("a.yaml", tables(20, 250))
	if err != nil {
		t.Fatal(err)
	}
	var shares []float64
	if _, err := s.Make(1, func(share float64) error { shares = append(shares, share); return nil }); err != nil {
		t.Fatal(err)
	}
	if n := len(shares); n < 2 || shares[n-1] > 1 {
		t.Errorf("the shares are %v, want two at least, up to 1", shares)
	}
	enough := errors.New("enough")
	if _, err := s.Make(1, func(float64) error { return enough }); err != enough {
		t.Errorf("ended: %v", err)
	}
}
