package propagators

import (
	"time"

	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/fields"
	"github.com/murksim/murksim/internal/kernel"
	"github.com/murksim/murksim/space"
)

// Automaton is a cellular automaton: a cell's next state follows from its state and
// those of its neighbours, as at the start of the tick. It has either a Rule or a Table.
//
// A Rule depends on how many neighbours are alive. State 0 is dead, 1 alive; with more
// than two states a cell that dies ages through 2, 3, …, and then is dead. A [Table]
// has up to 256 states; the next one depends on how many neighbours are in which state, or
// on the state of the neighbour in a direction. A value that is not a state counts as 0.
//
// The lattice defines the neighbours: Conway's Life needs a square8. A cell
// that is its own neighbour, at a clamped edge, counts itself; beyond an edge that
// absorbs there is no neighbour to count, and a Table sees state 0 there.
//
// Life: M. Gardner, Scientific American 223 (4), 1970. Tables and elementary rules: S.
// Wolfram, Rev. Mod. Phys. 55, 601 (1983).
type Automaton struct {
	Name  string    // default "automaton"
	Field fields.ID // of one component, categorical or scalar; written in full
	Rule  Rule      // unless there is one of the following
	Table *Table

	Larger *Larger // counts cells farther away than neighbours
}

// Spec implements [engine.Propagator].
func (a Automaton) Spec(*space.Lattice) engine.Spec {
	cost := 400 * time.Nanosecond
	switch {
	case a.Table != nil:
		cost = 8 * time.Microsecond
	case a.Larger != nil:
		cost = a.Larger.cost()
	}
	return engine.Spec{
		Name: named(a.Name, "automaton"), Prev: engine.Fields(a.Field), Full: engine.Fields(a.Field), Parallel: true, Cost: cost,
		Local: a.Table == nil && a.Larger == nil,
	}
}

// Check implements [engine.Checker].
func (a Automaton) Check(l *space.Lattice, defs []fields.Def) error {
	c := checker{defs: defs}
	c.sized("field", a.Field, 1)
	if c.err != nil {
		return c.err
	}
	states := max(2, a.Rule.States)
	switch {
	case a.Table != nil && a.Rule != Rule{}:
		c.fail("", "has rule %v and a table; must have one of them", a.Rule)
	case a.Larger != nil && (a.Table != nil || a.Rule != Rule{}):
		c.fail("", "has rule %v and another one; must have one of them", a.Larger)
	case a.Larger != nil:
		states = max(2, a.Larger.States)
		if err := a.Larger.check(l); err != nil {
			c.fail("rule", "rule %v: %w", a.Larger, err)
		}
	case a.Table != nil:
		states = a.Table.states
		if err := a.Table.fits(l); err != nil {
			c.fail("table", "%w", err)
		}
	case a.Rule.States < 0 || a.Rule.States > maxStates:
		c.fail("rule", "rule %v: states must be 2 to %d, not %d", a.Rule, maxStates, a.Rule.States)
	case a.Rule.most() > l.MaxDegree():
		c.fail("rule", "rule %v: counts %d neighbours; cells have at most %d here", a.Rule, a.Rule.most(), l.MaxDegree())
	}
	c.holds(a.what(), a.Field, states)
	return c.err
}

// holds checks that a categorical field has a value for each state of what.
func (c *checker) holds(what string, id fields.ID, states int) {
	if c.err == nil && c.defs[id].Type.Kind == fields.CategoricalKind && c.defs[id].Type.N < states {
		c.fail("field", "%shas %d states; field %q holds %d values", what, states, c.defs[id].Name, c.defs[id].Type.N)
	}
}

func (a Automaton) what() string {
	switch {
	case a.Larger != nil:
		return "rule " + a.Larger.String() + ": "
	case a.Table != nil && a.Table.rule != "":
		return "rule " + a.Table.rule + ": "
	case a.Table != nil:
		return "table: "
	}
	return "rule " + a.Rule.String() + ": "
}

// Step implements [engine.Propagator].
func (a Automaton) Step(c *engine.Context) error {
	prev, next := c.Prev(a.Field), c.Next(a.Field)
	c.Valid(a.Field) // as it will be: states
	if a.Table != nil {
		a.Table.step(c, prev, next)
		return nil
	}
	if a.Larger != nil {
		a.Larger.step(c, prev, next)
		return nil
	}
	var alive crowd
	alive.Rule(a.Rule.Born, a.Rule.Survive)
	for r := range runs(c, 1) {
		alive.fill(&r, prev)
		alive.next(&r, next)
		if a.Rule.States <= 2 {
			continue
		}
		if r.stride == 1 {
			kernel.Age(r.of(next), r.of(prev), a.Rule.States)
			continue
		}
		for i, e := 0, r.first; i < r.count; i, e = i+1, e+r.stride {
			kernel.Age(next[e:e+1], prev[e:e+1], a.Rule.States)
		}
	}
	return nil
}
