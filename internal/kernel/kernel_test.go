package kernel_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/murksim/murksim/internal/kernel"
)

// A source draws test cases.
type source struct{ *rand.Rand }

func newSource(seed uint64) source { return source{rand.New(rand.NewPCG(seed, 7))} }

// value draws from what a field may hold, and sometimes from what it may not.
func (s source) value(wild bool) float32 {
	sign := uint32(s.Uint64()) & (1 << 31)
	switch s.IntN(12) {
	case 0:
		return math.Float32frombits(sign) // a zero
	case 1:
		return math.Float32frombits(sign | s.Uint32()>>9) // denormal
	case 2:
		return math.Float32frombits(sign | 0x7f7fffff) // the largest
	case 3:
		return math.Float32frombits(sign | 0x00800000) // the least normal
	case 4:
		if wild {
			return math.Float32frombits(sign | 0x7f800000) // infinity
		}
	case 5:
		if wild {
			return float32(math.NaN())
		}
	case 6, 7:
		return math.Float32frombits(sign | s.Uint32N(0x7f800000)) // any
	}
	return float32(s.Float64()*4 - 2)
}

// values draws n elements; one in a few fields is wild.
func (s source) values(n int) []float32 {
	wild, tame := s.IntN(4) == 0, s.IntN(3) == 0
	v := make([]float32, n)
	for i := range v {
		if v[i] = float32(s.Float64()); !tame {
			v[i] = s.value(wild && s.IntN(40) == 0)
		}
	}
	return v
}

// factor draws a weight.
func (s source) factor() float32 { return []float32{0, 1, 0.5, float32(s.Float64()), 1e-38}[s.IntN(5)] }

// rows draws rows and the length of a field that holds them and all within reach of them.
func (s source) rows(reach int) (r kernel.Rows, length int) {
	r = kernel.Rows{First: reach + s.IntN(9), Count: 1 + s.IntN(150), Stride: 1, Rows: 1 + s.IntN(4)}
	if s.IntN(2) == 0 {
		r.Stride = 1 + s.IntN(9)
	}
	r.Pitch = 1 + (r.Count-1)*r.Stride + s.IntN(20)
	return r, r.First + (r.Rows-1)*r.Pitch + (r.Count-1)*r.Stride + 1 + reach + s.IntN(9)
}

// neighbours draws neighbours within reach.
func (s source) neighbours(most, reach int) (n kernel.Neighbours) {
	n.Scale = 1 + s.IntN(3)
	for range 1 + s.IntN(most) {
		n.Offsets = append(n.Offsets, (s.IntN(2*reach+1)-reach)/n.Scale)
	}
	return n
}

// same compares bits; all NaN are one, for no world holds any.
func same(t *testing.T, what string, got, want []float32) {
	t.Helper()
	for i := range want {
		if g, w := got[i], want[i]; math.Float32bits(g) != math.Float32bits(w) && (g == g || w == w) {
			t.Fatalf("%s: element %d is %v (%#x); the plain twin has %v (%#x)", what, i, g, math.Float32bits(g), w, math.Float32bits(w))
		}
	}
}

const rounds = 6_000

