package propagators_test

import (
	"math"
	"testing"

	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/engine/propagators"
	"github.com/murksim/murksim/fields"
	"github.com/murksim/murksim/space"
)

func steps(t testing.TB, w *engine.World, n int) {
	t.Helper()
	for range n {
		if _, err := w.Step(); err != nil {
			t.Fatal(err)
		}
	}
}

func values(w *engine.World, id fields.ID) []float64 {
	s := w.Snapshot()
	defer s.Release()
	v := make([]float64, s.Len(id))
	for i := range v {
		v[i] = s.At(id, i)
	}
	return v
}

func total(v []float64) (sum float64) {
	for _, x := range v {
		sum += x
	}
	return sum
}

// TestDiffusionConserves: without decay, whatever the edge, nothing is lost, and
// nothing passes a wall.
func TestDiffusionConserves(t *testing.T) {
	for _, s := range []space.Space{
		space.Square4{Rows: 20, Cols: 30, Edge: space.Absorb}, space.Square4{Rows: 20, Cols: 30, Edge: space.Wrap},
		space.Square8{Rows: 20, Cols: 30, Edge: space.Clamp}, space.Hex{Cols: 20, Rows: 30},
		space.Hex{Cols: 20, Rows: 30, Edge: space.Clamp}, space.Hex{Cols: 20, Rows: 30, Edge: space.Wrap},
		space.FCC12{W: 8, H: 8, D: 9}, space.Product{space.Line{Length: 100}, space.Ring{Length: 3}},
	} {
		for _, walls := range []bool{false, true} {
			c := engine.Config{Space: s, Paranoid: true, Fields: []fields.Def{{Name: "heat", Initial: someValues(s, 1)}, {Name: "wall", Mutability: fields.Static}}}
			d := propagators.Diffusion{Rate: 1.5}
			if walls {
				c.Fields[1].Initial = someBits(s)
				d.BlockedBy = new(fields.ID(1))
			}
			c.Propagators = []engine.Propagator{d}
			w := newWorld(t, c)
			before := values(w, 0)
			steps(t, w, 200)
			after := values(w, 0)
			if got, want := total(after), total(before); math.Abs(got-want) > 1e-5*want {
				t.Errorf("%v, walls %v: total %v, want %v", s, walls, got, want)
			}
			for i, wall := range values(w, 1) {
				if wall != 0 && after[i] != before[i] {
					t.Fatalf("%v: wall %d changed from %v to %v", s, i, before[i], after[i])
				}
			}
		}
	}
}

// TestDiffusionSpectrum: a cosine on a ring keeps its shape and shrinks by
// 1 - 2·Rate·dt·(1 - cos k) a tick.
func TestDiffusionSpectrum(t *testing.T) {
	const n, waves, ticks, rate, dt = 64, 3, 50, 4.0, 0.05
	initial := make([]float64, n)
	for i := range initial {
		initial[i] = math.Cos(2 * math.Pi * waves * float64(i) / n)
	}
	w := newWorld(t, engine.Config{
		Space: space.Ring{Length: n}, Fields: []fields.Def{{Name: "u", Initial: fields.Values(initial)}},
		Propagators: []engine.Propagator{propagators.Diffusion{Rate: rate}}, Paranoid: true,
	})
	steps(t, w, ticks)
	factor := math.Pow(1-2*rate*dt*(1-math.Cos(2*math.Pi*waves/n)), ticks)
	for i, got := range values(w, 0) {
		if want := factor * initial[i]; math.Abs(got-want) > 1e-5 {
			t.Errorf("cell %d = %v, want %v", i, got, want)
		}
	}
}

// TestDiffusionProfile: between two held ends the steady state is a straight line.
func TestDiffusionProfile(t *testing.T) {
	const n = 11
	w := newWorld(t, engine.Config{
		Space: space.Line{Length: n}, Fields: []fields.Def{{Name: "u"}}, Paranoid: true,
		Propagators: []engine.Propagator{propagators.Diffusion{Rate: 9, Hold: []propagators.Hold{{Cells: []int{0}, Value: 20}, {Cells: []int{n - 1}}}}},
	})
	steps(t, w, 2000)
	for i, got := range values(w, 0) {
		if want := 20 - 2*float64(i); math.Abs(got-want) > 1e-4 {
			t.Errorf("cell %d = %v, want %v", i, got, want)
		}
	}
}

