package propagators_test

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/engine/propagators"
	"github.com/murksim/murksim/fields"
	"github.com/murksim/murksim/space"
)

// vectors is the type of a field of n components.
func vectors(n int) fields.Type {
	if n == 1 {
		return fields.Type{}
	}
	return fields.Vector(n)
}

// driftConfig is a world with a field of some components that a current carries.
func driftConfig(s space.Space, components int, u, velocity fields.Initial, fastest float64) engine.Config {
	f := facesOf(s)
	return engine.Config{
		Space: s, Paranoid: true,
		Fields: []fields.Def{
			{Name: "u", Type: vectors(components), Initial: u},
			{Name: "velocity", Type: vectors(f.dim), Initial: velocity, Mutability: fields.Static},
		},
		Propagators: []engine.Propagator{propagators.Advection{Field: 0, Velocity: 1, MaxSpeed: fastest}},
	}
}

// everywhere is one vector in every cell.
func everywhere(s space.Space, v []float64) fields.Initial {
	l, err := s.Build()
	if err != nil {
		panic(err)
	}
	return fields.Values(slices.Repeat(v, l.Cells()))
}

// currents are velocities of up to a speed along each axis.
func currents(r *rand.Rand, s space.Space, fastest float64) fields.Initial {
	l, err := s.Build()
	if err != nil {
		panic(err)
	}
	f := facesOf(s)
	v := make([]float64, l.Cells()*f.dim)
	for i := range v {
		v[i] = fastest * (2*r.Float64() - 1)
	}
	return fields.Values(v)
}

// advect is one step, cell by cell.
func (n *naive) advect(f naiveFaces, ways [][]passage, u, velocity []float32, components int) []float32 {
	next := slices.Clone(u)
	for cell := range n.cells {
		for _, w := range ways[cell] {
			share := float32(0)
			for axis, x := range f.normal(w.dir) {
				if x != 0 {
					share += float32(float32(x) * (velocity[cell*f.dim+axis] + velocity[w.rank*f.dim+axis]))
				}
			}
			share = float32(share * float32(n.dt*f.ratio[w.dir]/2))
			from := cell
			if share < 0 {
				from = w.rank
			}
			for k := range components {
				if share != 0 {
					next[cell*components+k] -= float32(share * u[from*components+k])
				}
			}
		}
	}
	return next
}

// TestAdvectionNaive compares with the plain formula, on random spaces, for 1, 2 and
// 8 workers.
func TestAdvectionNaive(t *testing.T) {
	for seed := range uint64(80) {
		r := rand.New(rand.NewPCG(seed, 9))
		s := randomSpace(r, 0)
		if seed < uint64(len(longSpaces)) {
			s = longSpaces[seed]
		}
		l := lattice(t, s)
		if l.Cells() > 20_000 {
			continue
		}
		components := 1 + r.IntN(3)
		c := driftConfig(s, components, fields.Values(wildValues(r, l.Cells()*components)), currents(r, s, 1.5), 0)
		n := newNaive(t, l, 0.05, 0)
		f := facesOf(s)
		ways := passages(t, l, f)
		first := newWorld(t, c)
		u, velocity := floats(values(first, 0)), floats(values(first, 1))
		var worlds []*engine.World
		for _, workers := range []int{1, 2, 8} {
			c.Workers = workers
			worlds = append(worlds, newWorld(t, c))
		}
		for range 3 {
			u = n.advect(f, ways, u, velocity, components)
			for _, w := range worlds {
				steps(t, w, 1)
				if !equalBits(t, "u", w, 0, u) {
					t.Fatalf("seed %d, %v, tick %d", seed, s, w.Tick())
				}
			}
		}
	}
}

// TestAdvectionConserves: in any current the total stays, and nothing becomes negative.
func TestAdvectionConserves(t *testing.T) {
	for i, s := range smallSpaces {
		r := rand.New(rand.NewPCG(uint64(i), 10))
		w := newWorld(t, driftConfig(s, 1, someValues(s, 1), currents(r, s, 2), 0))
		before := total(values(w, 0))
		for range 500 {
			steps(t, w, 1)
			for cell, u := range values(w, 0) {
				if u < 0 {
					t.Fatalf("%v, tick %d: %v at cell %d", s, w.Tick(), u, cell)
				}
			}
		}
		if after := total(values(w, 0)); math.Abs(after-before) > 2e-6*before {
			t.Errorf("%v: total %v, want %v", s, after, before)
		}
	}
}

