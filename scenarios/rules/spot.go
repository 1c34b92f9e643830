package rules

import "fmt"

// spot says where a term came to a value, in the state of which it did: of least and most the first cell, or entity, that has it, of any the first for which it is true,
// of all the first for which it is not, of born, died and entered the first to whom it happened, of refused the first command and why. Of other terms, and where there is none, it says nothing.
func (x *total) spot(e *evaluator, v float64) string {
	switch {
	case x.op == Refused && e.State.Refused > 0 && v > 0:
		return ": " + e.State.Refusal()
	case x.op >= Born && v > 0:
		text := ", first " + e.calls(x.past.first)
		if slot := e.State.living.slot(x.past.first); slot >= 0 {
			text += fmt.Sprintf(" at %v", e.Lattice.Coord(int(e.State.living.cells[slot])))
		}
		return text
	}
	is := map[Op]func(of float64) bool{
		Least: func(of float64) bool { return of == v },
		Most:  func(of float64) bool { return of == v },
		Any:   func(of float64) bool { return of == 1 },
		All:   func(of float64) bool { return of != 1 },
	}[x.op]
	if is == nil || x.over != overCells && x.over != overEntities {
		return ""
	}
	state, n := e.State, e.Lattice.Cells()
	if x.over == overEntities {
		n = state.living.choose(x.kind, x.machine == nil)
	}
	if x.keep(e, n) != nil {
		return ""
	}
	first := ""
	if x.op == Any || x.op == All {
		first = ", first"
	}
	for i := range n {
		switch {
		case !state.held[i] || !is(state.values[i]):
		case x.over == overCells:
			return fmt.Sprintf("%s at %v", first, e.Lattice.Coord(i))
		default:
			return fmt.Sprintf("%s of %s", first, e.calls(state.living.ids[state.living.slots[i]]))
		}
	}
	return ""
}

// keep keeps what the term comes to in each of n cells, or for each of n entities, in the state.
func (x *total) keep(e *evaluator, n int) error {
	if x.machine == nil {
		return x.lookNaively(e, 0, n)
	}
	m, bad := x.machine, fault{cell: noFault}
	x.prepare(e.State)
	take := func(b *block) {
		t := m.tell(b, &bad)
		t.keep(b, e.State)
	}
	if x.over == overEntities {
		m.blocksOfAgents(&e.State.living, n, take)
	} else {
		for _, span := range e.Lattice.Spans() {
			m.blocksOf(span, take)
		}
	}
	if bad.cell < noFault {
		return x.lookNaively(e, bad.cell, bad.cell+1)
	}
	return nil
}

// calls names an entity.
func (s *Scope) calls(id uint64) string {
	for _, n := range s.Named {
		if n.ID == id {
			return n.Name
		}
	}
	return fmt.Sprint("entity ", id)
}
