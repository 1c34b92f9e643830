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

// drop gives up the store's hold on a buffer. A buffer with no other holder cannot get
// one, so it becomes the spare without a lock.
func (sl *slot) drop(b *Buffer) {
	if sl.spare == nil && b.refs.Load() == 1 {
		sl.spare = b
		return
	}
	b.Release()
}

// own replaces the current column by a copy if anything else holds it.
func (sl *slot) own() {
	if sl.cur.refs.Load() == 1 {
		return
	}
	held := sl.cur
	sl.cur = sl.take()
	sl.cur.CopyFrom(&held.Column)
	sl.drop(held)
}
