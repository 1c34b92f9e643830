package propagators

import (
	"math"
	"time"

	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/fields"
	"github.com/murksim/murksim/internal/kernel"
	"github.com/murksim/murksim/space"
)

// Wave lets every cell swing about the mean of its n neighbours, each component by
// itself:
//
//	acc = Speed²·(Σ neighbours / n - here) - Damping·velocity
//	velocity += acc·dt,  here += velocity·dt
//
// with Speed² computed in float64 and rounded, as dt and Damping are. A cell
// without neighbours has no pull. This is the semi-implicit Euler step, which keeps
// the energy of an undamped wave bounded; it is stable while Speed²·dt² + Damping·dt ≤ 2,
// because the pull's frequencies are at most √2·Speed. Its Spec requires that. The
// sums are those of the original Murk engine.
//
// Long waves travel at Speed·√(1/2) cells a second on a line or ring, Speed/2 on a
// square4 and on a hex, Speed·√(3/8) on a square8, and on an fcc12 at Speed·√(1/3)
// in units of its coordinates. docs/propagators/wave.md has a table of them.
type Wave struct {
	Name         string    // default "wave"
	Displacement fields.ID // of any number of components; written in full
	Velocity     fields.ID // displacement per second, of as many components; written in full
	Speed        float64   // per second, at least 0; long waves are slower, see above
	Damping      float64   // per second, at least 0
}

// Spec implements [engine.Propagator].
func (w Wave) Spec(*space.Lattice) engine.Spec {
	root := math.Sqrt(float64(w.Damping*w.Damping) + float64(8*float64(w.Speed*w.Speed)))
	return engine.Spec{
		Name: named(w.Name, "wave"), Parallel: true, Cost: 1600 * time.Nanosecond, Local: true,
		Prev:  engine.Fields(w.Displacement, w.Velocity),
		Full:  engine.Fields(w.Displacement, w.Velocity),
		MaxDt: positive(4 / (w.Damping + root)),
	}
}

// Check implements [engine.Checker].
func (w Wave) Check(_ *space.Lattice, defs []fields.Def) error {
	c := checker{defs: defs}
	if n := c.field("displacement", w.Displacement); n != 0 {
		c.sized("velocity", w.Velocity, n)
	}
	c.real("displacement", w.Displacement)
	c.real("velocity", w.Velocity)
	c.distinct("displacement", w.Displacement, "velocity", w.Velocity)
	c.number("speed", w.Speed, 0)
	if v := float64(w.Speed * w.Speed); math.IsInf(float64(float32(v)), 1) {
		c.fail("speed", "speed %v is too large: its square, %v, must fit a float32", w.Speed, v)
	}
	c.number("damping", w.Damping, 0)
	return c.err
}

// Step implements [engine.Propagator].
func (w Wave) Step(c *engine.Context) error {
	prev, next := c.Prev(w.Displacement), c.Next(w.Displacement)
	velocity, nextVelocity := c.Prev(w.Velocity), c.Next(w.Velocity)
	s := kernel.Swing{Pull: float32(w.Speed * w.Speed), Damping: float32(w.Damping), Dt: float32(c.Dt())}
	finite := true
	for r, n := range strips(c, c.Components(w.Displacement)) {
		s.N = float32(len(n.Offsets))
		finite = s.Move(next, nextVelocity, prev, velocity, r, n) && finite
	}
	if finite {
		c.Finite(w.Displacement)
		c.Finite(w.Velocity)
	}
	return nil
}
