package rules

import (
	"math"
	"math/bits"

	"github.com/murksim/murksim/exact/fixed"
)

// This file has the operations of a machine on fixed numbers.

// amounts is memory for the fixed numbers of a block.
func (m *machine) amounts(d, n int) []int64 { return m.fixed[d*blockSize:][:n:n] }

// units are the fixed numbers of an operand.
func (m *machine) units(o operand, n int) []int64 { return m.amounts(int(o.at)-1, n) }

// result is a register for what a code comes to.
func (m *machine) result(x *code, n, d int) operand {
	if x.fixed {
		return operand{at: uint16(d + 1), in: true}
	}
	return operand{v: m.register(d, n), in: true}
}

// choose takes one operand where the mask is true, and another where it is not, which can be the result itself.
func (m *machine) choose(to operand, mask []float32, yes, no operand) {
	if to.at == 0 {
		choose(to.v, mask, yes, no)
		return
	}
	n := len(mask)
	r, a, b := m.units(to, n), m.units(yes, n), m.units(no, n)
	r, a, b = r[:n], a[:n], b[:n]
	for i, is := range mask {
		all := int64(int32(math.Float32bits(is)))
		r[i] = b[i] ^ (a[i]^b[i])&all
	}
}

// exact computes an operation whose operands are fixed numbers, or whose result is one.
func (m *machine) exact(x *code, b *block, d int) operand {
	one := m.eval(x.args[0], b, d)
	if x.op == ToFixed {
		to := m.amounts(d, b.n)
		for i, v := range m.full(one, b.n, d) {
			if v, ok := unitsOf(float64(v)); ok {
				to[i] = v
			} else {
				to[i] = m.fail(i)
			}
		}
		return m.result(x, b.n, d)
	}
	to, of, e := m.result(x, b.n, d), m.units(one, b.n), one.after(d)
	switch {
	case x.op == ToFloat:
		for i, units := range of {
			to.v[i] = float32(units) / float32(fixed.One)
		}
		return to
	case !x.fixed:
		compareExact(x.op, to.v, of, m.units(m.eval(x.args[1], b, e), b.n))
		return to
	case len(x.args) == 1:
		m.exactUnary(x.op, m.units(to, b.n), of)
		return to
	}
	r := m.units(to, b.n)
	for i, a := range x.args[1:] {
		two := m.units(m.eval(a, b, e), b.n)
		switch {
		case x.op == Clamp:
			exactExtreme([...]Op{Max, Min}[i], r, of, two)
		case x.op == Min, x.op == Max:
			exactExtreme(x.op, r, of, two)
		default:
			m.exactBinary(x.op, r, of, two)
		}
		of, e = r, d+1
	}
	return to
}

// unitsOf is the fixed number nearest to a number, as toFixed has it.
func unitsOf(v float64) (units int64, ok bool) {
	if v = math.RoundToEven(v * float64(fixed.One)); !(v >= -(1<<63) && v < 1<<63) {
		return 0, false
	}
	return int64(v), true
}

// exactUnary computes an operation of one fixed number.
func (m *machine) exactUnary(op Op, to, a []int64) {
	switch op {
	case square:
		m.exactBinary(Multiply, to, a, a)
	case Floor:
		for i, x := range a {
			to[i] = int64(fixed.Fixed(x).Floor())
		}
	case Sqrt:
		for i, x := range a {
			if x < 0 {
				to[i] = m.fail(i)
				continue
			}
			r, _ := fixed.Fixed(x).Sqrt()
			to[i] = int64(r)
		}
	default: // a sign
		for i, x := range a {
			switch {
			case x == math.MinInt64:
				x = m.fail(i)
			case op == Negate || x < 0:
				x = -x
			}
			to[i] = x
		}
	}
}

