package exact

import "math"

// Tanh returns the hyperbolic tangent of x: x itself for a zero, ±1 for an infinity.
//
//	2|x| = (32·n + j)·ln 2/32 + r,  |r| ≤ ln 2/64,  t = 2**n · 2**(j/32)
//	e = e**2|x| - 1 = (t - 1) + t·(e**r - 1)
//	tanh |x| = e/(e + 2)
//
// e and the quotient are sums of two floats; only the series of e**r - 1 from r² on has 53 bits.
func Tanh(x float64) float64 {
	a := math.Abs(x)
	switch {
	case x != x:
		return math.NaN()
	case a < 0x1p-27:
		return x // x³/3 is below half a unit
	case a > 20:
		return math.Copysign(1, x) // 2/(e**2a + 1) is below half a unit
	}
	e := expLess1(2 * a)
	d := add(e.hi, 2)
	d.lo += e.lo
	q := e.hi / d.hi
	p := product(q, d.hi)
	rest := ((e.hi - p.hi) - p.lo) + (e.lo - float64(q*d.lo))
	return math.Copysign(q+rest/d.hi, x)
}

// expLess1 returns e**x - 1 for x from 2**-26 to 40.
func expLess1(x float64) wide {
	k := int(float64(min(x, 40)*stepsPerUnit) + 0.5)
	n, j := k>>5, k&(expSteps-1)
	r := add(x-float64(float64(k)*stepHi), -float64(float64(k)*stepLo))

	z := r.hi
	p := 1.0/720 + float64(z*(1.0/5040))
	p = 1.0/120 + float64(z*p)
	p = 1.0/24 + float64(z*p)
	p = 1.0/6 + float64(z*p)
	p = 1.0/2 + float64(z*p)
	m := addFast(z, r.lo+float64(float64(z*z)*p)) // e**r - 1

	hi, lo := float64(powers[j].hi*power2(n)), float64(powers[j].lo*power2(n))
	s := add(hi, -1)
	t := product(hi, m.hi)
	sum := add(s.hi, t.hi)
	return addFast(sum.hi, sum.lo+(s.lo+(lo+(t.lo+(float64(hi*m.lo)+float64(lo*m.hi))))))
}
