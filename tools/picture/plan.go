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
	a, err := p.layout(l)
	if err != nil {
		return plan{}, err
	}
	frames := 1
	if p.every > 0 {
		if l.Dim() != 1 {
			return plan{}, fmt.Errorf("only of a line or ring can every tick be drawn as a row; this is a %s", l.Kind())
		}
		frames = int(min(p.ticks/p.every, maxSide)) + 1
	}
	if most := maxSide / p.cell; a.width > most || a.height > most/frames {
		return plan{}, fmt.Errorf("%d×%d cells of %d pixels, %d times, are too large a picture", a.width, a.height, p.cell, frames)
	}
	return a, nil
}

// layout returns the plan of a lattice.
func (p picture) layout(l *space.Lattice) (plan, error) {
	parts := l.Parts()
	if len(parts) == 1 {
		return p.single(parts[0])
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
			return p.box(int(c.At(1))*p.cell, int(c.At(0))*p.cell, p.cell)
		}}, nil
	}
	first, err := p.single(parts[0])
	if err != nil {
		return plan{}, err
	}
	pitch := first.width + 1
	if pitch > maxSide || n > maxSide {
		return plan{}, fmt.Errorf("%d times %d cells are too wide a picture", n, first.width)
	}
	return plan{pitch*n - 1, first.height, func(c space.Coord) image.Rectangle {
		return first.place(c).Add(image.Pt(int(c.At(c.Dim()-1))*pitch*p.cell, 0))
	}}, nil
}

// single returns the plan of a lattice that is no product, or the first part of one: one of its
// slices, with rows shifted as they lie.
func (p picture) single(l *space.Lattice) (plan, error) {
	n := p.cell
	y, _ := l.Layout()
	if y.Shift%2 != 0 && n%2 != 0 {
		return plan{}, fmt.Errorf("a %s of %d pixels cannot be shifted by half; take an even width", l.Kind(), n)
	}
	if p.z < 0 || p.z >= y.Slices {
		return plan{}, fmt.Errorf("there is no slice z = %d; they go from 0 to %d", p.z, y.Slices-1)
	}
	shifted := (y.Shift*(y.Rows-1) + 1) / 2
	return plan{y.Cols + shifted + y.Wide - 1, y.Rows, func(c space.Coord) image.Rectangle {
		slice, row, col := y.Place(c)
		if slice != p.z {
			return image.Rectangle{}
		}
		return p.box(col*n+y.Shift*row*n/2, row*n, y.Wide*n)
	}}, nil
}

func (p picture) box(x, y, width int) image.Rectangle { return image.Rect(x, y, x+width, y+p.cell) }
