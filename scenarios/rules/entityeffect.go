package rules

import (
	"fmt"

	"github.com/murksim/murksim/commands"
	"github.com/murksim/murksim/exact/fixed"
)

// effects does what an item does, once it is known that it is done. Born is the cell of the child.
func (m *stage) effects(x *itemCode, at *frame, born int) error {
	if err := m.set(x, at); err != nil || x.sets {
		return err
	}
	if x.Take != nil {
		if err := m.take(x, at); err != nil {
			return err
		}
	}
	if x.Kill {
		if err := m.die(at.other); err != nil {
			return err
		}
	}
	if x.Die {
		if err := m.die(at.slot); err != nil {
			return err
		}
	}
	if x.Birth != nil {
		if err := m.bear(x, at, born); err != nil {
			return err
		}
	}
	if x.Become != Unchanged {
		if !m.crowd.gone[at.slot] {
			m.crowd.leave(at.slot)
		}
		m.crowd.kinds[at.slot] = int32(x.Become)
		if !m.crowd.gone[at.slot] {
			m.crowd.join(at.slot)
		}
	}
	return nil
}

// set computes all values, and then writes them.
func (m *stage) set(x *itemCode, at *frame) error {
	if x.plain {
		return m.setNumbers(x, at)
	}
	m.values = m.values[:0]
	for i := range x.set {
		v, err := m.compute(&x.set[i], &x.Set[i], at)
		if err != nil {
			return err
		}
		m.values = append(m.values, v)
	}
	for i := range x.set {
		m.write(&x.Set[i], m.values[i], at)
	}
	return nil
}

// setNumbers is set, where all that is written is numbers and categories of float32.
func (m *stage) setNumbers(x *itemCode, at *frame) error {
	for i := range x.set {
		c := &x.set[i]
		v := c.number(at)
		if f := &m.scope.Fields[x.Set[i].Field]; at.err != nil {
			return at.failed(c)
		} else if !f.holds(v) {
			return m.unwritable(c.term, c.place, f, at)
		}
		m.numbers[i] = v
	}
	for i := range x.set {
		s := &x.Set[i]
		m.next[s.Field].Float32[m.element(s, at)] = m.numbers[i]
	}
	return nil
}

// isPlain reports whether all that an item sets is numbers and categories of float32.
func (c *agentCompiler) isPlain(x *itemCode) bool {
	for i := range x.set {
		if x.set[i].number == nil || c.scope.Fields[x.Set[i].Field].Fixed {
			return false
		}
	}
	return true
}

// compute computes what is to be written, and refuses what cannot be.
func (m *stage) compute(c *agentCode, s *Change, at *frame) (value, error) {
	v, err := at.compute(c)
	if err != nil || c.term.Type.Base == Fixed {
		return v, err
	}
	f := &m.scope.Fields[s.Field]
	bad := v.v == nil && !f.holds(v.number())
	for _, x := range v.v {
		bad = bad || !f.holds(x.number())
	}
	if bad {
		return v, m.unwritable(c.term, c.place, f, at)
	}
	return v, nil
}

// holds reports whether a field can hold a number.
func (f *Field) holds(x float32) bool {
	if f.Values == nil {
		return x-x == 0
	}
	return x >= 0 && x < float32(len(f.Values)) && x == float32(int32(x))
}

// unwritable is the error of a value that cannot be written: it names the first operation that gives something that is not finite although its operands are.
func (m *stage) unwritable(t *Term, name string, f *Field, at *frame) error {
	there := at.place
	there.name = name
	first, of := m.state.firstUnbounded(func() { m.e.eval(t, &there) }) // which has been computed without an error
	switch {
	case first != nil:
		return fmt.Errorf("%s: `%s`: %s is not finite", name, first.Node, first.shown(of))
	case f.Values != nil:
		return fmt.Errorf("%s: `%s` is no value of %s", name, t.Node, f.Name)
	}
	return fmt.Errorf("%s: `%s` is not finite", name, t.Node)
}

// element is where the first component of what a change writes stands in its column.
func (m *stage) element(s *Change, at *frame) int {
	i := at.slot
	switch s.Who {
	case Here:
		i = at.own
	case Other:
		i = at.other
	}
	return i*max(1, m.scope.Fields[s.Field].N) + max(0, s.Component)
}

// write writes a value that was computed.
func (m *stage) write(s *Change, v value, at *frame) {
	column, i := m.next[s.Field], m.element(s, at)
	one := [1]value{v}
	all := one[:]
	if v.v != nil {
		all = v.v
	}
	for k, x := range all {
		switch f := &m.scope.Fields[s.Field]; {
		case !f.Fixed:
			column.Float32[i+k] = x.number()
		case f.Values != nil:
			column.Fixed[i+k] = int64(x.f) * int64(fixed.One) //detcheck:allow floatint it is one of the field's categories
		default:
			column.Fixed[i+k] = int64(x.x)
		}
	}
}

