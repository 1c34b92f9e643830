package rules

import (
	"math"
	"slices"

	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/exact/fixed"
	"github.com/murksim/murksim/fields"
	"github.com/murksim/murksim/internal/kernel"
	"github.com/murksim/murksim/space"
)

// A fault is the first cell with a value that cannot be written, and whose it is.
type fault struct{ cell, assignment int }

// note keeps a fault if it is the first one.
func (f *fault) note(cell, assignment int) {
	if cell < f.cell || cell == f.cell && assignment < f.assignment {
		*f = fault{cell, assignment}
	}
}

// noFault is beyond all cells.
const noFault = math.MaxInt32

// machine is the memory of a worker.
func (p *Propagator) machine() any {
	m := newMachine(p.program)
	m.naive = NewNaive(p.scope, p.rule, p.set)
	n := len(p.Binding.Fields)
	m.prev, m.now, m.next = make([][]float32, n), make([][]float32, n), make([][]float32, n)
	return m
}

// begin lets the machine see the world as it is in this tick.
func (p *Propagator) begin(c *engine.Context, m *machine) {
	m.own, m.world, m.bulks = m.own[:0], m.world[:0], m.bulks[:0]
	m.need, m.outputs = nil, m.outputs[:0] // also after a tick that was given up
	for gen, columns := range [...][][]float32{m.prev, m.now} {
		for _, f := range p.reads[gen] {
			columns[f] = p.column(c, gen, f).Float32
		}
	}
	if p.program != nil {
		m.registers = c.Uncleared()
		free := m.registers[p.program.registers*blockSize:]
		for _, f := range p.copied {
			n := copy(free, m.now[f])
			m.now[f], free = free[:n], free[n:]
		}
	}
	for i := range p.set {
		f := p.set[i].Field
		m.next[f] = c.NextColumn(p.Binding.Fields[f]).Float32
	}
	for _, key := range p.Own {
		m.own = append(m.own, c.Parameter(key))
	}
	for _, key := range p.World {
		m.world = append(m.world, c.Parameter(key))
	}
	for _, s := range p.streams {
		m.bulks = append(m.bulks, c.Place(s.place, uint64(s.number)))
	}
	m.dt, m.tick = c.Dt(), c.Tick()
}

// column is a field of the scope in Prev, 0, or Now, 1.
func (p *Propagator) column(c *engine.Context, gen, f int) *fields.Column {
	switch {
	case gen == 0:
		return c.PrevColumn(p.Binding.Fields[f])
	case p.readsNext(f):
		return c.NextColumn(p.Binding.Fields[f])
	}
	return c.NowColumn(p.Binding.Fields[f])
}

// span computes the rule in the cells of a span.
func (m *machine) span(set []Assignment, s space.Span, bad *fault) {
	m.blocksOf(s, func(b *block) { m.block(set, b, bad) })
}

// blocksOf calls f with the cells of a span, block by block.
func (m *machine) blocksOf(s space.Span, f func(*block)) {
	degree := slices.Index(m.degrees, len(s.Pattern.Offsets))
	for done := 0; done < s.Count; done += blockSize {
		m.here = block{first: s.First + done*s.Stride, stride: s.Stride, n: min(blockSize, s.Count-done), pattern: s.Pattern, degree: degree, step: -1, id: m.number()}
		f(&m.here)
	}
}

// block computes everything that is set in a block, and then writes it.
func (m *machine) block(set []Assignment, b *block, bad *fault) {
	for i, x := range m.lets {
		m.keep(m.eval(x, b, i), b.n, i)
	}
	d := len(m.lets)
	var where []float32
	if m.where != nil {
		w := m.eval(m.where, b, d)
		if w.v == nil && math.Float32bits(w.k) == 0 {
			return
		}
		if w.v != nil {
			where = m.keep(w, b.n, d)
		}
	}
	d++
	m.need = where
	m.redirect(set, b)
	for i, x := range m.targets {
		m.keep(m.eval(x, b, d+i), b.n, d+i)
	}
	m.need = nil
	t := 0
	for i := range set {
		f := &m.scope.Fields[set[i].Field]
		first, n := max(0, set[i].Component), m.rule.Set[i].components()
		for k := range n {
			v, written := m.register(d+t, b.n), m.outputs[t] != nil
			t++
			if m.certain[i] {
				// nothing can be wrong
			} else if at := invalid(v, where, f); at >= 0 {
				bad.note(b.cell(at), i)
				continue
			}
			if !written {
				write(m.next[set[i].Field], v, where, b, first+k, max(1, f.N))
			}
		}
	}
	m.outputs = m.outputs[:0]
}

