package export

import (
	"fmt"
	"strings"

	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/fields"
	"github.com/murksim/murksim/internal/rle"
	"github.com/murksim/murksim/scenarios"
	"github.com/murksim/murksim/space"
)

// An rleSink writes the states of a field at one tick, run-length encoded, as Golly has them.
type rleSink struct {
	filesOnly
	file   File
	plan   *Plan
	layout space.Layout
	rule   string
	bytes  []byte // states of the cells, row by row
	rows   int
	cols   int
}

// rleWidth is how long a line is at most.
const rleWidth = 70

func openRLE(to File, p *Plan, t Ticks, _ Look) (Sink, error) {
	y, ok := p.lattice.Layout()
	f := &p.fields[0]
	switch {
	case !ok || p.lattice.Dim() != 2:
		return nil, fmt.Errorf("a .rle needs rows and columns; %s has none", p.lattice.Kind())
	case p.listed:
		return nil, fmt.Errorf("a .rle needs a box of cells, not a list of them")
	case f.components() != 1:
		return nil, fmt.Errorf("a .rle holds one number a cell; field %q has %d", f.name, f.components())
	case t.Count > 1:
		return nil, fmt.Errorf("a .rle holds one tick, not %d", t.Count)
	}
	return &rleSink{file: to, plan: p, layout: y, rule: p.scenario.PatternRule(f.name), rows: p.shape[0], cols: p.shape[1]}, nil
}

// Add implements [Sink].
func (s *rleSink) Add(w *engine.World) error {
	f := &s.plan.fields[0]
	c := f.column(w)
	s.bytes = s.bytes[:0]
	most := uint8(0)
	for i := range s.plan.count() {
		rank := s.plan.rank(i)
		v := f.def.Value(c.Bits(rank))
		if !(v >= 0 && v < 256) || v != float64(uint8(v)) {
			return fmt.Errorf("%s at %v is %s; a .rle holds whole numbers from 0 to 255", f.name, s.plan.lattice.Coord(rank), scenarios.Number(v))
		}
		most = max(most, uint8(v))
		s.bytes = append(s.bytes, uint8(v))
	}
	b := rle.Builder{Multi: most > 1 || f.def.Type.Kind == fields.CategoricalKind && f.def.Type.N > 2, Width: rleWidth}
	for row := range s.rows {
		for col := range s.cols {
			if s.layout.Shift != 0 { // hexes lean to the other side there
				col = s.cols - 1 - col
			}
			b.Add(s.bytes[row*s.cols+col], 1)
		}
		b.End(1)
	}
	_, err := fmt.Fprintf(s.file, "%s%s\n", s.header(w.Tick()), b.Text())
	return err
}

// header returns what stands before the cells. Golly puts the middle of a bounded grid at 0, 0.
func (s *rleSink) header(tick uint64) string {
	_, row, col := s.layout.Place(s.plan.lattice.Coord(s.plan.rank(0)))
	if s.layout.Shift != 0 {
		col = s.layout.Cols - col - s.cols
	}
	head := fmt.Sprintf("#CXRLE Pos=%d,%d Gen=%d\nx = %d, y = %d", col-s.layout.Cols/2, row-s.layout.Rows/2, tick, s.cols, s.rows)
	if s.rule != "" {
		head += ", rule = " + s.rule
	}
	return head + "\n"
}

// Close implements [Sink].
func (s *rleSink) Close() error {
	if s.bytes == nil {
		return fmt.Errorf("no tick was written")
	}
	return nil
}

// Summary implements [Sink].
func (s *rleSink) Summary() string {
	rule, _, _ := strings.Cut(s.rule, ":")
	if rule != "" {
		rule = ", " + rule
	}
	return fmt.Sprintf("%s %d×%d%s", s.plan.fields[0].name, s.rows, s.cols, rule)
}
