package space_test

import (
	"errors"
	"math"
	"testing"

	"github.com/murksim/murksim/space"
)

// nested wraps a space in n products.
func nested(n int, s space.Space) space.Space {
	for range n {
		s = space.Product{s}
	}
	return s
}

func endless() space.Space {
	p := space.Product{nil}
	p[0] = p
	return p
}

func TestBuildRejects(t *testing.T) {
	line := space.Line{Length: 2}
	for _, tt := range []struct {
		space space.Space
		fault space.Fault
		text  string
	}{
		{space.Line{}, space.ErrSize, "space: line: length must be at least 1, not 0"},
		{space.Line{Length: -3}, space.ErrSize, "space: line: length must be at least 1, not -3"},
		{space.Line{Length: 1, Edge: 3}, space.ErrEdge, "space: line: edge must be absorb, clamp or wrap, not Edge(3)"},
		{space.Ring{}, space.ErrSize, "space: ring: length must be at least 1, not 0"},
		{space.Square4{Cols: 3}, space.ErrSize, "space: square4: rows must be at least 1, not 0"},
		{space.Square4{Rows: 3}, space.ErrSize, "space: square4: cols must be at least 1, not 0"},
		{space.Square8{Rows: 3, Cols: -1}, space.ErrSize, "space: square8: cols must be at least 1, not -1"},
		{space.Square8{Rows: 1 << 16, Cols: 1 << 15}, space.ErrCells, "space: square8: has more than 2147483647 cells"},
		{space.Hex{Rows: 3}, space.ErrSize, "space: hex: cols must be at least 1, not 0"},
		{space.Hex{Cols: math.MaxInt32, Rows: math.MaxInt32}, space.ErrCells, "space: hex: has more than 2147483647 cells"},
		{space.FCC12{W: 2, H: 0, D: 2}, space.ErrSize, "space: fcc12: h must be at least 1, not 0"},
		{space.FCC12{W: 2, H: 4, D: 5, Edge: space.Wrap}, space.ErrParity, "space: fcc12: d must be even if the edge wraps, not 5"},
		{space.FCC12{W: math.MaxInt32, H: math.MaxInt32, D: math.MaxInt32}, space.ErrCells, "space: fcc12: has more than 2147483647 cells"},
		{space.FCC12{W: 1 << 16, H: 1 << 16, D: 1}, space.ErrCells, "space: fcc12: has more than 2147483647 cells"},
		{space.Product{}, space.ErrEmpty, "space: product: parts are none; at least one is needed"},
		{space.Product(nil), space.ErrEmpty, "space: product: parts are none; at least one is needed"},
		{space.Product{line, nil}, space.ErrEmpty, "space: product: part 1 must not be nil"},
		{space.Product{line, (*space.Hex)(nil)}, space.ErrEmpty, "space: product: part 1 must not be nil"},
		{space.Product{line, space.Product{}}, space.ErrEmpty, "space: product: part 1: product: parts are none; at least one is needed"},
		{space.Product{line, space.Product{line, space.Hex{Cols: 1}}}, space.ErrSize,
			"space: product: part 1: product: part 1: hex: rows must be at least 1, not 0"},
		{space.Product{space.Line{Length: 1 << 20}, space.Line{Length: 1 << 20}}, space.ErrCells, "space: product: has more than 2147483647 cells"},
		{space.Product{line, line, line, line, line, line, line, line, line, line, line}, space.ErrDimension,
			"space: product: parts have 11 dimensions or more; at most 10 are possible"},
		{nested(9, line), space.ErrNesting, ""},
		{endless(), space.ErrNesting, ""},
	} {
		l, err := tt.space.Build()
		if e := (*space.Error)(nil); l != nil || !errors.As(err, &e) || !errors.Is(err, tt.fault) || tt.text != "" && err.Error() != tt.text {
			t.Errorf("%v: Build = %v, %q, want %q (%s)", tt.space, l, err, tt.text, tt.fault)
		}
		if _, _, got := space.Estimate(tt.space); got == nil || got.Error() != err.Error() {
			t.Errorf("%v: Estimate fails with %v, Build with %v", tt.space, got, err)
		}
	}
	if _, err := nested(8, line).Build(); err != nil {
		t.Errorf("eight products deep: Build: %v, want no error", err)
	}
}

