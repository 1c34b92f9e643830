package exact

import (
	"math"
	"math/bits"
)

// Sin returns the sine of x radians: NaN for an infinity, x itself for a zero.
// The argument is reduced with as many bits of π as it takes, however large it is.
func Sin(x float64) float64 {
	switch {
	case x != x || math.IsInf(x, 0):
		return math.NaN()
	case math.Abs(x) < 0x1p-27:
		return x // x³/6 is far below half a unit
	}
	quadrant, r, tail := reduce(math.Abs(x))
	if x < 0 {
		quadrant += 2 // half a turn on: the other sign
	}
	return sinQuadrant(quadrant, r, tail)
}

// Cos returns the cosine of x radians: NaN for an infinity. Reduction is as for [Sin].
func Cos(x float64) float64 {
	if x != x || math.IsInf(x, 0) {
		return math.NaN()
	}
	quadrant, r, tail := reduce(math.Abs(x))
	return sinQuadrant(quadrant+1, r, tail)
}

// sinQuadrant returns the sine of quadrant·π/2 + r + tail.
func sinQuadrant(quadrant uint, r, tail float64) float64 {
	switch quadrant & 3 {
	case 0:
		return sinKernel(r, tail)
	case 1:
		return cosKernel(r, tail)
	case 2:
		return -sinKernel(r, tail)
	}
	return -cosKernel(r, tail)
}

// sinKernel returns the sine of x+tail for |x| ≤ π/4: FreeBSD's msun, k_sin.c.
func sinKernel(x, tail float64) float64 {
	const (
		s1 = -1.66666666666666324348e-01
		s2 = 8.33333333332248946124e-03
		s3 = -1.98412698298579493134e-04
		s4 = 2.75573137070700676789e-06
		s5 = -2.50507602534068634195e-08
		s6 = 1.58969099521155010221e-10
	)
	z := float64(x * x)
	w := float64(z * z)
	r := s2 + float64(z*(s3+float64(z*s4))) + float64(float64(z*w)*(s5+float64(z*s6)))
	v := float64(z * x)
	return x - ((float64(z*(float64(0.5*tail)-float64(v*r))) - tail) - float64(v*s1))
}

// cosKernel returns the cosine of x+tail for |x| ≤ π/4: FreeBSD's msun, k_cos.c.
func cosKernel(x, tail float64) float64 {
	const (
		c1 = 4.16666666666666019037e-02
		c2 = -1.38888888888741095749e-03
		c3 = 2.48015872894767294178e-05
		c4 = -2.75573143513906633035e-07
		c5 = 2.08757232129817482790e-09
		c6 = -1.13596475577881948265e-11
	)
	z := float64(x * x)
	w := float64(z * z)
	r := float64(z*(c1+float64(z*(c2+float64(z*c3))))) + float64(float64(w*w)*(c4+float64(z*(c5+float64(z*c6)))))
	half := float64(0.5 * z)
	top := 1 - half
	return top + (((1 - top) - half) + (float64(z*r) - float64(x*tail)))
}

// reduce returns the multiple of π/2 nearest to x (the multiple modulo 4) and the
// rest as a sum, |r + tail| ≤ π/4, for finite x ≥ 0.
//
// After M. Payne and R. Hanek, Radian Reduction for Trigonometric Functions, ACM
// SIGNUM 18 (1983), in whole numbers throughout. With x = m·2**e the bits of 2/π
// above 2**(2-e) only add multiples of four, so the next 192 give x·2/π mod 4.
// No float64 comes closer to a multiple of π/2 than 2**-61 of it, and 126 bits of
// the fraction are good to a few units, so at least 62 bits are left.
func reduce(x float64) (quadrant uint, r, tail float64) {
	if x <= math.Pi/4 {
		return 0, x, 0
	}
	b := math.Float64bits(x)
	m := b&(1<<52-1) | 1<<52
	start := uint(b>>52) - 1023 - 52 + 62 // first bit of the window in twoOverPi
	word, shift := start/64, start%64
	var window [3]uint64
	for i := range window {
		// A shift by 64 gives zero.
		window[i] = twoOverPi[word+uint(i)]<<shift | twoOverPi[word+uint(i)+1]>>(64-shift)
	}
	// m·window mod 2**192, without its lowest word: two bits of quadrant, then the fraction.
	carry, _ := bits.Mul64(m, window[2])
	hi1, lo1 := bits.Mul64(m, window[1])
	lo, c := bits.Add64(lo1, carry, 0)
	hi, _ := bits.Add64(m*window[0], hi1, c)

	quadrant = uint((hi + 1<<61) >> 62) // to nearest; a fraction of a half or more turns negative
	hi, lo = hi<<2|lo>>62, lo<<2
	negative := hi>>63 == 1
	if negative {
		lo, c = bits.Sub64(0, lo, 0)
		hi, _ = bits.Sub64(0, hi, c)
	}
	if r, tail = timesHalfPi(hi, lo); negative {
		return quadrant, -r, -tail
	}
	return quadrant, r, tail
}

// timesHalfPi returns π/2 · (hi·2**64 + lo)/2**128 as a sum of two, for hi > 0.
func timesHalfPi(hi, lo uint64) (r, tail float64) {
	const pi0, pi1 = 0xc90fdaa22168c234, 0xc4c6628b80dc1cd1 // π/4 · 2**128
	n := bits.LeadingZeros64(hi)
	hi, lo = hi<<n|lo>>(64-n), lo<<n

	p1, p0 := bits.Mul64(hi, pi0)
	a1, _ := bits.Mul64(hi, pi1)
	b1, _ := bits.Mul64(lo, pi0)
	p0, c := bits.Add64(p0, a1, 0)
	p1 += c
	p0, c = bits.Add64(p0, b1, 0)
	p1 += c // the product is (p1·2**64 + p0)·2**(-127-n)

	head := float64(float64(p1>>11) * power2(-52-n))
	rest := float64(float64(p1<<53|p0>>11) * power2(-116-n))
	r = head + rest
	return r, rest - (r - head)
}

// twoOverPi is 2/π after 64 zero bits.
var twoOverPi = [...]uint64{
	0,
	0xa2f9836e4e441529, 0xfc2757d1f534ddc0, 0xdb6295993c439041, 0xfe5163abdebbc561,
	0xb7246e3a424dd2e0, 0x06492eea09d1921c, 0xfe1deb1cb129a73e, 0xe88235f52ebb4484,
	0xe99c7026b45f7e41, 0x3991d639835339f4, 0x9c845f8bbdf9283b, 0x1ff897ffde05980f,
	0xef2f118b5a0a6d1f, 0x6d367ecf27cb09b7, 0x4f463f669e5fea2d, 0x7527bac7ebe5f17b,
	0x3d0739f78a5292ea, 0x6bfb5fb11f8d5d08, 0x56033046fc7b6bab,
}
