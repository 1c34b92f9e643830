package engine

import (
	"errors"
	"math"
	"slices"

	"github.com/murksim/murksim/commands"
	"github.com/murksim/murksim/fields"
	"github.com/murksim/murksim/internal/store"
	"github.com/murksim/murksim/space"
)

// apply carries out one command on the current state. Unless it returns Applied,
// it has changed nothing.
func (w *World) apply(c *commands.Command) (made uint64, reason commands.Reason) {
	switch c.Kind {
	case commands.KindMove:
		return 0, w.move(c.Entity, c.Coord)
	case commands.KindSpawn:
		return w.spawn(c)
	case commands.KindDespawn:
		return 0, w.despawn(c.Entity)
	case commands.KindSetField:
		return 0, w.setField(c)
	case commands.KindSetParameter:
		return 0, w.setParameter(c.ID, c.Float64())
	case commands.KindSetParameterBatch:
		return 0, w.setParameters(c)
	case commands.KindCustom:
		return w.custom(c)
	}
	return 0, commands.Unsupported
}

func (w *World) setField(c *commands.Command) commands.Reason {
	id := fields.ID(c.ID)
	if c.ID >= uint32(w.userFields) {
		return commands.UnknownField
	}
	d := &w.defs[id]
	at, n, part := c.Coord, d.Type.Components(), 0
	if d.Type.Kind == fields.VectorKind {
		last := at.Dim() - 1
		if last < 0 || at.At(last) < 0 || int(at.At(last)) >= n {
			return commands.OutsideSpace
		}
		part, at = int(at.At(last)), at.Slice(0, last)
	}
	if d.Domain == fields.Entities {
		slot, ok := w.entities.slot(entityOf(at))
		if !ok {
			return commands.UnknownEntity
		}
		return w.setElement(id, slot*n+part, float64(c.Float32()))
	}
	rank, ok := w.lattice.Rank(at)
	if !ok {
		return commands.OutsideSpace
	}
	return w.setElement(id, rank*n+part, float64(c.Float32()))
}

// setMany applies the inputs at the beginning of a list that set elements of one plain
// field, at a third of the cost of setField. It returns how many it took.
func (w *World) setMany(list []commands.Command) (n int) {
	id, tick := list[0].ID, w.tick+1
	if list[0].Kind != commands.KindSetField || id >= uint32(w.userFields) || !w.plain[id] {
		return 0
	}
	first := len(w.receipts)
	w.receipts = slices.Grow(w.receipts, len(list))
	receipts := w.receipts[first : first+len(list)]
	w.patches = slices.Grow(w.patches[:0], len(list))[:len(list)]
	good := 0
	for i := range list {
		c, r := &list[i], &receipts[i]
		if c.Kind != commands.KindSetField || c.ID != id || c.Expires < tick {
			break
		}
		n++
		*r = commands.Receipt{Command: c, Ticket: w.ticketOf(c)}
		v := c.Float32()
		rank, ok := w.lattice.RankOf(&c.Coord)
		switch {
		case !ok:
			r.Reason = commands.OutsideSpace
		case v-v != 0: // NaN for NaN and infinities
			r.Reason = commands.NotFinite
		default:
			w.patches[good] = store.Patch{Index: int32(rank), Value: v}
			good++
		}
	}
	w.receipts = w.receipts[:first+n]
	w.store.PatchAll(fields.ID(id), w.patches[:good])
	return n
}

// entityOf returns the id that commands.EntityCoord encoded as a coordinate; 0 if none.
func entityOf(at space.Coord) uint64 {
	if at.Dim() != 2 {
		return 0
	}
	return uint64(uint32(at.At(0)))<<32 | uint64(uint32(at.At(1)))
}

// setElement writes a number into an element that exists, within the field's bounds.
func (w *World) setElement(id fields.ID, i int, v float64) commands.Reason {
	d := &w.defs[id]
	if d.Mutability == fields.Static {
		return commands.StaticField
	}
	if v-v != 0 { // NaN for NaN and infinities
		return commands.NotFinite
	}
	bits, ok := d.Bits(v)
	if !ok {
		return commands.BadValue
	}
	w.store.Patch(id, i, d.Bound(bits))
	return commands.Applied
}

func (w *World) spawn(c *commands.Command) (uint64, commands.Reason) {
	cell, ok := w.lattice.Rank(c.Coord)
	if !ok {
		return 0, commands.OutsideSpace
	}
	for v := range c.FieldValues() {
		if reason := w.checkAttribute(v); reason != commands.Applied {
			return 0, reason
		}
	}
	if w.occupied(cell) {
		return 0, commands.Occupied
	}
	slot, ok := w.entities.gap()
	if !ok || w.entities.spawned >= maxSpawns {
		return 0, commands.CapacityFull
	}
	id := (w.tick+1)<<20 | uint64(w.entities.spawned+1)
	w.resetAttributes(slot) // a system may have written into the free slot
	w.store.Patch(w.cols.id, slot, id)
	w.store.Patch(w.cols.cell, slot, uint64(uint32(cell)))
	last, from := int64(-1), 0
	for v := range c.FieldValues() {
		d := &w.defs[v.Field]
		bits, _ := d.Bits(float64(v.Value))
		n := d.Type.Components()
		if from++; int64(v.Field) != last { // values of one vector that follow each other are those of its components
			last, from = int64(v.Field), 0
		}
		for i := min(from, n-1); i < n; i++ {
			w.store.Patch(fields.ID(v.Field), slot*n+i, d.Bound(bits))
		}
	}
	w.entities.add(slot, id, cell)
	return id, commands.Applied
}

