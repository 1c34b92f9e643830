package rules

import (
	"math"
	"slices"

	"github.com/murksim/murksim/internal/kernel"
)

// nearRegisters are those of a term over neighbours, beside those of what is in it.
const nearRegisters = 5

// around computes a term over the neighbours.
func (m *machine) around(x *code, b *block, d int) operand {
	switch x.op {
	case At:
		return m.look(x, b, d)
	case One:
		return m.one(x, b, d)
	case Distinct:
		return m.distinct(x, b, d)
	case Count:
		return m.count(x, b, d)
	case Any, All:
		return m.decide(x, b, d)
	}
	if x.where != nil {
		return m.foldSome(x, b, d)
	}
	return m.foldAll(x, b, d)
}

// foldAll adds the neighbours' numbers, or finds the least or greatest.
func (m *machine) foldAll(x *code, b *block, d int) operand {
	n := len(b.pattern.Offsets)
	switch {
	case n == 0 && x.op == Sum:
		return m.none(x, b.n, d)
	case n == 0:
		return m.eval(x.els, b, d)
	}
	to := m.result(x, b.n, d)
	if column := m.direct(x.args[0], b); column != nil && folds[x.op] == Add {
		kernel.SumNear(to.v, column, b.first, b.pattern.Offsets)
		n = 0
	}
	for k := range n {
		there := m.at(b, k)
		v := m.eval(x.args[0], there, d+1)
		switch {
		case k == 0:
			m.keep(v, b.n, d)
		case x.fixed:
			m.exactFold(folds[x.op], m.units(to, b.n), m.units(v, b.n))
		default:
			compute(folds[x.op], to.v, to.v, v)
		}
	}
	switch n = len(b.pattern.Offsets); {
	case x.op == Mean && x.fixed:
		share(m.units(to, b.n), int64(n))
	case x.op == Mean:
		compute(Divide, to.v, to.v, operand{k: float32(n)})
	}
	return to
}

// none is the sum of no neighbours, in a register.
func (m *machine) none(x *code, n, d int) operand {
	to := m.result(x, n, d)
	if x.fixed {
		fill(m.units(to, n), 0)
	} else {
		fill(to.v, float32(math.Copysign(0, -1)))
	}
	return to
}

// folds are the operations by which neighbours are taken together.
var folds = [256]Op{Sum: Add, Mean: Add, Least: Min, Most: Max}

// foldSome does so with the neighbours for which a condition holds.
func (m *machine) foldSome(x *code, b *block, d int) operand {
	to, seen := m.none(x, b.n, d), m.register(d+1, b.n)
	fill(seen, 0)
	for k := range b.pattern.Offsets {
		there := m.at(b, k)
		c := m.full(m.eval(x.where, there, d+2), b.n, d+2)
		reached := m.narrow(x.args[0], c, true)
		v := m.eval(x.args[0], there, d+3)
		if m.reach = reached; x.fixed {
			m.foldExact(x.op, m.units(to, b.n), m.units(v, b.n), c, seen)
		} else {
			fold(x.op, to.v, m.full(v, b.n, d+3), c, seen)
		}
	}
	switch {
	case x.op == Mean && x.fixed:
		shareSeen(m.units(to, b.n), seen)
	case x.op == Mean:
		for i := range to.v {
			to.v[i] /= seen[i]
		}
	}
	if x.op != Sum {
		m.orElse(x, b, d, to, seen)
	}
	return to
}

// fold takes one more number into account where a condition holds.
func fold(op Op, to, v, c, seen []float32) {
	v, c, seen = v[:len(to)], c[:len(to)], seen[:len(to)]
	for i := range to {
		if math.Float32bits(c[i]) == 0 {
			continue
		}
		switch {
		case op == Sum, op == Mean:
			to[i] += v[i]
		case seen[i] == 0, op == Least && v[i] < to[i], op == Most && v[i] > to[i]:
			to[i] = v[i]
		}
		seen[i]++
	}
}

