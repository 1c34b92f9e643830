package kernel_test

import (
	"math"
	"slices"
	"testing"

	"github.com/murksim/murksim/internal/kernel"
)

// piece draws columns of one length, each with another begin, and a stride.
func (s source) piece(columns int) (v [][]float32, stride int) {
	n := 1 + s.IntN(70)
	for range columns {
		v = append(v, s.values(n + 8)[s.IntN(8):][:n])
	}
	return v, []int{1, 1, 3}[s.IntN(3)]
}

func clones(v [][]float32) [][]float32 {
	c := make([][]float32, len(v))
	for i := range v {
		c[i] = slices.Clone(v[i])
	}
	return c
}

// TestEach compares the kernels that compute each element by itself.
func TestEach(t *testing.T) {
	for _, tt := range []struct {
		name        string
		columns     int
		fast, plain func(s source, v [][]float32, stride int) bool
	}{
		{"finite", 1, func(_ source, v [][]float32, stride int) bool {
			return kernel.AllFinite(v[0], stride)
		}, func(_ source, v [][]float32, stride int) bool {
			return kernel.FinitePlain(v[0], stride)
		}},
		{"zero", 1, func(s source, v [][]float32, stride int) bool {
			s.sparse(v[0])
			return kernel.AllZero(v[0], stride)
		}, func(s source, v [][]float32, stride int) bool {
			s.sparse(v[0])
			return kernel.ZeroPlain(v[0], stride)
		}},
		{"within", 1, func(s source, v [][]float32, _ int) bool {
			return kernel.Within(v[0], -s.factor(), 1+2*s.factor())
		}, func(s source, v [][]float32, _ int) bool {
			return kernel.WithinPlain(v[0], -s.factor(), 1+2*s.factor())
		}},
		{"states", 1, func(s source, v [][]float32, _ int) bool {
			return kernel.AllStates(s.states(v[0]), 5)
		}, func(s source, v [][]float32, _ int) bool {
			return kernel.StatesPlain(s.states(v[0]), 5)
		}},
		{"clamp", 1, func(s source, v [][]float32, _ int) bool {
			numbers(v[0])
			lo := s.factor() - 1
			kernel.Clamp(v[0], lo, lo+s.factor())
			return true
		}, func(s source, v [][]float32, _ int) bool {
			numbers(v[0])
			lo := s.factor() - 1
			kernel.ClampPlain(v[0], lo, lo+s.factor())
			return true
		}},
		{"scale", 2, func(s source, v [][]float32, stride int) bool {
			count := (len(v[0])-1)/stride + 1
			return kernel.Scale(v[0], v[1], kernel.Rows{Count: count, Stride: stride, Rows: 1, Pitch: 1}, s.factor())
		}, func(s source, v [][]float32, stride int) bool {
			return kernel.ScalePlain(v[0], v[1], stride, s.factor())
		}},
		{"earn", 3, func(s source, v [][]float32, _ int) bool {
			return kernel.Earn(v[0], v[1], s.halved(v[2]), s.factor(), -s.factor())
		}, func(s source, v [][]float32, _ int) bool {
			return kernel.EarnPlain(v[0], v[1], s.halved(v[2]), s.factor(), -s.factor())
		}},
		{"grow", 3, func(s source, v [][]float32, _ int) bool {
			g := s.growth()
			return g.Grow(v[0], v[2], s.halved(v[1]))
		}, func(s source, v [][]float32, _ int) bool {
			g := s.growth()
			return kernel.GrowPlain(&g, v[0], v[2], s.halved(v[1]))
		}},
		{"add", 2, func(_ source, v [][]float32, _ int) bool {
			return kernel.Add(v[0], v[1])
		}, func(_ source, v [][]float32, _ int) bool {
			return kernel.AddPlain(v[0], v[1])
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var said [2]int
			for seed := range uint64(rounds / 4) {
				s := newSource(seed)
				got, stride := s.piece(tt.columns)
				want := clones(got)
				ok, wantOK := tt.fast(newSource(seed+1), got, stride), tt.plain(newSource(seed+1), want, stride)
				if ok != wantOK {
					t.Fatalf("seed %d: finite is %v; the plain twin says %v", seed, ok, wantOK)
				}
				if ok {
					said[1]++
				} else {
					said[0]++
				}
				for i := range got {
					same(t, tt.name, got[i], want[i])
				}
			}
			if said[1] < rounds/40 || said[0] < rounds/500 && tt.name != "clamp" {
				t.Errorf("finite %d times and %d times not; the test wants both", said[1], said[0])
			}
		})
	}
}

