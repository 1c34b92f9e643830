package export

import (
	"bufio"
	"fmt"
	"image/color"
	"math"
	"strings"

	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/internal/plot"
	"github.com/murksim/murksim/internal/render"
	"github.com/murksim/murksim/internal/survey"
)

// An svgSink draws lines over the ticks: of every field its total, and its least, mean and
// greatest value; of categories and of entities how many there are.
type svgSink struct {
	filesOnly
	out    *bufio.Writer
	plan   *Plan
	charts []*chart
	values []float64
	added  int
	stats  *survey.Survey // of no field: the scenario's own statistics; nil: they are not drawn
	curves []*chart       // of these
}

// A chart is some lines with one scale.
type chart struct {
	title   string
	unit    string
	lines   []*series
	colours []color.RGBA // of the lines, as pictures have them; nil: those of charts
}

func newChart(title, unit string, names ...string) *chart {
	c := &chart{title: title, unit: unit}
	for _, name := range names {
		c.lines = append(c.lines, &series{name: name})
	}
	return c
}

func (c *chart) add(tick uint64, values ...float64) {
	for i, v := range values {
		c.lines[i].add(tick, v)
	}
}

func openSVG(to File, p *Plan, _ Ticks, _ Look) (Sink, error) {
	s := &svgSink{out: bufio.NewWriter(to), plan: p}
	if p.entities && p.named > 0 {
		return nil, fmt.Errorf("charts show how many entities there are, not their fields; leave out --fields")
	}
	if p.entities {
		p.fields = nil
	}
	if p.named == 0 { // what never changes says nothing
		var moving []field
		for _, f := range p.fields {
			if !f.static() {
				moving = append(moving, f)
			}
		}
		p.fields = moving
	}
	for i := range p.fields {
		f := &p.fields[i]
		switch part := chartPart(f); {
		case part == render.Category:
			c := newChart(f.name, "cells", f.values...)
			c.colours = render.Categories()
			s.charts = append(s.charts, c)
		case part == render.Length:
			s.charts = append(s.charts, newChart("length of "+f.name+", total", f.def.Unit, "total"),
				newChart("length of "+f.name, f.def.Unit, "greatest", "mean", "least"))
		default:
			s.charts = append(s.charts, newChart(f.name+", total", f.def.Unit, "total"), newChart(f.name, f.def.Unit, "greatest", "mean", "least"))
		}
	}
	if e := p.scenario.Entities; e != nil {
		c := newChart("population", "", e.Kinds...)
		c.colours = render.Kinds()
		s.charts = append(s.charts, c)
	}
	if own := p.scenario.Stats; len(own) > 0 && p.named == 0 && p.cells == nil && !p.entities {
		var err error
		if s.stats, err = survey.New(p.scenario, nil); err != nil {
			return nil, err
		}
		s.stats.Totals = nil
		for _, name := range own.Names() {
			s.curves = append(s.curves, newChart(name, "", name))
		}
	}
	if len(s.charts)+len(s.curves) == 0 {
		return nil, fmt.Errorf("no field of %s changes; name one with --fields", p.scenario.Name)
	}
	return s, nil
}

// chartPart returns which numbers of a field are drawn.
func chartPart(f *field) render.Part {
	part, err := render.ParsePart(&f.def, "")
	if err != nil {
		panic("export: a field has no part without a name: " + err.Error())
	}
	return part
}

// Add implements [Sink].
func (s *svgSink) Add(w *engine.World) error {
	s.added++
	charts := s.charts
	for i := range s.plan.fields {
		f := &s.plan.fields[i]
		part := chartPart(f)
		s.values = part.Append(s.values[:0], &f.def, f.column(w))
		if part == render.Category {
			counts := make([]float64, len(f.values))
			for k := range s.plan.count() {
				counts[int(s.values[s.plan.rank(k)])]++
			}
			charts[0].add(w.Tick(), counts...)
			charts = charts[1:]
			continue
		}
		total, lo, hi := 0.0, math.Inf(1), math.Inf(-1)
		for k := range s.plan.count() {
			v := s.values[s.plan.rank(k)]
			total, lo, hi = total+v, min(lo, v), max(hi, v)
		}
		charts[0].add(w.Tick(), total)
		charts[1].add(w.Tick(), hi, total/float64(s.plan.count()), lo)
		charts = charts[2:]
	}
	if all := w.Entities(); len(all.ID) > 0 {
		counts := make([]float64, len(charts[0].lines))
		for slot, id := range all.ID {
			if kind := all.Kind[slot]; id != 0 && s.plan.has(all.Cell[slot]) && kind >= 0 && int(kind) < len(counts) {
				counts[kind]++
			}
		}
		charts[0].add(w.Tick(), counts...)
	}
	if s.stats == nil {
		return nil
	}
	s.stats.Look(w)
	for i, x := range s.stats.Stats {
		if x.Value == x.Value {
			s.curves[i].add(w.Tick(), x.Value)
		}
	}
	return nil
}

