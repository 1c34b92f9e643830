package sweep

import (
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/murksim/murksim/scenarios/document"
)

// PlotOptions say what Plot draws. The zero value lets it choose.
type PlotOptions struct {
	Stats []string // statistics, one panel each; none: the first that differs between the jobs
	By    []string // a path or two, or the ends of paths, or seed, see [Plan.Varying]; none: those that differ, the first two if there are more
	LogX  bool     // a logarithmic axis, even if the design did not draw its values so
	LogY  bool     // likewise

	// Row returns the row of a job that is done, for a caller that has it in memory; nil: Plot reads it from the journal. Plot looks only at
	// Status, As, Ticks, Stats and Seconds, before the next call.
	Row func(job int) (*Row, error)
}

// A PlotKind is how a sweep is drawn.
type PlotKind string

// The kinds of plots.
const (
	Curves  PlotKind = "curves"  // a statistic over the values of a parameter
	HeatMap PlotKind = "map"     // the colour of a cell for each two values of two parameters
	Samples PlotKind = "samples" // a dot for each sample of one parameter or two
	Seeds   PlotKind = "seeds"   // how often a statistic has which value
)

// A Plotted says what Plot has drawn.
type Plotted struct {
	Kind    PlotKind
	By      []string // parameters
	Stats   []string
	Jobs    int // of the sweep, or its shard; those that equal each other count once
	Done    int
	LeftOut int // jobs that are not ok
}

// MaxPlotStats is how many statistics a plot may show.
const MaxPlotStats = 12

var errOneJob = errors.New("the sweep has one job alone, which makes no picture; it would have several with other values or --seeds")

// ErrNothingDone reports a sweep that has no finished job.
var ErrNothingDone = errors.New("no job of the sweep is done yet")

// Plot draws what the journal has as SVG. Jobs that are not ok are left out of all numbers. The same rows give
// the same bytes, in whichever order they came.
func Plot(to io.Writer, j *Journal, o PlotOptions) (*Plotted, error) {
	p := &plotter{j: j, o: o, row: o.Row}
	if p.row == nil {
		p.row = j.Row
	}
	if err := p.choose(); err != nil {
		return nil, err
	}
	if err := p.survey(); err != nil {
		return nil, err
	}
	if err := p.chooseStats(); err != nil {
		return nil, err
	}
	if err := p.collect(); err != nil {
		return nil, err
	}
	b, err := p.draw()
	if err != nil {
		return nil, err
	}
	_, err = to.Write(b)
	return p.plotted(), err
}

func (p *plotter) plotted() *Plotted {
	r := &Plotted{Kind: p.kind, By: []string{}, Jobs: p.jobs, Done: p.done, LeftOut: p.bad}
	for _, by := range p.by {
		r.By = append(r.By, by.path)
	}
	for i := range p.stats {
		r.Stats = append(r.Stats, p.stats[i].name)
	}
	return r
}

// A plotter draws a journal.
type plotter struct {
	j     *Journal
	o     PlotOptions
	row   func(job int) (*Row, error)
	kind  PlotKind
	by    []*parameter
	rest  []*parameter // that differ, too
	seeds int          // that differ and are not in by; 0: none
	each  int          // jobs that are one sample
	stats []statistic

	jobs, done, bad     int          // those that equal another are in none
	equal               int          // jobs that equal another
	twins               map[int]bool // jobs that others equal
	firstTick, lastTick uint64       // at which jobs ended
	ranges              []span64
	missing             []int     // of the statistics: ok jobs without a value
	groups              [][]group // of the statistics; what a group is, the kind says
	skipped             int       // samples that are too many to be drawn
	hatched             bool      // cells have slanted lines
}

// span64 is the least and the greatest of some numbers.
type span64 struct{ lo, hi float64 }

// A statistic is a number of each row.
type statistic struct {
	name, unit string
	at         int // in Row.Stats; -1: Row.Seconds
}

// seedPath stands for the seed among the paths, and secondsStat for the time of a job among the statistics.
const (
	seedPath    = "seed"
	secondsStat = "seconds"
)

// choose selects the parameters to draw over, and the kind of plot.
func (p *plotter) choose() error {
	all := parameters(p.j.Plan)
	var differ []*parameter
	for _, x := range all {
		if len(x.texts) > 1 && !x.within {
			differ = append(differ, x)
		}
	}
	if err := p.chooseBy(all, differ); err != nil {
		return err
	}
	if p.j.Head.Jobs < 2 {
		return errOneJob
	}
	for _, x := range differ {
		if !slices.Contains(p.by, x) && !(x.at == listedAt && p.settled()) {
			p.rest = append(p.rest, x)
		}
	}
	p.each = 1
	if !slices.ContainsFunc(p.by, (*parameter).isSeed) {
		p.each = int(max(p.j.Plan.seeds, 1))
		if n := p.j.Plan.differentSeeds(); n > 1 {
			p.seeds = n
		}
	}
	switch {
	case len(p.by) == 0:
		p.kind = Seeds
	case slices.ContainsFunc(p.by, (*parameter).isSampled):
		p.kind = Samples
	case len(p.by) == 2 && p.dense():
		p.kind = HeatMap
	case len(p.by) == 2:
		p.kind = Samples
	default:
		p.kind = Curves
	}
	return p.checkLog()
}

