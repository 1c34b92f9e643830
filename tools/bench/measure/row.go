package measure

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/murksim/murksim/internal/cputime"
)

// A Row is one line of the table: something that is measured, what it is measured
// against, and what it must reach.
type Row struct {
	Name   string
	What   string
	Unit   string  // of the measured value
	Versus string  // the rival or limit; if there is one, the ratio is judged, else the value
	Floor  float64 // at least this
	Aim    float64
	Less   bool // less is better: at most Floor
	Cores  int  // on which the program runs; 0: all that there are, of which the row keeps one busy

	measure func(*run) ([]reading, error)
}

// A reading is what one round gave. Ratio is Value over Rival, or what the row says.
type reading struct{ value, rival, ratio float64 }

// A Verdict says how a row stands to its floor and its aim.
type Verdict string

// The verdicts.
const (
	Aim         Verdict = "aim"          // the aim is reached
	OK          Verdict = "ok"           // the floor holds
	Missed      Verdict = "MISSED"       // it does not
	Starved     Verdict = "starved"      // other work kept the processor from a contender, so the result is unknown
	NotMeasured Verdict = "not measured" // something that it takes is not there
)

// A Result is a row with what was measured: medians over the rounds.
type Result struct {
	Row
	Value, Rival, Ratio float64 // Rival and Ratio only if there is a rival
	Low, High           float64 // the least and the largest of what is judged
	Used, RivalUsed     Usage
	StarvedRounds       int // in which a contender got less of the processor than enough
	Verdict             Verdict
	Reason              string // why it is not measured, or starved
}

// Judged is what is compared with floor and aim.
func (r *Result) Judged() float64 {
	if r.Versus != "" {
		return r.Ratio
	}
	return r.Value
}

// A Runner measures rows. Seconds and Rounds must be above zero. Close it, to remove
// what it compiled.
type Runner struct {
	Seconds float64 // of measuring for each contender of a row
	Rounds  uint    // in which they take turns

	loops compiled
}

// MaxRounds and MaxSeconds are the most that make sense.
const (
	MaxRounds  = 1000
	MaxSeconds = 3600
)

// A missing is why a row cannot be measured here.
type missing string

func (m missing) Error() string { return string(m) }

// Measure measures one row. It reports a contender that fails or, as a rival, gives
// other bits than murksim; what this machine lacks is a result.
func (m *Runner) Measure(ctx context.Context, r Row) (Result, error) {
	runtime.GC() // what an earlier row left must not be collected in this one
	if r.Cores > 0 {
		if runtime.NumCPU() < r.Cores {
			return notMeasured(r, missing(fmt.Sprintf("%d cores", runtime.NumCPU()))), nil
		}
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(r.Cores))
	}
	measuring := &run{Runner: m, ctx: ctx, cores: r.Cores}
	readings, err := r.measure(measuring)
	if err != nil && ctx.Err() != nil {
		return Result{}, ctx.Err()
	}
	if lacks, ok := errors.AsType[missing](err); ok {
		return notMeasured(r, lacks), nil
	}
	if err != nil {
		return Result{}, fmt.Errorf("%s: %w", r.Name, err)
	}
	result := r.judge(readings)
	result.weigh(measuring.costs, measuring.hardy)
	return result, nil
}

func notMeasured(r Row, why missing) Result {
	return Result{Row: r, Verdict: NotMeasured, Reason: string(why)}
}

func (r Row) judge(readings []reading) Result {
	each := func(what func(reading) float64) []float64 {
		var all []float64
		for _, x := range readings {
			all = append(all, what(x))
		}
		return all
	}
	result := Result{Row: r, Value: median(each(func(x reading) float64 { return x.value }))}
	judged := each(func(x reading) float64 { return x.value })
	if r.Versus != "" {
		result.Rival = median(each(func(x reading) float64 { return x.rival }))
		judged = each(func(x reading) float64 { return x.ratio })
		result.Ratio = median(judged)
	}
	result.Low, result.High = slices.Min(judged), slices.Max(judged)
	result.Verdict = r.verdict(result.Judged())
	return result
}

func (r Row) verdict(x float64) Verdict {
	reaches := func(limit float64) bool {
		if r.Less {
			return x <= limit
		}
		return x >= limit
	}
	switch {
	case reaches(r.Aim) && reaches(r.Floor):
		return Aim
	case reaches(r.Floor):
		return OK
	}
	return Missed
}

// median is the middle of some values, at least one, or the mean of the two middle ones.
func median(v []float64) float64 {
	v = slices.Sorted(slices.Values(v))
	n := len(v)
	return (v[(n-1)/2] + v[n/2]) / 2
}

