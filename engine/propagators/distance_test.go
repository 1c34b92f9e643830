package propagators_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/engine/propagators"
	"github.com/murksim/murksim/fields"
	"github.com/murksim/murksim/space"
)

// distanceWorld has the fields sources, walls and distances.
func distanceWorld(t testing.TB, s space.Space, sources, walls []float64, d propagators.Distance, workers int) *engine.World {
	d.Source, d.Blocks, d.Distance = 0, new(fields.ID(1)), 2
	return newWorld(t, engine.Config{
		Space: s, Workers: workers, Paranoid: true, Propagators: []engine.Propagator{d},
		Fields: []fields.Def{{Name: "source", Initial: fields.Values(sources)}, {Name: "wall", Initial: fields.Values(walls)}, {Name: "distance"}},
	})
}

// dijkstra settles the nearest open cell, one after another.
func dijkstra(n *naive, sources, walls []float64) []float64 {
	d, done := make([]float64, n.cells), make([]bool, n.cells)
	for i := range d {
		if d[i] = math.Inf(1); sources[i] != 0 && walls[i] == 0 {
			d[i] = 0
		}
	}
	for {
		best := -1
		for i := range d {
			if !done[i] && !math.IsInf(d[i], 1) && (best < 0 || d[i] < d[best]) {
				best = i
			}
		}
		if best < 0 {
			return d
		}
		done[best] = true
		for _, o := range n.near[best] {
			if walls[o.rank] == 0 {
				d[o.rank] = min(d[o.rank], d[best]+1)
			}
		}
	}
}

// TestDistance compares distances around walls with Dijkstra's, on random spaces.
// Along every link they differ by one at most.
func TestDistance(t *testing.T) {
	for seed := range uint64(150) {
		r := rand.New(rand.NewPCG(seed, 21))
		s := randomSpace(r, 0)
		l := lattice(t, s)
		if l.Cells() > 1200 || l.Dim() > 9 {
			continue
		}
		sources, walls := make([]float64, l.Cells()), make([]float64, l.Cells())
		odds := r.Float64() * 0.6
		for i := range walls {
			if r.Float64() < odds {
				walls[i] = float64(1 + r.IntN(3))
			}
		}
		for range r.IntN(3) {
			sources[r.IntN(len(sources))] = -2
		}
		p := propagators.Distance{Limit: r.IntN(2) * (1 + r.IntN(9)), Far: float64(r.IntN(3)) * 500}
		n := newNaive(t, l, 1, 0)
		want := dijkstra(n, sources, walls)
		for i := range want {
			if math.IsInf(want[i], 1) || p.Limit > 0 && want[i] > float64(p.Limit) {
				if want[i] = p.Far; p.Far == 0 {
					want[i] = -1
				}
			}
		}
		for _, workers := range []int{1, 8} {
			w := distanceWorld(t, s, sources, walls, p, workers)
			steps(t, w, 2)
			if !equalBits(t, "distance", w, 2, floats(want)) {
				t.Fatalf("seed %d, %v, %+v", seed, s, p)
			}
		}
		for i, d := range want {
			for _, o := range n.near[i] {
				if e := want[o.rank]; walls[i] == 0 && walls[o.rank] == 0 && p.Limit == 0 && math.Abs(d-e) > 1 {
					t.Errorf("seed %d, %v: neighbours are %v and %v away", seed, s, d, e)
				}
			}
		}
	}
}

// TestDistanceFormula: without walls it is the lattice's distance.
func TestDistanceFormula(t *testing.T) {
	for _, s := range smallSpaces {
		l := lattice(t, s)
		sources := make([]float64, l.Cells())
		from := l.Cells() / 3
		sources[from] = 1
		w := distanceWorld(t, s, sources, make([]float64, l.Cells()), propagators.Distance{}, 1)
		steps(t, w, 1)
		for i, got := range values(w, 2) {
			if want := l.Distance(from, i); got != want {
				t.Errorf("%v: from %v to %v: %v, want %v", s, l.Coord(from), l.Coord(i), got, want)
			}
		}
	}
}

