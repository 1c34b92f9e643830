package space_test

import (
	"math/bits"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/murksim/murksim/space"
)

// checkBands checks that bands have the cells and patterns of the spans.
func checkBands(t *testing.T, l *space.Lattice, r *rand.Rand) {
	t.Helper()
	pieces := 1 + r.IntN(5)
	want := make([]*space.Pattern, l.Cells())
	got := make([]*space.Pattern, l.Cells())
	for i := range pieces {
		spans := l.SpansIn(nil, l.Cells()*i/pieces, l.Cells()*(i+1)/pieces)
		for _, s := range spans {
			for k := range s.Count {
				want[s.First+k*s.Stride] = s.Pattern
			}
		}
		bands := space.Bands(spans)
		if len(bands) > len(spans) {
			t.Fatalf("%v: %d bands of %d spans", l.Space(), len(bands), len(spans))
		}
		for _, b := range bands {
			checkBand(t, l, &b)
			for row := range b.Rows {
				for s, p := range b.Patterns {
					for k := range b.Count {
						cell := b.First + row*b.Pitch + s + k*b.Stride
						if got[cell] != nil {
							t.Fatalf("%v: cell %d is in two bands", l.Space(), cell)
						}
						got[cell] = p
					}
				}
			}
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("%v: bands give other patterns than spans", l.Space())
	}
}

// checkBand checks the neighbours that the strands of a band share.
func checkBand(t *testing.T, l *space.Lattice, b *space.Band) {
	t.Helper()
	if n := len(b.Patterns); n != 1 && n != b.Stride || n == 1 && b.Shared != nil {
		t.Fatalf("%v: %d strands, stride %d, %d shared neighbours", l.Space(), n, b.Stride, len(b.Shared))
	}
	if len(b.Patterns) == 1 {
		return
	}
	for s, p := range b.Patterns {
		var offsets []int
		for _, o := range b.Shared {
			if bits.Len64(o.Strands) > len(b.Patterns) || o.Strands == 0 {
				t.Fatalf("%v: a neighbour of strands %b; there are %d", l.Space(), o.Strands, len(b.Patterns))
			}
			if o.Strands>>s&1 != 0 {
				offsets = append(offsets, o.Offset)
			}
		}
		if !slices.Equal(offsets, p.Offsets) {
			t.Fatalf("%v: strand %d has neighbours at %v, want %v", l.Space(), s, offsets, p.Offsets)
		}
	}
}

// TestWideRowsOfStrandsKeepTheirNeighbours: a band has up to 64 strands, one for each bit of
// [space.Offset]; where more lie side by side, each stays alone.
func TestWideRowsOfStrandsKeepTheirNeighbours(t *testing.T) {
	for _, tt := range []struct{ outer, inner, strands int }{{8, 8, 64}, {5, 13, 1}} {
		l := mustBuild(t, space.Product{space.Line{Length: 400}, space.Ring{Length: tt.outer}, space.Ring{Length: tt.inner}})
		checkBands(t, l, rand.New(rand.NewPCG(1, 2)))
		most := 0
		for _, b := range space.Bands(l.Spans()) {
			most = max(most, len(b.Patterns))
			checkBand(t, l, &b)
		}
		if most != tt.strands {
			t.Errorf("%v: bands of up to %d strands, want %d", l.Space(), most, tt.strands)
		}
	}
}

func TestBandsAreFew(t *testing.T) {
	for _, tt := range []struct {
		s    space.Space
		most int
	}{
		{space.Square4{Rows: 64, Cols: 64}, 9},
		{space.FCC12{W: 32, H: 32, D: 32}, 310},
		{space.Product{space.Square4{Rows: 64, Cols: 64}, space.Line{Length: 3}}, 24},
		{space.Product{space.Line{Length: 4096}, space.Line{Length: 4}}, 8},
	} {
		l := mustBuild(t, tt.s)
		if n := len(space.Bands(l.Spans())); n > tt.most {
			t.Errorf("%v: %d bands of %d spans, want at most %d", tt.s, n, len(l.Spans()), tt.most)
		}
	}
}
