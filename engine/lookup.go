package engine

import (
	"github.com/murksim/murksim/commands"
	"github.com/murksim/murksim/fields"
	"github.com/murksim/murksim/space"
)

// The methods below are for programs that look at the world between its ticks, or watch it.
// What they return is valid until the next tick begins and must not be written. Within a
// tick they show the state at its start, commands applied.

// Column returns a field's values, element by element. They are valid until the next tick begins, and must not be written: the next tick would lose that, or not
// notice it. Commands write to a world.
func (w *World) Column(id fields.ID) *fields.Column {
	w.made()
	return w.store.Current(id)
}

// Tiling returns how many tiles a field has, the pieces of 4 KiB for which the engine knows
// whether they may have changed, and the elements of a tile; the last one may have fewer.
func (w *World) Tiling(id fields.ID) (tiles, tileLen int) {
	w.made()
	return w.store.Tiles(id)
}

// Entities returns the population, slot by slot; none in a world without entities.
// Attributes are columns of the same slots: see [World.Column].
func (w *World) Entities() Entities {
	w.made()
	if w.entities.capacity == 0 {
		return Entities{}
	}
	return Entities{w.store.Current(w.cols.id).Uint64, w.store.Current(w.cols.kind).Int32, w.store.Current(w.cols.cell).Int32}
}

// SpawnKind is [commands.Spawn] of an entity of a kind, with its attributes.
func (w *World) SpawnKind(kind int32, at space.Coord, attributes ...commands.FieldValue) commands.Command {
	return commands.Spawn(at, append([]commands.FieldValue{{Field: uint32(w.cols.kind), Value: float32(kind)}}, attributes...)...)
}

// Slot returns the slot of the entity with an id, and whether there is one.
func (w *World) Slot(id uint64) (slot int, ok bool) {
	w.made()
	return w.entities.slot(id)
}

// AppendAt appends the slots of the entities on a cell, in slot order.
func (w *World) AppendAt(dst []int32, cell int) []int32 {
	w.made()
	return w.entities.appendAt(dst, cell)
}

// AppendKind appends the slots of the entities of a kind, in slot order. It looks at every
// slot.
func (w *World) AppendKind(dst []int32, kind int32) []int32 {
	all := w.Entities()
	for slot, id := range all.ID {
		if id != 0 && all.Kind[slot] == kind {
			dst = append(dst, int32(slot))
		}
	}
	return dst
}

// AppendIn is [SystemContext.AppendIn].
func (w *World) AppendIn(dst []int32, region *space.Plan) []int32 {
	w.made()
	if region == nil {
		panic("engine: AppendIn needs a region, not nil")
	}
	for _, cell := range region.Ranks {
		dst = w.entities.appendAt(dst, int(cell))
	}
	return dst
}

// AppendNearest is [SystemContext.AppendNearest].
func (w *World) AppendNearest(dst []int32, cell, radius, limit int, want func(slot int32) bool) []int32 {
	w.made()
	return w.near.appendNearest(w, dst, cell, radius, limit, want)
}
