package kernel_test

import (
	"math"
	"slices"
	"testing"

	"github.com/murksim/murksim/internal/kernel"
)

// TestFaces compares the kernels of what passes faces with their plain twins.
func TestFaces(t *testing.T) {
	for name, compute := range map[string]func(s source, v [][]float32, plain bool){
		"pipe": func(s source, v [][]float32, plain bool) {
			p, e := s.pipe(v)
			if plain {
				kernel.PipePlain(&p, v[5], v[6], e)
			} else {
				p.Move(v[5], v[6], e)
			}
		},
		"negate": func(s source, v [][]float32, plain bool) {
			if plain {
				kernel.NegatePlain(v[0], v[1])
			} else {
				kernel.Negate(v[0], v[1])
			}
		},
		"flow": func(s source, v [][]float32, plain bool) {
			if plain {
				kernel.FlowPlain(v[0], v[1], v[2], s.factor(), s.factor())
			} else {
				kernel.Flow(v[0], v[1], v[2], s.factor(), s.factor())
			}
		},
		"add_flow": func(s source, v [][]float32, plain bool) {
			if plain {
				kernel.AddFlowPlain(v[0], v[1], v[2], s.factor(), s.factor())
			} else {
				kernel.AddFlow(v[0], v[1], v[2], s.factor(), s.factor())
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			for seed := range uint64(rounds / 2) {
				s := newSource(seed)
				got, _ := s.piece(7)
				want := clones(got)
				compute(newSource(seed+1), got, false)
				compute(newSource(seed+1), want, true)
				for i := range got {
					same(t, name, got[i], want[i])
				}
			}
		})
	}
}

// pipe draws numbers, and makes depths of two columns.
func (s source) pipe(v [][]float32) (kernel.Pipe, *kernel.Ends) {
	for _, column := range v[:4] {
		for i, x := range column {
			if x-x != 0 { // no world holds it
				column[i] = 7
			}
		}
	}
	v[0], v[1] = positive(v[0]), positive(v[1])
	p := kernel.Pipe{Keep: s.factor(), Most: s.factor(), Pull: s.factor(), Smooth: s.factor(), Share: s.factor()}
	return p, &kernel.Ends{Here: v[0], There: v[1], BedHere: v[2], BedThere: v[3], Flux: v[4]}
}

// positive drops signs.
func positive(v []float32) []float32 {
	for i, x := range v {
		v[i] = math.Float32frombits(math.Float32bits(x) &^ (1 << 31))
	}
	return v
}

// TestPassages compares what is left of cells, and what leaves them.
func TestPassages(t *testing.T) {
	const length, margin = 1000, 200
	for seed := range uint64(rounds / 4) {
		s := newSource(seed)
		n := 1 + s.IntN(70)
		field, memory := s.values(length), s.values(length)
		for i, x := range field {
			if x-x != 0 { // no world holds it
				field[i] = 3
			}
		}
		at := margin + s.IntN(9)
		var list []kernel.Passage
		for range s.IntN(14) {
			list = append(list, kernel.Passage{Moved: s.IntN(length - n), There: s.IntN(2*margin) - margin, In: s.IntN(2) == 0})
		}
		got, want := make([]float32, n), make([]float32, n)
		ok := kernel.Settle(got, field[at:], memory, list)
		if wantOK := kernel.SettlePlain(want, field[at:], memory, list); ok != wantOK {
			t.Fatalf("seed %d: settled values are finite: %v; the plain twin says %v", seed, ok, wantOK)
		}
		same(t, "settle", got, want)
		most, ok := kernel.Carry(got, field, at, memory, list)
		wantMost, wantOK := kernel.CarryPlain(want, field, at, memory, list)
		if ok != wantOK || most != wantMost {
			t.Fatalf("seed %d: carried values are finite: %v, and %v leaves a cell; the plain twin says %v, %v", seed, ok, most, wantOK, wantMost)
		}
		same(t, "carry", got, want)
	}
}

func TestPlanes(t *testing.T) {
	for n := range 70 {
		for stride := 1; stride <= 4; stride++ {
			var planes [][]float32
			s := newSource(uint64(n*stride + 1))
			for range stride {
				planes = append(planes, s.values(n))
			}
			all := make([]float32, n*stride)
			kernel.Interleave(all, planes...)
			for k, p := range planes {
				var want []float32
				for i := range n {
					want = append(want, all[i*stride+k])
				}
				same(t, "interleave", p, want)
				if n == 0 {
					continue
				}
				got, last := make([]float32, n), (n-1)*stride+k+1
				kernel.Gather(got, all[k:last:last], stride)
				same(t, "gather", got, p)
				back := slices.Repeat([]float32{float32(math.Inf(1))}, n*stride)
				kernel.Scatter(back, p, stride)
				for i, x := range back {
					if i%stride == 0 {
						same(t, "scatter", back[i:i+1], p[i/stride:i/stride+1])
					} else if !math.IsInf(float64(x), 1) {
						t.Fatalf("scatter wrote element %d with a stride of %d", i, stride)
					}
				}
			}
		}
	}
}