// orElse takes what counts where nothing was seen. The register after d has what was.
func (m *machine) orElse(x *code, b *block, d int, to operand, seen []float32) {
	if !slices.Contains(seen, 0) {
		return
	}
	reached := m.reach
	none := m.spare(b.n)
	compute(Equal, none, seen, operand{})
	m.narrow(x.els, none, true)
	els := m.eval(x.els, b, d+2)
	m.reach = reached
	m.choose(to, none, els, to)
}

// count counts the neighbours for which a condition holds.
func (m *machine) count(x *code, b *block, d int) operand {
	to := m.register(d, b.n)
	of := x.args[0]
	if x.where == nil && of.op == Equal && of.args[1].uniform && !of.fails() {
		if column := m.column(of.args[0]); column != nil && b.cells == nil {
			kernel.CountNear(to, column, b.first, b.stride, b.pattern.Offsets, m.constant(of.args[1], b).k)
			return operand{v: to, in: true}
		}
	}
	fill(to, 0)
	for k := range b.pattern.Offsets {
		c := m.counts(x, m.at(b, k), d+1)
		if c.v == nil {
			if math.Float32bits(c.k) != 0 {
				compute(Add, to, to, operand{k: 1})
			}
			continue
		}
		one := m.register(d+2, b.n)
		compute(And, one, c.v, operand{k: 1})
		compute(Add, to, to, operand{v: one})
	}
	return operand{v: to, in: true}
}

// counts is whether a neighbour is one of those that are counted.
func (m *machine) counts(x *code, there *block, d int) operand {
	if x.where == nil {
		return m.eval(x.args[0], there, d)
	}
	w := m.eval(x.where, there, d)
	reached := m.reach
	if w.v != nil {
		m.narrow(x.args[0], w.v, true)
	} else if math.Float32bits(w.k) == 0 {
		return w
	}
	c := m.eval(x.args[0], there, w.after(d))
	m.reach = reached
	return m.both(w, c, there.n, d)
}

// column is that of a field of one number a cell; nil if a code is not that.
func (m *machine) column(x *code) []float32 {
	switch {
	case x.op == Get && x.parts == 1:
		return m.prev[x.field].Float32
	case x.op == Now && x.parts == 1:
		return m.now[x.field].Float32
	}
	return nil
}

// direct is such a column if the cells of the block lie side by side.
func (m *machine) direct(x *code, b *block) []float32 {
	if b.stride != 1 {
		return nil
	}
	return m.column(x)
}

// both is whether two conditions hold; the first is in register d, if in one.
func (m *machine) both(one, two operand, n, d int) operand {
	switch {
	case one.v == nil && math.Float32bits(one.k) == 0:
		return one
	case one.v == nil && !two.in:
		return two
	case two.v == nil && math.Float32bits(two.k) == 0:
		return two
	case two.v == nil:
		return one
	}
	to := m.register(d, n)
	if one.v == nil {
		copy(to, two.v)
	} else {
		compute(And, to, one.v, two)
	}
	return operand{v: to, in: true}
}

// decide is whether a condition holds for any of the neighbours, or for all.
func (m *machine) decide(x *code, b *block, d int) operand {
	to := m.register(d, b.n)
	fill(to, mask(x.op == All).k)
	for k := range b.pattern.Offsets {
		there := m.at(b, k)
		reached := m.reach
		m.narrow(x, to, x.op == All) // up to what decides
		w := operand{k: allBits}
		if x.where != nil {
			w = m.eval(x.where, there, d+1)
		}
		where := m.full(w, b.n, d+1)
		m.narrow(x.args[0], where, true)
		c := m.full(m.eval(x.args[0], there, d+2), b.n, d+2)
		m.reach = reached
		for i := range to {
			is, counts := math.Float32bits(c[i]), math.Float32bits(where[i])
			if x.op == Any {
				to[i] = math.Float32frombits(math.Float32bits(to[i]) | is&counts)
			} else {
				to[i] = math.Float32frombits(math.Float32bits(to[i]) & (is | ^counts))
			}
		}
	}
	return operand{v: to, in: true}
}

