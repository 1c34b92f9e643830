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

const (
	depth fields.ID = iota
	flux
	bed
)

func BenchmarkShallowWater(b *testing.B) {
	for _, s := range []space.Space{space.Square4{Rows: 1024, Cols: 1024, Edge: space.Wrap}, space.Hex{Cols: 1024, Rows: 1024}, space.FCC12{W: 128, H: 128, D: 128}} {
		b.Run(lattice(b, s).Kind(), func(b *testing.B) {
			r := rand.New(rand.NewPCG(1, 8))
			h := make([]float64, lattice(b, s).Cells())
			for cell := range h {
				h[cell] = 5 + r.Float64()
			}
			c := waterConfig(s, propagators.ShallowWater{Gravity: 1, MaxDepth: 10, Viscosity: 0.1}, fields.Values(h), someValues(s, 1))
			c.Paranoid = false
			benchmarkStep(b, newWorld(b, c))
		})
	}
}

// waterConfig is a world of water over a bed.
func waterConfig(s space.Space, w propagators.ShallowWater, water, ground fields.Initial) engine.Config {
	pairs := len(facesOf(s).pairs)
	w.Depth, w.Flux, w.Bed = depth, flux, new(bed)
	c := engine.Config{
		Space: s, Paranoid: true,
		Fields:      []fields.Def{{Name: "depth", Initial: water}, {Name: "flux", Type: fields.Vector(pairs)}, {Name: "bed", Mutability: fields.Static, Initial: ground}},
		Propagators: []engine.Propagator{w},
	}
	if pairs == 1 {
		c.Fields[flux].Type = fields.Type{}
	}
	return c
}

// shallowWater is one step, cell by cell: first all fluxes, then all depths.
func (n *naive) shallowWater(p propagators.ShallowWater, f naiveFaces, ways [][]passage, h, q, z []float32) (nextH, nextQ []float32) {
	pairs, total := len(f.pairs), 0.0
	for _, r := range f.ratio {
		total += r
	}
	most := float32((1 - 1.0/65536) / (n.dt * total))
	keep := float32(1 / (1 + float64(p.Drag*n.dt)))
	nextH, nextQ = append([]float32(nil), h...), make([]float32, len(q))
	runs := make([]float32, len(q))
	for cell := range n.cells {
		for _, w := range ways[cell] {
			for k, dir := range f.pairs {
				if w.dir != dir {
					continue
				}
				sill := max(z[cell], z[w.rank])
				here, there := max(h[cell]+z[cell]-sill, 0), max(h[w.rank]+z[w.rank]-sill, 0)
				if here == 0 && there == 0 {
					continue
				}
				pull := float32(p.Gravity * n.dt / (2 * f.spacing(dir)))
				v := float32((q[cell*pairs+k] + float32(float32(pull*(here+there))*(here-there))) * keep)
				limit := func(v float32) float32 {
					drained := h[cell]
					if v < 0 {
						drained = h[w.rank]
					}
					switch bound := float32(most * drained); {
					case drained < 1e-30:
						return 0
					case v < 0:
						return max(v, -bound)
					default:
						return min(v, bound)
					}
				}
				nextQ[cell*pairs+k] = limit(v)
				runs[cell*pairs+k] = limit(limit(v) + float32(float32(p.Viscosity/f.spacing(dir))*(here-there)))
			}
		}
	}
	for cell := range n.cells {
		for _, w := range ways[cell] {
			share := float32(n.dt * f.ratio[w.dir])
			for k, dir := range f.pairs {
				if dir == w.dir {
					nextH[cell] -= float32(runs[cell*pairs+k] * share)
				} else if dir == f.opposite(w.dir) {
					nextH[cell] += float32(runs[w.rank*pairs+k] * share)
				}
			}
		}
	}
	return nextH, nextQ
}

