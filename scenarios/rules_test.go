package scenarios_test

import (
	"strings"
	"testing"

	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/scenarios"
	"github.com/murksim/murksim/scenarios/internal/scenariotest"
)

const original = `murksim: 1
name: old
rules: murk-0.1.9
ticks: 30
space: {kind: square8, rows: 6, cols: 5, edge: wrap}
fields:
  - {name: heat, mutability: sparse}
  - {name: slope, type: vector(2)}
propagators:
  - diffusion: {field: heat, rate: 0.5}
  - gradient: {field: heat, output: slope}
commands:
  - {every: 5, set: {field: heat, cell: [1, 1], value: 9}}
`

// TestRules holds that a scenario chooses the rules, that its descriptor says which in
// its head, and that they matter.
func TestRules(t *testing.T) {
	s, err := scenariotest.Parse("old.yaml", original)
	if err != nil {
		t.Fatal(err)
	}
	d := string(s.Descriptor())
	if want := `{"rules":"murk-0.1.9@1","murksim":1,"name":"old",`; !strings.HasPrefix(d, want) || strings.Count(d, `"rules"`) != 1 {
		t.Errorf("the descriptor is %s, want it to begin with %s and to name rules once", d, want)
	}
	again, err := scenariotest.FromDescriptor([]byte(d))
	if err != nil {
		t.Fatal(err)
	}
	if again.Rules != engine.Murk019.String() {
		t.Errorf("rules %q from the descriptor, want %s", again.Rules, engine.Murk019)
	}
	ours, err := scenariotest.Parse("old.yaml", original, "rules=murksim")
	if err != nil {
		t.Fatal(err)
	}
	var hashes [3]uint64
	for i, s := range []*scenarios.Scenario{s, again, ours} {
		w, err := s.World(1 + i)
		if err != nil {
			t.Fatal(err)
		}
		for range s.Ticks {
			scenariotest.Step(t, s, w)
		}
		hashes[i] = w.FieldHash(0)
		if n, want := len(w.Defs()), 2+i/2; n != want {
			t.Errorf("%d fields, want %d", n, want)
		}
	}
	if hashes[0] != hashes[1] || hashes[0] == hashes[2] {
		t.Errorf("hashes %016x; want the first two equal, the third another", hashes)
	}
}

func TestRulesRefuse(t *testing.T) {
	for key, want := range map[string]string{
		"entities: {capacity: 3, kinds: [x]}\n": "old.yaml:14:11: the rules murk-0.1.9 have no entities",
		"parameters: {a: {key: 1, value: 2}}\n": "old.yaml:14:13: the rules murk-0.1.9 have no parameters",
	} {
		_, err := scenariotest.Parse("old.yaml", original+key)
		if err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s: %v, want %s", key, err, want)
		}
	}
}
