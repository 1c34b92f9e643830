package fields

import "math/bits"

// tileBytes is the size of the pieces of a column of which a [Store] knows whether they
// may have changed, and which a [Hasher] looks up: a power of two. Half of it doubles the
// memory of the Hasher's tables; twice of it makes a change cost twice as much.
const tileBytes = 4 << 10

// A Moment is a state that a [Store] was in when [Store.HoldDelta] held it. The zero
// Moment is no state at all, from which everything differs.
type Moment struct {
	store *Store
	epoch uint64
}

// A Delta holds a state in as far as it may differ from the one held before it: of each
// field its column, as a [Snapshot] does, or copies of those tiles of 4 KiB that may
// have changed. Columns of less than a tile, and those of which a quarter may have
// changed, are held whole. The zero Delta is ready; it belongs to one goroutine at a
// time. Release it before it is used again; it keeps its memory.
type Delta struct {
	state Snapshot // a buffer is nil where there are tiles
	tiles []tiles  // by field
}

// tiles are pieces of a column: the elements of all one after another.
type tiles struct {
	which []int32 // ascending
	data  Column
}

// Whole gives the state if all of its columns are held, else nil. It is released with
// the Delta.
func (d *Delta) Whole() *Snapshot {
	for _, b := range d.state.buffers {
		if b == nil {
			return nil
		}
	}
	return &d.state
}

// Release gives the columns back. A second Release does nothing.
func (d *Delta) Release() { d.state.Release() }

// A ledger knows which tiles of a field may have changed when.
type ledger struct {
	shift  uint8    // index>>shift is the tile of an element
	all    uint64   // the epoch in which any tile may have changed
	before uint64   // what that was before the latest writer
	stamps []uint64 // by tile: the epoch in which it alone may have changed
}

func (l *ledger) begin(e Element, size int, epoch uint64) {
	l.shift = uint8(bits.Len(uint(tileBytes/e.Size())) - 1)
	l.stamps = make([]uint64, (size+1<<l.shift-1)>>l.shift)
	l.all = epoch
}

// each is how many elements a tile has.
func (l *ledger) each() int { return 1 << l.shift }

// written notes that a writer may change everything.
func (l *ledger) written(epoch uint64) { l.before, l.all = l.all, epoch }

// changed counts the tiles that may have changed after an epoch.
func (l *ledger) changed(since uint64) (n int) {
	if l.all > since {
		return len(l.stamps)
	}
	for _, s := range l.stamps {
		if s > since {
			n++
		}
	}
	return n
}

// Wrote tells that the latest writer of a field, [Store.Full] or [Store.Incremental],
// has changed no elements but those from lo to hi, and those of other calls since:
// against what it was given, or if Full, [Store.Current]. Narrow begins that.
func (s *Store) Wrote(id ID, lo, hi int) {
	l := &s.slots[id].ledger
	for t := lo >> l.shift; t<<l.shift < min(hi, s.slots[id].size); t++ {
		l.stamps[t] = s.epoch
	}
}

// Narrow tells that [Store.Wrote] says what the latest writer has changed. It does
// nothing for a field with bounds, into which [Store.Finish] puts what was written.
func (s *Store) Narrow(id ID) {
	if sl := &s.slots[id]; sl.def.Bounds == nil {
		sl.ledger.all = sl.ledger.before
	}
}

// Tile is how many elements the tiles of a field have for which [Store.Wrote] notes
// changes, and how many tiles there are.
func (s *Store) Tile(id ID) (each, n int) {
	l := &s.slots[id].ledger
	return l.each(), len(l.stamps)
}

// Changed is how many bytes [Store.HoldDelta] would hold as having changed since m.
func (s *Store) Changed(m Moment) (size int) {
	for i := range s.slots {
		sl := &s.slots[i]
		n := sl.size
		if m.store == s {
			n = min(n, sl.ledger.changed(m.epoch)<<sl.ledger.shift)
		}
		size += n * sl.def.Element.Size()
	}
	return size
}

// HoldDelta holds what [Store.Now] gives for every field in d, which must be new or
// released, in as far as it may differ from the state at since, and returns the moment.
func (s *Store) HoldDelta(d *Delta, since Moment) Moment {
	s.Hold(&d.state)
	if len(d.tiles) != len(s.slots) {
		d.tiles = make([]tiles, len(s.slots))
	}
	for i := range s.slots {
		l, b := &s.slots[i].ledger, &d.state.buffers[i]
		n := len(l.stamps)
		if since.store == s && s.slots[i].size >= l.each() {
			n = l.changed(since.epoch)
		}
		if 4*n >= len(l.stamps) {
			continue
		}
		d.tiles[i].take(&(*b).Column, l, since.epoch)
		(*b).release()
		*b = nil
	}
	m := Moment{s, s.epoch}
	s.epoch++
	return m
}

// take copies the tiles of a column that may have changed after an epoch.
func (t *tiles) take(c *Column, l *ledger, since uint64) {
	t.which = t.which[:0]
	t.data.truncate()
	for k, s := range l.stamps {
		if s > since {
			t.which = append(t.which, int32(k))
			t.data.append(c, k*l.each(), min((k+1)*l.each(), c.Len()))
		}
	}
}
