package propagators_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/engine/propagators"
	"github.com/murksim/murksim/fields"
	"github.com/murksim/murksim/rng"
	"github.com/murksim/murksim/space"
)

// vote is the plain rule.
func (n *naive) vote(m propagators.Majority, v []float32) []float32 {
	var set rng.Set
	set.Begin(0, rng.Seed(n.seed), n.tick)
	bulk := set.Bulk("majority", 0, n.cells)
	state := func(cell int) int {
		if x := v[cell]; x >= 0 && x < float32(m.States) && x == float32(int(x)) {
			return int(x)
		}
		return 0
	}
	next := make([]float32, n.cells)
	for cell := range n.cells {
		votes := make([]int, m.States)
		for _, o := range n.near[cell] {
			votes[state(o.rank)]++
		}
		if m.Self {
			votes[state(cell)]++
		}
		best := slices.Index(votes, slices.Max(votes))
		if m.Ties == propagators.KeepOwn && votes[state(cell)] == votes[best] {
			best = state(cell)
		}
		next[cell] = float32(best)
		words := bulk.Words(uint64(cell))
		if len(n.near[cell]) > 0 && float64(words.Float32()) < m.Noise {
			next[cell] = float32(state(n.near[cell][words.Below(uint64(len(n.near[cell])))].rank))
		}
	}
	return next
}

// TestMajority compares votes with the plain rule, on random spaces and for any number
// of workers.
func TestMajority(t *testing.T) {
	for seed := range uint64(150) {
		r := rand.New(rand.NewPCG(seed, 31))
		s := randomSpace(r, 0)
		if seed < uint64(len(longSpaces)) {
			s = longSpaces[seed]
		}
		l := lattice(t, s)
		if l.Cells() > 9000 || l.Dim() > 9 {
			continue
		}
		m := propagators.Majority{States: 2 + r.IntN(2)*r.IntN(5), Self: r.IntN(2) == 0, Ties: propagators.Ties(r.IntN(2)), Noise: float64(r.IntN(2)) * r.Float64()}
		n := newNaive(t, l, 1, 11)
		if m.Noise > 0 && seed%2 == 0 { // just missed by cell 0 in the first tick
			var set rng.Set
			set.Begin(0, 11, 1)
			words := set.Bulk("majority", 0, n.cells).Words(0)
			m.Noise = float64(words.Float32())
		}
		initial := smallValues(r, l.Cells(), m.States)
		initial[0] = []float64{-1, 0.5, float64(m.States)}[r.IntN(3)]
		want := floats(initial)
		var worlds []*engine.World
		for _, workers := range []int{1, 2, 8} {
			worlds = append(worlds, stepped(t, s, initial, m, workers))
		}
		for range 3 {
			n.tick++
			want = n.vote(m, want)
			for _, w := range worlds {
				steps(t, w, 1)
				if !equalBits(t, "majority", w, 0, want) {
					t.Fatalf("seed %d, %v, %+v", seed, s, m)
				}
			}
		}
	}
}

// TestMajorityPeriod: the agreement of each tick with the one before never falls, and
// every world ends in a period of at most two (Goles and Olivos; Poljak and Sůra).
func TestMajorityPeriod(t *testing.T) {
	longest := 0
	for seed := range uint64(120) {
		r := rand.New(rand.NewPCG(seed, 33))
		s := randomSpace(r, 0)
		l := lattice(t, s)
		if l.Cells() > 1000 || l.Dim() > 9 {
			continue
		}
		m := propagators.Majority{States: 2 + r.IntN(4), Self: r.IntN(2) == 0, Ties: propagators.Ties(r.IntN(2))}
		n := newNaive(t, l, 1, 0)
		agreement := func(now, then []float64) (sum float64) {
			for i, v := range now {
				for _, o := range n.near[i] {
					if then[o.rank] == v {
						sum += 2
					}
				}
				if then[i] == v && m.Self {
					sum += 2
				}
				if then[i] == v && m.Ties == propagators.KeepOwn {
					sum++
				}
			}
			return sum
		}
		then := smallValues(r, l.Cells(), m.States)
		w := stepped(t, s, then, m, 1)
		steps(t, w, 1)
		now, last, ticks := values(w, 0), 0.0, 0
		for ; ; ticks++ {
			if a := agreement(now, then); a < last {
				t.Fatalf("seed %d, %v, %+v, tick %d: agreement %v after %v", seed, s, m, w.Tick(), a, last)
			} else {
				last = a
			}
			steps(t, w, 1)
			next := values(w, 0)
			if slices.Equal(next, then) {
				break
			}
			if then, now = now, next; ticks > 2000 {
				t.Fatalf("seed %d, %v, %+v: no period of two after %d ticks", seed, s, m, ticks)
			}
		}
		longest = max(longest, ticks)
	}
	if longest < 5 {
		t.Errorf("no world took more than %d ticks to its period; want some that do", longest)
	}
}