// checkAttribute returns Applied if a spawn may set an attribute, else why not. It must be a
// user field of the domain entities or entity.kind.
func (w *World) checkAttribute(v commands.FieldValue) commands.Reason {
	known := v.Field < uint32(w.userFields) && w.defs[v.Field].Domain == fields.Entities
	if !known && (w.entities.capacity == 0 || v.Field != uint32(w.cols.kind)) {
		return commands.UnknownField
	}
	if v.Value-v.Value != 0 {
		return commands.NotFinite
	}
	if _, ok := w.defs[v.Field].Bits(float64(v.Value)); !ok {
		return commands.BadValue
	}
	return commands.Applied
}

func (w *World) move(entity uint64, to space.Coord) commands.Reason {
	slot, ok := w.entities.slot(entity)
	if !ok {
		return commands.UnknownEntity
	}
	cell, ok := w.lattice.Rank(to)
	if !ok {
		return commands.OutsideSpace
	}
	from := w.store.Current(w.cols.cell).Int32[slot]
	if int(from) != cell && w.occupied(cell) {
		return commands.Occupied
	}
	w.store.Patch(w.cols.cell, slot, uint64(uint32(cell)))
	w.entities.move(slot, from, int32(cell))
	return commands.Applied
}

// occupied reports whether a cell is full.
func (w *World) occupied(cell int) bool {
	return w.config.Occupancy > 0 && w.entities.countAt(cell, w.config.Occupancy) >= w.config.Occupancy
}

// despawn frees a slot and puts its attributes back to their initial values.
func (w *World) despawn(entity uint64) commands.Reason {
	slot, ok := w.entities.slot(entity)
	if !ok {
		return commands.UnknownEntity
	}
	cell := w.store.Current(w.cols.cell).Int32[slot]
	w.resetAttributes(slot)
	w.entities.remove(slot, entity, cell)
	return commands.Applied
}

// resetAttributes makes a slot what it was at genesis: free.
func (w *World) resetAttributes(slot int) {
	for _, id := range w.attributes {
		d := &w.defs[id]
		n := d.Type.Components()
		column := w.store.Current(id)
		for i := range n {
			bits, _ := d.Bits(d.Initial.At(i))
			if bits = d.Bound(bits); column.Bits(slot*n+i) != bits {
				w.store.Patch(id, slot*n+i, bits)
				column = w.store.Current(id)
			}
		}
	}
}

func (w *World) setParameter(key uint32, v float64) commands.Reason {
	i, ok := w.params.find(key)
	if !ok {
		return commands.UnknownParameter
	}
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return commands.NotFinite
	}
	w.params.set(i, v)
	return commands.Applied
}

func (w *World) setParameters(c *commands.Command) commands.Reason {
	mark := w.params.mark()
	for p := range c.Parameters() {
		if reason := w.setParameter(p.Key, p.Value); reason != commands.Applied {
			w.params.undoTo(mark)
			return reason
		}
	}
	return commands.Applied
}

func (w *World) custom(c *commands.Command) (made uint64, reason commands.Reason) {
	switch c.ID {
	case commands.LaterType:
		return w.later(c)
	case commands.CancelType:
		return 0, w.cancel(c)
	}
	for i := range w.handlers {
		h := &w.handlers[i]
		if h.typeID != c.ID {
			continue
		}
		m := w.mark()
		h.ctx.meta, h.ctx.why = c.Meta, ""
		if w.paranoid {
			reason = w.handleTwice(h, c.Data)
		} else {
			reason = h.handle(w, c.Data)
		}
		if reason != commands.Applied {
			w.undoTo(m)
			w.detail = h.ctx.why
		}
		return 0, reason
	}
	return 0, commands.Unsupported
}

// handle lets the handler handle a command.
func (h *handlerSlot) handle(w *World, data []byte) commands.Reason {
	h.ctx.w = w
	defer func() { h.ctx.w = nil }()
	return h.handler.Handle(&h.ctx, data)
}

// A mark is a point among the commands of a tick.
type mark struct {
	patches, params, spawned int
	events                   commands.Mark
}

func (w *World) mark() mark {
	return mark{w.store.Mark(), w.params.mark(), w.entities.spawned, w.events.Mark()}
}

// undoTo takes back what commands did since a mark.
func (w *World) undoTo(m mark) {
	changed := w.store.Mark() != m.patches
	w.store.UndoTo(m.patches)
	w.params.undoTo(m.params)
	w.events.UndoTo(m.events)
	w.entities.spawned = m.spawned
	if changed {
		w.entities.stale(true)
	}
}

// later keeps a command from outside as an event of a later tick.
func (w *World) later(c *commands.Command) (event uint64, reason commands.Reason) {
	due, inner, err := commands.DecodeLater(c.Data)
	switch {
	case err != nil:
		return 0, commands.BadValue
	case due == w.tick+1:
		return 0, commands.Expired
	}
	event, err = w.schedule(due, inner)
	if errors.As(err, &reason) {
		return 0, reason
	}
	return event, commands.Applied
}

func (w *World) cancel(c *commands.Command) commands.Reason {
	event, err := commands.DecodeCancel(c.Data)
	switch {
	case err != nil:
		return commands.BadValue
	case !w.events.Cancel(event):
		return commands.UnknownEvent
	}
	return commands.Applied
}

// schedule keeps a command as an event of this tick's end or of a tick to come.
func (w *World) schedule(due uint64, c commands.Command) (event uint64, err error) {
	if due <= w.tick || w.last && due == w.tick+1 {
		return 0, commands.Expired
	}
	if reason := c.Check(); reason != commands.Applied {
		return 0, reason
	}
	return w.events.Schedule(due, c)
}