// TestShallowWaterNaive compares with the plain formulas, on random spaces with wet and
// dry cells, for 1, 2 and 8 workers.
func TestShallowWaterNaive(t *testing.T) {
	for seed := range uint64(60) {
		r := rand.New(rand.NewPCG(seed, 3))
		s := randomSpace(r, 0)
		if seed < uint64(len(longSpaces)) {
			s = longSpaces[seed]
		}
		l := lattice(t, s)
		if l.Cells() > 20_000 {
			continue
		}
		p := propagators.ShallowWater{Gravity: 0.5 + r.Float64(), Drag: float64(r.IntN(2)) * r.Float64(), MaxDepth: 1e6, Viscosity: float64(r.IntN(2)) * r.Float64()}
		c := waterConfig(s, p, puddles(r, l), ground(r, l))
		c.TickRate = 8000
		n := newNaive(t, l, 1/c.TickRate, 0)
		f := facesOf(s)
		ways := passages(t, l, f)
		first := newWorld(t, c)
		h, q, z := floats(values(first, depth)), floats(values(first, flux)), floats(values(first, bed))
		for i := range q {
			q[i] = float32(2000 * (r.Float64() - 0.5)) // enough to empty cells
		}
		c.Fields[flux].Initial = fields.Values(widen(q))
		var worlds []*engine.World
		for _, workers := range []int{1, 2, 8} {
			c.Workers = workers
			worlds = append(worlds, newWorld(t, c))
		}
		for range 3 {
			h, q = n.shallowWater(p, f, ways, h, q, z)
			for _, w := range worlds {
				steps(t, w, 1)
				if !equalBits(t, "depth", w, depth, h) || !equalBits(t, "flux", w, flux, q) {
					t.Fatalf("seed %d, %v, tick %d", seed, s, w.Tick())
				}
			}
		}
	}
}

func widen(v []float32) []float64 {
	w := make([]float64, len(v))
	for i, x := range v {
		w[i] = float64(x)
	}
	return w
}

// puddles are depths, one in three 0.
func puddles(r *rand.Rand, l *space.Lattice) fields.Initial {
	v := make([]float64, l.Cells())
	for i := range v {
		if r.IntN(3) > 0 {
			v[i] = 3 * r.Float64()
		}
	}
	return fields.Values(v)
}

// ground is rough, in multiples of 1/64 up to 8.
func ground(r *rand.Rand, l *space.Lattice) fields.Initial {
	v := make([]float64, l.Cells())
	for i := range v {
		v[i] = float64(r.IntN(512)) / 64
	}
	return fields.Values(v)
}

// TestShallowWaterConserves: whatever the ground, the volume stays and no depth becomes
// negative, at nearly the longest step.
func TestShallowWaterConserves(t *testing.T) {
	for i, s := range smallSpaces {
		l := lattice(t, s)
		r := rand.New(rand.NewPCG(uint64(i), 4))
		c := waterConfig(s, propagators.ShallowWater{Gravity: 1, MaxDepth: 40}, puddles(r, l), ground(r, l))
		c.Timestep = 0.09
		w := newWorld(t, c)
		before := total(values(w, depth))
		for range 1000 {
			steps(t, w, 1)
			for cell, h := range values(w, depth) {
				if h < 0 {
					t.Fatalf("%v, tick %d: depth %v at cell %d", s, w.Tick(), h, cell)
				}
			}
		}
		if after := total(values(w, depth)); math.Abs(after-before) > 2e-6*before {
			t.Errorf("%v: volume %v, want %v", s, after, before)
		}
	}
}

// TestShallowWaterRest: a lake with islands is still in every bit.
func TestShallowWaterRest(t *testing.T) {
	for i, s := range smallSpaces {
		l := lattice(t, s)
		r := rand.New(rand.NewPCG(uint64(i), 5))
		c := waterConfig(s, propagators.ShallowWater{Gravity: 9.81, MaxDepth: 8}, fields.Fill(0), ground(r, l))
		z := values(newWorld(t, c), bed)
		lake := make([]float64, l.Cells())
		for cell := range lake {
			lake[cell] = max(0, 4-z[cell])
		}
		c.Fields[depth].Initial = fields.Values(lake)
		w := newWorld(t, c)
		want := w.FieldHash(depth)
		for range 200 {
			steps(t, w, 1)
			if got := w.FieldHash(depth); got != want {
				t.Fatalf("%v: the depths change at tick %d", s, w.Tick())
			}
		}
		for k, q := range values(w, flux) {
			if q != 0 {
				t.Fatalf("%v: flux %d is %v, want 0", s, k, q)
			}
		}
	}
}