// TestAdvectionMoments: a drop in a uniform current moves as a walk does that leaves by a
// face with the face's share: its centre goes with exactly the velocity, and its
// variances grow by what the upwind scheme is known to spread.
func TestAdvectionMoments(t *testing.T) {
	const ticks, dt = 20, 0.05
	for _, tt := range []struct {
		s        space.Space
		from     space.Coord
		velocity []float64
	}{
		{space.Line{Length: 50}, space.At(20), []float64{7}},
		{space.Line{Length: 50}, space.At(30), []float64{-15}},
		{space.Square4{Rows: 45, Cols: 45}, space.At(22, 22), []float64{5, -8}},
		{space.Square8{Rows: 45, Cols: 45}, space.At(22, 22), []float64{5, -8}},
		{space.Hex{Cols: 45, Rows: 45}, space.At(22, 22), []float64{5, 0}},
		{space.Hex{Cols: 45, Rows: 45}, space.At(22, 22), []float64{-3, 9}},
		{space.FCC12{W: 42, H: 42, D: 42}, space.At(21, 21, 20), []float64{6, 0, 0}},
		{space.FCC12{W: 42, H: 42, D: 42}, space.At(21, 21, 20), []float64{4, -5, 7}},
		{space.Product{space.Line{Length: 45}, space.Line{Length: 45}}, space.At(22, 22), []float64{5, -8}},
	} {
		l, f := lattice(t, tt.s), facesOf(tt.s)
		drop := make([]float64, l.Cells())
		start, _ := l.Rank(tt.from)
		drop[start] = 1
		w := newWorld(t, driftConfig(tt.s, 1, fields.Values(drop), everywhere(tt.s, tt.velocity), 0))
		steps(t, w, ticks)
		origin := f.place(l, start)
		mean, square := make([]float64, f.dim), make([]float64, f.dim)
		for cell, u := range values(w, 0) {
			for a, x := range f.place(l, cell) {
				mean[a] += u * (x - origin[a])
				square[a] += u * (x - origin[a]) * (x - origin[a])
			}
		}
		spread := make([]float64, f.dim) // a tick
		for dir, at := range f.points {
			if at == nil {
				continue
			}
			share := max(0, dot(f.normal(dir), tt.velocity)) * f.ratio[dir] * dt
			for a, x := range at {
				spread[a] += share * x * x
			}
		}
		for a, v := range tt.velocity {
			if want := v * dt * ticks; math.Abs(mean[a]-want) > 1e-5 {
				t.Errorf("%v: the drop went %v along axis %d, want %v", tt.s, mean[a], a, want)
			}
			want := ticks * (spread[a] - v*dt*v*dt)
			if got := square[a] - mean[a]*mean[a]; math.Abs(got-want) > 1e-4 {
				t.Errorf("%v: the variance along axis %d is %v, want %v", tt.s, a, got, want)
			}
		}
	}
}

// TestAdvectionShift: at one cell a tick a profile moves without any change.
func TestAdvectionShift(t *testing.T) {
	const n = 30
	s := space.Ring{Length: n}
	w := newWorld(t, driftConfig(s, 1, someValues(s, 1), everywhere(s, []float64{-20}), 20))
	before := values(w, 0)
	steps(t, w, 47)
	for i, got := range values(w, 0) {
		if want := before[(i+47)%n]; math.Abs(got-want) > 1e-5 {
			t.Errorf("cell %d = %v, want %v", i, got, want)
		}
	}
}

// TestAdvectionOrder: after a turn around a ring the error of a smooth profile halves
// with the spacing and the step.
func TestAdvectionOrder(t *testing.T) {
	previous := 0.0
	for i, n := range []int{128, 256, 512} {
		s := space.Ring{Length: n}
		u := make([]float64, n)
		for j := range u {
			u[j] = math.Exp(math.Cos(2 * math.Pi * float64(j) / float64(n)))
		}
		c := driftConfig(s, 1, fields.Values(u), everywhere(s, []float64{float64(n)}), 0)
		c.TickRate = float64(2 * n)
		w := newWorld(t, c)
		steps(t, w, 2*n)
		off := 0.0
		for j, got := range values(w, 0) {
			off += math.Abs(got-u[j]) / float64(n)
		}
		if ratio := previous / off; i > 0 && (ratio < 1.8 || ratio > 2.1) {
			t.Errorf("%d cells: error %v, before %v: ratio %v, want 2", n, off, previous, ratio)
		}
		previous = off
	}
}

