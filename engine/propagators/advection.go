package propagators

import (
	"time"

	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/fields"
	"github.com/murksim/murksim/internal/kernel"
	"github.com/murksim/murksim/space"
)

// Advection carries a field along with a velocity, each component of the field by
// itself. The velocity at a face is the mean of those of its two cells, and takes the field
// out of the cell that it comes from:
//
//	speed = normal·(velocity here + velocity there)/2
//	here -= dt·Σ speed·area/volume · (here if speed > 0, else there)
//
// over the faces, normals outward: the donor-cell or upwind step of
// ∂u/∂t + ∇·(velocity·u) = 0 (R. Courant, E. Isaacson and M. Rees, Comm. Pure Appl.
// Math. 5, 1952). Both ends of a face compute the same bits for it, so the total is conserved
// except for the rounding of sums. Values that are not negative stay so, except that
// rounding may leave about -1e-6 of a cell's value where all of it flows out. The scheme is
// of first order: it moves the centre of what it carries with exactly the velocity, and
// spreads it like diffusion, on a line by |v|·(1 - |v|·dt)/2 steps² a second.
//
// It works on every lattice. Edges that absorb or clamp are walls. A square8 has the
// faces of a square4: diagonal neighbours touch in a corner, where nothing passes. On an
// fcc12 velocities are in steps of the coordinates; neighbours are √2 apart.
//
// The step is stable while no cell loses more than it holds in a tick: the sum of
// dt·speed·area/volume over the faces with an outward flow must be at most 1. Where it
// is more, the tick fails and names the cell. In a uniform current that means
// dt·speed·K ≤ 1 in the worst direction, where K is 1 on a line, √2 on squares, 4/3 on a hex, √5/2
// on an fcc12, and on a product the root of the sum of its parts' squares. The Spec requires
// it for MaxSpeed.
type Advection struct {
	Name  string    // default "advection"
	Field fields.ID // of any number of components; written in full

	// Velocity is in steps per second. It has a component for each axis: on squares
	// eastward and southward, like Flow's; on a hex likewise, where the neighbour in the
	// southeast lies at (1/2, √3/2); on others as the coordinates; on a product those of its
	// parts.
	Velocity fields.ID
	MaxSpeed float64 // the fastest current expected, at least 0; 0: unknown, so that only the ticks check stability
}

// Spec implements [engine.Propagator].
func (a Advection) Spec(l *space.Lattice) engine.Spec {
	return engine.Spec{
		Name: named(a.Name, "advection"), Parallel: true, Cost: 2 * time.Microsecond,
		Scratch: driftScratch(l),
		Prev:    engine.Fields(a.Field, a.Velocity),
		Full:    engine.Fields(a.Field),
		MaxDt:   positive(1 / (a.MaxSpeed * outflow(l))),
	}
}

// Check implements [engine.Checker].
func (a Advection) Check(l *space.Lattice, defs []fields.Def) error {
	c := checker{defs: defs}
	c.field("field", a.Field)
	c.sized("velocity", a.Velocity, l.Dim())
	c.distinct("field", a.Field, "velocity", a.Velocity)
	c.number("max_speed", a.MaxSpeed, 0)
	return c.err
}

// Step implements [engine.Propagator].
func (a Advection) Step(c *engine.Context) error {
	d := drift{
		from: c.Prev(a.Field), to: c.Next(a.Field), components: c.Components(a.Field),
		velocity: c.Prev(a.Velocity), axes: c.Lattice().Dim(), dt: c.Dt(),
	}
	d.set(c.Lattice())
	d.layOut(c.Uncleared())
	cell, lost := -1, float32(0) // the first that loses too much
	finite := true
	var buffer [maxDirections]face
	for r := range runs(c, 1) {
		list := d.at(r.pattern, &buffer)
		d.share(&r, list)
		for k := range d.components {
			most, ok := d.carry(&r, d.passed[:len(list)], k)
			finite = ok && finite
			if k > 0 || most <= mostLost {
				continue
			}
			if at, much := d.emptied(&r, d.passed[:len(list)]); at >= 0 && (cell < 0 || at < cell) {
				cell, lost = at, much
			}
		}
	}
	if finite {
		c.Finite(a.Field)
	}
	if cell >= 0 {
		return c.Fail(cell, "%v times its value would leave it in a tick; slow the velocity or raise the tick rate", lost)
	}
	return nil
}

// mostLost is the share that may leave a cell, with what rounding explains.
const mostLost = 1 + 1e-6

