package space_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/murksim/murksim/space"
)

// checkDirections checks that each direction has a way back, and leads as far as it says.
func checkDirections(t *testing.T, l *space.Lattice) {
	t.Helper()
	dirs := l.Directions()
	for i := range dirs {
		d, back := &dirs[i], &dirs[dirs[i].Opposite]
		sum := 0.0
		for k, x := range d.Way {
			if back.Way[k] != -x && x != 0 {
				t.Fatalf("%v: %s leads to %v, back by %s to %v", l.Space(), d.Name, d.Way, back.Name, back.Way)
			}
			sum += x * x
		}
		for a := range l.Dim() {
			if back.Step.At(a) != -d.Step.At(a) {
				t.Fatalf("%v: %s steps by %v, back by %s by %v", l.Space(), d.Name, d.Step, back.Name, back.Step)
			}
		}
		if back.Opposite != i || back.Part != d.Part || back.Axis != d.Axis || math.Abs(math.Sqrt(sum)-d.Length) > 1e-15 || d.Face != back.Face {
			t.Fatalf("%v: directions %+v and %+v", l.Space(), *d, *back)
		}
	}
}

// checkLayout checks that every cell has a place of its own, and that parts make up the whole.
func checkLayout(t *testing.T, l *space.Lattice) {
	t.Helper()
	y, ok := l.Layout()
	if _, product := l.Space().(space.Product); ok == product {
		t.Fatalf("%v: Layout is there: %v", l.Space(), ok)
	}
	last := [3]int{-1}
	for rank := 0; ok && rank < l.Cells(); rank++ {
		slice, row, col := y.Place(l.Coord(rank))
		at := [3]int{slice, row, col}
		if slices.Compare(last[:], at[:]) >= 0 || slice >= y.Slices || row >= y.Rows || col >= y.Cols || y.Cell(slice, row, col) != l.Coord(rank) {
			t.Fatalf("%v: cell %d lies at %v after %v, of %d×%d×%d; there lies %v", l.Space(), rank, at, last, y.Slices, y.Rows, y.Cols, y.Cell(slice, row, col))
		}
		last = at
	}
	parts := l.Parts()
	for rank := range l.Cells() {
		rest, c := rank, l.Coord(rank)
		for i := len(parts) - 1; i >= 0; i-- {
			p := parts[i]
			own := p.Coord(rest % p.Cells())
			if got := c.Slice(c.Dim()-p.Dim(), c.Dim()); got != own {
				t.Fatalf("%v: part %d of cell %d is %v, want %v", l.Space(), i, rank, got, own)
			}
			rest, c = rest/p.Cells(), c.Slice(0, c.Dim()-p.Dim())
		}
		if rest != 0 || c.Dim() != 0 {
			t.Fatalf("%v: its %d parts do not make up cell %d", l.Space(), len(parts), rank)
		}
	}
}

// checkRays checks that rays lead to every cell within a radius, once, and in the same order to
// those of a range.
func checkRays(t *testing.T, l *space.Lattice, r *rand.Rand) {
	t.Helper()
	from, radius := r.IntN(l.Cells()), r.IntN(6)
	if l.Dim() > 6 {
		radius = min(radius, 1)
	}
	lo, hi := 0, l.Cells()
	if r.IntN(2) == 0 {
		lo = r.IntN(l.Cells())
		hi = lo + r.IntN(l.Cells()-lo+1)
	}
	var got, want []int
	rays := l.Rays()
	for rays.From(from, radius, lo, hi); rays.Next(); {
		got = append(got, rays.To)
		if !rays.Clear(nil) || !rays.Clear(make([]float32, l.Cells())) {
			t.Fatalf("%v: a ray from %v to %v is not clear in the open", l.Space(), l.Coord(from), l.Coord(rays.To))
		}
	}
	var all []int
	for rays.From(from, radius, 0, l.Cells()); rays.Next(); {
		if lo <= rays.To && rays.To < hi {
			all = append(all, rays.To)
		}
	}
	if !slices.Equal(got, all) {
		t.Fatalf("%v: rays from %v within %d to cells %d to %d lead to %v, of all rays these lead there: %v", l.Space(), l.Coord(from), radius, lo, hi, got, all)
	}
	slices.Sort(got)
	for rank := lo; rank < hi; rank++ {
		if l.Distance(from, rank) <= float64(radius) {
			want = append(want, rank)
		}
	}
	if !slices.Equal(got, want) {
		t.Fatalf("%v: rays from %v within %d lead to %v, want %v", l.Space(), l.Coord(from), radius, got, want)
	}
}

