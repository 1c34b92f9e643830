package propagators_test

import (
	"fmt"
	"math"
	"math/bits"
	"testing"

	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/engine/propagators"
	"github.com/murksim/murksim/fields"
	"github.com/murksim/murksim/space"
)

// The tests here hold facts that nobody made up for them. docs/VALIDATION.md lists them with their sources.

// TestMethuselahs: small patterns of Life that live long, without an edge in their way.
func TestMethuselahs(t *testing.T) {
	for _, tt := range []struct {
		name   string
		rows   []string
		counts map[int]int // cells that are alive, by generation
		still  int         // the generation from which on there are as many
	}{
		{"r-pentomino", []string{".##", "##.", ".#."}, map[int]int{0: 5, 1103: 116}, 1103},
		{"acorn", []string{".#.....", "...#...", "##..###"}, map[int]int{0: 7, 5206: 633}, 5206},
		{"diehard", []string{"......#.", "##......", ".#...###"}, map[int]int{0: 7, 129: 2, 130: 0}, 130},
	} {
		if testing.Short() && tt.still > 2000 {
			continue // a large space
		}
		t.Run(tt.name, func(t *testing.T) {
			p := colony{rows: len(tt.rows), cols: len(tt.rows[0]), cells: drawing(".#", tt.rows...)}
			for generation := range tt.still + 60 {
				if want, known := tt.counts[min(generation, tt.still)]; known {
					if got := p.alive(); got != want {
						t.Errorf("generation %d has %d cells, want %d", generation, got, want)
					}
				}
				p.step(t)
			}
		})
	}
}

// A colony is a pattern of Life in a space that is made anew, larger, before anything reaches its edge.
type colony struct {
	rows, cols int
	cells      []float64
	world      *engine.World
	left       int // generations until something may be at the edge
}

func (c *colony) alive() int {
	if c.world != nil {
		c.cells = values(c.world, 0)
	}
	return int(total(c.cells))
}

// step makes one generation. Nothing in Life is faster than a cell in two generations in a row or column.
func (c *colony) step(t *testing.T) {
	const margin = 128
	if c.left == 0 {
		c.alive()
		top, bottom, left, right := c.rows, 0, c.cols, 0
		for i, v := range c.cells {
			if v == 1 {
				top, bottom = min(top, i/c.cols), max(bottom, i/c.cols+1)
				left, right = min(left, i%c.cols), max(right, i%c.cols+1)
			}
		}
		old := *c
		c.rows, c.cols, c.left = bottom-top+2*margin, right-left+2*margin, 2*margin-4
		c.cells = make([]float64, c.rows*c.cols)
		for row := top; row < bottom; row++ {
			copy(c.cells[(row-top+margin)*c.cols+margin:], old.cells[row*old.cols+left:row*old.cols+right])
		}
		c.world = newWorld(t, engine.Config{
			Space:  space.Square8{Rows: c.rows, Cols: c.cols},
			Fields: []fields.Def{{Name: "v", Initial: fields.Values(c.cells)}}, Propagators: []engine.Propagator{propagators.Automaton{Rule: life}},
		})
	}
	steps(t, c.world, 1)
	c.left--
}

// TestGould: row n of rule 90 has as many ones as row n of Pascal's triangle has odd numbers.
func TestGould(t *testing.T) {
	const n = 512
	l := lattice(t, space.Ring{Length: n})
	seed := make([]float64, n)
	seed[n/2] = 1
	w := stepped(t, space.Ring{Length: n}, seed, propagators.Automaton{Table: elementary(t, l, 90)}, 1)
	sequence := "1 2 2 4 2 4 4 8 2 4 4 8 4 8 8 16 2 4 4 8 4 8 8 16 4 8 8 16 8 16 16 32"
	got := ""
	for row := range n / 2 {
		ones := int(total(values(w, 0)))
		if want := 1 << bits.OnesCount(uint(row)); ones != want {
			t.Errorf("row %d has %d ones, want %d", row, ones, want)
		}
		if row < 32 {
			got += fmt.Sprintf(" %d", ones)
		}
		steps(t, w, 1)
	}
	if got != " "+sequence {
		t.Errorf("Gould's sequence is%s, want %s", got, sequence)
	}
}

