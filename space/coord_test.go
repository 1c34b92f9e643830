package space_test

import (
	"encoding/binary"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/murksim/murksim/space"
)

func TestCoord(t *testing.T) {
	c := space.At(3, -4, 5)
	if got := c.String(); got != "[3, -4, 5]" {
		t.Errorf("String = %q, want %q", got, "[3, -4, 5]")
	}
	if got := (space.Coord{}).String(); got != "[]" {
		t.Errorf("String of the zero Coord = %q, want %q", got, "[]")
	}
	if got := c.Dim(); got != 3 || c.At(1) != -4 {
		t.Errorf("Dim, At(1) = %d, %d, want 3, -4", got, c.At(1))
	}
	if got := c.Slice(1, 3).Append(7); got != space.At(-4, 5, 7) {
		t.Errorf("Slice(1, 3).Append(7) = %v, want [-4, 5, 7]", got)
	}
	if c.Slice(0, 2) != space.At(3, -4) {
		t.Errorf("Slice(0, 2) = %v is not the same value as [3, -4]", c.Slice(0, 2))
	}
	if got := c.AppendTo([]int32{1}); !slices.Equal(got, []int32{1, 3, -4, 5}) {
		t.Errorf("AppendTo = %v, want [1 3 -4 5]", got)
	}
}

func TestCoordIsFull(t *testing.T) {
	full := make([]int32, space.MaxDim)
	if c, err := space.MakeCoord(full); err != nil || c.Dim() != space.MaxDim {
		t.Errorf("MakeCoord of %d components = %v, %v", space.MaxDim, c, err)
	}
	if c, err := space.MakeCoord(append(full, 1)); !errors.Is(err, space.ErrDimension) {
		t.Errorf("MakeCoord of %d components = %v, %v, want an error", space.MaxDim+1, c, err)
	}
	for name, call := range map[string]func(){
		"At":     func() { space.At(append(full, 1)...) },
		"Append": func() { space.At(full...).Append(1) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s beyond MaxDim does not panic", name)
				}
			}()
			call()
		}()
	}
}

func TestEdge(t *testing.T) {
	for _, e := range []space.Edge{space.Absorb, space.Clamp, space.Wrap} {
		if got, err := space.ParseEdge(e.String()); got != e || err != nil {
			t.Errorf("ParseEdge(%q) = %v, %v, want %v", e.String(), got, err, e)
		}
	}
	if _, err := space.ParseEdge("Wrap"); !errors.Is(err, space.ErrEdge) {
		t.Errorf("ParseEdge(%q): error %v, want %v", "Wrap", err, space.ErrEdge)
	}
	var zero space.Edge
	if zero != space.Absorb {
		t.Errorf("the zero Edge is %v, want absorb", zero)
	}
}

// TestStringOfAProductThatCannotBeBuilt holds that an error can name every product, also one
// that contains itself.
func TestStringOfAProductThatCannotBeBuilt(t *testing.T) {
	itself := make(space.Product, 1)
	itself[0] = itself
	for want, p := range map[string]space.Product{
		"product (ring 8, nil, nil)":                                  {space.Ring{Length: 8}, nil, (*space.Ring)(nil)},
		"product (" + strings.Repeat("ring 2, ", 10) + "…)":           slices.Repeat(space.Product{space.Ring{Length: 2}}, 11),
		strings.Repeat("product (", 8) + "…" + strings.Repeat(")", 8): itself,
	} {
		if got := p.String(); got != want {
			t.Errorf("String = %q, want %q", got, want)
		}
	}
}

