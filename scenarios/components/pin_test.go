package components_test

import (
	"strings"
	"testing"

	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/scenarios/internal/scenariotest"
)

// TestPinned holds that the island of the pond stays dry.
func TestPinned(t *testing.T) {
	w := scenariotest.Run(t, "waves", 120)
	wet := 0
	for i := range w.Lattice().Cells() {
		h, v, rock := w.Value(0, i), w.Value(1, i), w.Value(2, i)
		if rock != 0 && (h != 0 || v != 0) {
			t.Errorf("rock at %v has height %v and velocity %v, want 0", w.Lattice().Coord(i), h, v)
		}
		if h != 0 {
			wet++
		}
	}
	if wet < 1000 {
		t.Errorf("the waves have reached %d cells, want 1000 at least", wet)
	}
}

// TestPinExplains: what a pin says of an element comes to it, pinned or not.
func TestPinExplains(t *testing.T) {
	s, err := scenariotest.Parse("a.yaml", `murksim: 1
name: pinned
space: {kind: ring, length: 4}
fields: [{name: a, type: vector(2), initial: 7}, {name: b, initial: {cells: [[1], [2]], value: 1}}]
propagators: [{pin: {field: a, where: b, value: 0.1}}]
`)
	if err != nil {
		t.Fatal(err)
	}
	w, err := s.World(1)
	if err != nil {
		t.Fatal(err)
	}
	c := w.Config()
	asked := &askedPin{Explainer: c.Propagators[0].(engine.Explainer)}
	c.Propagators[0] = asked
	if w, err = engine.New(c); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Step(); err != nil {
		t.Fatal(err)
	}
	for e, v := range asked.values {
		if want := float32(w.Value(0, e)); v != want {
			t.Errorf("element %d is %v; its terms come to %v", e, want, v)
		}
	}
}

// An askedPin notes what the terms of each element come to.
type askedPin struct {
	engine.Explainer
	values [8]float32
}

// Step implements [engine.Propagator].
func (a *askedPin) Step(c *engine.Context) error {
	for e := range a.values {
		for _, t := range a.Explain(c, 0, e) {
			a.values[e] = t.After(a.values[e])
		}
	}
	return a.Explainer.Step(c)
}

// TestPinTooLarge holds that a value which a field cannot hold is refused at once.
func TestPinTooLarge(t *testing.T) {
	for value, want := range map[string]string{"1e300": "cannot hold +Inf", "2": "cannot hold 2", "1": ""} {
		s, err := scenariotest.Parse("a.yaml", `murksim: 1
name: pinned
space: {kind: ring, length: 4}
fields: [{name: a, type: categorical, values: [off, on]}, {name: b}]
propagators: [{pin: {field: a, where: b, value: `+value+`}}]
`)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.World(1); (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("value %s: %v, want %q", value, err, want)
		}
	}
}
