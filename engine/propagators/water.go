package propagators

import (
	"math"
	"time"

	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/fields"
	"github.com/murksim/murksim/internal/kernel"
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
		Name: named(w.Name, "shallow_water"), Parallel: true, Cost: 2 * time.Microsecond, Scratch: pipeScratch(&f),
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
	p := pipes{depth: c.Prev(w.Depth), next: c.Next(w.Depth), flux: c.Prev(w.Flux), nextFlux: c.Next(w.Flux)}
	if w.Bed != nil {
		p.bed = c.Prev(*w.Bed)
	}
	var f faces
	w.prepare(&p, &f, c)
	p.layOut(&f, c.Scratch())
	finite, sound := true, true
	var buffer [maxDirections]face
	for r := range runs(c, 1) {
		list := f.at(r.pattern, &buffer)
		sound = kernel.Within(r.plane(p.spare[pipeHere], p.depth, 0, 0, 1), 0, float32(w.MaxDepth)) && sound
		p.run(&r, list)
		finite = p.end(&r, p.passed[:len(list)]) && finite
	}
	if !sound {
		return p.unsound(c, float32(w.MaxDepth))
	}
	if finite {
		c.Finite(w.Depth)
		c.Finite(w.Flux)
	}
	return nil
}

// prepare sets the faces of the lattice and the numbers of a tick.
func (w *ShallowWater) prepare(p *pipes, f *faces, c *engine.Context) {
	f.set(c.Lattice())
	for i := range f.dirs[:f.n] {
		if a := &f.dirs[i]; !a.corner {
			p.pull[a.pair] = float32(float64(w.Gravity*c.Dt()) / (2 * a.spacing))
			p.smooth[a.pair] = float32(w.Viscosity / a.spacing)
			p.share[a.pair] = float32(c.Dt() * a.ratio)
		}
	}
	p.Keep = float32(1 / (1 + float64(w.Drag*c.Dt())))
	p.Most = float32(leave / float64(c.Dt()*f.sum(func(a *face) float64 { return a.ratio })))
}

// leave is a little less than 1: what all faces together may drain of a cell, such
// that no rounding makes the rest negative.
const leave = 1 - 1.0/(1<<16)

// pipes hold the fields and numbers of one step.
type pipes struct {
	kernel.Pipe
	recent
	pull, smooth, share         [maxDirections / 2]float32 // by pair
	depth, next, flux, nextFlux []float32
	bed                         []float32                    // nil: 0
	fluxes                      [maxDirections / 2][]float32 // by pair: those of a run after the tick
	spare                       [pipePlanes][]float32
}

// Planes that hold a run where the fields do not have its elements side by side.
const (
	pipeNext = iota
	pipeHere
	pipeThere
	pipeBedHere
	pipeBedThere
	pipeFlux
	pipeTheirs // fluxes of faces that others own
	pipePlanes
)

// pipeScratch returns how much scratch memory a step needs.
func pipeScratch(f *faces) int { return recentScratch(f) + (f.pairs+pipePlanes)*planeLength }

// layOut divides scratch memory.
func (p *pipes) layOut(f *faces, scratch []float32) {
	p.recent.layOut(f.pairs, scratch)
	rest := scratch[recentScratch(f):]
	for i := range f.pairs {
		p.fluxes[i] = rest[i*planeLength:][:longest]
	}
	for i := range p.spare {
		p.spare[i] = rest[(f.pairs+i)*planeLength:][:longest]
	}
}

// unsound fails the tick at the first cell that is too deep or negative.
func (p *pipes) unsound(c *engine.Context, most float32) error {
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

// run finds what runs through each face of a run in a tick, and the fluxes of those that its cells own.
func (p *pipes) run(r *run, list []face) {
	for _, flux := range p.fluxes[:p.pairs] {
		clear(flux[:r.count])
	}
	var some run
	for _, t := range p.plan(r, list, true) {
		p.move(r.part(t.from, t.to, &some), &list[t.face], p.memory[t.at:][:t.to-t.from])
	}
}

// move computes what runs through a face of each cell of a run, out of the cells that own it, and keeps
// the fluxes if those are of the run.
func (p *pipes) move(r *run, f *face, moved []float32) {
	p.Pull, p.Smooth, p.Share = p.pull[f.pair], p.smooth[f.pair], p.share[f.pair]
	from, to, fluxes := 0, f.offset, p.fluxes[f.pair]
	if !f.owner {
		from, to, fluxes = to, from, p.spare[pipeTheirs]
	}
	e := kernel.Ends{
		Here: r.plane(p.spare[pipeHere], p.depth, from, 0, 1), There: r.plane(p.spare[pipeThere], p.depth, to, 0, 1),
		Flux: r.plane(p.spare[pipeFlux], p.flux, from, f.pair, p.pairs),
	}
	if p.bed != nil {
		e.BedHere, e.BedThere = r.plane(p.spare[pipeBedHere], p.bed, from, 0, 1), r.plane(p.spare[pipeBedThere], p.bed, to, 0, 1)
	} else {
		e.BedHere, e.BedThere = p.spare[pipeBedHere][:r.count], p.spare[pipeBedThere][:r.count]
	}
	p.Move(moved, fluxes[:r.count], &e)
}

// end writes a run, and reports whether all is finite.
func (p *pipes) end(r *run, passed []kernel.Passage) (finite bool) {
	next := p.spare[pipeNext][:r.count]
	if r.stride == 1 {
		next = r.of(p.next)
	}
	finite = kernel.Settle(next, r.plane(p.spare[pipeHere], p.depth, 0, 0, 1), p.memory, passed)
	var planes [maxDirections / 2][]float32
	for i := range p.pairs {
		planes[i] = p.fluxes[i][:r.count]
		finite = kernel.AllFinite(planes[i], 1) && finite
	}
	if r.stride == 1 {
		kernel.Interleave(p.nextFlux[r.first*p.pairs:], planes[:p.pairs]...)
		return finite
	}
	kernel.Scatter(r.of(p.next), next, r.stride)
	for i, flux := range planes[:p.pairs] {
		kernel.Scatter(p.nextFlux[r.first*p.pairs+i:], flux, r.stride*p.pairs)
	}
	return finite
}
