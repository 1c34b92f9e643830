package render

import (
	"fmt"
	"image"
	"image/color"
	"math"
	"strconv"

	"github.com/murksim/murksim/space"
)

// Colours are the colours that a terminal has.
type Colours uint8

const (
	Shades     Colours = iota // none; pictures are drawn in shades of grey
	Colours256                // those of xterm
	TrueColour                // 24 bits
)

// A Screen draws frames as text for a terminal. Each character shows two pixels, one above the
// other, as a half block in two colours. Large lattices are drawn smaller, each pixel in the mean
// colour of its cells, and small ones larger. Of a line or ring each frame is a row of pixels
// below those before it.
//
// Of the style it heeds Scale, Slice, Names, Kinds and Mask.
type Screen struct {
	lattice *space.Lattice
	style   Style
	colours Colours
	scale   Scale        // with what Style leaves open
	palette []color.RGBA // of the values; the first is that of covered cells
	plan    plan
	cell    int // pixels of the plan

	size   image.Point // of the picture, in pixels, when it was laid out
	within image.Point // in pixels
	at     []int32     // the pixel of each cell; -1: none
	cells  []int32     // those that are drawn, pixel by pixel
	ends   []int32     // of the cells of each pixel
	marks  []blend     // of the entities
	pixels []color.RGBA
	past   int // rows of pixels of a line or ring that have been drawn
	pen    pen
}

// NewScreen makes a screen for a lattice. It returns an error if the lattice cannot be drawn.
func NewScreen(l *space.Lattice, s Style, c Colours) (*Screen, error) {
	n := &Screen{lattice: l, style: s, colours: c, cell: 1}
	var err error
	if n.plan, err = (grid{1, s.Slice}).plan(l, 1); err != nil { // rows may be shifted by half a cell
		n.cell = 2
		if n.plan, err = (grid{2, s.Slice}).plan(l, 1); err != nil {
			return nil, err
		}
	}
	if _, err := s.Resolve().colours(); err != nil {
		return nil, err
	}
	n.Rescale(s.Lo, s.Hi)
	return n, nil
}

// Rescale sets the values of the first and the last colour, lo not being above hi.
func (n *Screen) Rescale(lo, hi float64) {
	n.style.Lo, n.style.Hi = lo, hi
	scale := n.style.Resolve()
	if len(n.palette) > 0 && scale == n.scale {
		return
	}
	n.scale = scale
	values, err := scale.colours()
	if err != nil {
		panic("render: " + err.Error())
	}
	n.palette = append(n.palette[:0], solidColour)
	for _, c := range values {
		n.palette = append(n.palette, c.(color.RGBA))
	}
}

// strip reports whether each frame is a row.
func (n *Screen) strip() bool { return n.lattice.Dim() == 1 }

// Fit lays out the picture in so many columns and rows of characters, and returns the cells whose
// values are drawn, by rank: of a pixel that has many not all. Another size than before begins a
// strip anew.
func (n *Screen) Fit(columns, rows int) (cells []int32) {
	within := image.Pt(max(columns, 1), max(2*rows, 2))
	if within == n.within {
		return n.cells
	}
	n.within, n.past = within, 0
	from := image.Pt(n.plan.width, n.plan.height).Mul(n.cell)
	if n.strip() {
		n.size = image.Pt(min(within.X, from.X), within.Y)
		if k := within.X / from.X; k > 1 {
			n.size.X = from.X * k
		}
	} else {
		n.size = fit(from, within)
	}
	n.pixels = make([]color.RGBA, n.size.X*n.size.Y)
	one := n.size
	if n.strip() {
		one.Y = 1
	}
	n.marks = make([]blend, one.X*one.Y)
	n.place(from, one)
	return n.cells
}

// fit returns the largest size with a shape that lies within another: if it is larger than the
// shape a whole multiple of it.
func fit(shape, within image.Point) image.Point {
	if k := min(within.X/shape.X, within.Y/shape.Y); k >= 1 {
		return shape.Mul(k)
	}
	if shape.X*within.Y > shape.Y*within.X { // too wide
		return image.Pt(within.X, max(1, shape.Y*within.X/shape.X))
	}
	return image.Pt(max(1, shape.X*within.Y/shape.Y), within.Y)
}