// TestRaysInARange: rays to a range of cells are those of all rays that lead there, in the same
// order, also around edges and where the reach is larger than the space.
func TestRaysInARange(t *testing.T) {
	for _, s := range []space.Space{
		space.Line{Length: 30}, space.Ring{Length: 30}, space.Ring{Length: 1}, space.Square4{Rows: 9, Cols: 7, Edge: space.Wrap},
		space.Square8{Rows: 8, Cols: 8, Edge: space.Clamp}, space.Hex{Cols: 7, Rows: 6}, space.Hex{Cols: 6, Rows: 9, Edge: space.Wrap},
		space.FCC12{W: 5, H: 5, D: 5}, space.FCC12{W: 6, H: 4, D: 4, Edge: space.Wrap},
		space.Product{space.Ring{Length: 3}, space.Hex{Cols: 4, Rows: 5, Edge: space.Wrap}, space.Line{Length: 2}},
		space.Product{space.FCC12{W: 4, H: 3, D: 3}, space.Ring{Length: 4}},
	} {
		l := mustBuild(t, s)
		r := rand.New(rand.NewPCG(3, 5))
		rays := l.Rays()
		walk := func(cell, radius, lo, hi int) (to []int) {
			for rays.From(cell, radius, lo, hi); rays.Next(); {
				to = append(to, rays.To)
			}
			return to
		}
		for range 300 {
			cell, radius := r.IntN(l.Cells()), r.IntN(12)
			lo, hi := r.IntN(l.Cells()+3)-1, r.IntN(l.Cells()+3)-1
			all := slices.DeleteFunc(walk(cell, radius, 0, l.Cells()), func(to int) bool { return to < lo || to >= hi })
			begin, end := rays.Around(radius, lo, hi)
			if outside := cell < begin || cell >= end; outside && len(all) > 0 {
				t.Fatalf("%v: %v lies outside of ranks %d to %d, but rays within %d lead to %v of ranks %d to %d", s, l.Coord(cell), begin, end, radius, all, lo, hi)
			}
			if got := walk(cell, radius, lo, hi); !slices.Equal(got, all) {
				t.Fatalf("%v: from %v within %d to ranks %d to %d: %v, want %v", s, l.Coord(cell), radius, lo, hi, got, all)
			}
		}
	}
}