func TestBuildAtTheLimits(t *testing.T) {
	for _, tt := range []struct {
		space space.Space
		cells int
	}{
		{space.Line{Length: math.MaxInt32}, math.MaxInt32},
		{space.Ring{Length: math.MaxInt32}, math.MaxInt32},
		{space.Square4{Rows: 1, Cols: math.MaxInt32, Edge: space.Wrap}, math.MaxInt32},
		{space.Hex{Cols: math.MaxInt32, Rows: 1}, math.MaxInt32},
		{space.FCC12{W: 1, H: math.MaxInt32, D: 1}, 1 << 30},
		{space.FCC12{W: 1, H: 65535, D: 65535}, (65535*65535 + 1) / 2},
		{space.FCC12{W: 1, H: 65536, D: 65535}, 65536 / 2 * 65535},
		{space.FCC12{W: 65535, H: 65535, D: 1}, (65535*65535 + 1) / 2},
		{space.FCC12{W: 3, H: 1 << 20, D: 1300}, 3 * 650 << 20},
	} {
		l, err := tt.space.Build()
		if err != nil || l.Cells() > math.MaxInt32 {
			t.Errorf("%v: Build: %v", tt.space, err)
			continue
		}
		if l.Cells() != tt.cells {
			t.Errorf("%v: %d cells, want %d", tt.space, l.Cells(), tt.cells)
		}
		for _, rank := range []int{0, 1, l.Cells() / 3, l.Cells() / 2, l.Cells() - 2, l.Cells() - 1} {
			c := l.Coord(rank)
			if got, ok := l.Rank(c); !ok || got != rank {
				t.Errorf("%v: Rank(%v) = %d, %v, want %d", tt.space, c, got, ok, rank)
			}
			for _, n := range l.AppendNeighbours(nil, rank) {
				if d := l.Distance(rank, int(n)); d > 1 {
					t.Errorf("%v: neighbours %d and %d have distance %v", tt.space, rank, n, d)
				}
			}
		}
		covered := 0
		for _, s := range l.SpansIn(nil, l.Cells()-1000, l.Cells()) {
			covered += s.Count
		}
		if covered != 1000 {
			t.Errorf("%v: spans cover %d of the last 1000 cells", tt.space, covered)
		}
	}
}

