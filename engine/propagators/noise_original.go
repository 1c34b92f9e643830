package propagators

import (
	"math"
	"math/bits"

	"github.com/murksim/murksim/exact"
)

// original adds the noise of the original Murk engine, whose draws depend on SeedOffset
// and the tick but not on the world's seed, to v, the field's elements from first on.
// Each takes two words of the stream for a uniform number, four for a Gaussian one.
// Salt and pepper takes two, and one more for an element that is hit, so that every
// worker has to draw from the start.
func (z *Noise) original(v []float32, first, tick uint64) {
	s := newChaCha8(z.SeedOffset ^ tick)
	switch z.Kind {
	case Uniform:
		s.skip(2 * first)
		for i := range v {
			v[i] += float32(z.Scale * (float64(s.unit()*2) - 1))
		}
	case Gaussian:
		s.skip(4 * first)
		for i := range v {
			v[i] += float32(z.Scale * s.normal())
		}
	case SaltPepper:
		for range first {
			if s.unit() < z.Scale {
				s.word()
			}
		}
		for i := range v {
			if s.unit() < z.Scale {
				v[i] = float32(s.word() >> 31)
			}
		}
	}
}

// A chaCha8 is the key stream of ChaCha with eight rounds, a 64-bit block counter
// from 0 and a zero nonce, in words of 32 bits.
type chaCha8 struct {
	key   [8]uint32
	block uint64 // the next one
	words [16]uint32
	used  int // of words
}

// newChaCha8 expands a seed into the key by PCG-XSH-RR (O'Neill 2014), as the crate
// rand_core does.
func newChaCha8(seed uint64) chaCha8 {
	s := chaCha8{used: 16}
	for i := range s.key {
		seed = seed*6364136223846793005 + 11634580027462260723
		s.key[i] = bits.RotateLeft32(uint32((seed>>18^seed)>>27), -int(seed>>59))
	}
	return s
}

// skip skips words at the start of the stream.
func (s *chaCha8) skip(words uint64) {
	s.block = words / 16
	for range words % 16 {
		s.word()
	}
}

func (s *chaCha8) word() uint32 {
	if s.used == len(s.words) {
		s.fill()
	}
	s.used++
	return s.words[s.used-1]
}

// unit returns a number uniform in [0, 1): 53 bits of two words, the low one first.
func (s *chaCha8) unit() float64 {
	low, high := s.word(), s.word()
	return float64((uint64(high)<<32|uint64(low))>>11) * 0x1p-53
}

// normal returns a standard normal number by the method of Box and Muller (1958).
func (s *chaCha8) normal() float64 {
	u1, u2 := max(s.unit(), 1e-300), s.unit()
	radius := math.Sqrt(float64(-2 * exact.Log(u1)))
	return float64(radius * exact.Cos(float64(2*math.Pi*u2)))
}

// fill computes the next block (Bernstein, "ChaCha, a variant of Salsa20", 2008).
func (s *chaCha8) fill() {
	start := [16]uint32{0x61707865, 0x3320646e, 0x79622d32, 0x6b206574}
	copy(start[4:], s.key[:])
	start[12], start[13] = uint32(s.block), uint32(s.block>>32)
	x := start
	for range 4 {
		quarter(&x, 0, 4, 8, 12)
		quarter(&x, 1, 5, 9, 13)
		quarter(&x, 2, 6, 10, 14)
		quarter(&x, 3, 7, 11, 15)
		quarter(&x, 0, 5, 10, 15)
		quarter(&x, 1, 6, 11, 12)
		quarter(&x, 2, 7, 8, 13)
		quarter(&x, 3, 4, 9, 14)
	}
	for i := range x {
		s.words[i] = x[i] + start[i]
	}
	s.block, s.used = s.block+1, 0
}

func quarter(x *[16]uint32, a, b, c, d int) {
	x[a] += x[b]
	x[d] = bits.RotateLeft32(x[d]^x[a], 16)
	x[c] += x[d]
	x[b] = bits.RotateLeft32(x[b]^x[c], 12)
	x[a] += x[b]
	x[d] = bits.RotateLeft32(x[d]^x[a], 8)
	x[c] += x[d]
	x[b] = bits.RotateLeft32(x[b]^x[c], 7)
}
