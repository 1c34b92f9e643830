package sweep

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// A parameter is something that varies between jobs: a path, or the seed.
type parameter struct {
	path     string
	at       int            // in Point.Values; or seedAt, or listedAt
	texts    []string       // its values: numbers from the least on, others as the design has them
	numbers  []float64      // likewise; nil: not all are numbers
	index    map[string]int // the index of a text
	order    []int          // of each seed, the index of its value
	log      bool
	interval *Interval // that the values are drawn from; nil: they are listed
	sampled  bool      // drawn by samples, few of which share a value
	columns  []int     // of listedAt: which of Point.Values
	within   bool      // a parameter with listedAt has it, too
}

// The parameter.at of the seed, and of listed values that vary together.
const (
	seedAt   = -1
	listedAt = -2
)

func (x *parameter) isSeed() bool    { return x.at == seedAt }
func (x *parameter) isSampled() bool { return x.sampled }

// value returns a combination's value of the parameter, as a text.
func (x *parameter) value(values []string) string {
	if x.at != listedAt {
		return values[x.at]
	}
	parts := make([]string, len(x.columns))
	for i, at := range x.columns {
		parts[i] = values[at]
	}
	return strings.Join(parts, ", ")
}

// parameters lists the paths of a plan: first those of the axes, then the listed ones together if several vary, then each of these. Only
// values that some job has are counted.
func parameters(p *Plan) (list []*parameter) {
	for i := range p.Design.Axes {
		a := &p.Design.Axes[i]
		x := &parameter{path: a.Path, at: p.columns + i, index: map[string]int{}, interval: a.Interval, sampled: p.Design.Sampling.Kind != ""}
		x.log = a.Interval != nil && a.Interval.Log
		list = append(list, x)
	}
	together := listed(p)
	if together != nil {
		list = append(list, together)
	}
	for i, path := range p.Paths[:p.columns] {
		list = append(list, &parameter{path: path, at: i, index: map[string]int{}, within: together != nil && slices.Contains(together.columns, i)})
	}
	for combo := range p.combinations() {
		values := p.values(p.kth(combo))
		for _, x := range list {
			if text := x.value(values); x.index[text] == 0 {
				x.texts = append(x.texts, text)
				x.index[text] = len(x.texts)
			}
		}
	}
	for _, x := range list {
		x.sort()
	}
	return list
}

// listed returns the listed values as one parameter if several of them vary; otherwise nil.
func listed(p *Plan) *parameter {
	x := &parameter{at: listedAt, index: map[string]int{}}
	var paths []string
	for i := range p.Design.List {
		a := &p.Design.List[i]
		if slices.ContainsFunc(a.Values, func(v string) bool { return v != a.Values[0] }) {
			x.columns, paths = append(x.columns, i), append(paths, a.Path)
		}
	}
	if len(paths) < 2 {
		return nil
	}
	x.path = strings.Join(paths, "+")
	return x
}

// Varying lists what a picture can be drawn over: the paths that have several values, listed values that vary together also as
// one, such as tick_rate+ticks, and seed if there are several.
func (p *Plan) Varying() (list []string) {
	for _, x := range parameters(p) {
		if len(x.texts) > 1 {
			list = append(list, x.path)
		}
	}
	if p.seeds > 1 {
		list = append(list, seedPath)
	}
	return list
}

// kth returns the number of the kth combination that is not left out.
func (p *Plan) kth(k int) int {
	if p.kept != nil {
		return int(p.kept[k])
	}
	return k
}

// sort orders numbers, and joins those that are equal but written differently.
func (x *parameter) sort() {
	type value struct {
		text   string
		number float64
	}
	list := make([]value, len(x.texts))
	numbers := true
	for i, text := range x.texts {
		v, err := strconv.ParseFloat(text, 64)
		numbers = numbers && err == nil && usable(v)
		list[i] = value{text, v}
	}
	if numbers {
		slices.SortStableFunc(list, func(a, b value) int { return cmp.Compare(a.number, b.number) })
	}
	x.texts = x.texts[:0]
	for i, v := range list {
		if !numbers || i == 0 || v.number != list[i-1].number {
			x.texts = append(x.texts, v.text)
			if numbers {
				x.numbers = append(x.numbers, v.number)
			}
		}
		x.index[v.text] = len(x.texts) - 1
	}
	x.log = x.log && numbers
}

