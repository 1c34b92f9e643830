package fixed

import "math/bits"

// Sqrt returns the root of x rounded toward zero; ErrDomain below zero.
func (x Fixed) Sqrt() (Fixed, error) {
	if x < 0 {
		return fault(ErrDomain, "sqrt", x)
	}
	return Fixed(root(uint64(x)>>(64-fractionBits), uint64(x)<<fractionBits)), nil
}

// Hypot is √(x² + y²) rounded toward zero, without an error on the way.
func (x Fixed) Hypot(y Fixed) (Fixed, error) {
	a, b := magnitude(x), magnitude(y)
	h1, l1 := bits.Mul64(a, a)
	h2, l2 := bits.Mul64(b, b)
	lo, c := bits.Add64(l1, l2, 0)
	hi, _ := bits.Add64(h1, h2, c) // at most 2^127
	z, ok := signed(root(hi, lo), false)
	if !ok {
		return fault(ErrOverflow, "hypot", x, y)
	}
	return z, nil
}

// root returns the floor of the root of hi·2^64 + lo.
//
// The number is shifted up to 127 or 128 bits. Each step of Heron's method doubles the
// bits that are right: 1, 3, 7, 15, 31, 63 after the point of what was known, with no
// more of the number than it needs (Mark Dickinson's analysis of CPython's isqrt).
// The last estimate is the root's floor or one above.
func root(hi, lo uint64) uint64 {
	if hi|lo == 0 {
		return 0
	}
	shift := uint(bits.LeadingZeros64(hi))
	if hi == 0 {
		shift = 64 + uint(bits.LeadingZeros64(lo))
	}
	shift &^= 1
	hi, lo = hi<<shift|lo>>(64-shift)|lo<<(shift-64), lo<<shift // shifts by 64 and more give zero
	a := 1 + hi>>62
	a = a<<1 + (hi>>59)/a
	a = a<<3 + (hi>>53)/a
	a = a<<7 + (hi>>41)/a
	a = a<<15 + (hi>>17)/a
	q, _ := bits.Div64(hi>>33, hi<<31|lo>>33, a)
	a = a<<31 + q
	if h, l := bits.Mul64(a, a); a == 0 || h > hi || h == hi && l > lo { // 0 stands for 2^64
		a--
	}
	return a >> (shift / 2)
}
