package rules

import (
	"slices"

	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/engine/propagators"
)

// A census is a rule that sets one categorical field, by the cell's own value and by how many neighbours are alive, which is the field's second value, and by nothing
// else: it may be an automaton, which [propagators.Automaton] computes faster, to the same bits.
type census struct {
	compiler *compiler
	field    int
	counted  bool           // a count was met
	looked   map[*code]bool //detcheck:allow pointer it is looked up only
}

// takeCensus makes the tables of a census of the rule's only target, one for each value of its field, and returns where the first is in the list; -1: the rule is
// none.
func (c *compiler) takeCensus(target *code) int {
	const most = 16 // values
	a := c.set[0]
	f := &c.scope.Fields[a.Field]
	size := c.scope.Lattice.MaxDegree() + 1
	if len(c.set) > 1 || c.where != nil || f.Values == nil || f.Fixed || target.fails() || len(f.Values) > most || size > maxTable || c.rule.InPlace(a) {
		return -1
	}
	s := &census{compiler: c, field: a.Field, looked: map[*code]bool{}} //detcheck:allow pointer it is looked up only
	if !s.fits(target) || !s.counted {
		return -1
	}
	first := len(c.tabled)
	for v := range f.Values {
		c.addTable(s.at(target, c.operand(&code{op: Const, value: float64(v), uniform: true, slot: -1, steps: -1}, false)))
	}
	return first
}

// fits reports whether a code hangs on nothing but the field's own value, the count, and uniform numbers.
func (s *census) fits(x *code) bool {
	is, there := s.looked[x]
	if !there {
		is = s.look(x)
		s.looked[x] = is
	}
	return is
}

func (s *census) look(x *code) bool {
	switch {
	case x.uniform, x.op == tableEntry, x.op == Get && x.field == s.field:
		return true
	case x.op == Count, x.op == UseLet && x.counts:
		return s.counts(x)
	case x.op == UseLet:
		return s.fits(s.compiler.lets[x.index])
	case x.op == lookup && !s.fits(s.compiler.tabled[x.index].of):
		return false
	case x.ofCell():
		return false
	}
	return !slices.ContainsFunc(x.args, func(a *code) bool { return !s.fits(a) })
}

// counts reports whether a count is that of the neighbours that are alive.
func (s *census) counts(x *code) bool {
	of := x
	if x.op == UseLet {
		of = s.compiler.lets[x.index]
	}
	is := of.args[0]
	if of.where != nil || is.op != Equal {
		return false
	}
	value, field := is.args[0], is.args[1]
	if field.uniform {
		value, field = field, value
	}
	s.counted = true
	return value.uniform && value.op == Const && value.value == 1 && field.op == Get && field.field == s.field
}

// at is a code for cells of one value, with the entry of a table in the place of each count.
func (s *census) at(x, value *code) *code {
	made := map[*code]*code{} //detcheck:allow pointer it is looked up only
	var replace func(*code) *code
	replace = func(y *code) *code {
		switch {
		case y.uniform, y.op == tableEntry:
			return y
		case y.op == Get:
			return value
		case y.op == Count, y.op == UseLet && y.counts:
			return &code{op: tableEntry, slot: -1, steps: -1}
		case y.op == UseLet:
			return s.compiler.rewritten(s.compiler.lets[y.index], replace, made)
		case y.op == lookup:
			return s.compiler.rewritten(s.compiler.tabled[y.index].of, replace, made)
		}
		return nil
	}
	return s.compiler.rewritten(x, replace, made)
}

// automaton is the automaton's rule that the tables of a census come to in this tick, if they are one.
func (m *machine) automaton() (rule propagators.Rule, ok bool) {
	if m.census < 0 {
		return rule, false
	}
	values := len(m.scope.Fields[m.set[0].Field].Values)
	rule.States = values
	for state := range values {
		t := &m.tabled[m.census+state]
		last := m.values[t.at+(len(m.degrees)-1)*t.size:][:t.size]
		for i, degree := range m.degrees {
			for n, v := range m.values[t.at+i*t.size:][:degree+1] {
				if v != last[n] || !becomes(&rule, state, n, v) {
					return rule, false
				}
			}
		}
	}
	return rule, true
}

// becomes adds to a rule what a cell of a state becomes among n that are alive; false if no rule says so.
func becomes(r *propagators.Rule, state, n int, v float32) bool {
	switch {
	case state == 0 && v == 1:
		r.Born |= 1 << n
	case state == 1 && v == 1:
		r.Survive |= 1 << n
	case state == 0:
		return v == 0
	default: // it ages
		return v == float32((state+1)%r.States)
	}
	return true
}

// count computes a tick as that automaton.
func (p *Propagator) count(c *engine.Context, rule propagators.Rule) error {
	return propagators.Automaton{Name: p.Name, Field: p.Fields[p.set[0].Field], Rule: rule}.Step(c)
}