// usable reports whether a number can be drawn.
func usable(v float64) bool { return math.Abs(v) < 1e300 }

// seedsOf returns the seeds as a parameter.
func seedsOf(p *Plan) *parameter {
	x := &parameter{path: seedPath, at: seedAt, index: map[string]int{}, order: make([]int, p.seeds)}
	for i := range x.order {
		text := strconv.FormatUint(p.Point(i).Seed, 10)
		if _, twice := x.index[text]; !twice {
			x.texts, x.index[text] = append(x.texts, text), 0
		}
	}
	const exact = 1 << 53 // greater ones are names, which float64 would confuse
	if slices.ContainsFunc(p.Design.Seeds, func(s Span) bool { return s.To > exact }) {
		for i, text := range x.texts {
			x.index[text] = i
		}
	} else {
		x.sort()
	}
	for i := range x.order {
		x.order[i] = x.index[strconv.FormatUint(p.Point(i).Seed, 10)]
	}
	return x
}

// of returns the index of a job's value.
func (x *parameter) of(p *Plan, job int) int {
	if x.isSeed() {
		return x.order[job%len(x.order)]
	}
	return x.index[x.value(p.values(p.kth(job/int(max(p.seeds, 1)))))]
}

// differentSeeds counts the seeds; one that is given twice counts once.
func (p *Plan) differentSeeds() int {
	if len(p.Design.Seeds) < 2 {
		return int(p.seeds)
	}
	return len(seedsOf(p).texts)
}

// setLog gives the parameter a logarithmic axis.
func (x *parameter) setLog() error {
	if x.numbers == nil {
		return fmt.Errorf("%s is not a number, such as %s; its axis cannot be logarithmic", x.path, x.texts[0])
	}
	if x.numbers[0] <= 0 {
		return fmt.Errorf("%s is %s; a logarithmic axis has numbers above 0", x.path, x.texts[0])
	}
	x.log = true
	return nil
}

// A group holds the values of one statistic in jobs that are drawn as one.
type group struct {
	n            int // jobs that count
	bad          int // that are not ok
	mean, lo, hi float64
}

func (g *group) add(v float64) {
	if g.n == 0 {
		g.lo, g.hi = v, v
	}
	g.n++
	g.mean += (v - g.mean) / float64(g.n)
	g.lo, g.hi = min(g.lo, v), max(g.hi, v)
}

// of returns the statistic of a row that is ok; NaN if it has none.
func (s *statistic) of(row *Row) float64 {
	switch {
	case s.at < 0:
		return row.Seconds
	case s.at < len(row.Stats) && usable(float64(row.Stats[s.at])):
		return float64(row.Stats[s.at])
	}
	return math.NaN()
}

// visit calls f with each job that is done, and with the job that ran for it and its row. For a job that equals another
// one, that other job ran.
func (p *plotter) visit(f func(job, ran int, row *Row)) error {
	for job := range p.j.Head.Jobs {
		if !p.j.Has(job) {
			continue
		}
		ran := job
		row, err := p.row(ran)
		for range p.j.Head.Jobs { // it may equal one that equals another
			if err != nil || row.Status != Equal || row.As < 0 || row.As >= p.j.Head.Jobs || !p.j.Has(row.As) {
				break
			}
			ran = row.As
			row, err = p.row(ran)
		}
		if err != nil {
			return err
		}
		f(job, ran, row)
	}
	return nil
}

