package rules

import "math"

// This file has the operations of a machine that are computed cell by cell of a block, each cell for itself.

func fill(to []float32, k float32) {
	for i := range to {
		to[i] = k
	}
}

// logic is true or false, or a choice by it.
func (m *machine) logic(x *code, b *block, d int) operand {
	c := m.eval(x.args[0], b, d)
	if x.op == Not {
		if c.v == nil {
			return mask(math.Float32bits(c.k) == 0)
		}
		to := m.register(d, b.n)
		for i, v := range c.v {
			to[i] = math.Float32frombits(^math.Float32bits(v))
		}
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
	e := c.after(d)
	yes := m.eval(x.args[1], b, e)
	to := m.register(d, b.n)
	switch x.op {
	case And:
		if yes.v == nil {
			if math.Float32bits(yes.k) == 0 {
				return yes
			}
			return c
		}
		andBits(to, c.v, yes.v)
	case Or:
		if yes.v == nil {
			if math.Float32bits(yes.k) == 0 {
				return c
			}
			return yes
		}
		orBits(to, c.v, yes.v)
	default:
		no := m.eval(x.args[2], b, yes.after(e))
		choose(to, c.v, yes, no)
	}
	return operand{v: to, in: true}
}

func andBits(to, a, b []float32) {
	a, b = a[:len(to)], b[:len(to)]
	for i := range to {
		to[i] = math.Float32frombits(math.Float32bits(a[i]) & math.Float32bits(b[i]))
	}
}

func orBits(to, a, b []float32) {
	a, b = a[:len(to)], b[:len(to)]
	for i := range to {
		to[i] = math.Float32frombits(math.Float32bits(a[i]) | math.Float32bits(b[i]))
	}
}

// choose takes one number where c is true, and the other where it is not.
func choose(to, c []float32, yes, no operand) {
	c = c[:len(to)]
	pick := func(c, y, n float32) float32 {
		k := math.Float32bits(c)
		return math.Float32frombits(math.Float32bits(y)&k | math.Float32bits(n)&^k)
	}
	switch {
	case yes.v == nil && no.v == nil:
		for i := range to {
			to[i] = pick(c[i], yes.k, no.k)
		}
	case yes.v == nil:
		n := no.v[:len(to)]
		for i := range to {
			to[i] = pick(c[i], yes.k, n[i])
		}
	case no.v == nil:
		y := yes.v[:len(to)]
		for i := range to {
			to[i] = pick(c[i], y[i], no.k)
		}
	default:
		y, n := yes.v[:len(to)], no.v[:len(to)]
		for i := range to {
			to[i] = pick(c[i], y[i], n[i])
		}
	}
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
		return operand{k: a.k + 0}
	}
	to := m.register(d, b.n)
	if x.op == ToFloat {
		choose(to, a.v, operand{k: 1}, operand{})
		return operand{v: to, in: true}
	}
	for i, v := range a.v {
		to[i] = v + 0
	}
	return operand{v: to, in: true}
}

// extreme is the least or greatest of several numbers, or one within two others.
func (m *machine) extreme(x *code, b *block, d int) operand {
	r := m.eval(x.args[0], b, d)
	for i, a := range x.args[1:] {
		v := m.eval(a, b, r.after(d))
		least := x.op == Min || x.op == Clamp && i == 1
		if r.v == nil && v.v == nil {
			if least && v.k < r.k || !least && v.k > r.k {
				r.k = v.k
			}
			continue
		}
		to := m.register(d, b.n)
		better(to, m.full(r, b.n, v.after(d)), v, least)
		r = operand{v: to, in: true}
	}
	return r
}

// better takes the second number where it is less, or greater, than the first.
func better(to, a []float32, o operand, least bool) {
	a = a[:len(to)]
	if o.v == nil {
		for i, v := range a {
			if least && o.k < v || !least && o.k > v {
				v = o.k
			}
			to[i] = v
		}
		return
	}
	b := o.v[:len(to)]
	if least {
		for i, v := range a {
			if b[i] < v {
				v = b[i]
			}
			to[i] = v
		}
		return
	}
	for i, v := range a {
		if b[i] > v {
			v = b[i]
		}
		to[i] = v
	}
}

// unary is an operation of one number.
func (m *machine) unary(x *code, b *block, d int) operand {
	a := m.eval(x.args[0], b, d)
	if a.v == nil {
		args := [1]value{{f: float64(a.k)}}
		if x.op >= Exp {
			return operand{k: curve(x.op, args[:]).number()}
		}
		return operand{k: arithmetic[float32](x.op, args[:])}
	}
	to := m.register(d, b.n)
	in := a.v[:len(to)]
	switch x.op {
	case Negate:
		for i, v := range in {
			to[i] = -v
		}
	case Abs:
		for i, v := range in {
			to[i] = math.Float32frombits(math.Float32bits(v) &^ (1 << 31))
		}
	case Floor:
		for i, v := range in {
			to[i] = float32(math.Floor(float64(v)))
		}
	case Sqrt:
		for i, v := range in {
			to[i] = float32(math.Sqrt(float64(v)))
		}
	default:
		f := curves[x.op-Exp]
		for i, v := range in {
			to[i] = f(v)
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
	if one.v == nil && swapped[x.op] != 0 { // a number on the left
		compute(swapped[x.op], to, two.v, one)
		return operand{v: to, in: true}
	}
	left := one.v
	if left == nil {
		left = m.full(one, b.n, two.after(e))
	}
	compute(x.op, to, left, two)
	return operand{v: to, in: true}
}

// swapped is the operation that does the same with its operands the other way around; 0: none.
var swapped = [256]Op{
	Add: Add, Multiply: Multiply, Equal: Equal, NotEqual: NotEqual, Less: Greater, LessEqual: GreaterEqual, Greater: Less, GreaterEqual: LessEqual,
}

// sameBits compares what is true or false.
func sameBits(to, a, b []float32, equal bool) {
	a, b = a[:len(to)], b[:len(to)]
	flip := ^uint32(0)
	if !equal {
		flip = 0
	}
	for i := range to {
		to[i] = math.Float32frombits(math.Float32bits(a[i]) ^ math.Float32bits(b[i]) ^ flip)
	}
}
