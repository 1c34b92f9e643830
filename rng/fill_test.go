package rng

import (
	"math"
	"math/rand/v2"
	"testing"
)

// TestFill holds that words are those of their cells, wherever a run of cells begins, however long it is, and whichever are needed.
func TestFill(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 9))
	for round := range 1000 {
		b := Bulk{[2]uint32{random.Uint32(), random.Uint32()}}
		first, dst := random.Uint64()>>random.IntN(64), make([]uint32, random.IntN(300))
		if first > 1<<62 {
			first >>= 2
		}
		if round%3 == 0 { // where the low word of the index starts anew
			first = (1+first>>36)<<34 - uint64(random.IntN(200))
		}
		need := make([]float32, len(dst))
		for i, chance := 0, random.Float64()*random.Float64(); i < len(need); i++ {
			if i/40%2 == 0 && random.Float64() < chance {
				need[i] = []float32{math.Float32frombits(math.MaxUint32), math.Float32frombits(1 << 31), math.SmallestNonzeroFloat32, 0.5}[random.IntN(4)]
			}
		}
		some := make([]uint32, len(dst))
		b.Fill(dst, first)
		b.FillNeeded(some, first, need)
		for i, w := range dst {
			cell := first + uint64(i)
			want := b.Block(cell/4, 0)[cell%4]
			if w != want {
				t.Fatalf("from cell %d on, cell %d: %08x, want %08x", first, cell, w, want)
			}
			if some[i] != want && (some[i] != 0 || math.Float32bits(need[i]) != 0) {
				t.Fatalf("from cell %d on, cell %d, needed %v: %08x, want %08x", first, cell, need[i], some[i], want)
			}
		}
	}
}

// TestFillEach holds that words are those of their indices, however many there are.
func TestFillEach(t *testing.T) {
	random := rand.New(rand.NewPCG(2, 9))
	for range 1000 {
		b := Bulk{[2]uint32{random.Uint32(), random.Uint32()}}
		indices := make([]uint64, random.IntN(100))
		for i := range indices {
			indices[i] = random.Uint64() >> random.IntN(64)
		}
		dst := make([]uint32, len(indices))
		b.FillEach(dst, indices)
		for i, w := range dst {
			if want := b.Uint32(indices[i]); w != want {
				t.Fatalf("index %d, number %d of %d: %08x, want %08x", indices[i], i, len(indices), w, want)
			}
		}
	}
}

// BenchmarkFillEach draws words of any indices, at once and one by one.
func BenchmarkFillEach(b *testing.B) {
	bulk, indices, dst := Bulk{[2]uint32{1, 2}}, make([]uint64, 96), make([]uint32, 96)
	for i := range indices {
		indices[i] = uint64(i*7919) << 20
	}
	b.Run("at-once", func(b *testing.B) {
		for b.Loop() {
			bulk.FillEach(dst, indices)
		}
	})
	b.Run("one-by-one", func(b *testing.B) {
		for b.Loop() {
			for i, index := range indices {
				dst[i] = bulk.Uint32(index)
			}
		}
	})
}
