package main

import (
	"fmt"
	"math"

	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/fields"
	"github.com/murksim/murksim/internal/render"
)

// A view says what is drawn of a world.
type view struct {
	field  fields.ID
	part   render.Part
	mask   fields.ID
	masked bool
	bodies bool // the mask is where entities are
}

// view finds what is to be drawn.
func (p picture) view(w *engine.World) (*view, error) {
	id, err := cellField(w, p.field)
	if err != nil {
		return nil, err
	}
	v := &view{field: id}
	component, d := p.component, &w.Defs()[id]
	if component == "" && d.Type.Kind == fields.VectorKind {
		component = "0"
	}
	if v.part, err = render.ParsePart(d, component); err != nil {
		return nil, err
	}
	if p.mask != "" {
		v.masked = true
		if p.mask == engine.EntityCell {
			v.bodies = true
			if len(w.Entities().Cell) == 0 {
				return nil, fmt.Errorf("there are no entities")
			}
			return v, nil
		}
		if v.mask, err = cellField(w, p.mask); err != nil {
			return nil, err
		}
	}
	return v, nil
}

// cellField finds a field of the cells by its name; "" is the first.
func cellField(w *engine.World, name string) (fields.ID, error) {
	for i, d := range w.Defs() {
		everywhere := d.Domain == fields.Cells && w.Column(fields.ID(i)).Len() == w.Lattice().Cells()*d.Type.Components()
		if everywhere && (name == "" || d.Name == name) {
			return fields.ID(i), nil
		}
	}
	return 0, fmt.Errorf("there is no field %q with a value for each cell", name)
}

// frame copies what is drawn of the world as it is.
func (v *view) frame(w *engine.World) render.Frame {
	f := render.Frame{Values: v.part.Append(nil, &w.Defs()[v.field], w.Column(v.field))}
	switch {
	case v.bodies:
		f.Covered = make([]bool, w.Lattice().Cells())
		for _, cell := range w.Entities().Cell {
			if cell >= 0 {
				f.Covered[cell] = true
			}
		}
	case v.masked:
		n := w.Defs()[v.mask].Type.Components()
		for e := 0; e < w.Column(v.mask).Len(); e += n {
			f.Covered = append(f.Covered, w.Value(v.mask, e) != 0)
		}
	}
	return f
}

// scale returns what the colours of some frames stand for.
func (p picture) scale(v *view, frames []render.Frame) render.Scale {
	s := render.Scale{Part: v.part, Map: p.palette, Lo: p.lo, Hi: p.hi}
	if s.Lo == 0 && s.Hi == 0 {
		s.Lo, s.Hi = math.Inf(1), math.Inf(-1)
		for _, f := range frames {
			lo, hi := v.part.Extremes(f.Values)
			s.Lo, s.Hi = min(s.Lo, lo), max(s.Hi, hi)
		}
	}
	return s
}
