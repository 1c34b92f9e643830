package rng

import (
	"encoding/binary"
	"fmt"

	"github.com/murksim/murksim/internal/kernel"
)

// A Bulk draws for cells or entities by index, in any order and on any worker,
// without a stream for each: Philox4x32-10 of J. K. Salmon et al., Parallel Random
// Numbers: As Easy as 1, 2, 3 (SC 2011). It is a small value without state.
//
//	key     = the first 8 bytes of the stream seed, as two LE32
//	counter = (low word of index, high word of index, block, 0)
type Bulk struct {
	key [2]uint32
}

// Bulk returns the bulk draws of the stream. [Set.Bulk] also counts them.
func (s StreamSeed) Bulk() Bulk {
	return Bulk{[2]uint32{binary.LittleEndian.Uint32(s[:]), binary.LittleEndian.Uint32(s[4:])}}
}

// Block returns four words of an index, for block 0, 1, 2, …
func (b Bulk) Block(index uint64, block uint32) [4]uint32 {
	w0, w1, w2, w3 := philox(uint32(index), uint32(index>>32), block, 0, b.key[0], b.key[1])
	return [4]uint32{w0, w1, w2, w3}
}

// Uint32 returns the first word of an index.
func (b Bulk) Uint32(index uint64) uint32 {
	w, _, _, _ := philox(uint32(index), uint32(index>>32), 0, 0, b.key[0], b.key[1])
	return w
}

// FillEach sets dst[i] to Uint32(indices[i]). Both are of one length.
func (b Bulk) FillEach(dst []uint32, indices []uint64) {
	dst = dst[:len(indices)]
	for i := kernel.PhiloxEach(dst, b.key, indices); i < len(dst); i++ {
		dst[i] = b.Uint32(indices[i])
	}
}

// Float32 returns a multiple of 2**-24 in [0, 1): the first draw of an index.
func (b Bulk) Float32(index uint64) float32 { return wordFloat32(b.Uint32(index)) }

// Normal returns a standard normal number: the first draw of an index.
func (b Bulk) Normal(index uint64) float64 { return wordNormal(b.Uint32(index)) }

// Below returns a number in [0, n): the first draw of an index. It panics if n is 0.
func (b Bulk) Below(index uint64, n uint32) uint32 {
	w := b.Words(index)
	return uint32(w.Below(uint64(n)))
}

// FillFloat32 sets dst[i] to Float32(first + i).
func (b Bulk) FillFloat32(dst []float32, first uint64) {
	for len(dst) >= 2 {
		w0, w1 := b.pair(first)
		dst[0], dst[1] = wordFloat32(w0), wordFloat32(w1)
		dst, first = dst[2:], first+2
	}
	if len(dst) > 0 {
		dst[0] = b.Float32(first)
	}
}

// FillNormal sets dst[i] to Normal(first + i), rounded to float32.
func (b Bulk) FillNormal(dst []float32, first uint64) {
	b.FillScaledNormal(dst, first, 1)
}

// FillScaledNormal sets dst[i] to scale·Normal(first + i): a product in float64,
// rounded to float32.
func (b Bulk) FillScaledNormal(dst []float32, first uint64, scale float64) {
	for len(dst) > 0 {
		n := kernel.Normals(dst, b.key, first, scale, &quantile)
		end := min(n+16, len(dst))
		for i := n; i < end; i++ {
			dst[i] = float32(scale * b.Normal(first+uint64(i)))
		}
		dst, first = dst[end:], first+uint64(end)
	}
}

// Words returns the draws of an index from the first on.
func (b Bulk) Words(index uint64) Words { return Words{bulk: b, index: index} }

// Words draws one number after another at one index, each from the next word: the
// words of a block in order, then those of the next block.
type Words struct {
	bulk  Bulk
	index uint64
	block uint32 // the next one
	used  uint8  // words of have; 0 means that have is used up
	have  [4]uint32
}

// Uint32 returns the next word.
func (w *Words) Uint32() uint32 {
	if w.used == 0 {
		w.have = w.bulk.Block(w.index, w.block)
		w.block++
	}
	v := w.have[w.used]
	w.used = (w.used + 1) % 4
	return v
}

// Float32 returns a multiple of 2**-24 in [0, 1), from one word.
func (w *Words) Float32() float32 { return wordFloat32(w.Uint32()) }

// Normal returns a standard normal number, from one word. It lies within ±6.3379…
func (w *Words) Normal() float64 { return wordNormal(w.Uint32()) }

// Below returns a number in [0, n), each equally likely, for n from 1 to 2**32; it
// panics for others. It takes one word, more where it must reject: D. Lemire, Fast
// Random Integer Generation in an Interval, ACM TOMACS 29 (2019).
func (w *Words) Below(n uint64) uint64 {
	if n-1 >= 1<<32 {
		panic(fmt.Sprintf("rng: a word cannot give a number below %d", n))
	}
	product := uint64(w.Uint32()) * n
	if low := product & (1<<32 - 1); low < n {
		for threshold := (1 << 32) % n; low < threshold; low = product & (1<<32 - 1) {
			product = uint64(w.Uint32()) * n
		}
	}
	return product >> 32
}

func wordFloat32(w uint32) float32 { return float32(w>>8) * 0x1p-24 }

func wordNormal(w uint32) float64 { return NormalQuantile((float64(w) + 0.5) * 0x1p-32) }

// What is added to the key after each round.
const (
	philoxStep0 = 0x9e3779b9
	philoxStep1 = 0xbb67ae85
)

// philox is Philox4x32-10: counter c, key k. Two rounds a turn save moves between registers.
func philox(c0, c1, c2, c3, k0, k1 uint32) (w0, w1, w2, w3 uint32) {
	for range 5 {
		c0, c1, c2, c3 = philoxRound(c0, c1, c2, c3, k0, k1)
		k0, k1 = k0+philoxStep0, k1+philoxStep1
		c0, c1, c2, c3 = philoxRound(c0, c1, c2, c3, k0, k1)
		k0, k1 = k0+philoxStep0, k1+philoxStep1
	}
	return c0, c1, c2, c3
}

func philoxRound(c0, c1, c2, c3, k0, k1 uint32) (w0, w1, w2, w3 uint32) {
	p0, p1 := uint64(c0)*0xd2511f53, uint64(c2)*0xcd9e8d57
	return uint32(p1>>32) ^ c1 ^ k0, uint32(p1), uint32(p0>>32) ^ c3 ^ k1, uint32(p0)
}

// pair returns Uint32(index) and Uint32(index+1). Two chains of multiplications side
// by side take little longer than one.
func (b Bulk) pair(index uint64) (uint32, uint32) {
	next := index + 1
	c0, c1, c2, c3 := uint32(index), uint32(index>>32), uint32(0), uint32(0)
	d0, d1, d2, d3 := uint32(next), uint32(next>>32), uint32(0), uint32(0)
	k0, k1 := b.key[0], b.key[1]
	for range 10 {
		c0, c1, c2, c3 = philoxRound(c0, c1, c2, c3, k0, k1)
		d0, d1, d2, d3 = philoxRound(d0, d1, d2, d3, k0, k1)
		k0, k1 = k0+philoxStep0, k1+philoxStep1
	}
	return c0, d0
}
