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

// TestPercolation compares the spreading with the plain rule, on random spaces and for
// any number of workers.
func TestPercolation(t *testing.T) {
	for seed := range uint64(150) {
		r := rand.New(rand.NewPCG(seed, 41))
		s := randomSpace(r, 0)
		if seed < uint64(len(longSpaces)) {
			s = longSpaces[seed]
		}
		l := lattice(t, s)
		if l.Cells() > 9000 || l.Dim() > 9 {
			continue
		}
		n := newNaive(t, l, 1, seed)
		initial, odds := smallValues(r, l.Cells(), 40), make([]float64, l.Cells())
		var set rng.Set
		set.Begin(0, rng.Seed(seed), 1)
		draws := set.Bulk("percolation", 0, l.Cells())
		for i := range initial {
			if odds[i] = float64(r.Float32()); i%4 == 0 {
				odds[i] = float64(draws.Float32(uint64(i))) // just not open in the first tick
			}
			if initial[i] > 3 {
				initial[i] = 0
			}
		}
		p := propagators.Percolation{OpenIn: new(fields.ID(1))}
		if r.IntN(2) == 0 {
			p = propagators.Percolation{Open: odds[0]}
		}
		var worlds []*engine.World
		for _, workers := range []int{1, 2, 8} {
			worlds = append(worlds, newWorld(t, engine.Config{
				Space: s, Seed: seed, Workers: workers, Paranoid: true, Propagators: []engine.Propagator{p},
				Fields: []fields.Def{{Name: "v", Initial: fields.Values(initial)}, {Name: "odds", Initial: fields.Values(odds)}},
			}))
		}
		want := floats(initial)
		for range 5 {
			n.tick++
			var set rng.Set
			set.Begin(0, rng.Seed(seed), n.tick)
			bulk := set.Bulk("percolation", 0, n.cells)
			next := slices.Clone(want)
			for cell, v := range want {
				open := odds[0]
				if p.OpenIn != nil {
					open = odds[cell]
				}
				if v == 0 && slices.ContainsFunc(n.near[cell], func(o naiveNeighbour) bool { return want[o.rank] == 1 }) {
					if next[cell] = 2; float64(bulk.Float32(uint64(cell))) < open {
						next[cell] = 1
					}
				}
			}
			want = next
			for _, w := range worlds {
				steps(t, w, 1)
				if !equalBits(t, "percolation", w, 0, want) {
					t.Fatalf("seed %d, %v, %+v", seed, s, p)
				}
			}
		}
	}
}

// TestPercolationExact: where all is open, the ball of one step more is wet after each
// tick; where nothing is, only the source.
func TestPercolationExact(t *testing.T) {
	for _, s := range smallSpaces {
		l := lattice(t, s)
		source := l.Cells() / 2
		initial := make([]float64, l.Cells())
		initial[source] = 1
		for open := range 2 {
			w := stepped(t, s, initial, propagators.Percolation{Open: float64(open)}, 2)
			for tick := 1; tick <= 6; tick++ {
				steps(t, w, 1)
				for i, got := range values(w, 0) {
					want, far := 0.0, l.Distance(source, i)
					switch {
					case far == 0 || open == 1 && far <= float64(tick):
						want = 1
					case open == 0 && far == 1:
						want = 2
					}
					if got != want {
						t.Fatalf("open %v on %v, tick %d: cell %v = %v, want %v", open, s, tick, l.Coord(i), got, want)
					}
				}
			}
		}
	}
}

// TestPercolationLine: in one dimension a source wets p/(1-p) cells on each side in the
// mean, with the variance p/(1-p)².
func TestPercolationLine(t *testing.T) {
	const p, sources, apart = 0.8, 2000, 120
	initial := make([]float64, sources*apart)
	for i := range sources {
		initial[i*apart+apart/2] = 1
	}
	w := newWorld(t, engine.Config{
		Space: space.Ring{Length: len(initial)}, Seed: 1, Fields: []fields.Def{{Name: "v", Initial: fields.Values(initial)}},
		Propagators: []engine.Propagator{propagators.Percolation{Open: p}},
	})
	steps(t, w, apart/2)
	got := -float64(sources)
	for _, v := range values(w, 0) {
		if v == 1 {
			got++
		}
	}
	if want, deviation := 2*sources*p/(1-p), math.Sqrt(2*sources*p)/(1-p); math.Abs(got-want) > 4*deviation {
		t.Errorf("%v cells got wet, want %v ± %.0f", got, want, deviation)
	}
}