// place finds the pixel of each cell, and the cells of each pixel, when a plan of some size is
// drawn in another.
func (n *Screen) place(from, to image.Point) {
	const most = 64 // cells of a pixel that are drawn
	n.at = make([]int32, n.lattice.Cells())
	under, count := make([]int32, to.X*to.Y), make([]int32, to.X*to.Y)
	for i := range under {
		under[i] = -1
	}
	for rank := range n.at {
		box := n.plan.place(n.lattice.Coord(rank))
		if n.at[rank] = -1; box.Empty() {
			continue
		}
		middle := box.Min.Add(box.Max)
		n.at[rank] = int32(middle.Y*to.Y/(2*from.Y)*to.X + middle.X*to.X/(2*from.X))
		count[n.at[rank]]++
		x0, x1 := box.Min.X*to.X/from.X, (box.Max.X*to.X+from.X-1)/from.X
		for y := box.Min.Y * to.Y / from.Y; y < (box.Max.Y*to.Y+from.Y-1)/from.Y; y++ {
			for x := x0; x < x1; x++ {
				under[y*to.X+x] = int32(rank)
			}
		}
	}
	enlarged := to.X >= from.X && to.Y >= from.Y // then a pixel lies in one cell
	n.cells, n.ends = nil, make([]int32, len(under))
	for i, rank := range under {
		if enlarged || count[i] == 0 {
			if count[i] = 0; rank >= 0 {
				n.cells = append(n.cells, rank)
			}
		} else {
			n.cells = append(n.cells, make([]int32, min(count[i], most))...)
		}
		n.ends[i] = int32(len(n.cells))
	}
	seen := make([]int32, len(under))
	for rank, p := range n.at {
		if p < 0 || count[p] == 0 {
			continue
		}
		drawn := min(count[p], most)
		k := int64(seen[p]) * int64(drawn) / int64(count[p])
		n.cells[n.ends[p]-drawn+int32(k)] = int32(rank) // the last of those that share the place
		seen[p]++
	}
}

// Append appends a frame as text: as many lines as Fit was given rows, each with an end of line
// that erases the rest of it. The frame has the values of the cells that Fit returned, in that
// order; so has Covered.
func (n *Screen) Append(dst []byte, f Frame) []byte {
	to := n.pixels
	if n.strip() {
		if n.past == n.size.Y {
			copy(n.pixels, n.pixels[n.size.X:])
			n.past--
		}
		to = n.pixels[n.past*n.size.X:][:n.size.X]
		n.past++
	}
	n.paint(to, f)
	lines := (n.size.Y + 1) / 2
	for y := range n.within.Y / 2 {
		if y < lines {
			dst = n.line(dst, 2*y)
		}
		dst = append(dst, "\x1b[K\n"...)
	}
	return dst
}

// A blend is the sum of some colours.
type blend struct{ r, g, b, n uint32 }

func (s *blend) add(c color.RGBA) {
	s.r, s.g, s.b, s.n = s.r+uint32(c.R), s.g+uint32(c.G), s.b+uint32(c.B), s.n+1
}

// mean returns the mean of the colours; without any, one without alpha.
func (s *blend) mean() color.RGBA {
	if s.n == 0 {
		return color.RGBA{}
	}
	return color.RGBA{uint8(s.r / s.n), uint8(s.g / s.n), uint8(s.b / s.n), 0xff}
}

// paint colours pixels by a frame.
func (n *Screen) paint(to []color.RGBA, f Frame) {
	k, cell := n.scale.Part.values(), 0
	for i, end := range n.ends {
		sum := blend{}
		for ; cell < int(end); cell++ {
			if len(f.Covered) > 0 && f.Covered[cell] {
				sum.add(n.palette[0])
			} else {
				sum.add(n.palette[1+int(n.scale.of(f.Values[cell*k:(cell+1)*k]))])
			}
		}
		to[i] = sum.mean()
	}
	n.mark(to, f.Marks)
}

// mark draws entities: as a pixel has more of them for its cells, it has more of their colour.
func (n *Screen) mark(to []color.RGBA, marks []Mark) {
	if len(marks) == 0 {
		return
	}
	clear(n.marks)
	cells := max(1, n.lattice.Cells()/len(n.marks)) // of a pixel, about
	for _, m := range marks {
		if p := n.at[m.Cell]; p >= 0 {
			n.marks[p].add(kinds[kindColour(m.Kind)])
		}
	}
	for i := range n.marks {
		if s := &n.marks[i]; s.n > 0 {
			const least, all = 40, 100 // per cent
			share := min(max(least, int(s.n)*all/cells), all)
			to[i] = mix([]color.RGBA{to[i], s.mean()}, share, all)
		}
	}
}

// line appends two rows of pixels as a line of characters.
func (n *Screen) line(dst []byte, y int) []byte {
	n.pen = pen{colours: n.colours}
	for x := range n.size.X {
		top, bottom := n.pixels[y*n.size.X+x], color.RGBA{}
		if y+1 < n.size.Y {
			bottom = n.pixels[(y+1)*n.size.X+x]
		}
		dst = n.pen.half(dst, top, bottom)
	}
	return n.pen.lift(dst)
}

