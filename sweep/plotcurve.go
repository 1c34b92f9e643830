package sweep

import (
	"fmt"
	"math"
	"strings"

	"github.com/murksim/murksim/internal/plot"
)

// A panel is the part of a picture that one statistic has.
type panel struct {
	x, y axis
	top  float64
}

const (
	labelWidth = 170 // of an upright axis, at most
	fewDots    = 40  // curves of at most so many points show them as dots
)

// height is the height of a panel without cells.
func (p *plotter) height() float64 {
	if len(p.stats) > 1 {
		return 200
	}
	return 340
}

// frame draws a panel's heading, and places and draws its axes. It returns the y at which the panel ends.
func (f *panel) frame(c *canvas, heading, note, title string, height, right float64) (bottom float64) {
	c.heading(plotEdge, f.top, "", heading, plotWidth/2-plotEdge)
	if note != "" {
		c.text(plotWidth-plotEdge, f.top, "end", faintText, note)
	}
	f.y.to = f.top + 14
	f.y.from = f.y.to + height
	_, widest := f.y.beside(labelWidth)
	left := max(plotEdge+widest+8, 50)
	inset := 0.0
	if f.x.names == nil {
		inset = 12
	}
	f.x.from, f.x.to = left+inset, right-inset
	f.y.drawBeside(c, left, right, labelWidth)
	c.line(left, f.y.from, right, f.y.from, inkLine)
	return f.x.drawBelow(c, f.y.from, title)
}

// valueAxis returns the axis of a statistic whose values lie between lo and hi.
func (p *plotter) valueAxis(s int, lo, hi float64) (axis, error) {
	const near = 0.3 // of the greatest: then the axis begins at 0
	a := axis{lo: lo, hi: hi, log: p.o.LogY}
	if a.log && lo <= 0 {
		return a, fmt.Errorf("%s is %s; a logarithmic axis has numbers above 0", p.stats[s].name, plot.Label(lo, plot.Precision(lo, hi, 3)))
	}
	if !a.log && lo >= 0 && lo < near*hi {
		a.lo = 0
	}
	a.widen(0.05)
	return a, nil
}

// extremes returns the least and the greatest value of some groups.
func extremes(groups []group) (lo, hi float64) {
	lo, hi = math.Inf(1), math.Inf(-1)
	for _, g := range groups {
		if g.n > 0 {
			lo, hi = min(lo, g.lo), max(hi, g.hi)
		}
	}
	return lo, hi
}

// place returns where group i of a parameter's values lies on its axis: in the middle of the values that are drawn as one.
func (x *parameter) place(i, groups int) float64 {
	n := len(x.texts)
	if n <= groups {
		if x.numbers == nil {
			return float64(i)
		}
		return x.numbers[i]
	}
	first := (i*n + groups - 1) / groups
	last := max(((i+1)*n+groups-1)/groups-1, first)
	if x.numbers == nil {
		return float64(first+last) / 2
	}
	return (x.numbers[first] + x.numbers[last]) / 2
}

// curve draws a statistic over the values of a parameter.
func (p *plotter) curve(c *canvas, s int, top float64) (bottom float64, err error) {
	x, groups := p.by[0], p.groups[s]
	lo, hi := extremes(groups)
	f := panel{x: newAxis(x), top: top}
	if f.y, err = p.valueAxis(s, lo, hi); err != nil {
		return 0, err
	}
	bottom = f.frame(c, p.stats[s].heading(), "", x.path, p.height(), plotWidth-26)
	var run []int
	for i := range groups {
		at := f.x.at(x.place(i, len(groups)))
		switch {
		case groups[i].n > 0 && x.numbers != nil:
			run = append(run, i)
			continue
		case groups[i].n > 0:
			p.bar(c, &f, at, s, i, min(f.x.pitch()/3, 14))
		case groups[i].bad > 0:
			cross(c, at, f.y.from-8)
		}
		p.stretch(c, &f, s, run)
		run = run[:0]
	}
	p.stretch(c, &f, s, run)
	return bottom, nil
}

