package propagators

import (
	"math"
	"time"

	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/fields"
	"github.com/murksim/murksim/space"
)

// Emission marks the cells where agents are, each cell by itself:
//
//	v = v + Intensity where Presence is not 0, else v     additive
//	v = Intensity     where Presence is not 0, else 0     set
//
// Presence is read as at the start of the tick, so agents that move in this tick emit
// at the cell that they leave. An additive emission writes in place: it goes on from
// what earlier propagators of the tick left in the field. One that sets writes in
// full. Intensity is rounded to float32 and the sum is one float32 addition.
//
// It reads no neighbour, so it works on any lattice and any dt. Intensity is per
// tick, not per second. The formulas are those of the original Murk engine; under
// its rules an additive emission starts from the field's state before the tick, as
// every propagator that writes in place does there.
type Emission struct {
	Name      string    // default "emission"
	Presence  fields.ID // of one component
	Field     fields.ID // of one component; not Presence
	Intensity float64   // in units of the field, of either sign
	Set       bool
}

// Spec implements [engine.Propagator].
func (e Emission) Spec(*space.Lattice) engine.Spec {
	s := engine.Spec{Name: named(e.Name, "emission"), Prev: engine.Fields(e.Presence), Parallel: true, Cost: 2 * time.Microsecond}
	if e.Set {
		s.Full = engine.Fields(e.Field)
	} else {
		s.Incremental = engine.Fields(e.Field)
	}
	return s
}

// Check implements [engine.Checker].
func (e Emission) Check(_ *space.Lattice, defs []fields.Def) error {
	c := checker{defs: defs}
	c.sized("presence", e.Presence, 1)
	c.sized("field", e.Field, 1)
	c.distinct("field", e.Field, "presence", e.Presence)
	c.number("intensity", e.Intensity, -maxFloat32)
	return c.err
}

// Step implements [engine.Propagator].
func (e Emission) Step(c *engine.Context) error {
	lo, hi := c.Range()
	v, presence := c.Next(e.Field)[lo:hi], c.Prev(e.Presence)[lo:hi]
	presence = presence[:len(v)]
	intensity := math.Float32bits(float32(e.Intensity))
	if e.Set {
		for i, p := range presence {
			v[i] = math.Float32frombits(intensity & unlessZero(p))
		}
		return nil
	}
	const minusZero = 1 << 31 // adding it leaves every float as it is, even -0
	for i, p := range presence {
		m := unlessZero(p)
		v[i] += math.Float32frombits(intensity&m | minusZero&^m)
	}
	return nil
}

// unlessZero returns all ones if v is not 0, else 0, without an unpredictable branch.
func unlessZero(v float32) uint32 {
	b := math.Float32bits(v) << 1 // drops the sign
	return uint32(int32(b|-b) >> 31)
}