// TestShallowWaterSettles: with drag the surface ends level, at the height that the
// volume and the bed give.
func TestShallowWaterSettles(t *testing.T) {
	for _, s := range []space.Space{space.Square4{Rows: 12, Cols: 15}, space.Hex{Cols: 14, Rows: 11}, space.FCC12{W: 8, H: 8, D: 8}} {
		l := lattice(t, s)
		bowl := make([]float64, l.Cells())
		for cell := range bowl {
			bowl[cell] = l.Distance(cell, l.Cells()/2+3) / 4
		}
		c := waterConfig(s, propagators.ShallowWater{Gravity: 4, Drag: 0.4, MaxDepth: 10}, fields.Fill(0.25), fields.Values(bowl))
		c.Timestep = 0.1
		w := newWorld(t, c)
		steps(t, w, 5000)
		low, high := 0.0, 100.0 // the surface lies between
		for range 60 {
			volume, level := 0.0, (low+high)/2
			for _, z := range bowl {
				volume += max(0, level-z)
			}
			if volume < float64(l.Cells())/4 {
				low = level
			} else {
				high = level
			}
		}
		for cell, h := range values(w, depth) {
			if want := max(0, low-bowl[cell]); math.Abs(h-want) > 2e-3 { // a film on a slope takes its time
				t.Errorf("%v: depth %v at cell %d, want %v", s, h, cell, want)
			}
		}
	}
}

// TestShallowWaterStanding: a standing wave in a channel swings with the frequency
// k·√(Gravity·depth); the error falls with the square of the spacing.
func TestShallowWaterStanding(t *testing.T) {
	const small, periods = 3e-4, 2.25
	previous := 0.0
	for i, n := range []int{16, 32, 64} {
		dt := 1 / float64(2*n) // a channel one long, waves of speed one: half a cell a tick
		h, q := make([]float64, n), make([]float64, n)
		for j := range h {
			h[j] = 1 + small*math.Cos(2*math.Pi*(float64(j)+0.5)/float64(n))
			q[j] = -small * float64(n) * math.Sin(2*math.Pi*float64(j+1)/float64(n)) * math.Sin(math.Pi*dt) // half a step before
		}
		c := waterConfig(space.Line{Length: n}, propagators.ShallowWater{Gravity: float64(n * n), MaxDepth: 2}, fields.Values(h), fields.Fill(0))
		c.Fields[flux].Initial = fields.Values(q)
		c.Timestep = dt
		w := newWorld(t, c)
		steps(t, w, int(periods/dt))
		mode := 0.0
		for j, h := range values(w, depth) {
			mode += 2 * (h - 1) / small / float64(n) * math.Cos(2*math.Pi*(float64(j)+0.5)/float64(n))
		}
		off := math.Abs(mode - math.Cos(2*math.Pi*periods))
		if ratio := previous / off; i > 0 && (ratio < 3.5 || ratio > 4.5) {
			t.Errorf("%d cells: error %v, before %v: ratio %v, want 4", n, off, previous, ratio)
		}
		previous = off
	}
	if previous > 0.006 {
		t.Errorf("64 cells: error %v of the amplitude after %v periods, want below 0.006", previous, periods)
	}
}

