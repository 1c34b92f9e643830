package store

import (
	"math/bits"

	"github.com/murksim/murksim/fields"
)

// TileBytes is the size of a tile: a piece of a column for which the store knows whether
// it may have changed. It is a power of two. Half of it would double the memory of the
// tables that package statehash keeps by tile; twice of it would double the cost of a
// change.
const TileBytes = 4 << 10

// A ledger records when the tiles of a field may have changed. Times are epochs: see
// [Moment].
type ledger struct {
	shift      uint8    // index>>shift is the tile of an element
	all        uint64   // the epoch in which any tile may have changed
	allBefore  uint64   // the value of all before the latest writer
	allAtStart uint64   // the value of all before the first writer of the tick
	reported   uint64   // the epoch in which a writer was last believed, see Changed
	tiles      []uint64 // by tile: the epoch in which it alone may have changed
}

func (l *ledger) begin(e fields.Element, size int, epoch uint64) {
	l.shift = uint8(bits.Len(uint(TileBytes/e.Size())) - 1)
	l.tiles = make([]uint64, (size+1<<l.shift-1)>>l.shift)
	l.all = epoch
}

// tileLen is the number of elements of a tile; the last one may have fewer.
func (l *ledger) tileLen() int { return 1 << l.shift }

// changeAll records a writer that may change every element.
func (l *ledger) changeAll(epoch uint64) { l.allBefore, l.all = l.all, epoch }

// compare records what the writers of a tick have changed, if nobody held what they had
// written so far: the tiles in which the next generation differs from the current one.
func (s *Store) compare(sl *slot) {
	l := &sl.ledger
	switch {
	case l.all <= l.allAtStart: // all of them have reported it
		l.reported = s.epoch
		return
	case sl.full || sl.holds != s.holds:
		return
	}
	for k := range l.tiles {
		lo, hi := k<<l.shift, min((k+1)<<l.shift, sl.size)
		if lo < hi && !sl.next.SameBits(&sl.cur.Column, lo, hi) {
			l.tiles[k] = s.epoch
		}
	}
	l.all = l.allAtStart
}

// changedTiles counts the tiles that may have changed after an epoch.
func (l *ledger) changedTiles(since uint64) (n int) {
	if l.all > since {
		return len(l.tiles)
	}
	for _, epoch := range l.tiles {
		if epoch > since {
			n++
		}
	}
	return n
}

// Tiles returns the number of tiles of a field, and how many elements each has.
func (s *Store) Tiles(id fields.ID) (n, tileLen int) {
	l := &s.slots[id].ledger
	return len(l.tiles), l.tileLen()
}

// Changed records that the latest writer of a field, by [Store.Full] or
// [Store.Incremental], changed no tiles but those marked here and in other calls for that
// writer. A Full writer is compared with [Store.Current], an Incremental one with the
// column that it was given. Without a call, every tile counts as changed until
// [Store.Finish], which looks at what Incremental writers did. For a field with bounds a call
// is not believed, since Finish may change any element.
func (s *Store) Changed(id fields.ID, tiles []bool) {
	sl := &s.slots[id]
	if sl.def.Bounds == nil {
		sl.ledger.all = sl.ledger.allBefore
	}
	for k, changed := range tiles {
		if changed {
			sl.ledger.tiles[k] = s.epoch
		}
	}
}
