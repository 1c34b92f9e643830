package refworld

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/murksim/murksim/commands"
	"github.com/murksim/murksim/fields"
	"github.com/murksim/murksim/space"
)

// apply carries out a command on the start of the tick, or refuses it and changes
// nothing. An error fails the tick.
func (t *Tick) apply(c *commands.Command) (made uint64, reason commands.Reason, err error) {
	switch c.Kind {
	case commands.KindMove:
		reason = t.move(c.Entity, c.Coord)
	case commands.KindSpawn:
		made, reason = t.spawn(c)
	case commands.KindDespawn:
		reason = t.despawn(c.Entity)
	case commands.KindSetField:
		reason = t.setField(c)
	case commands.KindSetParameter:
		reason = t.setParameters([]parameter{{c.ID, math.Float64frombits(c.Bits)}})
	case commands.KindSetParameterBatch:
		var all []parameter
		for b := c.Data; len(b) >= 12; b = b[12:] {
			v := math.Float64frombits(binary.LittleEndian.Uint64(b[4:]))
			all = append(all, parameter{binary.LittleEndian.Uint32(b), v})
		}
		reason = t.setParameters(all)
	case commands.KindCustom:
		switch c.ID {
		case commands.LaterType:
			made, reason = t.later(c.Data)
		case commands.CancelType:
			reason = t.cancel(c.Data)
		default:
			reason, err = t.custom(c)
		}
	default:
		reason = commands.Unsupported
	}
	return made, reason, err
}

func (t *Tick) setField(c *commands.Command) commands.Reason {
	if int64(c.ID) >= int64(t.w.user) {
		return commands.UnknownField
	}
	d, at, part := &t.w.defs[c.ID], c.Coord, 0
	if d.Type.Kind == fields.VectorKind { // the last component is the element
		n := at.Dim() - 1
		if n < 0 || at.At(n) < 0 || int(at.At(n)) >= d.Type.N {
			return commands.OutsideSpace
		}
		part, at = int(at.At(n)), at.Slice(0, n)
	}
	if d.Domain == fields.Entities {
		slot, ok := t.named(at)
		if !ok {
			return commands.UnknownEntity
		}
		at = slotCoord(slot)
	} else if !t.inside(at) {
		return commands.OutsideSpace
	}
	return t.set(fields.ID(c.ID), Place{at, part}, float64(float(c.Bits)))
}

// named finds the entity whose id's high and low words a coordinate gives.
func (t *Tick) named(at space.Coord) (slot int, ok bool) {
	if at.Dim() != 2 {
		return 0, false
	}
	return t.Slot(uint64(uint32(at.At(0)))<<32 + uint64(uint32(at.At(1))))
}

func (t *Tick) inside(at space.Coord) bool {
	_, ok := t.w.grid.rank[at]
	return ok
}

// set writes a number at a place that exists.
func (t *Tick) set(id fields.ID, p Place, v float64) commands.Reason {
	d := &t.w.defs[id]
	if d.Mutability == fields.Static {
		return commands.StaticField
	}
	bits, reason := store(d, v)
	if reason == commands.Applied {
		t.start.fields[id].SetBits(p.At, p.Part, bound(d, bits))
	}
	return reason
}

// An attribute is a value that a Spawn gives.
type attribute struct {
	field fields.ID
	bits  uint64
}

func (t *Tick) spawn(c *commands.Command) (made uint64, reason commands.Reason) {
	if !t.inside(c.Coord) {
		return 0, commands.OutsideSpace
	}
	var attributes []attribute
	for b := c.Data; len(b) >= 8; b = b[8:] {
		a := attribute{field: fields.ID(binary.LittleEndian.Uint32(b))}
		if a.bits, reason = t.attribute(a.field, float64(float(uint64(binary.LittleEndian.Uint32(b[4:]))))); reason != commands.Applied {
			return 0, reason
		}
		attributes = append(attributes, a)
	}
	slot := 0
	for slot < t.Slots() && t.ID(slot) != 0 {
		slot++
	}
	if slot == t.Slots() {
		return 0, commands.CapacityFull
	}
	t.spawned++
	id := t.Number<<20 | t.spawned
	t.free(slot)
	at := slotCoord(slot)
	t.start.fields[t.w.idColumn()].SetBits(at, 0, id)
	t.start.fields[t.w.cellColumn()].SetBits(at, 0, uint64(t.w.grid.rank[c.Coord]))
	for i, a := range attributes {
		f := t.start.fields[a.field]
		before := 0
		for before < i && attributes[i-before-1].field == a.field {
			before++
		}
		for part := min(before, f.Parts()-1); part < f.Parts(); part++ {
			f.SetBits(at, part, a.bits)
		}
	}
	return id, commands.Applied
}

// attribute says how a Spawn's value is stored: in a user field of entities, in
// every component from that on which is the number of values of this field right before it, or in entity.kind.
func (t *Tick) attribute(id fields.ID, v float64) (bits uint64, reason commands.Reason) {
	user := int64(id) < int64(t.w.user) && t.w.defs[id].Domain == fields.Entities
	kind := t.Slots() > 0 && id == t.w.kindColumn()
	if !user && !kind {
		return 0, commands.UnknownField
	}
	d := &t.w.defs[id]
	if bits, reason = store(d, v); reason == commands.Applied {
		bits = bound(d, bits)
	}
	return bits, reason
}

