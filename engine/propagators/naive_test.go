package propagators_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/engine/propagators"
	"github.com/murksim/murksim/exact"
	"github.com/murksim/murksim/fields"
	"github.com/murksim/murksim/rng"
	"github.com/murksim/murksim/space"
)

// A naive world: the formulas cell by cell, with neighbours found by coordinate.
type naive struct {
	l     *space.Lattice
	dt    float64
	near  [][]naiveNeighbour // by cell
	seed  uint64
	tick  uint64
	cells int
}

type naiveNeighbour struct {
	rank int
	step [2]int // along the axes 0 and 1
}

func newNaive(t testing.TB, l *space.Lattice, dt float64, seed uint64) *naive {
	n := &naive{l: l, dt: dt, seed: seed, cells: l.Cells(), near: make([][]naiveNeighbour, l.Cells())}
	for cell := range n.near {
		for dir := range l.Directions() {
			if rank, step, ok := leads(t, l, cell, dir); ok {
				n.near[cell] = append(n.near[cell], naiveNeighbour{rank, [2]int{step[0], step[1]}})
			}
		}
	}
	return n
}

// leads says where a step in a direction leads, by coordinate, and what it changes along
// each axis on the short way round.
func leads(t testing.TB, l *space.Lattice, cell, direction int) (rank int, step [space.MaxDim]int, ok bool) {
	c, to := l.Coord(cell), space.Coord{}
	way, whole := l.Directions()[direction].Step, hexAxes(nil, l.Space())
	for a, axis := range l.Axes() {
		v, s := int(c.At(a)), int(way.At(a))
		switch w := v + s; {
		case w >= 0 && w < axis.Extent:
			v = w
		case axis.Edge == space.Absorb:
			return 0, step, false
		case axis.Edge == space.Clamp && whole[a]:
			return cell, [space.MaxDim]int{}, true
		case axis.Edge == space.Clamp:
			s = 0
		default:
			v = (w + axis.Extent) % axis.Extent
			if axis.Extent == 1 {
				s = 0
			}
		}
		to, step[a] = to.Append(int32(v)), s
	}
	rank, in := l.Rank(to)
	if !in {
		t.Fatalf("%v: %v is not a cell of %v", c, to, l.Space())
	}
	return rank, step, true
}

// hexAxes says of each axis whether it is one of hexes, where an edge clamps whole steps.
func hexAxes(all []bool, s space.Space) []bool {
	switch s := s.(type) {
	case space.Product:
		for _, part := range s {
			all = hexAxes(all, part)
		}
		return all
	case space.Hex:
		return append(all, true, true)
	case space.Square4, space.Square8:
		return append(all, false, false)
	case space.FCC12:
		return append(all, false, false, false)
	case space.Line, space.Ring:
		return append(all, false)
	}
	panic(fmt.Sprintf("unknown kind of space %T", s))
}

func (n *naive) sum(v []float32, cell, components, k int, wall []float32) (sum float32, count int) {
	sum = float32(math.Copysign(0, -1))
	for _, o := range n.near[cell] {
		if wall == nil || wall[o.rank] == 0 {
			sum += v[o.rank*components+k]
			count++
		}
	}
	return sum, count
}

func (n *naive) diffuse(d propagators.Diffusion, v []float32, components int, wall []float32) []float32 {
	next, most := slices.Clone(v), 0
	for _, near := range n.near {
		most = max(most, len(near))
	}
	share := float32(d.Rate * n.dt)
	if float64(share)*float64(most) > 1 {
		share = math.Nextafter32(share, 0)
	}
	for cell := range n.cells {
		if wall != nil && wall[cell] != 0 {
			continue
		}
		for k := range components {
			e := cell*components + k
			if sum, count := n.sum(v, cell, components, k, wall); count > 0 {
				next[e] = v[e] + float32(share*(sum-float32(float32(count)*v[e])))
			}
			if d.Decay > 0 {
				next[e] = next[e] * float32(exact.Exp(-(d.Decay * n.dt)))
			}
		}
	}
	for _, h := range d.Hold {
		for _, cell := range h.Cells {
			for k := range components {
				next[cell*components+k] = float32(h.Value)
			}
		}
	}
	return next
}

