package rules

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/fields"
	"github.com/murksim/murksim/space"
)

// A System is a rule of entities in a world. It implements [engine.System].
type System struct {
	Binding
	Occupancy  int // how many may stand on a cell; 0: any number
	scope      *Scope
	rule       *Agents
	streams    []stream
	kind, cell fields.ID
	writes     []bool // by field of the scope
	reads      [2][]bool
}

// NewSystem makes the system of a rule that was checked. The last of the binding's fields is the column of kinds, after which comes that of cells.
func NewSystem(b Binding, occupancy int, s *Scope, a *Agents) *System {
	n := len(s.Fields)
	x := &System{Binding: b, Occupancy: occupancy, scope: s, rule: a, streams: a.streams(s), writes: make([]bool, n)}
	x.kind, x.cell = b.Fields[n-1], b.Fields[n-1]+1
	x.reads[0], x.reads[1] = make([]bool, n), make([]bool, n)
	for _, t := range a.terms() {
		t.Walk(func(t *Term) {
			switch t.Op {
			case Get:
				x.reads[0][t.Index] = true
			case Now:
				x.reads[1][t.Index] = true
			}
		})
	}
	for i := range a.items {
		it := &a.items[i]
		for k := range it.Set {
			x.writes[it.Set[k].Field] = true
		}
		if it.Take != nil {
			x.writes[it.Take.From.Field], x.writes[it.Take.To.Field] = true, true
		}
		if it.Become != Unchanged {
			x.writes[n-1] = true
		}
	}
	return x
}

// terms are all formulas of the rule, lets as they are used.
func (a *Agents) terms() (all []*Term) {
	for i := range a.uses {
		for k := range a.uses[i] {
			all = append(all, a.uses[i][k].Term)
		}
	}
	for i := range a.items {
		x := &a.items[i]
		all = append(append(all, x.where, x.when, x.chance, x.onto, x.amount, x.birthOnto), x.args...)
		all = append(append(all, x.set...), x.birthSet...)
	}
	return slices.DeleteFunc(all, func(t *Term) bool { return t == nil })
}

// moves reports whether an item moves its entity.
func (a *Agents) moves() bool {
	return slices.ContainsFunc(a.items, func(x agentItem) bool { return x.way != Stay })
}

// Spec implements [engine.System].
func (x *System) Spec(*space.Lattice) engine.Spec {
	spec := engine.Spec{Name: x.Name}
	for i, id := range x.Fields[:len(x.Fields)-1] {
		switch {
		case x.writes[i]:
			spec.Incremental = append(spec.Incremental, id)
		case x.reads[1][i]:
			spec.Now = append(spec.Now, id)
		}
		if x.reads[0][i] {
			spec.Prev = append(spec.Prev, id)
		}
	}
	if x.writes[len(x.writes)-1] {
		spec.Incremental = append(spec.Incremental, x.kind)
	}
	if x.rule.moves() {
		spec.Incremental = append(spec.Incremental, x.cell)
	}
	for _, s := range x.streams {
		if !slices.Contains(spec.Places, s.place) {
			spec.Places = append(spec.Places, s.place)
		}
	}
	return spec
}

// A stage is what a rule of entities needs while it acts.
type stage struct {
	*System
	c     *engine.SystemContext
	e     evaluator
	state State
	crowd crowd
	next  []*fields.Column // by field of the scope, of those that it writes
	order []turn
	due   []int32 // spawns to come, by cell: used while they are counted
	dead  []uint64
	count []int32 // by cell, with an occupancy: who stands there, and who is born there
	room  int     // how many more the world has room for
	other []int32 // slots of entities that with found
	cells []int32 // on which it looks
	open  []step  // to where a move may lead

	patterns []*space.Pattern // by cell
}

// A step leads to a neighbour.
type step struct {
	cell int32
	dir  uint8 // of the lattice's directions
}

// A turn is an entity and when it acts.
type turn struct {
	word uint32
	id   uint64
	slot int32
}

// Update implements [engine.System].
func (x *System) Update(c *engine.SystemContext) error {
	m := c.Memory(func() any { return &stage{System: x} }).(*stage)
	m.begin(c)
	for _, t := range m.order {
		for i := range x.rule.items {
			if m.crowd.dying[t.slot] {
				break
			}
			if err := m.do(&x.rule.items[i], int(t.slot)); err != nil {
				return fmt.Errorf("entity %d: %w", t.id, err)
			}
		}
	}
	return nil
}

