package sweep

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// What a design may have at most.
const (
	MaxJobs   = 10_000_000
	maxValues = 1_000_000 // of an axis, and samples
	maxAxes   = 256
)

// A Design says which worlds a sweep runs: every combination of the axes' values and the listed
// ones, or samples of them, each with every seed.
type Design struct {
	Scenario string   `json:"scenario"`          // a name, or a file
	Ticks    uint64   `json:"ticks,omitempty"`   // 0: the scenario's
	Seeds    []Span   `json:"seeds,omitempty"`   // none: the scenario's own
	Axes     []Axis   `json:"axes,omitempty"`    // the last one varies fastest, after the seeds
	List     []Axis   `json:"list,omitempty"`    // combinations as they stand: all axes have as many values
	Sampling Sampling `json:"sampling,omitzero"` // of the axes
	Exclude  []string `json:"exclude,omitempty"` // combinations that are left out, see [ParseRule]
}

// A Span is some whole numbers: From, From+Step, and so on up to To.
type Span struct {
	From uint64 `json:"from"`
	To   uint64 `json:"to"`
	Step uint64 `json:"step"`
}

// count returns how many numbers there are.
func (s Span) count() uint64 { return (s.To-s.From)/s.Step + 1 }

// An Axis is a value of the scenario that differs from job to job.
type Axis struct {
	Path     string    `json:"path"`               // as run --set takes it
	Values   []string  `json:"values,omitempty"`   // likewise
	Interval *Interval `json:"interval,omitempty"` // instead of Values, to draw from
}

// An Interval is numbers that samples are drawn from.
type Interval struct {
	From  float64 `json:"from"`
	To    float64 `json:"to"`
	Whole bool    `json:"whole,omitempty"` // whole numbers, To included
	Log   bool    `json:"log,omitempty"`   // as many of each power of ten
}

// A Sampling says how combinations are drawn from axes.
type Sampling struct {
	Kind  string `json:"kind"` // Random, Latin or ""
	Count int    `json:"count"`
	Seed  uint64 `json:"seed"`
}

// The kinds of Sampling. Without one there is every combination.
const (
	Random = "random" // each value by itself
	Latin  = "latin"  // a Latin hypercube: each axis is cut into as many parts as there are samples, and each part gives one value
)

// A Plan lists the jobs of a design.
type Plan struct {
	Design *Design
	Paths  []string // what differs, in the order of Point.Values

	seeds   uint64     // how many; 0: the scenario's own alone
	lists   int        // combinations that are listed; 0: none
	rows    [][]string // of samples: the values of each axis
	grid    int        // combinations of the axes, or samples
	kept    []uint32   // combinations that are not left out, if some are
	combos  int
	columns int // of the list
}

// A Point is what distinguishes a job.
type Point struct {
	Seeded bool // Seed replaces the scenario's own
	Seed   uint64
	Values []string // of the plan's paths
}

// Plan lists the jobs of the design. An error says what is wrong with the design.
func (d *Design) Plan() (*Plan, error) {
	p := &Plan{Design: d, grid: 1, lists: 0, columns: len(d.List)}
	for _, list := range [...][]Axis{d.List, d.Axes} {
		for i := range list {
			a := &list[i]
			if err := checkPath(a.Path, p.Paths); err != nil {
				return nil, err
			}
			p.Paths = append(p.Paths, a.Path)
		}
	}
	if len(p.Paths) > maxAxes {
		return nil, fmt.Errorf("%d values differ; at most %d may", len(p.Paths), maxAxes)
	}
	for _, s := range d.Seeds {
		if s.Step == 0 || s.To < s.From || s.count() > MaxJobs {
			return nil, fmt.Errorf("seeds %d..%d are more than %d, or none", s.From, s.To, MaxJobs)
		}
		p.seeds += s.count()
	}
	if err := distinct(d.Seeds, p.seeds); err != nil {
		return nil, err
	}
	if d.Ticks > 0 && slices.Contains(p.Paths, "ticks") {
		return nil, errors.New("ticks are given twice: for all jobs, and as a value that differs")
	}
	for i := range d.List {
		if p.lists = len(d.List[i].Values); p.lists == 0 || p.lists != len(d.List[0].Values) {
			return nil, fmt.Errorf("the listed combinations have %d values of %s, and %d of %s", p.lists, d.List[i].Path, len(d.List[0].Values), d.List[0].Path)
		}
	}
	if err := p.lay(); err != nil {
		return nil, err
	}
	combos := uint64(p.grid) * uint64(max(p.lists, 1))
	if jobs := combos * max(p.seeds, 1); combos > MaxJobs || jobs > MaxJobs {
		return nil, errTooMany
	}
	p.combos = int(combos)
	return p, p.exclude()
}

var errTooMany = fmt.Errorf("the design has more than %d jobs, which no sweep may", MaxJobs)

// distinct returns an error if a seed is given twice.
func distinct(spans []Span, all uint64) error {
	if len(spans) < 2 || all > MaxJobs { // one span has none twice, and Plan refuses too many jobs
		return nil
	}
	seeds := make([]uint64, 0, all)
	for _, s := range spans {
		for i := range s.count() {
			seeds = append(seeds, s.From+i*s.Step)
		}
	}
	slices.Sort(seeds)
	for i := range seeds[1:] {
		if seeds[i] == seeds[i+1] {
			return fmt.Errorf("seed %d is given twice", seeds[i])
		}
	}
	return nil
}

