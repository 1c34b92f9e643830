package fixed

import "math/bits"

// A wide is a fraction in [0, 1): (hi·2^64 + lo)/2^128.
type wide struct{ hi, lo uint64 }

// plus is w + v; a sum of one or more loses the one.
func (w wide) plus(v wide) wide {
	lo, c := bits.Add64(w.lo, v.lo, 0)
	hi, _ := bits.Add64(w.hi, v.hi, c)
	return wide{hi, lo}
}

// minus is w - v; a negative difference gains one.
func (w wide) minus(v wide) wide {
	lo, b := bits.Sub64(w.lo, v.lo, 0)
	hi, _ := bits.Sub64(w.hi, v.hi, b)
	return wide{hi, lo}
}

// times returns w·v, too small by at most three units.
func (w wide) times(v wide) wide {
	h, l := bits.Mul64(w.hi, v.hi)
	a, _ := bits.Mul64(w.hi, v.lo)
	b, _ := bits.Mul64(w.lo, v.hi)
	l, c := bits.Add64(l, a, 0)
	h += c
	l, c = bits.Add64(l, b, 0)
	return wide{h + c, l}
}

// over is w/n rounded down.
func (w wide) over(n uint64) wide {
	hi, r := w.hi/n, w.hi%n
	lo, _ := bits.Div64(r, w.lo, n)
	return wide{hi, lo}
}

// nearest returns the whole number nearest to w·2^e, for e in [0, 63]; halves go up.
func (w wide) nearest(e uint) uint64 {
	return w.hi>>(64-e) + w.hi>>(63-e)&1
}

// divide is (n2·2^128 + n1·2^64 + n0)/d, the whole part and the fraction's first 64
// bits, give or take two, for d.hi ≥ 2^63 and n2 < d.hi: D. E. Knuth, The Art of Computer
// Programming, volume 2, 4.3.1, algorithm D.
func divide(n2, n1, n0 uint64, d wide) (whole, part uint64) {
	q, r := bits.Div64(n2, n1, d.hi)
	h, l := bits.Mul64(q, d.lo)
	lo, borrow := bits.Sub64(n0, l, 0)
	hi, borrow := bits.Sub64(r, h, borrow)
	rest := wide{hi, lo}
	for borrow == 1 { // at most twice
		q--
		var c uint64
		rest.lo, c = bits.Add64(rest.lo, d.lo, 0)
		rest.hi, c = bits.Add64(rest.hi, d.hi, c)
		borrow -= c
	}
	if rest.hi >= d.hi {
		return q, 1<<64 - 1
	}
	part, _ = bits.Div64(rest.hi, rest.lo, d.hi)
	return q, part
}
