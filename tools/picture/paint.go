package main

import (
	"fmt"
	"image"
	"image/color"
	"math"

	"github.com/murksim/murksim/fields"
	"github.com/murksim/murksim/space"
)

// What the first colours of every picture's palette stand for; the values follow.
const (
	nothing = iota // no cell
	solid          // a masked cell
	firstValue
)

// maxSide bounds a picture's width and height in pixels.
const maxSide = 8192

// paint draws a snapshot's field; of a vector, its first component.
func (p picture) paint(s *fields.Snapshot, l *space.Lattice) (*image.Paletted, error) {
	id, err := cellField(s, l, p.field)
	if err != nil {
		return nil, err
	}
	shades, err := p.shades(s, id)
	if err != nil {
		return nil, err
	}
	covered := func(int) bool { return false }
	if p.mask != "" {
		mask, err := cellField(s, l, p.mask)
		if err != nil {
			return nil, err
		}
		n := s.Defs()[mask].Type.Components()
		covered = func(rank int) bool { return s.At(mask, rank*n) != 0 }
	}
	place, bounds, err := p.layout(l)
	if err != nil {
		return nil, err
	}
	colours := append(color.Palette{color.RGBA{}, color.RGBA{0x50, 0x58, 0x64, 0xff}}, shades.colours...)
	m := image.NewPaletted(bounds, colours)
	n := s.Defs()[id].Type.Components()
	for rank := range l.Cells() {
		shade := uint8(solid)
		if !covered(rank) {
			shade = firstValue + shades.of(s.At(id, rank*n))
		}
		fill(m, place(l.Coord(rank)), shade)
	}
	return m, nil
}

// cellField finds a field of the cells by its name; "" is the first.
func cellField(s *fields.Snapshot, l *space.Lattice, name string) (fields.ID, error) {
	for i, d := range s.Defs() {
		everywhere := d.Domain == fields.Cells && s.Len(fields.ID(i)) == l.Cells()*d.Type.Components()
		if everywhere && (name == "" || d.Name == name) {
			return fields.ID(i), nil
		}
	}
	return 0, fmt.Errorf("there is no field %q with a value for each cell", name)
}

func fill(m *image.Paletted, r image.Rectangle, shade uint8) {
	r = r.Intersect(m.Rect)
	for y := r.Min.Y; y < r.Max.Y; y++ {
		row := m.Pix[m.PixOffset(r.Min.X, y):m.PixOffset(r.Max.X, y)]
		for x := range row {
			row[x] = shade
		}
	}
}

// layout says where a cell lies in the picture (nowhere: an empty rectangle), and
// how large the picture is.
func (p picture) layout(l *space.Lattice) (func(space.Coord) image.Rectangle, image.Rectangle, error) {
	n := p.cell
	if n < 1 || n > 64 {
		return nil, image.Rectangle{}, fmt.Errorf("a cell of %d pixels cannot be drawn; 1 to 64 can", n)
	}
	box := func(x, y, width int) image.Rectangle { return image.Rect(x, y, x+width, y+n) }
	var place func(space.Coord) image.Rectangle
	var width, height int
	switch s := l.Space().(type) {
	case space.Line, space.Ring:
		width, height = l.Cells(), 1
		place = func(c space.Coord) image.Rectangle { return box(int(c.At(0))*n, 0, n) }
	case space.Square4:
		width, height = s.Cols, s.Rows
		place = func(c space.Coord) image.Rectangle { return box(int(c.At(1))*n, int(c.At(0))*n, n) }
	case space.Square8:
		width, height = s.Cols, s.Rows
		place = func(c space.Coord) image.Rectangle { return box(int(c.At(1))*n, int(c.At(0))*n, n) }
	case space.Hex:
		if n%2 != 0 {
			return nil, image.Rectangle{}, fmt.Errorf("a hex of %d pixels cannot be shifted by half; take an even width", n)
		}
		width, height = s.Cols+s.Rows/2, s.Rows
		place = func(c space.Coord) image.Rectangle {
			q, r := int(c.At(0)), int(c.At(1))
			return box(q*n+r*n/2, r*n, n)
		}
	case space.FCC12:
		if p.z < 0 || p.z >= s.D {
			return nil, image.Rectangle{}, fmt.Errorf("there is no slice z = %d; they go from 0 to %d", p.z, s.D-1)
		}
		width, height = s.W+1, s.H
		place = func(c space.Coord) image.Rectangle {
			if int(c.At(2)) != p.z {
				return image.Rectangle{}
			}
			return box(int(c.At(0))*n, int(c.At(1))*n, 2*n)
		}
	default:
		return nil, image.Rectangle{}, fmt.Errorf("a %s cannot be drawn", l.Kind())
	}
	if width > maxSide/n || height > maxSide/n {
		return nil, image.Rectangle{}, fmt.Errorf("%d×%d cells of %d pixels are too large a picture", width, height, n)
	}
	return place, image.Rect(0, 0, width*n, height*n), nil
}

// extremes are the least and the greatest value of a field.
func extremes(s *fields.Snapshot, id fields.ID) (lo, hi float64) {
	lo, hi = math.Inf(1), math.Inf(-1)
	n := s.Defs()[id].Type.Components()
	for i := 0; i < s.Len(id); i += n {
		v := s.At(id, i)
		lo, hi = min(lo, v), max(hi, v)
	}
	return lo, hi
}
