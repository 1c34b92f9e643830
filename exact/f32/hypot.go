package f32

import (
	"math"

	"github.com/murksim/murksim/exact"
)

// Hypot returns √(x²+y²): +Inf if either is infinite, even if the other is NaN.
//
// The squares are exact in float64. The root of their rounded sum rounds to the wrong
// side only if it is itself the middle m of two float32, for m² is a float64 and
// rounding keeps the order. Then m² is compared with the sum of the squares.
func Hypot(x, y float32) float32 {
	a, b := float64(x), float64(y)
	if x != x || y != y || math.IsInf(a, 0) || math.IsInf(b, 0) {
		return nearest(exact.Hypot(a, b))
	}
	a, b = float64(a*a), float64(b*b)
	a, b = max(a, b), min(a, b)
	sum := a + b
	h := math.Sqrt(sum)
	if math.Float64bits(h)&below == middle {
		off := (sum - float64(h*h)) + (b - (sum - a)) // of the sum of squares from h²
		switch {
		case off > 0:
			h = math.Float64frombits(math.Float64bits(h) + 1)
		case off < 0:
			h = math.Float64frombits(math.Float64bits(h) - 1)
		}
	}
	return float32(h)
}
