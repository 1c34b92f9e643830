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
		return operand{k: float32(math.Copysign(0, -1))}
	case n == 0:
		return m.eval(x.els, b, d)
	}
	to := m.register(d, b.n)
	if column := m.direct(x.args[0], b); column != nil && folds[x.op] == Add {
		kernel.SumNear(to, column, b.first, b.pattern.Offsets)
		n = 0
	}
	for k := range n {
		there := m.at(b, k)
		v := m.eval(x.args[0], there, d+1)
		switch {
		case k == 0 && v.v == nil:
			fill(to, v.k)
		case k == 0:
			copy(to, v.v)
		default:
			compute(folds[x.op], to, to, v)
		}
	}
	if x.op == Mean {
		compute(Divide, to, to, operand{k: float32(len(b.pattern.Offsets))})
	}
	return operand{v: to, in: true}
}

// folds are the operations by which neighbours are taken together.
var folds = [256]Op{Sum: Add, Mean: Add, Least: Min, Most: Max}

// foldSome does so with the neighbours for which a condition holds.
func (m *machine) foldSome(x *code, b *block, d int) operand {
	to, seen := m.register(d, b.n), m.register(d+1, b.n)
	fill(to, float32(math.Copysign(0, -1)))
	fill(seen, 0)
	for k := range b.pattern.Offsets {
		there := m.at(b, k)
		c := m.full(m.eval(x.where, there, d+2), b.n, d+2)
		v := m.full(m.eval(x.args[0], there, d+3), b.n, d+3)
		for i := range to {
			if math.Float32bits(c[i]) == 0 {
				continue
			}
			switch {
			case x.op == Sum, x.op == Mean:
				to[i] += v[i]
			case seen[i] == 0, x.op == Least && v[i] < to[i], x.op == Most && v[i] > to[i]:
				to[i] = v[i]
			}
			seen[i]++
		}
	}
	if x.op == Mean {
		for i := range to {
			to[i] /= seen[i]
		}
	}
	if x.op != Sum {
		m.orElse(x, b, d, to, seen)
	}
	return operand{v: to, in: true}
}

// orElse takes what counts where nothing was seen. The register after d has what was.
func (m *machine) orElse(x *code, b *block, d int, to, seen []float32) {
	if !slices.Contains(seen, 0) {
		return
	}
	els := m.full(m.eval(x.els, b, d+2), b.n, d+2)
	for i, n := range seen {
		if n == 0 {
			to[i] = els[i]
		}
	}
}

// count counts the neighbours for which a condition holds.
func (m *machine) count(x *code, b *block, d int) operand {
	to := m.register(d, b.n)
	of := x.args[0]
	if x.where == nil && of.op == Equal && of.args[1].uniform {
		if column := m.column(of.args[0]); column != nil && b.cells == nil {
			kernel.CountNear(to, column, b.first, b.stride, b.pattern.Offsets, m.constant(of.args[1], b).k)
			return operand{v: to, in: true}
		}
	}
	fill(to, 0)
	for k := range b.pattern.Offsets {
		there := m.at(b, k)
		c := m.eval(of, there, d+1)
		if x.where != nil {
			c = m.both(c, m.eval(x.where, there, c.after(d+1)), b.n, d+1)
		}
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

// column is that of a field of one number a cell; nil if a code is not that.
func (m *machine) column(x *code) []float32 {
	switch {
	case x.op == Get && x.parts == 1:
		return m.prev[x.field]
	case x.op == Now && x.parts == 1:
		return m.now[x.field]
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
		c := m.full(m.eval(x.args[0], there, d+1), b.n, d+1)
		w := operand{k: allBits}
		if x.where != nil {
			w = m.eval(x.where, there, d+2)
		}
		where := m.full(w, b.n, d+2)
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
		is := m.full(m.eval(x.args[0], there, of+2*n), b.n, of+2*n)
		copy(v, is)
		w := operand{k: allBits}
		if x.where != nil {
			w = m.eval(x.where, there, of+2*n)
		}
		copy(counts, m.full(w, b.n, of+2*n))
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
	to, seen, at := m.register(d, b.n), m.register(d+1, b.n), m.register(d+2, b.n)
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
		c := holds(there)
		v := m.full(m.eval(x.args[0], there, d+4), b.n, d+4)
		for i := range to {
			if math.Float32bits(c[i]) == 0 {
				continue
			}
			if at[i] == 0 {
				to[i] = v[i]
			}
			at[i]--
		}
	}
	if x.els != nil {
		m.orElse(x, b, d, to, seen)
	}
	return operand{v: to, in: true}
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
	v := m.eval(x.args[0], there, d+1)
	choose(is, is, v, m.eval(x.els, b, v.after(d+1)))
	return operand{v: is, in: true}
}
