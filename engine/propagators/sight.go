package propagators

import (
	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/fields"
	"github.com/murksim/murksim/space"
)

// Sight counts for every cell the viewers that see it. A viewer sees a cell at most
// Radius steps away, by the distance of the lattice, unless a cell that blocks the view lies
// between them. Cells that block can be seen themselves, and a viewer on one sees out
// of it. Viewers and blocking cells are read as at the start of the tick.
//
// The lines are those of [space.Rays], whole numbers that do not depend on the end from
// which a line starts: a sees b if and only if b sees a. A viewer
// can look between two blocking cells that touch only at a corner.
//
// It works on every lattice. Coordinates of lines and squares are rounded each by
// itself; hexes as cubes (A. Patel, Hexagonal Grids, 2013); an fcc12 to its nearest
// point (J. H. Conway, N. J. A. Sloane, IEEE Trans. Inf. Theory 28, 227 (1982)). Around
// a wrapped edge lines go the short way. Where both are equally long, they take the way that
// does not cross the edge; on hexes they cross the edge of q rather than that of r. The lines
// on squares are those of J. E. Bresenham, IBM Syst. J. 4 (1965), except for ties. A viewer
// costs about Radius steps for each cell in its reach. Viewers that would together cost more
// than some 34 billion steps, a minute or two, are [engine.ErrWork]: of [engine.New] if the initial values
// have them, else of the tick.
type Sight struct {
	Name    string     // default "sight"
	Viewer  fields.ID  // of one component: a viewer stands where it is not 0
	Blocks  *fields.ID // of one component: a cell blocks the view where it is not 0
	Visible fields.ID  // of one component; written in full: how many viewers see the cell
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
func (s Sight) Check(l *space.Lattice, defs []fields.Def) error {
	c := checker{defs: defs}
	c.sized("viewer", s.Viewer, 1)
	c.sized("visible", s.Visible, 1)
	c.distinct("viewer", s.Viewer, "visible", s.Visible)
	if s.Blocks != nil {
		c.sized("blocks", *s.Blocks, 1)
		c.distinct("blocks", *s.Blocks, "visible", s.Visible)
	}
	if s.Radius < 1 || s.Radius > maxSight {
		c.fail("radius", "radius must be 1 to %d, not %d", maxSight, s.Radius)
	}
	if c.err != nil {
		return c.err
	}
	initial := &defs[s.Viewer].Initial
	return s.bound(l, func() (viewers uint64) {
		for cell := range l.Cells() {
			if initial.At(cell) != 0 {
				viewers++
			}
		}
		return viewers
	})
}

// bound returns an error if the viewers, which are counted only if they may be too many, take
// too many steps.
func (s Sight) bound(l *space.Lattice, viewers func() uint64) error {
	cells := uint64(l.Cells())
	if product(product(cells, cells), turnSteps+uint64(s.Radius)) <= maxSteps { // at once
		return nil
	}
	if product(s.steps(l), cells) <= maxSteps {
		return nil
	}
	n := viewers()
	if product(s.steps(l), n) <= maxSteps {
		return nil
	}
	return engine.ArgErrorf("radius",
		"%d viewers that may see %d cells each are %w (%d steps); lower radius, or have fewer viewers",
		n, ball(l, s.Radius), engine.ErrWork, uint64(maxSteps))
}

const turnSteps = 8 // from a ray to the next

// steps returns the work for a viewer.
func (s Sight) steps(l *space.Lattice) uint64 {
	along := uint64(0)
	if s.Blocks != nil {
		along = across(l, s.Radius)
	}
	return product(ball(l, s.Radius), turnSteps+along)
}

// Step implements [engine.Propagator].
func (s Sight) Step(c *engine.Context) error {
	lo, hi := c.Range()
	visible := c.Next(s.Visible)
	clear(visible[lo:hi])
	var blocks []float32
	if s.Blocks != nil {
		blocks = c.Prev(*s.Blocks)
	}
	viewers := c.Prev(s.Viewer)
	if err := s.bound(c.Lattice(), func() uint64 { return uint64(nonzero(viewers)) }); err != nil {
		return err
	}
	rays := c.Lattice().Rays()
	begin, end := rays.Around(s.Radius, lo, hi)
	for viewer := begin; viewer < end; viewer++ {
		if viewers[viewer] == 0 {
			continue
		}
		for rays.From(viewer, s.Radius, lo, hi); rays.Next(); {
			if rays.Clear(blocks) {
				visible[rays.To]++
			}
		}
	}
	return nil
}

// nonzero counts the elements that are not 0.
func nonzero(v []float32) (n int) {
	for _, x := range v {
		if x != 0 {
			n++
		}
	}
	return n
}
