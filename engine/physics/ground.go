package physics

import (
	"github.com/murksim/murksim/exact/fixed"
	"github.com/murksim/murksim/space"
)

const half = fixed.One / 2

// land is the ground of a world: heights at the centres of cells, bilinear between
// them. Beyond the outermost centres it is level, or continues on the other side.
type land struct {
	rows, cols int
	wrap       bool
	heights    []int64
}

// landOn returns the ground on a lattice of squares. It allocates nothing.
func landOn(l *space.Lattice, heights []int64) land {
	y, _ := l.Layout()
	return land{y.Rows, y.Cols, y.Edge == space.Wrap, heights}
}

// squared reports whether the cells of a lattice are squares in rows and columns.
func squared(l *space.Lattice) bool {
	y, ok := l.Layout()
	return ok && l.Dim() == 2 && y.Shift == 0
}

// holds reports whether a place is in the world.
func (g *land) holds(at vector) bool {
	return at.x >= 0 && at.y >= 0 && at.x.Int() < int64(g.cols) && at.y.Int() < int64(g.rows)
}

// cell returns the rank of the cell in which a place of the world lies.
func (g *land) cell(x, y fixed.Fixed) int { return int(y.Int())*g.cols + int(x.Int()) }

// centre returns the middle of a cell.
func (g *land) centre(cell int) (x, y fixed.Fixed) {
	return fixed.Fixed(cell%g.cols)*fixed.One + half, fixed.Fixed(cell/g.cols)*fixed.One + half
}

// A spot is the ground at one place: its height, and how much it rises per unit eastward
// and southward.
type spot struct{ height, east, south fixed.Fixed }

// at returns the ground below a place in the world. With the heights a and b at the
// next centres northwest and northeast, c and d southwest and southeast, and the
// place's position (s, t) between them:
//
//	height = lerp(lerp(a, b, s), lerp(c, d, s), t)
//	east   = lerp(b - a, d - c, t)
//	south  = lerp(c - a, d - b, s)
func (g *land) at(m *fixed.Calc, x, y fixed.Fixed) spot {
	west, s := split(x)
	north, t := split(y)
	east, south := near(west+1, g.cols, g.wrap), near(north+1, g.rows, g.wrap)
	west, north = near(west, g.cols, g.wrap), near(north, g.rows, g.wrap)
	a, b := g.height(north, west), g.height(north, east)
	c, d := g.height(south, west), g.height(south, east)
	return spot{
		m.Lerp(m.Lerp(a, b, s), m.Lerp(c, d, s), t),
		m.Lerp(m.Sub(b, a), m.Sub(d, c), t),
		m.Lerp(m.Sub(c, a), m.Sub(d, b), s),
	}
}

func (g *land) height(row, col int) fixed.Fixed { return fixed.Fixed(g.heights[row*g.cols+col]) }

// split returns the last centre at or before a place along an axis, -1 if there is
// none, and the way from there to the next.
func split(x fixed.Fixed) (centre int, way fixed.Fixed) {
	x -= half
	return int(x.Int()), x - x.Floor()
}

// near returns the centre in the world that stands for one that may lie one beyond its edge.
func near(i, n int, wrap bool) int {
	if i >= 0 && i < n {
		return i
	}
	if wrap {
		return (i + n) % n
	}
	return min(max(i, 0), n-1)
}