// take gives what one number loses to another one: just as much.
func (m *stage) take(x *itemCode, at *frame) error {
	k, name := x.Take, x.amount.place
	v, err := at.compute(&x.amount)
	if err != nil {
		return err
	}
	from, to := m.next[k.From.Field], m.next[k.To.Field]
	i, j := m.element(&k.From, at), m.element(&k.To, at)
	if from == to && i == j {
		return nil
	}
	if m.scope.Fields[k.From.Field].Fixed {
		had := fixed.Fixed(from.Fixed[i])
		var c fixed.Calc
		left := c.Sub(had, max(min(v.x, had), 0))
		given := c.Add(fixed.Fixed(to.Fixed[j]), c.Sub(had, left))
		if err := c.Err(); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		from.Fixed[i], to.Fixed[j] = int64(left), int64(given)
		return nil
	}
	had, want := from.Float32[i], v.number()
	if want != want {
		return fmt.Errorf("%s: `%s` is no number", name, k.Amount)
	}
	if want > had {
		want = had
	}
	if want < 0 {
		want = 0
	}
	left := had - want
	given := to.Float32[j] + (had - left)
	if given-given != 0 {
		return fmt.Errorf("%s: %v + %v is not finite", name, to.Float32[j], had-left)
	}
	from.Float32[i], to.Float32[j] = left, given
	return nil
}

// die lets an entity die at the end of the tick. It leaves its cell at once for those that look.
func (m *stage) die(slot int) error {
	w := &m.crowd
	if w.dying[slot] {
		return nil
	}
	w.dying[slot] = true
	if m.rule.Order != Together {
		w.leave(slot)
		w.gone[slot] = true
	}
	if m.Occupancy > 0 {
		m.count[w.cells[slot]]--
	}
	_, err := m.c.Schedule(m.c.Tick(), commands.Despawn(w.ids[slot]))
	return err
}

// cradle is the cell of a child; -1: there is no room. The entity stands on the cell to which it moves as if it were there already, and with die, as if it were dead.
func (m *stage) cradle(x *itemCode, at *frame, before, to int) (cell int, err error) {
	if m.room <= 0 {
		return -1, nil
	}
	if m.Occupancy > 0 {
		m.count[before]--
		if !x.Die {
			m.count[to]++
		}
	}
	at.stand(to)
	cell, err = m.cradleFrom(x, at, before, to)
	at.stand(before)
	if m.Occupancy > 0 {
		if !x.Die {
			m.count[to]--
		}
		m.count[before]++
	}
	return cell, err
}

// cradleFrom is cradle, once the entity stands on its target.
func (m *stage) cradleFrom(x *itemCode, at *frame, before, to int) (cell int, err error) {
	switch x.Birth.At {
	case Beside:
		if err := m.candidates(&x.birthOnto, at); err != nil || len(m.open) == 0 {
			return -1, err
		}
		return int(m.open[chosen(m.word(x.birth, at.slot), len(m.open))].cell), nil
	case Anywhere:
		return m.anywhere(&x.birthOnto, x.birth, at)
	case Behind:
		cell = before
	default:
		cell = to
	}
	open, err := m.isOpen(&x.birthOnto, at, cell)
	if err != nil || !open {
		return -1, err
	}
	return cell, nil
}

// bear brings a child into the world at the end of the tick.
func (m *stage) bear(x *itemCode, at *frame, cell int) error {
	kind := x.Birth.Kind
	if kind == Kin {
		kind = int(m.crowd.kinds[at.slot])
	}
	given := append(m.given[:0], commands.FieldValue{Field: uint32(m.kind), Value: float32(kind)})
	for i := range x.birthSet {
		s, t, name := &x.Birth.Set[i], x.birthSet[i].term, x.birthSet[i].place
		v, err := m.compute(&x.birthSet[i], s, at)
		if err != nil {
			return err
		}
		one := [1]value{v}
		all := one[:]
		if t.Type.N > 0 {
			all = v.v
		}
		for _, one := range all {
			number := one.number()
			if t.Type.Base == Fixed {
				number = float32(one.x.Float64())
				if back, err := toFixed(float64(number)); err != nil || back != one.x {
					return fmt.Errorf("%s: %v has more digits than a child can be given", name, one.x)
				}
			}
			given = append(given, commands.FieldValue{Field: uint32(m.Fields[s.Field]), Value: number})
		}
	}
	m.room--
	if m.Occupancy > 0 {
		m.count[cell]++
	}
	child := commands.Spawn(m.scope.Lattice.Coord(cell))
	child.Data = commands.AppendValues(m.data[:0], given)
	m.given, m.data = given, child.Data
	_, err := m.c.Schedule(m.c.Tick(), child)
	return err
}
