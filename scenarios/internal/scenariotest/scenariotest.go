// Package scenariotest has what the tests of scenarios and of the packages below
// share. Its scenarios may name all components that come with murksim.
package scenariotest

import (
	"slices"
	"testing"

	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/fields"
	"github.com/murksim/murksim/runner"
	"github.com/murksim/murksim/scenarios"
	"github.com/murksim/murksim/scenarios/worlds"
	"github.com/murksim/murksim/scenarios/yaml"
)

// Small is a scenario of ten lines, which others differ from by one.
const Small = `murksim: 1
name: small
seed: 5
tick_rate: 10
space: {kind: square4, rows: 8, cols: 6}
fields:
  - {name: heat, initial: 20}
  - {name: wall, type: categorical, values: [open, brick], mutability: static}
propagators:
  - diffusion: {field: heat, rate: 0.5, blocked_by: wall}
`

// Busy is a scenario with commands and expectations of every kind.
const Busy = `murksim: 1
name: busy
seed: 3
space: {kind: square4, rows: 4, cols: 5}
fields:
  - {name: heat}
  - {name: flow, type: vector(2)}
  - {name: energy, domain: entities, initial: 1}
entities:
  capacity: 20
  kinds: [mouse, cat]
  spawn:
    - {kind: cat, rect: {from: [0, 0], to: [0, 2]}, set: {energy: 4}}
    - {kind: mouse, count: 5}
parameters: {wind: 0.5, rain: {key: 7, value: 1}}
commands:
  - {tick: 2, set: {field: heat, cell: [1, 2], value: 9}}
  - {tick: 2, set: {field: flow, cell: [1, 2], value: [3, 4]}, priority: 0}
  - {every: 3, set: {field: heat, disk: {center: [0, 0], radius: 1}, value: 5}, expires_after: 2}
  - {every: 3, from: 4, until: 8, param: {name: rain, value: 2}}
  - {tick: 5, params: {rain: 3, wind: 4}}
  - {tick: 5, spawn: {kind: mouse, cell: [3, 4], set: {energy: 2}}}
  - {tick: 5, move: {entity: 1048577, cell: [2, 2]}}
  - {tick: 5, set: {field: energy, entity: 1048577, value: 8}}
  - {tick: 6, despawn: {entity: 1048577}}
  - {tick: 6, custom: {type: 9, data: 0aff}}
expect:
  - {population: [8, 9]}
  - {kind: mouse, population: [5, 5], tick: 4}
  - {field: heat, cell: [1, 2], value: 9, tick: 2}
  - {field: flow, cell: [1, 2], value: [3, 4], tick: 10}
  - {field: heat, total: 9, tick: 2}
  - {field: heat, range: [0, 8]}
  - {field: flow, total: conserved, tolerance: 0.5}
  - {field: heat, total: 1, tick: 1000}
  - {hash: "0000000000000000", tick: 3}
`

// Parse reads a scenario that names no files.
func Parse(name, text string, sets ...string) (*scenarios.Scenario, error) {
	return yaml.Parse(worlds.Registry(), name, nil, []byte(text), sets...)
}

// Open reads a scenario that comes with murksim.
func Open(name string, sets ...string) (*scenarios.Scenario, error) {
	return worlds.Open(worlds.Registry(), name, sets...)
}

// FromDescriptor reads a descriptor.
func FromDescriptor(b []byte) (*scenarios.Scenario, error) {
	return worlds.Registry().FromDescriptor(b)
}

// Step submits what is due and computes a tick.
func Step(t testing.TB, s *scenarios.Scenario, w *engine.World) {
	t.Helper()
	runTo(t, s, w, w.Tick()+1)
}

func runTo(t testing.TB, s *scenarios.Scenario, w *engine.World, tick uint64) {
	t.Helper()
	r := runner.Run{Scenario: s, World: w}
	if err := r.To(t.Context(), tick); err != nil {
		t.Fatalf("%s: %v", s.Name, err)
	}
}

// Check runs a scenario to its end on two workers and reports each expectation that fails.
func Check(t testing.TB, name string, s *scenarios.Scenario) {
	t.Helper()
	r, err := runner.New(runner.Config{Scenario: s, Workers: 2})
	if err == nil {
		err = r.To(t.Context(), s.Ticks)
	}
	if err != nil {
		t.Errorf("%s: %v", name, err)
		return
	}
	for _, result := range r.Checker.Results() {
		if !result.OK {
			t.Errorf("%s: %s, want ok", name, result.Text)
		}
	}
}

// Run makes the world of a scenario that comes with murksim and computes some ticks.
func Run(t testing.TB, name string, ticks int, sets ...string) *engine.World {
	t.Helper()
	s, err := Open(name, sets...)
	if err != nil {
		t.Fatal(err)
	}
	w, err := s.World(2)
	if err != nil {
		t.Fatal(err)
	}
	runTo(t, s, w, uint64(ticks))
	return w
}

// Column finds a column by its name.
func Column(t testing.TB, w *engine.World, name string) fields.ID {
	t.Helper()
	i := slices.IndexFunc(w.Defs(), func(d fields.Def) bool { return d.Name == name })
	if i < 0 {
		t.Fatalf("the world has no column %q", name)
	}
	return fields.ID(i)
}
