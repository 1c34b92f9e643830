package sweep

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/murksim/murksim/internal/plot"
)

// dots draws samples: over two parameters with the statistic as their colour, or over one with a line of means.
func (p *plotter) dots(c *canvas, s int, top float64) (bottom float64, err error) {
	if len(p.by) == 1 {
		return p.cloud(c, s, top)
	}
	x, y := p.by[0], p.by[1]
	means := make([]group, len(p.groups[s]))
	for i, g := range p.groups[s] {
		means[i] = group{n: g.n, lo: g.mean, hi: g.mean}
	}
	colours := newShade(extremes(means))
	f := panel{x: newAxis(x), y: newAxis(y), top: top}
	f.y.widen(0.03)
	height := max(p.height(), 300)
	right := plotWidth - colours.legendWidth(height)
	bottom = f.frame(c, y.path, "", x.path, height, right)
	c.heading(plotWidth-plotEdge, top, "end", p.stats[s].heading(), plotWidth/2-2*plotEdge)
	p.scatter(c, s, func(i int, g *group) (float64, float64, string) {
		fill := "none"
		if g.n > 0 {
			fill = hexColour(colours.of(g.mean))
		}
		return f.x.at(p.value(x, i)), f.y.at(p.value(y, i)), fill
	})
	colours.legend(c, right+plotEdge, f.y.to, f.y.from-f.y.to)
	return bottom, nil
}

// value returns where a sample lies on a parameter's axis. Samples that share a name lie side by side.
func (p *plotter) value(x *parameter, sample int) float64 {
	i := x.of(p.j.Plan, sample*p.each)
	if x.numbers != nil {
		return x.numbers[i]
	}
	const parts, share = 144, 0.6 // of a name's part of the axis
	stride := 89                  // spreads consecutive samples
	if x != p.by[0] {
		stride = 31
	}
	return float64(i) + float64(share*(float64(sample*stride%parts)/parts-0.5))
}

// scatter draws each sample at its place: as a dot, or as a cross if none of its jobs is ok.
func (p *plotter) scatter(c *canvas, s int, place func(i int, g *group) (x, y float64, fill string)) {
	groups := p.groups[s]
	radius := 2.2
	switch {
	case len(groups) <= 200:
		radius = 5
	case len(groups) <= 1000:
		radius = 3.5
	}
	for i := range groups {
		g := &groups[i]
		if g.n == 0 && g.bad == 0 {
			continue
		}
		x, y, fill := place(i, g)
		if g.n == 0 {
			cross(c, x, y)
			continue
		}
		hint := ""
		if len(groups) <= hinted {
			hint = p.hint(s, i)
		}
		c.shape(fmt.Sprintf("circle cx=\"%.1f\" cy=\"%.1f\" r=\"%.1f\" fill=\"%s\" stroke=\"%s\" stroke-opacity=\"0.5\" stroke-width=\"0.7\"", x, y, radius, fill, plot.Ink), hint)
	}
}

// cloud draws samples over one parameter when other parameters differ, too.
func (p *plotter) cloud(c *canvas, s int, top float64) (bottom float64, err error) {
	x, groups := p.by[0], p.groups[s]
	lo, hi := math.Inf(1), math.Inf(-1)
	var order []int // of those that have a value
	for i, g := range groups {
		if g.n > 0 {
			lo, hi = min(lo, g.mean), max(hi, g.mean)
			order = append(order, i)
		}
	}
	f := panel{x: newAxis(x), top: top}
	if f.y, err = p.valueAxis(s, lo, hi); err != nil {
		return 0, err
	}
	bottom = f.frame(c, p.stats[s].heading(), "", x.path, p.height(), plotWidth-26)
	p.scatter(c, s, func(i int, g *group) (float64, float64, string) {
		if g.n == 0 {
			return f.x.at(p.value(x, i)), f.y.from - 8, ""
		}
		return f.x.at(p.value(x, i)), f.y.at(g.mean), plot.Colour(4)
	})
	if x.numbers == nil {
		p.means(c, &f, s, order)
		return bottom, nil
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(p.value(x, a), p.value(x, b)) })
	p.trend(c, &f, s, order)
	return bottom, nil
}

// means draws the mean of the samples that have one name.
func (p *plotter) means(c *canvas, f *panel, s int, order []int) {
	const half = 0.35 // of what a name has of the axis
	of := make([]group, len(p.by[0].texts))
	for _, i := range order {
		of[p.by[0].of(p.j.Plan, i*p.each)].add(p.groups[s][i].mean)
	}
	for i, g := range of {
		if g.n > 0 {
			y := f.y.at(g.mean)
			c.line(f.x.at(float64(i)-half), y, f.x.at(float64(i)+half), y, fmt.Sprintf(" stroke=\"%s\" stroke-width=\"2.5\"", plot.Colour(0)))
		}
	}
}