// settled reports whether the listed values on the picture's axes determine the other listed values.
func (p *plotter) settled() bool {
	chosen, all := map[string]bool{}, map[string]bool{}
	for row := range p.j.Plan.lists {
		var by, whole []string
		for i := range p.j.Plan.columns {
			text := p.j.Plan.Design.List[i].Values[row]
			whole = append(whole, text)
			if slices.ContainsFunc(p.by, func(x *parameter) bool { return x.at == i }) {
				by = append(by, text)
			}
		}
		chosen[strings.Join(by, "\n")], all[strings.Join(whole, "\n")] = true, true
	}
	return len(chosen) == len(all)
}

func (p *plotter) chooseBy(all, differ []*parameter) error {
	if len(p.o.By) == 0 {
		p.by = differ[:min(len(differ), 2)]
		return nil
	}
	if len(p.o.By) > 2 {
		return fmt.Errorf("a picture is over one parameter or two, not %d", len(p.o.By))
	}
	if p.j.Plan.seeds > 0 {
		all = append(all, seedsOf(p.j.Plan))
	}
	for _, name := range p.o.By {
		x, err := find(all, name)
		if err != nil {
			return err
		}
		if slices.Contains(p.by, x) {
			return fmt.Errorf("the picture cannot be over %s twice", x.path)
		}
		p.by = append(p.by, x)
	}
	return nil
}

// find returns the parameter with a path, or the only one whose path ends so.
func find(all []*parameter, name string) (*parameter, error) {
	var paths []string
	var ends []*parameter
	for _, x := range all {
		if x.path == name {
			return x, nil
		}
		paths = append(paths, x.path)
		if strings.HasSuffix(x.path, "."+name) && x.at != listedAt {
			ends = append(ends, x)
		}
	}
	switch {
	case len(ends) == 1:
		return ends[0], nil
	case len(ends) > 1:
		return nil, fmt.Errorf("%q may be %s or %s; say which", name, ends[0].path, ends[1].path)
	case len(all) == 0:
		return nil, fmt.Errorf("%q does not differ between the jobs; nothing does", name)
	}
	if path := meant(name, paths); path != "" {
		return nil, fmt.Errorf("%q does not differ between the jobs; did you mean %q?", name, path)
	}
	return nil, fmt.Errorf("%q does not differ between the jobs%s", name, document.Suggestion(name, paths))
}

// meant returns the path that the user probably meant by a name: one that is similar, or has a similar end or part; "": none.
func meant(name string, paths []string) string {
	if path := document.Nearest(name, paths); path != "" {
		return path
	}
	var pieces []string
	of := map[string]string{} // paths
	add := func(piece, path string) {
		if _, known := of[piece]; !known {
			pieces, of[piece] = append(pieces, piece), path
		}
	}
	for _, path := range paths {
		for end, more := path, true; more; {
			var part string
			add(end, path)
			part, end, more = strings.Cut(end, ".")
			add(part, path)
		}
	}
	return of[document.Nearest(name, pieces)]
}

// checkLog checks that logarithmic axes have only numbers above 0, as far as the design alone shows it.
func (p *plotter) checkLog() error {
	if !p.o.LogX && !p.o.LogY {
		return nil
	}
	if p.kind == HeatMap || p.kind == Seeds {
		return errors.New("only curves and dots have axes that can be logarithmic; this picture has cells or counts")
	}
	if p.o.LogX {
		if err := p.by[0].setLog(); err != nil {
			return err
		}
	}
	if p.o.LogY && len(p.by) == 2 {
		return p.by[1].setLog()
	}
	return nil
}

// chooseStats finds the statistics that are asked for, or chooses one.
func (p *plotter) chooseStats() error {
	all := p.statistics()
	names := make([]string, len(all))
	for i := range all {
		names[i] = all[i].name
	}
	if len(p.o.Stats) > MaxPlotStats {
		return fmt.Errorf("a picture shows at most %d statistics, not %d", MaxPlotStats, len(p.o.Stats))
	}
	for _, name := range p.o.Stats {
		at := slices.Index(names, name)
		switch {
		case at < 0 && len(p.j.Head.Stats) == 0:
			return fmt.Errorf("there is no statistic %q: the sweep was run without, and has but %s", name, secondsStat)
		case at < 0:
			return fmt.Errorf("there is no statistic %q%s", name, document.Suggestion(name, names))
		case slices.Contains(p.stats, all[at]):
			return fmt.Errorf("the statistic %s is given twice", name)
		}
		p.stats = append(p.stats, all[at])
	}
	if len(p.stats) == 0 {
		p.stats = []statistic{all[p.telling(names)]}
	}
	return nil
}

// statistics lists those that rows have.
func (p *plotter) statistics() (all []statistic) {
	h := &p.j.Head
	for i, name := range h.Stats {
		s := statistic{name: name, at: i}
		if i < len(h.Units) {
			s.unit = h.Units[i]
		}
		all = append(all, s)
	}
	return append(all, statistic{secondsStat, "s", -1})
}

// telling returns the index of the statistic that most likely tells something: the first one that differs between jobs among the probes,
// the means, the sums, or all. If none differs by more than rounding, any difference counts; if there is none, the first one in that order.
func (p *plotter) telling(names []string) int {
	const rounding = 1e-5 // of a value
	own := len(p.j.Head.Stats)
	for _, least := range []float64{rounding, 0, -1} {
		for _, fits := range []func(i int) bool{
			func(i int) bool { return i >= own-p.j.Head.Probes },
			func(i int) bool { return strings.HasSuffix(names[i], "_mean") },
			func(i int) bool { return strings.HasSuffix(names[i], "_sum") },
			func(int) bool { return true },
		} {
			for i := range own {
				if r := p.ranges[i]; fits(i) && (least < 0 || r.hi-r.lo > least*max(math.Abs(r.lo), math.Abs(r.hi))) {
					return i
				}
			}
		}
	}
	return own
}
