package export

import (
	"bufio"
	"fmt"
	"image/png"
	"math"

	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/fields"
	"github.com/murksim/murksim/internal/render"
	"github.com/murksim/murksim/scenarios"
)

// A Look says how pictures and films look. The zero Look is that of the field's values.
type Look struct {
	Mask      string     // a field; cells where it is not 0 are drawn as solid; empty: none
	Component string     // of a vector: its number, length or direction; empty: length
	Range     [2]float64 // values of the first and the last colour; equal: they are measured
	Map       string     // of colours; empty: one that fits the range
	Cell      int        // pixels; 0: as large as fits
	Slice     int        // of an fcc12; below 0: the one in the middle
	Rate      float64    // frames a second of a film; 0: 20
	YREP      YREP       // of a YREP file
}

// A painter draws the plan's field.
type painter struct {
	plan   *Plan
	field  *field
	part   render.Part
	figure *render.Figure
	values []float64
	marks  []render.Mark

	rows  int // of a line or ring; else 1
	shown int // frames of a film

	mask    *field // nil: none
	covered []bool
}

// newPainter makes a painter of figures with panels, or rows of a line or ring.
func newPainter(p *Plan, look Look, side, panels, rows int) (*painter, error) {
	f := &p.fields[0]
	part, err := render.ParsePart(&f.def, look.Component)
	if err != nil {
		return nil, err
	}
	d := &painter{plan: p, field: f, part: part, rows: rows}
	if look.Mask != "" {
		if d.mask, err = p.field(look.Mask, fields.Cells); err != nil {
			return nil, err
		}
	}
	s := render.Style{Scale: render.Scale{Part: part, Map: look.Map, Lo: look.Range[0], Hi: look.Range[1]},
		Cell: look.Cell, Slice: look.Slice, Panels: panels, Rows: rows, Title: f.name, Mask: look.Mask, Unit: f.def.Unit, Names: f.values}
	if look.Component != "" && part >= 0 {
		s.Title += " " + look.Component
	}
	if part == render.Length {
		s.Title = "length of " + f.name
	}
	if y, ok := p.lattice.Layout(); ok && y.Slices > 1 {
		if s.Slice < 0 {
			s.Slice = y.Slices / 2
		}
		s.Title += fmt.Sprintf(", z = %d", s.Slice)
	}
	s.Slice = max(s.Slice, 0)
	if p.scenario.Entities != nil {
		s.Kinds = p.scenario.Entities.Kinds
	}
	if s.Cell == 0 {
		s.Cell = render.Fit(p.lattice, side)
		if rows > 1 {
			s.Cell = max(1, min(s.Cell, side/rows))
		}
	}
	d.figure, err = render.New(p.lattice, s)
	return d, err
}

// frame returns what is drawn of a world; it is valid until the next call.
func (d *painter) frame(w *engine.World) render.Frame {
	d.values = d.part.Append(d.values[:0], &d.field.def, d.field.column(w))
	d.marks = d.marks[:0]
	all := w.Entities()
	for slot, id := range all.ID {
		if id != 0 && all.Cell[slot] >= 0 {
			d.marks = append(d.marks, render.Mark{Cell: all.Cell[slot], Kind: all.Kind[slot]})
		}
	}
	return render.Frame{Values: d.values, Marks: d.marks, Covered: d.cover(w)}
}

// cover returns which cells the mask covers.
func (d *painter) cover(w *engine.World) []bool {
	if d.mask == nil {
		return nil
	}
	d.covered = d.covered[:0]
	n, c := d.mask.components(), d.mask.column(w)
	for e := 0; e < c.Len(); e += n {
		d.covered = append(d.covered, d.mask.def.Value(c.Bits(e)) != 0)
	}
	return d.covered
}

// filmRows is how many ticks a film shows at a time: of a line or ring some, else one.
func (p *Plan) filmRows(t Ticks) int {
	const most = 100
	if p.lattice.Dim() != 1 {
		return 1
	}
	return int(min(t.Count, most))
}

