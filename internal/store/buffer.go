package store

import (
	"sync/atomic"

	"github.com/murksim/murksim/fields"
)

// A Buffer is one generation of a field: a column with a count of its holders. Stores hold
// buffers, and so do states and whatever calls [Buffer.Retain].
type Buffer struct {
	fields.Column
	//detcheck:allow goroutine counts the holders of a buffer, never what is in it
	refs atomic.Int32
	slot *slot
	asOf uint64 // the epoch up to which it is what its slot's field was; 0: unknown. For the store of the slot, or the only holder
}

// Retain adds a holder. A buffer with several holders is never written.
func (b *Buffer) Retain() { b.refs.Add(1) }

// Release removes a holder. The last one returns the buffer to its store for reuse.
func (b *Buffer) Release() {
	if b.refs.Add(-1) > 0 {
		return
	}
	b.slot.mu.Lock()
	defer b.slot.mu.Unlock()
	if len(b.slot.free) < maxFree {
		b.slot.free = append(b.slot.free, b)
	}
}

// maxFree is how many unused buffers a field keeps: for maxHeld states, and 3 for the
// tick itself.
const maxFree = maxHeld + 3

// take returns a buffer to write. It has one holder and any contents.
func (sl *slot) take() *Buffer {
	b := sl.unused()
	b.asOf = 0
	return b
}

// unused is take for a caller that looks at what the buffer was before it writes.
func (sl *slot) unused() *Buffer {
	if b := sl.spare; b != nil {
		sl.spare = nil
		return b
	}
	sl.mu.Lock()
	defer sl.mu.Unlock()
	if n := len(sl.free); n > 0 {
		b := sl.free[n-1]
		sl.free = sl.free[:n-1]
		b.refs.Store(1)
		return b
	}
	b := &Buffer{Column: fields.NewColumn(sl.def.Element, sl.size), slot: sl}
	b.refs.Store(1)
	return b
}

// copyOf returns a copy of the current column, which must not be patched any more. A buffer
// that was current before needs only the pieces that have changed since. While there is a next
// generation, the ledger has changes of this epoch that the current one lacks.
func (s *Store) copyOf(sl *slot) *Buffer {
	if sl.cur.slot == sl && sl.cur.asOf == 0 && sl.next == nil {
		sl.cur.asOf = s.epoch
		s.epoch++
	}
	b, l := sl.unused(), &sl.ledger
	since := b.asOf
	b.asOf = 0
	if b.slot != sl || since == 0 || max(l.all, l.reported) > since {
		b.CopyFrom(&sl.cur.Column)
		return b
	}
	for k, epoch := range l.pieces {
		if epoch > since {
			lo, hi := l.bounds(k)
			to, from := b.Slice(lo, hi), sl.cur.Slice(lo, hi)
			to.CopyFrom(&from)
		}
	}
	return b
}

// drop gives up the store's hold on a buffer. A buffer with no other holder cannot get
// one, so it becomes the spare without a lock.
func (sl *slot) drop(b *Buffer) {
	if sl.spare == nil && b.refs.Load() == 1 {
		sl.spare = b
		return
	}
	b.Release()
}

// own makes the current column one that may be patched: a copy if anything else holds it.
func (s *Store) own(sl *slot) {
	if sl.cur.refs.Load() == 1 {
		sl.cur.asOf = 0
		return
	}
	held := sl.cur
	sl.cur = s.copyOf(sl)
	sl.drop(held)
}
