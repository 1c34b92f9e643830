package ask

import (
	"slices"

	"github.com/murksim/murksim/commands"
	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/fields"
	"github.com/murksim/murksim/space"
)

// nearby reports whether a command did something near the number, to what a part of the change reads; of parameters and commands of handlers nobody knows.
func (t *trial) nearby(o *Order, read []fields.ID, around []int32) bool {
	l, entities := t.before.Lattice(), t.before.Entities()
	at := func(c space.Coord) bool {
		rank, ok := l.Rank(c.Slice(0, min(l.Dim(), c.Dim())))
		return ok && slices.Contains(around, int32(rank))
	}
	stands := func(id uint64) bool {
		slot, ok := t.before.Slot(id)
		return ok && slices.Contains(around, entities.Cell[slot])
	}
	switch o.Kind {
	case commands.KindSetField:
		ofCells := int(o.ID) < len(t.before.Defs()) && t.before.Defs()[o.ID].Domain == fields.Cells
		return (slices.Contains(read, fields.ID(o.ID)) || t.change.by(engine.PartCommands)) && (!ofCells || at(o.Coord))
	case commands.KindSpawn:
		return at(o.Coord)
	case commands.KindMove:
		return at(o.Coord) || stands(o.Entity)
	case commands.KindDespawn:
		return stands(o.Entity)
	}
	return true
}

// around lists the cells of cells, and those next to them: who takes a step comes from one cell further.
func (t *trial) around() []int32 {
	cells := t.cells()
	for _, at := range cells {
		for _, next := range t.before.Lattice().AppendNeighbours(nil, int(at)) {
			if !slices.Contains(cells, next) {
				cells = append(cells, next)
			}
		}
	}
	return cells
}

// cells lists the cell of the number, and those next to it.
func (t *trial) cells() []int32 {
	cell := int32(t.change.Cell)
	if t.change.Entity != 0 {
		slot, ok := t.before.Slot(t.change.Entity)
		if !ok {
			return nil
		}
		cell = t.before.Entities().Cell[slot]
	}
	return append([]int32{cell}, t.before.Lattice().AppendNeighbours(nil, int(cell))...)
}

// near lists the numbers that the part of the change may have read near it, in the order in which it declares them: of its cell first, then of those next to it, and of
// who stands on them; then what else it says that it read.
func (t *trial) near() (list []Place) {
	w, cells := t.before, t.cells()
	entities := w.Entities()
	for _, id := range t.read() {
		d := &w.Defs()[id]
		add := func(p Place) {
			for p.Component = range max(d.Type.Components(), 1) {
				list = append(list, p)
			}
		}
		if d.Domain == fields.Cells {
			for _, at := range cells {
				add(Place{Field: id, Cell: int(at)})
			}
			continue
		}
		for slot, who := range entities.Live() {
			if slices.Contains(cells, entities.Cell[slot]) {
				add(Place{Field: id, Entity: who})
			}
		}
	}
	for _, step := range t.change.Steps {
		for _, term := range step.Terms {
			for _, r := range term.Reads {
				n := max(w.Defs()[r.Field].Type.Components(), 1)
				p := Place{Field: r.Field, Cell: r.Element / n, Component: r.Element % n}
				if w.Defs()[r.Field].Domain == fields.Cells && !slices.Contains(list, p) {
					list = append(list, p)
				}
			}
		}
	}
	return list
}

// read lists the fields that the parts of the change read, and its own where commands, checks or events are among them.
func (t *trial) read() (list []fields.ID) {
	add := func(ids ...fields.ID) {
		for _, id := range ids {
			if !slices.Contains(list, id) {
				list = append(list, id)
			}
		}
	}
	l, config := t.before.Lattice(), t.before.Config()
	for _, step := range t.change.Steps {
		for _, p := range config.Propagators {
			if s := p.Spec(l); s.Name == step.Part && step.Kind == engine.PartPropagator || s.Name == step.By {
				add(slices.Concat(s.Prev, s.Now, s.Incremental)...)
			}
		}
		for _, p := range config.Systems {
			if s := p.Spec(l); s.Name == step.Part && step.Kind == engine.PartSystem || s.Name == step.By {
				add(slices.Concat(s.Prev, s.Now, s.Incremental)...)
			}
		}
		if step.Kind != engine.PartPropagator && step.Kind != engine.PartSystem {
			add(t.change.Field)
		}
	}
	return list
}

// target is the coordinate by which a command that sets a number names it.
func (t *trial) target(p Place) space.Coord {
	d, at := &t.before.Defs()[p.Field], commands.EntityCoord(p.Entity)
	if d.Domain == fields.Cells {
		at = t.before.Lattice().Coord(p.Cell)
	}
	if d.Type.Kind == fields.VectorKind {
		at = at.Append(int32(p.Component))
	}
	return at
}

// put is the command that gives a number a value; false: none can.
func (t *trial) put(p Place, n Number) (c commands.Command, ok bool) {
	d := &t.before.Defs()[p.Field]
	if _, ok := d.Bits(n.Value); !ok || float64(float32(n.Value)) != n.Value || d.Mutability == fields.Static {
		return c, false
	}
	return commands.SetField(t.target(p), uint32(p.Field), float32(n.Value)), true
}
