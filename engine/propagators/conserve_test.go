package propagators_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/engine/propagators"
	"github.com/murksim/murksim/fields"
	"github.com/murksim/murksim/space"
)

// A meter adds up by how much the total of the field 0 has changed in each tick, up to where it stands among the propagators.
type meter struct{ off float64 }

// Spec implements [engine.Propagator].
func (*meter) Spec(*space.Lattice) engine.Spec {
	return engine.Spec{Name: "meter", Prev: engine.Fields(0), Incremental: engine.Fields(0)}
}

// Step implements [engine.Propagator].
func (m *meter) Step(c *engine.Context) error {
	prev := c.Prev(0)
	for i, v := range c.Next(0) {
		m.off += float64(v) - float64(prev[i])
	}
	return nil
}

// closed are spaces out of which nothing flows, each with every edge.
func closed() (all []space.Space) {
	all = append(all, space.Ring{Length: 200}, space.Ring{Length: 40})
	for _, edge := range []space.Edge{space.Absorb, space.Clamp, space.Wrap} {
		all = append(all, space.Line{Length: 40, Edge: edge}, space.Square4{Rows: 5, Cols: 8, Edge: edge}, space.Square8{Rows: 5, Cols: 8, Edge: edge},
			space.Hex{Cols: 5, Rows: 8, Edge: edge}, space.FCC12{W: 4, H: 4, D: 4, Edge: edge}, space.Product{space.Line{Length: 3, Edge: edge}, space.Square4{Rows: 3, Cols: 4, Edge: edge}})
	}
	return all
}

// TestDiffusionWalks: a closed field that noise stirs is off, after many ticks, by no more than 4 σ of what the roundings of the step
// add up to if each is even: stirred, the step favours neither direction. So it is among walls.
func TestDiffusionWalks(t *testing.T) {
	const tickRate, value = 10.0, 20.0
	moved := 0
	for _, s := range closed() {
		for _, walls := range []bool{false, true} {
			l, ticks := lattice(t, s), 1_000_000
			if testing.Short() {
				ticks = 100_000
			}
			parts := []float64{0.13, 0.7} // of the limit of stability
			if _, ring := s.(space.Ring); !ring && walls {
				parts = parts[1:]
			} else if !ring {
				parts = parts[:1]
			}
			for _, part := range parts {
				k := part / float64(l.MaxDegree())
				m := new(meter)
				d := propagators.Diffusion{Rate: k * tickRate}
				c := engine.Config{Space: s, TickRate: tickRate, Seed: 7, Fields: []fields.Def{{Name: "heat", Initial: fields.Fill(value)}, {Name: "wall", Mutability: fields.Static}}}
				if walls {
					c.Fields[1].Initial = someBits(s)
					d.BlockedBy = new(fields.ID(1))
				}
				c.Propagators = []engine.Propagator{d, m, propagators.Noise{Scale: 0.001}}
				steps(t, newWorld(t, c), ticks)
				unit := func(v float64) float64 { return float64(math.Nextafter32(float32(v), math.MaxFloat32) - float32(v)) }
				n := float64(l.MaxDegree())
				variance := (unit(value)*unit(value) + k*k*n*unit(n*value)*unit(n*value)) / 12 // of a cell in a tick: the last sum; n sums and products
				sigma := math.Sqrt(variance * float64(l.Cells()*ticks))
				if math.Abs(m.off) > 4*sigma {
					t.Errorf("%v, walls %v, rate·dt %.4f: after %d ticks the total is off by %.4g, %.1f σ", s, walls, k, ticks, m.off, math.Abs(m.off)/sigma)
				}
				if math.Abs(m.off) > sigma/4 {
					moved++
				}
			}
		}
	}
	if moved < 15 {
		t.Errorf("%d totals are off by more than σ/4; want some, or the bound is no bound", moved)
	}
}

