package propagators

import (
	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/exact"
	"github.com/murksim/murksim/fields"
	"github.com/murksim/murksim/space"
)

// Diffusion pulls every cell toward the mean of its n neighbours, as they stood at
// the start of the tick, each component of a vector by itself:
//
//	next = (1-α)·here + α·(Σ neighbours / n),  α = min(Rate·dt·n, 1)
//	next = next · exp(-Decay·dt)               if Decay > 0
//
// α and the exponential are computed in float64 and rounded once. A cell without
// neighbours keeps its value, but for the decay. This is the explicit Euler step of
// ∂u/∂t = Rate · Σ (neighbour - here); it is stable while Rate·dt·n ≤ 1, which its
// Spec demands, and without decay and holds keeps the total within rounding. The
// sums are those of the original Murk engine's scalar diffusion.
type Diffusion struct {
	Name  string    // default "diffusion"
	Field fields.ID // of any number of components; written in full
	Rate  float64   // per second and neighbour, at least 0
	Decay float64   // per second, at least 0

	// BlockedBy makes walls of the cells where this field, of one component, is not
	// zero at the start of the tick: they keep their values, and are nobody's
	// neighbours.
	BlockedBy *fields.ID

	Hold     []Hold     // applied last, in order, to walls too
	Gradient *fields.ID // also gets the gradient, as Gradient computes it: walls are cells as any other
}

// A Hold keeps cells at a value.
type Hold struct {
	Cells []int   // their ranks
	Value float64 // rounded to float32; for every component
}

// Spec implements [engine.Propagator].
func (d Diffusion) Spec(l *space.Lattice) engine.Spec {
	return engine.Spec{
		Name: named(d.Name, "diffusion"), Parallel: true,
		Prev:  append(optional(d.BlockedBy), d.Field),
		Full:  append(optional(d.Gradient), d.Field),
		MaxDt: positive(1 / (d.Rate * float64(l.MaxDegree()))),
	}
}

// Check implements [engine.Checker].
func (d Diffusion) Check(l *space.Lattice, defs []fields.Def) error {
	c := checker{defs: defs}
	n := c.field("field", d.Field)
	c.number("rate", d.Rate, 0)
	c.number("decay", d.Decay, 0)
	if d.BlockedBy != nil {
		c.sized("blocked by", *d.BlockedBy, 1)
		c.distinct("field", d.Field, "blocked by", *d.BlockedBy)
	}
	if d.Gradient != nil {
		c.sized("gradient", *d.Gradient, 2)
		if n > 1 {
			c.fail("gradient: field %q has %d components; only a field of one has a gradient", defs[d.Field].Name, n)
		}
	}
	for i, h := range d.Hold {
		c.number("held value", h.Value, -maxFloat32)
		for _, cell := range h.Cells {
			if cell < 0 || cell >= l.Cells() {
				c.fail("hold %d: cell %d; the space has %d cells", i, cell, l.Cells())
			}
		}
	}
	return c.err
}

// Step implements [engine.Propagator].
func (d Diffusion) Step(c *engine.Context) error {
	prev, next := c.Prev(d.Field), c.Next(d.Field)
	components := c.Components(d.Field)
	s := diffusing{rate: float64(d.Rate * c.Dt()), decay: 1}
	if d.Decay > 0 {
		s.decay = float32(exact.Exp(-float64(d.Decay * c.Dt())))
	}
	if d.BlockedBy != nil {
		s.walls = c.Prev(*d.BlockedBy)
	}
	for r := range runs(c, components) {
		if s.walls != nil {
			s.around(&r, next, prev)
			continue
		}
		s.open(&r, next, prev)
	}
	d.hold(c, next, components)
	if d.Gradient != nil {
		slope{}.step(c, prev, c.Next(*d.Gradient))
	}
	return nil
}

func (d Diffusion) hold(c *engine.Context, next []float32, components int) {
	lo, hi := c.Range()
	for i := range d.Hold {
		for _, cell := range d.Hold[i].Cells {
			if cell >= lo && cell < hi {
				fill(next[cell*components:(cell+1)*components], float32(d.Hold[i].Value))
			}
		}
	}
}

// diffusing holds the numbers of one step.
type diffusing struct {
	rate  float64   // per tick and neighbour
	decay float32   // what is left after a tick
	walls []float32 // nil: none
}

// alpha is the weight of the mean of n neighbours.
func (s *diffusing) alpha(n int) float32 { return float32(min(float64(s.rate*float64(n)), 1)) }

// open computes a run without walls.
func (s *diffusing) open(r *run, next, prev []float32) {
	n := r.degree()
	switch {
	case n == 0:
		r.copy(next, prev)
	case r.stride == 1:
		r.sum(next, prev)
		blend(r.of(next), r.of(prev), s.alpha(n), float32(n))
	default:
		r.sum(next, prev)
		alpha, rest, count := s.alpha(n), 1-s.alpha(n), float32(n)
		for i, e := 0, r.first; i < r.count; i, e = i+1, e+r.stride {
			next[e] = float32(rest*prev[e]) + float32(alpha*(next[e]/count))
		}
	}
	if s.decay != 1 {
		for i, e := 0, r.first; i < r.count; i, e = i+1, e+r.stride {
			next[e] = float32(next[e] * s.decay)
		}
	}
}

// blend turns sums of n neighbours into the next values.
func blend(sums, here []float32, alpha, n float32) {
	here = here[:len(sums)]
	rest := 1 - alpha
	for i, s := range sums {
		sums[i] = float32(rest*here[i]) + float32(alpha*(s/n))
	}
}

// around computes a run among walls. Where there is none it gives the bits of open.
func (s *diffusing) around(r *run, next, prev []float32) {
	for i, e := 0, r.first; i < r.count; i, e = i+1, e+r.stride {
		cell := e / r.components
		if s.walls[cell] != 0 {
			next[e] = prev[e]
			continue
		}
		sum, n := negativeZero, 0
		for _, o := range r.pattern.Offsets {
			if s.walls[cell+o] == 0 {
				sum += prev[e+o*r.components]
				n++
			}
		}
		v := prev[e]
		if n > 0 {
			alpha := s.alpha(n)
			v = float32((1-alpha)*v) + float32(alpha*(sum/float32(n)))
		}
		next[e] = float32(v * s.decay)
	}
}
