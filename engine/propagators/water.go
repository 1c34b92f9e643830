package propagators

import (
	"math"
	"time"

	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/fields"
	"github.com/murksim/murksim/space"
)

// ShallowWater lets water run over a bed. A cell holds a depth; through each face runs
// a flux, which is depth times speed. First, with s and t for how high the water stands
// here and there above the sill max(bed here, bed there), at least 0,
//
//	flux = (flux + dt·Gravity·(s+t)/2·(s-t)/spacing) / (1 + Drag·dt)
//
// and 0 where s and t are; then
//
//	depth = depth - dt·Σ (flux + Viscosity·(s-t)/spacing)·area/volume
//
// over the faces, fluxes counted outward. No face passes more in a tick than its share of
// the water of the cell that it drains, so that no depth becomes negative. These are the
// shallow-water equations without the advection of momentum: virtual pipes (J. F.
// O'Brien and J. K. Hodgins, Computer Animation 1995; X. Mei, P. Decaudin and B.-G. Hu, Pacific
// Graphics 2007) with the inertia of P. D. Bates, M. S. Horritt and T. J. Fewtrell (J.
// Hydrology 387, 2010) and the depths of E. Audusse et al. (SIAM J. Sci. Comput. 25, 2004).
//
// Small waves run at √(Gravity·depth), in all directions alike. Both ends of a face
// compute the same bits for it from the start of the tick, so the volume is
// conserved but for the rounding of depths. A lake whose surface, depth + bed in
// float32, is one number is still in every bit, islands or not.
//
// It works on every lattice. Edges that absorb or clamp are walls. A square8 has the
// faces of a square4: diagonal neighbours touch in a corner, where nothing passes.
//
// With S = Σ area/(volume·spacing), which is 2 on a line, 4 on a plane, 3 on an fcc12, the step
// is stable while dt²·Gravity·depth·S + 2·dt·Viscosity·S ≤ 2. Its Spec demands that for
// MaxDepth; a depth above MaxDepth, or below 0, fails the tick.
type ShallowWater struct {
	Name  string    // default "shallow_water"
	Depth fields.ID // of one component; written in full

	// Flux has a component for each pair of opposite faces, and is written in full: on a
	// line the flux to the next cell, on a plane of squares those to the east and
	// south, on a hex east, northeast and southeast, on an fcc12 +x+y, +x-y, +x+z, +x-z, +y+z
	// and +y-z, on a product those of its parts.
	Flux fields.ID

	Bed      *fields.ID // its height, of one component; nil: 0 everywhere
	Gravity  float64    // in steps² per second² and unit of depth, at least 0
	Drag     float64    // per second, at least 0: how fast currents die away
	MaxDepth float64    // above 0

	// Viscosity, in steps² per second, at least 0, is artificial: without some, steep
	// waves leave ripples as short as a cell behind. A wave of length λ loses the
	// share (2π/λ)²/2 · Viscosity of its height a second.
	Viscosity float64
}

// Spec implements [engine.Propagator].
func (w ShallowWater) Spec(l *space.Lattice) engine.Spec {
	var f faces
	f.set(l)
	links := f.sum(func(a *face) float64 { return a.ratio / a.spacing })
	pull, smooth := float64(float64(w.Gravity*w.MaxDepth)*links), float64(w.Viscosity*links)
	return engine.Spec{
		Name: named(w.Name, "shallow_water"), Parallel: true, Cost: 32 * time.Microsecond, Scratch: longest,
		Prev:  append(optional(w.Bed), w.Depth, w.Flux),
		Full:  engine.Fields(w.Depth, w.Flux),
		MaxDt: positive(2 / (smooth + math.Sqrt(float64(smooth*smooth)+float64(2*pull)))),
	}
}

// Check implements [engine.Checker].
func (w ShallowWater) Check(l *space.Lattice, defs []fields.Def) error {
	var f faces
	f.set(l)
	c := checker{defs: defs}
	c.sized("depth", w.Depth, 1)
	c.sized("flux", w.Flux, f.pairs)
	c.distinct("depth", w.Depth, "flux", w.Flux)
	if w.Bed != nil {
		c.sized("bed", *w.Bed, 1)
		c.distinct("depth", w.Depth, "bed", *w.Bed)
		c.distinct("flux", w.Flux, "bed", *w.Bed)
	}
	c.number("gravity", w.Gravity, 0)
	c.number("drag", w.Drag, 0)
	c.number("viscosity", w.Viscosity, 0)
	c.number("max_depth", w.MaxDepth, 0)
	if w.MaxDepth == 0 {
		c.fail("max_depth", "max_depth must be above 0, not 0")
	}
	return c.err
}

