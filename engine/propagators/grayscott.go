package propagators

import (
	"math"
	"time"

	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/fields"
	"github.com/murksim/murksim/internal/kernel"
	"github.com/murksim/murksim/space"
)

// GrayScott lets two substances spread and react, so that v turns u into more v:
//
//	u += dt·(DiffU·Σ (neighbour - u) - u·v² + Feed·(1 - u))
//	v += dt·(DiffV·Σ (neighbour - v) + u·v² - (Feed + Kill)·v)
//
// which is the explicit Euler step of U + 2V → 3V, V → P in a flow that brings U and
// takes away both (P. Gray and S. K. Scott, Chem. Eng. Sci. 39, 1984; J. E. Pearson,
// Science 261, 1993). A rate of diffusion has the meaning that it has in [Diffusion]: on a
// plane of square cells one cell apart it is the coefficient of diffusion. All four
// constants are multiplied by dt in float64 and rounded once. It works on every
// lattice; a cell without neighbours reacts alone. Where u is 1 and v is 0, in a cell and
// its neighbours, no bit ever changes.
//
// With at most n neighbours the step is stable for v up to m while
//
//	dt·(n·DiffU + (Feed + m²)/2) ≤ 1  and  dt·(n·DiffV + (Feed + Kill)/2) ≤ 1
//
// which its Spec requires, with m = MaxV. Neither substance becomes negative if also
// dt·(n·DiffU + Feed + m²) ≤ 1 and dt·(n·DiffV + Feed + Kill) ≤ 1. Begin with
// u + v ≤ 1: v then stays below 1, or close to it; patterns have v below 0.7.
type GrayScott struct {
	Name         string    // default "gray_scott"
	U, V         fields.ID // of one component, both written in full
	DiffU, DiffV float64   // per second and neighbour, at least 0
	Feed         float64   // per second, at least 0: how fast u is replaced, and both are washed out
	Kill         float64   // per second, at least 0: how fast v decays in addition
	MaxV         float64   // the greatest v for which the step must be stable; a greater one fails the tick. 0: 1, and none fails it
}

// Spec implements [engine.Propagator].
func (g GrayScott) Spec(l *space.Lattice) engine.Spec {
	n := float64(l.MaxDegree())
	most := 1.0
	if g.MaxV != 0 {
		most = float64(g.MaxV * g.MaxV)
	}
	u := float64(n*g.DiffU) + float64((g.Feed+most)/2)
	v := float64(n*g.DiffV) + float64((g.Feed+g.Kill)/2)
	return engine.Spec{
		Name: named(g.Name, "gray_scott"), Parallel: true, Cost: 1400 * time.Nanosecond, Local: true,
		Prev:  engine.Fields(g.U, g.V),
		Full:  engine.Fields(g.U, g.V),
		MaxDt: positive(1 / max(u, v)),
	}
}

// Check implements [engine.Checker].
func (g GrayScott) Check(_ *space.Lattice, defs []fields.Def) error {
	c := checker{defs: defs}
	c.sized("u", g.U, 1)
	c.sized("v", g.V, 1)
	c.distinct("u", g.U, "v", g.V)
	c.number("diff_u", g.DiffU, 0)
	c.number("diff_v", g.DiffV, 0)
	c.number("feed", g.Feed, 0)
	c.number("kill", g.Kill, 0)
	c.number("max_v", g.MaxV, 0)
	return c.err
}

// Step implements [engine.Propagator].
func (g GrayScott) Step(c *engine.Context) error {
	u, nextU := c.Prev(g.U), c.Next(g.U)
	v, nextV := c.Prev(g.V), c.Next(g.V)
	if g.MaxV != 0 {
		if err := g.within(c, v); err != nil {
			return err
		}
	}
	dt := c.Dt()
	s := kernel.Reaction{
		SpreadU: float32(g.DiffU * dt), SpreadV: float32(g.DiffV * dt),
		Feed: float32(g.Feed * dt), Loss: float32((g.Feed + g.Kill) * dt), Dt: float32(dt),
	}
	finite := true
	for r, n := range strips(c, 1) {
		s.N = float32(len(n.Offsets))
		finite = s.React(nextU, nextV, u, v, r, n) && finite
	}
	if finite {
		c.Finite(g.U)
		c.Finite(g.V)
	}
	return nil
}

// within fails the tick at the first cell with more of v than the step is stable for.
func (g GrayScott) within(c *engine.Context, v []float32) error {
	lo, hi := c.Range()
	most := float32(g.MaxV)
	if kernel.Within(v[lo:hi], -math.MaxFloat32, most) {
		return nil
	}
	for i, x := range v[lo:hi] {
		if !(x <= most) {
			return c.Fail(lo+i, "v is %v; max_v is %v", x, most)
		}
	}
	return nil
}