// TestShallowWaterPlane: a plane wave runs at √(Gravity·depth) whatever its direction.
// The edge's news does not reach the middle in the time of the test.
func TestShallowWaterPlane(t *testing.T) {
	const small, dt, k, ticks = 3e-4, 0.4, 2 * math.Pi / 16, 20
	for _, s := range []space.Space{space.Line{Length: 50}, space.Square4{Rows: 45, Cols: 45}, space.Square8{Rows: 45, Cols: 45}, space.Hex{Cols: 45, Rows: 45}, space.FCC12{W: 44, H: 44, D: 44}} {
		l, f := lattice(t, s), facesOf(s)
		middle := l.Cells() / 2
		if l.Kind() == "fcc12" {
			middle, _ = l.Rank(space.At(22, 22, 22))
		} else if l.Dim() == 2 {
			middle, _ = l.Rank(space.At(22, 22))
		}
		for _, way := range [][]float64{{1, 0, 0}, {0, 1, 0}, {0.6, 0.8, 0}, {0.8, -0.6, 0}, {0.48, 0.6, 0.64}} {
			if way = way[:f.dim]; dot(way, way) < 0.999 {
				continue
			}
			h := make([]float64, l.Cells())
			for cell := range h {
				h[cell] = 2 + small*math.Cos(k*(dot(way, f.place(l, cell))-dot(way, f.place(l, middle))))
			}
			c := waterConfig(s, propagators.ShallowWater{Gravity: 0.5, MaxDepth: 3}, fields.Values(h), fields.Fill(0))
			c.Timestep = dt
			w := newWorld(t, c)
			steps(t, w, ticks)
			got := (w.Value(depth, middle) - 2) / small
			want := math.Cos(k*(ticks+0.5)*dt) / math.Cos(k*dt/2) // fluxes begin half a step late
			if math.Abs(got-want) > 0.03 {
				t.Errorf("%v: the wave towards %v is %v in the middle, want %v", s, way, got, want)
			}
		}
	}
}

// TestShallowWaterDam: a dam breaks into a bore and a wave of rarefaction with a plateau
// between, as deep as the equations say: what q + ⅔·√g·h^(3/2) keeps on the one
// side is what the bore, of speed √(g·(h + low)/2), needs on the other.
func TestShallowWaterDam(t *testing.T) {
	const high, low, g, n, seconds = 4.0, 1.0, 2.0, 600, 60
	plateau, step := low, (high-low)/2
	for range 50 {
		h := plateau + step
		if math.Sqrt(g)*2/3*(math.Pow(high, 1.5)-math.Pow(h, 1.5)) > (h-low)*math.Sqrt(g*(h+low)/2) {
			plateau = h
		}
		step /= 2
	}
	speed := math.Sqrt(g * (plateau + low) / 2)
	h := make([]float64, n)
	for i := range h {
		h[i] = high
		if i >= n/2 {
			h[i] = low
		}
	}
	c := waterConfig(space.Line{Length: n}, propagators.ShallowWater{Gravity: g, MaxDepth: 5, Viscosity: 1}, fields.Values(h), fields.Fill(0))
	w := newWorld(t, c)
	steps(t, w, 20*seconds)
	got, front := values(w, depth), 0
	for got[front] > (plateau+low)/2 {
		front++
	}
	if want := n/2 + speed*seconds; math.Abs(float64(front)-want) > 2 {
		t.Errorf("the bore is at %d, want %v", front, want)
	}
	for i := n/2 + 20; i < front-20; i++ {
		if math.Abs(got[i]-plateau) > 0.01*plateau {
			t.Errorf("depth %v at cell %d behind the bore, want %v", got[i], i, plateau)
		}
	}
}