func (n *naive) wave(w propagators.Wave, d, v []float32, components int) (nextD, nextV []float32) {
	nextD, nextV = make([]float32, len(d)), make([]float32, len(d))
	dt, damping, c2 := float32(n.dt), float32(w.Damping), float32(w.Speed*w.Speed)
	for cell := range n.cells {
		for k := range components {
			e := cell*components + k
			lap := float32(0)
			if sum, count := n.sum(d, cell, components, k, nil); count > 0 {
				lap = sum/float32(count) - d[e]
			}
			acc := float32(c2*lap) - float32(damping*v[e])
			nextV[e] = v[e] + float32(acc*dt)
			nextD[e] = d[e] + float32(nextV[e]*dt)
		}
	}
	return nextD, nextV
}

func (n *naive) slope(v []float32, down, unit bool) []float32 {
	out := make([]float32, 2*n.cells)
	for cell := range n.cells {
		var g [2]float32
		for axis := range 2 {
			sum, terms := float32(0), 0
			at := [3]float32{v[cell], v[cell], v[cell]} // before, here, after
			for _, o := range n.near[cell] {
				if s := o.step[axis]; s != 0 {
					sum += (v[o.rank] - v[cell]) / float32(s)
					terms++
					at[1+s] = v[o.rank]
				}
			}
			switch {
			case n.l.Kind() == "square4":
				g[1-axis] = (at[2] - at[0]) / 2
			case terms > 0:
				g[1-axis] = sum / float32(terms)
			default:
				continue
			}
			if down {
				g[1-axis] = -g[1-axis]
			}
		}
		if length := float32(math.Sqrt(float64(float32(g[0]*g[0]) + float32(g[1]*g[1])))); unit && length > 1e-12 {
			g[0], g[1] = g[0]/length, g[1]/length
		}
		out[2*cell], out[2*cell+1] = g[0], g[1]
	}
	return out
}

func (n *naive) resource(r propagators.Resource, v, presence []float32) []float32 {
	next := slices.Clone(v)
	dt, regrowth, capacity := float32(n.dt), float32(r.Regrowth), float32(r.Capacity)
	for i, x := range v {
		if presence != nil && presence[i] != 0 {
			x -= float32(float32(r.Consumption) * dt)
		}
		if !r.Logistic {
			x += float32(regrowth * dt)
		} else if x > 0 {
			growth := float32(regrowth * x)
			growth = float32(growth * (1 - x/capacity))
			x += float32(growth * dt)
		}
		if x < 0 {
			x = 0
		}
		if x > capacity {
			x = capacity
		}
		next[i] = x
	}
	return next
}

func (n *naive) noise(z propagators.Noise, v []float32, components int) []float32 {
	var set rng.Set
	set.Begin(0, rng.Seed(n.seed), n.tick)
	bulk := set.Bulk("noise", 0, n.cells)
	next := slices.Clone(v)
	for cell := range n.cells {
		words := bulk.Words(uint64(cell))
		for k := range components {
			e := cell*components + k
			switch z.Kind {
			case propagators.Uniform:
				next[e] += float32(z.Scale * (2*float64(words.Float32()) - 1))
			case propagators.Gaussian:
				next[e] += float32(z.Scale * words.Normal())
			case propagators.SaltPepper:
				if float64(words.Float32()) < z.Scale {
					next[e] = 0
					if words.Uint32() >= 1<<31 {
						next[e] = 1
					}
				}
			}
		}
	}
	return next
}

func (n *naive) automaton(r propagators.Rule, v []float32) []float32 {
	next := make([]float32, len(v))
	for cell := range n.cells {
		alive := 0
		for _, o := range n.near[cell] {
			if v[o.rank] == 1 {
				alive++
			}
		}
		state := 0
		for s := 1; s < max(2, r.States); s++ {
			if v[cell] == float32(s) {
				state = s
			}
		}
		switch {
		case state == 0 && r.Born&(1<<alive) != 0, state == 1 && r.Survive&(1<<alive) != 0:
			next[cell] = 1
		case state > 0 && state+1 < r.States:
			next[cell] = float32(state + 1)
		}
	}
	return next
}

