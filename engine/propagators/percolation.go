package propagators

import (
	"math/bits"

	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/fields"
	"github.com/murksim/murksim/rng"
	"github.com/murksim/murksim/space"
)

// Percolation lets a liquid seep from wet cells to their neighbours, each of which is
// open or closed by chance: site percolation, grown from its sources as P. L. Leath does,
// Phys. Rev. B 14, 5046 (1976). In every tick each untouched cell that had a wet neighbour at
// the start of the tick is decided once and for all:
//
//	0 → 1  with the probability of the cell: open, and wet from now on
//	0 → 2  else: closed, and dry
//
// All other values stay, and only 1 is wet. The draws are bulk draws of stream 0 at the
// cell's rank, in the tick in which the cell is touched.
type Percolation struct {
	Name   string     // default "percolation"; also that of the random stream
	Field  fields.ID  // of one component; written in full; a 1 is a source
	Open   float64    // probability that a cell is open, 0 to 1
	OpenIn *fields.ID // of one component, instead of Open: the probability of each cell
}

// The values of a cell under Percolation.
const (
	untouched = 0
	wet       = 1
	closed    = 2
)

// Spec implements [engine.Propagator].
func (p Percolation) Spec(*space.Lattice) engine.Spec {
	return engine.Spec{
		Name: named(p.Name, "percolation"), Prev: append(optional(p.OpenIn), p.Field), Full: engine.Fields(p.Field), Parallel: true,
	}
}

// Check implements [engine.Checker].
func (p Percolation) Check(_ *space.Lattice, defs []fields.Def) error {
	c := checker{defs: defs}
	c.sized("field", p.Field, 1)
	c.number("open", p.Open, 0)
	if p.OpenIn != nil {
		c.sized("open_in", *p.OpenIn, 1)
		c.distinct("field", p.Field, "open_in", *p.OpenIn)
	}
	switch {
	case p.Open > 1:
		c.fail("open", "open must be at most 1, not %v", p.Open)
	case p.OpenIn != nil && p.Open != 0:
		c.fail("open_in", "has the probability %v, and others in a field; must have one of them", p.Open)
	}
	c.holds("", p.Field, closed+1)
	return c.err
}

// Step implements [engine.Propagator].
func (p Percolation) Step(c *engine.Context) error {
	prev, next := c.Prev(p.Field), c.Next(p.Field)
	c.Valid(p.Field) // as it will be: as it was, or 1 or 2
	bulk := c.Bulk(0)
	var odds []float32
	if p.OpenIn != nil {
		odds = c.Prev(*p.OpenIn)
	}
	var wet crowd
	for r := range runs(c, 1) {
		r.copy(next, prev)
		if wet.fill(&r, prev) {
			wet.Rule(1<<(r.degree()+1)-2, 0) // from one wet neighbour on
		}
		for i, touched := range wet.after() {
			for ; touched != 0; touched &= touched - 1 {
				cell := r.first + (i*64+bits.TrailingZeros64(touched))*r.stride
				if prev[cell] == untouched {
					next[cell] = p.decide(bulk, odds, cell)
				}
			}
		}
	}
	return nil
}

// decide returns the value of a cell that is touched: open or closed.
func (p *Percolation) decide(bulk rng.Bulk, odds []float32, cell int) float32 {
	open := p.Open
	if odds != nil {
		open = float64(odds[cell])
	}
	if float64(bulk.Float32(uint64(cell))) < open {
		return wet
	}
	return closed
}
