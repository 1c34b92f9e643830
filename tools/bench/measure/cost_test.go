package measure

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/murksim/murksim/internal/cputime"
)

func TestShare(t *testing.T) {
	for _, tt := range []struct {
		name  string
		cost  cost
		want  float64
		known bool
	}{
		{"all of a core", cost{wall: 10, cpu: 10, waited: 0}, 1, true},
		{"three quarters", cost{wall: 8, cpu: 6, waited: 0}, 0.75, true},
		{"with a collector beside it", cost{wall: 8, cpu: 9}, 1, true},
		{"two cores that never waited", cost{wall: 10, cpu: 14, waited: 0, sleeps: true}, 1, true},
		{"two cores that waited", cost{wall: 10, cpu: 9, waited: 3, sleeps: true}, 0.75, true},
		{"no processor time", cost{wall: 10, cpu: -1, waited: 3}, 0, false},
		{"no waiting time", cost{wall: 10, cpu: 9, waited: -1, sleeps: true}, 0, false},
		{"no waiting time, on one core", cost{wall: 10, cpu: 9, waited: -1}, 0.9, true},
		{"nothing", cost{}, 0, false},
	} {
		if got, known := tt.cost.share(); got != tt.want || known != tt.known {
			t.Errorf("%s: %v, known: %v; want %v, %v", tt.name, got, known, tt.want, tt.known)
		}
	}
}

// A row is starved if most of its rounds are, whichever contender it was, and whatever it
// would be judged.
func TestStarved(t *testing.T) {
	full, half, unknown := cost{wall: 8, cpu: 8}, cost{wall: 8, cpu: 4}, cost{wall: 8, cpu: -1}
	for _, tt := range []struct {
		name    string
		rounds  [][]cost
		hardy   bool
		want    Verdict
		starved int
	}{
		{"none", [][]cost{{full, full}, {full, full}, {full, full}}, false, Aim, 0},
		{"one of three", [][]cost{{full, full}, {half, full}, {full, full}}, false, Aim, 1},
		{"two of three", [][]cost{{full, half}, {half, full}, {full, full}}, false, Starved, 2},
		{"half of them", [][]cost{{full, half}, {full, full}}, false, Aim, 1},
		{"a third contender", [][]cost{{full, full, half}}, false, Starved, 1},
		{"it does not matter", [][]cost{{half, half}}, true, Aim, 1},
		{"not known", [][]cost{{unknown, unknown}}, false, Aim, 0},
		{"not measured in rounds", nil, false, Aim, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			row := Row{Name: "fixed", Versus: "rival", Floor: 1, Aim: 1}
			row.measure = func(r *run) ([]reading, error) {
				r.costs, r.hardy = tt.rounds, tt.hardy
				return []reading{{1, 1, 1}}, nil
			}
			got, err := quick(1).Measure(t.Context(), row)
			if err != nil || got.Verdict != tt.want || got.StarvedRounds != tt.starved {
				t.Errorf("%s after %d starved rounds, %v; want %s after %d", got.Verdict, got.StarvedRounds, err, tt.want, tt.starved)
			}
			if (got.Reason != "") != (tt.want == Starved) || tt.want == Starved && !strings.HasSuffix(got.Reason, "at worst 50 %") {
				t.Errorf("the reason is %q", got.Reason)
			}
		})
	}
}

// A value that reaches its floor although the row was starved reaches it.
func TestStarvedValue(t *testing.T) {
	for value, want := range map[float64]Verdict{0.5: Starved, 1: OK, 2: Aim} {
		row := Row{Name: "fixed", Floor: 1, Aim: 2}
		row.measure = func(r *run) ([]reading, error) {
			r.costs = [][]cost{{{wall: 8, cpu: 4}}}
			return []reading{{value: value}}, nil
		}
		if got, err := quick(1).Measure(t.Context(), row); err != nil || got.Verdict != want || got.StarvedRounds != 1 {
			t.Errorf("%v: %s after %d starved rounds, %v; want %s", value, got.Verdict, got.StarvedRounds, err, want)
		}
	}
}

func TestUsage(t *testing.T) {
	rounds := [][]cost{
		{{wall: 10, cpu: 10}, {wall: 10, cpu: 5}, {wall: 4, cpu: 4}},
		{{wall: 10, cpu: 9}, {wall: 10, cpu: 8}, {wall: 4, cpu: 4}},
		{{wall: 10, cpu: 8}, {wall: 10, cpu: 10}, {wall: 4, cpu: 3}},
	}
	var r Result
	r.weigh(rounds, false)
	if want := (Usage{30, 27, 0.9, true}); r.Used != want {
		t.Errorf("murksim used %v, want %v", r.Used, want)
	}
	if want := (Usage{42, 34, 0.75, true}); r.RivalUsed != want {
		t.Errorf("the rivals used %v, want %v", r.RivalUsed, want)
	}
}

// What a stopwatch measures of work that keeps a core busy is no more than the work can have
// taken. How much of the processor it got is up to the machine.
func TestStopwatch(t *testing.T) {
	if cputime.Taken() < 0 {
		t.Log("the system does not tell the processor time")
		return
	}
	watch := startWatch()
	x := 1.0
	for began := cputime.Taken(); cputime.Taken()-began < 20*time.Millisecond; {
		x = math.Sqrt(x + 1)
	}
	took := watch.stop()
	if took.cpu < 20*time.Millisecond || took.wall <= 0 || x == 0 {
		t.Errorf("20 ms of work took %v of the processor in %v", took.cpu, took.wall)
	}
	if _, known := took.share(); !known {
		t.Errorf("its share of %v is not known", took)
	}
}