// randomSpace is a small space of any kind.
func randomSpace(r *rand.Rand, depth int) space.Space {
	edge := space.Edge(r.IntN(3))
	size := func(most int) int { return 1 + r.IntN(most) }
	switch k := r.IntN(9); k {
	case 0:
		return space.Line{Length: size(70), Edge: edge}
	case 1:
		return space.Ring{Length: size(70)}
	case 2, 3:
		return space.Square4{Rows: size(9), Cols: size(40), Edge: edge}
	case 4:
		return space.Square8{Rows: size(9), Cols: size(40), Edge: edge}
	case 5:
		return space.Hex{Cols: size(40), Rows: size(9), Edge: edge}
	case 6:
		if edge == space.Wrap {
			return space.FCC12{W: 2 * size(6), H: 2 * size(3), D: 2 * size(3), Edge: edge}
		}
		return space.FCC12{W: size(20), H: size(5), D: size(5), Edge: edge}
	default:
		if depth == 2 {
			return space.Line{Length: size(30), Edge: edge}
		}
		parts := make(space.Product, 1+r.IntN(2))
		for i := range parts {
			parts[i] = randomSpace(r, depth+1)
		}
		return append(parts, space.Line{Length: size(4), Edge: edge})
	}
}

// wildValues are floats of any sign and most magnitudes, zeros of both signs among
// them; not so large that sums overflow.
func wildValues(r *rand.Rand, n int) []float64 {
	v := make([]float64, n)
	for i := range v {
		exponent := uint32(r.IntN(200))
		if r.IntN(4) > 0 {
			exponent = 120 + uint32(r.IntN(10))
		}
		bits := r.Uint32()&0x807fffff | exponent<<23
		if r.IntN(10) == 0 {
			bits &= 0x80000000
		}
		v[i] = float64(math.Float32frombits(bits))
	}
	return v
}

func smallValues(r *rand.Rand, n, below int) []float64 {
	v := make([]float64, n)
	for i := range v {
		v[i] = float64(r.IntN(below))
	}
	return v
}

func floats(v []float64) []float32 {
	f := make([]float32, len(v))
	for i := range v {
		f[i] = float32(v[i])
	}
	return f
}

func equalBits(t *testing.T, what string, w *engine.World, id fields.ID, want []float32) bool {
	t.Helper()
	s := w.Snapshot()
	defer s.Release()
	for i, got := range s.AppendFloat32(nil, id) {
		if math.Float32bits(got) != math.Float32bits(want[i]) {
			t.Errorf("%s: tick %d: element %d = %v (%08x), want %v (%08x)", what, w.Tick(), i,
				got, math.Float32bits(got), want[i], math.Float32bits(want[i]))
			return false
		}
	}
	return true
}

// longSpaces have runs that are cut.
var longSpaces = []space.Space{
	space.Line{Length: 2500, Edge: space.Wrap},
	space.Square4{Rows: 3, Cols: 1500},
	space.Product{space.Line{Length: 2200}, space.Line{Length: 3}},
}

// TestNaive compares every propagator with the plain formulas, on random spaces and
// values, for 1, 2 and 8 workers.
func TestNaive(t *testing.T) {
	const worlds = 200
	degrees := map[int]bool{}
	for seed := range uint64(worlds) {
		r := rand.New(rand.NewPCG(seed, 1))
		s := randomSpace(r, 0)
		if seed < uint64(len(longSpaces)) {
			s = longSpaces[seed]
		}
		l := lattice(t, s)
		if l.Cells() > 20_000 || l.Dim() > 9 {
			continue
		}
		for _, p := range l.Patterns() {
			degrees[len(p.Offsets)] = true
		}
		if !compareNaive(t, r, s, l) {
			t.Fatalf("seed %d, %v", seed, s)
		}
	}
	for _, d := range []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 14} {
		if !degrees[d] {
			t.Errorf("no cell with %d neighbours was met", d)
		}
	}
}

const (
	heat fields.ID = iota
	wall
	velocity
	gradient
	flow
	food
	noisy
	state
	slow
	stirred
	limited
)

