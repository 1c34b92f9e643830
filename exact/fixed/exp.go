package fixed

import "math/bits"

// Exp is e**x: ErrOverflow above 32.577…, 0 below -11.783…
func (x Fixed) Exp() (Fixed, error) {
	n, f, ok := scaled(magnitude(x), 1, log2eMinus1)
	m, fits := power(n, f, x < 0)
	if z, held := signed(m, false); ok && fits && held {
		return z, nil
	}
	if x < 0 {
		return 0, nil
	}
	return fault(ErrOverflow, "exp", x)
}

// Log returns the natural logarithm of x; ErrDomain unless x is above zero.
func (x Fixed) Log() (Fixed, error) {
	if x <= 0 {
		return fault(ErrDomain, "log", x)
	}
	const ln2 = 0xb17217f7d1cf7a // units of 2^-56
	k, f := log2(uint64(x))
	h, _ := bits.Mul64(f.hi, ln2<<8)
	sum := k*ln2 + int64(h>>8)
	return Fixed((sum + 1<<39) >> 40), nil
}

// Pow is x**y, 1 if y is zero. ErrDomain for a negative x whose y is not a whole
// number; ErrDivideByZero for 0 to a negative power.
func (x Fixed) Pow(y Fixed) (Fixed, error) {
	switch {
	case y == 0:
		return One, nil
	case x == 0 && y < 0:
		return fault(ErrDivideByZero, "pow", x, y)
	case x == 0:
		return 0, nil
	case x < 0 && y&fraction != 0:
		return fault(ErrDomain, "pow", x, y)
	}
	k, f := log2(magnitude(x))
	small := k < 0 // |x| < 1
	if small {
		k, f = whole(k, f)
	}
	small = small != (y < 0)
	n, f, ok := scaled(magnitude(y), uint64(k), f)
	m, fits := power(n, f, small)
	if z, held := signed(m, x < 0 && y&One != 0); ok && fits && held {
		return z, nil
	}
	if small {
		return 0, nil
	}
	return fault(ErrOverflow, "pow", x, y)
}

// whole turns the negative number k + f around: the whole part and the fraction of -(k + f).
func whole(k int64, f wide) (int64, wide) {
	if f == (wide{}) {
		return -k, f
	}
	return -k - 1, wide{}.minus(f)
}

// scaled returns the whole part and the fraction of u/65536·(k + f), or not ok when they
// are far too large.
func scaled(u, k uint64, f wide) (n uint64, part wide, ok bool) {
	p1, p0 := bits.Mul64(u, f.lo)
	p2, l := bits.Mul64(u, f.hi)
	p1, c := bits.Add64(p1, l, 0)
	p2 += c
	h, l := bits.Mul64(u, k)
	p2, c = bits.Add64(p2, l, 0)
	const up, down = 64 - fractionBits, fractionBits
	return p2 >> down, wide{p2<<up | p1>>down, p1<<up | p0>>down}, h+c == 0
}

// power is 65536·2^(n+f), or 65536/2^(n+f) if it is down, to nearest; or not ok when it is
// above 2^63, or below any unit.
func power(n uint64, f wide, down bool) (m uint64, ok bool) {
	if n > 64 {
		return 0, false
	}
	e := int64(n)
	if down {
		e, f = -e, wide{}.minus(f)
		if f != (wide{}) {
			e--
		}
	}
	e += fractionBits
	switch {
	case e > 63 || e < -1:
		return 0, false
	case e == -1:
		return 1, true
	}
	r := exp2(f).nearest(uint(e))
	return 1<<e + r, e < 63 || r == 0
}

// exp2 is 2^f - 1, off by less than 2^-110:
//
//	f = j/32 + r,  z = r·ln 2,  2^f = 2^(j/32)·(1 + z + z²·(1/2! + z·(1/3! + …)))
func exp2(f wide) wide {
	j := f.hi >> 59
	z := wide{f.hi & (1<<59 - 1), f.lo}.times(ln2)
	const terms = 15
	p := inverseFactorials[terms]
	for n := terms - 1; n >= 2; n-- {
		p = inverseFactorials[n].plus(z.times(p))
	}
	p = z.plus(z.times(z.times(p)))
	t := powers[j]
	return t.plus(p).plus(t.times(p))
}

// log2 returns the logarithm to base 2 of x/65536 as k + f, for x > 0; f is off by less
// than 2^-110:
//
//	x/65536 = 2^k·m,  c = 1 + j/32 ≤ m,  m/c = 1 + z
//	ln(1 + z) = z - z²·(1/2 - z·(1/3 - …))
func log2(x uint64) (k int64, f wide) {
	zeros := uint(bits.LeadingZeros64(x))
	k = 63 - fractionBits - int64(zeros)
	m := x << zeros << 1 // m - 1 in units of 2^-64
	j := m >> 59
	z := wide{m & (1<<59 - 1) << 5, 0}.over(32 + j)
	const terms = 22
	p := reciprocals[terms]
	for n := terms - 1; n >= 2; n-- {
		p = reciprocals[n].minus(z.times(p))
	}
	p = z.minus(z.times(z.times(p)))
	return k, logarithms[j].plus(p).plus(p.times(log2eMinus1))
}

var (
	ln2         = wide{0xb17217f7d1cf79ab, 0xc9e3b39803f2f6af}
	log2eMinus1 = wide{0x71547652b82fe177, 0x7d0ffda0d23a7d12} // 1/ln 2 - 1
)

// reciprocals[n] is 1/n and inverseFactorials[n] is 1/n!, rounded down, from n = 2 on.
var reciprocals, inverseFactorials = func() (r [23]wide, f [16]wide) {
	half := wide{1 << 63, 0}
	r[2], f[2] = half, half
	for n := 3; n < len(r); n++ {
		r[n] = wide{1<<64 - 1, 1<<64 - 1}.over(uint64(n)) // 2^128 - 1 has the same quotient, except for powers of two
		if n&(n-1) == 0 {
			r[n] = half.over(uint64(n / 2))
		}
	}
	for n := 3; n < len(f); n++ {
		f[n] = f[n-1].over(uint64(n))
	}
	return r, f
}()