// TestShallowWaterViscosity: a standing wave loses k²/2·Viscosity of its height a second.
func TestShallowWaterViscosity(t *testing.T) {
	const small, n, seconds, viscosity = 1e-3, 64, 200, 0.5
	k := 2 * math.Pi / n
	h := make([]float64, n)
	for j := range h {
		h[j] = 1 + small*math.Cos(k*float64(j))
	}
	w := newWorld(t, waterConfig(space.Ring{Length: n}, propagators.ShallowWater{Gravity: 1, MaxDepth: 2, Viscosity: viscosity}, fields.Values(h), fields.Fill(0)))
	swing := 0.0 // the greatest over about the last period of 64 s
	for tick := range seconds * 20 {
		steps(t, w, 1)
		if tick >= (seconds-64)*20 {
			swing = max(swing, math.Abs(w.Value(depth, 0)-1)/small)
		}
	}
	from, to := math.Exp(-k*k/2*viscosity*(seconds-64)), math.Exp(-k*k/2*viscosity*(seconds-32))
	if swing > from || swing < to*0.98 {
		t.Errorf("the wave still swings by %v, want %v to %v", swing, to, from)
	}
}

// TestShallowWaterDrag: a current in a ring dies away by 1/(1 + Drag·dt) a tick.
func TestShallowWaterDrag(t *testing.T) {
	const drag, dt = 0.5, 0.05
	c := waterConfig(space.Ring{Length: 12}, propagators.ShallowWater{Gravity: 1, Drag: drag, MaxDepth: 2}, fields.Fill(1), fields.Fill(-3))
	c.Fields[flux].Initial = fields.Fill(0.5)
	w := newWorld(t, c)
	steps(t, w, 100)
	want := 0.5 * math.Pow(1+drag*dt, -100)
	if got := w.Value(flux, 7); math.Abs(got-want) > 1e-6 {
		t.Errorf("flux %v after 100 ticks, want %v", got, want)
	}
	if got := w.Value(depth, 7); math.Abs(got-1) > 1e-6 {
		t.Errorf("depth %v, want 1", got)
	}
}

// TestShallowWaterLimits: a lake of MaxDepth that is stirred stays bounded at the longest
// step; a longer one is refused.
func TestShallowWaterLimits(t *testing.T) {
	for i, tt := range []struct {
		s   space.Space
		sum float64
	}{
		{space.Ring{Length: 33}, 2}, {space.Square4{Rows: 6, Cols: 21, Edge: space.Wrap}, 4}, {space.Square8{Rows: 6, Cols: 21}, 4},
		{space.Hex{Cols: 20, Rows: 5}, 4}, {space.FCC12{W: 6, H: 6, D: 4, Edge: space.Wrap}, 3},
		{space.Product{space.Line{Length: 30}, space.Square4{Rows: 2, Cols: 2, Edge: space.Clamp}}, 6},
		{space.Hex{Cols: 20, Rows: 5, Edge: space.Clamp}, 4}, {space.Hex{Cols: 20, Rows: 5, Edge: space.Wrap}, 4},
	} {
		r := rand.New(rand.NewPCG(uint64(i), 6))
		h := make([]float64, lattice(t, tt.s).Cells())
		for cell := range h {
			h[cell] = 9.99 + 0.001*r.Float64()
		}
		c := waterConfig(tt.s, propagators.ShallowWater{Gravity: 2, MaxDepth: 10}, fields.Values(h), fields.Fill(0))
		limit := math.Sqrt(2 / (2 * 10 * tt.sum))
		c.Timestep = limit * 0.999
		w := newWorld(t, c)
		steps(t, w, 1000)
		for cell, h := range values(w, depth) {
			if math.Abs(h-9.99) > 0.01 {
				t.Fatalf("%v: depth %v at cell %d, want about 9.99", tt.s, h, cell)
			}
		}
		c.Timestep = limit * 1.001
		_, err := engine.New(c)
		if unstable, ok := errors.AsType[*engine.UnstableError](err); !ok || math.Abs(unstable.MaxDt-limit) > 1e-12 {
			t.Errorf("%v at dt %v: %v, want an UnstableError with the limit %v", tt.s, c.Timestep, err, limit)
		}
	}
}

