package rules

import (
	"fmt"
	"math"
	"slices"

	"github.com/murksim/murksim/space"
)

// This file finds the other entity, and the cell to which one goes.

// find finds the other entity that an item needs.
func (m *stage) find(x *itemCode, at *frame) (found bool, err error) {
	m.found, m.cells = m.found[:0], append(m.cells[:0], int32(at.own))
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
		w := &m.crowd
		for slot := w.first[cell]; slot >= 0 && looked < mostLooked; slot = w.after[slot] {
			if int(slot) == at.slot || !w.is(x.With.One, at.slot, int(slot)) {
				continue
			}
			at.other = int(slot)
			yes, err := at.holds(&x.where)
			if err != nil {
				return false, err
			}
			if yes {
				m.found = append(m.found, slot)
			}
			looked++
		}
	}
	if len(m.found) == 0 {
		return false, nil
	}
	k := 0
	if !x.With.First {
		k = chosen(m.word(x.with, at.slot), len(m.found))
	}
	at.other = int(m.found[k])
	return true, nil
}

// isOpen reports whether an entity may go to a cell.
func (m *stage) isOpen(onto *agentCode, at *frame, cell int) (bool, error) {
	if !m.hasRoom(cell) || onto.term == nil {
		return m.hasRoom(cell), nil
	}
	at.cell, at.in = cell, true
	is, err := at.holds(onto)
	at.cell, at.in = at.own, false
	return is, err
}

// candidates lists the open neighbours, but for the own cell.
func (m *stage) candidates(onto *agentCode, at *frame) error {
	m.open = m.open[:0]
	p := m.patterns[at.own]
	for i, o := range p.Offsets {
		if o == 0 {
			continue
		}
		open, err := m.isOpen(onto, at, at.own+o)
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
func (m *stage) target(x *itemCode, at *frame) (int, error) {
	switch x.way {
	case ToOther:
		return m.toOther(x, at)
	case ToOffset:
		return m.toOffset(x, at)
	case ToAnywhere:
		return m.anywhere(&x.onto, x.move, at)
	}
	if err := m.candidates(&x.onto, at); err != nil || len(m.open) == 0 {
		return -1, err
	}
	k := chosen(m.draw(x.move, at), len(m.open))
	if x.way == ToAny {
		return int(m.open[k].cell), nil
	}
	if x.way == Along {
		return m.along(x, at, k)
	}
	best, of := -1, value{}
	for i := range m.open {
		cell := int(m.open[(k+i)%len(m.open)].cell)
		at.cell, at.in = cell, true
		v, err := at.compute(&x.args[0])
		at.cell, at.in = at.own, false
		if err != nil {
			return -1, err
		}
		if t := x.args[0].term; best < 0 || x.way == ToMost && greater(t, v, of) || x.way == ToLeast && greater(t, of, v) {
			best, of = cell, v
		}
	}
	return best, nil
}

// compute computes what is no condition, as it would be written.
func (at *frame) compute(c *agentCode) (v value, err error) {
	if c.number != nil {
		v.f = float64(c.number(at))
	} else {
		v = c.value(at)
	}
	if at.err != nil {
		err = fmt.Errorf("%s: %w", c.place, at.err)
	}
	return v, err
}

// greater reports whether one number is greater than another.
func greater(t *Term, a, b value) bool {
	if t.Type.Base == Fixed {
		return a.x > b.x
	}
	return a.f > b.f
}

// toOther is the cell of the other entity.
func (m *stage) toOther(x *itemCode, at *frame) (int, error) {
	cell := int(m.crowd.cells[at.other])
	if cell == at.own {
		return cell, nil
	}
	open, err := m.isOpen(&x.onto, at, cell)
	if err != nil || !open {
		return -1, err
	}
	return cell, nil
}

// toOffset is the cell in a direction or at an offset.
func (m *stage) toOffset(x *itemCode, at *frame) (int, error) {
	l := m.scope.Lattice
	var memory [space.MaxDim]int32
	offset := memory[:l.Dim()]
	if x.direction >= 0 {
		step := l.Directions()[x.direction].Step
		for k := range offset {
			offset[k] = step.At(k)
		}
	}
	for k := range x.args {
		f, err := at.floor(&x.args[k])
		if err != nil {
			return -1, err
		}
		if !(f > -math.MaxInt32 && f < math.MaxInt32) {
			return -1, nil
		}
		offset[k] = int32(f)
	}
	cell, ok := m.beyond(at.own, offset)
	if !ok || cell == at.own {
		return -1, nil
	}
	open, err := m.isOpen(&x.onto, at, cell)
	if err != nil || !open {
		return -1, err
	}
	return cell, nil
}

// beyond is the cell at an offset from another one.
func (m *stage) beyond(cell int, offset []int32) (rank int, ok bool) {
	if m.plane != nil {
		return m.plane.beyond(cell, offset)
	}
	return m.e.beyond(cell, offset)
}

// floor computes a number and rounds it down.
func (at *frame) floor(c *agentCode) (float64, error) {
	if c.number != nil {
		f := math.Floor(float64(c.number(at)))
		return f, at.failed(c)
	}
	v, err := at.compute(c)
	return math.Floor(float64(v.number())), err
}

// along is the open neighbour that lies best along a vector, from candidate k on; -1 if none does.
func (m *stage) along(x *itemCode, at *frame, k int) (int, error) {
	v, err := at.compute(&x.args[0])
	if err != nil {
		return -1, err
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
func (m *stage) anywhere(onto *agentCode, draw int, at *frame) (int, error) {
	b, cells := m.bulks[draw], uint64(m.scope.Lattice.Cells())
	for j := range mostTries {
		w := b.Block(m.crowd.ids[at.slot], uint32(j/4))[j%4]
		cell := int(uint64(w) * cells >> 32)
		if open, err := m.isOpen(onto, at, cell); err != nil || open && cell != at.own {
			return cell, err
		}
	}
	return -1, nil
}