// Select returns the rows of the table that the names mean, in the table's order: a
// name means itself, or else all rows that begin with it. No names mean all.
func Select(names []string) ([]Row, error) {
	chosen := make([]bool, len(Table))
	for _, name := range names {
		name = strings.TrimSpace(name)
		exact := slices.IndexFunc(Table, func(r Row) bool { return r.Name == name })
		found := exact >= 0
		for i := range Table {
			if i == exact || exact < 0 && name != "" && strings.HasPrefix(Table[i].Name, name) {
				chosen[i], found = true, true
			}
		}
		if !found {
			return nil, fmt.Errorf("there is no row %q", name)
		}
	}
	var rows []Row
	for i, r := range Table {
		if chosen[i] || len(names) == 0 {
			rows = append(rows, r)
		}
	}
	return rows, nil
}

// A run is the measuring of one row.
type run struct {
	*Runner
	ctx   context.Context
	cores int      // of the row
	costs [][]cost // by round and contender
	hardy bool     // whether what is judged does not depend on what else the machine does
}

// A contender does something n times and says what that took.
type contender func(n int) (cost, error)

// timed is a contender that is timed from here.
func timed(work func(n int) error) contender {
	return func(n int) (cost, error) {
		watch := startWatch()
		err := work(n)
		return watch.stop(), err
	}
}

// turns lets the contenders take turns and returns, for every round, how often each of them
// did it. What that took is in r.costs.
func (r *run) turns(contenders ...contender) (counts []int, err error) {
	counts = make([]int, len(contenders))
	for i, c := range contenders {
		if counts[i], err = r.calibrate(c); err != nil {
			return nil, err
		}
	}
	r.costs = make([][]cost, r.Rounds)
	for round := range r.costs {
		r.costs[round] = make([]cost, len(contenders))
		for k := range contenders {
			i := (k + round) % len(contenders) // no contender is always first
			if r.costs[round][i], err = r.once(contenders[i], counts[i]); err != nil {
				return nil, err
			}
		}
	}
	return counts, nil
}

// rounds lets the contenders take turns and returns, for every round, the seconds that each
// of them took for doing it once.
func (r *run) rounds(contenders ...contender) ([][]float64, error) {
	return r.each(func(c *cost) time.Duration { return c.wall }, contenders...)
}

// processorRounds is rounds, in seconds of the processor.
func (r *run) processorRounds(contenders ...contender) ([][]float64, error) {
	if cputime.Taken() < 0 {
		return nil, missing("the system does not tell the processor time")
	}
	r.hardy = true
	return r.each(func(c *cost) time.Duration { return c.cpu }, contenders...)
}

func (r *run) each(of func(*cost) time.Duration, contenders ...contender) ([][]float64, error) {
	counts, err := r.turns(contenders...)
	if err != nil {
		return nil, err
	}
	table := make([][]float64, len(r.costs))
	for round, costs := range r.costs {
		for i := range costs {
			table[round] = append(table[round], max(of(&costs[i]).Seconds(), 1e-9)/float64(counts[i]))
		}
	}
	return table, nil
}

// calibrate finds how often a contender fits into a round. The first time does not count: memory
// is touched for the first time then.
func (r *run) calibrate(c contender) (int, error) {
	const most = 1 << 30
	if _, err := r.once(c, 1); err != nil {
		return 0, err
	}
	want := r.Seconds / float64(r.Rounds)
	for n := 1; ; {
		took, err := r.once(c, n)
		if err != nil {
			return 0, err
		}
		seconds := max(took.wall.Seconds(), 1e-9)
		if seconds >= want/4 || n >= most {
			return int(max(1, math.Round(float64(n)*want/max(seconds, 1e-9)))), nil
		}
		n = int(min(most, max(float64(n)*2, float64(n)*want/2/max(seconds, want/64))))
	}
}

func (r *run) once(c contender, n int) (cost, error) {
	if err := r.ctx.Err(); err != nil {
		return cost{}, err
	}
	took, err := c(n)
	took.sleeps = took.sleeps || r.cores > 1
	return took, err
}

// against measures a contender and a rival, both of which do a number of things of
// some kind each time, by how many they do in a second.
func (r *run) against(things float64, ours, rival contender) ([]reading, error) {
	table, err := r.rounds(ours, rival)
	return readings(table, func(t []float64) reading { return reading{things / t[0], things / t[1], t[1] / t[0]} }), err
}

// alone measures a contender that has no rival, by how many things it does in a second.
func (r *run) alone(things float64, ours contender) ([]reading, error) {
	table, err := r.rounds(ours)
	return readings(table, func(t []float64) reading { return reading{value: things / t[0]} }), err
}

// readings makes a reading of each round.
func readings(table [][]float64, of func(seconds []float64) reading) []reading {
	var all []reading
	for _, t := range table {
		all = append(all, of(t))
	}
	return all
}

// compareWords returns the first index at which two fields differ in a bit, or -1.
func compareWords(a, b []float32) int {
	if c := cmp.Compare(len(a), len(b)); c != 0 {
		return min(len(a), len(b))
	}
	for i := range a {
		if math.Float32bits(a[i]) != math.Float32bits(b[i]) {
			return i
		}
	}
	return -1
}
