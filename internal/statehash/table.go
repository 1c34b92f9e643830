package statehash

import (
	"github.com/murksim/murksim/fields"
	"github.com/murksim/murksim/internal/kernel"
	"github.com/murksim/murksim/internal/store"
)

// A columnTable is what a [Hasher] remembers of a field: its last column, and the effect
// of each tile on a hash.
type columnTable struct {
	size    int // elements of the field
	tileLen int // elements of a tile; the last one may have fewer
	powers  [2]uint64
	tiles   []tileTable // nil: the field is too small

	held *store.Buffer // the last column; nil: own is the last column
	own  fields.Column // empty until it is needed

	// Of the group that is being hashed, by tile:
	unchanged []uint8 // bit j: the tile is the same as in the last column, up to lane j
	where     []int32 // by lane: where the tile is if it is not unchanged; see content
}

// A tileTable is the effect of a tile on a hash.
type tileTable struct {
	values *[256]uint64 // F(l, B), 0 where it is unknown; nil: all are unknown
	zero   bool         // all bits are zeros
	seen   bool         // zero is known
	some   bool         // some values are known
	next   uint8        // where the search for an unknown value goes on
}

func (t *columnTable) begin(c *fields.Column, e fields.Element) {
	size := e.Size()
	t.size, t.tileLen = c.Len(), store.TileBytes/size
	if t.size < t.tileLen {
		return
	}
	n := (t.size + t.tileLen - 1) / t.tileLen
	t.tiles, t.unchanged, t.where = make([]tileTable, n), make([]uint8, n), make([]int32, lanes*n)
	t.powers = [2]uint64{kernel.FNVPower(store.TileBytes), kernel.FNVPower((t.size - (n-1)*t.tileLen) * size)}
}

// bounds returns the first element of tile k and the one after its last.
func (t *columnTable) bounds(k int) (lo, hi int) {
	return k * t.tileLen, min((k+1)*t.tileLen, t.size)
}

// power is the factor P^n of tile k.
func (t *columnTable) power(k int) uint64 {
	if k == len(t.tiles)-1 {
		return t.powers[1]
	}
	return t.powers[0]
}

// last returns the last column. It is empty if there is none yet.
func (t *columnTable) last() *fields.Column {
	if t.held != nil {
		return &t.held.Column
	}
	return &t.own
}

// compare finds out, for each lane, which tiles are unchanged and where the others are.
func (t *columnTable) compare(id int, d *[lanes]*store.Delta, n int) {
	last := t.last()
	var all uint8
	if last.Len() > 0 {
		all = 1<<n - 1
	}
	for k := range t.unchanged {
		t.unchanged[k] = all
	}
	for j := range n {
		b, tiles := d[j].Buffer(id), d[j].Tiles(id)
		if b == nil {
			t.compareCopies(last, tiles, j, n)
			continue
		}
		if j > 0 && b == d[j-1].Buffer(id) {
			continue
		}
		for _, k := range tiles.Which {
			lo, hi := t.bounds(int(k))
			if t.unchanged[k]>>j&1 == 0 || !last.SameBits(&b.Column, lo, hi) {
				t.change(int(k), j, n, int32(-1-j))
			}
		}
	}
}

// compareCopies is compare for a lane that holds copies of tiles.
func (t *columnTable) compareCopies(last *fields.Column, copies *store.TileCopies, j, n int) {
	for p, k := range copies.Which {
		if t.unchanged[k]>>j&1 != 0 {
			lo, hi := t.bounds(int(k))
			was, is := last.Slice(lo, hi), copies.Data.Slice(p*t.tileLen, p*t.tileLen+hi-lo)
			if was.SameBits(&is, 0, hi-lo) {
				continue
			}
		}
		t.change(int(k), j, n, int32(p*lanes+j))
	}
}

// change records where tile k is from lane j on.
func (t *columnTable) change(k, j, n int, where int32) {
	t.unchanged[k] &= 1<<j - 1
	for ; j < n; j++ {
		t.where[k*lanes+j] = where
	}
}

// content returns tile k of lane j. For a tile that is not unchanged, where is -1-i if it
// is in the whole column of lane i, and p*lanes+i if it is copy p of lane i.
func (t *columnTable) content(id int, d *[lanes]*store.Delta, k, j int) fields.Column {
	lo, hi := t.bounds(k)
	if t.unchanged[k]>>j&1 != 0 {
		return t.last().Slice(lo, hi)
	}
	at := t.where[k*lanes+j]
	if at < 0 {
		return d[-1-at].Buffer(id).Slice(lo, hi)
	}
	p := int(at) / lanes * t.tileLen
	return d[at%lanes].Tiles(id).Data.Slice(p, p+hi-lo)
}

// keep makes the column of the last lane the last column.
func (t *columnTable) keep(id int, d *[lanes]*store.Delta, n int) {
	inCopies := false
	for j := range n {
		if b := d[j].Buffer(id); b != nil {
			b.Retain()
			t.release()
			t.held, inCopies = b, false
		} else if len(d[j].Tiles(id).Which) > 0 {
			inCopies = true
		}
	}
	if inCopies && t.held != nil {
		if t.own.Len() == 0 {
			t.own = t.held.Clone()
		} else {
			t.own.CopyFrom(&t.held.Column)
		}
		t.release()
	}
	for k, u := range t.unchanged {
		if u>>(n-1)&1 != 0 {
			continue
		}
		t.tiles[k].forget()
		if at := t.where[k*lanes+n-1]; inCopies && at >= 0 {
			lo, hi := t.bounds(k)
			own, p := t.own.Slice(lo, hi), int(at)/lanes*t.tileLen
			from := d[at%lanes].Tiles(id).Data.Slice(p, p+hi-lo)
			own.CopyFrom(&from)
		}
	}
}

func (t *columnTable) release() {
	if t.held != nil {
		t.held.Release()
		t.held = nil
	}
}

// enter records that the tile takes the hash from to the hash to.
func (b *tileTable) enter(from, to, power uint64) {
	if b.values == nil {
		b.values = new([256]uint64)
	}
	b.values[from&0xff], b.some = to-(from-from&0xff)*power, true
}

// unknown returns a low byte for which the table has no value yet, if there is one.
func (b *tileTable) unknown() (l uint64, ok bool) {
	for range 256 {
		l = uint64(b.next)
		b.next++
		if b.values == nil || b.values[l] == 0 {
			return l, true
		}
	}
	return 0, false
}

// forget empties the table of a tile that has changed.
func (b *tileTable) forget() {
	if b.some {
		*b.values = [256]uint64{}
	}
	b.zero, b.seen, b.some = false, false, false
}

// isZero reports whether all bits of a column are zeros.
func isZero(c *fields.Column) bool {
	for i := range c.Len() {
		if c.Bits(i) != 0 {
			return false
		}
	}
	return true
}
