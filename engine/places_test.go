package engine_test

import (
	"strings"
	"testing"

	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/fields"
	"github.com/murksim/murksim/space"
)

// A lottery draws at places.
type lottery struct {
	name   string
	places []string
	draws  []string
}

// Spec implements [engine.Propagator].
func (l lottery) Spec(*space.Lattice) engine.Spec {
	return engine.Spec{Name: l.name, Full: engine.Fields(0), Places: l.places, Parallel: true}
}

// Step implements [engine.Propagator].
func (l lottery) Step(c *engine.Context) error {
	next := c.Next(0)
	lo, hi := c.Range()
	clear(next[lo:hi])
	for _, place := range l.draws {
		draw := c.Place(place, 2)
		for cell := lo; cell < hi; cell++ {
			next[cell] += draw.Float32(uint64(cell))
		}
	}
	return nil
}

// TestPlaces: a propagator draws at places that its Spec lists, whose names are no other part's; they are in a state that is saved, and what it draws at one
// does not depend on the others.
func TestPlaces(t *testing.T) {
	config := func(parts ...engine.Propagator) engine.Config {
		return engine.Config{Space: space.Ring{Length: 9}, Fields: []fields.Def{{Name: "x"}}, Propagators: parts, Workers: 2}
	}
	values := func(l lottery) []float32 {
		t.Helper()
		w, err := engine.New(config(l))
		if err != nil {
			t.Fatal(err)
		}
		step(t, w)
		state, err := w.Save(nil)
		if err != nil {
			t.Fatal(err)
		}
		again, err := engine.Restore(config(l), nil, state)
		if err != nil || again.Hash() != w.Hash() {
			t.Errorf("%v: the state is not that of the world: %v", l, err)
		}
		return w.Column(0).Float32
	}
	one, both := values(lottery{"l", []string{"a"}, []string{"a"}}), values(lottery{"l", []string{"b", "a"}, []string{"a"}})
	other := values(lottery{"l", []string{"b"}, []string{"b"}})
	for cell, v := range one {
		if both[cell] != v || other[cell] == v {
			t.Errorf("cell %d: %v at one place, %v with another, %v at the other", cell, v, both[cell], other[cell])
		}
	}
	w, err := engine.New(config(lottery{"l", []string{"a"}, []string{"c"}}))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Step(); err == nil || !strings.Contains(err.Error(), `draws at the place "c", which its Spec does not list`) {
		t.Errorf("an unlisted place: %v", err)
	}
	if _, err := engine.New(config(lottery{"l.a", nil, nil}, lottery{"l", []string{"a"}, nil})); err == nil || !strings.Contains(err.Error(), `place "a"`) {
		t.Errorf("two parts draw from one stream: %v", err)
	}
}
