package fixed

import "math/bits"

// Sin returns the sine of x radians. The argument is reduced with as many bits of π as it takes.
func (x Fixed) Sin() Fixed {
	q, f := reduce(magnitude(x))
	s := quarter(q, f.hi)
	if x < 0 {
		return -s
	}
	return s
}

// Cos returns the cosine of x radians.
func (x Fixed) Cos() Fixed {
	q, f := reduce(magnitude(x))
	return quarter(q+1, f.hi)
}

// quarter returns the sine of (q + f/2^64) quarter turns.
func quarter(q uint, f uint64) Fixed {
	if q&1 == 1 {
		f = ^f // the cosine; one unit less than 2^64 - f
	}
	s := Fixed((sine(f) + 1<<46) >> 47)
	if q&2 == 2 {
		return -s
	}
	return s
}

// Tan returns the tangent of x radians, or ErrOverflow too near to a pole.
func (x Fixed) Tan() (Fixed, error) {
	q, gap := reduce(magnitude(x))
	negative := x < 0
	if q&1 == 1 {
		negative = !negative
	} else if gap != (wide{}) {
		gap = wide{}.minus(gap) // to the next quarter turn
	} else {
		return 0, nil
	}
	// The tangent is the cotangent of the gap, in quarter turns.
	m, ok := uint64(0), true
	if gap.hi < 1<<57 {
		m, ok = pole(gap)
	} else {
		s, c := sine(gap.hi), sine(^gap.hi)
		m, _ = bits.Div64(c>>47, c<<17, s)
		m = (m + 1) >> 1
	}
	if z, fits := signed(m, negative); ok && fits {
		return z, nil
	}
	return fault(ErrOverflow, "tan", x)
}

// pole is 65536 times the cotangent of a gap below 2^-7 quarter turns, to nearest:
//
//	cot d = 1/d - d/3 - d³/45 - …
func pole(gap wide) (m uint64, ok bool) {
	shift := uint(bits.LeadingZeros64(gap.hi))
	if shift > 47 || gap == (wide{}) {
		return 0, false
	}
	d := wide{gap.hi<<shift | gap.lo>>(64-shift), gap.lo << shift}
	s := shift + fractionBits
	whole, part := divide(twoOverPi[0]>>(64-s), twoOverPi[0]<<s|twoOverPi[1]>>(64-s), twoOverPi[1]<<s, d)

	const third, fortyFifth = 1 << 64 / 3, 1 << 64 / 45
	angle, _ := bits.Mul64(gap.hi<<1, halfPi)
	square, _ := bits.Mul64(angle, angle)
	c, _ := bits.Mul64(square, fortyFifth)
	c, _ = bits.Mul64(angle, third+c)
	n := wide{whole, part}.minus(wide{c >> (64 - fractionBits), c << fractionBits})
	n = n.plus(wide{0, 1 << 63}) // to nearest
	return n.hi, whole <= uint64(Max)
}

// reduce divides an angle by a quarter turn: the quotient modulo 4 and the fraction,
// good to all its bits but the last.
func reduce(x uint64) (quadrant uint, f wide) {
	p1, _ := bits.Mul64(x, twoOverPi[2])
	h, l := bits.Mul64(x, twoOverPi[1])
	p1, c := bits.Add64(p1, l, 0)
	p2 := h + c
	h, l = bits.Mul64(x, twoOverPi[0])
	p2, c = bits.Add64(p2, l, 0)
	p3 := h + c
	// p3·2^192 + p2·2^128 + p1·2^64 + … counts units of 2^-208.
	const up, down = 64 - fractionBits, fractionBits
	return uint(p3>>down) & 3, wide{p3<<up | p2>>down, p2<<up | p1>>down}
}

// sine is sin(π/2 · f/2^64)·2^63, off by less than 2^-43 of one: Taylor's series.
func sine(f uint64) uint64 {
	square, _ := bits.Mul64(f, f)
	p := uint64(0)
	for k := len(sineSeries) - 1; k >= 0; k-- {
		h, _ := bits.Mul64(square, p)
		p = sineSeries[k] - h
	}
	p, _ = bits.Mul64(f, p)
	return p
}

// Atan2 returns the angle of the point (x, y) from the x axis, in radians from -π to π,
// as [math.Atan2] has it; 0 for the origin. The receiver is y.
func (y Fixed) Atan2(x Fixed) Fixed {
	a, b := magnitude(x), magnitude(y)
	if a|b == 0 {
		return 0
	}
	angle := arctangent(min(a, b), max(a, b)) // units of 2^-62
	if b > a {
		angle = halfPi>>1 - angle // π/2
	}
	if x < 0 {
		angle = halfPi - angle // π
	}
	z := Fixed((angle + 1<<45) >> 46)
	if y < 0 {
		return -z
	}
	return z
}

// arctangent is 2^62 times the arctangent of n/d, for 0 ≤ n ≤ d, d > 0:
//
//	atan t = atan c + atan u,  u = (t - c)/(1 + t·c),  c the nearest eighth
//	atan u = u - u³/3 + u⁵/5 - u⁷/7 + u⁹/9 - …
func arctangent(n, d uint64) uint64 {
	t, _ := bits.Div64(n>>1, n<<63, d) // units of 2^-63
	j := (t + 1<<59) >> 60
	c := j << 60
	below := t < c
	num := t - c
	if below {
		num = c - t
	}
	tc, _ := bits.Mul64(t, c)                     // units of 2^-62
	u, _ := bits.Div64(num>>1, num<<63, 1<<62+tc) // (num·2^-63)/(den·2^-62) in units of 2^-64
	square, _ := bits.Mul64(u, u)
	p := uint64(0)
	for k := uint64(9); k >= 3; k -= 2 {
		h, _ := bits.Mul64(square, p)
		p = 1<<63/k*2 - h
	}
	p, _ = bits.Mul64(square, p)
	h, _ := bits.Mul64(u, p)
	u = (u - h) >> 2
	if below {
		return eighths[j] - u
	}
	return eighths[j] + u
}

// halfPi is π/2 in units of 2^-63.
const halfPi = 0xc90fdaa22168c235

// twoOverPi is 2/π in units of 2^-192.
var twoOverPi = [...]uint64{0xa2f9836e4e441529, 0xfc2757d1f534ddc0, 0xdb6295993c439041}

// sineSeries[k] is (π/2)^(2k+1)/(2k+1)! in units of 2^-63.
var sineSeries = [...]uint64{
	0xc90fdaa22168c235, 0x52aef39896f94afb, 0x0a335e33bad570e9, 0x009969667315ec2e, 0x000541e0d21fb9e0,
	0x00001e3074fde887, 0x0000007a3d0d3406, 0x000000016fadb9f1, 0x000000000355d865, 0x0000000000062901,
}

// eighths[j] is the arctangent of j/8 in units of 2^-62.
var eighths = [...]uint64{
	0x0000000000000000, 0x07f56ea6ab0bdb72, 0x0fadbafc96406eb1, 0x16f61941e4def08e, 0x1dac670561bb4f69,
	0x23c01757bdfd67e7, 0x292f1f464d3dc249, 0x2e014f8af08c679d, 0x3243f6a8885a308d,
}