func TestString(t *testing.T) {
	for _, tt := range []struct {
		space space.Space
		want  string
		kind  string
	}{
		{space.Line{Length: 7, Edge: space.Clamp}, "line 7 clamp", "line"},
		{space.Ring{Length: 8}, "ring 8", "ring"},
		{space.Square4{Rows: 2, Cols: 3}, "square4 2×3 absorb", "square4"},
		{space.Square8{Rows: 2, Cols: 3, Edge: space.Wrap}, "square8 2×3 wrap", "square8"},
		{space.Hex{Cols: 5, Rows: 4}, "hex 5×4 absorb", "hex"},
		{space.Hex{Cols: 5, Rows: 4, Edge: space.Wrap}, "hex 5×4 wrap", "hex"},
		{space.FCC12{W: 2, H: 4, D: 6, Edge: space.Wrap}, "fcc12 2×4×6 wrap", "fcc12"},
		{space.Product{space.Ring{Length: 8}, space.Product{space.Line{Length: 3}}}, "product (ring 8, product (line 3 absorb))", "product"},
	} {
		l, err := tt.space.Build()
		if err != nil {
			t.Fatal(err)
		}
		if got := tt.space.String(); got != tt.want || l.Kind() != tt.kind {
			t.Errorf("String, Kind = %q, %q, want %q, %q", got, l.Kind(), tt.want, tt.kind)
		}
	}
}

// FuzzCompile feeds arbitrary sizes and coordinates: whatever they are, there is no panic
// and no large allocation, and a plan is consistent.
func FuzzCompile(f *testing.F) {
	f.Add(uint8(2), []byte{1, 0, 0, 0, 2, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0})
	f.Add(uint8(17), []byte{4, 0, 0, 0, 4, 0, 0, 0, 4, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0})
	f.Fuzz(func(t *testing.T, kind uint8, b []byte) {
		var v []int32
		for ; len(b) >= 4; b = b[4:] {
			v = append(v, int32(binary.LittleEndian.Uint32(b)))
		}
		if len(v) < 4 {
			return
		}
		edge := space.Edge(kind / 8 % 4)
		w, h, d := int(v[0]), int(v[1]), int(v[2])
		s := []space.Space{
			space.Line{Length: w, Edge: edge}, space.Ring{Length: w}, space.Square4{Rows: h, Cols: w, Edge: edge},
			space.Square8{Rows: h, Cols: w, Edge: edge}, space.Hex{Cols: w, Rows: h, Edge: edge}, space.FCC12{W: w, H: h, D: d, Edge: edge},
			space.Product{space.Hex{Cols: w, Rows: h, Edge: edge}, space.Line{Length: d, Edge: edge}}, space.Product{},
		}[kind%8]
		l, err := s.Build()
		if err != nil {
			return
		}
		c, err := space.MakeCoord(v[3:])
		if err != nil {
			return
		}
		rank, ok := l.Rank(c)
		if ok && l.Coord(rank) != c {
			t.Errorf("%v: Coord(Rank(%v)) = %v", s, c, l.Coord(rank))
		}
		for _, r := range []space.Region{space.Disk{Center: c, Radius: int(v[0] % 9)}, space.Rect{Min: c, Max: c}, space.Cells{c, c}} {
			plan, err := l.Compile(r)
			if err == nil && (!ok || len(plan.Ranks) == 0 || len(plan.TensorIndices) != len(plan.Ranks)) {
				t.Errorf("%v: Compile(%+v) = %+v for a coordinate inside: %v", s, r, plan, ok)
			}
			if err != nil && ok && v[0] >= 0 {
				t.Errorf("%v: Compile(%+v): %v", s, r, err)
			}
		}
	})
}

func TestCoordBytes(t *testing.T) {
	for _, c := range []space.Coord{{}, space.At(7), space.At(-1, 2147483647, -2147483648), space.At(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12)} {
		b := make([]byte, 4*c.Dim())
		c.PutBytes(b)
		for i := range c.Dim() {
			if got := int32(binary.LittleEndian.Uint32(b[4*i:])); got != c.At(i) {
				t.Errorf("%v: component %d is written as %d", c, i, got)
			}
		}
		got := space.At(9, 9, 9, 9)
		if got.SetBytes(b); got != c {
			t.Errorf("%x reads back as %v, want %v", b, got, c)
		}
	}
}
