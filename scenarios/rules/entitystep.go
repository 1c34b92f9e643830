package rules

import (
	"fmt"
	"slices"

	"github.com/murksim/murksim/commands"
	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/fields"
	"github.com/murksim/murksim/rng"
	"github.com/murksim/murksim/space"
)

// A System is a rule of entities in a world. It implements [engine.System].
type System struct {
	Binding
	Occupancy  int // how many may stand on a cell; 0: any number
	scope      *Scope
	rule       *Agents
	streams    []stream
	items      []itemCode
	uniforms   []func(*frame) float64
	counts     bool // how many stand where
	lists      bool // who stands where
	borders    []bordered
	plane      *plane // nil: the lattice is none
	kind, cell fields.ID
	sure       []bool // by stream: nearly all draw from it
	warm       []bool // by field of the scope: what stands there now, of the entity or its cell, is looked at
	writes     []bool // by field of the scope
	reads      [2][]bool
}

// An itemCode is an item whose formulas were compiled.
type itemCode struct {
	*agentItem
	where, when, chance, onto, amount, birthOnto agentCode
	args, set, birthSet                          []agentCode
	with, move, birth                            int  // their draws, among the streams
	plain                                        bool // all that it sets is numbers and categories of float32
	sets                                         bool // it sets values and does nothing else once it has moved
}

// compile compiles an item.
func (c *agentCompiler) compile(x *agentItem) itemCode {
	code := itemCode{agentItem: x}
	code.where, code.when, code.chance = c.code(x.where, x.Name+".with"), c.code(x.when, x.Name+".when"), c.code(x.chance, x.Name+".chance")
	code.onto, code.birthOnto, code.amount = c.code(x.onto, x.Name+".onto"), c.code(x.birthOnto, x.Name+".birth.onto"), c.code(x.amount, x.Name+".take")
	for _, t := range x.args {
		code.args = append(code.args, c.code(t, x.Name+".move"))
	}
	for i, t := range x.set {
		code.set = append(code.set, c.code(t, x.Name+".set."+c.scope.target(&x.Set[i])))
	}
	code.plain, code.sets = c.isPlain(&code), x.Take == nil && !x.Kill && !x.Die && x.Birth == nil && x.Become == Unchanged
	for i, t := range x.birthSet {
		code.birthSet = append(code.birthSet, c.code(t, x.Name+".birth."+c.scope.target(&x.Birth.Set[i])))
	}
	code.with, code.move, code.birth = slices.Index(c.streams, stream{x.Name + ".with", 0}), slices.Index(c.streams, stream{x.Name + ".move", 0}), slices.Index(c.streams, stream{x.Name + ".birth", 0})
	return code
}