// TestRaysBlocked: one looks past a wall where one of two cells that are as near is open,
// and the short way around an edge.
func TestRaysBlocked(t *testing.T) {
	for _, tt := range []struct {
		space    space.Space
		from, to space.Coord
		walls    []space.Coord
		clear    bool
	}{
		{space.Line{Length: 9}, space.At(1), space.At(5), []space.Coord{space.At(3)}, false},
		{space.Line{Length: 9}, space.At(1), space.At(5), []space.Coord{space.At(1), space.At(5)}, true},
		{space.Ring{Length: 9}, space.At(1), space.At(7), []space.Coord{space.At(4)}, true},
		{space.Ring{Length: 9}, space.At(1), space.At(7), []space.Coord{space.At(0)}, false},
		{space.Square8{Rows: 3, Cols: 5}, space.At(0, 0), space.At(1, 2), []space.Coord{space.At(0, 1)}, true},
		{space.Square8{Rows: 3, Cols: 5}, space.At(0, 0), space.At(1, 2), []space.Coord{space.At(0, 1), space.At(1, 1)}, false},
		{space.Hex{Cols: 5, Rows: 5}, space.At(1, 1), space.At(2, 2), []space.Coord{space.At(2, 1)}, true},
		{space.Hex{Cols: 5, Rows: 5}, space.At(1, 1), space.At(2, 2), []space.Coord{space.At(2, 1), space.At(1, 2)}, false},
		{space.Hex{Cols: 6, Rows: 6, Edge: space.Wrap}, space.At(5, 1), space.At(1, 1), []space.Coord{space.At(0, 1)}, false},
		{space.Hex{Cols: 6, Rows: 6, Edge: space.Wrap}, space.At(5, 1), space.At(1, 1), []space.Coord{space.At(3, 1)}, true},
		{space.Hex{Cols: 6, Rows: 6, Edge: space.Wrap}, space.At(0, 0), space.At(4, 2), []space.Coord{space.At(5, 1)}, false}, // southwest
		{space.Hex{Cols: 6, Rows: 6, Edge: space.Clamp}, space.At(5, 1), space.At(1, 1), []space.Coord{space.At(3, 1)}, false},
	} {
		l := mustBuild(t, tt.space)
		blocked := make([]float32, l.Cells())
		for _, c := range tt.walls {
			rank, _ := l.Rank(c)
			blocked[rank] = 1
		}
		from, _ := l.Rank(tt.from)
		rays, met := l.Rays(), false
		for rays.From(from, 9, 0, l.Cells()); rays.Next(); {
			if l.Coord(rays.To) == tt.to {
				met = true
				if got := rays.Clear(blocked); got != tt.clear {
					t.Errorf("%v: from %v to %v past %v is clear: %v, want %v", tt.space, tt.from, tt.to, tt.walls, got, tt.clear)
				}
			}
		}
		if !met {
			t.Errorf("%v: no ray from %v to %v", tt.space, tt.from, tt.to)
		}
	}
}

func TestLayout(t *testing.T) {
	for _, tt := range []struct {
		space                           space.Space
		slices, rows, cols, shift, wide int
	}{
		{space.Line{Length: 7}, 1, 1, 7, 0, 1},
		{space.Ring{Length: 7}, 1, 1, 7, 0, 1},
		{space.Square4{Rows: 2, Cols: 3}, 1, 2, 3, 0, 1},
		{space.Square8{Rows: 2, Cols: 3}, 1, 2, 3, 0, 1},
		{space.Hex{Rows: 2, Cols: 3}, 1, 2, 3, 1, 1},
		{space.FCC12{W: 2, H: 3, D: 4}, 4, 3, 2, 0, 2},
	} {
		y, ok := mustBuild(t, tt.space).Layout()
		if got := [5]int{y.Slices, y.Rows, y.Cols, y.Shift, y.Wide}; !ok || got != [5]int{tt.slices, tt.rows, tt.cols, tt.shift, tt.wide} {
			t.Errorf("%v: Layout = %+v, %v", tt.space, y, ok)
		}
	}
}

func TestCompass(t *testing.T) {
	square := space.Square4{Rows: 2, Cols: 3}
	if dirs, ok := mustBuild(t, square).Compass(); !ok || dirs != [4]int{0, 1, 2, 3} {
		t.Errorf("%v: Compass = %v, %v", square, dirs, ok)
	}
	for _, s := range []space.Space{
		space.Line{Length: 3}, space.Square8{Rows: 2, Cols: 3}, space.Hex{Rows: 2, Cols: 3}, space.FCC12{W: 2, H: 2, D: 2},
		space.Product{square}, space.Product{space.Line{Length: 2}, space.Line{Length: 3}},
	} {
		if dirs, ok := mustBuild(t, s).Compass(); ok {
			t.Errorf("%v: Compass = %v, want none", s, dirs)
		}
	}
}

// TestKinds: what a kind says of itself makes its spaces.
func TestKinds(t *testing.T) {
	for _, s := range []space.Space{
		space.Line{Length: 7, Edge: space.Clamp}, space.Ring{Length: 7}, space.Square4{Rows: 2, Cols: 3, Edge: space.Wrap},
		space.Square8{Rows: 2, Cols: 3}, space.Hex{Cols: 2, Rows: 3}, space.Hex{Cols: 2, Rows: 3, Edge: space.Clamp},
		space.FCC12{W: 2, H: 4, D: 6, Edge: space.Wrap},
	} {
		l := mustBuild(t, s)
		k, axes := s.Kind(), l.Axes()
		sizes := make([]int, len(k.Sizes))
		for i := range sizes {
			sizes[i] = axes[i].Extent
			if k.Sizes[i].Name == "" || k.Sizes[i].Doc == "" {
				t.Errorf("%v: size %d is %+v", s, i, k.Sizes[i])
			}
		}
		if got := k.New(sizes, axes[0].Edge); got != s || k.Name != l.Kind() || len(axes) != len(sizes) {
			t.Errorf("%s: New(%v, %v) = %v, want %v", k.Name, sizes, axes[0].Edge, got, s)
		}
	}
	if k := (space.Product{}).Kind(); k != nil {
		t.Errorf("a product has the kind %v, want none", k)
	}
}