// A periodic space has plane waves, and the mean of a wave over the neighbours of a cell is the wave times
// this factor, a function of its phase in each step along an axis.
type periodic struct {
	space  space.Space
	sizes  []int // by axis of a coordinate
	degree float64
	mean   func(a []float64) float64
}

var periodicSpaces = []periodic{
	{space.Ring{Length: 24}, []int{24}, 2, func(a []float64) float64 { return math.Cos(a[0]) }},
	{space.Square4{Rows: 12, Cols: 20, Edge: space.Wrap}, []int{12, 20}, 4, func(a []float64) float64 {
		return (math.Cos(a[0]) + math.Cos(a[1])) / 2
	}},
	{space.Square8{Rows: 12, Cols: 20, Edge: space.Wrap}, []int{12, 20}, 8, func(a []float64) float64 {
		return (math.Cos(a[0]) + math.Cos(a[1]) + 2*math.Cos(a[0])*math.Cos(a[1])) / 4
	}},
	{space.Hex{Cols: 20, Rows: 12, Edge: space.Wrap}, []int{20, 12}, 6, func(a []float64) float64 {
		return (math.Cos(a[0]) + math.Cos(a[1]) + math.Cos(a[0]-a[1])) / 3
	}},
	{space.FCC12{W: 8, H: 10, D: 12, Edge: space.Wrap}, []int{8, 10, 12}, 12, func(a []float64) float64 {
		x, y, z := math.Cos(a[0]), math.Cos(a[1]), math.Cos(a[2])
		return (x*y + x*z + y*z) / 3
	}},
	{space.Product{space.Ring{Length: 10}, space.Hex{Cols: 6, Rows: 8, Edge: space.Wrap}}, []int{10, 6, 8}, 8, func(a []float64) float64 {
		return (math.Cos(a[0]) + math.Cos(a[1]) + math.Cos(a[2]) + math.Cos(a[1]-a[2])) / 4
	}},
}

// waves yields plane waves of a space: the factor of each, and its values.
func (p *periodic) waves(t *testing.T, yield func(mean float64, wave []float64)) {
	l := lattice(t, p.space)
	for _, numbers := range [][]int{{1, 0, 0}, {0, 1, 0}, {2, 1, 1}, {3, 4, 2}, {5, 2, 3}} {
		phase := make([]float64, len(p.sizes))
		for axis, size := range p.sizes {
			phase[axis] = 2 * math.Pi * float64(numbers[axis]) / float64(size)
		}
		wave := make([]float64, l.Cells())
		for i := range wave {
			at := 0.0
			for axis := range p.sizes {
				at += phase[axis] * float64(l.Coord(i).At(axis))
			}
			wave[i] = math.Cos(at)
		}
		yield(p.mean(phase), wave)
	}
}

// TestDiffusionOfWaves: on every lattice a plane wave keeps its shape and shrinks by the eigenvalue of the
// step, 1 - rate·dt·n·(1 - mean). The step that is twice as long is twice as far from the solution in continuous time.
func TestDiffusionOfWaves(t *testing.T) {
	const rate, tickRate, ticks = 0.5, 10.0, 40
	judged := 0 // waves of which the order of the step shows
	for _, p := range periodicSpaces {
		p.waves(t, func(mean float64, wave []float64) {
			var off [2]float64 // of the amplitude from the exact solution, by step
			for half := range off {
				n, dt := ticks<<half, 1/tickRate/float64(int(1)<<half)
				w := newWorld(t, engine.Config{
					Space: p.space, TickRate: 1 / dt, Paranoid: true, Fields: []fields.Def{{Name: "u", Initial: fields.Values(wave)}},
					Propagators: []engine.Propagator{propagators.Diffusion{Rate: rate}},
				})
				steps(t, w, n)
				factor := math.Pow(1-rate*dt*p.degree*(1-mean), float64(n))
				var amplitude, squares float64
				for i, got := range values(w, 0) {
					if math.Abs(got-factor*wave[i]) > 3e-6 {
						t.Fatalf("%v, mean %.3f: cell %d = %v, want %v", p.space, mean, i, got, factor*wave[i])
					}
					amplitude, squares = amplitude+got*wave[i], squares+wave[i]*wave[i]
				}
				off[half] = amplitude/squares - math.Exp(-rate*ticks/tickRate*p.degree*(1-mean))
			}
			if math.Abs(off[1]) < 1e-3 {
				return // too near to tell
			}
			judged++
			if ratio := off[0] / off[1]; ratio < 1.8 || ratio > 2.2 {
				t.Errorf("%v, mean %.3f: half the step is %.2f times as near, want twice", p.space, mean, ratio)
			}
		})
	}
	if judged < 10 {
		t.Errorf("the order of the step shows in %d waves; want at least 10", judged)
	}
}

