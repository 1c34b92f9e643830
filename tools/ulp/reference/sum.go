package reference

import (
	"math"
	"math/big"
)

// A Sum is the number (Hi + Lo)·2**Exp, of 106 bits and with no limits of exponent.
type Sum struct {
	Hi, Lo float64
	Exp    int
}

// A pair is a sum of two, the second at most half a unit in the last place of the first.
type pair struct{ hi, lo float64 }

func (p pair) times2(n int) Sum { return Sum{p.hi, p.lo, n} }

func (p pair) neg() pair { return pair{-p.hi, -p.lo} }

// scaled returns p·2**n, which must not leave the normal numbers.
func (p pair) scaled(n int) pair { return pair{math.Ldexp(p.hi, n), math.Ldexp(p.lo, n)} }

// renew returns a+b for |a| ≥ |b|.
func renew(a, b float64) pair {
	s := a + b
	return pair{s, b - (s - a)}
}

func addFloats(a, b float64) pair {
	s := a + b
	t := s - a
	return pair{s, (a - (s - t)) + (b - t)}
}

func mulFloats(a, b float64) pair {
	p := a * b
	return pair{p, math.FMA(a, b, -p)}
}

func (p pair) add(q pair) pair {
	s, t := addFloats(p.hi, q.hi), addFloats(p.lo, q.lo)
	s = renew(s.hi, s.lo+t.hi)
	return renew(s.hi, s.lo+t.lo)
}

func (p pair) sub(q pair) pair { return p.add(q.neg()) }

func (p pair) mul(q pair) pair {
	r := mulFloats(p.hi, q.hi)
	return renew(r.hi, r.lo+math.FMA(p.hi, q.lo, p.lo*q.hi))
}

func (p pair) div(q pair) pair {
	a := p.hi / q.hi
	p = p.sub(q.mul(pair{a, 0}))
	b := p.hi / q.hi
	p = p.sub(q.mul(pair{b, 0}))
	r := renew(a, b)
	return renew(r.hi, r.lo+p.hi/q.hi)
}

// toPair rounds b to a pair.
func toPair(b *big.Float) pair {
	hi, _ := b.Float64()
	rest := new(big.Float).SetPrec(b.Prec()).Sub(b, new(big.Float).SetFloat64(hi))
	lo, _ := rest.Float64()
	return pair{hi, lo}
}