// drift holds the fields and numbers of one step.
type drift struct {
	faces
	recent
	from, to, velocity []float32
	components, axes   int
	dt                 float64
	currents           [currentPlanes]current
	oldest             int
	there              []float32 // a run, and then its neighbours in each direction, where they do not lie together
	result             []float32
}

// A current is a component of the velocity of cells that lie together.
type current struct {
	component, first, count int
	plane                   []float32
}

const currentPlanes = 4 // of the row before, and of this one

// driftScratch returns how much scratch memory a step needs.
func driftScratch(l *space.Lattice) int {
	var f faces
	f.set(l)
	return recentScratch(&f) + (currentPlanes+1+f.n+1)*planeLength
}

// layOut divides scratch memory.
func (d *drift) layOut(scratch []float32) {
	d.recent.layOut(d.faces.pairs, scratch)
	rest := scratch[recentScratch(&d.faces):]
	for i := range d.currents {
		d.currents[i].plane, rest = rest[:planeLength], rest[planeLength:]
	}
	d.result, d.there = rest[:planeLength], rest[planeLength:]
}

// share finds the shares that pass each face of a run. Both ends compute the same bits, but for the sign.
func (d *drift) share(r *run, list []face) {
	var some run
	for _, t := range d.plan(r, list, false) {
		shares := d.memory[t.at:][:t.to-t.from]
		d.flow(r.part(t.from, t.to, &some), &list[t.face], shares)
		if t.known {
			kernel.Negate(shares, shares)
		}
	}
}

// flow computes the shares that pass a face, counted outward, in one go if its normal lies along an axis. The
// 1/2 of the mean of the velocities is in the factor.
func (d *drift) flow(r *run, f *face, shares []float32) {
	factor := float32(d.dt * f.ratio / 2)
	for axis, n := range f.normal {
		if n == 0 {
			continue
		}
		here, there := d.current(r, 0, f.first+axis), d.current(r, f.offset, f.first+axis)
		by := float32(1)
		if axis == f.last {
			by = factor
		}
		if axis == f.leading {
			kernel.Flow(shares, here, there, n, by)
		} else {
			kernel.AddFlow(shares, here, there, n, by)
		}
	}
}

// current returns a component of the velocity of the cells at an offset of a run, side by side. It keeps the latest
// ones, a few elements longer than it need be, for a row is needed again by the next one.
func (d *drift) current(r *run, offset, component int) []float32 {
	first := r.first + offset
	for i := range d.currents {
		c := &d.currents[i]
		if c.component == component && c.first <= first && first+r.count <= c.first+c.count && r.stride == 1 {
			if i == d.oldest { // it is in use
				d.oldest = (i + 1) % currentPlanes
			}
			return c.plane[first-c.first:][:r.count]
		}
	}
	c := &d.currents[d.oldest]
	d.oldest = (d.oldest + 1) % currentPlanes
	if r.stride != 1 {
		c.count = 0
		kernel.Gather(c.plane[:r.count], d.velocity[first*d.axes+component:], r.stride*d.axes)
		return c.plane[:r.count]
	}
	c.component, c.first = component, max(first-1, 0)
	c.count = min(first+r.count+1, len(d.velocity)/d.axes) - c.first
	kernel.Gather(c.plane[:c.count], d.velocity[c.first*d.axes+component:], d.axes)
	return c.plane[first-c.first:][:r.count]
}

// carry moves a component of the field through all faces of a run. It returns the largest share that
// leaves a cell, and reports whether the component is finite.
func (d *drift) carry(r *run, passed []kernel.Passage, k int) (most float32, finite bool) {
	first, stride := r.first*d.components+k, r.stride*d.components
	if stride == 1 {
		return kernel.Carry(d.to[first:first+r.count], d.from, first, d.memory, passed)
	}
	kernel.Gather(d.there[:r.count], d.from[first:], stride)
	var moved [maxDirections]kernel.Passage
	for i, p := range passed {
		moved[i] = p
		moved[i].There = (i + 1) * planeLength
		kernel.Gather(d.there[moved[i].There:][:r.count], d.from[first+p.There*d.components:], stride)
	}
	most, finite = kernel.Carry(d.result[:r.count], d.there, 0, d.memory, moved[:len(passed)])
	kernel.Scatter(d.to[first:], d.result[:r.count], stride)
	return most, finite
}

// emptied returns the lowest cell of the run that loses more than it holds, beyond what
// rounding explains.
func (d *drift) emptied(r *run, passed []kernel.Passage) (cell int, lost float32) {
	for i := range r.count {
		if lost := kernel.Leaving(d.memory, passed, i); lost > mostLost {
			return r.first + i*r.stride, lost
		}
	}
	return -1, 0
}
