// Package store keeps the values of a world's fields in generations, and records which
// parts of them change.
//
// A [Store] belongs to a world. A [State] holds a generation of every field while the world
// goes on, and a [Delta] holds only what changed since an earlier one. All changes are
// recorded by tile, a piece of 4 KiB of a column: see [Store.Changed].
package store

import (
	"math"
	"slices"
	"sync"

	"github.com/murksim/murksim/fields"
)

// A Store keeps the columns of a world in generations. Between ticks there is one
// generation, the current one. During a tick, commands patch the current generation in
// place, with an undo log, or on a copy if a [State] holds it, and propagators write the
// next generation beside it. [Store.Turn] lets commands patch the next one, too.
// [Store.Commit] makes the next generation the current one, and [Store.Rollback] takes
// back all of the tick. In a steady state the store reuses its buffers and allocates
// nothing.
//
// The store also records which tiles of a column may have changed: see [Store.HoldDelta].
// A column may be written only through [Store.Patch], [Store.Full] and
// [Store.Incremental], and only until the next call of a method. Before the first
// HoldDelta and the first Incremental, [Store.Current] may be written as well.
//
// A Store belongs to one goroutine, but any goroutine may release its states and the
// columns that it shares.
type Store struct {
	defs   []fields.Def
	slots  []slot
	undo   []patch
	turned int    // the number of patches before Turn
	epoch  uint64 // a change has a higher one than the Moments and buffers before it
	holds  uint64 // the number of calls of HoldDelta
}

// maxHeld is the number of states that can be held at a time without an allocation per
// tick in a steady state: a field keeps that many spare buffers.
const maxHeld = 16

// A slot holds one field's generations.
type slot struct {
	def     *fields.Def
	size    int
	cur     *Buffer // the published generation, with this tick's patches
	next    *Buffer // written by this tick's propagators; nil if there are none
	before  *Buffer // the value of cur before Turn; nil if Turn changed nothing
	spare   *Buffer // for the next take, with the store as its holder; may be nil
	ledger  ledger
	initial bool    // cur is that of a static field, and has its initial values
	full    bool    // next has, or has had, a Full writer
	holds   uint64  // the number of calls of HoldDelta before next was made
	unknown bool    // what this tick's writers changed is not known yet; compare finds out
	other   *Buffer // what Swap exchanges next with; nil if this tick never called Swap

	//detcheck:allow goroutine buffers are released from any goroutine; it guards spare memory only
	mu   sync.Mutex
	free []*Buffer
}

// A patch is an entry of the undo log: the bits that an element had before.
type patch struct {
	field fields.ID
	index int
	bits  uint64
}

// New returns a store for fields of the given sizes, in elements, in which every element
// has its initial value, with bounds applied. It returns an error if a definition is not
// valid or an initial value cannot be stored.
func New(defs []fields.Def, sizes []int) (*Store, error) {
	s := &Store{defs: defs, slots: make([]slot, len(defs)), epoch: 1}
	for i := range defs {
		d, sl := &s.defs[i], &s.slots[i]
		if err := d.Check(); err != nil {
			return nil, err
		}
		sl.def, sl.size = d, sizes[i]
		sl.ledger.begin(d.Element, sl.size, s.epoch)
		sl.cur = sl.take()
		if err := sl.def.Initialize(&sl.cur.Column); err != nil {
			return nil, err
		}
		sl.initial = d.Mutability == fields.Static
	}
	return s, nil
}

// Other says that a static field has other values than its initial ones, or other initial ones.
func (s *Store) Other(id fields.ID) { s.slots[id].initial = false }

// Reset gives every element its initial value. States keep what they hold. Static fields that have
// them stay as they are, and shared with other stores.
func (s *Store) Reset() {
	s.Rollback()
	for i := range s.slots {
		sl := &s.slots[i]
		if sl.initial {
			continue
		}
		sl.drop(sl.cur)
		sl.cur = sl.take()
		sl.cur.Clear()
		sl.ledger.changeAll(s.epoch)
		if err := sl.def.Initialize(&sl.cur.Column); err != nil {
			panic("fields: " + err.Error()) // New has checked it
		}
		sl.initial = sl.def.Mutability == fields.Static
	}
}

