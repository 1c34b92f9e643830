package kernel_test

import (
	"fmt"
	"testing"

	"github.com/murksim/murksim/internal/kernel"
)

// BenchmarkRelax measures rows of a square field that a core's first cache holds, and of larger
// ones.
func BenchmarkRelax(b *testing.B) {
	for _, side := range []int{64, 100, 256} {
		for _, n := range [][]int{{-1, 1}, {-side, side, -1, 1}, {-side, side, -1, 1, 1 - side, side - 1}, {-side - 1, -side, 1 - side, -1, 1, side - 1, side, side + 1}} {
			b.Run(fmt.Sprintf("%d_neighbours_%d", len(n), side), func(b *testing.B) {
				in, out := make([]float32, side*side), make([]float32, side*side)
				for i := range in {
					in[i] = float32(i % 7)
				}
				w := kernel.NewWeights(0.2, 1, len(n))
				r := kernel.Rows{First: side + 1, Count: side - 2, Stride: 1, Rows: side - 2, Pitch: side}
				for b.Loop() {
					kernel.Relax(out, in, r, kernel.Neighbours{Offsets: n, Scale: 1}, &w)
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64((side-2)*(side-2)), "ns/cell")
			})
		}
	}
}

// BenchmarkStencils measures kernels of several columns.
func BenchmarkStencils(b *testing.B) {
	for _, side := range []int{64, 256, 1024} {
		columns := make([][]float32, 4)
		for i := range columns {
			columns[i] = make([]float32, side*side)
			for k := range columns[i] {
				columns[i][k] = float32(k % 7)
			}
		}
		walls := make([]float32, side*side)
		for i := 0; i < len(walls); i += 31 {
			walls[i] = 1
		}
		n := kernel.Neighbours{Offsets: []int{-side, side, -1, 1}, Scale: 1}
		r := kernel.Rows{First: side + 1, Count: side - 2, Stride: 1, Rows: side - 2, Pitch: side}
		swing := kernel.Swing{Pull: 0.1, Dt: 0.1, N: 4}
		reaction := kernel.Reaction{Dt: 0.1, N: 4}
		walled := kernel.Walled{K: 0.1, Decay: 1}
		for _, tt := range []struct {
			name string
			run  func()
		}{
			{"swing", func() { swing.Move(columns[2], columns[3], columns[0], columns[1], r, n) }},
			{"react", func() { reaction.React(columns[2], columns[3], columns[0], columns[1], r, n) }},
			{"walled", func() { walled.Relax(columns[2], columns[0], walls, r, n) }},
		} {
			b.Run(fmt.Sprintf("%s_%d", tt.name, side), func(b *testing.B) {
				for b.Loop() {
					tt.run()
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64((side-2)*(side-2)), "ns/cell")
			})
		}
	}
}

// BenchmarkColumns measures kernels that go through whole columns once.
func BenchmarkColumns(b *testing.B) {
	for _, n := range []int{1 << 12, 1 << 16, 1 << 20} {
		in, out, third := make([]float32, n), make([]float32, n), make([]float32, n)
		for i := range in {
			in[i] = float32(i%7) / 8
		}
		bits := make([]uint64, n/64)
		g := kernel.Growth{Eaten: 0.01, Rate: 0.1, Capacity: 1, Dt: 0.1, Logistic: true}
		for _, tt := range []struct {
			name string
			run  func()
		}{
			{"grow", func() { g.Grow(out, in, third) }},
			{"pack", func() { kernel.PackOnes(bits, in) }},
			{"unpack", func() { kernel.Unpack(out, bits) }},
			{"states", func() { kernel.AllStates(in, 2) }},
			{"finite", func() { kernel.AllFinite(in, 1) }},
		} {
			b.Run(fmt.Sprintf("%s_%d", tt.name, n), func(b *testing.B) {
				for b.Loop() {
					tt.run()
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/cell")
			})
		}
	}
}
