package propagators_test

import (
	"errors"
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

func grayScottConfig(s space.Space, g propagators.GrayScott, u, v fields.Initial) engine.Config {
	g.U, g.V = 0, 1
	return engine.Config{
		Space: s, TickRate: 1, Paranoid: true,
		Fields:      []fields.Def{{Name: "u", Initial: u}, {Name: "v", Initial: v}},
		Propagators: []engine.Propagator{g},
	}
}

// grayScott is one step, cell by cell.
func (n *naive) grayScott(g propagators.GrayScott, u, v []float32) (nextU, nextV []float32) {
	nextU, nextV = make([]float32, n.cells), make([]float32, n.cells)
	dt, diffU, diffV := float32(n.dt), float32(g.DiffU*n.dt), float32(g.DiffV*n.dt)
	feed, loss := float32(g.Feed*n.dt), float32((g.Feed+g.Kill)*n.dt)
	for cell := range n.cells {
		spread := func(w []float32) float32 {
			if len(n.near[cell]) == 0 {
				return 0
			}
			sum := float32(math.Copysign(0, -1))
			for _, o := range n.near[cell] {
				sum += w[o.rank]
			}
			return sum - float32(float32(len(n.near[cell]))*w[cell])
		}
		reaction := float32(dt * float32(u[cell]*float32(v[cell]*v[cell])))
		fed, lost := float32(feed*(1-u[cell])), float32(loss*v[cell])
		nextU[cell] = u[cell] + float32(diffU*spread(u)) - reaction + fed
		nextV[cell] = v[cell] + float32(diffV*spread(v)) + reaction - lost
	}
	return nextU, nextV
}

// TestGrayScottNaive compares with the plain formula, on random spaces, for 1, 2 and
// 8 workers.
func TestGrayScottNaive(t *testing.T) {
	for seed := range uint64(60) {
		r := rand.New(rand.NewPCG(seed, 2))
		s := randomSpace(r, 0)
		if seed < uint64(len(longSpaces)) {
			s = longSpaces[seed]
		}
		l := lattice(t, s)
		if l.Cells() > 20_000 {
			continue
		}
		g := propagators.GrayScott{U: 0, V: 1, DiffU: 0.5 * r.Float64() / float64(l.MaxDegree()+1), DiffV: 0.1 / float64(l.MaxDegree()+1), Feed: 0.1 * r.Float64(), Kill: 0.1 * r.Float64()}
		c := grayScottConfig(s, g, someValues(s, 1), someValues(s, 1))
		c.TickRate = 2
		n := newNaive(t, l, 0.5, 0)
		u := floats(values(newWorld(t, c), 0))
		v := u
		var worlds []*engine.World
		for _, workers := range []int{1, 2, 8} {
			c.Workers = workers
			worlds = append(worlds, newWorld(t, c))
		}
		for range 3 {
			u, v = n.grayScott(g, u, v)
			for _, w := range worlds {
				steps(t, w, 1)
				if !equalBits(t, "u", w, 0, u) || !equalBits(t, "v", w, 1, v) {
					t.Fatalf("seed %d, %v, tick %d", seed, s, w.Tick())
				}
			}
		}
	}
}

// TestGrayScottRest: u = 1, v = 0 stays in every bit, and where only one cell differs
// nothing changes beyond its reach.
func TestGrayScottRest(t *testing.T) {
	for _, s := range smallSpaces {
		l := lattice(t, s)
		v := make([]float64, l.Cells())
		middle := l.Cells() / 2
		v[middle] = 0.25
		w := newWorld(t, grayScottConfig(s, propagators.GrayScott{DiffU: 0.02, DiffV: 0.01, Feed: 0.035, Kill: 0.065}, fields.Fill(1), fields.Values(v)))
		near := map[int]bool{middle: true}
		for _, o := range l.AppendNeighbours(nil, middle) {
			near[int(o)] = true
		}
		steps(t, w, 1)
		for cell := range l.Cells() {
			u, v := w.Value(0, cell), w.Value(1, cell)
			if still := u == 1 && v == 0; still == near[cell] {
				t.Errorf("%v: cell %d is (%v, %v); it is within reach: %v", s, cell, u, v, near[cell])
			}
		}
	}
}

// reactionRates is the differential equation of a field that is the same everywhere.
func reactionRates(feed, kill, u, v float64) (du, dv float64) {
	return feed*(1-u) - u*v*v, u*v*v - (feed+kill)*v
}

// reactionAt solves it by the classic Runge-Kutta method.
func reactionAt(feed, kill, u, v, seconds float64) (float64, float64) {
	const n = 10_000
	h := seconds / n
	for range n {
		a, b := reactionRates(feed, kill, u, v)
		c, d := reactionRates(feed, kill, u+h/2*a, v+h/2*b)
		e, f := reactionRates(feed, kill, u+h/2*c, v+h/2*d)
		g, i := reactionRates(feed, kill, u+h*e, v+h*f)
		u, v = u+h/6*(a+2*c+2*e+g), v+h/6*(b+2*d+2*f+i)
	}
	return u, v
}

// TestGrayScottUniform: without differences in space the step is Euler's for the
// ordinary differential equation: half the dt, half the error.
func TestGrayScottUniform(t *testing.T) {
	const feed, kill, seconds = 0.04, 0.05, 20
	wantU, wantV := reactionAt(feed, kill, 0.6, 0.3, seconds)
	if math.Abs(wantU-0.6) < 0.1 {
		t.Fatalf("u goes from 0.6 to %v: nothing happens", wantU)
	}
	previous := 0.0
	for i, rate := range []float64{2, 4, 8, 16} {
		c := grayScottConfig(space.Square4{Rows: 4, Cols: 5, Edge: space.Wrap}, propagators.GrayScott{DiffU: 0.1, DiffV: 0.05, Feed: feed, Kill: kill}, fields.Fill(0.6), fields.Fill(0.3))
		c.TickRate = rate
		w := newWorld(t, c)
		steps(t, w, int(seconds*rate))
		off := math.Hypot(w.Value(0, 7)-wantU, w.Value(1, 7)-wantV)
		if ratio := previous / off; i > 0 && (ratio < 1.9 || ratio > 2.15) {
			t.Errorf("%v ticks a second: error %v, before %v: ratio %v, want 2", rate, off, previous, ratio)
		}
		previous = off
	}
}

// TestGrayScottSteady: with d = 1 - 4·(F+k)²/F ≥ 0 there are two more steady states,
// u = (1 ∓ √d)/2, v = F/(F+k)·(1 - u). The one with more v attracts.
func TestGrayScottSteady(t *testing.T) {
	const feed, kill = 0.06, 0.05
	root := math.Sqrt(1 - 4*(feed+kill)*(feed+kill)/feed)
	wantU := (1 - root) / 2
	wantV := feed / (feed + kill) * (1 - wantU)
	for _, s := range smallSpaces {
		w := newWorld(t, grayScottConfig(s, propagators.GrayScott{DiffU: 0.03, DiffV: 0.015, Feed: feed, Kill: kill}, fields.Fill(0.35), fields.Fill(0.3)))
		steps(t, w, 2000)
		for cell := range w.Lattice().Cells() {
			if u, v := w.Value(0, cell), w.Value(1, cell); math.Abs(u-wantU) > 2e-6 || math.Abs(v-wantV) > 2e-6 {
				t.Fatalf("%v: cell %d is (%v, %v), want (%v, %v)", s, cell, u, v, wantU, wantV)
			}
		}
	}
}

// TestGrayScottSpreads: where there is no v and no feed, u diffuses: a cosine on a ring
// shrinks by 1 - 2·DiffU·dt·(1 - cos k) a tick.
func TestGrayScottSpreads(t *testing.T) {
	const n, waves, ticks, rate = 64, 3, 50, 0.2
	u := make([]float64, n)
	for i := range u {
		u[i] = math.Cos(2 * math.Pi * waves * float64(i) / n)
	}
	w := newWorld(t, grayScottConfig(space.Ring{Length: n}, propagators.GrayScott{DiffU: rate}, fields.Values(u), fields.Fill(0)))
	steps(t, w, ticks)
	factor := math.Pow(1-2*rate*(1-math.Cos(2*math.Pi*waves/n)), ticks)
	for i, got := range values(w, 0) {
		if want := factor * u[i]; math.Abs(got-want) > 1e-5 {
			t.Errorf("cell %d = %v, want %v", i, got, want)
		}
	}
}

// TestGrayScottLimits: what begins with u + v ≤ 1 keeps to [0, 1] at half the longest
// step and stays bounded at the longest; a longer one is refused.
func TestGrayScottLimits(t *testing.T) {
	const diff, feed, kill = 0.2, 0.03, 0.06
	for _, s := range smallSpaces {
		l := lattice(t, s)
		r := rand.New(rand.NewPCG(5, 6))
		u, v := make([]float64, l.Cells()), make([]float64, l.Cells())
		for i := range u {
			v[i] = r.Float64()
			u[i] = 1 - v[i]
		}
		c := grayScottConfig(s, propagators.GrayScott{DiffU: diff, DiffV: diff / 2, Feed: feed, Kill: kill}, fields.Values(u), fields.Values(v))
		c.TickRate = 0
		limit := 1 / (diff*float64(l.MaxDegree()) + (feed+1)/2)
		for _, tt := range []struct{ dt, lo, hi float64 }{{limit / 2, 0, 1}, {limit * 0.999, -0.2, 1.2}} {
			c.Timestep = tt.dt
			w := newWorld(t, c)
			for range 300 {
				steps(t, w, 1)
				for id := range fields.ID(2) {
					for i, got := range values(w, id) {
						if got < tt.lo || got > tt.hi {
							t.Fatalf("%v, dt %v, tick %d: field %d of cell %d is %v, want %v to %v", s, tt.dt, w.Tick(), id, i, got, tt.lo, tt.hi)
						}
					}
				}
			}
		}
		c.Timestep = limit * 1.001
		_, err := engine.New(c)
		if unstable, ok := errors.AsType[*engine.UnstableError](err); !ok || math.Abs(unstable.MaxDt-limit) > 1e-12 {
			t.Errorf("%v at dt %v: %v, want an UnstableError with the limit %v", s, c.Timestep, err, limit)
		}
	}
}

// TestGrayScottLimitOfV: v sets the limit where it spreads or decays the faster.
func TestGrayScottLimitOfV(t *testing.T) {
	l := lattice(t, space.Square4{Rows: 4, Cols: 4})
	for _, tt := range []struct {
		p    propagators.GrayScott
		want float64
	}{
		{propagators.GrayScott{DiffU: 0.1, DiffV: 0.4, Feed: 0.25, Kill: 0.75}, 1 / (4*0.4 + 1.0/2)},
		{propagators.GrayScott{Feed: 0.5, Kill: 3.5}, 0.5},
	} {
		if got := tt.p.Spec(l).MaxDt; math.Abs(got-tt.want) > 1e-12 {
			t.Errorf("%+v: MaxDt = %v, want %v", tt.p, got, tt.want)
		}
	}
}

func TestGrayScottCheck(t *testing.T) {
	for _, tt := range []struct {
		p    propagators.GrayScott
		want string
	}{
		{propagators.GrayScott{}, `engine: propagator "gray_scott": u and v are both field "a"`},
		{propagators.GrayScott{U: 3, V: 1}, `u: field "d" has 2 components; 1 is needed`},
		{propagators.GrayScott{V: 99}, "field 99 does not exist"},
		{propagators.GrayScott{V: 1, DiffU: -1}, "diff_u must be at least 0, not -1"},
		{propagators.GrayScott{V: 1, DiffV: math.NaN()}, "diff_v must be finite as a float32, not NaN"},
		{propagators.GrayScott{V: 1, Feed: -0.1}, "feed must be at least 0, not -0.1"},
		{propagators.GrayScott{V: 1, Kill: math.Inf(1)}, "kill must be finite as a float32, not +Inf"},
	} {
		_, err := engine.New(zoo(space.Square4{Rows: 4, Cols: 4}, tt.p))
		if _, ok := errors.AsType[*engine.ConfigError](err); !ok || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%+v: %v, want a ConfigError with %q", tt.p, err, tt.want)
		}
	}
}

