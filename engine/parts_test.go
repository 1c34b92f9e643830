package engine_test

import (
	"slices"
	"testing"

	"github.com/murksim/murksim/commands"
	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/fields"
	"github.com/murksim/murksim/space"
)

// A propagator made of a spec and a function.
type propagator struct {
	spec engine.Spec
	step func(*engine.Context) error
}

func (p propagator) Spec(*space.Lattice) engine.Spec { return p.spec }

func (p propagator) Step(c *engine.Context) error { return p.step(c) }

// A system made of a spec and a function.
type system struct {
	spec   engine.Spec
	update func(*engine.SystemContext) error
}

func (s system) Spec(*space.Lattice) engine.Spec { return s.spec }

func (s system) Update(c *engine.SystemContext) error { return s.update(c) }

// A handler made of a type id and a function.
type handler struct {
	typeID uint32
	handle func(*engine.HandlerContext, []byte) commands.Reason
}

func (h handler) Type() uint32 { return h.typeID }

func (h handler) Handle(c *engine.HandlerContext, data []byte) commands.Reason {
	return h.handle(c, data)
}

// A recorder made of a function.
type recorder func(*engine.Tick) error

func (r recorder) Record(t *engine.Tick) error { return r(t) }

func nothing(*engine.Context) error { return nil }

// cells returns fields named a, b, c, … of one float32 a cell.
func cells(n int) []fields.Def {
	defs := make([]fields.Def, n)
	for i := range defs {
		defs[i].Name = string(rune('a' + i))
	}
	return defs
}

// build makes a world that checks its parts.
func build(t testing.TB, c engine.Config) *engine.World {
	t.Helper()
	c.Paranoid = true
	if c.Space == nil {
		c.Space = space.Ring{Length: 4}
	}
	w, err := engine.New(c)
	if err != nil {
		t.Fatalf("New = %v", err)
	}
	return w
}

// submit gives commands to the world and fails the test if one is not taken.
func submit(t testing.TB, w *engine.World, list ...commands.Command) {
	t.Helper()
	for _, c := range list {
		if _, err := w.Submit(c); err != nil {
			t.Fatalf("Submit(%v) = %v", c.Kind, err)
		}
	}
}

// step submits commands and steps once, which must succeed.
func step(t testing.TB, w *engine.World, list ...commands.Command) []commands.Receipt {
	t.Helper()
	submit(t, w, list...)
	receipts, err := w.Step()
	if err != nil {
		t.Fatalf("Step = %v", err)
	}
	return receipts
}

// applied is step for commands that must all be applied.
func applied(t testing.TB, w *engine.World, list ...commands.Command) []commands.Receipt {
	t.Helper()
	receipts := step(t, w, list...)
	for _, r := range receipts {
		if r.Reason != commands.Applied {
			t.Fatalf("%v: %v, want applied", r.Kind, r.Reason)
		}
	}
	return receipts
}

// values returns all elements of a field.
func values(w *engine.World, id fields.ID) []float64 {
	s := w.Snapshot()
	defer s.Release()
	v := make([]float64, s.Len(id))
	for i := range v {
		v[i] = s.At(id, i)
	}
	return v
}

func wantValues(t testing.TB, w *engine.World, id fields.ID, want ...float64) {
	t.Helper()
	if got := values(w, id); !slices.Equal(got, want) {
		t.Errorf("tick %d: field %q = %v, want %v", w.Tick(), w.Defs()[id].Name, got, want)
	}
}

// add is an incremental propagator that adds v to every element of a field.
func add(name string, id fields.ID, v float32) engine.Propagator {
	return propagator{
		engine.Spec{Name: name, Incremental: engine.Fields(id)},
		func(c *engine.Context) error {
			next := c.Next(id)
			for i := range next {
				next[i] += v
			}
			return nil
		},
	}
}

// copies is a full propagator that copies one field to another as read gives it.
func copies(name string, from, to fields.ID, now bool) engine.Propagator {
	spec := engine.Spec{Name: name, Full: engine.Fields(to)}
	read := (*engine.Context).Prev
	if now {
		spec.Now, read = engine.Fields(from), (*engine.Context).Now
	} else {
		spec.Prev = engine.Fields(from)
	}
	return propagator{spec, func(c *engine.Context) error {
		copy(c.Next(to), read(c, from))
		return nil
	}}
}
