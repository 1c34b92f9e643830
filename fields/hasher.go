package fields

// HashSnapshots computes the hashes of snapshots of one world, up to four side by
// side: sums[i] is what s[i].Hash gives.
func HashSnapshots(sums []uint64, s []*Snapshot) {
	var p Pass
	for len(s) > 0 {
		n := min(len(s), lanes)
		p.Begin(s[:n])
		p.Run(nil)
		sums = sums[copy(sums, p.Sums()):]
		s = s[n:]
	}
}

// A Pass computes the hashes of one to four snapshots of one world side by side, and can
// be interrupted. It belongs to one goroutine at a time.
type Pass struct {
	g  lockstep
	s  [lanes]*Snapshot
	id int // the field that is next
	at int // and the element
}

// Begin begins with other snapshots, which must not be released before the end.
func (p *Pass) Begin(s []*Snapshot) {
	*p = Pass{g: begin(len(s))}
	for j := range p.s {
		p.s[j] = s[min(j, len(s)-1)]
	}
}

// Run goes on until all is hashed, or until stop, which it asks every some 10 µs, says
// so; it may be nil. It reports whether all is hashed.
func (p *Pass) Run(stop func() bool) (done bool) {
	const each = 4 << 10 // elements
	for ; p.id < len(p.s[0].buffers); p.id, p.at = p.id+1, 0 {
		n := p.s[0].buffers[p.id].Len()
		for first := p.at == 0; first || p.at < n; first = false {
			if stop != nil && stop() {
				return false
			}
			c := p.g.field(p.id, first, &p.s)
			p.g.whole(&c, p.at, min(p.at+each, n))
			p.at += each
		}
	}
	return true
}

// Sums are the hashes, once all is hashed.
func (p *Pass) Sums() []uint64 { return p.g.h[:p.g.n] }

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
		hashed += h.group(sums[:n], s[:n])
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

// group hashes one to four snapshots side by side.
func (h *Hasher) group(sums []uint64, s []*Snapshot) (hashed int) {
	g := begin(len(s))
	var all [lanes]*Snapshot
	for j := range all {
		all[j] = s[min(j, len(s)-1)]
	}
	for id := range s[0].buffers {
		c := g.field(id, true, &all)
		if len(h.last.buffers) == 0 || h.tables[id].blocks == nil {
			hashed += g.whole(&c, 0, c[0].Len())
			continue
		}
		hashed += g.blocks(h, &h.tables[id], &h.last.buffers[id].Column, &c)
	}
	copy(sums, g.h[:])
	return hashed
}

// A lockstep is up to four hashes under way. A lane too many repeats the last.
type lockstep struct {
	h [lanes]uint64
	n int
}

func begin(n int) lockstep {
	return lockstep{[lanes]uint64{fnvOffset, fnvOffset, fnvOffset, fnvOffset}, n}
}

// field gives each lane its column of a field, and hashes the field's index if it is
// only beginning.
func (g *lockstep) field(id int, first bool, s *[lanes]*Snapshot) (c [lanes]*Column) {
	for j := range c {
		if first {
			g.h[j] = word32(g.h[j], uint32(id))
		}
		c[j] = &s[j].buffers[id].Column
	}
	return c
}

// whole hashes elements of a column of each lane.
func (g *lockstep) whole(c *[lanes]*Column, lo, hi int) (hashed int) {
	var parts [lanes]Column
	for j := range parts {
		parts[j] = c[j].slice(lo, hi)
	}
	if g.n == 1 {
		g.h[0] = uint64(Hash(g.h[0]).Column(&parts[0]))
	} else {
		side(&g.h, &parts)
	}
	return g.n * parts[0].bytes()
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