func compareNaive(t *testing.T, r *rand.Rand, s space.Space, l *space.Lattice) bool {
	cells, components := l.Cells(), 1+r.IntN(3)
	def := func(name string, n int, values []float64) fields.Def {
		d := fields.Def{Name: name, Initial: fields.Values(values)}
		if n != 1 {
			d.Type = fields.Vector(n)
		}
		return d
	}
	values := [][]float64{
		wildValues(r, cells*components), smallValues(r, cells, 2), wildValues(r, cells*components), make([]float64, 2*cells),
		make([]float64, 2*cells), smallValues(r, cells, 9), wildValues(r, cells*components), smallValues(r, cells, 5),
		wildValues(r, cells), wildValues(r, cells*components), make([]float64, cells*components),
	}
	if r.IntN(2) == 0 {
		values[wall] = make([]float64, cells)
		values[wall][r.IntN(cells)] = 3
	}
	rate, dt := 0.05+r.Float64(), 0.05
	if limit := 1 / (rate * float64(l.MaxDegree())); limit < dt {
		rate *= limit / dt * 0.99
	}
	diffusion := propagators.Diffusion{Field: heat, Rate: rate, Hold: []propagators.Hold{{[]int{0, cells - 1}, 2}, {[]int{cells / 2}, -1}}}
	if r.IntN(2) == 0 {
		diffusion.Decay = r.Float64()
	}
	if r.IntN(2) == 0 {
		diffusion.BlockedBy = new(wall)
	}
	limiting := propagators.Diffusion{
		Name: "limiting", Field: heat, Output: new(limited), Rate: rate, Min: new(r.NormFloat64() - 2), Max: new(2 + r.Float64()),
	}
	wave := propagators.Wave{Displacement: stirred, Velocity: velocity, Speed: r.Float64(), Damping: r.Float64()}
	unit := r.IntN(2) == 0
	resource := propagators.Resource{Field: food, Presence: new(wall), Consumption: 3, Regrowth: r.Float64() * 9, Logistic: r.IntN(2) == 0, Capacity: 7.5}
	noise := propagators.Noise{Field: noisy, Kind: propagators.NoiseKind(r.IntN(3)), Scale: r.Float64()}
	mask := uint64(1)<<(l.MaxDegree()+1) - 1
	automaton := propagators.Automaton{Field: state, Rule: propagators.Rule{Born: r.Uint64() & mask, Survive: r.Uint64() & mask, States: r.IntN(6)}}
	decay := propagators.Decay{Field: slow, Rate: r.Float64() - 0.5}

	n := newNaive(t, l, dt, r.Uint64())
	var worlds []*engine.World
	for _, workers := range []int{1, 2, 8} {
		c := engine.Config{Space: s, Seed: n.seed, Workers: workers, Paranoid: true}
		for i, v := range values {
			c.Fields = append(c.Fields, def(string(rune('a'+i)), len(v)/cells, v))
		}
		c.Propagators = []engine.Propagator{
			diffusion, limiting, wave, resource, noise, automaton, decay,
			propagators.Gradient{Field: slow, Output: gradient}, propagators.Flow{Field: slow, Output: flow, Normalise: unit},
		}
		worlds = append(worlds, newWorld(t, c))
	}
	want := make([][]float32, len(values))
	for i := range values {
		want[i] = floats(values[i])
	}
	for range 3 {
		n.tick++
		var walls []float32
		if diffusion.BlockedBy != nil {
			walls = want[wall]
		}
		want[gradient], want[flow] = n.slope(want[slow], false, false), n.slope(want[slow], true, unit)
		want[limited] = n.diffuse(limiting, want[heat], components, nil)
		for i, v := range want[limited] {
			want[limited][i] = min(max(v, float32(*limiting.Min)), float32(*limiting.Max))
		}
		want[heat] = n.diffuse(diffusion, want[heat], components, walls)
		want[stirred], want[velocity] = n.wave(wave, want[stirred], want[velocity], components)
		want[food] = n.resource(resource, want[food], want[wall])
		want[noisy] = n.noise(noise, want[noisy], components)
		want[state] = n.automaton(automaton.Rule, want[state])
		factor := float32(exact.Exp(-(decay.Rate * dt)))
		for i := range want[slow] {
			want[slow][i] *= factor
		}
		ok := true
		for _, w := range worlds {
			if _, err := w.Step(); err != nil {
				t.Error(err)
				return false
			}
			for i, v := range want {
				ok = equalBits(t, w.Defs()[i].Name, w, fields.ID(i), v) && ok
			}
		}
		if !ok {
			return false
		}
	}
	return true
}
