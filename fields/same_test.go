package fields_test

import (
	"math/rand/v2"
	"testing"

	"github.com/murksim/murksim/fields"
)

// TestSame holds the vector code equal to the plain loop: one bit anywhere makes a
// difference, for every length.
func TestSame(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	for n := range 100 {
		a, b := fields.NewColumn(fields.Float32, n), fields.NewColumn(fields.Float32, n)
		for i := range n {
			bits := random.Uint64()
			a.SetBits(i, bits)
			b.SetBits(i, bits)
		}
		if !fields.SameBits32(a.Float32, b.Float32) {
			t.Errorf("%d equal elements differ", n)
		}
		for i := range n {
			was := b.Bits(i)
			b.SetBits(i, was^1<<random.IntN(32))
			if fields.SameBits32(a.Float32, b.Float32) || fields.SameFloat32(a.Float32, b.Float32) {
				t.Errorf("of %d elements the one at %d differs by a bit: not seen", n, i)
			}
			b.SetBits(i, was)
		}
	}
}
