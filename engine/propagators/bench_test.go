package propagators_test

import (
	"testing"
	"time"

	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/engine/propagators"
	"github.com/murksim/murksim/fields"
	"github.com/murksim/murksim/space"
)

// copySpeed is how many float32 copy moves in a second between two columns of n.
func copySpeed(n int) float64 {
	src, dst := make([]float32, n), make([]float32, n)
	copy(dst, src)
	count, start := 0, time.Now()
	for time.Since(start) < 50*time.Millisecond {
		copy(dst, src)
		count++
	}
	return float64(n) * float64(count) / time.Since(start).Seconds()
}

// benchmarkStep reports cells a second, and how that compares with copy.
func benchmarkStep(b *testing.B, w *engine.World) {
	n := w.Lattice().Cells()
	b.SetBytes(int64(4 * n))
	speed := copySpeed(n)
	for b.Loop() {
		if _, err := w.Step(); err != nil {
			b.Fatal(err)
		}
	}
	cells := float64(n) * float64(b.N) / b.Elapsed().Seconds()
	b.ReportMetric(cells, "cells/s")
	b.ReportMetric(cells/speed, "x-copy")
}

func BenchmarkDiffusion(b *testing.B) {
	for _, tt := range []struct {
		name  string
		space space.Space
	}{
		{"square4_256", space.Square4{Rows: 256, Cols: 256}},
		{"square4_1024", space.Square4{Rows: 1024, Cols: 1024, Edge: space.Wrap}},
		{"square4_4096", space.Square4{Rows: 4096, Cols: 4096}},
		{"ring", space.Ring{Length: 1 << 20}},
		{"line", space.Line{Length: 1 << 20}},
		{"square8_1024", space.Square8{Rows: 1024, Cols: 1024}},
		{"hex_1024", space.Hex{Cols: 1024, Rows: 1024}},
		{"fcc12_32", space.FCC12{W: 32, H: 32, D: 32}},
		{"fcc12", space.FCC12{W: 128, H: 128, D: 128}},
		{"fcc12_64", space.FCC12{W: 64, H: 128, D: 128, Edge: space.Wrap}},
		{"64x64x3", space.Product{space.Square4{Rows: 64, Cols: 64}, space.Line{Length: 3}}},
		{"4096x4", space.Product{space.Line{Length: 4096}, space.Line{Length: 4}}},
		{"narrow", space.Product{space.Line{Length: 100_000}, space.Line{Length: 3}}},
		{"narrow_square4", space.Product{space.Square4{Rows: 512, Cols: 512}, space.Line{Length: 2}}},
	} {
		b.Run(tt.name, func(b *testing.B) {
			w := newWorld(b, engine.Config{
				Space:       tt.space,
				Fields:      []fields.Def{{Name: "heat", Initial: someValues(tt.space, 1)}},
				Propagators: []engine.Propagator{propagators.Diffusion{Rate: 1}},
			})
			benchmarkStep(b, w)
		})
	}
}

func BenchmarkPropagators(b *testing.B) {
	square := space.Square4{Rows: 1024, Cols: 1024}
	for _, tt := range []struct {
		name string
		p    engine.Propagator
	}{
		{"diffusion_walls", propagators.Diffusion{Rate: 1, BlockedBy: new(fields.ID(2))}},
		{"wave", propagators.Wave{Velocity: 1, Speed: 2}},
		{"gradient", propagators.Gradient{Output: 3}},
		{"flow", propagators.Flow{Output: 3, Normalise: true}},
		{"resource", propagators.Resource{Regrowth: 1, Logistic: true, Capacity: 2}},
		{"decay", propagators.Decay{Rate: 0.01}},
		{"noise_uniform", propagators.Noise{Kind: propagators.Uniform, Scale: 0.1}},
		{"noise_gaussian", propagators.Noise{Kind: propagators.Gaussian, Scale: 0.1}},
		{"automaton", propagators.Automaton{Field: 2, Rule: life}},
	} {
		b.Run(tt.name, func(b *testing.B) {
			w := newWorld(b, engine.Config{
				Space: square,
				Fields: []fields.Def{
					{Name: "a", Initial: someValues(square, 1)}, {Name: "b"},
					{Name: "cells", Type: fields.Categorical(2), Initial: someBits(square)}, {Name: "slope", Type: fields.Vector(2)},
				},
				Propagators: []engine.Propagator{tt.p},
			})
			benchmarkStep(b, w)
		})
	}
}
