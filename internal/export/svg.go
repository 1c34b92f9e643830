package export

import (
	"bufio"
	"fmt"
	"math"
	"strings"

	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/internal/plot"
	"github.com/murksim/murksim/internal/render"
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
}

// A chart is some lines with one scale.
type chart struct {
	title string
	unit  string
	lines []*series
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
			s.charts = append(s.charts, newChart(f.name, "cells", f.values...))
		case part == render.Length:
			s.charts = append(s.charts, newChart("length of "+f.name+", total", f.def.Unit, "total"),
				newChart("length of "+f.name, f.def.Unit, "greatest", "mean", "least"))
		default:
			s.charts = append(s.charts, newChart(f.name+", total", f.def.Unit, "total"), newChart(f.name, f.def.Unit, "greatest", "mean", "least"))
		}
	}
	if e := p.scenario.Entities; e != nil {
		s.charts = append(s.charts, newChart("population", "", e.Kinds...))
	}
	if len(s.charts) == 0 {
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
			if id != 0 && s.plan.has(all.Cell[slot]) {
				counts[all.Kind[slot]]++
			}
		}
		charts[0].add(w.Tick(), counts...)
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
	columns := min(len(s.charts), 2)
	rows := (len(s.charts) + columns - 1) / columns
	const margin = 8
	width, height := columns*chartWidth+2*margin, rows*chartHeight+2*margin
	fmt.Fprintf(s.out, `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %d %d" role="img" font-family="system-ui, sans-serif" font-size="12" fill="#20242c">
<title>%s over ticks</title>
<rect width="100%%" height="100%%" fill="#ffffff"/>
`, width, height, width, height, s.plan.scenario.Name)
	for i, c := range s.charts {
		fmt.Fprintf(s.out, "<g transform=\"translate(%d %d)\">\n", margin+i%columns*chartWidth, margin+i/columns*chartHeight)
		c.draw(s.out)
		fmt.Fprintln(s.out, "</g>")
	}
	fmt.Fprintln(s.out, "</svg>")
	return s.out.Flush()
}

// shownLines is how many lines a chart has at most.
const shownLines = 14

// draw writes a chart whose upper left corner is the origin.
func (c *chart) draw(out *bufio.Writer) {
	lines := c.lines[:min(len(c.lines), shownLines)]
	lo, hi := bounds(lines)
	if c.unit == "cells" || c.title == "population" {
		lo = 0
	}
	const least = 1e-9 // of the values: less is rounding
	if room := (hi - lo) * 0.05; hi-lo > least*max(math.Abs(lo), math.Abs(hi)) {
		hi += room
		if lo != 0 {
			lo -= room
		}
	} else {
		lo, hi = lo-1, hi+1
	}
	points := lines[0].points
	first, last := float64(points[0].tick), float64(points[len(points)-1].tick)
	x := func(tick float64) float64 {
		if last == first {
			return plotLeft + plotWidth/2
		}
		return plotLeft + (tick-first)/(last-first)*plotWidth
	}
	y := func(v float64) float64 { return plotTop + (hi-v)/(hi-lo)*plotHeight }
	fmt.Fprintf(out, "<text x=\"%d\" y=\"16\" font-size=\"14\" font-weight=\"600\">%s</text>\n", plotLeft, c.heading())
	c.legend(out, lines)
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
		fmt.Fprintf(out, "<path fill=\"none\" stroke-width=\"1.6\" stroke-linejoin=\"round\"%s d=\"%s\"/>\n", plot.Stroke(i), s.path(x, y))
	}
}

func (c *chart) heading() string {
	if c.unit == "" {
		return plot.Escape(c.title)
	}
	return plot.Escape(c.title + " [" + c.unit + "]")
}

// legend names the lines in their colours, if there are several, as far as there is room.
func (c *chart) legend(out *bufio.Writer, lines []*series) {
	if len(lines) < 2 {
		return
	}
	const letter = 6.6 // pixels, about
	at := float64(plotLeft)
	for i, s := range lines {
		width := 20 + letter*float64(len([]rune(s.name))) + 14
		if at+width > chartWidth && i > 0 {
			fmt.Fprintf(out, "<text x=\"%.0f\" y=\"35\">…</text>\n", at)
			return
		}
		fmt.Fprintf(out, "<path d=\"M%.0f 31h14\" stroke-width=\"2.5\"%s/><text x=\"%.0f\" y=\"35\">%s</text>\n", at, plot.Stroke(i), at+18, plot.Escape(s.name))
		at += width
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
