package scenarios_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/murksim/murksim/scenarios/internal/scenariotest"
)

const pasture = `murksim: 1
name: pasture
space: {kind: square4, rows: 2, cols: 2}
fields:
  - {name: hill}
  - {name: wind, type: vector(2)}
  - {name: energy, domain: entities}
  - {name: place, type: vector(2), domain: entities}
  - {name: does, type: categorical, values: [rest, bleat], domain: entities}
entities: {capacity: 4, kinds: [sheep, dog]}
yrep:
  names: [{kind: dog, name: Hound}]
  ground: hill
  altitude: energy
  action: does
  actions: [{value: bleat, chat: Baa!, swing: true}]
  items: [{field: place, component: 1, slot: 4, item: boots}]
  blocks: [{field: hill, level: -1, materials: [0, 2]}]
`

// TestYREP holds that a mapping is in the descriptor, and changes no bit of the world.
func TestYREP(t *testing.T) {
	s, err := scenariotest.Parse("a.yaml", pasture)
	if err != nil {
		t.Fatal(err)
	}
	head, _, _ := strings.Cut(pasture, "yrep:")
	without, err := scenariotest.Parse("a.yaml", head)
	if err != nil {
		t.Fatal(err)
	}
	const mapping = `,"yrep":{"names":[{"kind":"dog","name":"Hound"}],"ground":"hill","altitude":"energy","action":"does",` +
		`"actions":[{"value":"bleat","chat":"Baa!","swing":true}],"items":[{"field":"place","component":1,"slot":4,"item":"boots"}],` +
		`"blocks":[{"field":"hill","level":-1,"materials":[0,2]}]}}`
	if got, want := string(s.Descriptor()), strings.TrimSuffix(string(without.Descriptor()), "}")+mapping; got != want {
		t.Errorf("the descriptor is\n%s\nwant\n%s", got, want)
	}
	again, err := scenariotest.FromDescriptor(s.Descriptor())
	if err != nil || again.YREP == nil || !bytes.Equal(again.Descriptor(), s.Descriptor()) {
		t.Errorf("from the descriptor: %+v, %v", again, err)
	}
	a, err := s.World(1)
	if err != nil {
		t.Fatal(err)
	}
	b, err := without.World(1)
	if err != nil {
		t.Fatal(err)
	}
	scenariotest.Step(t, s, a)
	scenariotest.Step(t, without, b)
	if a.Hash() != b.Hash() {
		t.Errorf("hash %016x with the mapping, %016x without", a.Hash(), b.Hash())
	}
}

// TestYREPErrors: a mapping must fit the scenario.
func TestYREPErrors(t *testing.T) {
	for old, tt := range map[string]struct{ new, want string }{
		"entities: {capacity: 4, kinds: [sheep, dog]}": {"", "has no \"entities\""},
		"ground: hill":            {"ground: wind", `a.yaml:13:11: field "wind" is a vector of 2; a scalar field of cells is needed here`},
		"altitude: energy":        {"altitude: hill", `field "hill" is a scalar field; a scalar attribute is needed here`},
		"action: does":            {"action: energy", `field "energy" is an attribute of entities; a categorical attribute is needed here`},
		"  action: does\n":        {"", `"actions" needs "action"`},
		"value: bleat":            {"value: bleet", `"does" has no value "bleet"; did you mean "bleat"?`},
		"swing: true}]":           {"swing: true}, {value: bleat}]", `there is an action "bleat" already`},
		"kind: dog, name: Hound":  {"kind: cat, name: Hound", `there is no kind "cat"`},
		"Hound}]":                 {"Hound}, {kind: dog, name: Rex}]", `kind "dog" has a name already`},
		"component: 1":            {"component: 2", `component is 2; "place" has 2`},
		"slot: 4":                 {"slot: 5", "slot"},
		"field: place, component": {"field: wind, component", `field "wind" belongs to cells`},
		"field: hill, level":      {"field: wind, level", `a field of cells of one component is needed here`},
		"materials: [0, 2]":       {"materials: []", "0 materials; 1 to 1024 are allowed"},
		"[0, 2]}]":                {"[0, 2]}, {field: hill, level: -1, materials: [1]}]", "there are blocks of level -1 already"},
		"item: boots":             {"item: " + strings.Repeat("b", 1025), "a text of 1025 bytes; at most 1024 are allowed"},
	} {
		text := strings.Replace(pasture, old, tt.new, 1)
		if text == pasture {
			t.Errorf("the scenario has no %q", old)
		}
		if _, err := scenariotest.Parse("a.yaml", text); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %s", tt.new, err, tt.want)
		}
	}
}
