package exact

import "math"

// Tan returns the tangent of x radians: NaN for an infinity, x itself for a zero.
// Reduction is as for [Sin]; no float64 lies on a pole.
func Tan(x float64) float64 {
	switch {
	case x != x || math.IsInf(x, 0):
		return math.NaN()
	case math.Abs(x) < 0x1p-27:
		return x // x³/3 is below half a unit
	}
	quadrant, r, tail := reduce(math.Abs(x))
	square := product(r, r)
	square.lo += float64(float64(2*r) * tail)
	s, c := sinWide(r, tail, square), cosWide(square)
	if quadrant&1 == 1 {
		s, c = c, wide{-s.hi, -s.lo}
	}
	return float64(math.Copysign(1, x) * quotient(s, c))
}

// sinWide returns the sine of r+tail, of the given square, for |r| ≤ π/4: Taylor's
// series, its first two terms with 106 bits.
func sinWide(r, tail float64, square wide) wide {
	const third, rest = 1.0 / 6, 0x1.5555555555555p-57 // 1/6 = third + rest
	z := square.hi
	p := 1.0/1307674368000 - float64(z*(1.0/355687428096000))
	p = 1.0/6227020800 - float64(z*p)
	p = 1.0/39916800 - float64(z*p)
	p = 1.0/362880 - float64(z*p)
	p = 1.0/5040 - float64(z*p)
	p = 1.0/120 - float64(z*p)
	q := product(z, third)
	q.lo += float64(square.lo*third) + float64(z*(rest-float64(z*p))) // 1 - sin(r)/r
	u := product(r, q.hi)
	u.lo += float64(r*q.lo) + float64(tail*q.hi)
	s := addFast(r, -u.hi)
	return addFast(s.hi, s.lo+(tail-u.lo))
}

// cosWide returns the cosine of a number with the given square, of at most (π/4)²:
// Taylor's series, its first two terms with 106 bits.
func cosWide(square wide) wide {
	z := square.hi
	p := 1.0/20922789888000 - float64(z*(1.0/6402373705728000))
	p = 1.0/87178291200 - float64(z*p)
	p = 1.0/479001600 - float64(z*p)
	p = 1.0/3628800 - float64(z*p)
	p = 1.0/40320 - float64(z*p)
	p = 1.0/720 - float64(z*p)
	p = 1.0/24 - float64(z*p)
	c := addFast(1, -float64(0.5*z))
	return addFast(c.hi, c.lo+(float64(float64(z*z)*p)-float64(0.5*square.lo)))
}

// quotient returns a/b, rounded all but once.
func quotient(a, b wide) float64 {
	q := a.hi / b.hi
	p := product(q, b.hi)
	rest := ((a.hi - p.hi) - p.lo) + (a.lo - float64(q*b.lo))
	return q + rest/b.hi
}