// TestShallowWaterFails: a depth out of range fails the tick and names the first such cell.
func TestShallowWaterFails(t *testing.T) {
	for _, tt := range []struct {
		at   map[int]float64
		want string
	}{
		{map[int]float64{70: 11, 33: 10.5}, "cell [2, 1]: the depth is 10.5; max_depth is 10"},
		{map[int]float64{70: 11, 90: -1}, "cell [4, 6]: the depth is 11; max_depth is 10"},
		{map[int]float64{127: -0.5}, "cell [7, 15]: the depth must be at least 0, not -0.5"},
	} {
		for _, workers := range []int{1, 2, 8} {
			h := make([]float64, 128)
			for cell, v := range tt.at {
				h[cell] = v
			}
			c := waterConfig(space.Square4{Rows: 8, Cols: 16}, propagators.ShallowWater{Gravity: 1, MaxDepth: 10}, fields.Values(h), fields.Fill(0))
			c.Workers = workers
			w := newWorld(t, c)
			before := w.Hash()
			_, err := w.Step()
			if bad, ok := errors.AsType[*engine.CellError](err); !ok || bad.Error() != tt.want {
				t.Errorf("%d workers: %v, want %q", workers, err, tt.want)
			}
			if w.Tick() != 0 || w.Hash() != before {
				t.Errorf("%d workers: the state changed", workers)
			}
		}
	}
}

// TestShallowWaterDrops: the smallest depths that there are, between currents that would
// empty them, run nowhere; so no rounding of such numbers makes one negative.
func TestShallowWaterDrops(t *testing.T) {
	for i, s := range smallSpaces {
		r := rand.New(rand.NewPCG(uint64(i), 12))
		h := make([]float64, lattice(t, s).Cells())
		for cell := range h {
			h[cell] = float64(r.IntN(9)) * math.SmallestNonzeroFloat32
		}
		c := waterConfig(s, propagators.ShallowWater{Gravity: 1, MaxDepth: 1}, fields.Values(h), fields.Fill(0))
		currents := make([]float64, len(h)*len(facesOf(s).pairs))
		for e := range currents {
			currents[e] = float64(2*r.IntN(2) - 1)
		}
		c.Fields[flux].Initial = fields.Values(currents)
		w := newWorld(t, c)
		steps(t, w, 3)
		if got := values(w, depth); !slices.Equal(got, h) {
			t.Errorf("%v: depths %v, want %v", s, got, h)
		}
	}
}

// TestShallowWaterLimitOfBoth: at the longest step gravity and viscosity together use up what
// is allowed.
func TestShallowWaterLimitOfBoth(t *testing.T) {
	for _, tt := range []struct {
		s                  space.Space
		gravity, viscosity float64
		links              float64
	}{
		{space.Ring{Length: 5}, 3, 0, 2},
		{space.Square4{Rows: 4, Cols: 4}, 3, 5, 4},
		{space.Hex{Cols: 4, Rows: 4}, 0, 5, 4},
		{space.FCC12{W: 4, H: 4, D: 4}, 3, 5, 3},
	} {
		const deep = 7
		dt := propagators.ShallowWater{Flux: 1, Gravity: tt.gravity, Viscosity: tt.viscosity, MaxDepth: deep}.Spec(lattice(t, tt.s)).MaxDt
		if used := dt*dt*tt.gravity*deep*tt.links + 2*dt*tt.viscosity*tt.links; math.Abs(used-2) > 1e-12 {
			t.Errorf("%v, gravity %v, viscosity %v: the limit %v uses %v, want 2", tt.s, tt.gravity, tt.viscosity, dt, used)
		}
	}
}

