package transcendental

import (
	"math"
	"math/cmplx"
	"math/rand/v2"
)

func waves(x float64, r *rand.Rand) float64 {
	x = math.Sin(x) + math.Exp(x)     // want `transcendental: math.Sin gives other bits` `transcendental: math.Exp`
	x = math.Pow(x, 2) - math.Cbrt(x) // want `transcendental: math.Pow` `transcendental: math.Cbrt`
	x = math.Hypot(x, 1)              // want `transcendental: math.Hypot`
	x += cmplx.Abs(complex(x, 1))     // want `transcendental: cmplx.Abs`
	f := math.Log                     // want `transcendental: math.Log`
	return f(x) + r.NormFloat64()     // want `transcendental: rand.Rand.NormFloat64 uses math.Exp`
}

// Operations that are rounded once, and those that only move bits.
func fixed(x, y float64) float64 {
	x = math.Sqrt(math.Abs(x)) + math.Floor(y) + math.Mod(x, y) + math.Remainder(x, y) + math.FMA(x, y, math.Pi)
	if math.IsNaN(x) || math.IsInf(x, 0) || math.Signbit(y) {
		return math.Copysign(math.MaxFloat64, y)
	}
	return math.Float64frombits(math.Float64bits(x) + 1)
}
