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
// columns of less than a tile, and those of which half or more may have changed.
//
// The zero Delta is ready to use, by one goroutine at a time. It must be released before
// it is used again, and keeps its memory.
type Delta struct {
	// Fine must be set before the first use. Such a Delta has pieces, not tiles, and believes
	// no report: what writers wrote in this tick is compared. A column of a tile or more is
	// held whole only if three quarters have changed.
	Fine bool

	state State        // a buffer is nil where there are copies
	tiles []TileCopies // by field
}

// TileCopies are copies of some tiles, or pieces, of a column.
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

// Tiles tells which tiles of a field, or pieces in a Fine Delta, may have changed. It has
// copies of them if [Delta.Buffer] returns nil.
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
			n = min(n, sl.ledger.changedTiles(since.epoch)*sl.ledger.tileLen())
		}
		size += n * sl.def.Element.Size()
	}
	return size
}

// HoldDelta makes d hold what may have changed in [Store.Now] since a moment, and returns
// the present moment. The Delta must be new or released.
func (s *Store) HoldDelta(d *Delta, since Moment) Moment {
	d.state.begin(s)
	if len(d.tiles) != len(s.slots) {
		d.tiles = make([]TileCopies, len(s.slots))
	}
	for i := range s.slots {
		sl, c := &s.slots[i], &d.tiles[i]
		b := sl.now()
		from := uint64(0) // everything may have changed
		if since.store == s {
			from = since.epoch
		}
		copied := false
		if d.Fine {
			s.compare(sl)
			copied = c.takePieces(&b.Column, &sl.ledger, from)
		} else {
			copied = c.takeTiles(&b.Column, &sl.ledger, from)
		}
		if copied {
			b = nil
		} else {
			b.Retain()
		}
		d.state.buffers = append(d.state.buffers, b)
	}
	m := Moment{s, s.epoch}
	s.epoch++
	s.holds++
	return m
}

// takeTiles tells which tiles of a column may have changed after an epoch, and copies them
// if they are less than half.
func (t *TileCopies) takeTiles(c *fields.Column, l *ledger, since uint64) (copied bool) {
	t.Which = t.Which[:0]
	truncate(&t.Data)
	for k := range l.tiles() {
		if l.tileChanged(k, since) {
			t.Which = append(t.Which, int32(k))
		}
	}
	if l.size < l.tileLen() || 2*len(t.Which) >= l.tiles() {
		return false
	}
	for _, k := range t.Which {
		appendElements(&t.Data, c, int(k)*l.tileLen(), min(int(k+1)*l.tileLen(), l.size))
	}
	return true
}

// takePieces tells which pieces of a column may have changed after an epoch, and copies them
// if they are less than three quarters, or of a small column: holding one takes longer.
func (t *TileCopies) takePieces(c *fields.Column, l *ledger, since uint64) (copied bool) {
	t.Which = t.Which[:0]
	truncate(&t.Data)
	for k := range l.pieces {
		if l.changed(k, since) {
			t.Which = append(t.Which, int32(k))
		}
	}
	if l.size >= l.tileLen() && 4*len(t.Which) >= 3*len(l.pieces) {
		return false
	}
	for _, k := range t.Which {
		lo, hi := l.bounds(int(k))
		appendElements(&t.Data, c, lo, hi)
	}
	return true
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