func TestRelax(t *testing.T) {
	const reach = 64
	finite, told := 0, map[bool]int{}
	for seed := range uint64(rounds) {
		s := newSource(seed)
		r, length := s.rows(reach)
		if seed < 1200 { // every length of a row, one after the other
			r.Count, r.Stride, r.Pitch = int(seed/6)+1, 1, int(seed/6)+3
			length = r.First + r.Rows*r.Pitch + reach
		}
		n := s.neighbours(14, reach)
		w := kernel.NewWeights(s.factor(), s.factor(), len(n.Offsets))
		in, got := s.values(length), make([]float32, length+8)[s.IntN(8):][:length]
		want := make([]float32, length)
		ok := kernel.Relax(got, in, r, n, &w)
		if wantOK := kernel.RelaxPlain(want, in, r, n, &w); ok != wantOK {
			t.Fatalf("seed %d, %+v: finite is %v; the plain twin says %v", seed, r, ok, wantOK)
		}
		same(t, "relax", got, want)
		if ok {
			finite++
		}
		if s.IntN(2) == 0 { // all stays as it is
			w = kernel.NewWeights(0, 1, len(n.Offsets))
			clear(in)
			if s.IntN(2) == 0 { // but for one element
				in[r.First+s.IntN(r.Rows)*r.Pitch+s.IntN(r.Count)*r.Stride] = math.Float32frombits(1 << 31)
			}
		}
		clear(want)
		kernel.RelaxPlain(want, in, r, n, &w)
		seeing, changed := kernel.RelaxSeeing(got, in, r, n, &w)
		differ := false
		for row := range r.Rows {
			for i := range r.Count {
				at := r.First + row*r.Pitch + i*r.Stride
				differ = differ || math.Float32bits(want[at]) != math.Float32bits(in[at])
			}
		}
		if kernel.Vectors() && r.Stride == 1 && changed != differ || differ && !changed {
			t.Fatalf("seed %d, %+v: changed is %v, want %v", seed, r, changed, differ)
		}
		if wantOK := kernel.RelaxPlain(want, in, r, n, &w); seeing != wantOK {
			t.Fatalf("seed %d, %+v: seeing, finite is %v; the plain twin says %v", seed, r, seeing, wantOK)
		}
		for row := range r.Rows {
			for i := range r.Count {
				at := r.First + row*r.Pitch + i*r.Stride
				same(t, "relax seeing", got[at:at+1], want[at:at+1])
			}
		}
		told[changed]++
	}
	if finite < rounds/4 || finite > rounds*9/10 {
		t.Errorf("%d of %d were finite; the test wants both", finite, rounds)
	}
	if kernel.Vectors() && (told[false] < rounds/10 || told[true] < rounds/10) {
		t.Errorf("%v of %d were seen to change; the test wants both", told, rounds)
	}
}

func TestRelaxWoven(t *testing.T) {
	const reach = 64
	woven := 0
	for seed := range uint64(rounds) {
		s := newSource(seed)
		v := kernel.NewWeave()
		strands, components := 2+s.IntN(12), 1+s.IntN(2)
		if !v.Begin(strands, components, s.factor(), s.factor()) {
			if kernel.Vectors() {
				t.Fatalf("no weave of %d strands with %d components", strands, components)
			}
			continue
		}
		counts := make([]int, strands)
		for k := range 1 + s.IntN(10) {
			has := uint64(1)<<strands - 1
			if k > 0 && k < 7 && s.IntN(2) == 0 {
				has &= s.Uint64()
			}
			if !v.Neighbour((s.IntN(2*reach+1)-reach)/components, has) {
				t.Fatalf("no room for neighbour %d", k)
			}
			for i := range counts {
				counts[i] += int(has >> i & 1)
			}
		}
		for i, n := range counts {
			v.Degree(i, n)
		}
		r, length := s.rows(reach)
		r.Stride, r.Pitch = 1, r.Count+5
		in := s.values(length)
		if !v.Fits(in, r) {
			continue
		}
		woven++
		got, want := make([]float32, length), make([]float32, length)
		ok := kernel.RelaxWoven(got, in, r, v)
		if wantOK := kernel.RelaxWovenPlain(want, in, r, v); ok != wantOK {
			t.Fatalf("seed %d, %+v: finite is %v; the plain twin says %v", seed, r, ok, wantOK)
		}
		same(t, "relax woven", got, want)
		v.Free()
	}
	if kernel.Vectors() && woven < rounds/2 {
		t.Errorf("%d of %d cases were woven; want at least half", woven, rounds)
	}
}

