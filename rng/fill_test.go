package rng

import (
	"math/rand/v2"
	"testing"
)

// TestFill holds that words are those of their cells, wherever a run of cells begins and however long it is.
func TestFill(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 9))
	for range 300 {
		b := Bulk{[2]uint32{random.Uint32(), random.Uint32()}}
		first, dst := random.Uint64()>>random.IntN(64), make([]uint32, random.IntN(150))
		if first > 1<<62 {
			first >>= 2
		}
		b.Fill(dst, first)
		for i, w := range dst {
			cell := first + uint64(i)
			if want := b.Block(cell/4, 0)[cell%4]; w != want {
				t.Fatalf("from cell %d on, cell %d: %08x, want %08x", first, cell, w, want)
			}
		}
	}
}
