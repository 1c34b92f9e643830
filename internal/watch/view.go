// Package watch draws a field in a terminal, with what it holds in all, while a run goes on.
package watch

import (
	"fmt"
	"math"

	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/fields"
	"github.com/murksim/murksim/internal/render"
	"github.com/murksim/murksim/internal/survey"
	"github.com/murksim/murksim/internal/words"
	"github.com/murksim/murksim/scenarios"
	"github.com/murksim/murksim/scenarios/document"
)

// A View is a field of a world, drawn in a terminal with what it holds in all.
type View struct {
	scenario *scenarios.Scenario
	ID       fields.ID
	def      fields.Def
	values   []string // names of categories
	part     render.Part
	screen   *render.Screen
	wall     fields.ID // cells where it is not 0 are covered
	walled   bool      // there is such a field, and it is not the one that is drawn

	lo, hi float64 // for which the colours stand
	totals []float64
	each   int // looks that make one of the totals
	last   int // looks of the last
	total  float64

	column  []float32
	drawn   fields.Column // of the cells that are drawn
	covered []bool        // of the same
	numbers []float64
	marks   []render.Mark
	text    []byte
}

// FirstField is the value of --watch without a field.
const FirstField = "*"

// NewView makes a view of a field by its name, in the colours that a terminal has.
func NewView(s *scenarios.Scenario, name string, c render.Colours) (*View, error) {
	var names []string
	v, found := &View{scenario: s, each: 1}, false
	for i := range s.Fields {
		f := &s.Fields[i]
		def := f.Def()
		if f.Name == render.Wall && def.Domain == fields.Cells && def.Type.Components() == 1 {
			v.wall, v.walled = fields.ID(i), true
		}
		switch {
		case def.Domain == fields.Entities && f.Name == name:
			return nil, fmt.Errorf("field %q belongs to entities; --watch draws a field of cells", name)
		case def.Domain == fields.Entities:
		case !found && (name == FirstField || name == f.Name):
			found = true
			v.ID, v.def, v.values = fields.ID(i), def, f.Values
		default:
			names = append(names, f.Name)
		}
	}
	switch {
	case !found && name == FirstField:
		return nil, fmt.Errorf("%s has no field of cells to draw", s.Name)
	case !found:
		return nil, fmt.Errorf("there is no field %q%s", name, document.Suggestion(name, names))
	}
	var err error
	if v.part, err = render.ParsePart(&v.def, ""); err != nil {
		return nil, err
	}
	style := render.Style{Scale: render.Scale{Part: v.part}, Names: v.values}
	if v.walled = v.walled && v.wall != v.ID; v.walled {
		style.Mask = render.Wall
	}
	if y, ok := s.Lattice().Layout(); ok {
		style.Slice = y.Slices / 2
	}
	if s.Entities != nil {
		style.Kinds = s.Entities.Kinds
	}
	if v.screen, err = render.NewScreen(s.Lattice(), style, c); err != nil {
		return nil, fmt.Errorf("--watch: %w", err)
	}
	return v, nil
}

// look takes what is drawn of a state in so many columns and rows, and lets go of it. The frame
// is valid until the next call.
func (v *View) look(state *engine.Snapshot, columns, rows int) render.Frame {
	c := fields.Column{}
	if v.def.Element == fields.Float32 {
		v.column = state.AppendFloat32(v.column[:0], v.ID)
		c.Float32 = v.column
	} else {
		c = state.Column(v.ID)
	}
	v.marks = v.marks[:0]
	if v.scenario.Entities != nil {
		id, kind, cell := engine.EntityColumns(len(v.scenario.Fields))
		ids, kinds, cells := state.Column(id), state.Column(kind), state.Column(cell)
		for slot, id := range ids.Uint64 {
			if id != 0 && cells.Int32[slot] >= 0 {
				v.marks = append(v.marks, render.Mark{Cell: cells.Int32[slot], Kind: kinds.Int32[slot]})
			}
		}
	}
	cells := v.screen.Fit(v.room(columns, rows))
	v.covered = v.covered[:0]
	if v.walled {
		for _, rank := range cells {
			v.covered = append(v.covered, state.At(v.wall, int(rank)) != 0)
		}
	}
	state.Release() // the world may have the memory again while it is drawn
	v.survey(&c)
	n := v.def.Type.Components()
	if v.drawn.Len() != len(cells)*n {
		v.drawn = fields.NewColumn(v.def.Element, len(cells)*n)
	}
	for i, rank := range cells {
		for k := range n {
			v.drawn.SetBits(i*n+k, c.Bits(int(rank)*n+k))
		}
	}
	v.numbers = v.part.Append(v.numbers[:0], &v.def, &v.drawn)
	return render.Frame{Values: v.numbers, Covered: v.covered, Marks: v.marks}
}

