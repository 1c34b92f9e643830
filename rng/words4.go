package rng

// Fill sets dst[i] to the word of the cell first + i where four cells share a block: word cell mod 4 of index cell div 4.
func (b Bulk) Fill(dst []uint32, first uint64) {
	for i := 0; i < len(dst); {
		cell := first + uint64(i)
		words := b.Block(cell/4, 0)
		i += copy(dst[i:], words[cell%4:])
	}
}
