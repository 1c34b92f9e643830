package rules

import (
	"testing"

	"github.com/murksim/murksim/space"
)

// TestPlane: an offset leads on a plane where it leads on any lattice.
func TestPlane(t *testing.T) {
	planes := 0
	for _, s := range []space.Space{
		space.Square4{Rows: 5, Cols: 7, Edge: space.Wrap}, space.Square8{Rows: 4, Cols: 3, Edge: space.Absorb}, space.Square4{Rows: 1, Cols: 6, Edge: space.Clamp},
		space.Square8{Rows: 6, Cols: 1, Edge: space.Wrap}, space.Hex{Rows: 4, Cols: 5, Edge: space.Wrap}, space.Ring{Length: 8},
		space.Product{space.Ring{Length: 4}, space.Ring{Length: 3}},
	} {
		l, err := s.Build()
		if err != nil {
			t.Fatal(err)
		}
		p, e := planeOf(l), &evaluator{Scope: &Scope{Lattice: l}}
		if p == nil {
			continue
		}
		planes++
		for cell := range l.Cells() {
			for row := int32(-20); row <= 20; row++ {
				for col := int32(-20); col <= 20; col++ {
					offset := []int32{row, col}
					want, wantOK := e.beyond(cell, offset)
					if got, ok := p.beyond(cell, offset); ok != wantOK || ok && got != want {
						t.Fatalf("%+v: from %d by %v: %d, %v; want %d, %v", s, cell, offset, got, ok, want, wantOK)
					}
				}
			}
		}
	}
	if planes != 4 {
		t.Errorf("%d of the lattices are planes, want 4", planes)
	}
}