// next draws the next frame of a film. Of a line or ring it is a row below those before it,
// which move up when there is no more room.
func (d *painter) next(w *engine.World) {
	row := min(d.shown, d.rows-1)
	if d.rows > 1 && d.shown >= d.rows {
		d.figure.Scroll(0)
	}
	d.shown++
	d.figure.PutRow(0, row, d.frame(w))
	d.figure.Caption(0, render.Tick(w.Tick()))
}

// A Measure is a sink that finds the range of the values that pictures of a plan show.
type Measure struct {
	field  *field
	part   render.Part
	lo, hi float64
	values []float64
}

// NewMeasure makes a measure of the first field. It is nil if the look needs no range, because it
// has one, or because colours stand for categories.
func (p *Plan) NewMeasure(look Look) (*Measure, error) {
	if err := p.some(); err != nil {
		return nil, err
	}
	f := &p.fields[0]
	part, err := render.ParsePart(&f.def, look.Component)
	if err != nil || part == render.Category || look.Range[0] != look.Range[1] {
		return nil, err
	}
	return &Measure{field: f, part: part, lo: math.Inf(1), hi: math.Inf(-1)}, nil
}

// Add looks at a world.
func (m *Measure) Add(w *engine.World) error {
	m.values = m.part.Append(m.values[:0], &m.field.def, m.field.column(w))
	lo, hi := m.part.Extremes(m.values)
	m.lo, m.hi = min(m.lo, lo), max(m.hi, hi)
	return nil
}

// Range returns the least and the greatest value there was.
func (m *Measure) Range() [2]float64 { return [2]float64{m.lo, m.hi} }

// whole refuses a region, of which there are no pictures.
func (p *Plan) whole(what string) error {
	if p.cells != nil {
		return fmt.Errorf("%s shows all cells; leave out the region", what)
	}
	return nil
}

// A pngSink draws a picture of one tick, a sheet of pictures, or a line in time.
type pngSink struct {
	filesOnly
	out     *bufio.Writer
	painter *painter
	ticks   Ticks
	strip   bool
	added   int
}

func openPNG(to File, p *Plan, t Ticks, look Look) (Sink, error) {
	const side, sheet, most = 800, 1600, 10_000 // pixels, pixels, pictures
	if err := p.whole("a picture"); err != nil {
		return nil, err
	}
	if t.Count > most {
		return nil, fmt.Errorf("%d ticks are too many for a picture; take fewer", t.Count)
	}
	s := &pngSink{out: bufio.NewWriter(to), ticks: t, strip: p.lattice.Dim() == 1}
	n := int(t.Count)
	panels, rows, room := n, 1, max(96, int(sheet/math.Ceil(math.Sqrt(float64(n)))))
	if n == 1 {
		room = side
	}
	if s.strip {
		panels, rows, room = 1, n, 2*side
	}
	var err error
	if s.painter, err = newPainter(p, look, room, panels, rows); err != nil {
		return nil, fmt.Errorf("%w%s", err, fewer(n))
	}
	return s, nil
}

func fewer(ticks int) string {
	if ticks > 1 {
		return "; take fewer ticks"
	}
	return ""
}

// Add implements [Sink].
func (s *pngSink) Add(w *engine.World) error {
	switch f := s.painter.frame(w); {
	case !s.strip:
		s.painter.figure.Put(s.added, render.Tick(w.Tick()), f)
	case s.added == 0:
		s.painter.figure.Put(0, s.caption(), f)
	default:
		s.painter.figure.PutRow(0, s.added, f)
	}
	s.added++
	return nil
}

// caption says which ticks the rows of a strip are.
func (s *pngSink) caption() string {
	if s.ticks.Count == 1 {
		return render.Tick(s.ticks.From)
	}
	return render.Tick(s.ticks.From) + " down to " + render.Tick(s.ticks.Last())
}

// Close implements [Sink].
func (s *pngSink) Close() error {
	if err := png.Encode(s.out, s.painter.figure.Image()); err != nil {
		return err
	}
	return s.out.Flush()
}

// Summary implements [Sink].
func (s *pngSink) Summary() string {
	size := s.painter.figure.Image().Rect.Size()
	return fmt.Sprintf("%s, %d×%d pixels", plural(s.added, "tick"), size.X, size.Y)
}

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return scenarios.Number(float64(n)) + " " + what + "s"
}