// survey counts the jobs, and finds the least and the greatest value of each statistic.
func (p *plotter) survey() error {
	all := p.statistics()
	p.ranges = make([]span64, len(all))
	for i := range p.ranges {
		p.ranges[i] = span64{math.Inf(1), math.Inf(-1)}
	}
	p.jobs = p.j.Head.Shard.Jobs(p.j.Head.Jobs)
	p.firstTick, p.twins = math.MaxUint64, map[int]bool{}
	err := p.visit(func(job, ran int, row *Row) {
		if row.Status == Equal || job != ran { // the one that has run counts
			p.equal++
			p.twins[ran] = true
			return
		}
		p.done++
		if row.Status != OK {
			p.bad++
			return
		}
		p.firstTick, p.lastTick = min(p.firstTick, row.Ticks), max(p.lastTick, row.Ticks)
		for i := range all {
			if v := all[i].of(row); usable(v) {
				p.ranges[i] = span64{min(p.ranges[i].lo, v), max(p.ranges[i].hi, v)}
			}
		}
	})
	p.jobs -= p.equal
	switch {
	case err != nil:
		return err
	case p.equal > 0 && p.jobs < 2:
		return errOneJob
	case p.done == 0:
		return ErrNothingDone
	case p.bad == p.done:
		return fmt.Errorf("%s done and not ok, so there is nothing to draw", plural(p.done, "job is", "jobs are"))
	}
	return nil
}

func plural(n int, one, more string) string {
	if n == 1 {
		return "1 " + one
	}
	return digits(n) + " " + more
}

// How much a picture shows at most. Values beyond are joined or left out.
const (
	maxPoints = 500 // of a curve
	maxCells  = 200 // of a side of a heat map
	maxDots   = 4000
)

// bin divides n values into parts, most at the most, and returns the part of value i.
func bin(i, n, most int) int {
	if n <= most {
		return i
	}
	return i * most / n
}

// collect reads the rows again and groups their statistics.
func (p *plotter) collect() error {
	n, of := p.grouping()
	p.missing = make([]int, len(p.stats))
	for range p.stats {
		p.groups = append(p.groups, make([]group, n))
	}
	type mark struct{ at, ran int }
	drawn := map[mark]bool{} // of the jobs that others equal
	err := p.visit(func(job, ran int, row *Row) {
		if p.kind == Seeds || p.kind == Samples {
			job = ran
		}
		at := of(job)
		if at >= n || row.Status == Equal || drawn[mark{at, ran}] {
			return
		}
		if p.twins[ran] {
			drawn[mark{at, ran}] = true
		}
		for s := range p.stats {
			switch v := p.stats[s].of(row); {
			case row.Status != OK:
				p.groups[s][at].bad++
			case usable(v):
				p.groups[s][at].add(v)
			default:
				p.missing[s]++
			}
		}
	})
	if err != nil {
		return err
	}
	for s := range p.stats {
		if !slices.ContainsFunc(p.groups[s], func(g group) bool { return g.n > 0 }) {
			return fmt.Errorf("no job has a value of %s", p.stats[s].name)
		}
	}
	return nil
}

// grouping returns the number of groups, and a function that gives the group of a job; jobs without a group are not drawn.
func (p *plotter) grouping() (n int, of func(job int) int) {
	plan := p.j.Plan
	switch p.kind {
	case Seeds:
		return p.j.Head.Jobs, func(job int) int { return job }
	case Samples:
		dots := p.j.Head.Jobs / p.each
		n = min(dots, maxDots)
		p.skipped = dots - n
		return n, func(job int) int { return job / p.each }
	case HeatMap:
		x, y := p.by[0], p.by[1]
		cols, rows := min(len(x.texts), maxCells), min(len(y.texts), maxCells)
		return cols * rows, func(job int) int {
			return bin(y.of(plan, job), len(y.texts), maxCells)*cols + bin(x.of(plan, job), len(x.texts), maxCells)
		}
	}
	x := p.by[0]
	return min(len(x.texts), maxPoints), func(job int) int { return bin(x.of(plan, job), len(x.texts), maxPoints) }
}

// dense reports whether the plan has enough pairs of two parameters' values to draw them as a grid.
func (p *plotter) dense() bool {
	const share = 4
	x, y := p.by[0], p.by[1]
	cells := len(x.texts) * len(y.texts)
	pairs := map[[2]int]bool{}
	for job := range p.j.Head.Jobs {
		pairs[[2]int{x.of(p.j.Plan, job), y.of(p.j.Plan, job)}] = true
		if len(pairs)*share >= cells {
			return true
		}
	}
	return false
}