// redirect lets targets be computed where they are written, if nothing that is read is there.
func (m *machine) redirect(set []Assignment, b *block) {
	t := 0
	for i := range set {
		for range m.rule.Set[i].components() {
			var output []float32
			if m.plain[t] && b.stride == 1 {
				column := m.next[set[i].Field][b.first:]
				output = column[:b.n:b.n]
				kernel.Fetch(column[b.n:min(2*b.n, len(column))])
			}
			m.outputs = append(m.outputs, output)
			t++
		}
	}
}

// components is how many numbers a value has.
func (t *Term) components() int { return max(1, t.Type.N) }

// keep puts an operand of n cells into a register.
func (m *machine) keep(o operand, n, d int) []float32 {
	to := m.register(d, n)
	switch {
	case o.v == nil:
		fill(to, o.k)
	case !o.in:
		copy(to, o.v)
	}
	return to
}

// invalid is the first number that a field cannot hold, of those that are written; -1 for none.
func invalid(v, where []float32, f *Field) int {
	if where == nil && (f.Values == nil && kernel.AllFinite(v, 1) || f.Values != nil && kernel.AllStates(v, float32(len(f.Values)))) {
		return -1
	}
	for i, x := range v {
		if where != nil && math.Float32bits(where[i]) == 0 {
			continue
		}
		if x-x != 0 || f.Values != nil && !(x >= 0 && x < float32(len(f.Values)) && x == float32(int32(x))) {
			return i
		}
	}
	return -1
}

// write writes numbers to a component of a field.
func write(to, v, where []float32, b *block, part, parts int) {
	if where == nil && b.stride == 1 && parts == 1 {
		copy(to[b.first:][:b.n], v)
		return
	}
	at, step := b.first*parts+part, b.stride*parts
	for i, x := range v {
		if where == nil || math.Float32bits(where[i]) != 0 {
			to[at] = x
		}
		at += step
	}
}

// cellByCell computes a rule with fixed numbers.
func (p *Propagator) cellByCell(c *engine.Context, m *machine, bad *fault) {
	state := p.state(c, m)
	lo, hi := c.Range()
	type result struct {
		numbers []float32
		money   []fixed.Fixed
		written bool
	}
	results := make([]result, (hi-lo)*len(p.set)) // nothing that it writes is read
	for cell := lo; cell < hi; cell++ {
		for i := range p.set {
			r := &results[(cell-lo)*len(p.set)+i]
			var err error
			r.numbers, r.money, r.written, err = m.naive.Cell(state, i, cell)
			if err != nil || r.written && r.money == nil && slices.ContainsFunc(r.numbers, func(x float32) bool { return invalid([]float32{x}, nil, &p.scope.Fields[p.set[i].Field]) == 0 }) {
				bad.note(cell, i)
			}
		}
	}
	if bad.cell < noFault {
		return
	}
	for i := range p.set {
		f := &p.scope.Fields[p.set[i].Field]
		first, parts := max(0, p.set[i].Component), max(1, f.N)
		column := c.NextColumn(p.Binding.Fields[p.set[i].Field])
		for cell := lo; cell < hi; cell++ {
			r := &results[(cell-lo)*len(p.set)+i]
			if !r.written {
				continue
			}
			for k, x := range r.numbers {
				if f.Fixed { // a category
					column.Fixed[cell] = int64(x) * int64(fixed.One) //detcheck:allow floatint it is one of the field's categories
					continue
				}
				column.Float32[cell*parts+first+k] = x
			}
			for k, x := range r.money {
				column.Fixed[cell*parts+first+k] = int64(x)
			}
		}
	}
}

// state is what the naive form of the rule computes with.
func (p *Propagator) state(c *engine.Context, m *machine) *State {
	s := &State{Prev: m.prev, Now: m.now, Own: m.own, World: m.world, Dt: m.dt, Tick: m.tick}
	s.Word = func(place string, number, cell int) uint32 {
		i := slices.Index(p.streams, stream{place, number})
		return m.bulks[i].Block(uint64(cell/4), 0)[cell%4]
	}
	n := len(p.Binding.Fields)
	s.Fixed = [2][][]int64{make([][]int64, n), make([][]int64, n)}
	for gen := range s.Fixed {
		for _, f := range p.reads[gen] {
			s.Fixed[gen][f] = p.column(c, gen, f).Fixed
		}
	}
	return s
}