// Sizes in pixels.
const (
	chartWidth, chartHeight = 560, 220
	plotLeft, plotTop       = 78, 46
	plotWidth, plotHeight   = 458, 136
)

// Close implements [Sink].
func (s *svgSink) Close() error {
	for _, c := range s.curves {
		if len(c.lines[0].points) > 0 { // it had a value in some tick
			s.charts = append(s.charts, c)
		}
	}
	if len(s.charts) == 0 {
		return fmt.Errorf("the statistics of %s have no values in these ticks, and there is nothing else to draw", s.plan.scenario.Name)
	}
	columns := min(len(s.charts), 2)
	rows := (len(s.charts) + columns - 1) / columns
	const margin = 8
	tops, below := []int{margin}, make([]int, rows) // of the rows, and the end of the last
	for r := range rows {
		for _, c := range s.charts[r*columns : min((r+1)*columns, len(s.charts))] {
			below[r] = max(below[r], c.below())
		}
		tops = append(tops, tops[r]+chartHeight+below[r])
	}
	width, height := columns*chartWidth+2*margin, tops[rows]+margin
	fmt.Fprintf(s.out, `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %d %d" role="img" font-family="system-ui, sans-serif" font-size="12" fill="#20242c">
<title>%s over ticks</title>
<rect width="100%%" height="100%%" fill="#ffffff"/>
`, width, height, width, height, s.plan.scenario.Name)
	for i, c := range s.charts {
		fmt.Fprintf(s.out, "<g transform=\"translate(%d %d)\">\n", margin+i%columns*chartWidth, tops[i/columns])
		c.draw(s.out, below[i/columns])
		fmt.Fprintln(s.out, "</g>")
	}
	fmt.Fprintln(s.out, "</svg>")
	return s.out.Flush()
}

// shownLines is how many lines a chart has at most: as there are colours of categories.
const shownLines = 24

// draw writes a chart whose upper left corner is the origin, with its lines so much lower as a legend of several rows takes.
func (c *chart) draw(out *bufio.Writer, below int) {
	lines := c.lines[:min(len(c.lines), shownLines)]
	plotTop := plotTop + below
	lo, hi := bounds(lines)
	if c.unit == "cells" || c.title == "population" {
		lo = 0
	}
	const least = 1e-9                                           // of the values: less is rounding
	half, greatest := hi/2-lo/2, max(math.Abs(lo), math.Abs(hi)) // the whole distance may be beyond a float64
	if room := half * 0.1; half > least/2*greatest {
		hi = min(hi+room, math.MaxFloat64)
		if lo != 0 {
			lo = max(lo-room, -math.MaxFloat64)
		}
	} else {
		room := max(1, least*greatest)
		lo, hi = max(lo-room, -math.MaxFloat64), min(hi+room, math.MaxFloat64)
	}
	points := lines[0].points
	first, last := float64(points[0].tick), float64(points[len(points)-1].tick)
	x := func(tick float64) float64 {
		if last == first {
			return plotLeft + plotWidth/2
		}
		return plotLeft + (tick-first)/(last-first)*plotWidth
	}
	y := func(v float64) float64 { return float64(plotTop) + (hi/2-v/2)/(hi/2-lo/2)*plotHeight }
	fmt.Fprintf(out, "<text x=\"%d\" y=\"16\" font-size=\"14\" font-weight=\"600\">%s</text>\n", plotLeft, c.heading())
	c.legend(out)
	list, step := plot.Steps(lo, hi, 4)
	for _, v := range list {
		fmt.Fprintf(out, "<path d=\"M%d %.1fh%d\" stroke=\"#dde0e6\"/><text x=\"%d\" y=\"%.1f\" text-anchor=\"end\">%s</text>\n",
			plotLeft, y(v), plotWidth, plotLeft-8, y(v)+4, plot.Label(v, step))
	}
	list, step = plot.Steps(first, last, 6)
	for _, v := range list {
		if v == math.Floor(v) {
			fmt.Fprintf(out, "<path d=\"M%.1f %dv4\" stroke=\"#20242c\"/><text x=\"%.1f\" y=\"%d\" text-anchor=\"middle\">%s</text>\n",
				x(v), plotTop+plotHeight, x(v), plotTop+plotHeight+18, plot.Label(v, step))
		}
	}
	fmt.Fprintf(out, "<path d=\"M%d %dh%d\" stroke=\"#20242c\"/><text x=\"%d\" y=\"%d\" text-anchor=\"end\" fill=\"#5c6370\">tick</text>\n",
		plotLeft, plotTop+plotHeight, plotWidth, plotLeft-14, plotTop+plotHeight+18)
	for i, s := range lines {
		c.line(out, i, 1.6, s.path(x, y))
	}
}

