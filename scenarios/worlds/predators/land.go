package predators

import (
	"math"

	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/fields"
	"github.com/murksim/murksim/space"
)

// A limit says where the animals of a world may be.
type limit struct {
	walls     *fields.ID // not zero: a wall; nil: there are none
	occupancy int        // the most that may stand on one cell; 0: any number
}

// declare adds what the limit needs to the Spec of a system.
func (l *limit) declare(s *engine.Spec, cells int) {
	if l.walls != nil {
		s.Now = append(s.Now, *l.walls)
	}
	if l.occupancy > 0 {
		s.Scratch += cells
	}
}

// A land is a limit in one Update: it counts who stands where, children to come included.
type land struct {
	lattice *space.Lattice
	walls   []float32 // nil: there are none
	crowd   []float32 // by cell the bits of a number; nil: any number may stand on a cell
	most    uint32    // on a cell
	room    int       // for how many more children
}

// land looks at a world. The cells are those of all slots, as earlier systems left them.
func (l *limit) land(c *engine.SystemContext, cells []int32) land {
	coming := c.AppendSpawns(nil)
	g := land{lattice: c.Lattice(), room: len(cells) - c.Population() - len(coming)}
	if l.walls != nil {
		g.walls = c.Now(*l.walls)
	}
	if l.occupancy > 0 {
		g.crowd, g.most = c.Scratch(), uint32(min(l.occupancy, math.MaxInt32))
		for _, cell := range cells {
			if cell >= 0 { // not that of a free slot
				g.count(cell, 1)
			}
		}
		for _, cell := range coming {
			g.count(cell, 1)
		}
	}
	return g
}

// count adds to the number on a cell.
func (g *land) count(cell int32, by int32) {
	if g.crowd != nil {
		g.crowd[cell] = math.Float32frombits(math.Float32bits(g.crowd[cell]) + uint32(by))
	}
}

// isWall reports whether a cell must not be entered.
func (g *land) isWall(cell int32) bool { return g.walls != nil && g.walls[cell] != 0 }

// isFull reports whether a cell has no room for another animal.
func (g *land) isFull(cell int32) bool {
	return g.crowd != nil && math.Float32bits(g.crowd[cell]) >= g.most
}

// isOpen reports whether an animal may step onto a cell beside it.
func (g *land) isOpen(cell int32) bool { return !g.isWall(cell) && !g.isFull(cell) }

// step moves an animal if it may go there, and returns where it is then.
func (g *land) step(from, to int32) int32 {
	if from == to || !g.isOpen(to) {
		return from
	}
	g.count(from, -1)
	g.count(to, 1)
	return to
}

// bear takes the room for a child of an animal: on its own cell, or else on the first open
// one beside it. It reports whether there was any.
func (g *land) bear(at int32) (cell int32, ok bool) {
	if g.room <= 0 {
		return 0, false
	}
	if cell, ok = at, !g.isFull(at); !ok {
		for _, near := range g.lattice.AppendNeighbours(nil, int(at)) {
			if g.isOpen(near) {
				cell, ok = near, true
				break
			}
		}
	}
	if ok {
		g.room--
		g.count(cell, 1)
	}
	return cell, ok
}
