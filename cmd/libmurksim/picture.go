package main

import (
	"cmp"
	"context"
	"image"
	"image/color"

	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/fields"
	"github.com/murksim/murksim/internal/render"
	"github.com/murksim/murksim/scenarios"
)

const fitPixels = 512 // on a side, where the size of a cell is not given

// cellPixels returns the width of a cell.
func cellPixels(s *scenarios.Scenario, cell int32) (int, error) {
	if cell < 0 || cell > 64 {
		return 0, badArgument("a cell is 1 to 64 pixels wide, or 0 for what fits, not %d", cell)
	}
	if cell == 0 {
		return render.Fit(s.Lattice(), fitPixels), nil
	}
	return int(cell), nil
}

// pictureSize returns the size of a picture in pixels.
func pictureSize(s *scenarios.Scenario, cell int32) (image.Point, error) {
	n, err := cellPixels(s, cell)
	if err != nil {
		return image.Point{}, err
	}
	return render.Size(s.Lattice(), n)
}

// A painter draws fields, and keeps the figure of the last one.
type painter struct {
	field int32
	cell  int
	scale render.Scale

	figure *render.Figure
	values []float64
	marks  []render.Mark
}

// picture draws a field of a tick, also one whose replay has another hash than was recorded, which is an error.
func (r *recording) picture(ctx context.Context, field int32, tick uint64, cell int32, low, high float64, to []byte) error {
	if err := cmp.Or(r.about.drawable(field), r.has(tick), fitsPicture(r.Scenario(), cell, to)); err != nil {
		return err
	}
	w, err := r.At(ctx, tick)
	if w == nil {
		return r.named(err)
	}
	if failed := r.painter.draw(r.Scenario(), w, field, cell, low, high, to); failed != nil || err == nil {
		return failed
	}
	return r.named(err)
}

// drawable returns an error unless there is such a field of cells.
func (a *about) drawable(field int32) error {
	f, err := a.field(field)
	if err == nil && (f.Domain != fields.Cells.String() || f.Engine) {
		return badArgument("%s is no field of cells", f.Name)
	}
	return err
}

// fitsPicture returns an error unless a buffer has the size of a picture.
func fitsPicture(s *scenarios.Scenario, cell int32, to []byte) error {
	size, err := pictureSize(s, cell)
	if err == nil && len(to) != 3*size.X*size.Y {
		return badArgument("the buffer has %d bytes; a picture of %d×%d pixels takes %d", len(to), size.X, size.Y, 3*size.X*size.Y)
	}
	return err
}

// draw draws a field of a world.
func (p *painter) draw(s *scenarios.Scenario, w *engine.World, field, cell int32, low, high float64, to []byte) error {
	d := &w.Defs()[field]
	part, err := render.ParsePart(d, "")
	if err != nil {
		return err
	}
	p.values = part.Append(p.values[:0], d, w.Borrow(fields.ID(field)))
	if low == high {
		low, high = extremes(d, func() (float64, float64) { return part.Extremes(p.values) })
	}
	pixels, err := cellPixels(s, cell)
	if err != nil {
		return err
	}
	scale := render.Scale{Part: part, Lo: low, Hi: high}
	if p.figure == nil || p.field != field || p.cell != pixels || p.scale != scale {
		style := render.Style{Scale: scale, Cell: pixels, Bare: true}
		if s.Entities != nil {
			style.Kinds = s.Entities.Kinds
		}
		if p.figure, err = render.New(s.Lattice(), style); err != nil {
			return err
		}
		p.field, p.cell, p.scale = field, pixels, scale
	}
	p.marks = p.marks[:0]
	all := w.Entities()
	for slot, id := range all.ID {
		if id != 0 && all.Cell[slot] >= 0 {
			p.marks = append(p.marks, render.Mark{Cell: all.Cell[slot], Kind: all.Kind[slot]})
		}
	}
	p.figure.Put(0, "", render.Frame{Values: p.values, Marks: p.marks})
	copyPixels(to, p.figure.Image())
	return nil
}

// copyPixels copies a picture as red, green and blue. What is transparent is white.
func copyPixels(to []byte, m *image.Paletted) {
	var palette [256][3]byte
	for i, c := range m.Palette {
		x := color.NRGBAModel.Convert(c).(color.NRGBA)
		palette[i] = [3]byte{x.R, x.G, x.B}
		if x.A == 0 {
			palette[i] = [3]byte{255, 255, 255}
		}
	}
	b := m.Bounds()
	for y := range b.Dy() {
		for _, i := range m.Pix[y*m.Stride:][:b.Dx()] {
			to = to[copy(to, palette[i][:]):]
		}
	}
}
