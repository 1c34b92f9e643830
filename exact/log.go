package exact

import "math"

// Log returns the natural logarithm of x: -Inf for either zero, NaN below zero.
//
//	x = 2**k · (1+f),  √½ ≤ 1+f < √2,  s = f/(2+f)
//	log(1+f) = log(1+s) - log(1-s) = f - f²/2 + s·(f²/2 + R(s²))
//
// with the polynomial R of FreeBSD's msun, e_log.c (Sun Microsystems, 1993).
func Log(x float64) float64 {
	const (
		ln2Hi = 6.93147180369123816490e-01 // ends in zeros: exact times any k
		ln2Lo = 1.90821492927058770002e-10
		l1    = 6.666666666666735130e-01
		l2    = 3.999999999940941908e-01
		l3    = 2.857142874366239149e-01
		l4    = 2.222219843214978396e-01
		l5    = 1.818357216161805012e-01
		l6    = 1.531383769920937332e-01
		l7    = 1.479819860511658591e-01
	)
	switch {
	case x != x || x < 0:
		return math.NaN()
	case x == 0:
		return math.Inf(-1)
	case x > math.MaxFloat64:
		return x
	}
	m, k := split(x)
	f := m - 1
	s := f / (2 + f)
	z := float64(s * s)
	w := float64(z * z)
	odd := float64(z * (l1 + float64(w*(l3+float64(w*(l5+float64(w*l7)))))))
	even := float64(w * (l2 + float64(w*(l4+float64(w*l6)))))
	r := odd + even
	half := float64(float64(0.5*f) * f)
	e := float64(k)
	return float64(e*ln2Hi) - ((half - (float64(s*(half+r)) + float64(e*ln2Lo))) - f)
}

// split returns m in [√½, √2) and k with x = m·2**k, for finite x > 0.
func split(x float64) (m float64, k int) {
	const mantissa, sqrt2 = 1<<52 - 1, 0x1.6a09e667f3bcdp+0
	if x < 0x1p-1022 { // subnormal
		x *= 0x1p54
		k = -54
	}
	b := math.Float64bits(x)
	k += int(b>>52) - 1023
	m = math.Float64frombits(b&mantissa | 1023<<52)
	if m >= sqrt2 {
		m /= 2
		k++
	}
	return m, k
}
