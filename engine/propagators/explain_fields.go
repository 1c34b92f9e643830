package propagators

import (
	"math"
	"strconv"

	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/exact"
	"github.com/murksim/murksim/fields"
)

// Explain implements [engine.Explainer].
func (d Diffusion) Explain(c *engine.Context, id fields.ID, element int) []engine.Term {
	a := &account{c: c}
	prev, components := c.Prev(d.Field), c.Components(d.Field)
	if id != d.output() {
		return slope{}.explain(a, prev, element)
	}
	var walls []float32
	if d.BlockedBy != nil {
		walls = c.Prev(*d.BlockedBy)
	}
	original := c.Rules() == engine.Murk019
	if original {
		components = 1
	}
	cell := element / components
	if cell >= c.Lattice().Cells() || a.pattern(cell) == nil { // of a vector under the rules of the original
		return nil
	}
	if walls != nil && walls[cell] != 0 {
		a.is("here, a wall", prev[element])
	} else {
		d.spread(a, prev, walls, element, components, original)
	}
	for _, h := range d.Hold {
		for _, held := range h.Cells {
			if held == cell {
				a.is("held at", float32(h.Value))
			}
		}
	}
	if d.Min != nil {
		a.atLeast("at least", float32(*d.Min))
	}
	if d.Max != nil {
		a.atMost("at most", float32(*d.Max))
	}
	return a.terms
}

// spread says what an open cell gets of its neighbours, and loses.
func (d *Diffusion) spread(a *account, prev, walls []float32, element, components int, original bool) {
	here := prev[element]
	n := a.near(prev, walls, element, components, false)
	switch {
	case n == 0:
		a.is("here", here)
	case original:
		alpha := float32(min(float64(float64(d.Rate*a.c.Dt())*float64(n)), 1))
		a.over("neighbours", float32(n))
		a.times("share", alpha)
		a.plus("(1 - share)·here", float32((1-alpha)*here))
	default:
		a.minus(strconv.Itoa(n)+"·here", float32(float32(n)*here))
		a.times("rate·dt", d.share(a.c))
		a.plus("here", here)
	}
	if d.Decay > 0 {
		a.times("decay", float32(exact.Exp(-float64(d.Decay*a.c.Dt()))))
	}
}

// Explain implements [engine.Explainer].
func (w Wave) Explain(c *engine.Context, id fields.ID, element int) []engine.Term {
	a := &account{c: c}
	prev, dt := c.Prev(w.Displacement), float32(c.Dt())
	velocity := c.Prev(w.Velocity)[element]
	n := a.near(prev, nil, element, c.Components(w.Displacement), true)
	a.over("neighbours", float32(n))
	a.minus("here", prev[element])
	a.times("speed²", float32(w.Speed*w.Speed))
	a.minus("damping·velocity", float32(float32(w.Damping)*velocity))
	a.times("dt", dt)
	a.plus("velocity", velocity)
	if id == w.Displacement {
		a.times("dt", dt)
		a.plus("here", prev[element])
	}
	return a.terms
}

// Explain implements [engine.Explainer].
func (g GrayScott) Explain(c *engine.Context, id fields.ID, cell int) []engine.Term {
	a := &account{c: c}
	dt, u, v := c.Dt(), c.Prev(g.U)[cell], c.Prev(g.V)[cell]
	eaten := float32(float32(dt) * float32(u*float32(v*v)))
	n := float32(a.near(c.Prev(id), nil, cell, 1, true))
	if id == g.U {
		a.minus("n·u", float32(n*u))
		a.times("diff_u·dt", float32(g.DiffU*dt))
		a.plus("u", u)
		a.minus("u·v²·dt", eaten)
		a.plus("feed·dt·(1 - u)", float32(float32(g.Feed*dt)*(1-u)))
		return a.terms
	}
	a.minus("n·v", float32(n*v))
	a.times("diff_v·dt", float32(g.DiffV*dt))
	a.plus("v", v)
	a.plus("u·v²·dt", eaten)
	a.minus("(feed + kill)·dt·v", float32(float32((g.Feed+g.Kill)*dt)*v))
	return a.terms
}

// Explain implements [engine.Explainer].
func (g Gradient) Explain(c *engine.Context, _ fields.ID, element int) []engine.Term {
	return slope{}.explain(&account{c: c}, c.Prev(g.Field), element)
}

// Explain implements [engine.Explainer].
func (f Flow) Explain(c *engine.Context, _ fields.ID, element int) []engine.Term {
	return slope{down: true, unit: f.Normalise}.explain(&account{c: c}, c.Prev(f.Field), element)
}

