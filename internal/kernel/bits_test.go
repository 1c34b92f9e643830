package kernel_test

import (
	"slices"
	"testing"

	"github.com/murksim/murksim/internal/kernel"
)

// TestPack compares the kernels between bits and elements with their plain twins.
func TestPack(t *testing.T) {
	for n := range 300 {
		s := newSource(uint64(n))
		v := s.values(n + 3)[s.IntN(3):][:n]
		for i := range v {
			if s.IntN(3) == 0 {
				v[i] = 1
			}
		}
		words := make([]uint64, kernel.Words(n))
		want := slices.Clone(words)
		for name, pack := range map[string][2]func(dst []uint64){
			"ones": {
				func(dst []uint64) { kernel.PackOnes(dst, v) },
				func(dst []uint64) { kernel.PackOnesPlain(dst, v) },
			},
			"above": {
				func(dst []uint64) { kernel.PackAbove(dst, v, -0.25) },
				func(dst []uint64) { kernel.PackAbovePlain(dst, v, -0.25) },
			},
		} {
			for i := range words {
				words[i], want[i] = s.Uint64(), s.Uint64()
			}
			pack[0](words)
			pack[1](want)
			if !slices.Equal(words, want) {
				t.Fatalf("%s: %d elements are %x; the plain twin has %x", name, n, words, want)
			}
		}
		got, plain := make([]float32, n), make([]float32, n)
		kernel.Unpack(got, words)
		kernel.UnpackPlain(plain, words)
		same(t, "unpack", got, plain)
	}
}

// TestCensus compares the kernel and its plain twin, and both with counting one by one.
func TestCensus(t *testing.T) {
	for seed := range uint64(rounds / 4) {
		s := newSource(seed)
		array := make([]uint64, 40)
		density := 1 + s.IntN(3)
		for i := range array {
			array[i] = s.Uint64()
			for range density {
				array[i] |= s.Uint64()
			}
		}
		words, near := 1+s.IntN(16), []int{}
		for range s.IntN([]int{9, 16, 64}[s.IntN(3)]) {
			near = append(near, s.IntN(16*64))
		}
		born, survive, here := s.Uint64()&s.Uint64(), s.Uint64(), s.IntN(16*64)
		var c kernel.Census
		c.Rule(born, survive)
		c.Reset()
		for _, bit := range near {
			c.Near(bit)
		}
		out, plain := make([]uint64, words+3), make([]uint64, words+3)
		c.Count(out, array, here, words)
		kernel.CountPlain(&c, plain, array, here, words)
		for i := range 64 * words {
			is := func(bit int) uint64 { return array[bit/64] >> (bit % 64) & 1 }
			count := uint64(0)
			for _, bit := range near {
				count += is(bit + i)
			}
			want := born >> count & 1
			if is(here+i) == 1 {
				want = survive >> count & 1
			}
			if got, p := out[i/64]>>(i%64)&1, plain[i/64]>>(i%64)&1; got != want || p != want {
				t.Fatalf("seed %d: element %d with %d of %d neighbours becomes %d, and %d in the plain twin, not %d", seed, i, count, len(near), got, p, want)
			}
		}
	}
}
