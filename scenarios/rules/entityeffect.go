package rules

import (
	"fmt"
	"slices"

	"github.com/murksim/murksim/commands"
	"github.com/murksim/murksim/exact/fixed"
)

// effects does what an item does, once it is known that it is done. Born is the cell of the child.
func (m *stage) effects(x *agentItem, at *place, born int) error {
	values := make([]value, len(x.set))
	for i, t := range x.set {
		v, err := m.compute(t, x.Name+".set."+m.scope.target(&x.Set[i]), &x.Set[i], at)
		if err != nil {
			return err
		}
		values[i] = v
	}
	for i := range values {
		m.write(&x.Set[i], values[i], at)
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
		m.crowd.kinds[at.slot] = int32(x.Become)
	}
	return nil
}

// compute computes what is to be written, and refuses what cannot be.
func (m *stage) compute(t *Term, name string, s *Change, at *place) (value, error) {
	there := *at
	there.name = name
	v, err := m.e.eval(t, &there)
	if err != nil {
		return v, fmt.Errorf("%s: %w", name, err)
	}
	all := v.v
	if t.Type.N == 0 {
		all = []value{v}
	}
	f := &m.scope.Fields[s.Field]
	for k := range all {
		if t.Type.Base == Fixed {
			continue
		}
		x := all[k].number()
		all[k].f = float64(x)
		if x-x != 0 || f.Values != nil && !(x >= 0 && x < float32(len(f.Values)) && x == float32(int32(x))) {
			return v, m.unwritable(t, name, f, &there)
		}
	}
	if t.Type.N == 0 {
		v = all[0]
	}
	return v, nil
}

// unwritable is the error of a value that cannot be written: it names the first operation that gives something that is not finite although its operands are.
func (m *stage) unwritable(t *Term, name string, f *Field, at *place) error {
	var first *Term
	var of []value
	m.state.seen = func(t *Term, args []value, v value) {
		if first == nil && !v.finite(t.Type) {
			first, of = t, append([]value(nil), args...)
		}
	}
	m.e.eval(t, at) // which has been computed without an error
	m.state.seen = nil
	switch {
	case first != nil:
		return fmt.Errorf("%s: `%s`: %s is not finite", name, first.Node, first.shown(of))
	case f.Values != nil:
		return fmt.Errorf("%s: `%s` is no value of %s", name, t.Node, f.Name)
	}
	return fmt.Errorf("%s: `%s` is not finite", name, t.Node)
}

// element is where the first component of what a change writes stands in its column.
func (m *stage) element(s *Change, at *place) int {
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
func (m *stage) write(s *Change, v value, at *place) {
	all := v.v
	if all == nil {
		all = []value{v}
	}
	column, i := m.next[s.Field], m.element(s, at)
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
func (m *stage) take(x *agentItem, at *place) error {
	k := x.Take
	name := x.Name + ".take"
	there := *at
	there.name = name
	v, err := m.e.eval(x.amount, &there)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
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
	}
	if m.Occupancy > 0 {
		m.count[w.cells[slot]]--
	}
	_, err := m.c.Schedule(m.c.Tick(), commands.Despawn(w.ids[slot]))
	return err
}

// cradle is the cell of a child; -1: there is no room. The entity stands on the cell to which it moves as if it were there already, and with die, as if it were dead.
func (m *stage) cradle(x *agentItem, at *place, before, to int) (cell int, err error) {
	if m.room <= 0 {
		return -1, nil
	}
	if m.Occupancy > 0 {
		m.count[before]--
		if !x.Die {
			m.count[to]++
		}
		defer func() {
			if !x.Die {
				m.count[to]--
			}
			m.count[before]++
		}()
	}
	there := *at
	there.own, there.cell = to, to
	switch x.Birth.At {
	case Beside:
		if err := m.candidates(x, x.birthOnto, &there); err != nil || len(m.open) == 0 {
			return -1, err
		}
		return int(m.open[chosen(m.state.Word(x.Name+".birth", 0, at.slot), len(m.open))].cell), nil
	case Anywhere:
		return m.anywhere(x, x.birthOnto, ".birth", &there)
	case Behind:
		cell = before
	default:
		cell = to
	}
	open, err := m.isOpen(x, x.birthOnto, &there, cell)
	if err != nil || !open {
		return -1, err
	}
	return cell, nil
}

// bear brings a child into the world at the end of the tick.
func (m *stage) bear(x *agentItem, at *place, cell int) error {
	kind := x.Birth.Kind
	if kind == Kin {
		kind = int(m.crowd.kinds[at.slot])
	}
	values := []commands.FieldValue{{Field: uint32(m.kind), Value: float32(kind)}}
	for i, t := range x.birthSet {
		s := &x.Birth.Set[i]
		name := x.Name + ".birth." + m.scope.target(s)
		v, err := m.compute(t, name, s, at)
		if err != nil {
			return err
		}
		all := v.v
		if t.Type.N == 0 {
			all = []value{v}
		}
		for _, one := range all {
			number := one.number()
			if t.Type.Base == Fixed {
				number = float32(one.x.Float64())
				if back, err := toFixed(float64(number)); err != nil || back != one.x {
					return fmt.Errorf("%s: %v has more digits than a child can be given", name, one.x)
				}
			}
			values = append(values, commands.FieldValue{Field: uint32(m.Fields[s.Field]), Value: number})
		}
	}
	m.room--
	if m.Occupancy > 0 {
		m.count[cell]++
	}
	_, err := m.c.Schedule(m.c.Tick(), commands.Spawn(m.scope.Lattice.Coord(cell), slices.Clip(values)...))
	return err
}