// begin lets the stage see the world as it is in this tick.
func (m *stage) begin(c *engine.SystemContext) {
	m.c = c
	all := c.Entities()
	w := &m.crowd
	w.ids, w.kinds, w.cells = all.ID, all.Kind, all.Cell
	if m.writes[len(m.writes)-1] {
		w.kinds = c.NextColumn(m.kind).Int32
	}
	if m.rule.moves() {
		w.cells = c.NextColumn(m.cell).Int32
	}
	m.columns(c)
	m.e = evaluator{Scope: m.scope, State: &m.state, agents: m.rule, crowd: w}
	if len(w.dying) != len(w.ids) {
		w.dying = make([]bool, len(w.ids))
	}
	clear(w.dying)
	m.dead = c.AppendDespawns(m.dead[:0])
	for _, id := range m.dead {
		if slot, ok := c.Slot(id); ok {
			w.dying[slot] = true
		}
	}
	m.due = c.AppendSpawns(m.due[:0])
	m.room = len(w.ids) - c.Population() - len(m.due)
	w.stand(m.scope.Lattice.Cells())
	if m.patterns == nil {
		m.patterns = make([]*space.Pattern, m.scope.Lattice.Cells())
		for _, s := range m.scope.Lattice.Spans() {
			for i := range s.Count {
				m.patterns[s.First+i*s.Stride] = s.Pattern
			}
		}
	}
	m.count = m.count[:0]
	if m.Occupancy > 0 {
		m.count = append(m.count, make([]int32, m.scope.Lattice.Cells())...)
		for _, cell := range m.due {
			m.count[cell]++
		}
	}
	m.takeTurns()
}

// columns finds the columns of the fields, the parameters and the random words.
func (m *stage) columns(c *engine.SystemContext) {
	n := len(m.scope.Fields)
	s := &m.state
	if s.Prev == nil {
		s.Prev, s.Now, m.next = make([][]float32, n), make([][]float32, n), make([]*fields.Column, n)
		s.Fixed = [2][][]int64{make([][]int64, n), make([][]int64, n)}
	}
	for i, id := range m.Fields[:n-1] {
		if m.reads[0][i] {
			column := c.PrevColumn(id)
			s.Prev[i], s.Fixed[0][i] = column.Float32, column.Fixed
		}
		var column *fields.Column
		switch {
		case m.writes[i]:
			column = c.NextColumn(id)
			m.next[i] = column
		case m.reads[1][i]:
			column = c.NowColumn(id)
		default:
			continue
		}
		s.Now[i], s.Fixed[1][i] = column.Float32, column.Fixed
	}
	s.Kinds, s.Own, s.World = m.crowd.kinds, s.Own[:0], s.World[:0]
	for _, key := range m.Own {
		s.Own = append(s.Own, c.Parameter(key))
	}
	for _, key := range m.World {
		s.World = append(s.World, c.Parameter(key))
	}
	s.Dt, s.Tick = c.Dt(), c.Tick()
	if m.rule.Order == Together {
		m.keepFound()
	}
	s.Word = func(place string, number, slot int) uint32 {
		return c.EntityPlace(place, uint64(number)).Uint32(m.crowd.ids[slot])
	}
	for _, x := range m.streams {
		c.EntityPlace(x.place, uint64(x.number)) // each counts, whether it is drawn from or not
	}
}

// keepFound keeps the attributes that the rule sets as it found them: others see them so whose entities act together.
func (m *stage) keepFound() {
	s := &m.state
	if s.Found == nil {
		s.Found, s.FoundFixed = make([][]float32, len(m.scope.Fields)), make([][]int64, len(m.scope.Fields))
	}
	for i := range m.scope.Fields {
		if m.writes[i] && m.scope.Fields[i].Attribute {
			s.Found[i] = append(s.Found[i][:0], s.Now[i]...)
			s.FoundFixed[i] = append(s.FoundFixed[i][:0], s.Fixed[1][i]...)
		}
	}
}

// takeTurns puts everybody on their cells, and those that act into their order.
func (m *stage) takeTurns() {
	w := &m.crowd
	m.order = m.order[:0]
	for slot, id := range w.ids {
		if id == 0 || w.dying[slot] {
			continue
		}
		w.join(slot)
		if m.Occupancy > 0 {
			m.count[w.cells[slot]]++
		}
		if slices.Contains(m.rule.For, int(w.kinds[slot])) {
			t := turn{id: id, slot: int32(slot)}
			if m.rule.Order == Shuffled {
				t.word = m.state.Word(orderPlace, 0, slot)
			}
			m.order = append(m.order, t)
		}
	}
	//detcheck:allow sort ids are unique
	slices.SortFunc(m.order, func(a, b turn) int { return cmp.Or(cmp.Compare(a.word, b.word), cmp.Compare(a.id, b.id)) })
}

