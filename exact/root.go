package exact

import "math"

// Hypot returns √(x²+y²), without overflow or underflow on the way: +Inf if either
// is infinite, even if the other is NaN.
//
// The squares are exact, so their sum has 106 bits; one step of Newton's method
// carries them over to the root.
func Hypot(x, y float64) float64 {
	switch {
	case math.IsInf(x, 0) || math.IsInf(y, 0):
		return math.Inf(1)
	case x != x || y != y:
		return math.NaN()
	}
	x, y = math.Abs(x), math.Abs(y)
	if x < y {
		x, y = y, x
	}
	if y <= float64(x*0x1p-28) {
		return x // y²/2x is below half a unit
	}
	x, n := split(x)
	y = shift(y, -n)
	a, b := product(x, x), product(y, y)
	sum := add(a.hi, b.hi)
	sum.lo += a.lo + b.lo
	h := math.Sqrt(sum.hi)
	square := product(h, h)
	rest := ((sum.hi - square.hi) - square.lo) + sum.lo
	return addFast(h, rest/(2*h)).shift(n)
}

// Cbrt returns the cube root of x, which is x itself for a zero or an infinity.
//
// A third of the exponent gives five bits, two steps of Halley's method 46, and one
// of Newton's, with the cube to 106 bits, the rest.
func Cbrt(x float64) float64 {
	const third = 0x2a9f7893 << 32 // two thirds of the exponent's bias, less what makes the error least
	switch {
	case x != x:
		return math.NaN()
	case x == 0 || math.IsInf(x, 0):
		return x
	}
	m, n := split(math.Abs(x))
	e := (n + 3000) / 3 // n+3000 > 0, so this rounds down
	m = shift(m, n+3000-3*e)

	t := math.Float64frombits(math.Float64bits(m)/3 + third)
	for range 2 {
		cube := float64(float64(t*t) * t)
		t = float64(t * ((cube + float64(2*m)) / (float64(2*cube) + m)))
	}
	square := product(t, t)
	cube := product(square.hi, t)
	rest := ((m - cube.hi) - cube.lo) - float64(square.lo*t)
	t += rest / float64(3*square.hi)
	return math.Copysign(shift(t, e-1000), x)
}

// shift returns x·2**n, rounded once, for n in [-2000, 2000].
func shift(x float64, n int) float64 {
	half := n / 2
	return float64(float64(x*power2(half)) * power2(n-half))
}

// shift returns w·2**n, rounded all but once even if it is subnormal, for w in
// [½, 2] and n in [-1074, 1024].
func (w wide) shift(n int) float64 {
	if shift(w.hi, n) >= 0x1p-1022 {
		return shift(w.hi+w.lo, n)
	}
	c := power2(-1022 - n) // a unit of its last place becomes the least float64
	s := addFast(c, w.hi)
	return shift((s.hi+(s.lo+w.lo))-c, n)
}