// TestAdvectionHex: a whirl around a cell of a hex lattice looks the same after a turn of 60°.
func TestAdvectionHex(t *testing.T) {
	const side, middle = 41, 20
	s := space.Hex{Cols: side, Rows: side}
	l, f := lattice(t, s), facesOf(s)
	centre, _ := l.Rank(space.At(middle, middle))
	origin := f.place(l, centre)
	u, velocity := make([]float64, l.Cells()), make([]float64, 2*l.Cells())
	for cell := range u {
		at := f.place(l, cell)
		x, y := at[0]-origin[0], at[1]-origin[1]
		far := math.Hypot(x, y)
		u[cell] = math.Exp(-far/4) * (1 + math.Cos(6*math.Atan2(y, x)))
		velocity[2*cell], velocity[2*cell+1] = 0.2*x-0.3*y, 0.3*x+0.2*y
	}
	w := newWorld(t, driftConfig(s, 1, fields.Values(u), fields.Values(velocity), 0))
	steps(t, w, 60)
	after := values(w, 0)
	if math.Abs(after[centre]-u[centre]) < 0.1 {
		t.Errorf("the middle went from %v to %v: too little", u[centre], after[centre])
	}
	for cell := range after {
		q, r := l.Coord(cell).At(0)-middle, l.Coord(cell).At(1)-middle
		if turned, ok := l.Rank(space.At(middle-r, middle+q+r)); ok && l.Distance(cell, centre) < middle/2 {
			if math.Abs(after[cell]-after[turned]) > 2e-6 {
				t.Fatalf("cell %v is %v, turned by 60° %v", l.Coord(cell), after[cell], after[turned])
			}
		}
	}
}

// TestAdvectionLimits: in the worst direction a uniform current of MaxSpeed empties a cell
// at the longest step, and no further than rounding goes; a longer one is refused, or, where no
// speed was announced, fails the tick.
func TestAdvectionLimits(t *testing.T) {
	const speed = 3
	for _, tt := range []struct {
		s     space.Space
		worst []float64 // direction
		k     float64
	}{
		{space.Ring{Length: 9}, []float64{-1}, 1},
		{space.Square4{Rows: 5, Cols: 5}, []float64{1, -1}, math.Sqrt2},
		{space.Square8{Rows: 5, Cols: 5}, []float64{1, 1}, math.Sqrt2},
		{space.Hex{Cols: 5, Rows: 5}, []float64{0.5, math.Sqrt(3) / 2}, 4.0 / 3},
		{space.FCC12{W: 6, H: 6, D: 6}, []float64{0, 1, -2}, math.Sqrt(5) / 2},
		{space.Product{space.Ring{Length: 5}, space.Hex{Cols: 5, Rows: 5}}, []float64{1, 4.0 / 3, 0}, 5.0 / 3},
	} {
		v := slices.Clone(tt.worst)
		for i := range v {
			v[i] *= speed / math.Sqrt(dot(tt.worst, tt.worst))
		}
		limit := 1 / (speed * tt.k)
		c := driftConfig(tt.s, 1, someValues(tt.s, 1), everywhere(tt.s, v), speed)
		c.Timestep = limit * 0.999999
		w := newWorld(t, c)
		for range 20 {
			steps(t, w, 1)
			if least := slices.Min(values(w, 0)); least < -1e-6 {
				t.Errorf("%v, tick %d: %v; want at least -1e-6", tt.s, w.Tick(), least)
			}
		}
		c.Timestep = limit * 1.001
		_, err := engine.New(c)
		if unstable, ok := errors.AsType[*engine.UnstableError](err); !ok || math.Abs(unstable.MaxDt-limit) > 1e-9 {
			t.Errorf("%v at dt %v: %v, want an UnstableError with the limit %v", tt.s, c.Timestep, err, limit)
		}
		c.Propagators[0] = propagators.Advection{Velocity: 1}
		for _, workers := range []int{1, 3} {
			c.Workers = workers
			w := newWorld(t, c)
			_, err = w.Step()
			if bad, ok := errors.AsType[*engine.CellError](err); !ok || !strings.Contains(bad.Reason, "times its value would leave it in a tick") || w.Tick() != 0 {
				t.Errorf("%v: tick %d, %v; want tick 0 and a CellError", tt.s, w.Tick(), err)
			}
		}
	}
}

