package reference

import (
	"math"
	"math/big"
	"math/bits"
)

var (
	ln2Pair    = toPair(ln2)
	halfPiPair = toPair(halfPi)

	// ln2Cut and ln2Rest are ln 2: 40 bits, exact times any exponent, and a pair.
	ln2Cut  = math.Float64frombits(math.Float64bits(math.Ln2) &^ (1<<13 - 1))
	ln2Rest = toPair(newFloat().Sub(ln2, newFloat().SetFloat64(ln2Cut)))

	// inverseFactorial[n] is 1/n!.
	inverseFactorial = func() (list [32]pair) {
		f := newFloat().SetInt64(1)
		for n := range list {
			if n > 0 {
				f.Quo(f, newFloat().SetInt64(int64(n)))
			}
			list[n] = toPair(f)
		}
		return list
	}()
)

// expPair returns e**x for |x| < 5000: Taylor's series of e**r - 1 for |r| < 2**-7, and
// six times (1+a)² - 1 = a·(2+a).
func expPair(x pair) Sum {
	const squarings = 6
	k := math.RoundToEven(x.hi / math.Ln2)
	r := addFloats(x.hi, -k*ln2Cut).add(pair{x.lo, 0}).sub(ln2Rest.mul(pair{k, 0})).scaled(-squarings)
	sum := inverseFactorial[13]
	for n := 12; n >= 1; n-- {
		sum = sum.mul(r).add(inverseFactorial[n])
	}
	sum = sum.mul(r)
	for range squarings {
		sum = sum.mul(sum.add(pair{2, 0}))
	}
	return sum.add(pair{1, 0}).times2(int(k))
}

func quickExp(x float64) Sum { return expPair(pair{min(max(x, -4000), 4000), 0}) }

// logPair returns log x: next to 1 the series of 2·artanh((x-1)/(x+1)), else
// Newton's step y + log(x·e**-y) from an approximation y.
func logPair(x float64) pair {
	m, k := math.Frexp(x)
	if m < math.Sqrt2/2 {
		m, k = 2*m, k-1
	}
	multiple := ln2Pair.mul(pair{float64(k), 0})
	if math.Abs(m-1) > 1.0/16 {
		y := math.Log(m)
		e := expPair(pair{-y, 0})
		t := pair{e.Hi, e.Lo}.scaled(e.Exp).mul(pair{m, 0}).sub(pair{1, 0})
		t = t.sub(pair{t.hi * t.hi / 2, 0})
		return multiple.add(pair{y, 0}.add(t))
	}
	s := pair{m - 1, 0}.div(addFloats(m, 1))
	square := s.mul(s)
	sum := pair{1, 0}.div(pair{23, 0})
	for n := 21; n >= 1; n -= 2 {
		sum = sum.mul(square).add(pair{1, 0}.div(pair{float64(n), 0}))
	}
	return multiple.add(sum.mul(s).scaled(1))
}

func quickLog(x float64) Sum { return logPair(x).times2(0) }

// twoOverPi holds the bits of 2/π after 128 zero bits.
var twoOverPi = func() (words [24]uint64) {
	b := new(big.Float).SetPrec(piBits).Quo(big.NewFloat(1), halfPi)
	i, _ := b.SetMantExp(b, 64*(len(words)-2)).Int(nil)
	for n := range words {
		words[len(words)-1-n] = new(big.Int).Rsh(i, uint(64*n)).Uint64()
	}
	return words
}()

// turn returns the multiple of π/2 nearest to x ≥ 0, modulo 4, and the rest: from
// the 256 bits of 2/π that count, of which x takes 53 at most.
func turn(x float64) (quadrant int, rest pair) {
	if x < math.Pi/4 {
		return 0, pair{x, 0}
	}
	b := math.Float64bits(x)
	m := b&(1<<52-1) | 1<<52
	first := int(b>>52) - 1023 - 52 - 2 + 128 // in twoOverPi, of two bits of the quadrant
	var w [4]uint64
	carry := uint64(0)
	for n := 3; n >= 0; n-- {
		at, shift := first/64+n, first%64
		hi, lo := bits.Mul64(m, twoOverPi[at]<<shift|twoOverPi[at+1]>>(64-shift))
		c := uint64(0)
		w[n], c = bits.Add64(lo, carry, 0)
		carry = hi + c
	}
	quadrant = int((w[0] + 1<<61) >> 62)
	negative := w[0]>>61&1 == 1
	w[0] = w[0] << 2 >> 2
	if negative { // the fraction less 1
		for n := range w {
			w[n] = ^w[n]
		}
		w[0] = w[0] << 2 >> 2
	}
	rest = fraction(w).mul(halfPiPair)
	if negative {
		rest = rest.neg()
	}
	return quadrant, rest
}

// Reduce returns the multiple of π/2 nearest to x ≥ 0, modulo 4, and x less that
// multiple, as a float64; NaN for what is not finite.
func Reduce(x float64) (quadrant int, rest float64) {
	if !(x <= math.MaxFloat64) {
		return 0, math.NaN()
	}
	quadrant, p := turn(x)
	return quadrant, p.hi
}

// fraction returns the first 106 bits of w, with two bits before the point.
func fraction(w [4]uint64) pair {
	e := 2
	for w[0]>>63 == 0 {
		n := max(bits.LeadingZeros64(w[0]), 1)
		for i := range w {
			w[i] <<= n
			if i+1 < len(w) {
				w[i] |= w[i+1] >> (64 - n)
			}
		}
		e -= n
	}
	hi := math.Ldexp(float64(w[0]>>11), e-53)
	return renew(hi, math.Ldexp(float64(w[0]&(1<<11-1)<<42|w[1]>>22), e-106))
}

