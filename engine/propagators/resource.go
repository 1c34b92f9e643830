package propagators

import (
	"time"

	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/exact"
	"github.com/murksim/murksim/fields"
	"github.com/murksim/murksim/internal/kernel"
	"github.com/murksim/murksim/space"
)

// Resource is eaten where agents are present and grows back, each cell by itself:
//
//	v -= Consumption·dt                       where Presence is not 0
//	v += Regrowth·dt                          linear
//	v += Regrowth·v·(1 - v/Capacity)·dt       logistic, where v > 0
//	v  = v clamped to [0, Capacity]
//
// All is float32; products are taken from the left. Logistic growth is explicit
// Euler: it settles at the capacity while Regrowth·dt ≤ 2, which the Spec requires.
// The formulas are those of the original Murk engine.
type Resource struct {
	Name        string     // default "resource"
	Field       fields.ID  // of one component; written in place
	Presence    *fields.ID // of one component, as at the start of the tick; nil: nothing is eaten
	Consumption float64    // per second, at least 0
	Regrowth    float64    // linear: per second; logistic: share per second; at least 0
	Logistic    bool
	Capacity    float64 // above 0
}

// Spec implements [engine.Propagator].
func (r Resource) Spec(*space.Lattice) engine.Spec {
	s := engine.Spec{
		Name: named(r.Name, "resource"), Parallel: true, Cost: 600 * time.Nanosecond,
		Prev: optional(r.Presence), Incremental: engine.Fields(r.Field), Rewrite: engine.Fields(r.Field),
	}
	if r.Logistic {
		s.MaxDt = positive(2 / r.Regrowth)
	}
	return s
}

// Check implements [engine.Checker].
func (r Resource) Check(_ *space.Lattice, defs []fields.Def) error {
	c := checker{defs: defs}
	c.sized("field", r.Field, 1)
	c.real("field", r.Field)
	if r.Presence != nil {
		c.sized("presence", *r.Presence, 1)
		c.distinct("field", r.Field, "presence", *r.Presence)
	}
	c.number("consumption", r.Consumption, 0)
	c.number("regrowth", r.Regrowth, 0)
	c.number("capacity", r.Capacity, 0)
	if float32(r.Capacity) == 0 {
		c.fail("capacity", "capacity must be above 0, not %v", r.Capacity)
	}
	return c.err
}

// Step implements [engine.Propagator].
func (r Resource) Step(c *engine.Context) error {
	lo, hi := c.Range()
	dt := float32(c.Dt())
	g := kernel.Growth{
		Eaten: float32(float32(r.Consumption) * dt), Rate: float32(float32(r.Regrowth) * dt),
		Capacity: float32(r.Capacity), Dt: dt, Logistic: r.Logistic,
	}
	if r.Logistic {
		g.Rate = float32(r.Regrowth)
	}
	var presence []float32
	if r.Presence != nil {
		presence = c.Prev(*r.Presence)[lo:hi]
	}
	if g.Grow(c.Next(r.Field)[lo:hi], c.Was(r.Field)[lo:hi], presence) {
		c.Finite(r.Field)
	}
	return nil
}

// Decay multiplies every element by exp(-Rate·dt), which is computed in float64 and
// rounded once: after t seconds exp(-Rate·t) is left, within rounding, for any dt.
type Decay struct {
	Name  string    // default "decay"
	Field fields.ID // of any number of components; written in place
	Rate  float64   // per second; below 0 the field grows, and the tick fails once that overflows
}

// Spec implements [engine.Propagator].
func (d Decay) Spec(*space.Lattice) engine.Spec {
	return engine.Spec{
		Name: named(d.Name, "decay"), Incremental: engine.Fields(d.Field), Rewrite: engine.Fields(d.Field), Parallel: true, Cost: 200 * time.Nanosecond,
	}
}

// Check implements [engine.Checker].
func (d Decay) Check(_ *space.Lattice, defs []fields.Def) error {
	c := checker{defs: defs}
	c.field("field", d.Field)
	c.real("field", d.Field)
	c.number("rate", d.Rate, -maxFloat32)
	return c.err
}

// Step implements [engine.Propagator].
func (d Decay) Step(c *engine.Context) error {
	lo, hi := c.Range()
	n := c.Components(d.Field)
	factor := float32(exact.Exp(-float64(d.Rate * c.Dt())))
	if kernel.Scale(c.Next(d.Field), c.Was(d.Field), kernel.Rows{First: lo * n, Count: (hi - lo) * n, Stride: 1, Rows: 1, Pitch: 1}, factor) {
		c.Finite(d.Field)
	}
	return nil
}
