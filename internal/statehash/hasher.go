// Package statehash keeps the snapshot hash cheap. It computes what [store.State.Hash]
// does, in two faster ways: a [Pass] hashes several states side by side, and a [Hasher]
// looks up the tiles that have not changed.
package statehash

import (
	"github.com/murksim/murksim/fields"
	"github.com/murksim/murksim/internal/store"
)

// A Hasher computes the hashes of a world's states, up to four side by side. It remembers
// the last state that it hashed, and looks up the effect of each tile that has not changed
// since.
//
// Hashing a fixed tile B of n bytes takes a hash h to F(h, B). Only the low byte of h
// meets the bytes of the tile; the rest is multiplied. With l = h mod 256,
//
//	F(h, B) = F(l, B) + (h - l)·P^n
//
// so 256 values describe the effect of a tile completely. The Hasher computes each of them
// when it is first needed, and further ones beside it in lanes that are free. Whatever
// precedes the tile decides l, so a change there can make l any byte: the table of a tile
// that stays the same fills within some hundred ticks. A value that is missing is computed
// from the tile. A change of the tile empties its table. A tile of zeros needs no table.
//
// A Hasher holds the last state, partly as a copy, and its tables take up to half of the
// memory of a state. Tiles that change every tick have no table; to find that out, the
// Hasher compares their first bytes.
//
// The zero Hasher is ready to use. It belongs to one goroutine.
type Hasher struct {
	columns []columnTable
}

// Hash computes the snapshot hashes of states of one world: sums[i] becomes that of state
// d[i]. States that were held against no other may come in any order. Any other must come
// right after the state against which it was held. Hash returns how many bytes it went
// through; the rest was looked up.
func (h *Hasher) Hash(sums []uint64, d []*store.Delta) (hashedBytes int) {
	for len(d) > 0 {
		n := min(len(d), lanes)
		if h.columns == nil {
			h.begin(d[0].Whole())
		}
		hashedBytes += h.group(sums[:n], d[:n])
		sums, d = sums[n:], d[n:]
	}
	return hashedBytes
}

func (h *Hasher) begin(s *store.State) {
	if s == nil {
		panic("statehash: the first state of a Hasher must be held whole")
	}
	h.columns = make([]columnTable, len(s.Defs()))
	for i := range h.columns {
		h.columns[i].begin(s.Column(fields.ID(i)), s.Defs()[i].Element)
	}
}

// Release gives up everything that the Hasher remembers. It can be used like a new one.
func (h *Hasher) Release() {
	for i := range h.columns {
		h.columns[i].release()
	}
	h.columns = nil
}

// group hashes one to four states side by side.
func (h *Hasher) group(sums []uint64, d []*store.Delta) (hashedBytes int) {
	g, n := begin(len(d)), len(d)
	var all [lanes]*store.Delta
	for j := range all {
		all[j] = d[min(j, n-1)]
	}
	for id := range h.columns {
		g.index(id)
		t := &h.columns[id]
		if t.tiles == nil {
			var c [lanes]*fields.Column
			for j := range c {
				c[j] = &all[j].Buffer(id).Column
			}
			hashedBytes += g.whole(&c, 0, t.size)
			continue
		}
		t.compare(id, &all, n)
		hashedBytes += g.byTile(t, id, &all)
		t.keep(id, &all, n)
	}
	copy(sums, g.h[:])
	return hashedBytes
}

// byTile hashes a column of each lane tile by tile: lanes whose value is known take it from
// the table, the others are hashed side by side.
func (g *lockstep) byTile(t *columnTable, id int, d *[lanes]*store.Delta) (hashedBytes int) {
	for k := range t.tiles {
		if missing := g.lookUp(t, k); missing != 0 {
			hashedBytes += g.compute(t, id, d, k, missing)
		}
	}
	return hashedBytes
}

// lookUp takes the hashes over tile k in the lanes in which the table has the value. It
// returns the other lanes, a bit for each.
func (g *lockstep) lookUp(t *columnTable, k int) (missing uint8) {
	b, power, all := &t.tiles[k], t.power(k), uint8(1)<<g.n-1
	usable := t.unchanged[k] & all
	if usable != 0 && !b.seen {
		lo, hi := t.bounds(k)
		c := t.last().Slice(lo, hi)
		b.seen, b.zero = true, isZero(&c)
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
				missing |= 1 << j
			}
		}
		return missing
	}
	return all
}

// compute hashes tile k in the lanes that are missing, and enters the results into the
// table. Free lanes compute further values for the table.
func (g *lockstep) compute(t *columnTable, id int, d *[lanes]*store.Delta, k int, missing uint8) (hashedBytes int) {
	b, usable := &t.tiles[k], t.unchanged[k]
	var from, to [lanes]uint64
	var parts [lanes]fields.Column
	n := 0
	var lane [lanes]int
	for j := range g.n {
		if missing>>j&1 != 0 {
			from[n], parts[n], lane[n] = g.h[j], t.content(id, d, k, j), j
			n++
		}
	}
	more := n
	if usable&missing != 0 {
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
		to[0] = uint64(fields.Hash(from[0]).Column(&parts[0]))
	} else {
		for i := more; i < lanes; i++ {
			parts[i] = parts[0]
		}
		side(&to, &parts)
	}
	for i := range more {
		if i >= n || usable>>lane[i]&1 != 0 {
			b.enter(from[i], to[i], t.power(k))
		}
		if i < n {
			g.h[lane[i]] = to[i]
		}
	}
	return n * parts[0].Size()
}