func (s slope) explain(a *account, src []float32, element int) []engine.Term {
	cell, axis := element/2, 1-element%2
	s.along(a, src, cell, axis)
	if !s.unit {
		return a.terms
	}
	other := account{c: a.c}
	s.along(&other, src, cell, 1-axis)
	x, y := a.value, other.value
	if axis == 0 {
		x, y = y, x
	}
	if length := float32(math.Sqrt(float64(float32(x*x) + float32(y*y)))); length > shortest {
		a.over("length", length)
	}
	return a.terms
}

// along says the slope of a cell along an axis.
func (s slope) along(a *account, src []float32, cell, axis int) {
	p := a.pattern(cell)
	if compass, ok := a.c.Lattice().Compass(); ok {
		before, after := 0, 0 // north and south, or west and east
		for k, dir := range p.Dirs {
			switch int(dir) {
			case compass[2*axis]:
				before = p.Offsets[k]
			case compass[2*axis+1]:
				after = p.Offsets[k]
			}
		}
		a.is(a.at(cell+after), src[cell+after])
		a.minus(a.at(cell+before), src[cell+before])
		a.over("steps", 2)
		if s.down {
			a.times("downhill", -1)
		}
		return
	}
	var t terms
	t.set(p, axis, a.c.Rules())
	if t.n == 0 {
		a.is("no neighbour along the axis", 0)
		return
	}
	for k := range t.n {
		to := cell + t.offset[k]
		a.plus("slope to "+a.at(to), (src[to]-src[cell])/t.step[k])
	}
	a.over("neighbours", float32(t.n))
	if s.down {
		a.times("downhill", -1)
	}
}

// Explain implements [engine.Explainer].
func (r Resource) Explain(c *engine.Context, id fields.ID, cell int) []engine.Term {
	a, dt := &account{c: c}, float32(c.Dt())
	a.is("here", c.Was(id)[cell])
	if r.Presence != nil && c.Prev(*r.Presence)[cell] != 0 {
		a.minus("consumption·dt", float32(float32(r.Consumption)*dt))
	}
	regrowth, capacity, x := float32(r.Regrowth), float32(r.Capacity), a.value
	switch {
	case !r.Logistic:
		a.plus("regrowth·dt", float32(regrowth*dt))
	case x > 0:
		a.plus("regrowth·v·(1 - v/capacity)·dt", float32(float32(float32(regrowth*x)*(1-x/capacity))*dt))
	}
	a.atLeast("at least", 0)
	a.atMost("at most capacity", capacity)
	return a.terms
}

// Explain implements [engine.Explainer].
func (d Decay) Explain(c *engine.Context, id fields.ID, element int) []engine.Term {
	a := &account{c: c}
	a.is("here", c.Was(id)[element])
	a.times("exp(-rate·dt)", float32(exact.Exp(-float64(d.Rate*c.Dt()))))
	return a.terms
}

// Explain implements [engine.Explainer].
func (z Noise) Explain(c *engine.Context, id fields.ID, element int) []engine.Term {
	a, n := &account{c: c}, c.Components(id)
	a.is("here", c.Next(id)[element])
	here := a.value
	drawn := []float32{float32(math.Copysign(0, -1))} // to which a sum is added in every bit
	if z.Kind == SaltPepper {
		drawn[0] = here
	}
	if c.Rules() == engine.Murk019 {
		z.original(drawn, uint64(element), c.Tick())
	} else {
		words := c.Bulk(0).Words(uint64(element / n))
		z.cell(make([]float32, element%n), &words)
		z.cell(drawn, &words)
	}
	switch {
	case z.Kind != SaltPepper:
		a.plus("drawn", drawn[0])
	case math.Float32bits(drawn[0]) != math.Float32bits(here):
		a.is("drawn", drawn[0])
	}
	return a.terms
}

// Explain implements [engine.Explainer].
func (e Emission) Explain(c *engine.Context, id fields.ID, cell int) []engine.Term {
	a, present := &account{c: c}, c.Prev(e.Presence)[cell] != 0
	switch {
	case !e.Set:
		a.is("here", c.Next(id)[cell])
		if present {
			a.plus("intensity", float32(e.Intensity))
		}
	case present:
		a.is("intensity", float32(e.Intensity))
	default:
		a.is("nobody is there", 0)
	}
	return a.terms
}

// Explain implements [engine.Explainer].
func (r Reward) Explain(c *engine.Context, _ fields.ID, cell int) []engine.Term {
	a := &account{c: c}
	if c.Now(r.Presence)[cell] == 0 {
		a.is("nobody is there", 0)
		return a.terms
	}
	a.is("heat", c.Now(r.Heat)[cell])
	a.times("heat_bonus", float32(r.HeatBonus))
	a.plus("step_cost", float32(r.StepCost))
	return a.terms
}

// Explain implements [engine.Explainer].
func (p Copy) Explain(c *engine.Context, _ fields.ID, element int) []engine.Term {
	a, read := &account{c: c}, c.Prev
	if p.Now {
		read = c.Now
	}
	a.is("field", read(p.Field)[element])
	return a.terms
}