// NewSystem makes the system of a rule that was checked. The last of the binding's fields is the column of kinds, after which comes that of cells.
func NewSystem(b Binding, occupancy int, s *Scope, a *Agents) *System {
	n := len(s.Fields)
	x := &System{Binding: b, Occupancy: occupancy, scope: s, rule: a, streams: a.streams(s), writes: make([]bool, n), warm: make([]bool, n)}
	x.kind, x.cell = b.Fields[n-1], b.Fields[n-1]+1
	x.reads[0], x.reads[1] = make([]bool, n), make([]bool, n)
	for _, t := range a.terms() {
		t.Walk(func(t *Term) {
			switch t.Op {
			case Get:
				x.reads[0][t.Index] = true
			case Now:
				x.reads[1][t.Index] = true
				x.warm[t.Index] = x.warm[t.Index] || t.Who <= Here && t.Index < n-1 && !s.Fields[t.Index].Fixed
			case CountOn:
				x.lists = x.lists || t.Where != nil
			}
		})
	}
	for i := range a.items {
		it := &a.items[i]
		x.lists = x.lists || it.With != nil
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
	x.borders, x.counts = borders(s.Lattice), a.Counts()
	x.plane, x.sure = planeOf(s.Lattice), a.drawnSurely(s, x.streams)
	x.compile(false)
	return x
}

// Walked returns the system with formulas that are walked, term by term: slowly, and so that they can be compared with the page that specifies them.
func (x *System) Walked() *System {
	twin := *x
	twin.plane = nil
	twin.compile(true)
	return &twin
}

// compile compiles the formulas.
func (x *System) compile(naive bool) {
	c := &agentCompiler{System: x, naive: naive}
	x.items = nil
	for i := range x.rule.items {
		x.items = append(x.items, c.compile(&x.rule.items[i]))
	}
	x.uniforms = c.uniforms
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

// Counts reports whether the rule asks how many of a kind stand on a cell.
func (a *Agents) Counts() (does bool) {
	for _, t := range a.terms() {
		t.Walk(func(x *Term) { does = does || x.Op == CountOn && x.Where == nil })
	}
	return does
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
	c       *engine.SystemContext
	e       evaluator
	state   State
	crowd   crowd
	columns [2][][]float32   // of the state: Prev and Now
	next    []*fields.Column // by field of the scope, of those that it writes
	turns   turns
	ready   ready
	due     []int32 // spawns to come, by cell: used while they are counted
	dead    []uint64
	count   []int32 // by cell, with an occupancy: who stands there, and who is born there
	room    int     // how many more the world has room for
	found   []int32 // slots of entities that with found
	cells   []int32 // on which it looks
	open    []step  // to where a move may lead

	patterns []*space.Pattern // by cell
	bulks    []rng.Bulk       // of the streams
	exact    [][]float64      // uniform numbers, by the number of neighbours; nil: no cell has so many
	varies   bool             // not all cells have the same ones
	degrees  []uint8          // by cell: the number of neighbours
	done     []bool           // by the number of neighbours: they have been computed in this tick
	frame    frame
	values   []value
	numbers  [MaxSet]float32
	given    []commands.FieldValue // to a child
	data     []byte                // the same, as a command has it
}

// A step leads to a neighbour.
type step struct {
	cell int32
	dir  uint8 // of the lattice's directions
}

// memory is that of the system.
func (x *System) memory() any { return &stage{System: x} }

// Update implements [engine.System].
func (x *System) Update(c *engine.SystemContext) error {
	m := c.Memory(x.memory).(*stage)
	m.c = c
	m.begin()
	at := &m.frame
	*at = frame{stage: m, exact: m.exact[len(m.exact)-1]}
	for left := m.turns.order; len(left) > 0; {
		slots := left[:min(atOnce, len(left))]
		left = left[len(slots):]
		m.prepare(slots)
		for i, slot := range slots {
			at.turn, at.slot = i, int(slot)
			if err := m.act(at); err != nil {
				return fmt.Errorf("entity %d: %w", m.crowd.ids[slot], err)
			}
		}
	}
	return nil
}

// act lets an entity do all items, until it dies.
func (m *stage) act(at *frame) error {
	if m.crowd.dying[at.slot] { // another one has killed it
		return nil
	}
	at.stand(int(m.crowd.cells[at.slot]))
	for i := range m.items {
		x := &m.items[i]
		if err := m.do(x, at); err != nil || x.Die && m.crowd.dying[at.slot] {
			return err
		}
	}
	return nil
}

// begin lets the stage see the world as it is in this tick.
func (m *stage) begin() {
	c := m.c
	all := c.Entities()
	w := &m.crowd
	w.ids, w.kinds, w.cells = all.ID, all.Kind, all.Cell
	if m.writes[len(m.writes)-1] {
		w.kinds = c.NextColumn(m.kind).Int32
	}
	if m.rule.moves() {
		w.cells = c.NextColumn(m.cell).Int32
	}
	m.findColumns()
	m.e = evaluator{Scope: m.scope, State: &m.state, agents: m.rule, crowd: w, borders: m.borders, operands: m.e.operands}
	if len(w.dying) != len(w.ids) {
		w.dying, w.gone = make([]bool, len(w.ids)), make([]bool, len(w.ids))
	}
	clear(w.dying)
	clear(w.gone)
	m.dead = c.AppendDespawns(m.dead[:0])
	for _, id := range m.dead {
		if slot, ok := c.Slot(id); ok {
			w.dying[slot] = true
		}
	}
	m.due = c.AppendSpawns(m.due[:0])
	m.room = len(w.ids) - c.Population() - len(m.due)
	if w.listed = m.lists; m.counts && w.counts == nil {
		w.counts = make([][]int32, len(m.scope.Fields[len(m.scope.Fields)-1].Values)+1)
	}
	w.stand(m.scope.Lattice.Cells())
	m.lookAround()
	m.count = m.count[:0]
	if m.Occupancy > 0 {
		m.count = append(m.count, make([]int32, m.scope.Lattice.Cells())...)
		for _, cell := range m.due {
			m.count[cell]++
		}
	}
	m.computeUniforms()
	m.takeTurns()
}

// lookAround finds the neighbours of all cells, once.
func (m *stage) lookAround() {
	if m.patterns != nil {
		return
	}
	l := m.scope.Lattice
	m.patterns, m.degrees, m.exact, m.done = make([]*space.Pattern, l.Cells()), make([]uint8, l.Cells()), make([][]float64, l.MaxDegree()+1), make([]bool, l.MaxDegree()+1)
	for _, s := range l.Spans() {
		for i := range s.Count {
			cell := s.First + i*s.Stride
			m.patterns[cell], m.degrees[cell] = s.Pattern, uint8(len(s.Pattern.Offsets))
		}
	}
}

// computeUniforms computes what is the same for all entities on cells with one number of neighbours. Nothing is kept from an earlier tick: it may have been this one, with
// other commands.
func (m *stage) computeUniforms() {
	clear(m.done)
	for _, s := range m.scope.Lattice.Spans() {
		degree := len(s.Pattern.Offsets)
		if m.done[degree] {
			continue
		}
		m.done[degree] = true
		m.frame = frame{stage: m, place: place{own: s.First, cell: s.First, other: -1}}
		m.exact[degree] = m.exact[degree][:0]
		for _, f := range m.uniforms {
			m.exact[degree] = append(m.exact[degree], f(&m.frame))
		}
	}
	m.varies = len(m.uniforms) > 0 && slices.Contains(m.done[:len(m.done)-1], true)
}

// findColumns finds the columns of the fields, the parameters and the random words.
func (m *stage) findColumns() {
	c := m.c
	n := len(m.scope.Fields)
	s := &m.state
	if s.Prev == nil {
		s.Prev, s.Now, m.next = make([][]float32, n), make([][]float32, n), make([]*fields.Column, n)
		s.Fixed, m.columns = [2][][]int64{make([][]int64, n), make([][]int64, n)}, [2][][]float32{s.Prev, s.Now}
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
	if s.Word == nil {
		s.Word = func(place string, number, slot int) uint32 {
			return m.word(slices.Index(m.streams, stream{place, number}), slot)
		}
	}
	m.bulks = m.bulks[:0]
	for _, x := range m.streams {
		m.bulks = append(m.bulks, c.EntityPlace(x.place, uint64(x.number))) // each counts, whether it is drawn from or not
	}
}

// draw is the random word of a stream for the entity that acts.
func (m *stage) draw(i int, at *frame) uint32 {
	if m.ready.drawn != nil && m.ready.drawn[i] != nil {
		return m.ready.drawn[i][at.turn]
	}
	return m.bulks[i].Uint32(m.crowd.ids[at.slot])
}

// word is the random word of a stream for an entity.
func (m *stage) word(i, slot int) uint32 { return m.bulks[i].Uint32(m.crowd.ids[slot]) }

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

// hasRoom reports whether one more may stand on a cell.
func (m *stage) hasRoom(cell int) bool { return m.Occupancy == 0 || int(m.count[cell]) < m.Occupancy }

// do does an item, whole or not at all.
func (m *stage) do(x *itemCode, at *frame) error {
	own := at.own
	if at.other = -1; x.With != nil {
		found, err := m.find(x, at)
		if err != nil || !found {
			return err
		}
	}
	if x.when.term != nil && !x.when.truth(at) || at.err != nil {
		return at.failed(&x.when)
	}
	if x.chance.term != nil && !x.chance.truth(at) || at.err != nil {
		return at.failed(&x.chance)
	}
	to := own
	if x.way != Stay {
		target, err := m.target(x, at)
		if err != nil || target < 0 {
			return err
		}
		to = target
	}
	born := -1
	if x.Birth != nil {
		cell, err := m.cradle(x, at, own, to)
		if err != nil || cell < 0 {
			return err
		}
		born = cell
	}
	if to != own {
		m.walk(at.slot, to)
		at.stand(to)
	}
	return m.effects(x, at, born)
}

// stand puts the frame on another cell.
func (at *frame) stand(cell int) {
	at.own, at.cell = cell, cell
	if at.varies {
		at.exact = at.stage.exact[at.degrees[cell]]
	}
}

// holds computes a condition; one that an item does not have holds.
func (at *frame) holds(c *agentCode) (bool, error) {
	if c.term == nil {
		return true, nil
	}
	is := c.truth(at)
	return is, at.failed(c)
}

// failed is the error of what was computed last, with its place; nil: it has a result.
func (at *frame) failed(c *agentCode) error {
	if at.err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", c.place, at.err)
}

// walk moves an entity to another cell.
func (m *stage) walk(slot, to int) {
	w := &m.crowd
	if !w.asked() && m.Occupancy == 0 {
		w.cells[slot] = int32(to)
		return
	}
	w.leave(slot)
	if m.Occupancy > 0 {
		m.count[w.cells[slot]]--
		m.count[to]++
	}
	w.cells[slot] = int32(to)
	w.join(slot)
}

// Unused is a parameter of the rule that none of its formulas names; "": there is none.
func (a *Agents) Unused(s *Scope) string { return unused(s, a.terms()) }