// TestWaveEnergy: the energy of an undamped wave stays within a few per cent, damping
// takes it away, and a standing wave on a ring has the frequency of the discrete equation.
func TestWaveEnergy(t *testing.T) {
	const n, speed, dt = 64, 2.0, 0.05
	initial := make([]float64, n)
	for i := range initial {
		initial[i] = math.Cos(2 * math.Pi * 4 * float64(i) / n)
	}
	energy := func(w *engine.World) (e float64) {
		d, v := values(w, 0), values(w, 1)
		for i := range d {
			strain := d[(i+1)%n] - d[i]
			e += v[i]*v[i]/2 + speed*speed*strain*strain/4
		}
		return e
	}
	world := func(damping float64) *engine.World {
		return newWorld(t, engine.Config{
			Space: space.Ring{Length: n}, Fields: []fields.Def{{Name: "d", Initial: fields.Values(initial)}, {Name: "v"}}, Paranoid: true,
			Propagators: []engine.Propagator{propagators.Wave{Displacement: 0, Velocity: 1, Speed: speed, Damping: damping}},
		})
	}
	w := world(0)
	first := energy(w)
	for range 1000 {
		steps(t, w, 1)
		if e := energy(w); math.Abs(e-first) > 0.05*first {
			t.Fatalf("tick %d: energy %v, want %v within 5 %%", w.Tick(), e, first)
		}
	}
	w = world(0.1)
	steps(t, w, 2000)
	if got, want := energy(w), first*math.Exp(-0.1*100); got < 0.7*want || got > 1.4*want {
		t.Errorf("damped energy %v, want about %v", got, want)
	}
	// d(T) = cos((T+½)θ)/cos(θ/2) with sin(θ/2) = ω·dt/2, ω² = speed²·(1 - cos k)
	w = world(0)
	steps(t, w, 37)
	half := math.Asin(dt / 2 * speed * math.Sqrt(1-math.Cos(2*math.Pi*4/n)))
	want := math.Cos(37.5*2*half) / math.Cos(half)
	if got := w.Value(0, 0); math.Abs(got-want) > 1e-4 {
		t.Errorf("standing wave at tick 37 = %v, want %v", got, want)
	}
}

// TestGradientOfPlane: the slope of a plane is the plane's; the flow goes down it.
func TestGradientOfPlane(t *testing.T) {
	for _, s := range []space.Space{space.Square4{Rows: 7, Cols: 9}, space.Square8{Rows: 7, Cols: 9}} {
		l := lattice(t, s)
		plane := make([]float64, l.Cells())
		for i := range plane {
			plane[i] = 3*float64(l.Coord(i).At(1)) - 4*float64(l.Coord(i).At(0))
		}
		w := newWorld(t, engine.Config{
			Space: s, Paranoid: true,
			Fields:      []fields.Def{{Name: "u", Initial: fields.Values(plane)}, {Name: "g", Type: fields.Vector(2)}, {Name: "f", Type: fields.Vector(2)}},
			Propagators: []engine.Propagator{propagators.Gradient{Output: 1}, propagators.Flow{Output: 2, Normalise: true}},
		})
		steps(t, w, 1)
		const middle = 2 * (3*9 + 4)
		if g := values(w, 1)[middle:]; g[0] != 3 || g[1] != -4 {
			t.Errorf("%v: gradient (%v, %v), want (3, -4)", s, g[0], g[1])
		}
		if f := values(w, 2)[middle:]; math.Abs(f[0]+0.6) > 1e-6 || math.Abs(f[1]-0.8) > 1e-6 {
			t.Errorf("%v: flow (%v, %v), want (-0.6, 0.8)", s, f[0], f[1])
		}
	}
}

// TestGradientAround: across a wrapped edge the step is one, not the width.
func TestGradientAround(t *testing.T) {
	for _, s := range []space.Space{space.Ring{Length: 10}, space.Square4{Rows: 10, Cols: 1, Edge: space.Wrap}, space.Line{Length: 10, Edge: space.Wrap}} {
		bump := make([]float64, 10)
		bump[0] = 1
		w := newWorld(t, engine.Config{
			Space: s, Fields: []fields.Def{{Name: "u", Initial: fields.Values(bump)}, {Name: "g", Type: fields.Vector(2)}},
			Propagators: []engine.Propagator{propagators.Gradient{Output: 1}}, Paranoid: true,
		})
		steps(t, w, 1)
		g := values(w, 1)
		if before, at, after := g[2*9+1], g[1], g[2*1+1]; before != 0.5 || at != 0 || after != -0.5 {
			t.Errorf("%v: slopes (%v, %v, %v) around the bump, want (0.5, 0, -0.5)", s, before, at, after)
		}
	}
}

