package store

import (
	"math/bits"
	"slices"

	"github.com/murksim/murksim/fields"
)

// TileBytes is the size of a tile: a piece of a column for which the store knows whether
// it may have changed. It is a power of two. Half of it would double the memory of the
// tables that package statehash keeps by tile; twice of it would double the cost of a
// change.
const TileBytes = 4 << 10

// PieceBytes is the size of a piece, of which a tile has several. Within a tile that may have
// changed the store knows which pieces may have.
const PieceBytes = 1 << 10

// A ledger records when the pieces of a field may have changed. Times are epochs: see
// [Moment].
type ledger struct {
	size       int
	shift      uint8    // index>>shift is the piece of an element
	all        uint64   // the epoch in which any piece may have changed
	allBefore  uint64   // the value of all before the latest writer
	allAtStart uint64   // the value of all before the first writer of the tick
	reported   uint64   // the epoch in which a writer was last believed, see Changed
	pieces     []uint64 // by piece: the epoch in which it alone may have changed
}

// perTile is how many pieces a tile has; the last one may have fewer.
const perTile = TileBytes / PieceBytes

func (l *ledger) begin(e fields.Element, size int, epoch uint64) {
	l.size, l.shift = size, uint8(bits.Len(uint(PieceBytes/e.Size()))-1)
	l.pieces = make([]uint64, (size+1<<l.shift-1)>>l.shift)
	l.all = epoch
}

// tileLen is the number of elements of a tile; the last one may have fewer.
func (l *ledger) tileLen() int { return perTile << l.shift }

// tiles is the number of tiles.
func (l *ledger) tiles() int { return (len(l.pieces) + perTile - 1) / perTile }

// bounds returns the first element of a piece and the one after its last.
func (l *ledger) bounds(piece int) (lo, hi int) {
	return piece << l.shift, min((piece+1)<<l.shift, l.size)
}

// changeAll records a writer that may change every element.
func (l *ledger) changeAll(epoch uint64) { l.allBefore, l.all = l.all, epoch }

// changed reports whether a piece may have changed after an epoch.
func (l *ledger) changed(piece int, since uint64) bool { return max(l.all, l.pieces[piece]) > since }

// tileChanged reports whether a tile may have changed after an epoch.
func (l *ledger) tileChanged(tile int, since uint64) bool {
	return l.all > since || slices.Max(l.pieces[tile*perTile:min((tile+1)*perTile, len(l.pieces))]) > since
}

// changedTiles counts the tiles that may have changed after an epoch.
func (l *ledger) changedTiles(since uint64) (n int) {
	if l.all > since {
		return l.tiles()
	}
	for k := range l.tiles() {
		if l.tileChanged(k, since) {
			n++
		}
	}
	return n
}

// Tiles returns the number of tiles of a field, and how many elements each has.
func (s *Store) Tiles(id fields.ID) (n, tileLen int) {
	l := &s.slots[id].ledger
	return l.tiles(), l.tileLen()
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
			for p := k * perTile; p < min((k+1)*perTile, len(sl.ledger.pieces)); p++ {
				sl.ledger.pieces[p] = s.epoch
			}
		}
	}
}