// stretch draws a part of a curve that has no gap.
func (p *plotter) stretch(c *canvas, f *panel, s int, run []int) {
	groups, x := p.groups[s], p.by[0]
	if len(run) == 1 {
		p.bar(c, f, f.x.at(x.place(run[0], len(groups))), s, run[0], 7)
		return
	}
	var upper, lower, line strings.Builder
	for k, i := range run {
		at := f.x.at(x.place(i, len(groups)))
		letter := "L"
		if k == 0 {
			letter = "M"
		}
		fmt.Fprintf(&upper, "%s%.1f %.1f", letter, at, f.y.at(groups[i].hi))
		fmt.Fprintf(&line, "%s%.1f %.1f", letter, at, f.y.at(groups[i].mean))
		i = run[len(run)-1-k]
		fmt.Fprintf(&lower, "L%.1f %.1f", f.x.at(x.place(i, len(groups))), f.y.at(groups[i].lo))
	}
	if len(run) == 0 {
		return
	}
	c.add("<path d=\"%s%sZ\" fill=\"%s\" fill-opacity=\"0.2\"/>\n", upper.String(), lower.String(), plot.Colour(curveColour))
	c.add("<path d=\"%s\" fill=\"none\" stroke=\"%s\" stroke-width=\"2\" stroke-linejoin=\"round\"/>\n", line.String(), plot.Colour(curveColour))
	if len(groups) <= fewDots {
		for _, i := range run {
			p.dot(c, f.x.at(x.place(i, len(groups))), f.y.at(groups[i].mean), p.hint(s, i))
		}
	}
}

// curveColour is the number of the colour of curves.
const curveColour = 1

// bar draws one group: a bar from its least to its greatest value, and a dot at the mean.
func (p *plotter) bar(c *canvas, f *panel, at float64, s, i int, half float64) {
	g := p.groups[s][i]
	if top := f.y.at(g.hi); g.lo < g.hi {
		c.add("<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" fill=\"%s\" fill-opacity=\"0.2\"/>\n", at-half, top, 2*half, f.y.at(g.lo)-top, plot.Colour(curveColour))
	}
	p.dot(c, at, f.y.at(g.mean), p.hint(s, i))
}

func (p *plotter) dot(c *canvas, x, y float64, hint string) {
	c.shape(fmt.Sprintf("circle cx=\"%.1f\" cy=\"%.1f\" r=\"3.5\" fill=\"%s\"", x, y, plot.Colour(curveColour)), hint)
}

// cross marks where all jobs are not ok.
func cross(c *canvas, x, y float64) {
	const half = 3.5
	c.add("<path class=\"bad\" d=\"M%.1f %.1fl7 7m0 -7l-7 7\" stroke=\"%s\" stroke-width=\"1.4\"/>\n", x-half, y-half, plot.Faint)
}

// hint describes a group, for a pointer that rests on it.
func (p *plotter) hint(s, i int) string {
	g := p.groups[s][i]
	var parts []string
	switch x := p.by[0]; {
	case p.kind == HeatMap:
		cols := min(len(x.texts), maxCells)
		parts = append(parts, x.path+" "+x.text(i%cols, cols), p.by[1].path+" "+p.by[1].text(i/cols, min(len(p.by[1].texts), maxCells)))
	case p.kind == Samples:
		for _, x := range p.by {
			parts = append(parts, x.path+" "+x.texts[x.of(p.j.Plan, i*p.each)])
		}
	default:
		parts = append(parts, x.path+" "+x.text(i, len(p.groups[s])))
	}
	step := precision(p.ranges[p.rank(s)].lo, p.ranges[p.rank(s)].hi, 4)
	switch {
	case g.n == 0 && g.bad == 0:
		parts = append(parts, "no job is done")
	case g.n == 0:
		parts = append(parts, "no job is ok")
	case g.n == 1:
		parts = append(parts, p.stats[s].name+" "+plot.Label(g.mean, step))
	default:
		parts = append(parts, fmt.Sprintf("%s %s, from %s to %s in %s jobs", p.stats[s].name, plot.Label(g.mean, step), plot.Label(g.lo, step), plot.Label(g.hi, step), digits(g.n)))
	}
	return strings.Join(parts, "; ")
}

// text names a group of values.
func (x *parameter) text(i, groups int) string {
	n := len(x.texts)
	if n <= groups {
		return x.texts[i]
	}
	first := (i*n + groups - 1) / groups
	last := max(((i+1)*n+groups-1)/groups-1, first)
	return x.texts[first] + " to " + x.texts[last]
}

// rank returns the index in p.ranges of the statistic that panel s shows.
func (p *plotter) rank(s int) int {
	if p.stats[s].at < 0 {
		return len(p.ranges) - 1
	}
	return p.stats[s].at
}
