package kernel_test

import (
	"math"
	"slices"
	"testing"

	"github.com/murksim/murksim/internal/kernel"
)

// TestStencils compares the kernels that compute rows of several columns with their plain twins.
func TestStencils(t *testing.T) {
	const reach = 64
	type kernels func(s source, r kernel.Rows, n kernel.Neighbours, read, written [2][]float32, plain bool) (finite bool)
	for name, compute := range map[string]kernels{
		"swing": func(s source, r kernel.Rows, n kernel.Neighbours, read, written [2][]float32, plain bool) bool {
			k := kernel.Swing{Pull: s.factor(), Damping: s.factor(), Dt: s.factor(), N: float32(len(n.Offsets))}
			if plain {
				return kernel.MovePlain(&k, written[0], written[1], read[0], read[1], r, n)
			}
			return k.Move(written[0], written[1], read[0], read[1], r, n)
		},
		"react": func(s source, r kernel.Rows, n kernel.Neighbours, read, written [2][]float32, plain bool) bool {
			k := kernel.Reaction{
				SpreadU: s.factor(), SpreadV: s.factor(), Feed: s.factor(), Loss: s.factor(), Dt: s.factor(), N: float32(len(n.Offsets)),
			}
			if plain {
				return kernel.ReactPlain(&k, written[0], written[1], read[0], read[1], r, n)
			}
			return k.React(written[0], written[1], read[0], read[1], r, n)
		},
		"walled": func(s source, r kernel.Rows, n kernel.Neighbours, read, written [2][]float32, plain bool) bool {
			walls := s.mostly(read[1], s.IntN(4))
			k := kernel.Walled{K: s.factor(), Decay: s.factor()}
			if plain {
				return kernel.WalledPlain(&k, written[0], read[0], walls, r, n)
			}
			return k.Relax(written[0], read[0], walls, r, n)
		},
	} {
		t.Run(name, func(t *testing.T) {
			said := map[bool]int{}
			for seed := range uint64(rounds) {
				s := newSource(seed)
				r, length := s.rows(reach)
				if seed < 1200 { // every length of a row, one after the other
					r.Count, r.Stride, r.Pitch = int(seed/6)+1, 1, int(seed/6)+3
					length = r.First + r.Rows*r.Pitch + reach
				}
				n := s.neighbours([]int{4, 8, 20}[s.IntN(3)], reach)
				read := [2][]float32{s.values(length), s.values(length)}
				var got, want [2][]float32
				for i := range got {
					got[i], want[i] = make([]float32, length+8)[s.IntN(8):][:length], make([]float32, length)
				}
				ok, wantOK := compute(newSource(seed+1), r, n, read, got, false), compute(newSource(seed+1), r, n, read, want, true)
				if ok != wantOK {
					t.Fatalf("seed %d, %+v: finite is %v; the plain twin says %v", seed, r, ok, wantOK)
				}
				said[ok]++
				for i := range got {
					same(t, name, got[i], want[i])
				}
			}
			if said[true] < rounds/10 || said[false] < rounds/100 {
				t.Errorf("finite %d times and %d times not; the test wants both", said[true], said[false])
			}
		})
	}
}

// mostly copies values, and makes zeros, of either sign, of all but about so many in sixteen.
func (s source) mostly(v []float32, left int) []float32 {
	v = slices.Clone(v)
	for i, x := range v {
		if x != x || s.IntN(16) >= left {
			v[i] = float32(math.Copysign(0, float64(x)))
		}
	}
	return v
}
