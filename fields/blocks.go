package fields

// blockBytes is the size of the blocks that are compared and looked up. Half of it
// doubles the memory of the tables; twice of it makes a change cost twice as much.
const blockBytes = 8 << 10

// A fieldTables knows the blocks of a field.
type fieldTables struct {
	size   int // elements of the field
	each   int // elements of a block; the last may have fewer
	powers [2]uint64
	blocks []blockTable // nil: the field is too small
}

// A blockTable knows what a block does to a hash.
type blockTable struct {
	zero   bool // the block is all zeros
	seen   bool // the block has been looked at since it changed
	known  [4]uint64
	values *[256]uint64 // F(l, B) where known has bit l; nil: none is known
}

func newTables(s *Snapshot) []fieldTables {
	tables := make([]fieldTables, len(s.buffers))
	for i, b := range s.buffers {
		t, size := &tables[i], s.defs[i].Element.Size()
		t.size, t.each = b.Len(), blockBytes/size
		if t.size < t.each {
			continue
		}
		n := (t.size + t.each - 1) / t.each
		t.blocks = make([]blockTable, n)
		t.powers = [2]uint64{power(fnvPrime, blockBytes), power(fnvPrime, (t.size-(n-1)*t.each)*size)}
	}
	return tables
}

// block is where block k begins and ends.
func (t *fieldTables) block(k int) (lo, hi int) { return k * t.each, min((k+1)*t.each, t.size) }

// power is what block k multiplies a hash by.
func (t *fieldTables) power(k int) uint64 {
	if k == len(t.blocks)-1 {
		return t.powers[1]
	}
	return t.powers[0]
}

// stretch is how many blocks of one column are compared before those of the next: memory
// likes long runs, and they still are in the cache as the other side of the next.
const stretch = 8

// compare finds out, for each block, in which lanes it is as it was in last: bit j says
// that it has not changed up to lane j.
func (t *fieldTables) compare(usable []uint8, last *Column, c *[lanes]*Column, n int) []uint8 {
	usable = append(usable, make([]uint8, len(t.blocks))...)
	for from := 0; from < len(t.blocks); from += stretch {
		to := min(from+stretch, len(t.blocks))
		before := last
		for j := range n {
			for k := from; k < to; k++ {
				lo, hi := t.block(k)
				if usable[k] == 1<<j-1 && sameBits(before, c[j], lo, hi) {
					usable[k] |= 1 << j
				}
			}
			before = c[j]
		}
	}
	return usable
}

// skip takes a hash over the blocks from k on for which it is known where they lead,
// and gives the block at which it stops.
func (t *fieldTables) skip(h uint64, k int, usable []uint8, lane uint8) (uint64, int) {
	for ; k < len(usable); k++ {
		b := &t.blocks[k]
		if usable[k]&lane == 0 {
			return h, k
		}
		switch l := h & 0xff; {
		case b.zero:
			h *= t.power(k)
		case b.known[l/64]>>(l%64)&1 != 0:
			h = b.values[l] + (h-l)*t.power(k)
		default:
			return h, k
		}
	}
	return h, k
}

// note remembers that the block, which holds these elements, takes the hash from to the
// hash to.
func (b *blockTable) note(elements *Column, from, to, power uint64) {
	if !b.seen {
		b.seen, b.zero = true, elements.isZero()
	}
	if b.zero {
		return
	}
	if b.values == nil {
		b.values = new([256]uint64)
	}
	l := from & 0xff
	b.known[l/64] |= 1 << (l % 64)
	b.values[l] = to - (from-l)*power
}

// forget empties the table of a block that has changed.
func (b *blockTable) forget() { b.known, b.zero, b.seen = [4]uint64{}, false, false }