// TestDiffusionMatrix: on every lattice, with every edge, many ticks are the power of one matrix, in float64: and symmetric.
func TestDiffusionMatrix(t *testing.T) {
	const rate, tickRate, ticks = 0.6, 10.0, 25
	var spaces []space.Space
	for _, edge := range []space.Edge{space.Absorb, space.Clamp, space.Wrap} {
		spaces = append(spaces, space.Line{Length: 17, Edge: edge}, space.Square4{Rows: 5, Cols: 7, Edge: edge},
			space.Square8{Rows: 5, Cols: 7, Edge: edge}, space.Hex{Cols: 6, Rows: 5, Edge: edge}, space.FCC12{W: 4, H: 4, D: 6, Edge: edge},
			space.Product{space.Line{Length: 3, Edge: edge}, space.Square4{Rows: 4, Cols: 5, Edge: edge}})
	}
	for _, s := range spaces {
		l := lattice(t, s)
		n := l.Cells()
		matrix := make([][]float64, n)
		for i := range matrix {
			matrix[i] = make([]float64, n)
			matrix[i][i] = 1
			for _, to := range l.AppendNeighbours(nil, i) {
				matrix[i][to] += rate / tickRate
				matrix[i][i] -= rate / tickRate
			}
		}
		w := newWorld(t, engine.Config{
			Space: s, TickRate: tickRate, Paranoid: true, Fields: []fields.Def{{Name: "u", Initial: someValues(s, 1)}},
			Propagators: []engine.Propagator{propagators.Diffusion{Rate: rate}},
		})
		u := values(w, 0)
		for range ticks {
			next := make([]float64, n)
			for i, row := range matrix {
				for k, weight := range row {
					if weight != matrix[k][i] {
						t.Fatalf("%v: the weights of cells %d and %d are %v and %v", s, i, k, weight, matrix[k][i])
					}
					next[i] += weight * u[k]
				}
			}
			u = next
		}
		steps(t, w, ticks)
		for i, got := range values(w, 0) {
			if math.Abs(got-u[i]) > 1e-5 {
				t.Fatalf("%v: cell %d = %v, want %v", s, i, got, u[i])
			}
		}
	}
}

// TestWaveDispersion: a standing plane wave on every lattice, up to the longest step that is stable:
// u(T) = cos((T + ½)θ) / cos(θ/2), where sin(θ/2) = speed·dt/2·√(1 - mean).
func TestWaveDispersion(t *testing.T) {
	const tickRate, ticks = 16.0, 60
	for _, p := range periodicSpaces {
		for _, step := range []float64{0.1, 0.5, 0.97, 1.41} { // speed·dt; √2 is the limit
			p.waves(t, func(mean float64, wave []float64) {
				w := newWorld(t, engine.Config{
					Space: p.space, TickRate: tickRate, Paranoid: true, Fields: []fields.Def{{Name: "u", Initial: fields.Values(wave)}, {Name: "v"}},
					Propagators: []engine.Propagator{propagators.Wave{Displacement: 0, Velocity: 1, Speed: step * tickRate}},
				})
				steps(t, w, ticks)
				half := math.Asin(step / 2 * math.Sqrt(1-mean))
				factor := math.Cos((2*ticks+1)*half) / math.Cos(half)
				for i, got := range values(w, 0) {
					if math.Abs(got-factor*wave[i]) > 2e-5 {
						t.Fatalf("%v, speed·dt %v, mean %.3f: cell %d = %v, want %v", p.space, step, mean, i, got, factor*wave[i])
					}
				}
			})
		}
	}
}