func (s source) growth() kernel.Growth {
	return kernel.Growth{Eaten: s.factor(), Rate: s.factor(), Capacity: s.factor() + 0.25, Dt: s.factor(), Logistic: s.IntN(2) == 0}
}

// states makes states of most values, and leaves others in one of two columns.
func (s source) states(v []float32) []float32 {
	strange := s.IntN(2) * s.IntN(len(v)+1)
	for i := range v {
		if strange == 0 || s.IntN(strange) > 0 {
			v[i] = float32(math.Copysign(float64(s.IntN(5)), float64(v[i])))
			if v[i] < 0 && (strange == 0 || s.IntN(9) > 0) {
				v[i] = -v[i]
			}
		}
	}
	return v
}

// sparse leaves a value here and there, and makes zeros of the rest.
func (s source) sparse(v []float32) {
	most := s.IntN(3)
	for i := range v {
		if most == 0 || s.IntN(len(v)) > 0 {
			v[i] = float32(math.Copysign(0, float64(v[i])))
		}
	}
}

// halved makes zeros of half of the values, of either sign, and nothing of NaN.
func (s source) halved(v []float32) []float32 {
	numbers(v)
	for i := range v {
		if s.IntN(2) == 0 {
			v[i] = float32(math.Copysign(0, float64(v[i])))
		}
	}
	return v
}

// numbers replaces what is NaN.
func numbers(v []float32) {
	for i, x := range v {
		if x != x {
			v[i] = 3
		}
	}
}

func TestClimb(t *testing.T) {
	const reach = 40
	for seed := range uint64(rounds) {
		s := newSource(seed)
		r, length := s.rows(reach)
		offset := func() int { return s.IntN(2*reach+1) - reach }
		k := kernel.Slope{
			North: offset(), South: offset(), West: offset(), East: offset(), Down: s.IntN(2) == 0,
			Least: []float32{float32(math.Inf(1)), 1e-12}[s.IntN(2)],
		}
		in, got, want := s.values(length), make([]float32, 2*length), make([]float32, 2*length)
		ok := k.Climb(got, in, r)
		if wantOK := kernel.ClimbPlain(&k, want, in, r); ok != wantOK {
			t.Fatalf("seed %d, %+v: finite is %v; the plain twin says %v", seed, r, ok, wantOK)
		}
		same(t, "slope", got, want)
	}
}

func TestAge(t *testing.T) {
	for seed := range uint64(rounds / 4) {
		s := newSource(seed)
		v, _ := s.piece(2)
		states := 2 + s.IntN(9)
		for i := range v[0] {
			if v[1][i] = float32(s.IntN(2)); s.IntN(8) > 0 {
				v[0][i] = float32(s.IntN(states + 2))
			}
		}
		want := slices.Clone(v[1])
		kernel.Age(v[1], v[0], states)
		kernel.AgePlain(want, v[0], float32(states))
		same(t, "age", v[1], want)
	}
}

// Where nobody is, heat does not matter, and every bit is cleared.
func TestEarnNothing(t *testing.T) {
	const count = 3000
	zero := float32(math.Copysign(0, -1))
	for _, before := range []float32{0, zero, 3} {
		out, heat, presence := make([]float32, count), make([]float32, count), make([]float32, count)
		for i := range out {
			out[i], heat[i], presence[i] = before, float32(math.Inf(1)), float32(math.Copysign(0, float64(i%3-1)))
		}
		if !kernel.Earn(out, heat, presence, 1, 1) {
			t.Errorf("with %v there before, the results are called not finite", before)
		}
		same(t, "earn", out, make([]float32, count))
	}
}
