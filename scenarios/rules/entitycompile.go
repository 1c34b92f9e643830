package rules

import (
	"math"
	"slices"

	"github.com/murksim/murksim/exact/f32"
	"github.com/murksim/murksim/rng"
)

// Formulas of rules of entities are compiled to functions that call each other. What is seldom is walked, as a whole: see evaluator.

// A frame is where an entity computes.
type frame struct {
	*stage
	place
	turn  int       // among those that are ready
	exact []float64 // uniform numbers, for the degree of its cell
	err   error     // the first operation that has no result
}

// An agentCode is a formula that was compiled: one of these.
type agentCode struct {
	term   *Term
	place  string
	number func(*frame) float32 // of a number or a category
	truth  func(*frame) bool
	value  func(*frame) value // of anything else
}

// An agentCompiler compiles formulas of entities.
type agentCompiler struct {
	*System
	naive    bool // everything is walked
	place    string
	uniforms []func(*frame) float64
}

// code compiles a formula that stands in a place; the zero code stands for none.
func (c *agentCompiler) code(t *Term, place string) (x agentCode) {
	if t == nil {
		return x
	}
	c.place = place
	x.term, x.place = t, place
	switch f := c.walked(t); {
	case c.naive && t.Type.Base == Boolean:
		x.truth = func(at *frame) bool { return f(at).f == 1 }
	case c.naive:
		x.value = f
	case t.Type.Base == Boolean:
		x.truth = c.truth(t)
	case t.Type.N == 0 && t.Type.Base != Fixed:
		x.number = c.number(t)
	default:
		x.value = f
	}
	return x
}

// walked walks a term.
func (c *agentCompiler) walked(t *Term) func(*frame) value {
	name := c.place
	return func(at *frame) value {
		there := at.place
		there.name = name
		v, err := at.e.eval(t, &there)
		if err != nil && at.err == nil {
			at.err = err
		}
		return v.rounded(t.Type)
	}
}

// within compiles with the place of a let.
func (c *agentCompiler) within(t *Term) (of *Term, back func()) {
	place := c.place
	c.place = "let." + c.scope.Lets[t.Index].Name
	return c.rule.uses[t.Index][t.Sight].Term, func() { c.place = place }
}

// slot is the place of a uniform number among those of a tick.
func (c *agentCompiler) slot(t *Term) int {
	c.uniforms = append(c.uniforms, c.uniform(t))
	return len(c.uniforms) - 1
}

// uniform compiles what is computed once for all cells with one number of neighbours.
func (c *agentCompiler) uniform(t *Term) func(*frame) float64 {
	name := c.place
	return func(at *frame) float64 {
		there := at.place
		there.name = name
		v, _ := at.e.eval(t, &there) // what can fail is not computed so
		return v.f
	}
}

// fixed reports whether fixed numbers are in a term: they may have no result.
func (c *agentCompiler) fixed(t *Term) (is bool) {
	t.Walk(func(x *Term) {
		is = is || x.Type.Base == Fixed || x.Op == UseLet && c.fixed(c.rule.uses[x.Index][x.Sight].Term)
	})
	return is
}

// steps reports whether the step to a neighbour is in a term.
func (c *agentCompiler) steps(t *Term) (is bool) {
	t.Walk(func(x *Term) {
		is = is || x.Op == Step || x.Op == UseLet && c.steps(c.rule.uses[x.Index][x.Sight].Term)
	})
	return is
}

// draw is the word of a draw.
func (c *agentCompiler) draw(t *Term) func(*frame) uint32 {
	i := slices.Index(c.streams, stream{c.place, t.Number})
	if c.sure[i] {
		return func(at *frame) uint32 { return at.ready.drawn[i][at.turn] }
	}
	return func(at *frame) uint32 { return at.bulks[i].Uint32(at.crowd.ids[at.slot]) }
}

