package commands

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/google/btree"

	"github.com/murksim/murksim/internal/wire"
)

// MaxEvents is the number of events that may be scheduled in one tick, MaxPending the number
// that may wait in all.
const (
	MaxEvents  = 1<<20 - 1
	MaxPending = 4_000_000
)

// Events are commands for later ticks, scheduled from inside the world: by due
// tick, then in canonical order. They are state. An event's arrival number is its
// id. Changes since Begin can be undone until the next Begin. Events belong to one
// goroutine.
type Events struct {
	order     *btree.BTreeG[dueKey]
	byID      *btree.BTreeG[eventID]
	slots     []Command // data owned by the slot and reused with it
	brief     []bool    // by slot: the event is of the open tick and due in it, so it is found in scheduled and not in byID
	free      []uint32
	tick      uint64
	scheduled []dueKey // since Begin
	taken     []dueKey // due or cancelled since Begin; their slots are freed at the next Begin
}

// An eventID finds the key of an event by its arrival number.
type eventID struct {
	id  uint64
	key dueKey
}

type dueKey struct {
	due uint64
	slotKey
}

func dueLess(a, b dueKey) bool {
	return cmp.Or(cmp.Compare(a.due, b.due), a.compare(b.key)) < 0
}

// An Event is a command that waits for its tick. Its id is the command's arrival number.
type Event struct {
	Due     uint64
	Command Command
}

// NewEvents returns an empty queue.
func NewEvents() *Events {
	return &Events{
		order: btree.NewWithFreeListG(treeDegree, dueLess, btree.NewFreeListG[dueKey](freeTreeList)),
		byID: btree.NewWithFreeListG(treeDegree, func(a, b eventID) bool { return a.id < b.id },
			btree.NewFreeListG[eventID](freeTreeList)),
	}
}

func (e *Events) insert(k dueKey) {
	e.order.ReplaceOrInsert(k)
	if !e.brief[k.slot] {
		e.byID.ReplaceOrInsert(eventID{e.slots[k.slot].Arrival, k})
	}
}

// remove takes an event out and reports whether it was there.
func (e *Events) remove(k dueKey) bool {
	if _, ok := e.order.Delete(k); !ok {
		return false
	}
	e.forget(k)
	return true
}

// forget takes an event out of the index by id.
func (e *Events) forget(k dueKey) {
	if !e.brief[k.slot] {
		e.byID.Delete(eventID{id: e.slots[k.slot].Arrival})
	}
}

// Begin opens a tick and makes everything before it final.
func (e *Events) Begin(tick uint64) {
	for _, k := range e.taken {
		e.free = append(e.free, k.slot)
	}
	e.order.Ascend(func(k dueKey) bool { // those that nobody took are not brief any more
		if k.due <= e.tick && e.brief[k.slot] {
			e.brief[k.slot] = false
			e.byID.ReplaceOrInsert(eventID{e.slots[k.slot].Arrival, k})
		}
		return k.due <= e.tick
	})
	e.tick, e.scheduled, e.taken = tick, e.scheduled[:0], e.taken[:0]
}

// Schedule keeps a copy of c until tick due, the open tick or a later one, and returns the
// event's id, which is also its arrival number: the open tick << 20 | its ordinal in that
// tick, from 1. So the order is total without a counter that outlives the tick. The error is
// nil or CapacityFull.
func (e *Events) Schedule(due uint64, c Command) (id uint64, err error) {
	if len(e.scheduled) >= MaxEvents || e.order.Len() >= MaxPending {
		return 0, CapacityFull
	}
	c.Arrival = e.tick<<20 | uint64(len(e.scheduled)+1)
	e.scheduled = append(e.scheduled, e.keep(due, c, due <= e.tick))
	return c.Arrival, nil
}

// keep stores a copy of c under its arrival number.
func (e *Events) keep(due uint64, c Command, brief bool) dueKey {
	slot := e.slot()
	e.brief[slot] = brief
	c.Data = append(e.slots[slot].Data[:0], c.Data...)
	e.slots[slot] = c
	k := dueKey{due, slotKey{c.Meta.key(), slot}}
	e.insert(k)
	return k
}

// Cancel takes back a waiting event, whenever it was scheduled, and reports
// whether there was one with this id.
func (e *Events) Cancel(id uint64) bool {
	found, ok := e.byID.Get(eventID{id: id})
	k, n := found.key, id&MaxEvents
	if !ok && id>>20 == e.tick && n > 0 && n <= uint64(len(e.scheduled)) {
		k = e.scheduled[n-1]
		ok = e.brief[k.slot] && e.slots[k.slot].Arrival == id
	}
	if !ok || !e.remove(k) {
		return false
	}
	e.taken = append(e.taken, k)
	return true
}

