package sweep

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/murksim/murksim/internal/plot"
	"github.com/murksim/murksim/scenarios/document"
)

// Every file that Plot writes begins with PlotMark.
const PlotMark = `<svg xmlns="http://www.w3.org/2000/svg" class="murksim-sweep"`

// draw draws the picture: a title, what the marks mean, a panel for each statistic, and what is left out.
func (p *plotter) draw() ([]byte, error) {
	c := &canvas{}
	y := c.title(plotEdge+titleSize, p.title())
	y = c.note(y, p.meaning())
	for s := range p.stats {
		var err error
		if y += 16; s > 0 {
			y += 22
		}
		switch p.kind {
		case Curves:
			y, err = p.curve(c, s, y)
		case HeatMap:
			y = p.heatMap(c, s, y)
		case Samples:
			y, err = p.dots(c, s, y)
		default:
			y = p.bySeed(c, s, y)
		}
		if err != nil {
			return nil, err
		}
	}
	y = c.note(y+30, strings.Join(p.remarks(), " "))
	var out canvas
	out.add("%s width=\"%d\" height=\"%.0f\" viewBox=\"0 0 %d %.0f\" role=\"img\" style=\"max-width:100%%;height:auto\" font-family=\"system-ui, sans-serif\" font-size=\"%d\" fill=\"%s\">\n",
		PlotMark, plotWidth, y, plotWidth, y, textSize, plot.Ink)
	out.add("<title>%s</title>\n<rect width=\"100%%\" height=\"100%%\" fill=\"#ffffff\"/>\n", plot.Escape(p.title()))
	return append(append(out.b, c.b...), "</svg>\n"...), nil
}

// title says what is shown.
func (p *plotter) title() string {
	var names []string
	for i := range p.stats {
		names = append(names, p.stats[i].name)
	}
	const most = 3
	if more := len(names) - most; more > 0 {
		names = append(names[:most], fmt.Sprintf("%d more", more))
	}
	scenario := filepath.Base(p.j.Head.Design.Scenario)
	text := strings.TrimSuffix(scenario, filepath.Ext(scenario)) + ": " + list(names)
	if p.kind == Seeds {
		return text + " with " + plural(p.seeds, "seed", "seeds")
	}
	names = names[:0:0]
	const lines = 2 // of a path, at most
	for _, x := range p.by {
		names = append(names, plot.CutPath(x.path, titleSize*plot.Bold, lines*(plotWidth-2*plotEdge)))
	}
	return text + " by " + list(names)
}

// list writes "a, b and c".
func list(names []string) string {
	if n := len(names); n > 1 {
		return strings.Join(names[:n-1], ", ") + " and " + names[n-1]
	}
	return strings.Join(names, "")
}

// meaning says what lines, bands, dots and colours stand for.
func (p *plotter) meaning() string {
	when := "after " + plural(int(p.lastTick), "tick", "ticks")
	if p.firstTick < p.lastTick {
		when = fmt.Sprintf("after %s to %s ticks", digits(int(p.firstTick)), digits(int(p.lastTick)))
	}
	over := p.over()
	mean := "mean of " + over
	if over == "" {
		mean = "value"
	}
	switch {
	case p.kind == Curves && over == "" && !p.joined():
		return "Values " + when + "."
	case p.kind == Curves && p.by[0].numbers == nil:
		return fmt.Sprintf("Dots: %s %s. Bars: least to greatest.", mean, when)
	case p.kind == Curves:
		return fmt.Sprintf("Line: %s %s. Band: least to greatest.", mean, when)
	case p.kind == HeatMap:
		return fmt.Sprintf("Colour: %s %s.", mean, when)
	case p.kind == Samples && len(p.by) == 1:
		other, mean := "", "Line: mean of those side by side."
		if len(p.rest) > 0 {
			other = ", whatever else differs"
		}
		if p.by[0].numbers == nil {
			mean = "Lines: the mean of each value."
		}
		return fmt.Sprintf("Each dot is a %s %s%s%s. %s", p.sample(), when, p.eachSeeds(), other, mean)
	case p.kind == Samples:
		return fmt.Sprintf("Each dot is a %s, its colour the value %s%s.", p.sample(), when, p.eachSeeds())
	case p.counted():
		return fmt.Sprintf("How many seeds have which value %s. Dashed: the mean.", when)
	}
	return fmt.Sprintf("Each dot is a seed, from the least value to the greatest, %s. Dashed: the mean.", when)
}

