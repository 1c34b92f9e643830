package render

import (
	"fmt"
	"image"

	"github.com/murksim/murksim/space"
)

// maxSide bounds a picture's width and height in pixels.
const maxSide = 8192

// A plan says how many cells wide and high one panel of a picture is, and where each cell
// lies, in pixels.
type plan struct {
	width, height int
	place         func(space.Coord) image.Rectangle // empty: nowhere
}

// A grid makes plans of cells that are so many pixels wide, and of one slice.
type grid struct{ cell, slice int }

// Size returns the width and height of a lattice in pixels, drawn with cells that are so many
// pixels wide, without title and scale.
func Size(l *space.Lattice, cell int) (image.Point, error) {
	p, err := grid{cell, 0}.plan(l, 1)
	return image.Pt(p.width*cell, p.height*cell), err
}

// Box returns where a cell lies in a bare figure of a lattice whose cells are so many pixels wide, whichever slice it is in.
func Box(l *space.Lattice, cell int, c space.Coord) (image.Rectangle, error) {
	slice := 0
	if y, ok := l.Layout(); ok {
		slice, _, _ = y.Place(c)
	}
	p, err := grid{cell, slice}.plan(l, 1)
	if err != nil {
		return image.Rectangle{}, err
	}
	return p.place(c), nil
}

// Fit returns the width in pixels of the largest cells with which a lattice is at most side
// pixels wide and high, and at most 16; at least 1, or 2 where rows are shifted by half a cell.
func Fit(l *space.Lattice, side int) int {
	for cell := 16; cell > 1; cell -= 2 {
		if size, err := Size(l, cell); err == nil && max(size.X, size.Y) <= side {
			return cell
		}
	}
	if _, err := Size(l, 1); err == nil {
		return 1
	}
	return 2
}

// plan returns where cells lie in a panel that has a lattice so many times, one below the other.
func (g grid) plan(l *space.Lattice, times int) (plan, error) {
	if g.cell < 1 || g.cell > 64 {
		return plan{}, fmt.Errorf("a cell of %d pixels cannot be drawn; 1 to 64 can", g.cell)
	}
	a, err := g.layout(l)
	if err != nil {
		return plan{}, err
	}
	if times > 1 && l.Dim() != 1 {
		return plan{}, fmt.Errorf("only of a line or ring can every tick be drawn as a row; this is a %s", l.Kind())
	}
	if most := maxSide / g.cell; a.width > most || a.height > most/times {
		return plan{}, fmt.Errorf("%d×%d cells of %d pixels, %d times, are too large a picture", a.width, a.height, g.cell, times)
	}
	return a, nil
}

// layout returns the plan of a lattice.
func (g grid) layout(l *space.Lattice) (plan, error) {
	parts := l.Parts()
	if len(parts) == 1 {
		return g.single(parts[0])
	}
	if len(parts) != 2 {
		return plan{}, fmt.Errorf("a product of %d parts cannot be drawn; one of two can", len(parts))
	}
	n := parts[1].Cells()
	if parts[1].Dim() != 1 {
		return plan{}, fmt.Errorf("a product can be drawn if its second part is a line or ring")
	}
	if parts[0].Dim() == 1 {
		return plan{n, parts[0].Cells(), func(c space.Coord) image.Rectangle {
			return g.box(int(c.At(1))*g.cell, int(c.At(0))*g.cell, g.cell)
		}}, nil
	}
	first, err := g.single(parts[0])
	if err != nil {
		return plan{}, err
	}
	pitch := first.width + 1
	if pitch > maxSide || n > maxSide {
		return plan{}, fmt.Errorf("%d times %d cells are too wide a picture", n, first.width)
	}
	return plan{pitch*n - 1, first.height, func(c space.Coord) image.Rectangle {
		return first.place(c).Add(image.Pt(int(c.At(c.Dim()-1))*pitch*g.cell, 0))
	}}, nil
}

// single returns the plan of a lattice that is no product, or the first part of one: one of its
// slices, with rows shifted as they lie.
func (g grid) single(l *space.Lattice) (plan, error) {
	n := g.cell
	y, _ := l.Layout()
	if y.Shift%2 != 0 && n%2 != 0 {
		return plan{}, fmt.Errorf("a %s of %d pixels cannot be shifted by half; take an even width", l.Kind(), n)
	}
	if g.slice > 0 && y.Slices == 1 {
		return plan{}, fmt.Errorf("there is no slice z = %d; %v has no slices", g.slice, l.Space())
	}
	if g.slice < 0 || g.slice >= y.Slices {
		return plan{}, fmt.Errorf("there is no slice z = %d; they go from 0 to %d", g.slice, y.Slices-1)
	}
	shifted := (y.Shift*(y.Rows-1) + 1) / 2
	return plan{y.Cols + shifted + y.Wide - 1, y.Rows, func(c space.Coord) image.Rectangle {
		slice, row, col := y.Place(c)
		if slice != g.slice {
			return image.Rectangle{}
		}
		return g.box(col*n+y.Shift*row*n/2, row*n, y.Wide*n)
	}}, nil
}

func (g grid) box(x, y, width int) image.Rectangle { return image.Rect(x, y, x+width, y+g.cell) }

// boxes lists where the cells lie, by rank.
func (p *plan) boxes(l *space.Lattice) []image.Rectangle {
	list := make([]image.Rectangle, l.Cells())
	for rank := range list {
		list[rank] = p.place(l.Coord(rank))
	}
	return list
}
