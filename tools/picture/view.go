package main

import (
	"fmt"
	"math"
	"strconv"

	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/fields"
)

// A part says which of a cell's values are drawn: a component by its number, or one of these.
type part int

const (
	wholeLength part = -1 - iota // of the vector
	direction                    // and the length
	category
)

// values returns how many numbers of each cell are drawn.
func (p part) values() int {
	if p == direction {
		return 2
	}
	return 1
}

// A view says what is drawn of a world.
type view struct {
	field  fields.ID
	part   part
	mask   fields.ID
	masked bool
	bodies bool // the mask is where entities are
}

// A frame holds what is drawn of one tick.
type frame struct {
	values  []float64 // as many for each cell as the part has
	covered []bool    // by the mask; nil: none
}

// view finds what is to be drawn.
func (p picture) view(w *engine.World) (*view, error) {
	s := w.Snapshot()
	defer s.Release()
	cells := w.Lattice().Cells()
	id, err := cellField(s, cells, p.field)
	if err != nil {
		return nil, err
	}
	v := &view{field: id}
	if v.part, err = p.part(s.Defs()[id]); err != nil {
		return nil, err
	}
	if p.mask != "" {
		v.masked = true
		if p.mask == engine.EntityCell {
			v.bodies = true
			v.mask, err = entityCells(s)
			return v, err
		}
		if v.mask, err = cellField(s, cells, p.mask); err != nil {
			return nil, err
		}
	}
	return v, nil
}

// part reads the component.
func (p picture) part(d fields.Def) (part, error) {
	n := d.Type.Components()
	switch {
	case p.component == "" && d.Type.Kind == fields.CategoricalKind:
		return category, nil
	case p.component == "":
		return 0, nil
	case n > 1 && p.component == "length":
		return wholeLength, nil
	case n > 1 && p.component == "direction":
		return direction, nil
	}
	k, err := strconv.Atoi(p.component)
	if err != nil || k < 0 || k >= n {
		return 0, fmt.Errorf("field %q with %d components has no component %q", d.Name, n, p.component)
	}
	return part(k), nil
}

// cellField finds a field of the cells by its name; "" is the first.
func cellField(s *engine.Snapshot, cells int, name string) (fields.ID, error) {
	for i, d := range s.Defs() {
		everywhere := d.Domain == fields.Cells && s.Len(fields.ID(i)) == cells*d.Type.Components()
		if everywhere && (name == "" || d.Name == name) {
			return fields.ID(i), nil
		}
	}
	return 0, fmt.Errorf("there is no field %q with a value for each cell", name)
}

// entityCells finds the column that says where entities are.
func entityCells(s *engine.Snapshot) (fields.ID, error) {
	for i, d := range s.Defs() {
		if d.Name == engine.EntityCell {
			return fields.ID(i), nil
		}
	}
	return 0, fmt.Errorf("there are no entities")
}

// frame copies what is drawn of the world as it is.
func (v *view) frame(w *engine.World) frame {
	s := w.Snapshot()
	defer s.Release()
	var f frame
	n := s.Defs()[v.field].Type.Components()
	for e := 0; e < s.Len(v.field); e += n {
		switch v.part {
		case category:
			f.values = append(f.values, s.At(v.field, e))
		case direction:
			f.values = append(f.values, s.At(v.field, e), s.At(v.field, e+1))
		case wholeLength:
			vector := make([]float64, n)
			for i := range vector {
				vector[i] = s.At(v.field, e+i)
			}
			f.values = append(f.values, length(vector))
		default:
			f.values = append(f.values, s.At(v.field, e+int(v.part)))
		}
	}
	switch {
	case v.bodies:
		f.covered = make([]bool, w.Lattice().Cells())
		for _, cell := range s.Column(v.mask).Int32 {
			if cell >= 0 {
				f.covered[cell] = true
			}
		}
	case v.masked:
		n := s.Defs()[v.mask].Type.Components()
		for e := 0; e < s.Len(v.mask); e += n {
			f.covered = append(f.covered, s.At(v.mask, e) != 0)
		}
	}
	return f
}

// length is that of a vector.
func length(v []float64) float64 {
	sum := 0.0
	for _, x := range v {
		sum += float64(x * x)
	}
	return math.Sqrt(sum)
}