// distinct counts the different categories among the neighbours.
func (m *machine) distinct(x *code, b *block, d int) operand {
	n, of := len(b.pattern.Offsets), d+nearRegisters
	to := m.register(d, b.n)
	fill(to, 0)
	for k := range n {
		there := m.at(b, k)
		v, counts := m.register(of+2*k, b.n), m.register(of+2*k+1, b.n)
		w := operand{k: allBits}
		if x.where != nil {
			w = m.eval(x.where, there, of+2*n)
		}
		copy(counts, m.full(w, b.n, of+2*n))
		reached := m.narrow(x.args[0], counts, true)
		copy(v, m.full(m.eval(x.args[0], there, of+2*n), b.n, of+2*n))
		m.reach = reached
		for i, category := range v {
			if !(category >= 0 && category < float32(x.index)) || category != float32(math.Trunc(float64(category))) {
				counts[i] = 0
			}
		}
		for i, category := range v {
			isNew := math.Float32bits(counts[i]) != 0
			for j := range k {
				if math.Float32bits(m.register(of+2*j+1, b.n)[i]) != 0 && m.register(of+2*j, b.n)[i] == category {
					isNew = false
				}
			}
			if isNew {
				to[i]++
			}
		}
	}
	return operand{v: to, in: true}
}

// one is what a term is at a drawn neighbour, of those for which a condition holds.
func (m *machine) one(x *code, b *block, d int) operand {
	to, seen, at := m.result(x, b.n, d), m.register(d+1, b.n), m.register(d+2, b.n)
	reached := m.reach
	is := m.spare(b.n)
	holds := func(there *block) []float32 {
		if x.where == nil {
			return m.full(mask(true), b.n, d+3)
		}
		return m.full(m.eval(x.where, there, d+3), b.n, d+3)
	}
	const most = 1 << 16 // neighbours
	fill(seen, 0)
	for k := range b.pattern.Offsets {
		there := m.at(b, k)
		for i, c := range holds(there) {
			if math.Float32bits(c) != 0 {
				seen[i]++
			}
		}
	}
	for i, w := range m.wordsOf(x.index, b, nil) {
		at[i] = float32(chosen(w, int(min(seen[i], most)))) // those before the chosen one
	}
	for k := range b.pattern.Offsets {
		there := m.at(b, k)
		for i, c := range holds(there) {
			is[i] = 0
			if math.Float32bits(c) == 0 {
				continue
			}
			if at[i] == 0 {
				is[i] = allBits
			}
			at[i]--
		}
		m.takeFrom(x.args[0], there, d+4, to, is)
	}
	if m.reach = reached; x.els != nil {
		m.orElse(x, b, d, to, seen)
	}
	return to
}

// takeFrom takes what a code comes to where a mask is true.
func (m *machine) takeFrom(x *code, b *block, d int, to operand, is []float32) {
	reached := m.narrow(x, is, true)
	v := m.eval(x, b, d)
	m.reach = reached
	m.choose(to, is, v, to)
}

// look is what a term is at one other cell.
func (m *machine) look(x *code, b *block, d int) operand {
	if x.table == nil {
		k := slices.Index(b.pattern.Dirs, uint8(x.direction))
		if k < 0 {
			return m.eval(x.els, b, d)
		}
		there := m.at(b, k)
		return m.eval(x.args[0], there, d)
	}
	m.there = block{cells: m.cells[:b.n], n: b.n, own: b, degree: b.degree, step: -1, id: m.number()}
	there := &m.there
	is := m.register(d, b.n)
	missing := 0
	for i := range is {
		cell := x.table[b.cell(i)]
		is[i] = allBits
		if cell < 0 { // any cell will do
			cell, is[i] = int32(b.cell(i)), 0
			missing++
		}
		there.cells[i] = cell
	}
	switch missing {
	case 0:
		return m.eval(x.args[0], there, d)
	case b.n:
		return m.eval(x.els, b, d)
	}
	reached := m.narrow(x.args[0], is, true)
	v := m.eval(x.args[0], there, d+1)
	m.reach = reached
	return m.branches(x.els, x, b, d, operand{v: is, in: true}, v)
}
