package kernel

import (
	"math"
	"math/bits"
	"unsafe"
)

// Words returns how many words hold the bits of n elements: a yes or no for each, 64 in a word, the first one
// in the lowest bit.
func Words(n int) int { return (n + 63) / 64 }

// AsWords returns memory of float32 as words, half as many. What one writes is what the other reads.
func AsWords(v []float32) []uint64 {
	//detcheck:allow pointer the order of the bytes of a word does not matter to who reads words only
	return unsafe.Slice((*uint64)(unsafe.Pointer(unsafe.SliceData(v))), len(v)/2)
}

// AsUnits returns memory of float32 as fixed numbers, half as many.
func AsUnits(v []float32) []int64 {
	//detcheck:allow pointer the order of the bytes of a number does not matter to who reads such numbers only
	return unsafe.Slice((*int64)(unsafe.Pointer(unsafe.SliceData(v))), len(v)/2)
}

// Shift copies src to dst, which is as long, without its first bits, fewer than 64: bit skip becomes bit 0, and the last
// bits become 0.
func Shift(dst, src []uint64, skip int) {
	if skip == 0 {
		copy(dst, src)
		return
	}
	src = src[:len(dst)]
	for i := range len(dst) - 1 {
		dst[i] = src[i]>>skip | src[i+1]<<(64-skip)
	}
	dst[len(dst)-1] = src[len(dst)-1] >> skip
}

// PackOnes sets the bits of the elements that are 1, and clears the others, up to the end of the
// last word.
func PackOnes(dst []uint64, src []float32) {
	if !vectors || len(src) == 0 {
		packOnesPlain(dst, src)
		return
	}
	dst[Words(len(src))-1] = 0
	one := float32(1)
	for at := 0; at < len(src); at += longest {
		packEqual(&src[at], &dst[at/64], min(longest, len(src)-at), &one)
	}
}

// PackAbove does what PackOnes does, for the elements above a threshold.
func PackAbove(dst []uint64, src []float32, threshold float32) {
	if !vectors || len(src) == 0 {
		packAbovePlain(dst, src, threshold)
		return
	}
	dst[Words(len(src))-1] = 0
	for at := 0; at < len(src); at += longest {
		packAbove(&src[at], &dst[at/64], min(longest, len(src)-at), &threshold)
	}
}

func packOnesPlain(dst []uint64, src []float32) {
	clear(dst[:Words(len(src))])
	i := 0
	for ; i+8 <= len(src); i += 8 {
		v := src[i : i+8 : i+8]
		dst[i/64] |= (one(v[0]) | one(v[1])<<1 | one(v[2])<<2 | one(v[3])<<3 |
			one(v[4])<<4 | one(v[5])<<5 | one(v[6])<<6 | one(v[7])<<7) << (i & 56)
	}
	for ; i < len(src); i++ {
		dst[i/64] |= one(src[i]) << (i & 63)
	}
}

// one returns 1 for 1, else 0, without a branch.
func one(v float32) uint64 {
	const bits = 0x3f800000 // of 1
	return (uint64(math.Float32bits(v)^bits) - 1) >> 63
}

func packAbovePlain(dst []uint64, src []float32, threshold float32) {
	for i := range Words(len(src)) {
		word := uint64(0)
		for k, v := range src[64*i : min(64*i+64, len(src))] {
			above := uint64(0)
			if v > threshold {
				above = 1
			}
			word |= above << (k & 63)
		}
		dst[i] = word
	}
}

// Unpack writes 1 for each bit that is set, and 0 for each that is not.
func Unpack(dst []float32, src []uint64) {
	if !vectors || len(dst) == 0 {
		unpackPlain(dst, src)
		return
	}
	_ = src[Words(len(dst))-1]
	for at := 0; at < len(dst); at += longest {
		unpackVectors(&src[at/64], &dst[at], min(longest, len(dst)-at))
	}
}