// Rows that are longer than vector code is given at once are whole.
func TestRelaxLong(t *testing.T) {
	s := newSource(1)
	for _, stride := range []int{1, 3} {
		const count = 200_001
		r := kernel.Rows{First: 5, Count: count, Stride: stride, Rows: 1, Pitch: 1}
		n := kernel.Neighbours{Offsets: []int{-5, 2, 5}, Scale: 1}
		w := kernel.NewWeights(0.3, 0.9, 3)
		in, got, want := s.values(count*stride+10), make([]float32, count*stride+10), make([]float32, count*stride+10)
		if ok, wantOK := kernel.Relax(got, in, r, n, &w), kernel.RelaxPlain(want, in, r, n, &w); ok != wantOK {
			t.Errorf("stride %d: finite is %v; the plain twin says %v", stride, ok, wantOK)
		}
		same(t, "relax", got, want)
	}
}

// What lies outside of a field is neither read nor written.
func TestRowsOutside(t *testing.T) {
	w := kernel.NewWeights(0.5, 1, 1)
	v, out := make([]float32, 100), make([]float32, 100)
	for _, tt := range []struct {
		r      kernel.Rows
		offset int
	}{
		{kernel.Rows{First: 0, Count: 100, Stride: 1, Rows: 1, Pitch: 1}, 1},
		{kernel.Rows{First: 0, Count: 100, Stride: 1, Rows: 1, Pitch: 1}, -1},
		{kernel.Rows{First: 1, Count: 100, Stride: 1, Rows: 1, Pitch: 1}, 0},
		{kernel.Rows{First: -1, Count: 10, Stride: 1, Rows: 1, Pitch: 1}, 1},
		{kernel.Rows{First: 0, Count: 10, Stride: 1, Rows: 2, Pitch: 91}, 0},
		{kernel.Rows{First: 0, Count: 10, Stride: 12, Rows: 1, Pitch: 1}, 0},
		{kernel.Rows{First: 0, Count: 0, Stride: 1, Rows: 1, Pitch: 1}, 0},
		{kernel.Rows{First: 0, Count: 1, Stride: 1, Rows: 0, Pitch: 1}, 0},
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%+v with a neighbour at %d did not panic", tt.r, tt.offset)
				}
			}()
			kernel.Relax(out, v, tt.r, kernel.Neighbours{Offsets: []int{tt.offset}, Scale: 1}, &w)
		}()
	}
	for i, x := range out {
		if x != 0 {
			t.Fatalf("element %d was written: %v", i, x)
		}
	}
}

// TestLongRowsAreSearchedWhole holds that a value that is not finite is found wherever it
// stands in a row that is longer than what vector code is given at once.
func TestLongRowsAreSearchedWhole(t *testing.T) {
	const count = 65_536 + 100
	r := kernel.Rows{First: 1, Count: count, Stride: 1, Rows: 1, Pitch: count}
	n := kernel.Neighbours{Offsets: []int{-1, 1}, Scale: 1}
	w, bump := kernel.NewWeights(0.5, 1, 2), kernel.Slope{North: 1, South: -1, West: -1, East: 1}
	in, out := make([]float32, count+2), make([]float32, 2*(count+2))
	for _, tt := range []struct {
		name string
		run  func() bool
	}{
		{"Scale", func() bool { return kernel.Scale(out, in, r, 0.5) }},
		{"Relax", func() bool { return kernel.Relax(out, in, r, n, &w) }},
		{"RelaxSeeing", func() bool { finite, _ := kernel.RelaxSeeing(out, in, r, n, &w); return finite }},
		{"Climb", func() bool { return bump.Climb(out, in, r) }},
		{"Finite", func() bool { return kernel.Finite(in, r) }},
	} {
		if !tt.run() {
			t.Errorf("%s: zeros are called not finite", tt.name)
		}
		for _, at := range []int{1, 1000, 65_536, 65_537, 65_538, count} {
			in[at] = float32(math.Inf(1))
			if tt.run() {
				t.Errorf("%s: the infinity at element %d of %d is not seen", tt.name, at-1, count)
			}
			in[at] = 0
		}
	}
}
