package main

import (
	"image"
	"image/color"

	"github.com/murksim/murksim/space"
)

// What the first colours of every picture's palette stand for; the values follow.
const (
	nothing = iota // no cell
	solid          // a masked cell
	firstValue
)

// paint draws frames one below the other.
func paint(frames []frame, l *space.Lattice, plan plan, cell int, shades *shades) *image.Paletted {
	width, height := plan.width*cell, plan.height*cell
	colours := append(color.Palette{color.RGBA{}, color.RGBA{0x50, 0x58, 0x64, 0xff}}, shades.colours...)
	m := image.NewPaletted(image.Rect(0, 0, width, height*len(frames)), colours)
	n := shades.part.values()
	for rank := range l.Cells() {
		at := plan.place(l.Coord(rank))
		for i := range frames {
			shade := uint8(solid)
			if f := &frames[i]; f.covered == nil || !f.covered[rank] {
				shade = firstValue + shades.of(f.values[rank*n:(rank+1)*n])
			}
			fill(m, at.Add(image.Pt(0, i*height)), shade)
		}
	}
	return m
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
