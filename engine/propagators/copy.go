package propagators

import (
	"time"

	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/fields"
	"github.com/murksim/murksim/space"
)

// Copy copies a field into another, bit for bit:
//
//	output = field
//
// It takes the field as at the start of the tick, so that a chain of copies is a
// delay line, one tick for each copy; or, with Now, as earlier propagators of the tick left
// it. A copy of a field into itself keeps the values at the start of the tick; no other
// propagator need write the field. It works on any lattice and any dt. The original Murk
// engine has both forms; it calls the first an identity copy.
type Copy struct {
	Name   string    // default "copy"
	Field  fields.ID // of any number of components
	Output fields.ID // of as many; written in full; with Now not Field
	Now    bool      // read what earlier propagators of this tick left
}

// Spec implements [engine.Propagator].
func (p Copy) Spec(*space.Lattice) engine.Spec {
	s := engine.Spec{Name: named(p.Name, "copy"), Full: engine.Fields(p.Output), Parallel: true, Cost: 150 * time.Nanosecond}
	if p.Now {
		s.Now = engine.Fields(p.Field)
	} else {
		s.Prev = engine.Fields(p.Field)
	}
	return s
}

// Check implements [engine.Checker].
func (p Copy) Check(_ *space.Lattice, defs []fields.Def) error {
	c := checker{defs: defs}
	if n := c.field("field", p.Field); n != 0 {
		c.sized("output", p.Output, n)
	}
	if p.Now {
		c.distinct("field", p.Field, "output", p.Output)
	}
	return c.err
}

// Step implements [engine.Propagator].
func (p Copy) Step(c *engine.Context) error {
	lo, hi := c.Range()
	n := c.Components(p.Field)
	read := c.Prev
	if p.Now {
		read = c.Now
	}
	copy(c.Next(p.Output)[lo*n:hi*n], read(p.Field)[lo*n:hi*n])
	return nil
}
