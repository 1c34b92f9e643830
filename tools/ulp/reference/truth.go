package reference

import (
	"math"
	"math/big"
)

const (
	trueBits = 192        // working precision
	piBits   = 1024 + 256 // enough to reduce the largest float64
)

func newFloat() *big.Float { return new(big.Float).SetPrec(trueBits) }

// arctanInverse returns arctan(1/n) by its series.
func arctanInverse(n int64, bits uint) *big.Float {
	wide := func() *big.Float { return new(big.Float).SetPrec(bits) }
	power := wide().Quo(wide().SetInt64(1), wide().SetInt64(n))
	square := wide().SetInt64(n * n)
	sum := wide()
	for k := int64(1); power.MantExp(nil) > -int(bits)-8; k += 2 {
		term := wide().Quo(power, wide().SetInt64(k))
		if k%4 == 3 {
			term.Neg(term)
		}
		sum.Add(sum, term)
		power.Quo(power, square)
	}
	return sum
}

// halfPi is π/2 by Machin's formula: π/4 = 4·arctan(1/5) - arctan(1/239).
var halfPi = func() *big.Float {
	a, b := arctanInverse(5, piBits), arctanInverse(239, piBits)
	a.Mul(a, big.NewFloat(4))
	return a.Mul(a.Sub(a, b), big.NewFloat(2))
}()

// ln2 is 2·artanh(1/3).
var ln2 = odd(2, newFloat().Quo(big.NewFloat(1), big.NewFloat(3)), 1)

// odd returns n·(s + sign·s³/3 + s⁵/5 + sign·s⁷/7 + …): artanh for the sign 1, arctan for -1.
func odd(n int64, s *big.Float, sign int64) *big.Float {
	square := newFloat().Mul(s, s)
	square.Mul(square, newFloat().SetInt64(sign))
	power, sum := newFloat().Set(s), newFloat()
	if s.Sign() == 0 {
		return sum
	}
	term, divisor := newFloat(), newFloat()
	stop := s.MantExp(nil) - trueBits
	for k := int64(1); power.MantExp(nil) > stop; k += 2 {
		sum.Add(sum, term.Quo(power, divisor.SetInt64(k)))
		power.Mul(power, square)
	}
	return sum.Mul(sum, newFloat().SetInt64(n))
}

// bigLog returns k·ln 2 + 2·artanh((m-1)/(m+1)) for x = m·2**k.
func bigLog(x float64) *big.Float {
	m, k := math.Frexp(x)
	if m < math.Sqrt2/2 {
		m, k = 2*m, k-1
	}
	b, one := newFloat().SetFloat64(m), big.NewFloat(1)
	s := newFloat().Quo(newFloat().Sub(b, one), newFloat().Add(b, one))
	sum := newFloat().Mul(ln2, newFloat().SetInt64(int64(k)))
	return sum.Add(sum, odd(2, s, 1))
}

func bigExp(x float64) *big.Float {
	return bigPower(newFloat().SetFloat64(min(max(x, -4000), 4000)))
}

// bigPower returns e**x by Taylor's series of x less a multiple of ln 2, over 2**12.
func bigPower(x *big.Float) *big.Float {
	const squarings = 12
	approximate, _ := x.Float64()
	k := int64(math.RoundToEven(approximate / math.Ln2))
	r := newFloat().Mul(ln2, newFloat().SetInt64(k))
	r.Sub(x, r)
	r.SetMantExp(r, -squarings)
	sum, term := newFloat().SetInt64(1), newFloat().SetInt64(1)
	for i := int64(1); term.Sign() != 0 && term.MantExp(nil) > -trueBits; i++ {
		term.Quo(term.Mul(term, r), newFloat().SetInt64(i))
		sum.Add(sum, term)
	}
	for range squarings {
		sum.Mul(sum, sum)
	}
	return sum.SetMantExp(sum, int(k))
}

func bigSin(x float64) *big.Float { return sine(x, 0) }
func bigCos(x float64) *big.Float { return sine(x, 1) }
func bigTan(x float64) *big.Float { return newFloat().Quo(sine(x, 0), sine(x, 1)) }

