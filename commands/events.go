package commands

import (
	"cmp"
	"encoding/binary"

	"github.com/google/btree"
)

// MaxEvents is how many events may be scheduled in one tick, and MaxPending how many may wait in all.
const (
	MaxEvents  = 1<<20 - 1
	MaxPending = 4_000_000
)

// Events are commands for later ticks, scheduled from inside the world: by due
// tick, then in canonical order. They are state. Changes since Begin can be undone
// until the next Begin. Events belong to one goroutine.
type Events struct {
	order     *btree.BTreeG[dueKey]
	slots     []Command // data owned by the slot and reused with it
	free      []uint32
	tick      uint64
	scheduled []dueKey // since Begin
	taken     []dueKey // since Begin; their slots are freed at the next Begin
}

type dueKey struct {
	due uint64
	slotKey
}

func dueLess(a, b dueKey) bool {
	return cmp.Or(cmp.Compare(a.due, b.due), a.compare(b.key)) < 0
}

// NewEvents returns an empty queue.
func NewEvents() *Events {
	return &Events{order: btree.NewWithFreeListG(treeDegree, dueLess, btree.NewFreeListG[dueKey](freeTreeList))}
}

// Begin opens a tick and makes everything before it final.
func (e *Events) Begin(tick uint64) {
	for _, k := range e.taken {
		e.free = append(e.free, k.slot)
	}
	e.tick, e.scheduled, e.taken = tick, e.scheduled[:0], e.taken[:0]
}

// Schedule keeps a copy of c until tick due, which must lie after the tick that is
// open. Its arrival number is this tick << 20 | its ordinal here, from 1, so the
// order is total and needs no counter that outlives the tick. It returns nil or
// CapacityFull.
func (e *Events) Schedule(due uint64, c Command) error {
	if len(e.scheduled) >= MaxEvents || e.order.Len() >= MaxPending {
		return CapacityFull
	}
	c.Arrival = e.tick<<20 | uint64(len(e.scheduled)+1)
	slot := e.slot()
	c.Data = append(e.slots[slot].Data[:0], c.Data...)
	e.slots[slot] = c
	k := dueKey{due, slotKey{c.Meta.key(), slot}}
	e.order.ReplaceOrInsert(k)
	e.scheduled = append(e.scheduled, k)
	return nil
}

func (e *Events) slot() uint32 {
	if n := len(e.free); n > 0 {
		s := e.free[n-1]
		e.free = e.free[:n-1]
		return s
	}
	e.slots = append(e.slots, Command{})
	return uint32(len(e.slots) - 1)
}

// TakeDue removes the events due at the open tick or before and appends them to
// dst in order. Their data stays valid until the next Begin.
func (e *Events) TakeDue(dst []Command) []Command {
	for {
		k, ok := e.order.Min()
		if !ok || k.due > e.tick {
			return dst
		}
		e.order.DeleteMin()
		e.taken = append(e.taken, k)
		dst = append(dst, e.slots[k.slot])
	}
}

// Mark returns a point to which [Events.Unschedule] can go back.
func (e *Events) Mark() int { return len(e.scheduled) }

// Unschedule takes back what was scheduled since the mark.
func (e *Events) Unschedule(mark int) {
	for _, k := range e.scheduled[mark:] {
		e.order.Delete(k)
		e.free = append(e.free, k.slot)
	}
	e.scheduled = e.scheduled[:mark]
}

// Undo takes back everything since Begin.
func (e *Events) Undo() {
	e.Unschedule(0)
	for _, k := range e.taken {
		e.order.ReplaceOrInsert(k)
	}
	e.taken = e.taken[:0]
}

// Len is the number of events waiting.
func (e *Events) Len() int { return e.order.Len() }

// Append appends section 4 of the state: a count, then each event's due tick and
// its command as a v3 frame holds it, in order.
func (e *Events) Append(b []byte) []byte {
	b = binary.LittleEndian.AppendUint32(b, uint32(e.order.Len()))
	e.order.Ascend(func(k dueKey) bool {
		b = binary.LittleEndian.AppendUint64(b, k.due)
		b = e.slots[k.slot].Append(b)
		return true
	})
	return b
}