// TestPercolationThreshold: on square4 the threshold is 0.5927. Far below it no cluster
// reaches the edge, far above nearly all do, and nothing ever moves again after the end.
func TestPercolationThreshold(t *testing.T) {
	const side, runs = 61, 20
	s := space.Square4{Rows: side, Cols: side}
	initial := make([]float64, side*side)
	initial[side*side/2] = 1
	for _, tt := range []struct {
		open     float64
		min, max int
	}{{0.4, 0, 0}, {0.8, runs - 3, runs}} {
		reached := 0
		for seed := range uint64(runs) {
			w := newWorld(t, engine.Config{
				Space: s, Seed: seed, Fields: []fields.Def{{Name: "v", Initial: fields.Values(initial)}},
				Propagators: []engine.Propagator{propagators.Percolation{Open: tt.open}},
			})
			steps(t, w, 300)
			v := values(w, 0)
			steps(t, w, 1)
			if !slices.Equal(v, values(w, 0)) {
				t.Errorf("open %v, seed %d: it still spreads after 300 ticks", tt.open, seed)
			}
			if slices.Contains(v[:side], 1) || slices.Contains(v[side*(side-1):], 1) {
				reached++
			}
		}
		if reached < tt.min || reached > tt.max {
			t.Errorf("open %v: %d of %d clusters reach an edge, want %d to %d", tt.open, reached, runs, tt.min, tt.max)
		}
	}
}

func TestPercolationCheck(t *testing.T) {
	for _, tt := range []struct {
		p    propagators.Percolation
		want string
	}{
		{propagators.Percolation{Field: 3}, `field "d" has 2 components`},
		{propagators.Percolation{Open: 1.5}, "open must be at most 1, not 1.5"},
		{propagators.Percolation{Open: -1}, "open must be at least 0, not -1"},
		{propagators.Percolation{Open: 0.5, OpenIn: new(fields.ID(1))}, "has the probability 0.5, and others in a field"},
		{propagators.Percolation{OpenIn: new(fields.ID(0))}, `field and open_in are both field "a"`},
	} {
		refused(t, space.Square4{Rows: 4, Cols: 4}, tt.p, tt.want)
	}
}

// Water seeps into sand from the left.
func ExamplePercolation() {
	const rows, cols = 5, 24
	water := make([]float64, rows*cols)
	water[rows/2*cols] = 1
	world, err := engine.New(engine.Config{
		Space: space.Square4{Rows: rows, Cols: cols}, Seed: 4,
		Fields:      []fields.Def{{Name: "sand", Type: fields.Categorical(3), Initial: fields.Values(water)}},
		Propagators: []engine.Propagator{propagators.Percolation{Field: 0, Open: 0.7}},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	for range 40 {
		if _, err := world.Step(); err != nil {
			fmt.Println(err)
			return
		}
	}
	for row := range rows {
		for col := range cols {
			fmt.Print([]string{".", "~", "#"}[int(world.Value(0, row*cols+col))])
		}
		fmt.Println()
	}
	// Output:
	// ~~#~#~~~~~~~#...........
	// ~~#~#~~~~~~#............
	// ~~~~~~~~~##.............
	// ~~#~####~#..............
	// #~#~~~~~#...............
}

func BenchmarkPercolation(b *testing.B) {
	initial := make([]float64, ruleSpace.Rows*ruleSpace.Cols)
	for i := range initial {
		initial[i] = float64(i / 1000 % 3) // some front everywhere
	}
	benchmarkStep(b, newWorld(b, engine.Config{
		Space: ruleSpace, Fields: []fields.Def{{Name: "v", Initial: fields.Values(initial)}},
		Propagators: []engine.Propagator{propagators.Percolation{Open: 0.4}},
	}))
}