// TestDiffusionStands: where all neighbours are equal and there are five at most, no bit changes, whatever the value and the rate.
func TestDiffusionStands(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for _, s := range []space.Space{space.Ring{Length: 9}, space.Line{Length: 9}, space.Line{Length: 9, Edge: space.Clamp}, space.Square4{Rows: 4, Cols: 5},
		space.Square4{Rows: 4, Cols: 5, Edge: space.Wrap}, space.Product{space.Line{Length: 2}, space.Square4{Rows: 4, Cols: 5}}} {
		l := lattice(t, s)
		if l.MaxDegree() > 5 {
			t.Fatalf("%v has cells with %d neighbours", s, l.MaxDegree())
		}
		for range 2_000 {
			v := math.Float32frombits(r.Uint32())
			if v != v || math.Abs(float64(v)) > math.MaxFloat32/8 || v == 0 {
				continue
			}
			w := newWorld(t, engine.Config{Space: s, TickRate: 1, Fields: []fields.Def{{Name: "u", Initial: fields.Fill(float64(v))}},
				Propagators: []engine.Propagator{propagators.Diffusion{Rate: r.Float64() / float64(l.MaxDegree())}}})
			steps(t, w, 1)
			for i, got := range values(w, 0) {
				if float32(got) != v {
					t.Fatalf("%v: cell %d was %v and is %v", s, i, v, got)
				}
			}
		}
	}
}

// TestDiffusionAtTheLimit: at the limit of stability, where 1/n may be rounded up, no cell gives away more than it has.
func TestDiffusionAtTheLimit(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 9))
	degrees := map[int]bool{}
	for _, s := range []space.Space{
		space.Ring{Length: 24}, space.Square4{Rows: 9, Cols: 2}, space.Square4{Rows: 6, Cols: 8}, space.Product{space.Line{Length: 2}, space.Square4{Rows: 4, Cols: 5}},
		space.Hex{Cols: 6, Rows: 7}, space.Square8{Rows: 6, Cols: 7}, space.FCC12{W: 4, H: 6, D: 6}, space.FCC12{W: 4, H: 6, D: 6, Edge: space.Wrap},
		space.Product{space.FCC12{W: 4, H: 4, D: 4, Edge: space.Wrap}, space.FCC12{W: 4, H: 4, D: 4, Edge: space.Wrap}, space.Square4{Rows: 3, Cols: 3, Edge: space.Wrap}, space.Line{Length: 2}},
	} {
		n := lattice(t, s).MaxDegree()
		degrees[n] = true
		rounds, apart := 200, 3
		if n > 12 { // whose cells are many, and seldom have neighbours that all are 0
			rounds, apart = 10, 100
		}
		for range rounds {
			v := make([]float64, lattice(t, s).Cells())
			for i := range v {
				if r.IntN(apart) == 0 {
					v[i] = float64(math.Float32frombits(r.Uint32N(0x7b000000)))
				}
			}
			const tickRate = 16
			w := newWorld(t, engine.Config{Space: s, TickRate: tickRate, Fields: []fields.Def{{Name: "u", Initial: fields.Values(v)}},
				Propagators: []engine.Propagator{propagators.Diffusion{Rate: tickRate / float64(n)}}})
			for range 5 {
				steps(t, w, 1)
				for i, got := range values(w, 0) {
					if got < 0 {
						t.Fatalf("%v: cell %d is %v", s, i, got)
					}
				}
			}
		}
	}
	for _, n := range []int{2, 3, 4, 5, 6, 8, 12, 29} {
		if !degrees[n] {
			t.Errorf("no space has cells with %d neighbours", n)
		}
	}
}

// TestDiffusionOfSlowWaves: a wave of 16 cells fades at the rate of the equation, up to a thousandth, however slow.
func TestDiffusionOfSlowWaves(t *testing.T) {
	const cells, wavelength = 1024, 16
	wave := make([]float64, cells)
	for i := range wave {
		wave[i] = math.Cos(2 * math.Pi * float64(i) / wavelength)
	}
	for _, k := range []float64{1e-4, 1e-3, 0.01, 0.1, 0.3, 0.5} {
		t.Run(fmt.Sprint(k), func(t *testing.T) {
			loss := 2 * k * (1 - math.Cos(2*math.Pi/wavelength)) // of the amplitude in a tick
			ticks := int(math.Ceil(math.Ln2 / loss))
			w := newWorld(t, engine.Config{Space: space.Ring{Length: cells}, TickRate: 8, Fields: []fields.Def{{Name: "u", Initial: fields.Values(wave)}},
				Propagators: []engine.Propagator{propagators.Diffusion{Rate: 8 * k}}})
			steps(t, w, ticks)
			amplitude := 0.0
			for i, v := range values(w, 0) {
				amplitude += v * wave[i] * 2 / cells
			}
			got, want := -math.Log(amplitude)/float64(ticks), -math.Log1p(-loss)
			if math.Abs(got/want-1) > 1e-3 {
				t.Errorf("it fades by %.6g a tick, want %.6g", got, want)
			}
		})
	}
}