// TestVoters: if every cell follows a neighbour, the share of a state has no drift.
func TestVoters(t *testing.T) {
	s := space.Square4{Rows: 200, Cols: 200, Edge: space.Wrap}
	w := stepped(t, s, smallValues(rand.New(rand.NewPCG(5, 5)), 40_000, 2), propagators.Majority{Noise: 1}, 2)
	before := total(values(w, 0))
	steps(t, w, 20)
	// Each tick a cell's variance given its neighbours is at most 1/4: 20 ticks, 40,000 cells.
	if after, deviation := total(values(w, 0)), math.Sqrt(20*40_000/4); math.Abs(after-before) > 4*deviation {
		t.Errorf("%v cells are 1 after 20 ticks, want %v ± %v", after, before, deviation)
	}
}

func TestMajorityCheck(t *testing.T) {
	s := space.Square4{Rows: 4, Cols: 4}
	for _, tt := range []struct {
		p    propagators.Majority
		want string
	}{
		{propagators.Majority{Field: 3}, `field "d" has 2 components`},
		{propagators.Majority{Field: 2, States: 5}, `engine: propagator "majority": has 5 states; field "c" holds 4 values`},
		{propagators.Majority{States: 1}, "states must be 2 to 256, not 1"},
		{propagators.Majority{States: 257}, "states must be 2 to 256, not 257"},
		{propagators.Majority{Noise: -1}, "noise must be at least 0, not -1"},
		{propagators.Majority{Noise: 1.5}, "noise must be at most 1, not 1.5"},
		{propagators.Majority{Ties: 2}, "Ties(2) does not exist"},
	} {
		refused(t, s, tt.p, tt.want)
	}
	for _, ties := range []propagators.Ties{propagators.KeepOwn, propagators.TakeLowest} {
		if got, err := propagators.ParseTies(ties.String()); err != nil || got != ties {
			t.Errorf("ParseTies(%q) = %v, %v", ties, got, err)
		}
	}
	if got, err := propagators.ParseTies("toss"); err == nil {
		t.Errorf("ParseTies(toss) = %v, want an error", got)
	}
}

// Opinions on a line: groups of two and more are stable, loners give in.
func ExampleMajority() {
	world, err := engine.New(engine.Config{
		Space:       space.Ring{Length: 16},
		Fields:      []fields.Def{{Name: "opinion", Type: fields.Categorical(2), Initial: fields.Values([]float64{0, 1, 0, 0, 1, 1, 0, 1, 0, 1, 1, 1, 0, 1, 0, 0})}},
		Propagators: []engine.Propagator{propagators.Majority{Field: 0, Self: true}},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	for range 3 {
		if _, err := world.Step(); err != nil {
			fmt.Println(err)
			return
		}
		for cell := range 16 {
			fmt.Print(world.Value(0, cell))
		}
		fmt.Println()
	}
	// Output:
	// 0000111011111000
	// 0000111111111000
	// 0000111111111000
}

func BenchmarkMajority(b *testing.B) {
	for _, states := range []int{2, 5} {
		b.Run(fmt.Sprint(states), func(b *testing.B) {
			initial := smallValues(rand.New(rand.NewPCG(1, 1)), ruleSpace.Rows*ruleSpace.Cols, states)
			benchmarkStep(b, newWorld(b, engine.Config{
				Space: ruleSpace, Fields: []fields.Def{{Name: "v", Initial: fields.Values(initial)}},
				Propagators: []engine.Propagator{propagators.Majority{States: states, Self: true}},
			}))
		})
	}
}