// free puts a slot back to what it was at genesis.
func (t *Tick) free(slot int) {
	for id := range t.w.defs {
		d, f := &t.w.defs[id], t.start.fields[id]
		if d.Domain != fields.Entities {
			continue
		}
		for part := range f.Parts() {
			initial, _ := store(d, d.Initial.At(part))
			f.SetBits(slotCoord(slot), part, bound(d, initial))
		}
	}
}

func (t *Tick) move(entity uint64, to space.Coord) commands.Reason {
	slot, ok := t.Slot(entity)
	if !ok {
		return commands.UnknownEntity
	}
	if !t.inside(to) {
		return commands.OutsideSpace
	}
	t.start.fields[t.w.cellColumn()].SetBits(slotCoord(slot), 0, uint64(t.w.grid.rank[to]))
	return commands.Applied
}

func (t *Tick) despawn(entity uint64) commands.Reason {
	slot, ok := t.Slot(entity)
	if !ok {
		return commands.UnknownEntity
	}
	t.free(slot)
	return commands.Applied
}

// A parameter is a key and its new value.
type parameter struct {
	key   uint32
	value float64
}

// setParameters sets all of them or none.
func (t *Tick) setParameters(all []parameter) commands.Reason {
	for _, p := range all {
		if _, ok := t.start.parameters[p.key]; !ok {
			return commands.UnknownParameter
		}
		if math.IsNaN(p.value) || math.IsInf(p.value, 0) {
			return commands.NotFinite
		}
	}
	for _, p := range all {
		t.start.parameters[p.key] = p.value
	}
	return commands.Applied
}

// later keeps a command from outside as an event.
func (t *Tick) later(data []byte) (event uint64, reason commands.Reason) {
	due, c, err := commands.DecodeLater(data)
	if err != nil {
		return 0, commands.BadValue
	}
	if due == t.Number {
		return 0, commands.Expired
	}
	if reason := t.Schedule(due, c); reason != commands.Applied {
		return 0, reason
	}
	return t.Number<<20 | t.scheduled, commands.Applied
}

// cancel cancels an event on a command from outside.
func (t *Tick) cancel(data []byte) commands.Reason {
	if len(data) != 8 {
		return commands.BadValue
	}
	if !t.Cancel(binary.LittleEndian.Uint64(data)) {
		return commands.UnknownEvent
	}
	return commands.Applied
}

// custom hands a command to its handler. What a handler did before it refused is
// undone, but for its draws.
func (t *Tick) custom(c *commands.Command) (commands.Reason, error) {
	for _, h := range t.w.config.Handlers {
		if h.Type != c.ID {
			continue
		}
		before, spawned, scheduled := t.start.clone(), t.spawned, t.scheduled
		reason, err := h.Handle(&Handling{t, fmt.Sprintf("custom:%d", h.Type)}, c.Data)
		if reason != commands.Applied {
			t.start, t.spawned, t.scheduled = before, spawned, scheduled
		}
		return reason, err
	}
	return commands.Unsupported, nil
}

// A Handling is what a handler sees of the world: the start of the tick.
type Handling struct {
	t    *Tick
	name string
}

// Tick returns the tick that is being computed.
func (h *Handling) Tick() uint64 { return h.t.Number }

// Get returns the number at a place of a field.
func (h *Handling) Get(id fields.ID, p Place) float64 {
	return number(&h.t.w.defs[id], h.t.start.fields[id].Bits(p.At, p.Part))
}

// Places returns a field's places in the order of its column.
func (h *Handling) Places(id fields.ID) []Place { return h.t.start.fields[id].places }

// Set writes a number at a place of a user field.
func (h *Handling) Set(id fields.ID, p Place, v float64) commands.Reason {
	if int64(id) >= int64(h.t.w.user) {
		return commands.UnknownField
	}
	if _, ok := h.t.start.fields[id].bits[p]; !ok {
		return commands.OutsideSpace
	}
	return h.t.set(id, p, v)
}

// Apply applies another command, but no Custom one.
func (h *Handling) Apply(c commands.Command) (made uint64, reason commands.Reason) {
	if c.Kind == commands.KindCustom {
		return 0, commands.Unsupported
	}
	made, reason, _ = h.t.apply(&c)
	return made, reason
}

// Schedule keeps a command as an event, as a part may.
func (h *Handling) Schedule(due uint64, c commands.Command) commands.Reason {
	return h.t.Schedule(due, c)
}

// Cancel takes back an event that waits.
func (h *Handling) Cancel(event uint64) bool { return h.t.Cancel(event) }

// Slot finds an entity.
func (h *Handling) Slot(id uint64) (slot int, ok bool) { return h.t.Slot(id) }

// Stream returns a sequential stream of the handler.
func (h *Handling) Stream(number uint64) *Stream { return h.t.stream(h.name, number) }