// hasRoom reports whether one more may stand on a cell.
func (m *stage) hasRoom(cell int) bool { return m.Occupancy == 0 || int(m.count[cell]) < m.Occupancy }

// do does an item, whole or not at all.
func (m *stage) do(x *agentItem, slot int) error {
	w := &m.crowd
	at := &place{slot: slot, own: int(w.cells[slot]), cell: int(w.cells[slot]), other: -1}
	if x.With != nil {
		found, err := m.find(x, at)
		if err != nil || !found {
			return err
		}
	}
	for _, c := range [...]struct {
		t    *Term
		name string
	}{{x.when, ".when"}, {x.chance, ".chance"}} {
		if yes, err := m.holds(c.t, x.Name+c.name, at); err != nil || !yes {
			return err
		}
	}
	before, to := at.own, at.own
	if x.way != Stay {
		target, err := m.target(x, at)
		if err != nil || target < 0 {
			return err
		}
		to = target
	}
	born := -1
	if x.Birth != nil {
		cell, err := m.cradle(x, at, before, to)
		if err != nil || cell < 0 {
			return err
		}
		born = cell
	}
	if to != before {
		m.walk(slot, to)
	}
	at.own, at.cell = to, to
	return m.effects(x, at, born)
}

// holds computes a condition; one that an item does not have holds.
func (m *stage) holds(t *Term, name string, at *place) (bool, error) {
	if t == nil {
		return true, nil
	}
	there := *at
	there.name = name
	v, err := m.e.eval(t, &there)
	if err != nil {
		err = fmt.Errorf("%s: %w", name, err)
	}
	return v.f == 1, err
}

// walk moves an entity to another cell.
func (m *stage) walk(slot, to int) {
	w := &m.crowd
	w.leave(slot)
	if m.Occupancy > 0 {
		m.count[w.cells[slot]]--
		m.count[to]++
	}
	w.cells[slot] = int32(to)
	w.join(slot)
}

// find finds the other entity that an item needs.
func (m *stage) find(x *agentItem, at *place) (found bool, err error) {
	m.other, m.cells = m.other[:0], append(m.cells[:0], int32(at.own))
	if x.With.Around {
		for _, o := range m.patterns[at.own].Offsets {
			m.cells = append(m.cells, int32(at.own+o))
		}
	}
	looked := 0
	for i, cell := range m.cells {
		if slices.Contains(m.cells[:i], cell) {
			continue
		}
		m.crowd.each(int(cell), func(slot int) bool {
			if slot == at.slot || !m.crowd.is(x.With.One, at.slot, slot) {
				return true
			}
			there, yes := *at, true
			there.other = slot
			if yes, err = m.holds(x.where, x.Name+".with", &there); yes {
				m.other = append(m.other, int32(slot))
			}
			looked++
			return err == nil && looked < mostLooked
		})
		if err != nil || looked == mostLooked {
			break
		}
	}
	if err != nil || len(m.other) == 0 {
		return false, err
	}
	k := 0
	if !x.With.First {
		k = chosen(m.state.Word(x.Name+".with", 0, at.slot), len(m.other))
	}
	at.other = int(m.other[k])
	return true, nil
}

// isOpen reports whether an entity may go to a cell.
func (m *stage) isOpen(x *agentItem, onto *Term, at *place, cell int) (bool, error) {
	if !m.hasRoom(cell) {
		return false, nil
	}
	there := *at
	there.cell, there.in = cell, true
	return m.holds(onto, x.Name+".onto", &there)
}

// candidates lists the open neighbours, but for the own cell.
func (m *stage) candidates(x *agentItem, onto *Term, at *place) error {
	m.open = m.open[:0]
	p := m.patterns[at.own]
	for i, o := range p.Offsets {
		if o == 0 {
			continue
		}
		open, err := m.isOpen(x, onto, at, at.own+o)
		if err != nil {
			return err
		}
		if open {
			m.open = append(m.open, step{int32(at.own + o), p.Dirs[i]})
		}
	}
	return nil
}

