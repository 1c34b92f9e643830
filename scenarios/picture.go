package scenarios

import (
	"encoding/base64"
	"encoding/binary"
	"unicode/utf8"

	"github.com/murksim/murksim/scenarios/document"
	"github.com/murksim/murksim/space"
)

// A picture draws with characters. A blank leaves a cell as it is.
type picture struct {
	At     *Cell    `yaml:"at" doc:"Where the upper left corner lies; default: row 0, column 0."`
	Rows   []string `yaml:"rows,required" doc:"The rows, from the top."`
	Legend legend   `yaml:"legend,required" doc:"What each character stands for."`

	symbols map[rune]Value // Legend, to look characters up
}

// A legend says what the characters of a picture stand for.
type legend []symbol

// A symbol is one entry of a legend.
type symbol struct {
	Char  rune
	Value Value
}

func (l *legend) decode(d *decoder, n *document.Node) error {
	if n.Kind != document.Mapping {
		return n.Errorf("%s stands where a legend, such as {\"#\": 1}, belongs", n.What())
	}
	for i := 0; i < len(n.Kids); i += 2 {
		k := n.Kids[i]
		r, size := utf8.DecodeRuneInString(k.Raw)
		if size == 0 || size != len(k.Raw) || r == ' ' {
			return k.Errorf("%q is not one character, or is a blank", k.Raw)
		}
		var v Value
		if err := v.decode(d, n.Kids[i+1]); err != nil {
			return err
		}
		*l = append(*l, symbol{r, v})
	}
	return nil
}

func (l legend) appendJSON(b []byte) []byte {
	b = append(b, '{')
	for _, s := range l {
		b = appendKey(b, string(s.Char))
		b = s.Value.appendJSON(b)
	}
	return append(b, '}')
}

func (p *picture) width() (w int) {
	for _, row := range p.Rows {
		w = max(w, utf8.RuneCountInString(row))
	}
	return w
}

func (p *picture) check(_ *decoder, n *document.Node) error {
	if p.width() == 0 {
		return n.At("rows").Errorf("the picture is empty")
	}
	p.symbols = make(map[rune]Value, len(p.Legend))
	for _, s := range p.Legend {
		p.symbols[s.Char] = s.Value
	}
	for i, row := range p.Rows {
		col := 0
		for _, c := range row {
			col++
			if _, ok := p.symbols[c]; !ok && c != ' ' {
				return n.Get("rows").Kids[i].Errorf("row %d, character %d: %q is not in the legend", i, col-1, c)
			}
		}
	}
	return nil
}

// planar returns the layout of a space with rows and columns that a picture can fill.
func planar(l *space.Lattice) (y space.Layout, ok bool) {
	y, ok = l.Layout()
	return y, ok && l.Dim() == 2
}

// corner returns the row and column where a picture begins.
func corner(y *space.Layout, at *Cell) (row, col int) {
	if at == nil {
		return 0, 0
	}
	_, row, col = y.Place(at.Coord)
	return row, col
}

// checkFits checks that a picture of some rows and columns fits the space.
func (d *decoder) checkFits(n *document.Node, at *Cell, rows, cols int) error {
	l := d.s.lattice
	y, ok := planar(l)
	if !ok {
		return n.Errorf("a picture needs rows and columns; %s has none", l.Kind())
	}
	row, col := corner(&y, at)
	if _, ok := l.Rank(y.Cell(0, row+rows-1, col+cols-1)); !ok {
		return n.Errorf("a picture of %d×%d at row %d, column %d does not fit %v", rows, cols, row, col, l.Space())
	}
	return nil
}

func (g *genesis) picture(p *picture) {
	y, _ := planar(g.lattice)
	row, col := corner(&y, p.At)
	for i, line := range p.Rows {
		j := 0
		for _, c := range line {
			if v, ok := p.symbols[c]; ok {
				g.put(y.Cell(0, row+i, col+j), v)
			}
			j++
		}
	}
}

// put sets the cell at a coordinate, which exists.
func (g *genesis) put(at space.Coord, v Value) {
	if cell, ok := g.lattice.Rank(at); ok {
		g.set(cell, v)
	}
}

// A pngFile is an image file beside the scenario. Its brightness gives the values:
// black from, white to. Loaded, it becomes a gray.
type pngFile struct {
	File string  `yaml:"file,required" doc:"Path, from the folder of the scenario."`
	At   *Cell   `yaml:"at" doc:"Where the upper left corner lies; default: row 0, column 0."`
	From float64 `yaml:"from" doc:"The value of black."`
	To   float64 `yaml:"to" default:"1" doc:"The value of white."`
}

func (p *pngFile) check(d *decoder, n *document.Node) error { return d.field.checkRange(n) }

// A gray is an image written out: rows times cols samples, row by row, in base64,
// of one byte each or, with bits 16, of two, the higher first.
type gray struct {
	At      *Cell   `yaml:"at" doc:"Where the upper left corner lies; default: row 0, column 0."`
	From    float64 `yaml:"from" doc:"The value of black."`
	To      float64 `yaml:"to" default:"1" doc:"The value of white."`
	Rows    int     `yaml:"rows,required" min:"1" doc:"Rows of the image."`
	Cols    int     `yaml:"cols,required" min:"1" doc:"Columns of the image."`
	Bits    int     `yaml:"bits" default:"8" min:"8" max:"16" doc:"Bits of a sample: 8 or 16."`
	Samples string  `yaml:"samples,required" doc:"The samples in base64."`

	samples []byte
}

func (g *gray) check(d *decoder, n *document.Node) error {
	if g.Bits != 8 && g.Bits != 16 {
		return n.At("bits").Errorf("bits must be 8 or 16, not %d", g.Bits)
	}
	var err error
	if g.samples, err = base64.StdEncoding.Strict().DecodeString(g.Samples); err != nil {
		return n.Get("samples").Errorf("samples are not base64: %v", err).Because(err)
	}
	if want := int64(g.Rows) * int64(g.Cols) * int64(g.Bits/8); int64(len(g.samples)) != want {
		return n.Get("samples").Errorf("samples have %d bytes; %d×%d of %d bits need %d", len(g.samples), g.Rows, g.Cols, g.Bits, want)
	}
	return d.field.checkRange(n)
}

func (g *genesis) gray(p *gray) {
	y, _ := planar(g.lattice)
	row, col := corner(&y, p.At)
	most := float64(int(1)<<p.Bits - 1)
	for i := range p.Rows * p.Cols {
		level := float64(p.samples[i*p.Bits/8])
		if p.Bits == 16 {
			level = float64(binary.BigEndian.Uint16(p.samples[2*i:]))
		}
		v := p.From + float64(float64(p.To-p.From)*(level/most))
		g.put(y.Cell(0, row+i/p.Cols, col+i%p.Cols), Value{v})
	}
}