// over names what differs between jobs that are drawn as one.
func (p *plotter) over() string {
	var parts []string
	if p.seeds > 0 {
		parts = append(parts, plural(p.seeds, "seed", "seeds"))
	}
	sampled := false
	for _, x := range p.rest {
		if x.sampled {
			sampled = true
			continue
		}
		parts = append(parts, fmt.Sprintf("%s values of %s", digits(len(x.texts)), plot.CutPath(x.path, textSize, plotWidth-2*plotEdge)))
	}
	if sampled {
		parts = append(parts, plural(p.j.Plan.Design.Sampling.Count, "sample", "samples"))
	}
	return list(parts)
}

// eachSeeds says that the seeds of a sample are drawn as one.
func (p *plotter) eachSeeds() string {
	if p.seeds == 0 {
		return ""
	}
	return ", the mean of " + plural(p.seeds, "seed", "seeds")
}

// sample names what a dot stands for.
func (p *plotter) sample() string {
	if p.j.Head.Design.Sampling.Kind == "" {
		return "combination"
	}
	return "sample"
}

// joined reports whether values of parameters are drawn as one because there are so many.
func (p *plotter) joined() bool {
	switch p.kind {
	case Curves:
		return len(p.by[0].texts) > maxPoints
	case HeatMap:
		return max(len(p.by[0].texts), len(p.by[1].texts)) > maxCells
	}
	return false
}

// remarks says how many jobs there are, and which are left out.
func (p *plotter) remarks() (list []string) {
	jobs := digits(p.jobs)
	switch {
	case p.done < p.jobs:
		list = append(list, fmt.Sprintf("%s of %s are done.", digits(p.done), plural(p.jobs, "job", "jobs")))
		jobs = digits(p.done)
	case p.bad == 0:
		list = append(list, plural(p.jobs, "job", "jobs")+".")
	}
	if s := p.j.Head.Shard; s.Of > 0 {
		list = append(list, fmt.Sprintf("This is shard %v of the sweep.", s))
	}
	if p.bad > 0 {
		verb := "are"
		if p.bad == 1 {
			verb = "is"
		}
		list = append(list, fmt.Sprintf("%s of %s jobs %s not ok and left out%s.", digits(p.bad), jobs, verb, p.badMarks()))
	}
	if p.equal > 0 {
		list = append(list, fmt.Sprintf("%s one of them.", plural(p.equal, "more equals", "more equal")))
	}
	if p.kind == HeatMap {
		list = append(list, p.blank()...)
	}
	for s, n := range p.missing {
		if n > 0 {
			list = append(list, fmt.Sprintf("%s without a value of %s.", plural(n, "job is", "jobs are"), p.stats[s].name))
		}
	}
	if p.joined() {
		list = append(list, "Neighbouring values are drawn as one.")
	}
	if p.skipped > 0 {
		list = append(list, fmt.Sprintf("The first %s of %s %ss are drawn.", digits(maxDots), digits(maxDots+p.skipped), p.sample()))
	}
	return list
}

// badMarks says how the picture shows that there was no ok job.
func (p *plotter) badMarks() string {
	alone := false
	for _, g := range p.groups[0] {
		alone = alone || g.n == 0 && g.bad > 0
	}
	switch {
	case !alone || p.kind == Seeds:
		return ""
	case p.kind == HeatMap && p.hatched:
		return "; hatched cells have no other"
	case p.kind == HeatMap:
		return "; grey cells have no other"
	}
	return "; × is where there is no other"
}

// blank says why cells of a map are white, if some are.
func (p *plotter) blank() []string {
	white := func(g group) bool { return g.n == 0 && g.bad == 0 }
	if !slices.ContainsFunc(p.groups, func(groups []group) bool { return slices.ContainsFunc(groups, white) }) {
		return nil
	}
	n, of := p.grouping()
	planned, waits := make([]bool, n), make([]bool, n)
	for job := range p.j.Head.Jobs {
		at := of(job)
		planned[at], waits[at] = true, waits[at] || !p.j.Has(job)
	}
	var outside, waiting, without bool
	for _, groups := range p.groups {
		for at, g := range groups {
			if white(g) {
				outside, waiting, without = outside || !planned[at], waiting || waits[at], without || planned[at] && !waits[at]
			}
		}
	}
	var why []string
	if outside {
		why = append(why, "left out of the design")
	}
	if waiting && p.j.Head.Shard.Of > 0 {
		why = append(why, "of another shard")
	}
	if waiting && p.done < p.jobs {
		why = append(why, "not done yet")
	}
	if without {
		why = append(why, "without a value")
	}
	if len(why) == 0 {
		return nil
	}
	return []string{"White cells are " + document.Alternatives(why) + "."}
}

// heading is a statistic with its unit.
func (s *statistic) heading() string {
	if s.unit == "" {
		return s.name
	}
	return s.name + " [" + s.unit + "]"
}