// Share makes the store share all columns of another store, which must have the same
// definitions and sizes. Either store copies a shared column before it writes to it. Both
// stores must be between ticks. Afterwards each may be used by a goroutine of its own.
// States keep what they hold.
func (s *Store) Share(from *Store) {
	s.Rollback()
	for i := range s.slots {
		sl, other := &s.slots[i], &from.slots[i]
		b := other.cur
		sl.initial = other.initial && sl.def.Initial.Same(other.def.Initial)
		if sl.cur == b {
			continue // neither has written since the last Share
		}
		b.Retain()
		if sl.cur != nil {
			sl.drop(sl.cur)
		}
		sl.cur = b
		sl.ledger.changeAll(s.epoch)
	}
}

// Drop gives up all columns, which the store must get by Share before it is used again. It keeps the memory that it has for others.
func (s *Store) Drop() {
	s.Rollback()
	for i := range s.slots {
		sl := &s.slots[i]
		sl.drop(sl.cur)
		sl.cur = nil
	}
}

// Defs returns the definitions of the fields. They must not be changed.
func (s *Store) Defs() []fields.Def { return s.defs }

// Current returns a field at the start of the tick, commands applied.
func (s *Store) Current(id fields.ID) *fields.Column { return &s.slots[id].cur.Column }

// Now returns what this tick's propagators have written of a field so far, or the current
// column if they have not written it.
func (s *Store) Now(id fields.ID) *fields.Column {
	return &s.slots[id].now().Column
}

// now returns what this tick has written of a field so far, or the current generation.
func (sl *slot) now() *Buffer {
	if sl.next != nil {
		return sl.next
	}
	return sl.cur
}

// Written reports whether a propagator has written the field in this tick.
func (s *Store) Written(id fields.ID) bool { return s.slots[id].next != nil }

// Full returns the next generation of a field for a writer that writes every element. It
// starts with any contents.
func (s *Store) Full(id fields.ID) *fields.Column {
	sl := &s.slots[id]
	if sl.next == nil {
		s.begin(sl, sl.take())
	}
	sl.full = true
	sl.ledger.changeAll(s.epoch)
	return &sl.next.Column
}

// Incremental returns the next generation of a field as it stands so far.
func (s *Store) Incremental(id fields.ID) *fields.Column {
	sl := &s.slots[id]
	if sl.next == nil {
		s.begin(sl, s.copyOf(sl))
	}
	sl.ledger.changeAll(s.epoch)
	return &sl.next.Column
}

// begin begins the next generation of a field.
func (s *Store) begin(sl *slot, b *Buffer) {
	sl.next, sl.full, sl.holds, sl.ledger.allAtStart = b, false, s.holds, sl.ledger.all
}

// Unwrite takes back what the latest writer of a field did through [Store.Incremental]: the
// next generation holds what it held before that, or there is none if before is nil.
func (s *Store) Unwrite(id fields.ID, before *fields.Column) {
	sl := &s.slots[id]
	sl.unknown = false
	if sl.ledger.all = sl.ledger.allBefore; sl.holds != s.holds {
		sl.ledger.all = s.epoch // a State may hold what is taken back
	}
	if before != nil {
		sl.next.CopyFrom(before)
		return
	}
	sl.drop(sl.next)
	sl.next = nil
}

// Swap replaces the next generation of a field, which must be written in full, by another
// column of any contents. A second Swap puts the first column back. Commit keeps the one
// that is in place.
func (s *Store) Swap(id fields.ID) {
	sl := &s.slots[id]
	if sl.other == nil {
		sl.other = sl.take()
	}
	sl.next, sl.other = sl.other, sl.next
}

// dropOther gives up the column that Swap left beside the next generation.
func (sl *slot) dropOther() {
	if sl.other != nil {
		sl.drop(sl.other)
		sl.other = nil
	}
}

