package rules

import (
	"math"

	"github.com/murksim/murksim/internal/kernel"
)

// allOnes are the bits of true.
const allOnes = math.MaxUint32

// This file has the operations of a machine that are computed for each cell of a block by itself.

// logic is true or false, or a choice by it.
func (m *machine) logic(x *code, b *block, d int) operand {
	c := settled(m.eval(x.args[0], b, d), b.n)
	if x.op == Not {
		if c.v == nil {
			return mask(math.Float32bits(c.k) == 0)
		}
		to := m.register(d, b.n)
		kernel.Flip(to, c.v, allOnes)
		return operand{v: to, in: true}
	}
	if c.v == nil { // one for all
		yes := math.Float32bits(c.k) != 0
		switch {
		case x.op == And && !yes, x.op == Or && yes:
			return c
		case x.op == Choose && !yes:
			return m.eval(x.args[2], b, d)
		}
		return m.eval(x.args[1], b, d)
	}
	e, need := c.after(d), m.need
	if x.op != Or {
		m.need = c.v
	}
	reached := m.narrow(x.args[1], c.v, x.op != Or)
	var yes operand
	masked := x.op == And && x.args[1].op == Chance && x.args[1].memo == 0
	if masked {
		yes = m.chance(x.args[1], b, e, d)
	} else {
		yes = m.eval(x.args[1], b, e)
	}
	m.need, m.reach = need, reached
	switch {
	case masked && yes.v != nil:
		return yes
	case x.op == Choose:
		return m.branches(x.args[2], x, b, d, c, yes)
	}
	to := m.register(d, b.n)
	switch x.op {
	case And:
		if yes.v == nil {
			if math.Float32bits(yes.k) == 0 {
				return yes
			}
			return c
		}
		compute(And, to, c.v, yes)
	case Or:
		if yes.v == nil {
			if math.Float32bits(yes.k) == 0 {
				return c
			}
			return yes
		}
		compute(Or, to, c.v, yes)
	}
	return operand{v: to, in: true}
}

// settled is true or false for all cells, if it is the same in all.
func settled(o operand, n int) operand {
	if o.v == nil {
		return o
	}
	first := math.Float32bits(o.v[0]) != 0
	same := &nowhere
	if first {
		same = &everywhere
	}
	if !kernel.Same(o.v[:n], same[:n]) {
		return o
	}
	return mask(first)
}

// What is true in no cell of a block, and in all.
var (
	nowhere    [blockSize]float32
	everywhere = func() (all [blockSize]float32) {
		fill(all[:], allBits)
		return all
	}()
)

// branches is a choice x whose condition, in register d if in any, and first branch are computed, and whose other one is other.
func (m *machine) branches(other, x *code, b *block, d int, c, yes operand) operand {
	reached := m.narrow(other, c.v, false)
	no := m.eval(other, b, yes.after(c.after(d)))
	m.reach = reached
	to := m.result(x, b.n, d)
	m.choose(to, c.v, yes, no)
	return to
}

// convert makes a number of a category or of true and false, or a category of a number.
func (m *machine) convert(x *code, b *block, d int) operand {
	a := m.eval(x.args[0], b, d)
	switch {
	case x.op == ToFloat && !x.args[0].truth:
		return a
	case x.op == ToFloat && a.v == nil:
		return operand{k: math.Float32frombits(math.Float32bits(a.k) & math.Float32bits(1))}
	case a.v == nil:
		return operand{k: category(a.k, x.index)}
	}
	to := m.register(d, b.n)
	if x.op == ToFloat {
		choose(to, a.v, operand{k: 1}, operand{})
		return operand{v: to, in: true}
	}
	for i, v := range a.v {
		to[i] = category(v, x.index)
	}
	return operand{v: to, in: true}
}

// extreme is the least or greatest of several numbers, or one within two others.
func (m *machine) extreme(x *code, b *block, d int) operand {
	r := m.eval(x.args[0], b, d)
	for i, a := range x.args[1:] {
		v := m.eval(a, b, r.after(d))
		op := Max
		if x.op == Min || x.op == Clamp && i == 1 {
			op = Min
		}
		if r.v == nil && v.v == nil {
			if op == Min && v.k < r.k || op == Max && v.k > r.k {
				r.k = v.k
			}
			continue
		}
		to := m.register(d, b.n)
		compute(op, to, m.full(r, b.n, v.after(d)), v)
		r = operand{v: to, in: true}
	}
	return r
}

// unary is an operation of one number.
func (m *machine) unary(x *code, b *block, d int) operand {
	a := m.eval(x.args[0], b, d)
	if a.v == nil {
		args := [1]value{{f: float64(a.k)}}
		if x.op == square {
			return operand{k: float32(a.k * a.k)}
		}
		if x.op >= Exp {
			return operand{k: curve(x.op, args[:]).number()}
		}
		return operand{k: arithmetic[float32](x.op, args[:])}
	}
	to := m.register(d, b.n)
	in := a.v[:len(to)]
	switch x.op {
	case square:
		compute(Multiply, to, in, operand{v: in})
	case Negate:
		kernel.Flip(to, in, 1<<31)
	case Abs:
		compute(And, to, in, operand{k: math.Float32frombits(1<<31 - 1)})
	case Floor:
		kernel.Floor(to, in)
	case Sqrt:
		kernel.Sqrt(to, in)
	default:
		f := curves[x.op-Exp]
		for i, v := range in {
			if !skips(m.need, i) {
				to[i] = f(v)
			}
		}
	}
	return operand{v: to, in: true}
}

// binary is an operation of two numbers, or a comparison.
func (m *machine) binary(x *code, b *block, d int) operand {
	one := m.eval(x.args[0], b, d)
	e := one.after(d)
	two := m.eval(x.args[1], b, e)
	compares := x.op >= Equal && x.op <= GreaterEqual
	if one.v == nil && two.v == nil {
		if compares && x.args[0].truth {
			return mask((math.Float32bits(one.k) == math.Float32bits(two.k)) == (x.op == Equal))
		}
		args := [2]value{{f: float64(one.k)}, {f: float64(two.k)}}
		switch {
		case compares:
			return mask(holds(x.op, args[0].f, args[1].f))
		case x.op == Pow:
			return operand{k: curve(Pow, args[:]).number()}
		}
		return operand{k: arithmetic[float32](x.op, args[:])}
	}
	to := m.register(d, b.n)
	if compares && x.args[0].truth {
		sameBits(to, m.full(one, b.n, two.after(e)), m.full(two, b.n, e), x.op == Equal)
		return operand{v: to, in: true}
	}
	if other := swapped[x.op]; other != 0 && one.v == nil { // a number on the left
		compute(other, to, two.v, one)
		return operand{v: to, in: true}
	}
	left := one.v
	if left == nil {
		left = m.full(one, b.n, two.after(e))
	}
	computeNeeded(x.op, to, left, two, m.need)
	return operand{v: to, in: true}
}

// sameBits compares what is true or false.
func sameBits(to, a, b []float32, equal bool) {
	a, b = a[:len(to)], b[:len(to)]
	flip := uint32(0)
	if equal {
		flip = allOnes
	}
	for i := range to {
		to[i] = math.Float32frombits(math.Float32bits(a[i]) ^ math.Float32bits(b[i]) ^ flip)
	}
}