// Legend appends what the colours stand for, in one line of at most so many columns. It leaves out categories
// without a name.
func (n *Screen) Legend(dst []byte, columns int) []byte {
	n.pen = pen{colours: n.colours}
	room := columns
	text := func(s string) bool {
		if width := len([]rune(s)); width < room {
			dst, room = append(n.pen.lift(dst), s...), room-width
			return true
		}
		room = 0
		return false
	}
	swatch := func(c color.RGBA, name string) {
		if len([]rune(name))+4 < room {
			dst, room = n.pen.half(dst, c, c), room-1
			text(" " + name + "  ")
		}
	}
	if n.scale.Part == Category {
		for i, name := range n.style.Names {
			if name != "" {
				swatch(n.palette[1+i%shown], name)
			}
		}
	} else {
		first := 1
		if n.scale.Part == Direction { // of one hue
			first += hues * brightnesses / 2
		}
		steps := len(n.palette) - first
		if text(number(n.scale.Lo) + " ") {
			width := min(24, columns/4, room-len(number(n.scale.Hi))-2)
			for i := range max(width, 0) {
				c := n.palette[first+i*(steps-1)/max(width-1, 1)]
				dst, room = n.pen.half(dst, c, c), room-1
			}
			text(" " + number(n.scale.Hi) + "  ")
		}
	}
	if n.style.Mask != "" {
		swatch(n.palette[0], n.style.Mask)
	}
	for i, name := range n.style.Kinds {
		swatch(kinds[i%len(kinds)], name)
	}
	return n.pen.lift(dst)
}

// Sparkline appends numbers as bars, a character each: the least as ▁, the greatest as █.
func Sparkline(dst []byte, values []float64) []byte {
	bars := []rune("▁▂▃▄▅▆▇█")
	lo, hi := Part(0).Extremes(values)
	s := Scale{Lo: lo, Hi: hi}
	for _, v := range values {
		dst = append(dst, string(bars[s.step(v, len(bars))])...)
	}
	return dst
}

// mostKnown is how many colours a pen keeps the numbers of.
const mostKnown = 1 << 14

// A pen writes characters in colours, and says only what changes.
type pen struct {
	colours      Colours
	known        map[color.RGBA]int // numbers of xterm
	above, below color.RGBA         // of the text and of its ground; without alpha: the terminal's own
	used         bool
}

// half appends a character whose upper and lower half have two colours; those without alpha are
// the terminal's ground.
func (p *pen) half(dst []byte, top, bottom color.RGBA) []byte {
	if p.colours == Shades {
		shades := []rune(" ░▒▓█")
		bright := (Light(top) + Light(bottom)) * len(shades) / (2*256*1000 + 1)
		return append(dst, string(shades[bright])...)
	}
	glyph := "▀"
	switch {
	case top == bottom:
		glyph = " "
	case top.A == 0:
		top, bottom, glyph = bottom, top, "▄"
	}
	if glyph != " " && top != p.above {
		dst, p.above = p.colour(dst, 38, top), top
	}
	if bottom != p.below {
		dst, p.below = p.colour(dst, 48, bottom), bottom
	}
	return append(dst, glyph...)
}

// colour appends what sets the colour of the text (38) or of its ground (48).
func (p *pen) colour(dst []byte, which int, c color.RGBA) []byte {
	p.used = true
	if c.A == 0 {
		return fmt.Appendf(dst, "\x1b[%dm", which+1)
	}
	dst = strconv.AppendInt(append(dst, "\x1b["...), int64(which), 10)
	if p.colours == Colours256 {
		number, ok := p.known[c]
		if !ok {
			if p.known == nil || len(p.known) == mostKnown {
				p.known = map[color.RGBA]int{}
			}
			number = nearest256(c)
			p.known[c] = number
		}
		dst = strconv.AppendInt(append(dst, ";5;"...), int64(number), 10)
		return append(dst, 'm')
	}
	dst = append(dst, ";2"...)
	for _, v := range [...]uint8{c.R, c.G, c.B} {
		dst = strconv.AppendInt(append(dst, ';'), int64(v), 10)
	}
	return append(dst, 'm')
}

// lift goes back to the terminal's own colours.
func (p *pen) lift(dst []byte) []byte {
	if p.used {
		dst = append(dst, "\x1b[0m"...)
	}
	*p = pen{colours: p.colours, known: p.known}
	return dst
}

// Light is how bright a colour is, from 0 to 255,000.
func Light(c color.RGBA) int { return 299*int(c.R) + 587*int(c.G) + 114*int(c.B) }

// xterm returns the colour of a number from 16 on: those of a cube of 6×6×6, then 24 greys.
func xterm(number int) color.RGBA {
	if grey := number - 232; grey >= 0 {
		v := uint8(8 + 10*grey)
		return color.RGBA{v, v, v, 0xff}
	}
	levels, i := [...]uint8{0, 95, 135, 175, 215, 255}, number-16
	return color.RGBA{levels[i/36], levels[i/6%6], levels[i%6], 0xff}
}

// nearest256 returns the number of the xterm colour that is nearest. Light and hue count apart, since by their red, green and blue the
// greys are nearest to much that has a colour.
func nearest256(c color.RGBA) int {
	at := func(c color.RGBA) [3]int64 { // light, and how far blue and red are from it
		y := int64(Light(c))
		return [...]int64{y, 1000*int64(c.B) - y, 1000*int64(c.R) - y}
	}
	want, best, least := at(c), 0, int64(math.MaxInt64)
	for number := 16; number < 256; number++ {
		away := int64(0)
		for i, v := range at(xterm(number)) {
			away += (v - want[i]) * (v - want[i])
		}
		if away < least {
			best, least = number, away
		}
	}
	return best
}
