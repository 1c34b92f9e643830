package measure

import (
	"encoding/binary"
	"fmt"

	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/scenarios/worlds"
	"github.com/murksim/murksim/scenarios/yaml"
)

// What rules are compared with.
const (
	builtInName = "built in"
	numPyName   = "NumPy"
)

// fromYAML builds the world of a scenario whose fields and propagators are given, on a square8 or square4 of 1024×1024.
func fromYAML(space, fields, propagators string) (*engine.World, error) {
	text := fmt.Sprintf("{murksim: 1, name: bench, seed: 3, tick_rate: 10, space: {kind: %s, rows: 1024, cols: 1024, edge: wrap}, fields: [%s], propagators: [%s]}", space, fields, propagators)
	s, err := yaml.Parse(worlds.Registry(), "bench.yaml", nil, []byte(text))
	if err != nil {
		return nil, err
	}
	return s.World(1)
}

const ruleCells = 1024 * 1024

// rule measures a rule beside the propagator that does the same.
func rule(space, fields, rule, builtIn string) func(*run) ([]reading, error) {
	return func(r *run) ([]reading, error) {
		ours, err := fromYAML(space, fields, rule)
		if err != nil {
			return nil, err
		}
		rival, err := fromYAML(space, fields, builtIn)
		if err != nil {
			return nil, err
		}
		return r.against(ruleCells, step(ours), step(rival))
	}
}

// epidemic measures the epidemic of docs/start/rules.md, in which the recovered fall ill again so that it goes on.
func epidemic(r *run) ([]reading, error) {
	w, err := fromYAML("square8", "{name: state, type: categorical, values: [well, ill, immune], initial: {choice: {values: [well, ill, immune]}}}",
		`{rule: {name: flu, parameters: {beta: 0.1, gamma: 0.2}, let: {sick: count(state == ill)}, set: {state: "if state == well and chance(1 - pow(1 - beta, sick)) then ill `+
			`else if state == ill and chance(gamma) then immune else if state == immune then well else state"}}}`)
	if err != nil {
		return nil, err
	}
	rival, err := r.startNumPy("epidemic.py", binary.NativeEndian.AppendUint64(nil, 1024))
	if err != nil {
		return nil, err
	}
	defer rival.stop()
	return r.against(ruleCells, step(w), rival.ticks)
}