func (e *Events) slot() uint32 {
	if n := len(e.free); n > 0 {
		s := e.free[n-1]
		e.free = e.free[:n-1]
		return s
	}
	e.slots, e.brief = append(e.slots, Command{}), append(e.brief, false)
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
		e.forget(k)
		e.taken = append(e.taken, k)
		dst = append(dst, e.slots[k.slot])
	}
}

// EachDue calls f for the events due at the open tick or before, in order, and takes none
// out. The command must not be changed.
func (e *Events) EachDue(f func(*Command)) {
	e.order.Ascend(func(k dueKey) bool {
		if k.due > e.tick {
			return false
		}
		f(&e.slots[k.slot])
		return true
	})
}

// A Mark is a point to which [Events.UndoTo] can go back.
type Mark struct{ scheduled, taken int }

// Mark returns the current point.
func (e *Events) Mark() Mark { return Mark{len(e.scheduled), len(e.taken)} }

// UndoTo takes back what was scheduled, cancelled and taken since the mark.
func (e *Events) UndoTo(m Mark) {
	for _, k := range e.taken[m.taken:] {
		e.insert(k)
	}
	e.taken = e.taken[:m.taken]
	for _, k := range e.scheduled[m.scheduled:] {
		if e.remove(k) {
			e.free = append(e.free, k.slot)
		}
	}
	e.scheduled = e.scheduled[:m.scheduled]
}

// Undo takes back everything since Begin.
func (e *Events) Undo() { e.UndoTo(Mark{}) }

// Due returns the tick of the next event, if one waits.
func (e *Events) Due() (tick uint64, ok bool) {
	k, ok := e.order.Min()
	return k.due, ok
}

// Len returns the number of events waiting.
func (e *Events) Len() int { return e.order.Len() }

// CopyFrom replaces the contents of e with the events that wait in another queue.
func (e *Events) CopyFrom(other *Events) {
	e.order.Clear(true)
	e.byID.Clear(true)
	e.tick, e.free, e.scheduled, e.taken = other.tick, e.free[:0], e.scheduled[:0], e.taken[:0]
	for i := range e.slots {
		e.free = append(e.free, uint32(i))
	}
	other.order.Ascend(func(k dueKey) bool {
		e.keep(k.due, other.slots[k.slot], false)
		return true
	})
}

// Scheduled returns how many events were scheduled since Begin.
func (e *Events) Scheduled() int { return len(e.scheduled) }

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

// Restore restores what [Events.Append] wrote at the end of the tick: b is all of it,
// and e must be new. The error is like that of [ReadEvents], or that two events have one id.
func (e *Events) Restore(b []byte, tick uint64) error {
	return ReadEvents(b, tick, func(v Event) error {
		if _, twice := e.byID.Get(eventID{id: v.Command.Arrival}); twice {
			return fmt.Errorf("its id %d occurs twice", v.Command.Arrival)
		}
		e.keep(v.Due, v.Command, false)
		return nil
	})
}

// ReadEvents calls f for each event of section 4 of the state of a tick, in order; the data
// of its command aliases b. An event must be due after the tick, be in order, and have
// an id of the tick or an earlier one. Every error, including those of f, is a *wire.Error.
func ReadEvents(b []byte, tick uint64, f func(Event) error) error {
	d := wire.Of(b)
	n := d.Count(MaxPending, minEventSize, "number of events")
	var last dueKey
	for i := 0; i < n && d.Err() == nil; i++ {
		at := d.Offset()
		v := Event{Due: d.Uint64("due tick")}
		used, err := v.Command.DecodeFrom(d.Window(0))
		d.Skip(used)
		k := dueKey{v.Due, slotKey{key: v.Command.Meta.key()}}
		id := v.Command.Arrival
		switch {
		case err != nil:
		case v.Due <= tick:
			err = fmt.Errorf("it is due at tick %d; the state is that of tick %d", v.Due, tick)
		case id>>20 > tick || id>>20 == 0 || id&MaxEvents == 0:
			err = fmt.Errorf("its id %d is not one of tick %d or before", id, tick)
		case i > 0 && !dueLess(last, k):
			err = errors.New("it is out of order")
		case v.Command.Check() != Applied:
			err = errors.New("its command cannot be scheduled")
		default:
			err = f(v)
		}
		if err != nil {
			d.Fail(at, wire.ErrMalformed, "event %d of %d: %v", i+1, n, err)
		}
		last = k
	}
	d.End()
	return d.Err()
}

const minEventSize = 8 + headSize + metaSize
