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
			if first {
				p.g.index(p.id)
			}
			var c [lanes]*Column
			for j := range c {
				c[j] = &p.s[j].buffers[p.id].Column
			}
			p.g.whole(&c, p.at, min(p.at+each, n))
			p.at += each
		}
	}
	return true
}

// Sums are the hashes, once all is hashed.
func (p *Pass) Sums() []uint64 { return p.g.h[:p.g.n] }

// A Hasher computes the hashes of a world's states, up to four side by side. It
// remembers the last that it hashed: where a tile of a field has not changed since, its
// part in the hash is looked up.
//
// A fixed tile B of n bytes takes a hash h to F(h, B). The low byte of h goes its way
// by itself, and the rest is multiplied: with l = h mod 256,
//
//	F(h, B) = F(l, B) + (h - l)·P^n
//
// so that 256 values tell everything about a tile. They are computed when they are
// first needed, and others of the same tile beside them while there is room: what
// precedes a tile decides on l, so that a change there makes l any byte, and the table
// of a tile that stays for long fills in some hundred ticks. Until then it is hashed as
// if there were no table. A change empties the table. A tile of zeros needs none.
//
// A Hasher holds the last state, some of it as a copy, and its tables take up to half
// of the memory of a state. Tiles that never stay as they are have none, and finding
// that out costs a look at their first bytes.
//
// The zero Hasher is ready. It belongs to one goroutine.
type Hasher struct {
	fields []hashed
}

// Hash computes the hashes of states of one world: sums[i] is what the [Snapshot.Hash]
// of state d[i] is. The states that are held whole may come in any order; any other
// comes after that which it was held against. It reports how many bytes it went
// through; the rest was looked up.
func (h *Hasher) Hash(sums []uint64, d []*Delta) (went int) {
	for len(d) > 0 {
		n := min(len(d), lanes)
		if h.fields == nil {
			h.begin(d[0].Whole())
		}
		went += h.group(sums[:n], d[:n])
		sums, d = sums[n:], d[n:]
	}
	return went
}

func (h *Hasher) begin(s *Snapshot) {
	if s == nil {
		panic("fields: a Hasher begins with a state that is not held whole")
	}
	h.fields = make([]hashed, len(s.buffers))
	for i, b := range s.buffers {
		h.fields[i].begin(&b.Column, s.defs[i].Element)
	}
}

// Release gives up what the Hasher remembers, which is as new then.
func (h *Hasher) Release() {
	for i := range h.fields {
		h.fields[i].release()
	}
	h.fields = nil
}

// group hashes one to four states side by side.
func (h *Hasher) group(sums []uint64, d []*Delta) (went int) {
	g, n := begin(len(d)), len(d)
	var all [lanes]*Delta
	for j := range all {
		all[j] = d[min(j, n-1)]
	}
	for id := range h.fields {
		g.index(id)
		t := &h.fields[id]
		if t.blocks == nil {
			var c [lanes]*Column
			for j := range c {
				c[j] = &all[j].state.buffers[id].Column
			}
			went += g.whole(&c, 0, t.size)
			continue
		}
		t.compare(id, &all, n)
		went += g.blocks(t, id, &all)
		t.keep(id, &all, n)
	}
	copy(sums, g.h[:])
	return went
}

// A lockstep is up to four hashes under way. A lane too many repeats the last.
type lockstep struct {
	h [lanes]uint64
	n int
}

func begin(n int) lockstep {
	return lockstep{[lanes]uint64{fnvOffset, fnvOffset, fnvOffset, fnvOffset}, n}
}

// index hashes the index of a field.
func (g *lockstep) index(id int) {
	for j := range g.h {
		g.h[j] = word32(g.h[j], uint32(id))
	}
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

// blocks hashes a column of each lane tile by tile: each lane looks up where the tile
// leads, and those that cannot are hashed side by side.
func (g *lockstep) blocks(t *hashed, id int, d *[lanes]*Delta) (went int) {
	for k := range t.blocks {
		if missed := g.skip(t, k); missed != 0 {
			went += g.missed(t, id, d, k, missed)
		}
	}
	return went
}

// skip takes the hashes over tile k for which it is known where they lead. It gives the
// lanes for which it is not.
func (g *lockstep) skip(t *hashed, k int) (missed uint8) {
	b, power, all := &t.blocks[k], t.power(k), uint8(1)<<g.n-1
	usable := t.usable[k] & all
	if usable != 0 && !b.seen {
		lo, hi := t.block(k)
		c := t.last().slice(lo, hi)
		b.seen, b.zero = true, c.isZero()
	}
	switch {
	case usable == 0:
	case b.zero:
		for j := range g.n {
			if usable>>j&1 != 0 {
				g.h[j] *= power
			}
		}
		return all &^ usable
	case b.values != nil:
		for j := range g.n {
			l := g.h[j] & 0xff
			if v := b.values[l]; v != 0 && usable>>j&1 != 0 {
				g.h[j] = v + (g.h[j]-l)*power
			} else {
				missed |= 1 << j
			}
		}
		return missed
	}
	return all
}

// missed hashes a tile in some lanes, and beside that what its table lacks, and fills
// the table.
func (g *lockstep) missed(t *hashed, id int, d *[lanes]*Delta, k int, missed uint8) (went int) {
	b, usable := &t.blocks[k], t.usable[k]
	var from, to [lanes]uint64
	var parts [lanes]Column
	n := 0
	var lane [lanes]int
	for j := range g.n {
		if missed>>j&1 != 0 {
			from[n], parts[n], lane[n] = g.h[j], t.content(id, d, k, j), j
			n++
		}
	}
	more := n
	if usable&missed != 0 {
		for ; more < lanes; more++ {
			l, ok := b.unknown()
			if !ok {
				break
			}
			from[more], parts[more] = l, t.content(id, d, k, 0)
		}
	}
	to = from
	if more == 1 {
		to[0] = uint64(Hash(from[0]).Column(&parts[0]))
	} else {
		for i := more; i < lanes; i++ {
			parts[i] = parts[0]
		}
		side(&to, &parts)
	}
	for i := range more {
		if i >= n || usable>>lane[i]&1 != 0 {
			b.note(from[i], to[i], t.power(k))
		}
		if i < n {
			g.h[lane[i]] = to[i]
		}
	}
	return n * parts[0].bytes()
}
