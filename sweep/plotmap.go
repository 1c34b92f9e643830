package sweep

import (
	"fmt"
	"image/color"
	"strings"

	"github.com/murksim/murksim/internal/plot"
	"github.com/murksim/murksim/internal/render"
)

// A shade is the colour that stands for a value.
type shade struct {
	scale   render.Scale
	palette color.Palette
}

// newShade returns the colours of the values between lo and hi.
func newShade(lo, hi float64) shade {
	s := render.Scale{Lo: lo, Hi: hi}.Resolve()
	palette, err := s.Palette()
	if err != nil {
		panic("sweep: " + err.Error()) // the map is a known one, and lo is at most hi
	}
	return shade{s, palette}
}

func (s *shade) of(v float64) color.RGBA { return s.palette[s.scale.Index(v)].(color.RGBA) }

func hexColour(c color.RGBA) string { return fmt.Sprintf("#%02x%02x%02x", c.R, c.G, c.B) }

// readable returns a text colour that can be read on another colour.
func readable(c color.RGBA) string {
	const middle = 120
	if (299*int(c.R)+587*int(c.G)+114*int(c.B))/1000 > middle {
		return plot.Ink
	}
	return "#ffffff"
}

// precision returns a step for [plot.Label]. For a single value the label keeps all digits before the point.
func precision(lo, hi float64, digits int) float64 {
	step := plot.Precision(lo, hi, digits)
	if lo == hi {
		step = min(step, 1)
	}
	return step
}

// legendBar is how wide the colours of the legend are.
const legendBar = 14

// legendWidth returns how much room a legend takes at the right.
func (s *shade) legendWidth(height float64) float64 {
	a := axis{lo: s.scale.Lo, hi: s.scale.Hi, from: height}
	a.widen(0)
	_, widest := a.beside(plotWidth)
	return plotEdge + legendBar + 10 + widest + plotEdge
}

// legend draws the colours beside a picture, and the values that they stand for.
func (s *shade) legend(c *canvas, x, top, height float64) {
	if s.scale.Lo == s.scale.Hi { // one value, one colour
		c.add("<rect x=\"%.1f\" y=\"%.1f\" width=\"%d\" height=\"%d\" fill=\"%s\"/>\n", x, top, legendBar, legendBar, hexColour(s.of(s.scale.Lo)))
		c.text(x+legendBar+8, top+11, "", "", plot.Label(s.scale.Lo, precision(s.scale.Lo, s.scale.Hi, 3)))
		return
	}
	const parts = 64
	c.add("<g shape-rendering=\"crispEdges\">\n")
	for i := range parts {
		shade := s.palette[(2*i+1)*len(s.palette)/(2*parts)].(color.RGBA)
		each := height / parts
		c.add("<rect x=\"%.1f\" y=\"%.2f\" width=\"%d\" height=\"%.2f\" fill=\"%s\"/>\n", x, top+height-float64(float64(i+1)*each), legendBar, each+0.5, hexColour(shade))
	}
	c.add("</g>\n")
	a := axis{lo: s.scale.Lo, hi: s.scale.Hi, from: top + height, to: top}
	list, _ := a.beside(plotWidth)
	for _, t := range list {
		c.line(x+legendBar, t.at, x+legendBar+4, t.at, inkLine)
		c.text(x+legendBar+8, t.at+4.5, "", "", t.text)
	}
}

// heatMap draws a statistic over the values of two parameters.
func (p *plotter) heatMap(c *canvas, s int, top float64) (bottom float64) {
	groups := p.groups[s]
	means := make([]group, len(groups))
	for i, g := range groups {
		means[i] = group{n: g.n, lo: g.mean, hi: g.mean}
	}
	colours := newShade(extremes(means))
	x, y := p.by[0], p.by[1]
	f := panel{x: namesAxis(x.shown()), y: namesAxis(y.shown()), top: top}
	cols, rows := len(f.x.names), len(f.y.names)
	height := min(max(float64(rows)*min(600/float64(cols), 54), 180), 460)
	right := plotWidth - colours.legendWidth(height)
	c.heading(plotWidth-plotEdge, top, "end", p.stats[s].heading(), plotWidth/2-2*plotEdge)
	bottom = f.frameCells(c, y.path, x.path, height, right, y.numbers != nil)
	m := cells{p: p, s: s, shade: &colours, f: &f, cols: cols, width: f.x.pitch(), height: f.y.pitch()}
	m.draw(c)
	colours.legend(c, right+plotEdge, f.top+14, height)
	return max(bottom, f.top+14+legendBar)
}

// shown lists the names of the cells along a side of a heat map.
func (x *parameter) shown() []string {
	n := min(len(x.texts), maxCells)
	if n == len(x.texts) {
		return x.texts
	}
	names := make([]string, n)
	for i := range names {
		names[i] = x.texts[(i*len(x.texts)+n-1)/n]
	}
	return names
}

