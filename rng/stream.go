package rng

import (
	"fmt"
	"math/rand/v2"
)

// A Stream draws one number after another. Open it before the first draw, by
// [Stream.Open] or through a [Set]. It must not be copied after that, nor used from
// two goroutines.
type Stream struct {
	draws uint64
	last  uint64

	generator Generator
	chacha8   rand.ChaCha8
	chacha20  *chaCha20 // made when first opened
}

// Open starts the stream of seed with no draws counted. It may be called again at
// any time. It allocates nothing with [ChaCha8].
func (s *Stream) Open(g Generator, seed StreamSeed) {
	s.draws, s.last = 0, 0
	s.start(g, &seed)
}

// start is Open but keeps the count.
func (s *Stream) start(g Generator, seed *StreamSeed) {
	s.generator = g
	switch g {
	case ChaCha8:
		s.chacha8.Seed(*seed)
	case ChaCha20:
		if s.chacha20 == nil {
			s.chacha20 = new(chaCha20)
		}
		s.chacha20.open(seed)
	default:
		panic(fmt.Sprintf("rng: a stream cannot be opened with %v", g))
	}
}

// Draws returns how often the generator was drawn from, for rejected values too.
func (s *Stream) Draws() uint64 { return s.draws }

// Last returns the value drawn last, 0 before the first.
func (s *Stream) Last() uint64 { return s.last }

// Uint64 returns the next draw.
func (s *Stream) Uint64() uint64 {
	s.draws++
	if s.generator == ChaCha8 {
		s.last = s.chacha8.Uint64()
	} else {
		s.last = s.chacha20.uint64()
	}
	return s.last
}

// Below returns a number in [0, n), each equally likely; it draws until a value is
// no less than 2**64 mod n. It panics if n is 0.
func (s *Stream) Below(n uint64) uint64 {
	r := s.Uint64()
	if r < n { // else r is past the threshold, which is below n
		for threshold := -n % n; r < threshold; {
			r = s.Uint64()
		}
	}
	return r % n
}

// Float32 returns a multiple of 2**-24 in [0, 1), from one draw.
func (s *Stream) Float32() float32 { return float32(s.Uint64()>>40) * 0x1p-24 }

// Float64 returns a multiple of 2**-53 in [0, 1), from one draw.
func (s *Stream) Float64() float64 { return float64(s.Uint64()>>11) * 0x1p-53 }

// Fixed returns a fixed-point number in [0, 1): 16 fraction bits, from one draw.
func (s *Stream) Fixed() int64 { return int64(s.Uint64() >> 48) }

// Normal returns a number from the standard normal distribution, from one draw.
// It lies within ±8.2095…
func (s *Stream) Normal() float64 {
	return NormalQuantile((float64(s.Uint64()>>12) + 0.5) * 0x1p-52)
}

// Shuffle puts n things in random order, from the last down: swap exchanges two.
// It draws n-1 times or, where [Stream.Below] rejects, more often.
func (s *Stream) Shuffle(n int, swap func(i, j int)) {
	for i := n - 1; i > 0; i-- {
		swap(i, int(s.Below(uint64(i)+1)))
	}
}