// line writes a line in its colour, a pale one on a darker ground.
func (c *chart) line(out *bufio.Writer, i int, width float64, path string) {
	stroke := plot.Stroke(i)
	if n := len(c.colours); n > 0 {
		const pale = 180_000
		colour := c.colours[i%n]
		if render.Light(colour) > pale {
			fmt.Fprintf(out, "<path fill=\"none\" stroke-width=\"%.1f\" stroke-linejoin=\"round\" stroke=\"#808080\" d=\"%s\"/>\n", width+1.4, path)
		}
		stroke = fmt.Sprintf(" stroke=\"#%02x%02x%02x\"", colour.R, colour.G, colour.B)
		if i >= n {
			stroke += ` stroke-dasharray="5 3"`
		}
	}
	fmt.Fprintf(out, "<path fill=\"none\" stroke-width=\"%.1f\" stroke-linejoin=\"round\"%s d=\"%s\"/>\n", width, stroke, path)
}

func (c *chart) heading() string {
	if c.unit == "" {
		return plot.Escape(c.title)
	}
	return plot.Escape(c.title + " [" + c.unit + "]")
}

// A name is that of a line in the legend, and where it stands.
type name struct {
	text string
	x    float64
	row  int
}

// names spreads the names of the lines over rows; the last name may say that there are more lines.
func (c *chart) names() []name {
	if len(c.lines) < 2 {
		return nil
	}
	const letter, swatch, apart = 6.6, 20, 14 // pixels, about; there is room for a name of 64 letters
	var list []name
	at, row := float64(plotLeft), 0
	put := func(text string) {
		width := swatch + letter*float64(len([]rune(text)))
		if at+width > plotLeft+plotWidth && at > plotLeft {
			at, row = plotLeft, row+1
		}
		list = append(list, name{text, at, row})
		at += width + apart
	}
	for i, s := range c.lines {
		if i == shownLines {
			put(fmt.Sprintf("and %d more", len(c.lines)-shownLines))
			break
		}
		put(s.name)
	}
	return list
}

// legendRow is the height of a row of names.
const legendRow = 17

// below is how much lower the lines begin because the legend has more than one row.
func (c *chart) below() int {
	if list := c.names(); len(list) > 0 {
		return legendRow * list[len(list)-1].row
	}
	return 0
}

// legend names the lines in their colours, if there are several.
func (c *chart) legend(out *bufio.Writer) {
	for i, n := range c.names() {
		y := 35 + legendRow*n.row
		if i < shownLines {
			c.line(out, i, 2.5, fmt.Sprintf("M%.0f %dh14", n.x, y-4))
		}
		fmt.Fprintf(out, "<text x=\"%.0f\" y=\"%d\">%s</text>\n", n.x+18, y, plot.Escape(n.text))
	}
}

// path draws a series; a point that is a range as a line across it.
func (s *series) path(x, y func(float64) float64) string {
	var b strings.Builder
	letter := byte('M')
	to := func(p point, v float64) {
		fmt.Fprintf(&b, "%c%.1f %.1f", letter, x(float64(p.tick)), y(v))
		letter = 'L'
	}
	for _, p := range s.points {
		to(p, p.lo)
		if p.hi != p.lo {
			to(p, p.hi)
		}
	}
	if len(s.points) == 1 { // a dash across it
		fmt.Fprintf(&b, "m-4 0h8")
	}
	return b.String()
}

// Summary implements [Sink].
func (s *svgSink) Summary() string {
	return plural(len(s.charts), "chart") + " of " + plural(s.added, "tick")
}
