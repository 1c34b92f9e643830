// Package f32 is package exact for float32: elementary functions with the same bits
// on every processor.
//
// Every function but Atan2 returns the float32 nearest to the true value, at a tie the
// even one: those of one argument for all of the 2**32 arguments (hard.go says how that
// is known, and tools/ulp checks each), Pow and Hypot for reasons that are beside them.
// Atan2 does except for about one result in half a billion, which is then a hair more
// than half a unit off: it is computed in float64 and rounded once. A NaN comes back
// with the bits 0x7fc00000, whatever bits went in; other special cases are as in
// package exact.
package f32

import (
	"math"

	"github.com/murksim/murksim/exact"
)

// Exp returns e**x; +Inf above 88.72…, zero below -103.97…
func Exp(x float32) float32 { return nearest(exact.Exp(float64(x))) }

// Log returns the natural logarithm of x: -Inf for either zero, NaN below zero.
func Log(x float32) float32 { return among(logCases, x, exact.Log(float64(x))) }

// Sin returns the sine of x radians: NaN for an infinity, x itself for a zero.
func Sin(x float32) float32 { return among(sinCases, x, exact.Sin(float64(x))) }

// Cos returns the cosine of x radians: NaN for an infinity.
func Cos(x float32) float32 { return among(cosCases, x, exact.Cos(float64(x))) }

// Tan returns the tangent of x radians: NaN for an infinity, x itself for a zero.
func Tan(x float32) float32 { return nearest(exact.Tan(float64(x))) }

// Atan returns the arc tangent of x, from -π/2 to π/2; x itself for a zero. The
// float32 nearest to π/2 is greater than π/2.
func Atan(x float32) float32 { return among(atanCases, x, exact.Atan(float64(x))) }

// Cbrt returns the cube root of x, which is x itself for a zero or an infinity.
func Cbrt(x float32) float32 { return nearest(exact.Cbrt(float64(x))) }

// Tanh returns the hyperbolic tangent of x, which is x itself for a zero, and ±1 above
// 9.01….
func Tanh(x float32) float32 { return nearest(exact.Tanh(float64(x))) }

// Atan2 returns the angle from the direction (1, 0) to (x, y), from -π to π, with the
// special cases of [exact.Atan2].
func Atan2(y, x float32) float32 { return nearest(exact.Atan2(float64(y), float64(x))) }

// nearest returns y, rounded.
func nearest(y float64) float32 {
	if y != y {
		return math.Float32frombits(0x7fc00000)
	}
	return float32(y)
}

const (
	below  = 1<<29 - 1 // the bits of a float64 that a float32 has not
	middle = 1 << 28   // those of the middle of two float32
)
