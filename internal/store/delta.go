package store

import "github.com/murksim/murksim/fields"

// A Moment identifies a state that [Store.HoldDelta] held. The zero Moment identifies no
// state, and every state differs from it.
type Moment struct {
	store *Store
	epoch uint64
}

// SameStore reports whether two moments are of one store.
func (m Moment) SameStore(other Moment) bool { return m.store == other.store }

// A Delta holds what may have changed in a state since an earlier one: of each field
// either its whole column or copies of the tiles that may have changed. It holds whole
// columns of less than a tile, and those of which a quarter or more may have changed.
//
// The zero Delta is ready to use, by one goroutine at a time. It must be released before
// it is used again, and keeps its memory.
type Delta struct {
	state State        // a buffer is nil where there are tile copies
	tiles []TileCopies // by field
}

// TileCopies are copies of some tiles of a column.
type TileCopies struct {
	Which []int32       // the numbers of the tiles, ascending
	Data  fields.Column // their elements, one tile after another
}

// Whole returns the state if the Delta holds all columns whole, else nil. The state is
// released with the Delta.
func (d *Delta) Whole() *State {
	for _, b := range d.state.buffers {
		if b == nil {
			return nil
		}
	}
	return &d.state
}

// Buffer returns the column of a field, or nil if the Delta holds tiles of it.
func (d *Delta) Buffer(id int) *Buffer { return d.state.buffers[id] }

// Tiles returns the tiles of a field for which [Delta.Buffer] returns nil.
func (d *Delta) Tiles(id int) *TileCopies { return &d.tiles[id] }

// Release returns the columns to the store. A second Release does nothing.
func (d *Delta) Release() { d.state.Release() }

// ChangedBytes is the size of the tiles that may have changed since a moment.
func (v View) ChangedBytes(since Moment) (size int) {
	s := v.store
	for i := range s.slots {
		sl := &s.slots[i]
		n := sl.size
		if since.store == s {
			n = min(n, sl.ledger.changedTiles(since.epoch)<<sl.ledger.shift)
		}
		size += n * sl.def.Element.Size()
	}
	return size
}

// HoldDelta makes d hold what may have changed in [Store.Now] since a moment, and returns
// the present moment. The Delta must be new or released.
func (s *Store) HoldDelta(d *Delta, since Moment) Moment {
	s.Hold(&d.state)
	if len(d.tiles) != len(s.slots) {
		d.tiles = make([]TileCopies, len(s.slots))
	}
	for i := range s.slots {
		l, b := &s.slots[i].ledger, &d.state.buffers[i]
		n := len(l.tiles)
		if since.store == s && s.slots[i].size >= l.tileLen() {
			n = l.changedTiles(since.epoch)
		}
		if 4*n >= len(l.tiles) {
			continue
		}
		d.tiles[i].take(&(*b).Column, l, since.epoch)
		(*b).Release()
		*b = nil
	}
	m := Moment{s, s.epoch}
	s.epoch++
	s.holds++
	return m
}

// take copies the tiles of a column that may have changed after an epoch.
func (t *TileCopies) take(c *fields.Column, l *ledger, since uint64) {
	t.Which = t.Which[:0]
	truncate(&t.Data)
	for k, epoch := range l.tiles {
		if epoch > since {
			t.Which = append(t.Which, int32(k))
			appendElements(&t.Data, c, k*l.tileLen(), min((k+1)*l.tileLen(), c.Len()))
		}
	}
}

// truncate removes all elements of a column, which keeps its memory.
func truncate(c *fields.Column) {
	c.Float32, c.Fixed, c.Int32, c.Uint64 = c.Float32[:0], c.Fixed[:0], c.Int32[:0], c.Uint64[:0]
}

// appendElements appends elements lo to hi of a column of the same element type.
func appendElements(c, from *fields.Column, lo, hi int) {
	switch {
	case from.Float32 != nil:
		c.Float32 = append(c.Float32, from.Float32[lo:hi]...)
	case from.Fixed != nil:
		c.Fixed = append(c.Fixed, from.Fixed[lo:hi]...)
	case from.Int32 != nil:
		c.Int32 = append(c.Int32, from.Int32[lo:hi]...)
	default:
		c.Uint64 = append(c.Uint64, from.Uint64[lo:hi]...)
	}
}