// sinCosPair returns the sine and the cosine of quadrant·π/2 + r for |r| ≤ π/4.
func sinCosPair(quadrant int, r pair) (sin, cos pair) {
	square := r.mul(r).neg()
	sin, cos = inverseFactorial[29], inverseFactorial[28]
	for n := 27; n >= 1; n -= 2 {
		sin = sin.mul(square).add(inverseFactorial[n])
		cos = cos.mul(square).add(inverseFactorial[n-1])
	}
	sin = sin.mul(r)
	switch quadrant & 3 {
	case 1:
		return cos, sin.neg()
	case 2:
		return sin.neg(), cos.neg()
	case 3:
		return cos.neg(), sin
	}
	return sin, cos
}

func quickSin(x float64) Sum {
	sin, _ := sinCosPair(turn(math.Abs(x)))
	if x < 0 {
		sin = sin.neg()
	}
	return sin.times2(0)
}

func quickCos(x float64) Sum {
	_, cos := sinCosPair(turn(math.Abs(x)))
	return cos.times2(0)
}

func quickTan(x float64) Sum {
	sin, cos := sinCosPair(turn(math.Abs(x)))
	t := sin.div(cos)
	if x < 0 {
		t = t.neg()
	}
	return t.times2(0)
}

func quickAtan(x float64) Sum { return quickAtan2(x, 1) }

// quickAtan2 takes Newton's step from an approximation a: the angle between (x, y)
// and the direction a is the arc tangent of (y·cos a - x·sin a)/(x·cos a + y·sin a),
// so small that it equals its tangent.
func quickAtan2(y, x float64) Sum {
	my, ey := math.Frexp(y)
	mx, ex := math.Frexp(x)
	switch {
	case ey-ex < -200 && x > 0:
		return pair{my, 0}.div(pair{mx, 0}).times2(ey - ex)
	case ey-ex < -200:
		return Sum{Hi: math.Copysign(2*halfPiPair.hi, y), Lo: math.Copysign(2*halfPiPair.lo, y)}
	case ey-ex > 200:
		return Sum{Hi: math.Copysign(halfPiPair.hi, y), Lo: math.Copysign(halfPiPair.lo, y)}
	}
	my = math.Ldexp(my, ey-ex)
	a := math.Abs(math.Atan2(my, mx))
	sin, cos := sinCosPair(turn(a))
	if y < 0 {
		a, sin = -a, sin.neg()
	}
	py, px := pair{my, 0}, pair{mx, 0}
	rest := py.mul(cos).sub(px.mul(sin)).div(px.mul(cos).add(py.mul(sin)))
	return pair{a, 0}.add(rest).times2(0)
}

// quickCbrt returns a step of Newton's method, which doubles the bits.
func quickCbrt(x float64) Sum {
	m, e := math.Frexp(x)
	for e%3 != 0 {
		m, e = 2*m, e-1
	}
	y := math.Cbrt(m)
	square := mulFloats(y, y)
	rest := pair{m, 0}.sub(square.mul(pair{y, 0})).div(square.mul(pair{3, 0}))
	return pair{y, 0}.add(rest).times2(e / 3)
}

// quickTanh returns sinh x/cosh x by their series next to 0, and (1-q)/(1+q) beyond, with q = e**-2|x|.
func quickTanh(x float64) Sum {
	a := math.Abs(x)
	if a < 0x1p-60 {
		m, e := math.Frexp(x) // x³/3 is below 2**-120 of x
		return Sum{Hi: m, Exp: e}
	}
	n, d := pair{1, 0}, pair{1, 0}
	if a < 1 {
		square := mulFloats(a, a)
		n, d = inverseFactorial[29], inverseFactorial[28]
		for i := 27; i >= 1; i -= 2 {
			n = n.mul(square).add(inverseFactorial[i])
			d = d.mul(square).add(inverseFactorial[i-1])
		}
		n = n.mul(pair{a, 0})
	} else {
		e := expPair(pair{-2 * min(a, 300), 0})
		q := pair{e.Hi, e.Lo}.scaled(e.Exp)
		n, d = n.sub(q), d.add(q)
	}
	t := n.div(d)
	if x < 0 {
		t = t.neg()
	}
	return t.times2(0)
}

func quickPow(x, y float64) Sum {
	hi := y * math.Log(math.Abs(x))
	var s Sum
	switch {
	case hi > 2000:
		s = Sum{Hi: 1, Exp: 2900}
	case hi < -2000:
		s = Sum{Hi: 1, Exp: -2900}
	default:
		s = expPair(logPair(math.Abs(x)).mul(pair{y, 0}))
	}
	if x < 0 && math.Mod(y, 2) != 0 {
		s.Hi, s.Lo = -s.Hi, -s.Lo
	}
	return s
}

func quickHypot(x, y float64) Sum {
	x, y = max(math.Abs(x), math.Abs(y)), min(math.Abs(x), math.Abs(y))
	_, e := math.Frexp(x)
	x, y = math.Ldexp(x, -e), math.Ldexp(y, -e)
	if y < 0x1p-120 {
		return Sum{Hi: x, Exp: e}
	}
	square := mulFloats(x, x).add(mulFloats(y, y))
	h := math.Sqrt(square.hi)
	rest := square.sub(mulFloats(h, h))
	return renew(h, rest.hi/(2*h)).times2(e)
}
