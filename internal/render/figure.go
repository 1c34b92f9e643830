package render

import (
	"fmt"
	"image"
	"image/color"
	"math"
	"strconv"

	"github.com/murksim/murksim/space"
)

// A Style says how a Figure looks. Scale and Cell are required.
type Style struct {
	Scale
	Cell  int // width of a cell in pixels, 1 to 64; even for hexes
	Slice int // which slice of an fcc12

	Panels int // of the figure; below 1: 1
	Rows   int // of a line or ring: how many ticks a panel has, one below the other; below 1: 1

	Bare  bool     // draw no title and no scale, on a transparent ground
	Title string   // such as the field's name
	Unit  string   // of the values; may be empty
	Names []string // of a categorical field's values
	Kinds []string // of entities; a bare figure without any draws no marks
	Mask  string   // what covered cells are; may be empty
}

// A Frame holds what is drawn of one tick.
type Frame struct {
	Values  []float64 // as Part.Append returns them
	Covered []bool    // cells that are drawn as solid; nil: none
	Marks   []Mark    // entities, drawn over the cells
}

// A Mark is an entity.
type Mark struct {
	Cell int32 // rank
	Kind int32
}

// Wall is the field that covers cells where nothing else is asked for, as in the browser.
const Wall = "wall"

// The first colours of every figure; those of the values follow, then those of kinds.
const (
	nothing    = iota // no cell
	solid             // a masked cell
	firstValue        // of the scale
)

// A Figure is a picture that is drawn piece by piece.
type Figure struct {
	style      Style
	plan       plan
	boxes      []image.Rectangle // of the cells, by rank, in a panel
	panel      image.Point       // its size
	columns    int               // of panels
	origin     image.Point       // of the first panel
	pitch      image.Point       // from a panel to the next
	text       int               // pixels of the picture for one of a letter
	image      *image.Paletted
	ink, faint uint8
	firstKind  uint8
}

// New makes a figure without content. It returns an error if the lattice cannot be drawn so.
func New(l *space.Lattice, s Style) (*Figure, error) {
	s.Scale, s.Panels, s.Rows = s.Resolve(), max(s.Panels, 1), max(s.Rows, 1)
	f := &Figure{style: s}
	var err error
	if f.plan, err = (grid{s.Cell, s.Slice}).plan(l, s.Rows); err != nil {
		return nil, err
	}
	palette, err := f.palette()
	if err != nil {
		return nil, err
	}
	f.panel = image.Pt(f.plan.width*s.Cell, f.plan.height*s.Cell*s.Rows)
	size, err := f.arrange()
	if err != nil {
		return nil, err
	}
	f.boxes = f.plan.boxes(l)
	f.image = image.NewPaletted(image.Rectangle{Max: size}, palette)
	if !s.Bare {
		f.furnish()
	}
	return f, nil
}

// palette returns all colours of the figure.
func (f *Figure) palette() (color.Palette, error) {
	values, err := f.style.colours()
	if err != nil {
		return nil, err
	}
	p := color.Palette{color.RGBA{}, solidColour}
	p = append(p, values...)
	if f.style.Bare && f.style.Kinds == nil {
		return p, nil
	}
	if !f.style.Bare {
		p[nothing] = color.RGBA{0xff, 0xff, 0xff, 0xff}
	}
	f.ink, f.faint, f.firstKind = uint8(len(p)), uint8(len(p)+1), uint8(len(p)+2)
	p = append(p, color.RGBA{0x20, 0x24, 0x2c, 0xff}, color.RGBA{0xa8, 0xac, 0xb4, 0xff})
	for _, c := range kinds {
		p = append(p, c)
	}
	return p, nil
}

// arrange places the panels and returns the size of the figure.
func (f *Figure) arrange() (image.Point, error) {
	n := f.style.Panels
	if f.style.Bare {
		f.columns, f.pitch = 1, f.panel
		return f.fits(image.Pt(f.panel.X, f.panel.Y*n))
	}
	f.text = 1
	if f.panel.X >= 240 && (n == 1 || f.panel.X >= 320) {
		f.text = 2
	}
	gap := f.gap()
	f.pitch = f.panel.Add(image.Pt(gap, gap))
	f.columns = 1
	if n > 1 {
		f.pitch.Y += f.line()
		f.columns = balanced(n, f.pitch)
	}
	width := max(f.columns*f.pitch.X-gap, min(f.least(), maxSide/2))
	f.origin = image.Pt(gap, gap+f.line())
	f.origin.X += (width - (f.columns*f.pitch.X - gap)) / 2
	if n > 1 {
		f.origin.Y += f.line()
	}
	rows := (n + f.columns - 1) / f.columns
	bottom := f.origin.Y + rows*f.pitch.Y
	if n > 1 {
		bottom -= f.line()
	}
	return f.fits(image.Pt(width+2*gap, even(bottom+f.legendHeight(width)+gap/2)))
}

func even(n int) int { return n + n%2 } // films need it