// TestHexTorus: distances, and disks whose box holds each cell once where the shortest way
// leads, across edges too.
func TestHexTorus(t *testing.T) {
	l := mustBuild(t, space.Hex{Cols: 8, Rows: 6, Edge: space.Wrap})
	rank := func(q, r int32) int {
		at, _ := l.Rank(space.At(q, r))
		return at
	}
	for _, tt := range []struct {
		q, r int32
		want float64
	}{
		{7, 0, 1}, {0, 5, 1}, {7, 1, 1}, {1, 5, 1}, {7, 5, 2}, {1, 1, 2}, {4, 0, 4}, {0, 3, 3},
		{4, 3, 4}, // westward, not by 4 east and 3 down, which is 7
		{3, 2, 4}, // around by 4 up, though 2 down is the shorter way of that axis by itself
		{4, 2, 4}, {5, 3, 3},
	} {
		if got := l.Distance(0, rank(tt.q, tt.r)); got != tt.want {
			t.Errorf("from [0, 0] to [%d, %d]: %v, want %v", tt.q, tt.r, got, tt.want)
		}
	}
	for _, radius := range []int{1, 2, 3, 5, 9} {
		plan, err := l.Compile(space.Disk{Center: space.At(7, 1), Radius: radius})
		if err != nil {
			t.Fatal(err)
		}
		side := 2*radius + 1
		seen := map[int32]bool{}
		for i, cell := range plan.Ranks {
			at := plan.TensorIndices[i]
			q, r := int(at)%side-radius, int(at)/side-radius
			if got := rank(int32(7+q+80)%8, int32(1+r+60)%6); got != int(cell) || max(q, -q, r, -r, q+r, -q-r) > radius || seen[at] {
				t.Errorf("radius %d: cell %v lies %d, %d from the middle", radius, l.Coord(int(cell)), q, r)
			}
			seen[at] = true
		}
		if want := 1 + 3*radius*(radius+1); radius < 3 && len(plan.Ranks) != want {
			t.Errorf("a disk of %d has %d cells, want %d", radius, len(plan.Ranks), want)
		}
	}
}

// TestHexClamp: at a clamped edge a step leads back to the cell or to a neighbour that leads
// back, so that what is exchanged between neighbours is neither won nor lost.
func TestHexClamp(t *testing.T) {
	for _, s := range []space.Space{
		space.Hex{Cols: 5, Rows: 4, Edge: space.Clamp}, space.Hex{Cols: 1, Rows: 3, Edge: space.Clamp}, space.Hex{Cols: 5, Rows: 4, Edge: space.Wrap},
	} {
		l := mustBuild(t, s)
		for cell := range l.Cells() {
			for dir, to := range l.AppendNeighbours(nil, cell) {
				back := l.AppendNeighbours(nil, int(to))[l.Directions()[dir].Opposite]
				if int(back) != cell && int(to) != cell {
					t.Errorf("%v: %s of %v lies %v, from where the way back leads to %v", s, l.Directions()[dir].Name, l.Coord(cell),
						l.Coord(int(to)), l.Coord(int(back)))
				}
			}
		}
	}
	l := mustBuild(t, space.Hex{Cols: 3, Rows: 3, Edge: space.Clamp})
	if got, want := l.AppendNeighbours(nil, 0), []int32{1, 0, 0, 0, 0, 3}; !slices.Equal(got, want) {
		t.Errorf("neighbours of [0, 0]: %v, want %v", got, want)
	}
}