// Step implements [engine.Propagator].
func (w ShallowWater) Step(c *engine.Context) error {
	p := pipes{
		depth: c.Prev(w.Depth), next: c.Next(w.Depth), flux: c.Prev(w.Flux), nextFlux: c.Next(w.Flux),
	}
	p.keep = float32(1 / (1 + float64(w.Drag*c.Dt())))
	if w.Bed != nil {
		p.bed = c.Prev(*w.Bed)
	}
	if err := p.check(c, float32(w.MaxDepth)); err != nil {
		return err
	}
	var f faces
	f.set(c.Lattice())
	p.pairs = f.pairs
	p.most = float32(leave / float64(c.Dt()*f.sum(func(a *face) float64 { return a.ratio })))
	var buffer [maxDirections]face
	for r := range runs(c, 1) {
		r.copy(p.next, p.depth)
		r.clearAll(p.nextFlux, p.pairs)
		list := f.at(r.pattern, &buffer)
		for i := range list {
			a := &list[i]
			p.pull = float32(float64(w.Gravity*c.Dt()) / (2 * a.spacing))
			p.smooth = float32(w.Viscosity / a.spacing)
			p.share = float32(c.Dt() * a.ratio)
			p.pass(&r, a, c.Scratch()[:r.count])
		}
	}
	return nil
}

// pipes hold the fields and numbers of one step.
type pipes struct {
	depth, next, flux, nextFlux []float32
	bed                         []float32 // nil: 0
	pairs                       int
	numbers
}

type numbers struct {
	keep   float32 // what drag leaves of a flux
	most   float32 // flux per depth of the cell that it drains, at most
	pull   float32 // flux per square of depth, in a tick
	smooth float32 // flux per difference of depths
	share  float32 // depth per flux
}

// leave is a little less than 1: what all faces together may drain of a cell, such
// that no rounding makes the rest negative.
const leave = 1 - 1.0/(1<<16)

// drop is a depth that does not run, so that no product with it underflows.
const drop = 1e-30

// check fails the tick at the first cell that is too deep or negative.
func (p *pipes) check(c *engine.Context, most float32) error {
	lo, hi := c.Range()
	for i, d := range p.depth[lo:hi] {
		if !(d >= 0 && d <= most) {
			if d < 0 {
				return c.Fail(lo+i, "the depth must be at least 0, not %v", d)
			}
			return c.Fail(lo+i, "the depth is %v; max_depth is %v", d, most)
		}
	}
	return nil
}

// pass moves what runs through one face of the cells in a tick, and keeps its flux if
// they own the face. Otherwise their neighbours own it, which may belong to another worker:
// such a face is computed at both ends.
func (p *pipes) pass(r *run, f *face, moved []float32) {
	if f.owner {
		p.run(moved, r, 0, f.offset, f.pair, p.nextFlux)
		for i, cell := 0, r.first; i < len(moved); i, cell = i+1, cell+r.stride {
			p.next[cell] -= moved[i]
		}
	} else {
		p.run(moved, r, f.offset, 0, f.pair, nil)
		for i, cell := 0, r.first; i < len(moved); i, cell = i+1, cell+r.stride {
			p.next[cell] += moved[i]
		}
	}
}

// run computes what moves from the cells at one offset of the run, which own the
// faces, to those at another, and keeps the fluxes unless there is nowhere to.
func (p *pipes) run(moved []float32, r *run, from, to, pair int, fluxes []float32) {
	here, there := r.at(p.depth, from), r.at(p.depth, to)
	there = there[:len(here)]
	var low, high []float32
	if p.bed != nil {
		low, high = r.at(p.bed, from), r.at(p.bed, to)
	}
	at, k := (r.first+from)*p.pairs+pair, p.numbers
	for i, j := 0, 0; i < len(moved); i, j, at = i+1, j+r.stride, at+r.stride*p.pairs {
		a, b := here[j], there[j]
		s, t := a, b
		if low != nil {
			x, y := low[j], high[j]
			sill := max(x, y)
			s, t = above(a, x, sill), above(b, y, sill)
		}
		flux, all := float32(0), float32(0)
		if s+t > 0 {
			most, least := k.bound(a), 0-k.bound(b)
			push := float32(float32(k.pull*(s+t)) * (s - t))
			flux = between(least, float32((p.flux[at]+push)*k.keep), most)
			all = between(least, flux+float32(k.smooth*(s-t)), most)
		}
		moved[i] = float32(all * k.share)
		if fluxes != nil {
			fluxes[at] = flux
		}
	}
}

// above returns how high water stands over a sill that is not below its bed.
func above(depth, bed, sill float32) float32 {
	if h := depth + bed - sill; h > 0 {
		return h
	}
	return 0
}

func between(least, v, most float32) float32 {
	if v < least {
		v = least
	}
	if v > most {
		v = most
	}
	return v
}

// bound returns the greatest flux out of a cell of some depth through one face.
func (p *numbers) bound(depth float32) float32 {
	if depth < drop {
		return 0
	}
	return float32(p.most * depth)
}

// clearAll makes all elements of the run's cells zero in a field of n components.
func (r *run) clearAll(field []float32, n int) {
	for i, cell := 0, r.first; i < r.count; i, cell = i+1, cell+r.stride {
		clear(field[cell*n : cell*n+n])
	}
}