// number compiles a number or a category, as a float32.
func (c *agentCompiler) number(t *Term) func(*frame) float32 {
	if t.Uniform && !c.fixed(t) {
		i := c.slot(t)
		return func(at *frame) float32 { return float32(at.exact[i]) }
	}
	switch t.Op {
	case Get, Now:
		return c.load(t, 0)
	case Component:
		switch x := t.Args[0]; x.Op {
		case Get, Now:
			return c.load(x, t.Index)
		case MakeVector:
			return c.number(x.Args[t.Index])
		}
	case UseLet:
		of, back := c.within(t)
		defer back()
		return c.number(of)
	case Negate, Abs, Floor, Sqrt, Exp, Log, Sin, Cos, Tanh:
		if t.Type == (Type{}) {
			return c.unary(t)
		}
	case Add, Subtract, Multiply, Divide, Mod, Pow, Min, Max, Clamp:
		if t.Type == (Type{}) {
			return c.arithmetic(t)
		}
	case Choose:
		return c.choose(t)
	case Uniform:
		if t.Args[0].Uniform && t.Args[1].Uniform && !c.fixed(t) {
			return c.between(t)
		}
		w, a, b := c.draw(t), c.number(t.Args[0]), c.number(t.Args[1])
		return func(at *frame) float32 {
			low, high := a(at), b(at)
			u := float32(w(at)>>8) * 0x1p-24
			return low + float32(float32(high-low)*u)
		}
	case Normal:
		w := c.draw(t)
		return func(at *frame) float32 { return float32(rng.NormalQuantile((float64(w(at)) + 0.5) * 0x1p-32)) }
	case Sum, Count:
		if t.Args[0].Type.Base != Fixed && t.Type.N == 0 && !c.steps(t) {
			return c.around(t)
		}
	case CountOn:
		if t.Where == nil {
			return func(at *frame) float32 { return float32(at.e.standing(t, &at.place)) }
		}
		return c.countOn(t)
	}
	f := c.walked(t)
	return func(at *frame) float32 { return float32(f(at).f) }
}

// between is a number that is drawn between two that are the same for all.
func (c *agentCompiler) between(t *Term) func(*frame) float32 {
	w, i, j := c.draw(t), c.slot(t.Args[0]), c.slot(t.Args[1])
	return func(at *frame) float32 {
		low, high := float32(at.exact[i]), float32(at.exact[j])
		u := float32(w(at)>>8) * 0x1p-24
		return low + float32(float32(high-low)*u)
	}
}

// load is a component of an attribute or a field.
func (c *agentCompiler) load(t *Term, k int) func(*frame) float32 {
	f := &c.scope.Fields[t.Index]
	i, n := t.Index, max(1, f.N)
	if i == len(c.scope.Fields)-1 {
		if t.Who == Other {
			return func(at *frame) float32 { return float32(at.state.Kinds[at.other]) }
		}
		return func(at *frame) float32 { return float32(at.state.Kinds[at.slot]) }
	}
	if t.Who == Other && c.rule.Order == Together && !f.Fixed {
		return func(at *frame) float32 {
			if found := at.state.Found[i]; len(found) > 0 {
				return found[at.other*n+k]
			}
			return at.columns[1][i][at.other*n+k]
		}
	}
	if f.Fixed {
		v := c.walked(t)
		return func(at *frame) float32 {
			x := v(at)
			if x.v != nil {
				x = x.v[k]
			}
			return float32(x.f)
		}
	}
	gen := 1
	if t.Op == Get {
		gen = 0
	}
	switch t.Who {
	case Here:
		return func(at *frame) float32 { return at.columns[gen][i][at.own*n+k] }
	case Near:
		return func(at *frame) float32 { return at.columns[gen][i][at.cell*n+k] }
	case Other:
		return func(at *frame) float32 { return at.columns[gen][i][at.other*n+k] }
	}
	return func(at *frame) float32 { return at.columns[gen][i][at.slot*n+k] }
}

// choose is an if.
func (c *agentCompiler) choose(t *Term) func(*frame) float32 {
	is, yes, no := c.truth(t.Args[0]), c.number(t.Args[1]), c.number(t.Args[2])
	return func(at *frame) float32 {
		if is(at) {
			return yes(at)
		}
		return no(at)
	}
}

