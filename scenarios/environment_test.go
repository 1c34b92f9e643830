package scenarios_test

import (
	"strings"
	"testing"

	"github.com/murksim/murksim/scenarios/worlds"
	"github.com/murksim/murksim/scenarios/yaml"
)

// meadow is a scenario with an environment that takes any value of one key.
const meadow = `
murksim: 1
name: pasture
space: {kind: square4, rows: 8, cols: 8}
fields: [{name: heat}, {name: wind, type: vector(2)}, {name: energy, domain: entities}, {name: soil, type: categorical, values: [sand, clay]}, {name: rock, mutability: static}]
parameters: {rain: 1}
entities: {capacity: 4, kinds: [cow, wolf], spawn: [{kind: cow, count: 2}]}
environment:
  agents: {kind: cow}
  actions: {moves: true}
  observation: [{field: heat}]
  reward: [{constant: 1}]
  steps: 10
`

func TestEnvironmentSaysWhatIsWrong(t *testing.T) {
	for _, tt := range []struct{ set, want string }{
		{"agents={kind: wolf}", `no population of the first tick is of the kind "wolf"`},
		{"agents={}", "agents are of a kind, or they are cells"},
		{"agents={cells: []}", "no cells are listed"},
		{"agents={cells: [[1, 1], [1, 1]]}", "cell [1, 1] is listed already"},
		{"actions={}", "actions are choices (moves, choices) or controls"},
		{"actions={moves: true, controls: [{param: {name: rain}, from: 0, to: 1}]}", "actions are choices (moves, choices) or controls"},
		{"actions={choices: [{move: up}]}", `there is no direction "up"`},
		{"actions={choices: [{stay: true, move: north}]}", "a choice does one of stay, move, set, param and custom"},
		{"actions={choices: [{set: {field: heat}}]}", `the key "value" is missing`},
		{"actions={choices: [{set: {field: wind, value: 1}}]}", `field "wind" has 2 components; an action sets fields of one`},
		{"actions={choices: [{set: {field: rock, value: 1}}]}", `field "rock" is static`},
		{"actions={choices: [{set: {field: heat, value: 1e39}}]}", `is more than field "heat" can hold`},
		{"actions={choices: [{set: {field: soil, value: 2}}]}", `2 is not one of the 2 values of "soil"`},
		{"actions={controls: [{set: {field: heat}, from: -3e38, to: 3e38}]}", "from and to must be at most"},
		{"actions={choices: [{custom: {type: 7, data: xy}}]}", "data is not hexadecimal"},
		{"actions={controls: [{param: {name: rain}, from: 1, to: 1}]}", "to must be above from, and both be float32 numbers"},
		{"actions={controls: [{param: {name: rain, value: 3}, from: 0, to: 1}]}", "a control has no value: the agent gives it"},
		{"observation=[]", "an agent must see something"},
		{"observation=[{field: heat, count: wolf}]", "a part of an observation is a field or a count of entities"},
		{"observation=[{field: heat, kind: wolf}]", `"kind" goes with an attribute of entities`},
		{"observation=[{field: heat, others: true}]", `"others" goes with entities`},
		{"observation=[{field: heat, around: {disk: 1}, cells: [[1, 1]]}]", "only one of around, neighbours, rect, disk and cells may stand here"},
		{"observation=[{field: heat, around: {}}]", "around has one of here, disk and rect"},
		{"observation=[{field: heat, around: {rect: [1]}}]", "rect has a number for each axis of a square4, 2; here are 1"},
		{"observation=[{field: heat, normalize: [2, 1]}]", "normalize is a lowest and a highest number"},
		{"observation=[{field: heat, one_hot: true}]", "one_hot is for a categorical field"},
		{"reward=[]", "no reward is listed"},
		{"reward=[{field: heat, constant: 1}]", "a term has one of"},
		{"reward=[{constant: 1, weight: 2}]", "a constant stands alone"},
		{"reward=[{field: wind}]", `field "wind" has 2 components; one is needed here`},
		{"reward=[{probe: top}]", `there is no probe "top"`},
		{"reward=[{field: energy, cell: [1, 1]}]", `field "energy" belongs to entities; a cell has no value of it`},
		{"terminated=[{}]", "a condition has one of"},
		{"steps=0", "0 is out of range"},
		{"draws=[{param: rain, field: heat}]", "a draw is of a param or of a field"},
		{"draws=[{param: rain, from: 1, to: 0}]", "to must be above from"},
		{"draws=[{field: heat}]", `the key "value" is missing`},
		{"draws=[{field: heat, value: 1, count: 65}]", "the region has 64 cells; 65 are to be drawn"},
		{"draws=[{field: rock, value: 1}]", `field "rock" is static`},
		{"policy=best", `policy "best" is unknown`},
		{"policy={climb: wind}", `field "wind" is a vector of 2; a scalar field is needed here`},
		{"policy={script: [0, 5]}", "there is no choice 5; there are 5, the first is 0"},
		{"policy={script: []}", "a script is a list of 1 to 65536 choices"},
	} {
		_, err := yaml.Parse(worlds.Registry(), "pasture.yaml", nil, []byte(meadow), "environment."+tt.set)
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %s", tt.set, err, tt.want)
		}
	}
}

