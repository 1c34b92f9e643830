package propagators

import (
	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/fields"
	"github.com/murksim/murksim/space"
)

// Sight counts for every cell the viewers that see it. A viewer sees a cell at most
// Radius steps away, by the distance of the lattice, unless what blocks the view lies
// between them. Cells that block can be seen themselves, and a viewer on one looks out
// of it. Viewers and what blocks are read as at the start of the tick.
//
// The line from a to b = a + d is looked at in n-1 points between them, a + d·i/n, with
// n the longest way in any part of the space, so that a line touches each row that it
// crosses once. At each point lies the cell nearest to it; where it is as near to
// several, the one toward a and the one toward b, and the view passes if either lets it
// through. All is reckoned in whole numbers and does not depend on which end one starts
// from: a sees b if and only if b sees a. Between two cells that touch at a corner only
// one can look through.
//
// It works on every lattice. Coordinates of lines and squares are rounded each by
// itself; hexes as cubes (A. Patel, Hexagonal Grids, 2013); an fcc12 to its nearest
// point (J. H. Conway, N. J. A. Sloane, IEEE Trans. Inf. Theory 28, 227 (1982)). Around
// a wrapped edge lines go the short way and, where both are as long, the way that
// does not cross it. The lines on squares are those of J. E. Bresenham, IBM Syst. J. 4
// (1965), but for ties. A viewer costs about Radius steps for each cell in its reach.
type Sight struct {
	Name    string     // default "sight"
	Viewer  fields.ID  // of one component: somebody looks from where it is not 0
	Blocks  *fields.ID // of one component: nobody looks through cells where it is not 0
	Visible fields.ID  // of one component; written in full: how many see the cell
	Radius  int        // 1 to 16,384
}

const maxSight = 1 << 14 // so that no product of coordinates overflows 32 bits

// Spec implements [engine.Propagator].
func (s Sight) Spec(*space.Lattice) engine.Spec {
	return engine.Spec{
		Name: named(s.Name, "sight"), Prev: append(optional(s.Blocks), s.Viewer), Full: engine.Fields(s.Visible), Parallel: true,
	}
}

// Check implements [engine.Checker].
func (s Sight) Check(_ *space.Lattice, defs []fields.Def) error {
	c := checker{defs: defs}
	c.sized("viewer", s.Viewer, 1)
	c.sized("visible", s.Visible, 1)
	c.distinct("viewer", s.Viewer, "visible", s.Visible)
	if s.Blocks != nil {
		c.sized("blocks", *s.Blocks, 1)
		c.distinct("blocks", *s.Blocks, "visible", s.Visible)
	}
	if s.Radius < 1 || s.Radius > maxSight {
		c.fail("radius", "radius is %d; must be 1 to %d", s.Radius, maxSight)
	}
	return c.err
}

// Step implements [engine.Propagator].
func (s Sight) Step(c *engine.Context) error {
	lo, hi := c.Range()
	visible := c.Next(s.Visible)
	clear(visible[lo:hi])
	var g geometry
	g.describe(c.Lattice())
	var blocks []float32
	if s.Blocks != nil {
		blocks = c.Prev(*s.Blocks)
	}
	for viewer, v := range c.Prev(s.Viewer) {
		if v == 0 {
			continue
		}
		from := g.vector(viewer)
		b := g.box(&from, s.Radius)
		for d, ok := b.lo, true; ok; ok = b.next(&d) {
			to := g.shortest(&from, &d)
			rank, in := g.rank(&from, &to)
			if in && rank >= lo && rank < hi && g.length(&to).steps <= s.Radius && g.clear(&from, &to, blocks) {
				visible[rank]++
			}
		}
	}
	return nil
}

// clear reports whether one can look from a cell along d.
func (g *geometry) clear(from, d *vector, blocks []float32) bool {
	if blocks == nil {
		return true
	}
	n := g.length(d).samples
	var at, rest vector
	for i := 1; i < n; i++ {
		g.walk(&at, &rest, d, n)
		near := &at
		if g.mends {
			mended := at
			g.mend(&mended, d, i, n)
			near = &mended
		}
		if g.opaque(from, near, d, blocks) {
			far := g.round(d, n-i, n)
			for a := range g.dim {
				far[a] = d[a] - far[a]
			}
			if g.opaque(from, &far, d, blocks) {
				return false
			}
		}
	}
	return true
}

// opaque reports whether the cell at from + p blocks a view along d. Its ends do not.
func (g *geometry) opaque(from, p, d *vector, blocks []float32) bool {
	rank, in := g.rank(from, p)
	return in && blocks[rank] != 0 && *p != *d && *p != vector{}
}