// target is the cell to which an item moves; -1: there is none.
func (m *stage) target(x *agentItem, at *place) (int, error) {
	switch x.way {
	case ToOther:
		return m.toOther(x, at)
	case ToOffset:
		return m.toOffset(x, at)
	case ToAnywhere:
		return m.anywhere(x, x.onto, ".move", at)
	}
	if err := m.candidates(x, x.onto, at); err != nil || len(m.open) == 0 {
		return -1, err
	}
	k := chosen(m.state.Word(x.Name+".move", 0, at.slot), len(m.open))
	if x.way == ToAny {
		return int(m.open[k].cell), nil
	}
	if x.way == Along {
		return m.along(x, at, k)
	}
	best, of := -1, value{}
	for i := range m.open {
		cell := int(m.open[(k+i)%len(m.open)].cell)
		there := *at
		there.name, there.cell, there.in = x.Name+".move", cell, true
		v, err := m.e.eval(x.args[0], &there)
		if err != nil {
			return -1, fmt.Errorf("move: %w", err)
		}
		v = v.rounded(x.args[0].Type)
		if best < 0 || x.way == ToMost && greater(x.args[0], v, of) || x.way == ToLeast && greater(x.args[0], of, v) {
			best, of = cell, v
		}
	}
	return best, nil
}

// greater reports whether one number is greater than another.
func greater(t *Term, a, b value) bool {
	if t.Type.Base == Fixed {
		return a.x > b.x
	}
	return a.f > b.f
}

// toOther is the cell of the other entity.
func (m *stage) toOther(x *agentItem, at *place) (int, error) {
	cell := int(m.crowd.cells[at.other])
	if cell == at.own {
		return cell, nil
	}
	open, err := m.isOpen(x, x.onto, at, cell)
	if err != nil || !open {
		return -1, err
	}
	return cell, nil
}

// toOffset is the cell in a direction or at an offset.
func (m *stage) toOffset(x *agentItem, at *place) (int, error) {
	l := m.scope.Lattice
	offset := make([]int32, l.Dim())
	if x.direction >= 0 {
		step := l.Directions()[x.direction].Step
		for k := range offset {
			offset[k] = step.At(k)
		}
	}
	for k, t := range x.args {
		there := *at
		there.name = x.Name + ".move"
		v, err := m.e.eval(t, &there)
		if err != nil {
			return -1, fmt.Errorf("move: %w", err)
		}
		f := math.Floor(float64(v.number()))
		if !(f > -math.MaxInt32 && f < math.MaxInt32) {
			return -1, nil
		}
		offset[k] = int32(f)
	}
	cell, ok := m.e.beyond(at.own, offset)
	if !ok || cell == at.own {
		return -1, nil
	}
	open, err := m.isOpen(x, x.onto, at, cell)
	if err != nil || !open {
		return -1, err
	}
	return cell, nil
}

// along is the open neighbour that lies best along a vector, from candidate k on; -1 if none does.
func (m *stage) along(x *agentItem, at *place, k int) (int, error) {
	there := *at
	there.name = x.Name + ".move"
	v, err := m.e.eval(x.args[0], &there)
	if err != nil {
		return -1, fmt.Errorf("move: %w", err)
	}
	best, most := -1, 0.0
	for i := range m.open {
		s := &m.open[(k+i)%len(m.open)]
		d := &m.scope.Lattice.Directions()[s.dir]
		sum := 0.0
		for j, f := range v.v[:min(len(v.v), len(d.Way))] {
			sum += float64(d.Way[j] * float64(f.number()))
		}
		if sum /= d.Length; sum > most {
			best, most = int(s.cell), sum
		}
	}
	return best, nil
}

// anywhere is the first of 16 drawn cells that is open.
func (m *stage) anywhere(x *agentItem, onto *Term, place string, at *place) (int, error) {
	b, cells := m.c.EntityPlace(x.Name+place, 0), uint64(m.scope.Lattice.Cells())
	for j := range mostTries {
		w := b.Block(m.crowd.ids[at.slot], uint32(j/4))[j%4]
		cell := int(uint64(w) * cells >> 32)
		if open, err := m.isOpen(x, onto, at, cell); err != nil || open && cell != at.own {
			return cell, err
		}
	}
	return -1, nil
}

// Unused is a parameter of the rule that none of its formulas names; "": there is none.
func (a *Agents) Unused(s *Scope) string { return unused(s, a.terms()) }
