package main

import (
	"fmt"
	"image"

	"github.com/murksim/murksim/space"
)

// maxSide bounds a picture's width and height in pixels.
const maxSide = 8192

// A plan says how many cells wide and high one frame of a picture is, and where each
// cell lies, in pixels.
type plan struct {
	width, height int
	place         func(space.Coord) image.Rectangle // empty: nowhere
}

func (p picture) plan(l *space.Lattice) (plan, error) {
	if p.cell < 1 || p.cell > 64 {
		return plan{}, fmt.Errorf("a cell of %d pixels cannot be drawn; 1 to 64 can", p.cell)
	}
	a, err := p.layout(l.Space())
	if err != nil {
		return plan{}, err
	}
	frames := 1
	if p.every > 0 {
		if _, one := along(l.Space()); !one {
			return plan{}, fmt.Errorf("only of a line or ring can every tick be drawn as a row; this is a %s", l.Kind())
		}
		frames = int(min(p.ticks/p.every, maxSide)) + 1
	}
	if most := maxSide / p.cell; a.width > most || a.height > most/frames {
		return plan{}, fmt.Errorf("%d×%d cells of %d pixels, %d times, are too large a picture", a.width, a.height, p.cell, frames)
	}
	return a, nil
}

// along is the number of cells of a line or ring.
func along(s space.Space) (length int, ok bool) {
	switch s := s.(type) {
	case space.Line:
		return s.Length, true
	case space.Ring:
		return s.Length, true
	}
	return 0, false
}

// layout is the plan of a space.
func (p picture) layout(s space.Space) (plan, error) {
	n := p.cell
	if length, ok := along(s); ok {
		return p.grid(1, length, func(c space.Coord) (row, col int) { return 0, int(c.At(0)) }), nil
	}
	direct := func(c space.Coord) (row, col int) { return int(c.At(0)), int(c.At(1)) }
	switch s := s.(type) {
	case space.Square4:
		return p.grid(s.Rows, s.Cols, direct), nil
	case space.Square8:
		return p.grid(s.Rows, s.Cols, direct), nil
	case space.Hex:
		if n%2 != 0 {
			return plan{}, fmt.Errorf("a hex of %d pixels cannot be shifted by half; take an even width", n)
		}
		return plan{s.Cols + s.Rows/2, s.Rows, func(c space.Coord) image.Rectangle {
			q, r := int(c.At(0)), int(c.At(1))
			return p.box(q*n+r*n/2, r*n, n)
		}}, nil
	case space.FCC12:
		if p.z < 0 || p.z >= s.D {
			return plan{}, fmt.Errorf("there is no slice z = %d; they go from 0 to %d", p.z, s.D-1)
		}
		return plan{s.W + 1, s.H, func(c space.Coord) image.Rectangle {
			if int(c.At(2)) != p.z {
				return image.Rectangle{}
			}
			return p.box(int(c.At(0))*n, int(c.At(1))*n, 2*n)
		}}, nil
	case space.Product:
		return p.product(s)
	}
	return plan{}, fmt.Errorf("a %T cannot be drawn", s)
}

func (p picture) box(x, y, width int) image.Rectangle { return image.Rect(x, y, x+width, y+p.cell) }

// grid is the plan of rows and columns.
func (p picture) grid(rows, cols int, where func(space.Coord) (row, col int)) plan {
	return plan{cols, rows, func(c space.Coord) image.Rectangle {
		row, col := where(c)
		return p.box(col*p.cell, row*p.cell, p.cell)
	}}
}

// product is the plan of a product whose second part is a line or ring.
func (p picture) product(s space.Product) (plan, error) {
	if len(s) != 2 {
		return plan{}, fmt.Errorf("a product of %d parts cannot be drawn; one of two can", len(s))
	}
	n, second := along(s[1])
	if _, nested := s[0].(space.Product); nested || !second {
		return plan{}, fmt.Errorf("a product can be drawn if its second part is a line or ring and its first not a product")
	}
	if rows, ok := along(s[0]); ok {
		return p.grid(rows, n, func(c space.Coord) (row, col int) { return int(c.At(0)), int(c.At(1)) }), nil
	}
	plane, err := p.layout(s[0])
	if err != nil {
		return plan{}, err
	}
	pitch := plane.width + 1
	if pitch > maxSide || n > maxSide {
		return plan{}, fmt.Errorf("%d times %d cells are too wide a picture", n, plane.width)
	}
	return plan{pitch*n - 1, plane.height, func(c space.Coord) image.Rectangle {
		return plane.place(c).Add(image.Pt(int(c.At(c.Dim()-1))*pitch*p.cell, 0))
	}}, nil
}
