package bench

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
	NotMeasured Verdict = "not measured" // something that it takes is not there
)

// A Result is a row with what was measured: medians over the rounds.
type Result struct {
	Row
	Value, Rival, Ratio float64 // Rival and Ratio only if there is a rival
	Low, High           float64 // the least and the largest of what is judged
	Verdict             Verdict
	Reason              string // why it is not measured
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
	readings, err := r.measure(&run{m, ctx})
	if lacks, ok := errors.AsType[missing](err); ok {
		return Result{Row: r, Verdict: NotMeasured, Reason: string(lacks)}, nil
	}
	if err != nil {
		return Result{}, fmt.Errorf("%s: %w", r.Name, err)
	}
	return r.judge(readings), nil
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
	ctx context.Context
}

// A contender does something n times and says how long that took.
type contender func(n int) (time.Duration, error)

// timed is a contender that is timed from here.
func timed(work func(n int) error) contender {
	return func(n int) (time.Duration, error) {
		start := time.Now()
		err := work(n)
		return time.Since(start), err
	}
}

// rounds lets the contenders take turns and returns, for every round, the seconds
// that each of them took for doing it once.
func (r *run) rounds(contenders ...contender) ([][]float64, error) {
	counts := make([]int, len(contenders))
	for i, c := range contenders {
		n, err := r.calibrate(c)
		if err != nil {
			return nil, err
		}
		counts[i] = n
	}
	table := make([][]float64, r.Rounds)
	for round := range table {
		table[round] = make([]float64, len(contenders))
		for k := range contenders {
			i := (k + round) % len(contenders) // nobody is always first
			seconds, err := r.once(contenders[i], counts[i])
			if err != nil {
				return nil, err
			}
			table[round][i] = seconds / float64(counts[i])
		}
	}
	return table, nil
}

// calibrate finds how often a contender fits into a round. It also warms it up.
func (r *run) calibrate(c contender) (int, error) {
	const most = 1 << 30
	want := r.Seconds / float64(r.Rounds)
	for n := 1; ; {
		seconds, err := r.once(c, n)
		if err != nil {
			return 0, err
		}
		if seconds >= want/4 || n >= most {
			return int(max(1, math.Round(float64(n)*want/max(seconds, 1e-9)))), nil
		}
		n = int(min(most, max(float64(n)*2, float64(n)*want/2/max(seconds, want/64))))
	}
}

func (r *run) once(c contender, n int) (seconds float64, err error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	took, err := c(n)
	return max(took.Seconds(), 1e-9), err
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

// cores lets the program run on n cores until the function that it returns is called.
func cores(n int) (restore func(), err error) {
	if runtime.NumCPU() < n {
		return nil, missing(fmt.Sprintf("%d cores", runtime.NumCPU()))
	}
	before := runtime.GOMAXPROCS(n)
	return func() { runtime.GOMAXPROCS(before) }, nil
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
