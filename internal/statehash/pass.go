package statehash

import (
	"github.com/murksim/murksim/fields"
	"github.com/murksim/murksim/internal/store"
)

// Sums computes the snapshot hashes of states of one world, up to four side by side:
// sums[i] becomes s[i].Hash().
func Sums(sums []uint64, s []*store.State) {
	var p Pass
	for len(s) > 0 {
		n := min(len(s), lanes)
		p.Begin(s[:n])
		p.Run(nil)
		sums = sums[copy(sums, p.Sums()):]
		s = s[n:]
	}
}

// A Pass computes the hashes of one to four states of one world side by side, and can be
// interrupted. It belongs to one goroutine at a time.
type Pass struct {
	g      lockstep
	states [lanes]*store.State
	id     int // the next field
	at     int // its next element
}

// Begin starts with other states, which must not be released before the end.
func (p *Pass) Begin(s []*store.State) {
	*p = Pass{g: begin(len(s))}
	for j := range p.states {
		p.states[j] = s[min(j, len(s)-1)]
	}
}

// Run continues until everything is hashed or until stop returns true, and reports whether
// everything is hashed. It calls stop about every 10 µs; stop may be nil.
func (p *Pass) Run(stop func() bool) (done bool) {
	const step = 4 << 10 // elements
	for ; p.id < len(p.states[0].Defs()); p.id, p.at = p.id+1, 0 {
		var c [lanes]*fields.Column
		for j := range c {
			c[j] = p.states[j].Column(fields.ID(p.id))
		}
		n := c[0].Len()
		for first := p.at == 0; first || p.at < n; first = false {
			if stop != nil && stop() {
				return false
			}
			if first {
				p.g.index(p.id)
			}
			p.g.whole(&c, p.at, min(p.at+step, n))
			p.at += step
		}
	}
	return true
}

// Sums returns the hashes after the end of the pass.
func (p *Pass) Sums() []uint64 { return p.g.h[:p.g.n] }

// A lockstep is up to four hashes in progress. Unused lanes repeat the last one.
type lockstep struct {
	h [lanes]uint64
	n int
}

func begin(n int) lockstep {
	h := uint64(fields.NewHash())
	return lockstep{[lanes]uint64{h, h, h, h}, n}
}

// index hashes the index of a field.
func (g *lockstep) index(id int) {
	for j := range g.h {
		g.h[j] = word32(g.h[j], uint32(id))
	}
}

// whole hashes elements lo to hi of a column of each lane, and returns how many bytes it
// went through.
func (g *lockstep) whole(c *[lanes]*fields.Column, lo, hi int) (hashedBytes int) {
	var parts [lanes]fields.Column
	for j := range parts {
		parts[j] = c[j].Slice(lo, hi)
	}
	if g.n == 1 {
		g.h[0] = uint64(fields.Hash(g.h[0]).Column(&parts[0]))
	} else {
		side(&g.h, &parts)
	}
	return g.n * parts[0].Size()
}