// exactBinary computes an operation of two fixed numbers that can have no result.
func (m *machine) exactBinary(op Op, to, a, b []int64) {
	a, b = a[:len(to)], b[:len(to)]
	switch op {
	case Add:
		for i, x := range a {
			y := b[i]
			s := x + y
			if (s^x)&(s^y) < 0 {
				s = m.fail(i)
			}
			to[i] = s
		}
	case Subtract:
		for i, x := range a {
			y := b[i]
			s := x - y
			if (x^y)&(s^x) < 0 {
				s = m.fail(i)
			}
			to[i] = s
		}
	case Multiply:
		for i, x := range a {
			if y := b[i]; x == int64(int32(x)) && y == int64(int32(y)) {
				to[i] = x * y >> 16
			} else {
				to[i] = m.times(x, y, i)
			}
		}
	default:
		for i, x := range a {
			to[i] = m.by(op, x, b[i], i)
		}
	}
}

// times is a product.
func (m *machine) times(x, y int64, i int) int64 {
	z, ok := fixed.Fixed(x).TryMul(fixed.Fixed(y))
	if !ok {
		return m.fail(i)
	}
	return int64(z)
}

// by is a quotient, or the remainder of one.
func (m *machine) by(op Op, x, y int64, i int) int64 {
	if y == 0 {
		return m.fail(i)
	}
	if op == Mod {
		r, _ := fixed.Fixed(x).Mod(fixed.Fixed(y))
		return int64(r)
	}
	z, ok := fixed.Fixed(x).TryDiv(fixed.Fixed(y))
	if !ok {
		return m.fail(i)
	}
	return int64(z)
}

// exactExtreme is the lesser or greater of two fixed numbers.
func exactExtreme(op Op, to, a, b []int64) {
	a, b = a[:len(to)], b[:len(to)]
	if op == Min {
		for i, x := range a {
			to[i] = min(x, b[i])
		}
		return
	}
	for i, x := range a {
		to[i] = max(x, b[i])
	}
}

// compareExact compares fixed numbers.
func compareExact(op Op, to []float32, a, b []int64) {
	yes, no := allBits, float32(0)
	switch op {
	case NotEqual, LessEqual, GreaterEqual: // the opposite of another one
		yes, no = no, yes
	}
	if op == Greater || op == LessEqual {
		a, b = b, a
	}
	a, b = a[:len(to)], b[:len(to)]
	if op == Equal || op == NotEqual {
		for i, x := range a {
			is := no
			if x == b[i] {
				is = yes
			}
			to[i] = is
		}
		return
	}
	for i, x := range a {
		is := no
		if x < b[i] {
			is = yes
		}
		to[i] = is
	}
}

// foldExact takes one more number into account where a condition holds, as fold does.
func (m *machine) foldExact(op Op, to, v []int64, c, seen []float32) {
	v, c, seen = v[:len(to)], c[:len(to)], seen[:len(to)]
	for i, x := range v {
		if math.Float32bits(c[i]) == 0 {
			continue
		}
		switch {
		case op == Sum, op == Mean:
			s := to[i] + x
			if (s^to[i])&(s^x) < 0 {
				s = m.fail(i)
			}
			to[i] = s
		case seen[i] == 0, op == Least && x < to[i], op == Most && x > to[i]:
			to[i] = x
		}
		seen[i]++
	}
}

// share divides sums of n fixed numbers by n.
func share(to []int64, n int64) {
	if n&(n-1) == 0 {
		by := bits.TrailingZeros64(uint64(n))
		for i := range to {
			to[i] >>= by
		}
		return
	}
	for i, x := range to {
		to[i] = quotient(x, n)
	}
}

// shareSeen does so with a number for each cell; where it is 0, nothing is divided.
func shareSeen(to []int64, seen []float32) {
	for i, n := range seen[:len(to)] {
		if n > 0 {
			to[i] = quotient(to[i], int64(n))
		}
	}
}

// quotient is floor(x/n), which is what div makes of n as a fixed number.
func quotient(x, n int64) int64 {
	q := x / n
	if x-q*n < 0 {
		q--
	}
	return q
}

// exactFold adds fixed numbers of neighbours, or finds the least or greatest.
func (m *machine) exactFold(op Op, to, v []int64) {
	if op == Add {
		m.exactBinary(Add, to, to, v)
		return
	}
	exactExtreme(op, to, to, v)
}
