package rules

import "github.com/murksim/murksim/internal/kernel"

// relaxation recognises x + k * (sum(x) - degree * x), whichever way its sums and products are turned: one kernel computes it, to the same bits.
func relaxation(x *code) *code {
	here, by, ok := x.pair(Add, func(a *code) bool { return (a.op == Get || a.op == Now) && a.parts == 1 })
	if !ok || x.fixed {
		return x
	}
	k, difference, ok := by.pair(Multiply, func(a *code) bool { return a.uniform })
	if !ok || k.fails() || difference.op != Subtract || difference.uniform {
		return x
	}
	sum := difference.args[0]
	_, self, ok := difference.args[1].pair(Multiply, func(a *code) bool { return a.uniform && a.op == Degree })
	if !ok || sum.op != Sum || sum.where != nil || !sum.args[0].reads(here) || !self.reads(here) {
		return x
	}
	return &code{op: relaxed, args: []*code{here, k}, els: x, slot: -1, steps: -1}
}

// pair are the two operands of an operation that may be turned round, the one that is meant first.
func (x *code) pair(op Op, first func(*code) bool) (one, other *code, ok bool) {
	switch {
	case x.op != op || x.uniform:
		return nil, nil, false
	case first(x.args[0]):
		return x.args[0], x.args[1], true
	case first(x.args[1]):
		return x.args[1], x.args[0], true
	}
	return nil, nil, false
}

// reads reports whether a code is the same field of one number a cell as another.
func (x *code) reads(other *code) bool {
	return x.op == other.op && x.field == other.field && x.parts == 1
}

// relax computes such a sum.
func (m *machine) relax(x *code, b *block, d int) operand {
	column := m.direct(x.args[0], b)
	if column == nil || b.own != nil || b.cells != nil || len(b.pattern.Offsets) == 0 {
		return m.eval(x.els, b, d)
	}
	to := m.register(d, b.n)
	kernel.RelaxNear(to, column, b.first, b.pattern.Offsets, m.constant(x.args[1], b).k)
	return operand{v: to, in: true}
}
