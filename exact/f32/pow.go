package f32

import (
	"math"
	"math/bits"

	"github.com/murksim/murksim/exact"
)

// Pow returns the float32 nearest to x**y, at a tie the even one, with the special
// cases of [exact.Pow].
//
// Where a float32 is neither 0 nor infinite, the float64 of package exact is normal and
// off by less than 2**-52.9 of itself: the logarithm by 2**-66 of itself, its product
// with y, of size 105 at most, by 2**-59, and expSum adds less than seven errors of
// 2**-60 and a last rounding of 2**-53. If all numbers within 2**-51 of the float64
// round to the same float32, that is the result. Else the middle of two float32 lies
// among them, and x**y is compared with it.
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

// compare returns the sign of |x|**y - m, for a middle m of two float32 and float32 x and
// y such that |x|**y is within 2**-50 of m, and |x| is not 1.
//
// If they differ, the difference of the logarithms decides. It is off by less than
// 2**-150: the logarithms are by less than 2**-183, and y is below 2**31 where x is
// next to 1, and elsewhere below 2**9. No difference is that small but 0: of some
// 2**60 pairs of x and y, the least can be expected near 2**-86, and the project
// CORE-MATH, which searched for hard cases of powf, takes for exact what lies within
// 2**-91.
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

// isPower reports whether |x|**y is m, for a middle m of two float32 and |x| that is not 1.
//
// A power of two is such a middle only if it is 2**-150. Let |x| be a·2**e, a odd and not
// 1, and y be n·2**f, n odd. Then |x|**y has finitely many digits only if n > 0, and if
// a and 2**e are themselves powers of exponent 2**-f in case f < 0. What is odd in m
// is below 2**25, so that n is 15 at most, and so is y.
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
		root := uint64(min(math.Sqrt(float64(a)), 0x1p12))
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
