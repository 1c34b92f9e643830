package rules

// A code that hangs on one count alone, beside uniform numbers, has few values: they are computed once for a tick and then looked up.

const maxTable = 64 // counts

// A table holds the values of a code for each count.
type table struct {
	of   *code
	size int
	at   int // where its values begin, those for the first degree
}

// tabulate replaces what is worth it in a code, and in what is in it.
func (c *compiler) tabulate(x *code) *code {
	if x == nil || x.uniform || x.seen {
		return x
	}
	x.seen = true
	source, steps := x.source()
	if size := c.scope.Lattice.MaxDegree() + 1; source != nil && steps >= 4 && size <= maxTable {
		entry := func(y *code) *code {
			switch {
			case y.uniform:
				return y
			case source.same(y):
				return &code{op: tableEntry, slot: -1, steps: -1}
			}
			return nil
		}
		//detcheck:allow pointer it is looked up only
		body := c.rewritten(x, entry, map[*code]*code{})
		return &code{op: lookup, args: []*code{source}, slot: -1, truth: x.truth, index: c.addTable(body), steps: -1}
	}
	for i, a := range x.args {
		x.args[i] = c.tabulate(a)
	}
	x.where, x.els = c.tabulate(x.where), c.tabulate(x.els)
	return x
}

// various is what a code hangs on that hangs on more than one count.
var various = &code{}

// source is the one count that a code hangs on, and how long it takes to compute: nil if it hangs on nothing else than uniform numbers, or on something else.
func (x *code) source() (source *code, steps int) {
	of, steps := x.hangsOn()
	if of == various || of == x {
		return nil, 0
	}
	return of, steps
}

func (x *code) hangsOn() (of *code, steps int) {
	if x.steps < 0 {
		x.hangs, x.steps = x.looksUp()
	}
	return x.hangs, x.steps
}

func (x *code) looksUp() (of *code, steps int) {
	switch {
	case x.uniform && !x.fails():
		return nil, 0
	case x.fixed, x.fails():
		return various, 0
	case x.op == Count, x.op == UseLet && x.counts:
		return x, 0
	case x.op == UseLet, x.ofCell():
		return various, 0
	case x.op == Divide, x.op == Sqrt, x.op == Mod:
		steps = 4
	case x.op >= Exp && x.op <= Pow:
		steps = 20
	default:
		steps = 1
	}
	for _, a := range x.args {
		other, more := a.hangsOn()
		steps = min(steps+more, MaxCost)
		switch {
		case other == nil || of == various:
		case of == nil || of.same(other):
			of = other
		default:
			of = various
		}
	}
	return of, steps
}

// same reports whether two counts are the same let.
func (x *code) same(other *code) bool {
	return x == other || x.op == UseLet && other.op == UseLet && x.index == other.index
}

// ofCell reports whether a code is a number of the cell, or of its neighbours, by itself.
func (x *code) ofCell() bool {
	return x.op == Get || x.op == Now || x.op == Degree && x.near || x.op == Coordinate || x.op == Step || x.op == AtCell || x.op == relaxed || x.draws() || x.op >= Sum && x.op <= At
}

// rewritten is a copy of a code in which others stand in the places for which replace gives one. What is used several times is computed once.
//
//detcheck:allow pointer it is looked up only
func (c *compiler) rewritten(x *code, replace func(*code) *code, made map[*code]*code) *code {
	if y := replace(x); y != nil {
		return y
	}
	if y := made[x]; y != nil {
		if y.memo == 0 {
			c.memos++
			y.memo = c.memos
		}
		return y
	}
	copied := *x
	copied.args, copied.memo, copied.needs = make([]*code, len(x.args)), 0, 0
	for i, a := range x.args {
		copied.args[i] = c.rewritten(a, replace, made)
	}
	made[x] = &copied
	return &copied
}

// addTable makes a table of a code that hangs on nothing but its entries, and returns its place in the list.
func (c *compiler) addTable(of *code) int {
	size := c.scope.Lattice.MaxDegree() + 1
	c.tabled = append(c.tabled, table{of, size, c.tableSize})
	c.tableSize += size * len(c.degrees)
	return len(c.tabled) - 1
}

// fillTables computes all values of all tables.
func (m *machine) fillTables() {
	if len(m.tabled) == 0 {
		return
	}
	if m.values == nil {
		m.values = make([]float32, m.tableSize)
	}
	for _, t := range m.tabled {
		for degree := range m.degrees {
			m.here = block{stride: 1, n: t.size, degree: degree, step: -1, id: m.number()}
			m.keep(m.eval(t.of, &m.here, 0), t.size, 0)
			copy(m.values[t.at+degree*t.size:], m.register(0, t.size))
		}
	}
}