// lay counts the combinations of the axes, or draws samples of them.
func (p *Plan) lay() error {
	d := p.Design
	if d.Sampling.Kind != "" {
		return p.sample()
	}
	for i := range d.Axes {
		a := &d.Axes[i]
		if a.Interval != nil {
			return a.endless()
		}
		if len(a.Values) == 0 || len(a.Values) > maxValues {
			return fmt.Errorf("%s has %d values; there must be 1 to %d", a.Path, len(a.Values), maxValues)
		}
		if uint64(p.grid)*uint64(len(a.Values)) > MaxJobs {
			return errTooMany
		}
		p.grid *= len(a.Values)
	}
	return nil
}

// endless returns the error of an interval where a list of values is needed.
func (a *Axis) endless() error {
	some := "give a step, as in 0.1..2/0.1"
	if a.Interval.Log {
		some = "list them, as in 0.01,0.1,1"
	}
	return fmt.Errorf("%s=%s has no end of values: %s, or draw some, with --random or --latin (random: or latin: in a design)", a.Path, a.Interval, some)
}

// checkPath checks the path of an axis.
func checkPath(path string, taken []string) error {
	switch {
	case path == "seed":
		return fmt.Errorf("seeds are given with --seeds, not as a value")
	case path == "" || strings.ContainsFunc(path, func(r rune) bool { return r <= ' ' || strings.ContainsRune(`,"=<>!`, r) || r >= 0x7f }):
		return fmt.Errorf("%q is not the path of a value, such as propagators.diffusion.rate", path)
	case slices.Contains(taken, path):
		return fmt.Errorf("%s is given twice", path)
	}
	return nil
}

// Jobs returns how many jobs there are.
func (p *Plan) Jobs() int { return p.combinations() * int(max(p.seeds, 1)) }

func (p *Plan) combinations() int {
	if p.kept != nil {
		return len(p.kept)
	}
	return p.combos
}

// Point returns what distinguishes a job, from 0.
func (p *Plan) Point(job int) Point {
	seeds := int(max(p.seeds, 1))
	combo := job / seeds
	if p.kept != nil {
		combo = int(p.kept[combo])
	}
	pt := Point{Seeded: p.seeds > 0, Values: p.values(combo)}
	if pt.Seeded {
		at := uint64(job % seeds)
		for _, s := range p.Design.Seeds {
			if n := s.count(); at >= n {
				at -= n
				continue
			}
			pt.Seed = s.From + at*s.Step
			break
		}
	}
	return pt
}

// values returns the values of a combination, those that are left out included.
func (p *Plan) values(combo int) []string {
	d := p.Design
	values := make([]string, len(p.Paths))
	listed, at := combo/p.grid, combo%p.grid
	for i := range d.List {
		values[i] = d.List[i].Values[listed]
	}
	own := values[p.columns:]
	if p.rows != nil {
		for i := range own {
			own[i] = p.rows[i][at]
		}
		return values
	}
	for i := len(own) - 1; i >= 0; i-- {
		n := len(d.Axes[i].Values)
		own[i] = d.Axes[i].Values[at%n]
		at /= n
	}
	return values
}

// Describe says briefly what varies between the jobs.
func (p *Plan) Describe() string {
	var parts []string
	d := p.Design
	if len(d.List) > 0 {
		parts = append(parts, fmt.Sprintf("%d listed", p.lists))
	}
	if d.Sampling.Kind != "" {
		parts = append(parts, fmt.Sprintf("%d %s samples of %s", d.Sampling.Count, d.Sampling.Kind, few(p.Paths[p.columns:])))
	} else {
		for i := range d.Axes {
			if n := len(d.Axes[i].Values); n > 1 {
				parts = append(parts, fmt.Sprintf("%d of %s", n, d.Axes[i].Path))
			}
		}
	}
	if p.seeds > 1 {
		parts = append(parts, fmt.Sprintf("%d seeds", p.seeds))
	}
	text := strings.Join(parts, " × ")
	if out := p.combos - p.combinations(); out > 0 {
		text += fmt.Sprintf(", %d of %d combinations left out", out, p.combos)
	}
	return text
}

// few names some paths.
func few(paths []string) string {
	const most = 3
	if len(paths) > most {
		return fmt.Sprintf("%s and %d more", strings.Join(paths[:most], ", "), len(paths)-most)
	}
	return strings.Join(paths, ", ")
}

// Sets returns the settings from which [yaml.Template] makes the scenario of a point.
func (p *Plan) Sets(pt Point) []string {
	var sets []string
	for i, v := range pt.Values {
		sets = append(sets, p.Paths[i]+"="+v)
	}
	if p.Design.Ticks > 0 {
		sets = append(sets, fmt.Sprintf("ticks=%d", p.Design.Ticks))
	}
	if pt.Seeded {
		sets = append(sets, fmt.Sprintf("seed=%d", pt.Seed))
	}
	return sets
}
