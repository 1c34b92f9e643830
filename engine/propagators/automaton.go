package propagators

import (
	"math"

	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/fields"
	"github.com/murksim/murksim/space"
)

// Automaton is a cellular automaton whose rule looks at a cell's state and at how
// many of its neighbours are alive, as at the start of the tick. State 0 is dead, 1
// alive; with more than two states a cell that dies ages through 2, 3, …, and then
// is dead. A value that is none of the rule's states counts as dead.
//
// The lattice says who the neighbours are: Conway's Life wants a square8. A cell
// that is its own neighbour, at a clamped edge, counts itself.
type Automaton struct {
	Name  string    // default "automaton"
	Field fields.ID // of one component, categorical or scalar; written in full
	Rule  Rule
}

// Spec implements [engine.Propagator].
func (a Automaton) Spec(*space.Lattice) engine.Spec {
	return engine.Spec{
		Name: named(a.Name, "automaton"), Prev: engine.Fields(a.Field), Full: engine.Fields(a.Field), Parallel: true,
	}
}

// Check implements [engine.Checker].
func (a Automaton) Check(l *space.Lattice, defs []fields.Def) error {
	c := checker{defs: defs}
	c.sized("field", a.Field, 1)
	states := max(2, a.Rule.States)
	switch {
	case c.err != nil:
	case a.Rule.States < 0 || a.Rule.States > maxStates:
		c.fail("rule %v: has %d states; must be 2 to %d", a.Rule, a.Rule.States, maxStates)
	case l.MaxDegree() > 63:
		c.fail("cells have up to %d neighbours here; a rule counts up to 63", l.MaxDegree())
	case a.Rule.most() > l.MaxDegree():
		c.fail("rule %v: counts %d neighbours; cells have at most %d here", a.Rule, a.Rule.most(), l.MaxDegree())
	case defs[a.Field].Type.Kind == fields.CategoricalKind && defs[a.Field].Type.N < states:
		c.fail("rule %v: has %d states; field %q holds %d values", a.Rule, states, defs[a.Field].Name, defs[a.Field].Type.N)
	}
	return c.err
}

// Step implements [engine.Propagator].
func (a Automaton) Step(c *engine.Context) error {
	prev, next := c.Prev(a.Field), c.Next(a.Field)
	for r := range runs(c, 1) {
		for i, e := 0, r.first; i < r.count; i, e = i+1, e+r.stride {
			alive := 0
			for _, o := range r.pattern.Offsets {
				alive += isOne(prev[e+o])
			}
			next[e] = a.Rule.next(prev[e], alive)
		}
	}
	return nil
}

// isOne is 1 for v = 1, else 0, without a branch that nobody could foresee.
func isOne(v float32) int {
	const one = 0x3f800000 // its bits
	return int((uint64(math.Float32bits(v)^one) - 1) >> 63)
}

// next is the state that follows v with a number of live neighbours.
func (r *Rule) next(v float32, alive int) float32 {
	switch {
	case v == 1:
		if r.Survive>>alive&1 != 0 {
			return 1
		}
		if r.States > 2 {
			return 2
		}
	case v >= 2 && v+1 < float32(r.States) && v == float32(int(v)):
		return v + 1
	case v >= 2 && v < float32(r.States) && v == float32(int(v)): // the last state
	default:
		if r.Born>>alive&1 != 0 {
			return 1
		}
	}
	return 0
}
