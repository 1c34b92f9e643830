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
	d.layOut(c.Scratch())
	cell, lost := -1, float32(0) // the first that loses too much
	finite := true
	var buffer [maxDirections]face
	for r := range runs(c, 1) {
		list := d.at(r.pattern, &buffer)
		d.share(&r, list)
		for k := range d.components {
			finite = d.carry(&r, list, k) && finite
		}
		if at, much := d.emptied(&r); at >= 0 && (cell < 0 || at < cell) {
			cell, lost = at, much
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

// drift holds the fields and numbers of one step.
type drift struct {
	faces
	recent
	from, to, velocity []float32
	components, axes   int
	dt                 float64
	shares             [maxDirections][]float32 // by face: of a cell's value that pass it; negative: of its neighbour's, inward
	inward             [maxDirections][]float32 // memory for shares of faces that neighbours own
	lost               []float32                // the share that leaves the cell through all faces
	spare              [driftPlanes][]float32
}

// Planes that hold a run where the fields do not have its elements side by side.
const (
	driftHere = iota
	driftThere
	driftTo
	driftPlanes
)

// driftScratch returns how much scratch memory a step needs.
func driftScratch(l *space.Lattice) int {
	var f faces
	f.set(l)
	return (1 + driftPlanes + f.n + recentRuns(f.pairs)*f.pairs) * longest
}

// layOut divides scratch memory.
func (d *drift) layOut(scratch []float32) {
	plane := func() (p []float32) {
		p, scratch = scratch[:longest], scratch[longest:]
		return p
	}
	d.lost = plane()
	for i := range d.spare {
		d.spare[i] = plane()
	}
	for i := range d.n {
		d.inward[i] = plane()
	}
	d.recent.layOut(d.faces.pairs, scratch)
}

// share computes the shares that pass each face of a run.
func (d *drift) share(r *run, list []face) {
	d.begin(r)
	for i := range list {
		if f := &list[i]; f.owner {
			d.shares[i] = d.own(r, f)
			d.flow(r, f, d.shares[i])
		}
	}
	for i := range list {
		if f := &list[i]; !f.owner {
			d.shares[i] = d.inward[i][:r.count]
			d.flowIn(r, f, d.shares[i])
		}
	}
}

// flowIn computes the shares that pass a face that neighbours own. Both ends compute the same bits, but
// for the sign.
func (d *drift) flowIn(r *run, f *face, shares []float32) {
	known, from, to := d.find(r, f)
	kernel.Negate(shares[from:to], known)
	for _, rest := range [2][2]int{{0, from}, {to, r.count}} {
		if rest[0] < rest[1] {
			part := r.part(rest[0], rest[1])
			d.flow(&part, f, shares[rest[0]:rest[1]])
		}
	}
}

// flow computes the shares that pass a face, in one go if its normal lies along an axis. The 1/2 of
// the mean of the velocities is in the factor.
func (d *drift) flow(r *run, f *face, shares []float32) {
	factor := float32(d.dt * f.ratio / 2)
	for axis, n := range f.normal {
		if n == 0 {
			continue
		}
		here := r.plane(d.spare[driftHere], d.velocity, 0, f.first+axis, d.axes)
		there := r.plane(d.spare[driftThere], d.velocity, f.offset, f.first+axis, d.axes)
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

// carry moves a component of the field through all faces of a run, and reports whether it is finite. With
// the first one it adds up what leaves cells.
func (d *drift) carry(r *run, list []face, k int) (finite bool) {
	first, stride := r.first*d.components+k, r.stride*d.components
	to := d.spare[driftTo][:r.count]
	if stride == 1 {
		to = d.to[first:][:r.count]
	}
	kernel.Gather(to, d.from[first:], stride)
	here := r.plane(d.spare[driftHere], d.from, 0, k, d.components)
	lost := d.lost[:r.count]
	if k == 0 {
		clear(lost)
	}
	for i := range list {
		there := r.plane(d.spare[driftThere], d.from, list[i].offset, k, d.components)
		if k == 0 {
			kernel.Drain(to, lost, here, there, d.shares[i][:r.count])
		} else {
			kernel.Carry(to, here, there, d.shares[i][:r.count])
		}
	}
	if stride != 1 {
		kernel.Scatter(d.to[first:], to, stride)
	}
	return kernel.AllFinite(to, 1)
}

// emptied returns the lowest cell of the run that loses more than it holds, beyond what
// rounding explains.
func (d *drift) emptied(r *run) (cell int, lost float32) {
	const most = 1 + 1e-6
	if kernel.Within(d.lost[:r.count], 0, most) {
		return -1, 0
	}
	for i, lost := range d.lost[:r.count] {
		if lost > most {
			return r.first + i*r.stride, lost
		}
	}
	return -1, 0
}