func TestGrayScottAllocs(t *testing.T) {
	for _, s := range smallSpaces {
		for _, workers := range []int{1, 2} {
			c := grayScottConfig(s, propagators.GrayScott{DiffU: 0.02, DiffV: 0.01, Feed: 0.03, Kill: 0.06}, someValues(s, 1), fields.Fill(0.2))
			c.Workers, c.Paranoid = workers, false
			w := newWorld(t, c)
			steps(t, w, 3)
			if got := testing.AllocsPerRun(20, func() { steps(t, w, 1) }); got != 0 {
				t.Errorf("%v, %d workers: %v allocations a tick, want 0", s, workers, got)
			}
		}
	}
}

// A drop of v on a ring full of u: after a while it has become two, which part.
func ExampleGrayScott() {
	const u, v = fields.ID(0), fields.ID(1)
	drop := make([]float64, 40)
	for i := 18; i < 22; i++ {
		drop[i] = 0.5
	}
	world, err := engine.New(engine.Config{
		Space:    space.Ring{Length: len(drop)},
		TickRate: 1,
		Fields:   []fields.Def{{Name: "u", Initial: fields.Fill(1)}, {Name: "v", Initial: fields.Values(drop)}},
		Propagators: []engine.Propagator{
			propagators.GrayScott{U: u, V: v, DiffU: 0.2, DiffV: 0.1, Feed: 0.05, Kill: 0.06},
		},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	for range 3 {
		for cell := range drop {
			fmt.Print(string(" .:*#@"[int(10*world.Value(v, cell))]))
		}
		fmt.Println("|")
		for range 150 {
			if _, err := world.Step(); err != nil {
				fmt.Println(err)
				return
			}
		}
	}
	// Output:
	//                   @@@@                  |
	//             .****::::::****.            |
	//          .*****::::..::::*****.         |
}

func BenchmarkGrayScott(b *testing.B) {
	for _, s := range []space.Space{space.Square4{Rows: 1024, Cols: 1024, Edge: space.Wrap}, space.Hex{Cols: 1024, Rows: 1024}} {
		b.Run(lattice(b, s).Kind(), func(b *testing.B) {
			c := grayScottConfig(s, propagators.GrayScott{DiffU: 0.05, DiffV: 0.02, Feed: 0.03, Kill: 0.06}, someValues(s, 1), fields.Fill(0.2))
			c.Paranoid = false
			benchmarkStep(b, newWorld(b, c))
		})
	}
}