// TestResource: logistic growth follows its recurrence to the capacity, linear growth
// stops there, and where somebody eats more than grows nothing is left.
func TestResource(t *testing.T) {
	world := func(r propagators.Resource) *engine.World {
		return newWorld(t, engine.Config{
			Space: space.Line{Length: 2}, Paranoid: true,
			Fields:      []fields.Def{{Name: "food", Initial: fields.Fill(0.5)}, {Name: "eaters", Initial: fields.Values([]float64{0, 1})}},
			Propagators: []engine.Propagator{r},
		})
	}
	w := world(propagators.Resource{Presence: new(fields.ID(1)), Consumption: 1, Regrowth: 2, Logistic: true, Capacity: 4})
	want := 0.5
	for range 30 {
		want += 2 * want * (1 - want/4) * 0.05
	}
	steps(t, w, 30)
	if got := w.Value(0, 0); math.Abs(got-want) > 1e-5 {
		t.Errorf("logistic after 30 ticks = %v, want %v", got, want)
	}
	steps(t, w, 400)
	if got := w.Value(0, 0); math.Abs(got-4) > 1e-5 {
		t.Errorf("logistic in the end = %v, want the capacity 4", got)
	}
	// r·x·(1 - x/4) = consumption at x = 2·(1 + √(1 - 1/2)) is where growth and eating balance,
	// but 0.5 is below the lower balance 2·(1 - √½) and dies out.
	if got := w.Value(0, 1); got != 0 {
		t.Errorf("eaten = %v, want 0", got)
	}
	w = world(propagators.Resource{Regrowth: 1, Capacity: 1.25})
	steps(t, w, 10)
	if got := w.Value(0, 0); math.Abs(got-1) > 1e-6 {
		t.Errorf("linear after 10 ticks = %v, want 1", got)
	}
	steps(t, w, 10)
	if got := w.Value(0, 1); got != 1.25 {
		t.Errorf("linear in the end = %v, want the capacity 1.25", got)
	}
}

// TestDecay: after a time t exp(-Rate·t) is left, whatever the tick rate; a negative
// rate grows, and an overflow fails the tick.
func TestDecay(t *testing.T) {
	for _, tt := range []struct{ rate, tickRate float64 }{{0.5, 20}, {0.5, 5}, {-0.5, 20}} {
		w := newWorld(t, engine.Config{
			Space: space.Ring{Length: 3}, TickRate: tt.tickRate, Fields: []fields.Def{{Name: "v", Type: fields.Vector(2), Initial: fields.Fill(3)}},
			Propagators: []engine.Propagator{propagators.Decay{Rate: tt.rate}}, Paranoid: true,
		})
		steps(t, w, int(4*tt.tickRate))
		want := 3 * math.Exp(-4*tt.rate)
		for i, got := range values(w, 0) {
			if math.Abs(got-want) > 1e-5*want {
				t.Errorf("rate %v at %v ticks a second: element %d = %v after 4 s, want %v", tt.rate, tt.tickRate, i, got, want)
			}
		}
	}
	w := newWorld(t, engine.Config{
		Space: space.Ring{Length: 3}, Fields: []fields.Def{{Name: "v", Initial: fields.Fill(1e38)}},
		Propagators: []engine.Propagator{propagators.Decay{Rate: -100}}, Paranoid: true,
	})
	if _, err := w.Step(); err == nil {
		t.Error("a tick that overflows succeeded")
	}
	if got := w.Value(0, 2); w.Tick() != 0 || got != float64(float32(1e38)) {
		t.Errorf("after the failure: tick %d, value %v, want 0 and 1e38", w.Tick(), got)
	}
}

