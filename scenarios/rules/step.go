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
	m.prev, m.now, m.next = make([]fields.Column, n), make([]fields.Column, n), make([]fields.Column, n)
	return m
}

// begin lets the machine see the world as it is in this tick.
func (p *Propagator) begin(c *engine.Context, m *machine) {
	m.own, m.world, m.bulks = m.own[:0], m.world[:0], m.bulks[:0]
	m.need, m.outputs = nil, m.outputs[:0] // also after a tick that was given up
	for gen, columns := range [...][]fields.Column{m.prev, m.now} {
		for _, f := range p.reads[gen] {
			columns[f] = *p.column(c, gen, f)
		}
	}
	free := m.use(c.Uncleared())
	for _, f := range p.copied {
		n := p.copySize(f)
		to, from := fields.Column{Float32: free[:n]}, &m.now[f]
		if from.Fixed != nil {
			to = fields.Column{Fixed: kernel.AsUnits(free[:n])}
		}
		copy(to.Float32, from.Float32)
		copy(to.Fixed, from.Fixed)
		*from, free = to, free[n:]
	}
	for i := range p.set {
		f := p.set[i].Field
		m.next[f] = *c.NextColumn(p.Binding.Fields[f])
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

// copySize is how much scratch memory a copy of a field takes: an even number, for those of fixed numbers.
func (p *Propagator) copySize(f int) int {
	n := p.scope.Lattice.Cells() * max(1, p.scope.Fields[f].N)
	if p.scope.Fields[f].Fixed {
		n *= 2
	}
	return (n + 1) / 2 * 2
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

// block computes everything that is set in a block, and then writes it: all of it, or nothing if the tick fails here, so that what failed can be computed again.
func (m *machine) block(set []Assignment, b *block, bad *fault) {
	for i, x := range m.lets {
		m.collect(i)
		m.keep(m.eval(x, b, i), b.n, i)
	}
	d := len(m.lets)
	where, none, good := m.condition(b, d, bad)
	if none {
		return
	}
	d++
	m.need, m.reach.mask = where, where
	m.redirect(set, b)
	for i, t := 0, 0; i < len(set); i++ {
		f := &m.scope.Fields[set[i].Field]
		for range m.rule.Set[i].components() {
			m.collect(len(m.failed) - 1)
			m.keep(m.eval(m.targets[t], b, d+t), b.n, d+t)
			at := m.firstFault(b.n)
			if v := m.register(d+t, b.n); !m.targets[t].fixed && !m.certain[i] {
				if i := invalid(v, where, f); i >= 0 && (at < 0 || i < at) {
					at = i
				}
			}
			if t++; at >= 0 {
				bad.note(b.cell(at), i)
				good = false
			}
		}
	}
	m.need, m.reach.mask = nil, nil
	for i, t := 0, 0; good && i < len(set); i++ {
		for k := range m.rule.Set[i].components() {
			if m.outputs[t] == nil {
				m.write(set[i], k, d+t, m.targets[t], where, b)
			}
			t++
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
				column := m.next[set[i].Field].Float32[b.first:]
				output = column[:b.n:b.n]
				kernel.Fetch(column[b.n:min(2*b.n, len(column))])
			}
			m.outputs = append(m.outputs, output)
			t++
		}
	}
}

// condition is where in a block the rule writes something, nil for everywhere, whether that is nowhere, and whether it could be computed. It is kept in a register.
func (m *machine) condition(b *block, d int, bad *fault) (where []float32, none, good bool) {
	if m.where == nil {
		return nil, false, true
	}
	m.collect(len(m.failed) - 1)
	w := m.eval(m.where, b, d)
	at := m.firstFault(b.n)
	if at >= 0 {
		bad.note(b.index(at), 0)
	}
	if w.v == nil {
		return nil, math.Float32bits(w.k) == 0, at < 0
	}
	m.keep(w, b.n, d)
	return m.register(d, b.n), false, at < 0
}

// components is how many numbers a value has.
func (t *Term) components() int { return max(1, t.Type.N) }

// invalid is the first number that a field cannot hold, of those that are written; -1 for none.
func invalid(v, where []float32, f *Field) int {
	if where == nil && (f.Values == nil && kernel.AllFinite(v, 1) || f.Values != nil && kernel.AllStates(v, float32(len(f.Values)))) {
		return -1
	}
	for i, x := range v {
		if where != nil && math.Float32bits(where[i]) == 0 {
			continue
		}
		if !f.holds(x) {
			return i
		}
	}
	return -1
}

// write writes component k of what an assignment gives, from register d.
func (m *machine) write(a Assignment, k, d int, x *code, where []float32, b *block) {
	to, f := &m.next[a.Field], &m.scope.Fields[a.Field]
	part, parts := max(0, a.Component)+k, max(1, f.N)
	if !f.Fixed {
		write(to.Float32, m.register(d, b.n), where, b, part, parts)
		return
	}
	v := m.amounts(d, b.n)
	if !x.fixed { // a category
		for i, number := range m.register(d, b.n) {
			v[i] = 0
			if where == nil || math.Float32bits(where[i]) != 0 {
				v[i] = int64(number) * int64(fixed.One) //detcheck:allow floatint it is one of the field's categories
			}
		}
	}
	write(to.Fixed, v, where, b, part, parts)
}

// write writes numbers to a component of a field.
func write[T float32 | int64](to, v []T, where []float32, b *block, part, parts int) {
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

// state is what the naive form of the rule computes with.
func (p *Propagator) state(m *machine) *State {
	s := &State{Own: m.own, World: m.world, Dt: m.dt, Tick: m.tick}
	s.Word = func(place string, number, cell int) uint32 {
		i := slices.Index(p.streams, stream{place, number})
		return m.bulks[i].Block(uint64(cell/4), 0)[cell%4]
	}
	for f := range m.prev {
		s.Prev, s.Fixed[0] = append(s.Prev, m.prev[f].Float32), append(s.Fixed[0], m.prev[f].Fixed)
		s.Now, s.Fixed[1] = append(s.Now, m.now[f].Float32), append(s.Fixed[1], m.now[f].Fixed)
	}
	return s
}
