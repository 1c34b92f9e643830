package rng

import "github.com/murksim/murksim/internal/kernel"

// Fill sets dst[i] to the word of the cell first + i, where four cells share an index: word cell mod 4 of block 0 of index cell div 4.
func (b Bulk) Fill(dst []uint32, first uint64) {
	for len(dst) > 0 {
		if first%4 == 0 {
			if n := kernel.PhiloxWords(dst, b.key, first/4); n > 0 {
				dst, first = dst[n:], first+uint64(n)
				continue
			}
		}
		words := b.Block(first/4, 0)
		n := copy(dst, words[first%4:])
		dst, first = dst[n:], first+uint64(n)
	}
}
