package fields

// A hashed is what a [Hasher] knows of a field: its column as it was last, and where it
// takes a hash, tile by tile.
type hashed struct {
	size   int // elements of the field
	each   int // elements of a tile; the last may have fewer
	powers [2]uint64
	blocks []blockTable // nil: the field is too small

	held *buffer // the column as it was last; nil: it is in own
	own  Column  // empty until it is needed

	// Of the group that is hashed, by tile:
	usable []uint8 // bit j: it is as it was last up to lane j
	where  []int32 // of each lane for which it is not: see content
}

// A blockTable knows what a tile does to a hash.
type blockTable struct {
	values *[256]uint64 // F(l, B), 0 where it is not known; nil: none is
	zero   bool         // all is zeros
	seen   bool         // zero is known
	some   bool         // there are values
	next   uint8        // from where on to look for what is not known
}

func (t *hashed) begin(c *Column, e Element) {
	size := e.Size()
	t.size, t.each = c.Len(), tileBytes/size
	if t.size < t.each {
		return
	}
	n := (t.size + t.each - 1) / t.each
	t.blocks, t.usable, t.where = make([]blockTable, n), make([]uint8, n), make([]int32, lanes*n)
	t.powers = [2]uint64{power(fnvPrime, tileBytes), power(fnvPrime, (t.size-(n-1)*t.each)*size)}
}

// block is where tile k begins and ends.
func (t *hashed) block(k int) (lo, hi int) { return k * t.each, min((k+1)*t.each, t.size) }

// power is what tile k multiplies a hash by.
func (t *hashed) power(k int) uint64 {
	if k == len(t.blocks)-1 {
		return t.powers[1]
	}
	return t.powers[0]
}

// last is the column as it was last, empty if there is none yet.
func (t *hashed) last() *Column {
	if t.held != nil {
		return &t.held.Column
	}
	return &t.own
}

// compare finds out which tiles are as they were last, in each lane, and where the others are.
func (t *hashed) compare(id int, d *[lanes]*Delta, n int) {
	last := t.last()
	var all uint8
	if last.Len() > 0 {
		all = 1<<n - 1
	}
	for k := range t.usable {
		t.usable[k] = all
	}
	for j := range n {
		b := d[j].state.buffers[id]
		if b == nil {
			t.place(last, &d[j].tiles[id], j, n)
			continue
		}
		if j > 0 && b == d[j-1].state.buffers[id] {
			continue
		}
		for k := range t.blocks {
			lo, hi := t.block(k)
			if t.usable[k]>>j&1 == 0 || !sameBits(last, &b.Column, lo, hi) {
				t.change(k, j, n, int32(-1-j))
			}
		}
	}
}

// place says of tiles that they are what is in a lane.
func (t *hashed) place(last *Column, from *tiles, j, n int) {
	for p, k := range from.which {
		if t.usable[k]>>j&1 != 0 {
			lo, hi := t.block(int(k))
			was, is := last.slice(lo, hi), from.data.slice(p*t.each, p*t.each+hi-lo)
			if sameBits(&was, &is, 0, hi-lo) {
				continue
			}
		}
		t.change(int(k), j, n, int32(p*lanes+j))
	}
}

// change says where tile k is from lane j on.
func (t *hashed) change(k, j, n int, where int32) {
	t.usable[k] &= 1<<j - 1
	for ; j < n; j++ {
		t.where[k*lanes+j] = where
	}
}

// content gives tile k as it is in lane j.
func (t *hashed) content(id int, d *[lanes]*Delta, k, j int) Column {
	lo, hi := t.block(k)
	if t.usable[k]>>j&1 != 0 {
		return t.last().slice(lo, hi)
	}
	at := t.where[k*lanes+j]
	if at < 0 {
		return d[-1-at].state.buffers[id].slice(lo, hi)
	}
	p := int(at) / lanes * t.each
	return d[at%lanes].tiles[id].data.slice(p, p+hi-lo)
}

// keep makes what is in the last lane what was last.
func (t *hashed) keep(id int, d *[lanes]*Delta, n int) {
	tiled := false
	for j := range n {
		if b := d[j].state.buffers[id]; b != nil {
			b.refs.Add(1)
			t.release()
			t.held, tiled = b, false
		} else if len(d[j].tiles[id].which) > 0 {
			tiled = true
		}
	}
	if tiled && t.held != nil {
		if t.own.Len() == 0 {
			t.own = t.held.Clone()
		} else {
			t.own.CopyFrom(&t.held.Column)
		}
		t.release()
	}
	for k, u := range t.usable {
		if u>>(n-1)&1 != 0 {
			continue
		}
		t.blocks[k].forget()
		if at := t.where[k*lanes+n-1]; tiled && at >= 0 {
			lo, hi := t.block(k)
			own, p := t.own.slice(lo, hi), int(at)/lanes*t.each
			from := d[at%lanes].tiles[id].data.slice(p, p+hi-lo)
			own.CopyFrom(&from)
		}
	}
}

func (t *hashed) release() {
	if t.held != nil {
		t.held.release()
		t.held = nil
	}
}

// note remembers that the tile takes the hash from to the hash to.
func (b *blockTable) note(from, to, power uint64) {
	if b.values == nil {
		b.values = new([256]uint64)
	}
	b.values[from&0xff], b.some = to-(from-from&0xff)*power, true
}

// unknown gives a low byte for which the table has no value yet, if there is one.
func (b *blockTable) unknown() (l uint64, ok bool) {
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
func (b *blockTable) forget() {
	if b.some {
		*b.values = [256]uint64{}
	}
	b.zero, b.seen, b.some = false, false, false
}