func (f *Figure) fits(size image.Point) (image.Point, error) {
	if size.X > maxSide || size.Y > maxSide {
		return size, fmt.Errorf("%d×%d pixels are too large a picture; %d×%d are the most", size.X, size.Y, maxSide, maxSide)
	}
	if !f.style.Bare {
		size.X = even(size.X)
	}
	return size, nil
}

// balanced returns how many columns make n panels about a third wider than high, with few
// places left over.
func balanced(n int, pitch image.Point) (columns int) {
	const shape, most = 1.4, 100 // width by height; columns
	best := math.Inf(1)
	for c := 1; c <= min(n, most); c++ {
		rows := (n + c - 1) / c
		ratio := float64(c*pitch.X) / float64(rows*pitch.Y) / shape
		if score := max(ratio, 1/ratio) * float64(rows*c) / float64(n); score < best {
			best, columns = score, c
		}
	}
	return columns
}

func (f *Figure) gap() int  { return 6 * f.text }
func (f *Figure) line() int { return (lineHeight + 4) * f.text }

// Image returns the picture. Further calls of Put draw into the same.
func (f *Figure) Image() *image.Paletted { return f.image }

// Put draws a frame into a panel, with a caption, such as the tick.
func (f *Figure) Put(panel int, caption string, frame Frame) {
	f.PutRow(panel, 0, frame)
	f.Caption(panel, caption)
}

// corner is where a panel begins.
func (f *Figure) corner(panel int) image.Point {
	return f.origin.Add(image.Pt(panel%f.columns*f.pitch.X, panel/f.columns*f.pitch.Y))
}

// Scroll moves the rows of a panel up by one. The first is lost, and the last there twice.
func (f *Figure) Scroll(panel int) {
	at, m := f.corner(panel), f.image
	row := f.plan.height * f.style.Cell
	for y := at.Y; y < at.Y+f.panel.Y-row; y++ {
		copy(m.Pix[m.PixOffset(at.X, y):m.PixOffset(at.X+f.panel.X, y)], m.Pix[m.PixOffset(at.X, y+row):])
	}
}

// PutRow draws a frame of a line or ring into a row of a panel.
func (f *Figure) PutRow(panel, row int, frame Frame) {
	at := f.corner(panel).Add(image.Pt(0, row*f.plan.height*f.style.Cell))
	n := f.style.Part.values()
	for rank, box := range f.boxes {
		shade := uint8(solid)
		if frame.Covered == nil || !frame.Covered[rank] {
			shade = firstValue + f.style.of(frame.Values[rank*n:(rank+1)*n])
		}
		fill(f.image, box.Add(at), shade)
	}
	for _, m := range frame.Marks {
		f.mark(f.boxes[m.Cell].Add(at), m.Kind)
	}
}

// Caption writes what a panel shows: of a single one to the right of the title, else above it.
func (f *Figure) Caption(panel int, caption string) {
	switch at := f.corner(panel); {
	case f.style.Bare:
		return
	case f.style.Panels > 1:
		f.write(image.Pt(at.X, at.Y-f.line()+2*f.text), caption, f.ink)
		return
	}
	right, top := f.image.Rect.Max.X-f.gap(), f.gap()
	fill(f.image, image.Rect(f.gap()+f.text*(textWidth(f.title())+2), top, right, top+f.line()), nothing)
	f.write(image.Pt(right-textWidth(caption)*f.text, top), caption, f.ink)
}

func (f *Figure) title() string {
	if f.style.Unit == "" {
		return f.style.Title
	}
	return f.style.Title + " [" + f.style.Unit + "]"
}

// mark draws an entity into the box of its cell: a dot with an edge, where there is room.
func (f *Figure) mark(box image.Rectangle, kind int32) {
	if box.Empty() || f.firstKind == 0 {
		return
	}
	i := kindColour(kind)
	colour, edge := f.firstKind+uint8(i), f.ink
	if kinds[i] == (color.RGBA{0, 0, 0, 0xff}) {
		edge = f.faint
	}
	side := min(box.Dx(), box.Dy())
	if side < 4 {
		fill(f.image, box, colour)
		return
	}
	middle := box.Min.Add(image.Pt((box.Dx()-side)/2, (box.Dy()-side)/2))
	for y := range side {
		for x := range side {
			dx, dy := 2*x+1-side, 2*y+1-side
			switch d := dx*dx + dy*dy; {
			case d <= (side-2)*(side-2)*3/4:
				fill(f.image, image.Rect(0, 0, 1, 1).Add(middle).Add(image.Pt(x, y)), colour)
			case d <= side*side:
				fill(f.image, image.Rect(0, 0, 1, 1).Add(middle).Add(image.Pt(x, y)), edge)
			}
		}
	}
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

// number writes a value of a scale in few characters.
func number(v float64) string {
	s := strconv.FormatFloat(v, 'g', 4, 64)
	if s == "-0" {
		return "0"
	}
	return s
}