// TestDistanceCheck: what makes no sense is refused.
func TestDistanceCheck(t *testing.T) {
	for _, tt := range []struct {
		p    propagators.Distance
		want string
	}{
		{propagators.Distance{}, `source and distance are both field "a"`},
		{propagators.Distance{Source: 3, Distance: 1}, `source: field "d" has 2 components; 1 is needed`},
		{propagators.Distance{Distance: 1, Blocks: new(fields.ID(1))}, `blocks and distance are both field "b"`},
		{propagators.Distance{Distance: 1, Limit: -1}, "limit must be at least 0, not -1"},
		{propagators.Distance{Distance: 1, Far: math.Inf(1)}, "far must be finite as a float32, not +Inf"},
	} {
		refused(t, space.Square4{Rows: 4, Cols: 4}, tt.p, tt.want)
	}
	if err := (propagators.Distance{Distance: 1}).Check(lattice(t, space.Square4{Rows: 4097, Cols: 4096}), zoo(space.Ring{Length: 1}, nil).Fields); err == nil || !strings.Contains(err.Error(), "at most 16777216") {
		t.Errorf("Check of 4097×4096 cells = %v, want an error", err)
	}
}

// The way out of a small maze.
func ExampleDistance() {
	maze := []string{
		"..#.....",
		".##.###.",
		"....#...",
		".##.#.##",
		"..#....>",
	}
	const wall, exit, steps = fields.ID(0), fields.ID(1), fields.ID(2)
	walls, exits := make([]float64, 40), make([]float64, 40)
	for i := range walls {
		switch maze[i/8][i%8] {
		case '#':
			walls[i] = 1
		case '>':
			exits[i] = 1
		}
	}
	world, err := engine.New(engine.Config{
		Space: space.Square4{Rows: 5, Cols: 8},
		Fields: []fields.Def{
			{Name: "wall", Initial: fields.Values(walls)}, {Name: "exit", Initial: fields.Values(exits)}, {Name: "steps"},
		},
		Propagators: []engine.Propagator{propagators.Distance{Source: exit, Blocks: new(wall), Distance: steps}},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	if _, err := world.Step(); err != nil {
		fmt.Println(err)
		return
	}
	for cell := range 40 {
		fmt.Printf("%3v", world.Value(steps, cell))
		if cell%8 == 7 {
			fmt.Println()
		}
	}
	// Output:
	//  11 12 -1  8  9 10  9  8
	//  10 -1 -1  7 -1 -1 -1  7
	//   9  8  7  6 -1  4  5  6
	//  10 -1 -1  5 -1  3 -1 -1
	//  11 12 -1  4  3  2  1  0
}

func BenchmarkDistance(b *testing.B) {
	const side = 1024
	for _, tt := range []struct {
		name    string
		space   space.Space
		odds    int // of 8 that a cell is a wall
		sources int
	}{
		{"open", space.Square4{Rows: side, Cols: side}, 0, 1}, {"few", space.Square4{Rows: side, Cols: side}, 0, 9},
		{"small", space.Square4{Rows: 256, Cols: 256}, 0, 1},
		{"walls", space.Square4{Rows: side, Cols: side}, 2, 1}, {"square8", space.Square8{Rows: side, Cols: side}, 2, 1},
		{"hex", space.Hex{Rows: side, Cols: side, Edge: space.Wrap}, 2, 1}, {"fcc12", space.FCC12{W: 128, H: 128, D: 128}, 2, 1},
	} {
		b.Run(tt.name, func(b *testing.B) {
			cells := lattice(b, tt.space).Cells()
			r := rand.New(rand.NewPCG(1, 1))
			walls, sources := make([]float64, cells), make([]float64, cells)
			for i := range walls {
				if r.IntN(8) < tt.odds {
					walls[i] = 1
				}
			}
			for range tt.sources {
				at := r.IntN(cells)
				sources[at], walls[at] = 1, 0
			}
			benchmarkStep(b, newWorld(b, engine.Config{
				Space:       tt.space,
				Fields:      []fields.Def{{Name: "source", Initial: fields.Values(sources)}, {Name: "wall", Initial: fields.Values(walls)}, {Name: "distance"}},
				Propagators: []engine.Propagator{propagators.Distance{Blocks: new(fields.ID(1)), Distance: 2}},
			}))
		})
	}
}