func unpackPlain(dst []float32, src []uint64) {
	i := 0
	for ; i+4 <= len(dst); i += 4 {
		copy(dst[i:i+4], fours[src[i/64]>>(i%64)&15][:])
	}
	for ; i < len(dst); i++ {
		dst[i] = float32(src[i/64] >> (i % 64) & 1)
	}
}

// fours are the elements of four bits.
var fours = func() (f [16][4]float32) {
	for b := range f {
		for i := range f[b] {
			f[b][i] = float32(b >> i & 1)
		}
	}
	return f
}()

// A Census says what becomes of elements that are alive or dead by the number of their neighbours
// that are alive. Bits of the elements and their neighbours lie in one array, each beginning
// anywhere.
type Census struct {
	near  [64]place // the neighbours
	n     int
	cases [64]census
	when  [64]int // by case: the number of neighbours, ascending
	most  int     // cases
}

// A place is where bits begin, as vector code takes it: a word, and how far they must be shifted
// to the right, and those of the next word to the left.
type place struct{ word, _, right, _, left, _ uint64 }

// A census is a number of neighbours at which something is alive afterwards: all ones for each of its bits
// that is zero, and all ones if a dead one is born, or a live one survives.
type census struct {
	zeros         [6]uint64
	born, survive uint64
}

// Reset forgets all neighbours.
func (c *Census) Reset() { c.n = 0 }

// Near adds a neighbour whose bits begin at a bit of the array. There may be 63.
func (c *Census) Near(bit int) {
	c.near[c.n] = at(bit)
	c.n++
}

func at(bit int) place {
	return place{word: uint64(bit / 64), right: uint64(bit % 64), left: uint64(64 - bit%64)}
}

// Rule says at which numbers of neighbours a dead element comes alive, and a live one stays so.
func (c *Census) Rule(born, survive uint64) {
	c.most = 0
	for n := range 64 {
		if (born|survive)>>n&1 == 0 {
			continue
		}
		k := census{born: -(born >> n & 1), survive: -(survive >> n & 1)}
		for l := range k.zeros {
			k.zeros[l] = uint64(n>>l&1) - 1
		}
		c.cases[c.most], c.when[c.most] = k, n
		c.most++
	}
}

// Count writes so many words of the elements after a tick, given the bit at which they begin. The array must
// have five words beyond the last of each neighbour, and out three beyond the last.
func (c *Census) Count(out, array []uint64, here, words int) {
	if !vectors {
		c.countPlain(out, array, here, words)
		return
	}
	own := at(here)
	last := own.word
	for i := range c.near[:c.n] {
		last = max(last, c.near[i].word)
	}
	most := c.most
	for most > 0 && c.when[most-1] > c.n {
		most-- // it never is: vector code looks at few digits if few are enough
	}
	rounded := (words + 3) &^ 3
	_, _ = out[rounded-1], array[int(last)+rounded]
	countVectors(&out[0], &array[0], &own.word, &c.near[0].word, c.n, &c.cases[0].zeros[0], most, rounded/4)
}

func (c *Census) countPlain(out, array []uint64, here, words int) {
	own := at(here)
	levels := bits.Len(uint(c.n))
	for i := range words {
		var planes [6]uint64 // of the binary digits of the counts
		for k := range c.near[:c.n] {
			carry := c.near[k].bits(array, i)
			for l := range levels {
				planes[l], carry = planes[l]^carry, planes[l]&carry
			}
		}
		alive, result := own.bits(array, i), uint64(0)
		for k := range c.cases[:c.most] {
			is := &c.cases[k]
			same := is.survive&alive | is.born&^alive
			for l, zeros := range is.zeros {
				same &= planes[l] ^ zeros
			}
			result |= same
		}
		out[i] = result
	}
}

func (p *place) bits(array []uint64, i int) uint64 {
	w := array[int(p.word)+i:]
	return w[0]>>p.right | w[1]<<p.left
}