// A policy that climbs stays where no neighbour has more, so there must be a choice for that.
func TestClimbingNeedsAChoiceToStay(t *testing.T) {
	for actions, want := range map[string]string{
		"{moves: true}":                                       "",
		"{moves: true, stay: false}":                          "the policy climb needs a choice to stay",
		"{choices: [{move: north}]}":                          "the policy climb needs actions with moves",
		"{moves: true, stay: false, choices: [{stay: true}]}": "",
	} {
		_, err := yaml.Parse(worlds.Registry(), "pasture.yaml", nil, []byte(meadow), "environment.actions="+actions, "environment.policy={climb: heat}")
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", actions, err, want)
		}
	}
}

// What a recording holds of an environment is all of it: it reads back, and is written as it was.
func TestEnvironmentInDescriptor(t *testing.T) {
	for _, set := range []string{
		"agents={cells: [[1, 1], [2, 3]]}",
		"actions={moves: true, stay: false, choices: [{name: dig, set: {field: heat, value: 2}}, {custom: {type: 9, data: 0aff}}]}",
		"actions={controls: [{param: {name: rain}, from: -1, to: 2.5}, {set: {field: energy}, from: 0, to: 1}]}",
		"observation=[{field: heat, around: {disk: 2}, pool: {kernel: max, size: 2}, normalize: [0, 3]}, {count: wolf, others: true, around: {rect: [1, 2]}}, {field: soil, one_hot: true}, {field: energy}, {field: wind, neighbours: {center: [1, 1]}}]",
		"reward=[{near: {kind: wolf, radius: 2}, weight: -1}, {happened: died, weight: -3}, {field: heat, change: true, above: 0}, {total: heat}, {param: rain}, {count: cow}]",
		"draws=[{param: rain, from: 0, to: 1}, {field: heat, rect: {from: [0, 0], to: [3, 3]}, value: 4, count: 3}]",
		"policy={script: [0, 4]}", "policy=none", "policy=random", "element=uint8",
	} {
		s, err := yaml.Parse(worlds.Registry(), "pasture.yaml", nil, []byte(meadow), "environment."+set)
		if strings.HasPrefix(set, "agents=") {
			s, err = yaml.Parse(worlds.Registry(), "pasture.yaml", nil, []byte(meadow), "environment."+set, "environment.actions={choices: [{stay: true}]}")
		}
		if err != nil {
			t.Errorf("%s: %v", set, err)
			continue
		}
		again, err := worlds.Registry().FromDescriptor(s.Descriptor())
		if err != nil {
			t.Errorf("%s: %v in %s", set, err, s.Descriptor())
			continue
		}
		if got, want := string(again.Descriptor()), string(s.Descriptor()); got != want {
			t.Errorf("%s: the descriptor becomes\n%s, it was\n%s", set, got, want)
		}
	}
}
