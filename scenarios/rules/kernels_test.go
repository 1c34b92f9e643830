package rules

import (
	"math"
	"math/rand/v2"
	"testing"
)

// TestModulo compares the remainder of whole numbers with that of all numbers.
func TestModulo(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	special := []float32{0, float32(math.Copysign(0, -1)), 1, -1, 1 << 24, -1 << 24, 1<<24 - 1, 1 - 1<<24, 1 << 30, 0.5, float32(math.Inf(1)), float32(math.NaN())}
	number := func() float32 {
		if random.IntN(4) == 0 {
			return special[random.IntN(len(special))]
		}
		return float32(random.Int32N(1<<25)-1<<24) / float32(int32(1)<<random.IntN(24))
	}
	for range 200_000 {
		a, b := number(), number()
		if random.IntN(2) == 0 {
			a, b = float32(math.Floor(float64(a))), float32(math.Floor(float64(b)))
		}
		args := []value{{f: float64(a)}, {f: float64(b)}}
		want := arithmetic[float32](Mod, args)
		if got := modulo(a, b); math.Float32bits(got) != math.Float32bits(want) && (got == got || want == want) {
			t.Fatalf("mod(%v, %v) = %v, want %v", a, b, got, want)
		}
	}
}
