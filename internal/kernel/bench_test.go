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