// Patch writes one element of the current generation. The caller must have checked index
// and value.
func (s *Store) Patch(id fields.ID, index int, bits uint64) {
	sl := &s.slots[id]
	if sl.cur.refs.Load() != 1 {
		s.own(sl)
	}
	sl.cur.asOf = 0
	sl.ledger.pieces[index>>sl.ledger.shift] = s.epoch
	if v := sl.cur.Float32; v != nil { // the most common
		s.undo = append(s.undo, patch{id, index, uint64(math.Float32bits(v[index]))})
		v[index] = math.Float32frombits(uint32(bits))
		return
	}
	s.undo = append(s.undo, patch{id, index, sl.cur.Bits(index)})
	sl.cur.SetBits(index, bits)
}

// A Patch is a new value for an element of a Float32 field.
type Patch struct {
	Index int32
	Value float32
}

// PatchAll writes elements of a Float32 field in order, each as [Store.Patch] does.
func (s *Store) PatchAll(id fields.ID, list []Patch) {
	if len(list) == 0 {
		return
	}
	sl := &s.slots[id]
	s.own(sl)
	undo, values := slices.Grow(s.undo, len(list)), sl.cur.Float32
	for _, p := range list {
		sl.ledger.pieces[int(p.Index)>>sl.ledger.shift] = s.epoch
		v := &values[p.Index]
		undo = append(undo, patch{id, int(p.Index), uint64(math.Float32bits(*v))})
		*v = p.Value
	}
	s.undo = undo
}

// Mark returns a point to which [Store.UndoTo] can go back.
func (s *Store) Mark() int { return len(s.undo) }

// UndoTo takes back the patches since a mark.
func (s *Store) UndoTo(mark int) {
	for i := len(s.undo) - 1; i >= mark; i-- {
		p := s.undo[i]
		sl := &s.slots[p.field]
		s.own(sl) // a State may hold it since
		sl.ledger.pieces[p.index>>sl.ledger.shift] = s.epoch
		sl.cur.SetBits(p.index, p.bits)
	}
	s.undo = s.undo[:mark]
}

// Turn makes what this tick has written so far the current generation, so that later
// patches apply to it. It may be called once a tick. Rollback still takes back all of the
// tick.
func (s *Store) Turn() {
	for i := range s.slots {
		if sl := &s.slots[i]; sl.next != nil {
			sl.before, sl.cur, sl.next = sl.cur, sl.next, nil
		}
	}
	s.turned = len(s.undo)
}

// Commit makes what this tick has written the current generation and ends the tick.
func (s *Store) Commit() {
	for i := range s.slots {
		sl := &s.slots[i]
		sl.dropOther()
		sl.unknown = false
		if sl.before != nil {
			sl.drop(sl.before)
			sl.before = nil
		}
		if sl.next != nil {
			sl.drop(sl.cur)
			sl.cur, sl.next = sl.next, nil
		}
	}
	s.undo, s.turned = s.undo[:0], 0
}

// Rollback takes back everything since the last Commit.
func (s *Store) Rollback() {
	s.UndoTo(s.turned)
	for i := range s.slots {
		sl := &s.slots[i]
		sl.dropOther()
		sl.unknown = false
		if sl.before != nil {
			sl.drop(sl.cur)
			sl.cur, sl.before = sl.before, nil
			sl.ledger.changeAll(s.epoch)
		}
		if sl.next != nil {
			sl.drop(sl.next)
			sl.next = nil
			sl.ledger.changeAll(s.epoch)
		}
	}
	s.UndoTo(0)
	s.turned = 0
}

// Hash is the snapshot hash of what [Store.Now] returns.
func (s *Store) Hash() uint64 {
	h := fields.NewHash()
	for i := range s.slots {
		h = h.Field(fields.ID(i), s.Now(fields.ID(i)))
	}
	return uint64(h)
}

// FieldHash is the FNV-1a hash of a field's elements as [Store.Now] returns them.
func (s *Store) FieldHash(id fields.ID) uint64 { return uint64(fields.NewHash().Column(s.Now(id))) }