// TestAdvectionFails: the first cell that would be emptied is named, for any number of workers.
func TestAdvectionFails(t *testing.T) {
	s := space.Product{space.Line{Length: 40}, space.Line{Length: 3}}
	v := make([]float64, 2*120)
	for _, cell := range []int{97, 62, 63} {
		v[2*cell] = 50 // half of it on the faces between this and the slow cells beside it
	}
	for _, workers := range []int{1, 2, 8} {
		c := driftConfig(s, 2, someValues(s, 2), fields.Values(v), 0)
		c.Workers = workers
		_, err := newWorld(t, c).Step()
		bad, ok := errors.AsType[*engine.CellError](err)
		if want := "cell [19, 2]: 1.25 times its value would leave it in a tick; slow the velocity or raise the tick rate"; !ok || bad.Error() != want {
			t.Errorf("%d workers: %v, want %q", workers, err, want)
		}
	}
}

func TestAdvectionCheck(t *testing.T) {
	square := space.Square8{Rows: 4, Cols: 4}
	for _, tt := range []struct {
		s    space.Space
		p    propagators.Advection
		want string
	}{
		{square, propagators.Advection{Velocity: 1}, `engine: propagator "advection": velocity: field "b" has 1 component; 2 are needed`},
		{square, propagators.Advection{Field: 3, Velocity: 3}, `field and velocity are both field "d"`},
		{square, propagators.Advection{Velocity: 3, MaxSpeed: -1}, "max_speed must be at least 0, not -1"},
		{square, propagators.Advection{Velocity: 3, MaxSpeed: math.Inf(1)}, "max_speed must be finite as a float32, not +Inf"},
		{square, propagators.Advection{Field: 99, Velocity: 3}, "field 99 does not exist"},
		{space.FCC12{W: 4, H: 4, D: 4}, propagators.Advection{Velocity: 3}, "3 are needed"},
		{space.Product{square, space.Hex{Cols: 2, Rows: 2}}, propagators.Advection{Velocity: 3}, "4 are needed"},
	} {
		_, err := engine.New(zoo(tt.s, tt.p))
		if _, ok := errors.AsType[*engine.ConfigError](err); !ok || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%+v: %v, want a ConfigError with %q", tt.p, err, tt.want)
		}
	}
}

func TestAdvectionAllocs(t *testing.T) {
	for i, s := range smallSpaces {
		for _, workers := range []int{1, 2} {
			c := driftConfig(s, 2, someValues(s, 2), currents(rand.New(rand.NewPCG(uint64(i), 11)), s, 2), 0)
			c.Workers, c.Paranoid = workers, false
			w := newWorld(t, c)
			steps(t, w, 3)
			if got := testing.AllocsPerRun(20, func() { steps(t, w, 1) }); got != 0 {
				t.Errorf("%v, %d workers: %v allocations a tick, want 0", s, workers, got)
			}
		}
	}
}

// Smoke in a channel: the wind blows it to the right, and the wall at the end keeps it.
func ExampleAdvection() {
	const smoke, wind = fields.ID(0), fields.ID(1)
	world, err := engine.New(engine.Config{
		Space: space.Line{Length: 10},
		Fields: []fields.Def{
			{Name: "smoke", Initial: fields.Values([]float64{0, 8, 0, 0, 0, 0, 0, 0, 0, 0})},
			{Name: "wind", Unit: "cells/s", Mutability: fields.Static, Initial: fields.Fill(10)},
		},
		Propagators: []engine.Propagator{propagators.Advection{Field: smoke, Velocity: wind, MaxSpeed: 10}},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	for range 4 {
		for cell := range 10 {
			fmt.Printf("%5.2f", world.Value(smoke, cell))
		}
		fmt.Println()
		for range 6 {
			if _, err := world.Step(); err != nil {
				fmt.Println(err)
				return
			}
		}
	}
	// Output:
	//  0.00 8.00 0.00 0.00 0.00 0.00 0.00 0.00 0.00 0.00
	//  0.00 0.12 0.75 1.88 2.50 1.88 0.75 0.12 0.00 0.00
	//  0.00 0.00 0.02 0.13 0.43 0.97 1.55 1.80 1.55 1.55
	//  0.00 0.00 0.00 0.00 0.02 0.09 0.26 0.57 0.97 6.08
}

func BenchmarkAdvection(b *testing.B) {
	for _, s := range []space.Space{space.Square4{Rows: 1024, Cols: 1024, Edge: space.Wrap}, space.Hex{Cols: 1024, Rows: 1024}, space.FCC12{W: 128, H: 128, D: 128}} {
		b.Run(lattice(b, s).Kind(), func(b *testing.B) {
			c := driftConfig(s, 1, someValues(s, 1), everywhere(s, []float64{1, 2, 3}[:facesOf(s).dim]), 0)
			c.Paranoid = false
			benchmarkStep(b, newWorld(b, c))
		})
	}
}
