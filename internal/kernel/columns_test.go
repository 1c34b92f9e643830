package kernel_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/murksim/murksim/internal/kernel"
)

// odd are numbers in which operations differ.
func odd(random *rand.Rand, n int) []float32 {
	v := make([]float32, n)
	special := []float32{0, float32(math.Copysign(0, -1)), 1, -1, float32(math.Inf(1)), float32(math.Inf(-1)), float32(math.NaN()), math.SmallestNonzeroFloat32, math.MaxFloat32, 0.5, 3}
	for i := range v {
		switch random.IntN(3) {
		case 0:
			v[i] = special[random.IntN(len(special))]
		case 1:
			v[i] = float32(random.IntN(5))
		default:
			v[i] = float32(random.NormFloat64() * 4)
		}
	}
	return v
}

func masks(random *rand.Rand, n int) []float32 {
	v := make([]float32, n)
	for i := range v {
		v[i] = math.Float32frombits(-uint32(random.IntN(2)))
	}
	return v
}

// sameNumbers reports whether columns have the same bits, but for those of NaN.
func sameNumbers(a, b []float32) bool {
	return slices.EqualFunc(a, b, func(x, y float32) bool { return math.Float32bits(x) == math.Float32bits(y) || x != x && y != y })
}

// TestColumns compares the kernels of columns with their plain twins, for all lengths around whole vectors.
func TestColumns(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	for round := range 3000 {
		n := random.IntN(80)
		a, b, c, m := odd(random, n), odd(random, n), odd(random, n), masks(random, n)
		k, l := odd(random, 1)[0], odd(random, 1)[0]
		want, got := make([]float32, n), make([]float32, n)
		check := func(what string, i int) {
			t.Helper()
			if !sameNumbers(got, want) {
				t.Fatalf("round %d, %s %d of %d elements:\n%v\nwant\n%v\n%v, %v, %v", round, what, i, n, got, want, a, b, k)
			}
		}
		for op := kernel.OpAdd; op <= kernel.OpOr; op++ {
			kernel.CombinePlain(op, want, a, b)
			kernel.Combine(op, got, a, b)
			check("Combine", int(op))
			kernel.CombineEachPlain(op, want, a, k)
			kernel.CombineEach(op, got, a, k)
			check("CombineEach", int(op))
			kernel.CombinePlain(op, want, a, b)
			copy(got, a)
			kernel.Combine(op, got, got, b)
			check("Combine in place", int(op))
		}
		for i, pair := range [][2][]float32{{b, c}, {nil, c}, {b, nil}, {nil, nil}} {
			kernel.ChoosePlain(want, m, pair[0], pair[1], k, l)
			kernel.Choose(got, m, pair[0], pair[1], k, l)
			check("Choose", i)
		}
		kernel.Floor(got, a)
		for i, v := range a {
			want[i] = float32(math.Floor(float64(v)))
		}
		check("Floor", 0)
		kernel.Sqrt(got, a)
		for i, v := range a {
			want[i] = float32(math.Sqrt(float64(v)))
		}
		check("Sqrt", 0)
		in, offsets := odd(random, n+40), make([]int, random.IntN(13))
		for i := range offsets {
			offsets[i] = random.IntN(41) - 20
		}
		if n > 0 {
			kernel.SumNearPlain(want, in, 20, offsets)
			kernel.SumNear(got, in, 20, offsets)
			check("SumNear", len(offsets))
			if len(offsets) > 0 {
				w := kernel.NewWeights(k, 1, len(offsets))
				kernel.RelaxNearPlain(want, in, 20, offsets, &w)
				kernel.RelaxNear(got, in, 20, offsets, k)
				check("RelaxNear", len(offsets))
			}
			kernel.CountNearPlain(want, in, 20, offsets, k)
			kernel.CountNear(got, in, 20, 1, offsets, k)
			check("CountNear", len(offsets))
			apart := make([]float32, 3*len(in))
			for i, v := range in {
				apart[3*i] = v
			}
			for i := range offsets {
				offsets[i] *= 3
			}
			kernel.CountNear(got, apart, 60, 3, offsets, k)
			check("CountNear apart", len(offsets))
		}
		words := make([]uint32, n)
		limit := []uint64{0, 1, 1 << 31, 1<<32 - 1, 1 << 32, uint64(random.Uint32())}[random.IntN(6)]
		for i := range words {
			if words[i] = random.Uint32(); i%5 == 0 {
				words[i] = uint32(limit) - uint32(random.IntN(3))
			}
			want[i] = 0
			if uint64(words[i]) < limit {
				want[i] = math.Float32frombits(math.MaxUint32)
			}
		}
		p, each := odd(random, n), make([]float32, n)
		for i := range p {
			if i%2 == 0 {
				p[i] = float32(float64(words[i])*0x1p-32) + float32(random.IntN(3)-1)*0x1p-25
			}
		}
		kernel.BelowEach(each, words, p)
		for i, v := range each {
			if below := float64(words[i]) < float64(p[i])*0x1p32; math.Float32bits(v) != -uint32(map[bool]int{true: 1}[below]) {
				t.Fatalf("BelowEach: %08x and %v: %08x", words[i], p[i], math.Float32bits(v))
			}
		}
		table, indexes := odd(random, 1+random.IntN(30)), make([]float32, n)
		for i := range indexes {
			indexes[i] = float32(random.IntN(len(table)))
		}
		kernel.Lookup(each, indexes, table)
		for i, v := range each {
			if is := table[int(indexes[i])]; math.Float32bits(v) != math.Float32bits(is) {
				t.Fatalf("Lookup of %v: %v, want %v", indexes[i], v, is)
			}
		}
		kernel.Below(got, words, nil, limit)
		kernel.Below(each, words, m, limit)
		for i := range got {
			if needed := math.Float32bits(want[i]) & math.Float32bits(m[i]); math.Float32bits(each[i]) != needed {
				t.Fatalf("Below %d where needed: word %d: %08x", limit, words[i], math.Float32bits(each[i]))
			}
			if math.Float32bits(got[i]) != math.Float32bits(want[i]) {
				t.Fatalf("Below %d: word %d: %08x", limit, words[i], math.Float32bits(got[i]))
			}
		}
	}
}
