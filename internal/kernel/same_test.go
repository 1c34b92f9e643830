package kernel_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/murksim/murksim/internal/kernel"
)

// TestSame holds the vector code equal to the plain loop: one bit anywhere makes a
// difference, for every length.
func TestSame(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	for n := range 100 {
		a, b := make([]float32, n), make([]float32, n)
		for i := range n {
			bits := random.Uint32()
			a[i], b[i] = math.Float32frombits(bits), math.Float32frombits(bits)
		}
		if !kernel.Same(a, b) {
			t.Errorf("%d equal elements differ", n)
		}
		for i := range n {
			was := math.Float32bits(b[i])
			b[i] = math.Float32frombits(was ^ 1<<random.IntN(32))
			if kernel.Same(a, b) || kernel.SamePlain(a, b) {
				t.Errorf("of %d elements the one at %d differs by a bit: not seen", n, i)
			}
			b[i] = math.Float32frombits(was)
		}
	}
}