// TestNoise: moments are those of the distribution, ticks and cells are independent,
// and a second run gives the same numbers.
func TestNoise(t *testing.T) {
	const side = 200
	world := func(kind propagators.NoiseKind, scale float64, workers int) *engine.World {
		return newWorld(t, engine.Config{
			Space: space.Square4{Rows: side, Cols: side}, Seed: 7, Workers: workers,
			Fields:      []fields.Def{{Name: "v", Initial: fields.Fill(0.5)}},
			Propagators: []engine.Propagator{propagators.Noise{Kind: kind, Scale: scale}},
		})
	}
	for _, tt := range []struct {
		kind     propagators.NoiseKind
		scale    float64
		variance float64 // of one tick
	}{
		{propagators.Uniform, 0.3, 0.3 * 0.3 / 3},
		{propagators.Gaussian, 0.3, 0.3 * 0.3},
		{propagators.SaltPepper, 0.2, 0.2 / 4},
	} {
		w := world(tt.kind, tt.scale, 1)
		steps(t, w, 1)
		first := values(w, 0)
		mean, variance, neighbours := 0.0, 0.0, 0.0
		for i, v := range first {
			mean += v - 0.5
			variance += (v - 0.5) * (v - 0.5)
			if i > 0 {
				neighbours += (v - 0.5) * (first[i-1] - 0.5)
			}
		}
		const n = side * side
		deviation := math.Sqrt(tt.variance / n)
		if mean /= n; math.Abs(mean) > 4*deviation {
			t.Errorf("%v: mean %v, want 0 ± %v", tt.kind, mean, deviation)
		}
		if variance /= n; math.Abs(variance-tt.variance) > 0.04*tt.variance {
			t.Errorf("%v: variance %v, want %v", tt.kind, variance, tt.variance)
		}
		if r := neighbours / n / tt.variance; math.Abs(r) > 4/math.Sqrt(n) {
			t.Errorf("%v: correlation of neighbours %v, want 0", tt.kind, r)
		}
		steps(t, w, 1)
		again := 0.0
		for i, v := range values(w, 0) {
			again += (v - first[i]) * (first[i] - 0.5)
		}
		if r := again / n / tt.variance; tt.kind != propagators.SaltPepper && math.Abs(r) > 4/math.Sqrt(n) {
			t.Errorf("%v: correlation of ticks %v, want 0", tt.kind, r)
		}
		if other := world(tt.kind, tt.scale, 8); true {
			steps(t, other, 2)
			if got, want := other.Hash(), w.Hash(); got != want {
				t.Errorf("%v: hash %016x with 8 workers, want %016x", tt.kind, got, want)
			}
		}
	}
}

// TestGlider: Conway's glider is itself after four ticks, one cell further down and right.
func TestGlider(t *testing.T) {
	const side = 12
	rule, err := propagators.ParseRule("B3/S23")
	if err != nil || rule != life {
		t.Fatalf("ParseRule = %v, %v; want %v", rule, err, life)
	}
	cells := make([]float64, side*side)
	for _, c := range [][2]int{{0, 1}, {1, 2}, {2, 0}, {2, 1}, {2, 2}} {
		cells[c[0]*side+c[1]] = 1
	}
	w := newWorld(t, engine.Config{
		Space: space.Square8{Rows: side, Cols: side, Edge: space.Wrap}, Paranoid: true,
		Fields:      []fields.Def{{Name: "alive", Type: fields.Categorical(2), Initial: fields.Values(cells)}},
		Propagators: []engine.Propagator{propagators.Automaton{Rule: rule}},
	})
	for moved := 1; moved <= side; moved++ {
		steps(t, w, 4)
		for i, got := range values(w, 0) {
			row, col := (i/side-moved+side)%side, (i%side-moved+side)%side
			if want := cells[row*side+col]; got != want {
				t.Fatalf("tick %d: cell %d = %v, want %v", w.Tick(), i, got, want)
			}
		}
	}
}

// TestBriansBrain: a cell that was born is dying one tick later and dead after two.
func TestBriansBrain(t *testing.T) {
	rule, err := propagators.ParseRule("B2/S/3")
	if err != nil {
		t.Fatal(err)
	}
	w := newWorld(t, engine.Config{
		Space: space.Line{Length: 3}, Paranoid: true,
		Fields:      []fields.Def{{Name: "v", Type: fields.Categorical(3), Initial: fields.Values([]float64{1, 0, 1})}},
		Propagators: []engine.Propagator{propagators.Automaton{Rule: rule}},
	})
	for _, want := range [][3]float64{{2, 1, 2}, {0, 2, 0}, {0, 0, 0}} {
		steps(t, w, 1)
		if got := [3]float64(values(w, 0)); got != want {
			t.Errorf("tick %d: %v, want %v", w.Tick(), got, want)
		}
	}
}
