package rules

import (
	"slices"
	"time"

	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/fields"
	"github.com/murksim/murksim/space"
)

// A Binding says what the names of a scope stand for in a world.
type Binding struct {
	Name   string      // of the component
	Fields []fields.ID // of the scope's fields
	Own    []uint32    // keys of the rule's parameters
	World  []uint32    // keys of the world's
}

// A Propagator is a rule of fields in a world. It implements [engine.Propagator].
type Propagator struct {
	Binding
	scope   *Scope
	rule    *Rule
	set     []Assignment
	streams []stream
	program *Program
	reads   [2][]int // fields of the scope, in Prev and in Now
	inPlace []bool   // by assignment, see Rule.InPlace
	copied  []int    // fields of the scope that it reads at other cells with now, and writes
}

// New makes the propagator of a rule that was checked.
func New(b Binding, s *Scope, r *Rule, set []Assignment) *Propagator {
	p := &Propagator{Binding: b, scope: s, rule: r, set: set, streams: r.streams(s, set), program: Compile(s, r, set)}
	for _, a := range set {
		p.inPlace = append(p.inPlace, r.InPlace(a))
	}
	var far []int
	p.reads[0], p.reads[1], far = r.reads()
	for _, f := range far {
		if slices.ContainsFunc(set, func(a Assignment) bool { return a.Field == f }) {
			p.copied = append(p.copied, f)
		}
	}
	return p
}

// Spec implements [engine.Propagator].
func (p *Propagator) Spec(*space.Lattice) engine.Spec {
	const most = 100 * time.Millisecond
	spec := engine.Spec{Name: p.Name, Parallel: len(p.copied) == 0, Cost: min(time.Duration(p.rule.Cost)*time.Microsecond, most)}
	for i, a := range p.set {
		id := p.Fields[a.Field]
		switch {
		case slices.Contains(spec.Full, id) || slices.Contains(spec.Incremental, id):
		case p.inPlace[i]:
			spec.Incremental = append(spec.Incremental, id)
		default:
			spec.Full = append(spec.Full, id)
		}
	}
	for _, x := range p.streams {
		if !slices.Contains(spec.Places, x.place) {
			spec.Places = append(spec.Places, x.place)
		}
	}
	for _, f := range p.reads[0] {
		spec.Prev = append(spec.Prev, p.Fields[f])
	}
	for _, f := range p.reads[1] {
		if !p.readsNext(f) {
			spec.Now = append(spec.Now, p.Fields[f])
		}
	}
	spec.Scratch = p.program.scratch()
	for _, f := range p.copied {
		spec.Scratch += p.copySize(f)
	}
	return spec
}

// readsNext reports whether a field in Now is what its output holds before it is written: no other cell of it is read.
func (p *Propagator) readsNext(f int) bool {
	return len(p.copied) == 0 && slices.ContainsFunc(p.set, func(a Assignment) bool { return a.Field == f })
}

// Step implements [engine.Propagator].
func (p *Propagator) Step(c *engine.Context) error {
	m := c.Memory(p.machine).(*machine)
	p.begin(c, m)
	bad := fault{cell: noFault}
	m.prepare()
	if rule, ok := m.automaton(); ok {
		return p.count(c, rule)
	}
	for _, s := range c.Spans() {
		m.span(p.set, s, &bad)
	}
	if bad.cell < noFault {
		return p.explain(c, m, bad)
	}
	for i, a := range p.set {
		switch f := &p.scope.Fields[a.Field]; {
		case p.inPlace[i] || f.Fixed:
		case f.Values != nil:
			c.Valid(p.Fields[a.Field])
		default:
			c.Finite(p.Fields[a.Field])
		}
	}
	return nil
}
