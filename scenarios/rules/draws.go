package rules

import (
	"math"

	"github.com/murksim/murksim/internal/kernel"
	"github.com/murksim/murksim/rng"
)

// wordsOf are the random words of a stream in the cells of a block, until the next call. A word can be any where it is not needed, and where p, if it is not nil, has no
// bits: a chance of 0 is false whatever is drawn. It is nil if p is not, and no word is needed.
func (m *machine) wordsOf(stream int, b *block, p []float32) []uint32 {
	bulk, need := m.bulks[stream], m.need
	before := b.first % 4
	w := m.words[before:][:b.n]
	if p != nil || need != nil {
		wanted := m.wanted[before:][:b.n]
		switch {
		case p == nil:
			copy(wanted, need)
		case need == nil:
			copy(wanted, p)
		default:
			compute(And, wanted, p, operand{v: need})
		}
		if p != nil && kernel.Same(wanted, nowhere[:b.n]) {
			return nil
		}
		need = wanted
	}
	if b.cells != nil || b.stride != 1 {
		for i := range w {
			if !skips(need, i) {
				cell := b.cell(i)
				w[i] = bulk.Block(uint64(cell/4), 0)[cell%4]
			}
		}
		return w
	}
	first, whole := uint64(b.first-before), (before+b.n+rng.AtOnce-1)/rng.AtOnce*rng.AtOnce
	if need == nil {
		bulk.Fill(m.words[:whole], first)
		return w
	}
	clear(m.wanted[:before])
	clear(m.wanted[before+b.n : whole])
	bulk.FillNeeded(m.words[:whole], first, m.wanted[:whole])
	return w
}

// draw is a number that is drawn, or something that is chosen by one.
func (m *machine) draw(x *code, b *block, d int) operand {
	switch x.op {
	case Pick:
		return m.pick(x, b, d)
	case Chance:
		return m.chance(x, b, d, d)
	case Normal:
		to := m.register(d, b.n)
		for i, w := range m.wordsOf(x.index, b, nil) {
			to[i] = float32(rng.NormalQuantile((float64(w) + 0.5) * 0x1p-32))
		}
		return operand{v: to, in: true}
	}
	one := m.eval(x.args[0], b, d)
	low := m.full(one, b.n, one.after(d))
	two := m.eval(x.args[1], b, d+1)
	high := m.full(two, b.n, d+1)
	to := m.register(d, b.n)
	for i, w := range m.wordsOf(x.index, b, nil) {
		u := float32(w>>8) * 0x1p-24
		to[i] = low[i] + float32(float32(high[i]-low[i])*u)
	}
	return operand{v: to, in: true}
}

// chance is true with a probability, and false where it is not needed if it is not the same for all. It is kept in register to, and what it needs from d on.
func (m *machine) chance(x *code, b *block, d, to int) operand {
	p := x.args[0]
	if p.uniform {
		limit := above(m.known(p, b).f * 0x1p32) // exactly: a power of two
		if limit == 0 || limit == 1<<32 {
			return mask(limit != 0)
		}
		words, is := m.wordsOf(x.index, b, nil), m.register(to, b.n)
		kernel.Below(is, words, m.need, limit)
		return operand{v: is, in: true}
	}
	v := m.full(m.eval(p, b, d), b.n, d)
	words := m.wordsOf(x.index, b, v)
	if words == nil {
		return mask(false)
	}
	is := m.register(to, b.n)
	kernel.BelowEach(is, words, m.wanted[b.first%4:]) // which is p or, where it is not needed, 0
	return operand{v: is, in: true}
}

// above is the least whole number that is not below a limit, of those up to 2**32: a word is below both or none.
func above(limit float64) uint64 {
	const most = 1 << 32
	switch {
	case !(limit > 0): // NaN, too
		return 0
	case limit >= most:
		return most
	}
	return uint64(math.Ceil(limit))
}

// pick is one of several things.
func (m *machine) pick(x *code, b *block, d int) operand {
	to, at := m.result(x, b.n, d), m.register(d+1, b.n)
	for i, w := range m.wordsOf(x.index, b, nil) {
		at[i] = float32(chosen(w, len(x.args)))
	}
	reached := m.reach
	is := m.spare(b.n)
	for k, a := range x.args {
		compute(Equal, is, at, operand{k: float32(k)})
		m.takeFrom(a, b, d+2, to, is)
	}
	m.reach = reached
	return to
}
