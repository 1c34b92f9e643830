package propagators

import (
	"time"

	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/fields"
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
		Name: named(a.Name, "advection"), Parallel: true, Cost: 18 * time.Microsecond, Scratch: 2 * longest,
		Prev:  engine.Fields(a.Field, a.Velocity),
		Full:  engine.Fields(a.Field),
		MaxDt: positive(1 / (a.MaxSpeed * outflow(l))),
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
	var f faces
	f.set(c.Lattice())
	d := drift{
		from: c.Prev(a.Field), to: c.Next(a.Field), components: c.Components(a.Field),
		velocity: c.Prev(a.Velocity), axes: c.Lattice().Dim(),
	}
	cell, lost := -1, float32(0) // the first that loses too much
	var buffer [maxDirections]face
	for r := range runs(c, 1) {
		d.shares, d.lost = c.Scratch()[:r.count], c.Scratch()[longest:][:r.count]
		d.begin(&r)
		list := f.at(r.pattern, &buffer)
		for i := range list {
			d.speeds(&r, &list[i], float32(c.Dt()*list[i].ratio/2))
			d.carry(&r, &list[i])
		}
		if at, much := d.emptied(&r); at >= 0 && (cell < 0 || at < cell) {
			cell, lost = at, much
		}
	}
	if cell >= 0 {
		return c.Fail(cell, "%v times its value would leave it in a tick; slow the velocity or raise the tick rate", lost)
	}
	return nil
}

// drift holds the fields and numbers of one step, the last two for each cell of a run.
type drift struct {
	from, to, velocity []float32
	components, axes   int
	shares             []float32 // of a cell's value that pass a face; negative: of its neighbour's, inward
	lost               []float32 // the share that leaves the cell through all faces
}

// begin copies the run's cells.
func (d *drift) begin(r *run) {
	clear(d.lost)
	for i, cell := 0, r.first; i < r.count; i, cell = i+1, cell+r.stride {
		for e := cell * d.components; e < (cell+1)*d.components; e++ {
			d.to[e] = d.from[e]
		}
	}
}

// speeds computes the shares that pass one face: speeds times a factor, which includes the
// 1/2 of the mean.
func (d *drift) speeds(r *run, f *face, factor float32) {
	clear(d.shares)
	for axis, n := range f.normal {
		if n == 0 {
			continue
		}
		at, step := r.first*d.axes+f.first+axis, r.stride*d.axes
		here, there := d.velocity[at:], d.velocity[at+f.offset*d.axes:]
		for i, k := 0, 0; i < len(d.shares); i, k = i+1, k+step {
			d.shares[i] += float32(n * (here[k] + there[k]))
		}
	}
	for i := range d.shares {
		d.shares[i] = float32(d.shares[i] * factor)
	}
}

// carry moves what passes one face: from the cell, or from the neighbour to it.
func (d *drift) carry(r *run, f *face) {
	n, lost := d.components, d.lost[:len(d.shares)]
	for i, share := range d.shares {
		to := (r.first + i*r.stride) * n
		from := to
		if share > 0 {
			lost[i] += share
		} else {
			from += f.offset * n
		}
		for k := range n {
			if share != 0 {
				d.to[to+k] -= float32(share * d.from[from+k])
			}
		}
	}
}

// emptied returns the lowest cell of the run that loses more than it holds, beyond what
// rounding explains.
func (d *drift) emptied(r *run) (cell int, lost float32) {
	for i, lost := range d.lost {
		if lost > 1+1e-6 {
			return r.first + i*r.stride, lost
		}
	}
	return -1, 0
}