// TestWaveInvariant: without damping Σ (v² + u·Ku - dt·v·Ku) stays what it was, Ku = speed²·(u - mean of its neighbours),
// at every step, where the energy Σ (v² + u·Ku) swings.
func TestWaveInvariant(t *testing.T) {
	const speed, tickRate = 22.56, 16.0 // speed·dt = 1.41
	for _, p := range periodicSpaces {
		l := lattice(t, p.space)
		w := newWorld(t, engine.Config{
			Space: p.space, TickRate: tickRate, Fields: []fields.Def{{Name: "u", Initial: someValues(p.space, 1)}, {Name: "v"}},
			Propagators: []engine.Propagator{propagators.Wave{Displacement: 0, Velocity: 1, Speed: speed}},
		})
		sums := func() (energy, invariant float64) {
			u, v := values(w, 0), values(w, 1)
			for i := range u {
				near := l.AppendNeighbours(nil, i)
				pull := u[i]
				for _, n := range near {
					pull -= u[n] / float64(len(near))
				}
				pull *= speed * speed
				energy += v[i]*v[i] + u[i]*pull
				invariant += v[i]*v[i] + u[i]*pull - v[i]*pull/tickRate
			}
			return energy, invariant
		}
		_, first := sums()
		least, most := math.Inf(1), 0.0
		for range 400 {
			steps(t, w, 1)
			energy, invariant := sums()
			if least, most = min(least, energy), max(most, energy); math.Abs(invariant-first) > 1e-5*first {
				t.Fatalf("%v: tick %d has the invariant %v, want %v", p.space, w.Tick(), invariant, first)
			}
		}
		if most < 1.1*least {
			t.Errorf("%v: the energy is between %v and %v: nothing was tested", p.space, least, most)
		}
	}
}

// TestPercolationThresholds: at the threshold a cluster crosses a square with odds of about one half, which a hex
// lattice has exactly, since it is a rhombus and its threshold is one half; a little below it hardly ever does, a little
// above nearly always.
func TestPercolationThresholds(t *testing.T) {
	const side, runs = 48, 300
	for _, tt := range []struct {
		space     space.Space
		threshold float64
	}{
		{space.Square4{Rows: side, Cols: side + 1}, 0.592746},
		{space.Square8{Rows: side, Cols: side + 1}, 0.407254},
		{space.Hex{Cols: side + 1, Rows: side}, 0.5},
	} {
		share := func(open float64) float64 {
			crossed := 0
			for seed := range uint64(runs) {
				if crosses(t, tt.space, side, open, seed) {
					crossed++
				}
			}
			return float64(crossed) / runs
		}
		below, at, above := share(tt.threshold-0.07), share(tt.threshold), share(tt.threshold+0.07)
		t.Logf("%v: %.3f cross at %.4f, %.3f at 0.07 less, %.3f at 0.07 more", tt.space, at, tt.threshold, below, above)
		if deviation := math.Sqrt(0.25 / runs); math.Abs(at-0.5) > 4*deviation || below > 0.15 || above < 0.85 {
			t.Errorf("%v: %.3f cross at the threshold, want 0.5; %.3f below it and %.3f above", tt.space, at, below, above)
		}
	}
}

// crosses reports whether a liquid seeps from the first column to the last.
func crosses(t *testing.T, s space.Space, side int, open float64, seed uint64) bool {
	source := make([]float64, side*(side+1))
	for row := range side {
		source[row*(side+1)] = 1
	}
	w := newWorld(t, engine.Config{
		Space: s, Seed: seed, Fields: []fields.Def{{Name: "v", Initial: fields.Values(source)}},
		Propagators: []engine.Propagator{propagators.Percolation{Open: open}},
	})
	for before := -1.0; ; {
		steps(t, w, side/2)
		v, wet := values(w, 0), 0.0
		for i, x := range v {
			if x == 1 {
				if i%(side+1) == side {
					return true
				}
				wet++
			}
		}
		if wet == before {
			return false
		}
		before = wet
	}
}