// frameCells draws the axes of a heat map. Rows of numbers rise.
func (f *panel) frameCells(c *canvas, heading, title string, height, right float64, rises bool) (bottom float64) {
	c.heading(plotEdge, f.top, "", heading, plotWidth/2-2*plotEdge)
	f.y.from = f.top + 14
	f.y.to = f.y.from + height
	if rises {
		f.y.from, f.y.to = f.y.to, f.y.from
	}
	_, widest := f.y.beside(labelWidth)
	f.x.from, f.x.to = max(plotEdge+widest+8, 50), right
	f.y.drawBeside(c, f.x.from, f.x.from, labelWidth)
	return f.x.drawBelow(c, max(f.y.from, f.y.to), title)
}

// cells draws the cells of a heat map.
type cells struct {
	p             *plotter
	s             int
	shade         *shade
	f             *panel
	cols          int
	width, height float64 // of a cell
}

// A picture of up to hinted cells or dots shows what each stands for when a pointer rests on it.
const hinted = 1000

func (m *cells) draw(c *canvas) {
	groups := m.p.groups[m.s]
	left, top := m.f.x.from, min(m.f.y.from, m.f.y.to)
	c.add("<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" fill=\"#ffffff\"%s/>\n", left, top, m.f.x.to-left, max(m.f.y.from, m.f.y.to)-top, gridLine)
	c.add("<g shape-rendering=\"crispEdges\">\n")
	for i, g := range groups {
		x, y, width, height := m.overlapped(i)
		fill := "#e4e6ea"
		switch {
		case g.n > 0:
			fill = hexColour(m.shade.of(g.mean))
		case g.bad == 0:
			continue
		}
		hint := ""
		if len(groups) <= hinted {
			hint = m.p.hint(m.s, i)
		}
		c.shape(fmt.Sprintf("rect x=\"%.2f\" y=\"%.2f\" width=\"%.2f\" height=\"%.2f\" fill=\"%s\"", x, y, width, height, fill), hint)
	}
	c.add("</g>\n")
	m.hatch(c)
	m.write(c)
}

// corner returns the upper left corner of a cell.
func (m *cells) corner(i int) (x, y float64) {
	return m.f.x.at(float64(i%m.cols)) - m.width/2, m.f.y.at(float64(i/m.cols)) - m.height/2
}

// overlapped returns where to draw a cell. The cell reaches under its later neighbors, so that rounding leaves no seam.
func (m *cells) overlapped(i int) (x, y, width, height float64) {
	const seam = 0.4 // pixels
	x, y = m.corner(i)
	width, height = m.width, m.height
	if (i+1)%m.cols != 0 {
		width += seam
	}
	if i+m.cols < len(m.p.groups[m.s]) {
		height += seam
		if m.f.y.from > m.f.y.to { // the next row is above
			y -= seam
		}
	}
	return x, y, width, height
}

// hatch draws slanted lines over the cells that have no ok job.
func (m *cells) hatch(c *canvas) {
	const gap, least = 8, 5 // pixels between lines, and that a cell must have
	if min(m.width, m.height) < least {
		return
	}
	var path strings.Builder
	for i, g := range m.p.groups[m.s] {
		if g.n > 0 || g.bad == 0 {
			continue
		}
		x, y := m.corner(i)
		for k := float64(gap) / 2; k < m.width+m.height; k += gap {
			fmt.Fprintf(&path, "M%.1f %.1fL%.1f %.1f", x+max(0, k-m.height), y+min(k, m.height), x+min(k, m.width), y+max(0, k-m.width))
		}
	}
	if path.Len() > 0 {
		m.p.hatched = true
		c.add("<path class=\"bad\" d=\"%s\" stroke=\"#9aa0aa\"/>\n", path.String())
	}
}

// write writes the numbers into the cells, if there is room for all of them.
func (m *cells) write(c *canvas) {
	const edge = 4
	groups := m.p.groups[m.s]
	lo, hi := m.shade.scale.Lo, m.shade.scale.Hi
	fine := precision(lo, hi, 3)
	for _, step := range []float64{min(fine, 1), fine, precision(lo, hi, 2)} {
		widest := 0.0
		for _, g := range groups {
			if g.n > 0 {
				widest = max(widest, plot.Width(plot.Label(g.mean, step), textSize))
			}
		}
		if widest+2*edge > m.width || m.height < labelHeight+2 {
			continue
		}
		for i, g := range groups {
			if g.n > 0 {
				x, y := m.corner(i)
				style := fmt.Sprintf(` fill=%q`, readable(m.shade.of(g.mean)))
				c.text(x+m.width/2, y+m.height/2+4.5, "middle", style, plot.Label(g.mean, step))
			}
		}
		return
	}
}