// trend draws a line through means, each of equally many neighboring samples.
func (p *plotter) trend(c *canvas, f *panel, s int, order []int) {
	const least, most = 4, 20 // samples of a part, parts
	parts := min(len(order)/least, most)
	if parts < 3 {
		return
	}
	var line strings.Builder
	for k := range parts {
		var at, value group
		for _, i := range order[k*len(order)/parts : (k+1)*len(order)/parts] {
			at.add(f.x.at(p.value(p.by[0], i)))
			value.add(p.groups[s][i].mean)
		}
		fmt.Fprintf(&line, "%c%.1f %.1f", "ML"[min(k, 1)], at.mean, f.y.at(value.mean))
	}
	c.add("<path d=\"%s\" fill=\"none\" stroke=\"%s\" stroke-width=\"2.5\" stroke-linejoin=\"round\"/>\n", line.String(), plot.Colour(0))
}

// From countedFrom seeds on, values are counted in a histogram and not drawn one by one.
const countedFrom = 61

// counted reports whether the values of the seeds are drawn as a histogram.
func (p *plotter) counted() bool { return p.done-p.bad >= countedFrom }

// bySeed draws the values of a statistic, one per seed.
func (p *plotter) bySeed(c *canvas, s int, top float64) (bottom float64) {
	var all group
	var order []int
	for i, g := range p.groups[s] {
		if g.n > 0 {
			all.add(g.mean)
			order = append(order, i)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(p.groups[s][a].mean, p.groups[s][b].mean) })
	step := precision(all.lo, all.hi, 3)
	note := fmt.Sprintf("mean %s, from %s to %s", plot.Label(all.mean, step), plot.Label(all.lo, step), plot.Label(all.hi, step))
	if p.counted() {
		return p.histogram(c, s, top, note, &all)
	}
	names := make([]string, len(order))
	for k, i := range order {
		names[k] = fmt.Sprint(p.j.Plan.Point(i).Seed)
	}
	f := panel{x: namesAxis(names), top: top}
	f.y = axis{lo: all.lo, hi: all.hi}
	f.y.widen(0.05)
	bottom = f.frame(c, p.stats[s].heading(), note, "seed, by its value", p.height(), plotWidth-26)
	p.meanLine(c, f.x.from, f.y.at(all.mean), f.x.to, f.y.at(all.mean))
	for k, i := range order {
		g := p.groups[s][i]
		p.dot(c, f.x.at(float64(k)), f.y.at(g.mean), fmt.Sprintf("seed %s; %s %s", names[k], p.stats[s].name, plot.Label(g.mean, precision(all.lo, all.hi, 4))))
	}
	return bottom
}

func (p *plotter) meanLine(c *canvas, x1, y1, x2, y2 float64) {
	c.line(x1, y1, x2, y2, fmt.Sprintf(" stroke=\"%s\" stroke-width=\"1.6\" stroke-dasharray=\"6 4\"", plot.Colour(0)))
}

// histogram draws how many seeds have values in each of some equal parts.
func (p *plotter) histogram(c *canvas, s int, top float64, note string, all *group) (bottom float64) {
	const leastBins, mostBins = 8, 36
	about := min(max(int(math.Sqrt(float64(all.n))), leastBins), mostBins)
	ends := axis{lo: all.lo, hi: all.hi}
	ends.widen(0)
	_, step := plot.Steps(ends.lo, ends.hi, about)
	first := math.Floor(all.lo / step)
	counts := make([]int, int(math.Floor(all.hi/step)-first)+1)
	for _, g := range p.groups[s] {
		if g.n > 0 {
			counts[int(math.Floor(g.mean/step)-first)]++
		}
	}
	f := panel{x: axis{lo: first * step, hi: (first + float64(len(counts))) * step}, y: axis{hi: float64(slices.Max(counts)) * 1.05, whole: true}, top: top}
	bottom = f.frame(c, "seeds", note, p.stats[s].heading(), p.height(), plotWidth-26)
	for i, n := range counts {
		if n == 0 {
			continue
		}
		lo, hi := (first+float64(i))*step, (first+float64(i+1))*step
		x, y := f.x.at(lo), f.y.at(float64(n))
		c.shape(fmt.Sprintf("rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" fill=\"%s\" fill-opacity=\"0.75\"", x+0.5, y, f.x.at(hi)-x-1, f.y.from-y, plot.Colour(curveColour)),
			fmt.Sprintf("%s to %s: %s", plot.Label(lo, step), plot.Label(hi, step), plural(n, "seed", "seeds")))
	}
	p.meanLine(c, f.x.at(all.mean), f.y.from, f.x.at(all.mean), f.y.to)
	return bottom
}