// unary is a function of one number.
func (c *agentCompiler) unary(t *Term) func(*frame) float32 {
	x := c.number(t.Args[0])
	switch t.Op {
	case Negate:
		return func(at *frame) float32 { return -x(at) }
	case Abs:
		return func(at *frame) float32 { return math.Float32frombits(math.Float32bits(x(at)) &^ (1 << 31)) }
	case Floor:
		return func(at *frame) float32 { return float32(math.Floor(float64(x(at)))) }
	case Sqrt:
		return func(at *frame) float32 { return float32(math.Sqrt(float64(x(at)))) }
	}
	of := map[Op]func(float32) float32{Exp: f32.Exp, Log: f32.Log, Sin: f32.Sin, Cos: f32.Cos, Tanh: f32.Tanh}[t.Op] // looked up only
	return func(at *frame) float32 { return of(x(at)) }
}

// arithmetic is an operation of two numbers or more.
func (c *agentCompiler) arithmetic(t *Term) func(*frame) float32 {
	if f := c.withUniform(t); f != nil {
		return f
	}
	a, b := c.number(t.Args[0]), c.number(t.Args[1])
	switch t.Op {
	case Add:
		return func(at *frame) float32 { return a(at) + b(at) }
	case Subtract:
		return func(at *frame) float32 { return a(at) - b(at) }
	case Multiply:
		return func(at *frame) float32 { return float32(a(at) * b(at)) }
	case Divide:
		return func(at *frame) float32 { return a(at) / b(at) }
	case Mod:
		return func(at *frame) float32 { return modulo(a(at), b(at)) }
	case Pow:
		return func(at *frame) float32 { return f32.Pow(a(at), b(at)) }
	case Clamp:
		hi := c.number(t.Args[2])
		return func(at *frame) float32 {
			x, low, high := a(at), b(at), hi(at)
			if low > x {
				x = low
			}
			if high < x {
				x = high
			}
			return x
		}
	}
	rest, least := []func(*frame) float32{b}, t.Op == Min
	for _, x := range t.Args[2:] {
		rest = append(rest, c.number(x))
	}
	return func(at *frame) float32 {
		r := a(at)
		for _, f := range rest {
			if x := f(at); least && x < r || !least && x > r {
				r = x
			}
		}
		return r
	}
}

// withUniform is an operation whose second operand is the same for all, as mostly one is; nil: it is none of these.
func (c *agentCompiler) withUniform(t *Term) func(*frame) float32 {
	if t.Op != Add && t.Op != Subtract && t.Op != Multiply && t.Op != Divide || !t.Args[1].Uniform || c.fixed(t.Args[1]) {
		return nil
	}
	a, i := c.number(t.Args[0]), c.slot(t.Args[1])
	switch t.Op {
	case Add:
		return func(at *frame) float32 { return a(at) + float32(at.exact[i]) }
	case Subtract:
		return func(at *frame) float32 { return a(at) - float32(at.exact[i]) }
	case Multiply:
		return func(at *frame) float32 { return float32(a(at) * float32(at.exact[i])) }
	}
	return func(at *frame) float32 { return a(at) / float32(at.exact[i]) }
}

// around is a sum or a count over the neighbours.
func (c *agentCompiler) around(t *Term) func(*frame) float32 {
	var x func(*frame) float32
	sum := float32(math.Copysign(0, -1))
	if t.Op == Sum {
		x = c.number(t.Args[0])
	} else {
		is := c.truth(t.Args[0])
		x = func(at *frame) float32 { return numberOf(is(at)) }
		sum = 0
	}
	where := c.where(t)
	return func(at *frame) float32 {
		r, cell, in := sum, at.cell, at.in
		at.in = true
		for _, o := range at.patterns[at.own].Offsets {
			if at.cell = at.own + o; where == nil || where(at) {
				r += x(at)
			}
		}
		at.cell, at.in = cell, in
		return r
	}
}

// where compiles the condition of a term over neighbours; nil: it has none.
func (c *agentCompiler) where(t *Term) func(*frame) bool {
	if t.Where == nil {
		return nil
	}
	return c.truth(t.Where)
}

// among reports whether something holds at any of the neighbours, or at all.
func (c *agentCompiler) among(t *Term) func(*frame) bool {
	is, where, decides := c.truth(t.Args[0]), c.where(t), t.Op == Any
	return func(at *frame) bool {
		cell, in, found := at.cell, at.in, false
		at.in = true
		for _, o := range at.patterns[at.own].Offsets {
			if at.cell = at.own + o; (where == nil || where(at)) && is(at) == decides {
				found = true
				break
			}
		}
		at.cell, at.in = cell, in
		return found == decides
	}
}

