package rules

import (
	"fmt"
	"math"
	"strings"

	"github.com/murksim/murksim/engine"
)

// explain is the error of a value that cannot be written: it names the first operation that gives something that is not finite although its operands are.
func (p *Propagator) explain(c *engine.Context, m *machine, bad fault) error {
	state := p.state(m)
	var numbers []float32
	var err error
	first, of := state.firstUnbounded(func() { numbers, _, _, err = m.naive.Cell(state, bad.assignment, bad.cell) })
	what := "set " + strings.TrimPrefix(p.scope.Place(&p.set[bad.assignment]), "set.")
	f := &p.scope.Fields[p.set[bad.assignment].Field]
	switch {
	case err != nil:
		return c.Fail(bad.cell, "%s: %v", what, err)
	case first != nil:
		return c.Fail(bad.cell, "%s: `%s`: %s is not finite", what, first.Node, first.shown(of))
	case f.Values != nil:
		return c.Fail(bad.cell, "%s: `%s` is no value of %s", what, p.set[bad.assignment].Formula, f.Name)
	}
	return c.Fail(bad.cell, "%s: `%s` is %s, which is not finite", what, p.set[bad.assignment].Formula, strings.Trim(fmt.Sprint(numbers), "[]"))
}

// firstUnbounded returns the first operation, with its operands, that gives something that is not finite although these are, while something is computed; nil: none does.
func (s *State) firstUnbounded(compute func()) (first *Term, of []value) {
	s.seen = func(t *Term, args []value, v value) {
		if first == nil && !v.finite(t.Type) {
			first, of = t, append([]value(nil), args...)
		}
	}
	compute()
	s.seen = nil
	return first, of
}

// finite reports whether a value is finite; what is no float number is.
func (v value) finite(t Type) bool {
	if t.Base != Float {
		return true
	}
	for _, x := range v.v {
		if x.f-x.f != 0 {
			return false
		}
	}
	return v.f-v.f == 0 && math.Abs(v.f) <= math.MaxFloat64
}

// shown is an operation with its operands.
func (t *Term) shown(args []value) string {
	var list []string
	for i, a := range args {
		if x := t.Args[i].Type; x.N > 0 || x.Base != Float {
			return "the result"
		}
		list = append(list, fmt.Sprint(float32(a.f)))
	}
	switch n := t.Node; {
	case n.Kind == Binary && len(list) == 2:
		return list[0] + " " + n.Text + " " + list[1]
	case n.Kind == Call && len(list) > 0:
		return n.Text + "(" + strings.Join(list, ", ") + ")"
	}
	return "the result"
}
