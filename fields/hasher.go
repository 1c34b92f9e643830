package fields

// HashSnapshots computes the hashes of snapshots of one world, up to four side by
// side: sums[i] is what s[i].Hash gives.
func HashSnapshots(sums []uint64, s []*Snapshot) {
	for len(s) > 0 {
		n := min(len(s), lanes)
		group(nil, sums[:n], s[:n])
		sums, s = sums[n:], s[n:]
	}
}

// A Hasher computes the hashes of a world's snapshots, up to four side by side. It
// remembers the last that it hashed: where a block of a field has not changed since,
// its part in the hash is looked up.
//
// A fixed block B of n bytes takes a hash h to F(h, B). The low byte of h goes its way
// by itself, and the rest is multiplied: with l = h mod 256,
//
//	F(h, B) = F(l, B) + (h - l)·P^n
//
// so that 256 values tell everything about a block. They are computed when they are
// first needed: what precedes a block decides on l, so that a change there makes l
// any byte, and the table of a block that stays for long fills in some hundred ticks.
// Until then it is hashed as if there were no table. A change empties the table. A
// block of zeros needs none.
//
// The tables take up to a quarter of the memory of a state. Blocks that never stay as
// they are have none, and finding that out costs a look at their first bytes.
//
// The zero Hasher is ready. It belongs to one goroutine; the snapshots may come in any
// order.
type Hasher struct {
	last   Snapshot // its buffers are held; none: not yet
	tables []fieldTables
	usable []uint8 // of the blocks of a field: bit j says whether lane j may use the table
}

// Hash computes the hashes of snapshots of one world: sums[i] is what s[i].Hash gives.
// It reports how many bytes it went through; the rest was looked up.
func (h *Hasher) Hash(sums []uint64, s []*Snapshot) (hashed int) {
	for len(s) > 0 {
		n := min(len(s), lanes)
		if h.tables == nil {
			h.tables = newTables(s[0])
		}
		hashed += group(h, sums[:n], s[:n])
		h.hold(s[n-1])
		sums, s = sums[n:], s[n:]
	}
	return hashed
}

// hold remembers a snapshot as the last.
func (h *Hasher) hold(s *Snapshot) {
	for _, b := range s.buffers {
		b.refs.Add(1)
	}
	h.letGo()
	h.last.buffers = append(h.last.buffers, s.buffers...)
}

func (h *Hasher) letGo() {
	for _, b := range h.last.buffers {
		b.release()
	}
	clear(h.last.buffers)
	h.last.buffers = h.last.buffers[:0]
}

// Release gives up what the Hasher remembers, which is as new then.
func (h *Hasher) Release() {
	h.letGo()
	h.tables = nil
}

// group hashes one to four snapshots side by side, with the tables of h if it is not nil.
func group(h *Hasher, sums []uint64, s []*Snapshot) (hashed int) {
	var g lockstep
	for j := range lanes {
		g.h[j] = fnvOffset
	}
	g.n = len(s)
	for id := range s[0].buffers {
		var c [lanes]*Column
		for j := range g.h {
			g.h[j] = word32(g.h[j], uint32(id))
			c[j] = &s[min(j, g.n-1)].buffers[id].Column // a lane too many repeats the last
		}
		if h == nil || len(h.last.buffers) == 0 || h.tables[id].blocks == nil {
			hashed += g.whole(&c)
			continue
		}
		hashed += g.blocks(h, &h.tables[id], &h.last.buffers[id].Column, &c)
	}
	copy(sums, g.h[:])
	return hashed
}

// A lockstep is up to four hashes under way.
type lockstep struct {
	h [lanes]uint64
	n int
}

// whole hashes a column of each lane.
func (g *lockstep) whole(c *[lanes]*Column) (hashed int) {
	if g.n == 1 {
		g.h[0] = uint64(Hash(g.h[0]).Column(c[0]))
	} else {
		side(&g.h, &[lanes]Column{*c[0], *c[1], *c[2], *c[3]})
	}
	return g.n * c[0].bytes()
}

// blocks hashes a column of each lane block by block. Each lane goes on by itself while
// it finds what it needs in the tables; the blocks that the lanes stop at are hashed
// side by side.
func (g *lockstep) blocks(h *Hasher, t *fieldTables, last *Column, c *[lanes]*Column) (hashed int) {
	h.usable = t.compare(h.usable[:0], last, c, g.n)
	var at [lanes]int // block of each lane
	for {
		length := 0 // elements of the blocks to hash: of the first lane's that has stopped
		var stopped [lanes]int
		n := 0
		for j := range g.n {
			g.h[j], at[j] = t.skip(g.h[j], at[j], h.usable, 1<<j)
			if at[j] == len(t.blocks) {
				continue
			}
			lo, hi := t.block(at[j])
			if n == 0 {
				length = hi - lo
			}
			if hi-lo == length {
				stopped[n] = j
				n++
			}
		}
		if n == 0 {
			break
		}
		hashed += g.stopped(t, c, stopped[:n], &at, h.usable)
	}
	for k, u := range h.usable {
		if u != 1<<g.n-1 {
			t.blocks[k].forget()
		}
	}
	return hashed
}

// stopped hashes the blocks that some lanes have stopped at, and notes them in their
// tables.
func (g *lockstep) stopped(t *fieldTables, c *[lanes]*Column, stopped []int, at *[lanes]int, usable []uint8) (hashed int) {
	var h [lanes]uint64
	var parts [lanes]Column
	for i := range lanes {
		j := stopped[min(i, len(stopped)-1)]
		lo, hi := t.block(at[j])
		h[i], parts[i] = g.h[j], c[j].slice(lo, hi)
	}
	if len(stopped) == 1 {
		h[0] = uint64(Hash(h[0]).Column(&parts[0]))
	} else {
		side(&h, &parts)
	}
	for i, j := range stopped {
		k := at[j]
		if usable[k]&(1<<j) != 0 {
			t.blocks[k].note(&parts[i], g.h[j], h[i], t.power(k))
		}
		g.h[j], at[j] = h[i], k+1
		hashed += parts[i].bytes()
	}
	return hashed
}
