package f32

import (
	"math"
	"math/bits"

	"github.com/murksim/murksim/exact"
)

// Pow returns the float32 nearest to x**y, at a tie the even one, with the special
// cases of [exact.Pow].
//
// The float64 of package exact is off by less than 0.55 of its units here, which is less
// than 2**-52.8 of itself: what float32 needs of its range is normal. If all numbers within 2**-51 of
// it round to the same float32, that is the result. Else the middle of two float32
// lies among them, and x**y is compared with it.
func Pow(x, y float32) float32 {
	const doubt = 0x1p-51
	z := exact.Pow(float64(x), float64(y))
	inner, outer := float32(z*(1-doubt)), float32(z*(1+doubt))
	switch {
	case inner == outer:
		return inner
	case z != z:
		return nearest(z)
	}
	order := compare(float64(x), float64(y), between(inner, outer))
	if order < 0 || order == 0 && math.Float32bits(inner)&1 == 0 {
		return inner
	}
	return outer
}

// between returns the middle of the sizes of two float32 that follow each other, the
// second of which may be an infinity.
func between(inner, outer float32) float64 {
	a, b := math.Abs(float64(inner)), math.Abs(float64(outer))
	return (a + min(b, 0x1p128)) / 2
}

// compare returns the sign of |x|**y - m, for a middle m of two float32, and float32 x
// and y such that |x|**y is within 2**-50·m of m, and |x| is not 1.
//
// If they are not equal, the difference of the logarithms decides. It is known up to
// 2**-150: y is below 2**31 where x is next to 1, and below 2**9 elsewhere, and the
// logarithms are off by less than 2**-183. All hard cases were searched for in the project
// CORE-MATH, whose powf takes for exact only what lies within 2**-91 of a middle: none but
// the exact ones do.
func compare(x, y, m float64) int {
	if isPower(x, y, m) {
		return 0
	}
	xm, xe := parts(x)
	mm, me := parts(m)
	ym, ye := parts(y)
	a := logarithm(xm, xe).times(ym).shift(ye)
	if y < 0 {
		a = fixed{}.minus(a)
	}
	if a.minus(logarithm(mm, me)).negative() {
		return -1
	}
	return 1
}

// parts returns the odd n and the e with |x| = n·2**e, for normal x.
func parts(x float64) (n uint64, e int) {
	b := math.Float64bits(x)
	n = b&(1<<52-1) | 1<<52
	zeros := bits.TrailingZeros64(n)
	return n >> zeros, int(b>>52&0x7ff) - 1075 + zeros
}

// isPower reports whether |x|**y is m, for a middle m of two float32.
//
// A power of two is the middle of two float32 only if it is 2**-150. Let a be odd and
// greater than 1. Then (a·2**e)**(n·2**f), n odd, is irrational, or a fraction, unless n > 0, and a
// and 2**e are themselves powers with the exponent 2**-f if f < 0. Its odd part must be
// below 2**25, so that what remains of the exponent is at most 15.
func isPower(x, y, m float64) bool {
	a, e := parts(x)
	if a == 1 {
		return float64(float64(e)*y) == -150 && m == 0x1p-150
	}
	if !(y > 0 && y <= 15) {
		return false
	}
	n, f := parts(y)
	for ; f < 0; f++ {
		root := uint64(math.Sqrt(float64(a)))
		if root*root != a || e&1 != 0 {
			return false
		}
		a, e = root, e/2
	}
	n <<= f
	power := uint64(1)
	for range n {
		if power *= a; power >= 1<<25 {
			return false
		}
	}
	odd, exponent := parts(m)
	return power == odd && e*int(n) == exponent
}
