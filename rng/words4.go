package rng

import (
	"math"

	"github.com/murksim/murksim/internal/kernel"
)

// AtOnce is how many words [Bulk.Fill] makes at once, where cells begin at a multiple of four: what is left of dst takes longer.
const AtOnce = kernel.PhiloxAtOnce

// Fill sets dst[i] to the word of the cell first + i, where four cells share an index: word cell mod 4 of block 0 of index cell div 4.
func (b Bulk) Fill(dst []uint32, first uint64) { b.fill(dst, first, nil) }

// FillNeeded is Fill that may leave words as they are where the element of need has no bits. Need is as long as dst.
func (b Bulk) FillNeeded(dst []uint32, first uint64, need []float32) {
	b.fill(dst, first, need[:len(dst)])
}

// fill takes nil where all is needed.
func (b Bulk) fill(dst []uint32, first uint64, need []float32) {
	for done := 0; done < len(dst); {
		rest, cell, left := dst[done:], first+uint64(done), need
		if need != nil {
			left = need[done:]
		}
		if cell%4 == 0 && len(rest) >= AtOnce && kernel.Vectors() {
			if n := kernel.PhiloxWords(rest, b.key, cell/4, left); n > 0 {
				done += n
				continue
			}
		}
		var words [4]uint32
		n := min(len(words[cell%4:]), len(rest))
		if need == nil || someBits(left[:n]) {
			words = b.Block(cell/4, 0)
			for i := range n {
				rest[i] = words[(cell+uint64(i))%4]
			}
		}
		done += n
	}
}

// someBits reports whether an element has bits. It looks at all of them: a processor would guess wrong which is the first.
func someBits(v []float32) bool {
	bits := uint32(0)
	for _, x := range v {
		bits |= math.Float32bits(x)
	}
	return bits != 0
}