func TestCompileRejects(t *testing.T) {
	at := space.At
	square, hex := space.Square4{Rows: 3, Cols: 5}, space.Hex{Cols: 3, Rows: 4}
	fcc := space.FCC12{W: 4, H: 4, D: 4}
	pair := space.Product{space.Ring{Length: 4}, fcc}
	for _, tt := range []struct {
		space  space.Space
		region space.Region
		fault  space.Fault
		text   string
	}{
		{square, nil, space.ErrEmpty, "space: region: is nil"},
		{square, space.Disk{Center: at(3, 0)}, space.ErrBounds,
			"space: disk: center [3, 0] is outside square4 3×5 absorb: row must be in [0, 3)"},
		{square, space.Disk{Center: at(0, -1)}, space.ErrBounds,
			"space: disk: center [0, -1] is outside square4 3×5 absorb: col must be in [0, 5)"},
		{square, space.Disk{}, space.ErrDimension, "space: disk: center [] has 0 components; a cell of square4 3×5 absorb has 2"},
		{square, space.Disk{Center: at(0, 0), Radius: -1}, space.ErrRadius, "space: disk: radius must be at least 0, not -1"},
		{square, space.Neighbours{Center: at(0, 0), Depth: -2}, space.ErrRadius, "space: neighbours: depth must be at least 0, not -2"},
		{square, space.Neighbours{Center: at(0, 0, 0)}, space.ErrDimension,
			"space: neighbours: center [0, 0, 0] has 3 components; a cell of square4 3×5 absorb has 2"},
		{square, space.Rect{Min: at(0, 0), Max: at(2, 5)}, space.ErrBounds,
			"space: rect: max [2, 5] is outside square4 3×5 absorb: col must be in [0, 5)"},
		{square, space.Rect{Min: at(0, 3), Max: at(1, 2)}, space.ErrOrder, "space: rect: min [0, 3] is above max [1, 2] on axis 1 (col)"},
		{square, space.Cells{at(0, 0), at(9, 0)}, space.ErrBounds,
			"space: cells: coordinate 1: [9, 0] is outside square4 3×5 absorb: row must be in [0, 3)"},
		{fcc, space.Disk{Center: at(1, 1, 1)}, space.ErrParity,
			"space: disk: center [1, 1, 1] is not in fcc12 4×4×4 absorb: the sum of components 0 to 2 must be even"},
		{pair, space.Rect{Min: at(0, 1, 0, 0), Max: at(0, 2, 2, 2)}, space.ErrParity,
			"space: rect: min [0, 1, 0, 0] is not in product (ring 4, fcc12 4×4×4 absorb): the sum of components 1 to 3 must be even"},
		{pair, space.Rect{Min: at(0, 2, 2, 2), Max: at(0, 2, 0, 2)}, space.ErrOrder,
			"space: rect: min [0, 2, 2, 2] is above max [0, 2, 0, 2] on axis 2 (y)"},
		{hex, space.Disk{Center: at(0, 0), Radius: math.MaxInt32}, space.ErrLimit,
			"space: disk: radius is 2147483647, which gives a box of 4294967295×4294967295; too large for hex 3×4 absorb"},
		{hex, space.Disk{Center: at(0, 0), Radius: 3000}, space.ErrLimit,
			"space: disk: radius is 3000, which gives a box of 6001×6001; too large for hex 3×4 absorb"},
	} {
		l, err := tt.space.Build()
		if err != nil {
			t.Fatal(err)
		}
		plan, err := l.Compile(tt.region)
		if e := (*space.Error)(nil); plan != nil || !errors.As(err, &e) || !errors.Is(err, tt.fault) || err.Error() != tt.text {
			t.Errorf("%v: Compile(%+v) = %v, %q, want %q (%s)", tt.space, tt.region, plan, err, tt.text, tt.fault)
		}
	}
}

func TestDiskOnAHugeLattice(t *testing.T) {
	l, err := space.Square4{Rows: 40000, Cols: 50000, Edge: space.Wrap}.Build()
	if err != nil {
		t.Fatal(err)
	}
	plan, err := l.Compile(space.Disk{Center: space.At(0, 0), Radius: 3})
	if err != nil || len(plan.Ranks) != 25 {
		t.Errorf("disk of 3 = %v, %v, want 25 cells", plan, err)
	}
	if plan, err = l.Compile(space.Rect{Min: space.At(39999, 49999), Max: space.At(39999, 49999)}); err != nil || len(plan.Ranks) != 1 {
		t.Errorf("rect of one cell = %v, %v", plan, err)
	}
	if cells, bytes, err := space.Estimate(l.Space()); cells != 2e9 || bytes > 4e6 || err != nil {
		t.Errorf("Estimate = %d cells, %d bytes, %v, want 2e9 and at most 4 MB", cells, bytes, err)
	}
}

func TestRankOutsidePanics(t *testing.T) {
	l, err := space.Ring{Length: 5}.Build()
	if err != nil {
		t.Fatal(err)
	}
	for name, call := range map[string]func(){
		"Coord":            func() { l.Coord(5) },
		"AppendNeighbours": func() { l.AppendNeighbours(nil, -1) },
		"Degree":           func() { l.Degree(5) },
		"Distance":         func() { l.Distance(0, 5) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s of a rank outside does not panic", name)
				}
			}()
			call()
		}()
	}
}