// sine returns the sine of x + shift·π/2.
func sine(x float64, shift int64) *big.Float {
	wide := func() *big.Float { return new(big.Float).SetPrec(piBits) }
	b := wide().SetFloat64(x)
	q := wide().Quo(b, halfPi)
	k, _ := q.Add(q, big.NewFloat(math.Copysign(0.5, x))).Int(nil)
	b.Sub(b, wide().Mul(halfPi, wide().SetInt(k)))
	r := newFloat().Set(b)
	quadrant := new(big.Int).And(k.Add(k, big.NewInt(shift)), big.NewInt(3)).Int64()

	square := newFloat().Mul(r, r)
	term, first := newFloat().SetInt64(1), int64(0)
	if quadrant&1 == 0 {
		term, first = newFloat().Set(r), 1
	}
	sum := newFloat().Set(term)
	if r.Sign() == 0 {
		return sum
	}
	stop := term.MantExp(nil) - trueBits
	for i := first + 2; term.MantExp(nil) > stop; i += 2 {
		term.Quo(term.Mul(term, square), newFloat().SetInt64(-i*(i-1)))
		sum.Add(sum, term)
	}
	if quadrant >= 2 {
		sum.Neg(sum)
	}
	return sum
}

func bigAtan(x float64) *big.Float { return bigAtan2(x, 1) }

// bigAtan2 halves the angle of y/x five times, tan(a/2) = t/(1+√(1+t²)), before its series.
func bigAtan2(y, x float64) *big.Float {
	const halvings = 5
	a, b := math.Abs(y), math.Abs(x)
	steep := a > b
	if steep {
		a, b = b, a
	}
	t := newFloat().Quo(newFloat().SetFloat64(a), newFloat().SetFloat64(b))
	one := big.NewFloat(1)
	for range halvings {
		root := newFloat().Mul(t, t)
		root.Sqrt(root.Add(root, one))
		t.Quo(t, root.Add(root, one))
	}
	angle := odd(1<<halvings, t, -1)
	if steep {
		angle.Sub(halfPi, angle)
	}
	if x < 0 {
		angle.Sub(newFloat().Add(halfPi, halfPi), angle)
	}
	if y < 0 {
		angle.Neg(angle)
	}
	return angle
}

func bigPow(x, y float64) *big.Float {
	p := newFloat().Mul(bigLog(math.Abs(x)), newFloat().SetFloat64(y))
	if limit := newFloat().SetInt64(4000); p.Cmp(limit) > 0 {
		p = limit
	} else if limit.Neg(limit); p.Cmp(limit) < 0 {
		p = limit
	}
	p = bigPower(p)
	if x < 0 && math.Mod(y, 2) != 0 {
		p.Neg(p)
	}
	return p
}

func bigHypot(x, y float64) *big.Float {
	a, b := newFloat().SetFloat64(x), newFloat().SetFloat64(y)
	a.Mul(a, a)
	return a.Sqrt(a.Add(a, b.Mul(b, b)))
}

// bigCbrt doubles the bits of a float64 twice by Newton's method.
func bigCbrt(x float64) *big.Float {
	m, e := math.Frexp(x)
	for e%3 != 0 {
		m, e = 2*m, e-1
	}
	b, y := newFloat().SetFloat64(m), newFloat().SetFloat64(math.Cbrt(m))
	for range 2 {
		square := newFloat().Mul(y, y)
		rest := newFloat().Sub(b, newFloat().Mul(square, y))
		y.Add(y, rest.Quo(rest, square.Mul(square, newFloat().SetInt64(3))))
	}
	return y.SetMantExp(y, e/3)
}

// bigTanh returns sinh x/cosh x by their series next to 0, and (1-q)/(1+q) beyond, with q = e**-2|x|.
func bigTanh(x float64) *big.Float {
	n, d := newFloat(), newFloat()
	if math.Abs(x) < 1 {
		b := newFloat().SetFloat64(x)
		term := newFloat().SetInt64(1)
		stop := min(b.MantExp(nil), 0) - trueBits
		for i := int64(1); term.Sign() != 0 && term.MantExp(nil) > stop; i += 2 {
			d.Add(d, term)
			n.Add(n, term.Quo(term.Mul(term, b), newFloat().SetInt64(i)))
			term.Quo(term.Mul(term, b), newFloat().SetInt64(i+1))
		}
		return n.Quo(n, d)
	}
	q, one := bigExp(-2*math.Abs(x)), big.NewFloat(1)
	n.Quo(n.Sub(one, q), d.Add(one, q))
	if x < 0 {
		n.Neg(n)
	}
	return n
}