func TestShallowWaterCheck(t *testing.T) {
	good := propagators.ShallowWater{Flux: 3, Gravity: 1, MaxDepth: 1}
	if _, err := engine.New(zoo(space.Square8{Rows: 4, Cols: 4}, good)); err != nil {
		t.Errorf("%+v: %v", good, err)
	}
	for _, tt := range []struct {
		s    space.Space
		p    propagators.ShallowWater
		want string
	}{
		{space.Hex{Cols: 4, Rows: 4}, good, `engine: propagator "shallow_water": flux: field "d" has 2 components; 3 are needed`},
		{space.FCC12{W: 4, H: 4, D: 4}, good, `flux: field "d" has 2 components; 6 are needed`},
		{space.Product{space.Ring{Length: 4}, space.Hex{Cols: 4, Rows: 4}}, good, "4 are needed"},
		{space.Ring{Length: 9}, propagators.ShallowWater{MaxDepth: 1}, `depth and flux are both field "a"`},
		{space.Ring{Length: 9}, propagators.ShallowWater{MaxDepth: 1, Flux: 1, Bed: new(fields.ID(0))}, `depth and bed are both field "a"`},
		{space.Ring{Length: 9}, propagators.ShallowWater{MaxDepth: 1, Flux: 1, Bed: new(fields.ID(1))}, `flux and bed are both field "b"`},
		{space.Ring{Length: 9}, propagators.ShallowWater{MaxDepth: 1, Flux: 1, Bed: new(fields.ID(3))}, `bed: field "d" has 2 components`},
		{space.Ring{Length: 9}, propagators.ShallowWater{Flux: 1}, "max_depth must be above 0, not 0"},
		{space.Ring{Length: 9}, propagators.ShallowWater{Flux: 1, MaxDepth: math.NaN()}, "max_depth must be finite as a float32, not NaN"},
		{space.Ring{Length: 9}, propagators.ShallowWater{Flux: 1, MaxDepth: 1, Gravity: -1}, "gravity must be at least 0, not -1"},
		{space.Ring{Length: 9}, propagators.ShallowWater{Flux: 1, MaxDepth: 1, Drag: math.Inf(1)}, "drag must be finite as a float32, not +Inf"},
	} {
		_, err := engine.New(zoo(tt.s, tt.p))
		if _, ok := errors.AsType[*engine.ConfigError](err); !ok || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%+v: %v, want a ConfigError with %q", tt.p, err, tt.want)
		}
	}
}

func TestShallowWaterAllocs(t *testing.T) {
	for i, s := range smallSpaces {
		for _, workers := range []int{1, 2} {
			r := rand.New(rand.NewPCG(uint64(i), 7))
			c := waterConfig(s, propagators.ShallowWater{Gravity: 1, MaxDepth: 40}, puddles(r, lattice(t, s)), ground(r, lattice(t, s)))
			c.Workers, c.Paranoid = workers, false
			w := newWorld(t, c)
			steps(t, w, 3)
			if got := testing.AllocsPerRun(20, func() { steps(t, w, 1) }); got != 0 {
				t.Errorf("%v, %d workers: %v allocations a tick, want 0", s, workers, got)
			}
		}
	}
}

// A dam breaks at the left end of a channel with a sill in the middle: in the end the
// water stands at one height on both sides.
func ExampleShallowWater() {
	const depth, flux, bed = fields.ID(0), fields.ID(1), fields.ID(2)
	world, err := engine.New(engine.Config{
		Space: space.Line{Length: 8},
		Fields: []fields.Def{
			{Name: "depth", Unit: "m", Initial: fields.Values([]float64{6.2, 6.2, 0, 0, 0, 0, 0, 0})},
			{Name: "flux", Unit: "m²/s"},
			{Name: "bed", Unit: "m", Mutability: fields.Static, Initial: fields.Values([]float64{0, 0, 0, 1, 1, 0, 0, 0})},
		},
		Propagators: []engine.Propagator{
			propagators.ShallowWater{Depth: depth, Flux: flux, Bed: new(bed), Gravity: 10, Drag: 1, MaxDepth: 10},
		},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	for range 2 {
		for cell := range 8 {
			fmt.Printf("%5.1f", world.Value(depth, cell))
		}
		fmt.Println()
		for range 400 {
			if _, err := world.Step(); err != nil {
				fmt.Println(err)
				return
			}
		}
	}
	// Output:
	//   6.2  6.2  0.0  0.0  0.0  0.0  0.0  0.0
	//   1.8  1.8  1.8  0.8  0.8  1.8  1.8  1.8
}