// countOn counts entities on a cell for which something holds; see the evaluator's countOn.
func (c *agentCompiler) countOn(t *Term) func(*frame) float32 {
	is := c.truth(t.Where)
	return func(at *frame) float32 {
		w, cell, other := &at.crowd, at.own, at.other
		if t.Who == Near {
			cell = at.cell
		}
		looked, n := 0, 0
		for slot := w.first[cell]; slot >= 0 && looked < mostLooked; slot = w.after[slot] {
			if int(slot) == at.slot || !w.is(t.Kinds, at.slot, int(slot)) {
				continue
			}
			looked++
			if at.other = int(slot); is(at) {
				n++
			}
		}
		at.other = other
		return float32(n)
	}
}

// numberOf is 1 for true.
func numberOf(b bool) float32 {
	if b {
		return 1
	}
	return 0
}

// truth compiles a condition.
func (c *agentCompiler) truth(t *Term) func(*frame) bool {
	if t.Uniform && !c.fixed(t) {
		i := c.slot(t)
		return func(at *frame) bool { return at.exact[i] == 1 }
	}
	switch t.Op {
	case Not:
		x := c.truth(t.Args[0])
		return func(at *frame) bool { return !x(at) }
	case And:
		a, b := c.truth(t.Args[0]), c.truth(t.Args[1])
		return func(at *frame) bool { return a(at) && b(at) }
	case Or:
		a, b := c.truth(t.Args[0]), c.truth(t.Args[1])
		return func(at *frame) bool { return a(at) || b(at) }
	case Choose:
		is, yes, no := c.truth(t.Args[0]), c.truth(t.Args[1]), c.truth(t.Args[2])
		return func(at *frame) bool {
			if is(at) {
				return yes(at)
			}
			return no(at)
		}
	case UseLet:
		of, back := c.within(t)
		defer back()
		return c.truth(of)
	case Any, All:
		if !c.steps(t) {
			return c.among(t)
		}
	case Chance:
		w, p := c.draw(t), t.Args[0]
		if p.Uniform && !c.fixed(p) {
			i := c.slot(p)
			return func(at *frame) bool { return float64(w(at)) < at.exact[i]*0x1p32 } // exactly: a power of two
		}
		f := c.number(p)
		return func(at *frame) bool { return float64(w(at)) < float64(f(at))*0x1p32 }
	}
	if x := t.Args; t.Op >= Equal && t.Op <= GreaterEqual && x[0].Type.Base != Fixed && x[0].Type.Base != Boolean {
		return c.compare(t)
	}
	f := c.walked(t)
	return func(at *frame) bool { return f(at).f == 1 }
}

// compare compares two numbers, or two categories.
func (c *agentCompiler) compare(t *Term) func(*frame) bool {
	if t.Args[1].Uniform && !c.fixed(t) {
		return c.compareUniform(t)
	}
	a, b := c.number(t.Args[0]), c.number(t.Args[1])
	switch t.Op {
	case Equal:
		return func(at *frame) bool { return a(at) == b(at) }
	case NotEqual:
		return func(at *frame) bool { return a(at) != b(at) }
	case Less:
		return func(at *frame) bool { return a(at) < b(at) }
	case LessEqual:
		return func(at *frame) bool { return a(at) <= b(at) }
	case Greater:
		return func(at *frame) bool { return a(at) > b(at) }
	}
	return func(at *frame) bool { return a(at) >= b(at) }
}

// compareUniform compares with what is the same for all, as mostly a condition does.
func (c *agentCompiler) compareUniform(t *Term) func(*frame) bool {
	a, i := c.number(t.Args[0]), c.slot(t.Args[1])
	switch t.Op {
	case Equal:
		return func(at *frame) bool { return a(at) == float32(at.exact[i]) }
	case NotEqual:
		return func(at *frame) bool { return a(at) != float32(at.exact[i]) }
	case Less:
		return func(at *frame) bool { return a(at) < float32(at.exact[i]) }
	case LessEqual:
		return func(at *frame) bool { return a(at) <= float32(at.exact[i]) }
	case Greater:
		return func(at *frame) bool { return a(at) > float32(at.exact[i]) }
	}
	return func(at *frame) bool { return a(at) >= float32(at.exact[i]) }
}
