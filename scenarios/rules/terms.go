package rules

import (
	"slices"
	"strconv"
	"strings"

	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/fields"
)

// mostTerms is how many terms an explanation has.
const mostTerms = 24

// Explain implements [engine.Explainer]: the conditions that decide, each with what it is made of, and last the formula that is left.
func (p *Propagator) Explain(c *engine.Context, id fields.ID, element int) []engine.Term {
	x := explanation{}
	for i := range p.set {
		a := &p.set[i]
		n := max(1, p.scope.Fields[a.Field].N)
		if p.Fields[a.Field] != id || a.Component >= 0 && a.Component != element%n {
			continue
		}
		m := c.Memory(p.machine).(*machine)
		p.begin(c, m)
		x.evaluator = m.naive.of
		x.State = p.state(m)
		x.read = func(field, element int) {
			x.reads = append(x.reads, engine.Read{Field: p.Fields[field], Element: element})
		}
		clear(x.known)
		at := place{cell: element / n, own: element / n}
		if where := p.rule.Where; where != nil {
			at.name = "where"
			if v, ok := x.condition(where, &at); !ok || v.f == 0 {
				continue
			}
		}
		at.name = p.scope.Place(a)
		x.formula(p.rule.Set[i], &at)
	}
	return x.terms
}

// An explanation says what terms of a formula come to.
type explanation struct {
	evaluator
	terms []engine.Term
	reads []engine.Read // of the term that is computed
}

// condition tells what a condition and its parts come to.
func (x *explanation) condition(t *Term, at *place) (v value, ok bool) {
	if v, ok = x.tell(t, at); ok {
		x.parts(t, at)
	}
	return v, ok
}

// formula tells which branch of a formula is taken, and what it comes to.
func (x *explanation) formula(t *Term, at *place) {
	for t.Op == Choose {
		is, ok := x.condition(t.Args[0], at)
		if !ok {
			return
		}
		branch := t.Args[2]
		if is.f == 1 {
			branch = t.Args[1]
		}
		t = branch
	}
	x.condition(t, at)
}

// parts tells what a term is made of: fields, lets, draws, and terms over neighbours.
func (x *explanation) parts(t *Term, at *place) {
	for _, a := range t.Args {
		switch {
		case t.Op >= Sum || a.Op == Const || a.Op == Dt:
		case a.Op <= UseLet || a.Op >= Chance:
			x.tell(a, at)
			if a.Op < Sum {
				x.parts(a, at)
			}
		default:
			x.parts(a, at)
		}
	}
}

// tell says what a term comes to, unless it is said already or has no value.
func (x *explanation) tell(t *Term, at *place) (v value, ok bool) {
	x.reads = nil
	v, err := x.operand(&Term{}, t, at)
	term := engine.Term{What: t.Node.String(), Value: x.said(t.Type, v), Reads: x.reads}
	if err == nil && len(x.terms) < mostTerms && !slices.ContainsFunc(x.terms, func(o engine.Term) bool { return o.What == term.What && o.Value == term.Value }) {
		x.terms = append(x.terms, term)
	}
	return v, err == nil
}

// said is a value as people read it.
func (x *explanation) said(t Type, v value) string {
	switch {
	case t.N > 0:
		var list []string
		for _, e := range v.v {
			list = append(list, x.said(Type{Base: t.Base}, e))
		}
		return "[" + strings.Join(list, ", ") + "]"
	case t.Base == Boolean:
		return strconv.FormatBool(v.f == 1)
	case t.Base == Fixed:
		return strconv.FormatFloat(v.x.Float64(), 'g', -1, 64)
	case t.Base == Category:
		for i, name := range lists(x.Fields)[t.List] {
			if float64(i) == v.f {
				return name
			}
		}
	}
	return strconv.FormatFloat(v.f, 'g', -1, 32)
}