// survey finds the total and the range of a column.
func (v *View) survey(c *fields.Column) {
	lo, hi := 0.0, 0.0
	v.total = 0
	switch {
	case v.part == render.Category: // how many have another value than the first
		v.numbers = v.part.Append(v.numbers[:0], &v.def, c)
		for _, x := range v.numbers {
			if x != 0 {
				v.total++
			}
		}
	case v.def.Type.Components() == 1 && c.Float32 != nil:
		v.total, lo, hi = survey.SumAndRange(c.Float32)
	default:
		v.numbers = v.part.Append(v.numbers[:0], &v.def, c)
		lo, hi = v.part.Extremes(v.numbers)
		for _, x := range v.numbers {
			v.total += x
		}
	}
	if len(v.totals) == 0 {
		v.lo, v.hi = lo, hi
	}
	const slow = 0.02 // of the way back, a picture
	v.lo, v.hi = min(v.lo+slow*(lo-v.lo), lo), max(v.hi+slow*(hi-v.hi), hi)
	v.keep(v.total)
}

// room is how many columns and rows there are for the field.
func (v *View) room(columns, rows int) (int, int) {
	const others = 3                                // lines
	return max(columns-1, 1), max(rows-1-others, 1) // a full line may wrap, and the cursor stands below
}

// outward rounds a range to short numbers, so that it does not change with every picture.
func outward(lo, hi float64) (float64, float64) {
	if !(hi > lo) {
		return lo, hi
	}
	unit := math.Pow(10, math.Floor(math.Log10(hi-lo))-1)
	return math.Floor(lo/unit) * unit, math.Ceil(hi/unit) * unit
}

// MostTotals is how many totals a sparkline has.
const MostTotals = 64

// keep adds a total to those of the sparkline. When there are too many it joins neighbours.
func (v *View) keep(total float64) {
	if n := len(v.totals); n > 0 && v.last < v.each {
		v.last++
		v.totals[n-1] += (total - v.totals[n-1]) / float64(v.last)
		return
	}
	if len(v.totals) == MostTotals {
		for i := range MostTotals / 2 {
			v.totals[i] = (v.totals[2*i] + v.totals[2*i+1]) / 2
		}
		v.totals, v.each = v.totals[:MostTotals/2], 2*v.each
	}
	v.totals, v.last = append(v.totals, total), 1
}

// draw returns a picture in so many columns and rows: a title, the field, the meaning of the
// colours, and the totals so far.
func (v *View) draw(f render.Frame, title string, columns, rows int) []byte {
	v.screen.Rescale(outward(v.lo, v.hi))
	columns, _ = v.room(columns, rows)
	name := v.def.Name
	if v.part == render.Length {
		name = "length of " + name
	}
	if v.def.Unit != "" {
		name += " [" + v.def.Unit + "]"
	}
	v.text = AppendLine(v.text[:0], name+"  "+title, columns)
	v.text = v.screen.Append(v.text, f)
	v.text = append(v.screen.Legend(v.text, columns), "\x1b[K\n"...)
	what, total := "total ", " "+words.Rounded(v.total)
	if v.part == render.Category {
		what = "not " + v.values[0] + " "
	}
	bars := v.totals[max(0, len(v.totals)-max(columns-len(what)-len(total), 1)):]
	return AppendLine(v.text, what+string(render.Sparkline(nil, bars))+total, columns)
}

// AppendLine appends a line of text.
func AppendLine(dst []byte, text string, columns int) []byte {
	r := []rune(text)
	return append(append(dst, string(r[:min(len(r), columns)])...), "\x1b[K\n"...)
}
