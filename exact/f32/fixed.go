package f32

import "math/bits"

// A fixed is a number with 64 bits before the point and 192 after it, a two's complement,
// the highest bits first.
type fixed [4]uint64

// logTwo is ln 2, cut.
var logTwo = fixed{0, 0xb17217f7d1cf79ab, 0xc9e3b39803f2f6af, 0x40f343267298b62d}

func (a fixed) negative() bool { return a[0]>>63 == 1 }

func (a fixed) plus(b fixed) fixed {
	carry := uint64(0)
	for i := 3; i >= 0; i-- {
		a[i], carry = bits.Add64(a[i], b[i], carry)
	}
	return a
}

func (a fixed) minus(b fixed) fixed {
	borrow := uint64(0)
	for i := 3; i >= 0; i-- {
		a[i], borrow = bits.Sub64(a[i], b[i], borrow)
	}
	return a
}

// times returns a·n for a size of a·n below 2**63.
func (a fixed) times(n uint64) fixed {
	above := uint64(0)
	for i := 3; i >= 0; i-- {
		hi, lo := bits.Mul64(a[i], n)
		carry := uint64(0)
		a[i], carry = bits.Add64(lo, above, 0)
		above = hi + carry
	}
	return a
}

// over returns a/n for a ≥ 0, cut.
func (a fixed) over(n uint64) fixed {
	rest := uint64(0)
	for i := range a {
		a[i], rest = bits.Div64(rest, a[i], n)
	}
	return a
}

// shift returns a·2**n, cut, for n from -63 to 63 and a size of a·2**n below 2**63.
func (a fixed) shift(n int) fixed {
	if n >= 0 {
		return a.times(1 << n)
	}
	sign := -(a[0] >> 63) // all ones below zero
	for i := 3; i > 0; i-- {
		a[i] = a[i]>>-n | a[i-1]<<(64+n)
	}
	a[0] = a[0]>>-n | sign<<(64+n)
	return a
}

// product returns a·b, cut, for a and b in [0, 1).
func product(a, b fixed) fixed {
	var r [6]uint64
	for i := 2; i >= 0; i-- {
		above := uint64(0)
		for j := 2; j >= 0; j-- {
			hi, lo := bits.Mul64(a[1+i], b[1+j])
			var c, d uint64
			lo, c = bits.Add64(lo, r[i+j+1], 0)
			r[i+j+1], d = bits.Add64(lo, above, 0)
			above = hi + c + d
		}
		r[i] = above
	}
	return fixed{0, r[0], r[1], r[2]}
}

// logarithm returns the natural logarithm of n·2**e, for n from 1 to 2**25 and |e| < 200:
//
//	m = n·2**k in (0.7, 1.42),  s = (m-1)/(m+1),  |s| < 0.1716
//	log = (e-k)·ln 2 + 2·(s + s³/3 + s⁵/5 + …)
//
// The series ends below 2**-192, after 38 terms at most. Each term lacks less than
// 2**-191, and so the double of their sum less than 2**-184. The multiple of ln 2, if
// there is one, is off by less than 2**-184, too.
func logarithm(n uint64, e int) fixed {
	const sqrt2 = 47453132 // 2**25·√2
	k := bits.LeadingZeros64(n) - 38
	n, e = n<<k, e-k+25 // n in [2**25, 2**26)
	one := uint64(1 << 25)
	if n > sqrt2 {
		one, e = 2*one, e+1
	}
	s := fixed{max(n, one) - min(n, one)}.over(n + one)
	square, sum := product(s, s), s
	power := product(s, square)
	for i := uint64(3); power != (fixed{}); i += 2 {
		sum = sum.plus(power.over(i))
		power = product(power, square)
	}
	sum = sum.plus(sum)
	if n < one {
		sum = fixed{}.minus(sum)
	}
	turns := logTwo.times(uint64(max(e, -e)))
	if e < 0 {
		return sum.minus(turns)
	}
	return sum.plus(turns)
}
