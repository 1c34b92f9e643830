package space_test

import (
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/murksim/murksim/space"
)

// fixedSpaces are shapes that a random choice may miss: extents of one and two, all
// parities of an fcc12, runs long enough to be cut, nested products, all ten dimensions.
func fixedSpaces() []space.Space {
	all := []space.Space{
		space.Square4{Rows: 40, Cols: 37, Edge: space.Wrap},
		space.Square4{Rows: 900, Cols: 5},
		space.Product{space.Line{Length: 5000}, space.Line{Length: 3, Edge: space.Clamp}},
		space.Product{space.Ring{Length: 1500}, space.Ring{Length: 2}},
		space.Product{space.Square4{Rows: 40, Cols: 50, Edge: space.Wrap}, space.Line{Length: 2}},
		space.Product{space.Product{space.Product{space.Hex{Cols: 3, Rows: 4}}}, space.Product{space.Ring{Length: 3}}},
		space.Product{space.FCC12{W: 3, H: 2, D: 3}, space.FCC12{W: 2, H: 2, D: 2, Edge: space.Wrap}, space.Line{Length: 2}},
		space.Hex{Cols: 70, Rows: 3},
		space.Hex{Cols: 40, Rows: 37, Edge: space.Wrap},
		space.Hex{Cols: 5, Rows: 80, Edge: space.Wrap},
		space.Product{space.Hex{Cols: 7, Rows: 6, Edge: space.Wrap}, space.Hex{Cols: 4, Rows: 3, Edge: space.Clamp}},
		space.FCC12{W: 80, H: 4, D: 5},
		space.FCC12{W: 5, H: 90, D: 6},
	}
	var ten space.Product
	for i := range 10 {
		ten = append(ten, space.Line{Length: 2, Edge: space.Edge(i % 3)})
	}
	all = append(all, ten)
	for w := range 3 {
		for h := range 3 {
			for d := range 3 {
				all = append(all, space.FCC12{W: w + 1, H: h + 1, D: d + 1}, space.FCC12{W: w + 4, H: h + 4, D: d + 4, Edge: space.Clamp})
			}
		}
	}
	for _, e := range []space.Edge{space.Absorb, space.Clamp, space.Wrap} {
		for rows := 1; rows <= 4; rows++ {
			all = append(all, space.Line{Length: rows, Edge: e})
			for cols := 1; cols <= 4; cols++ {
				all = append(all, space.Square4{Rows: rows, Cols: cols, Edge: e}, space.Square8{Rows: rows, Cols: cols, Edge: e},
					space.Hex{Cols: cols, Rows: rows, Edge: e})
			}
		}
	}
	return all
}

// randomSpace returns a space of at most about limit cells.
func randomSpace(r *rand.Rand, depth, limit int) space.Space {
	edge := space.Edge(r.IntN(3))
	size := func(axes int) int {
		most := 1
		for pow(most+1, axes) <= limit && most < 60 {
			most++
		}
		if r.IntN(3) == 0 {
			return 1 + r.IntN(min(most, 3))
		}
		return 1 + r.IntN(most)
	}
	kinds := 7
	if depth == 0 {
		kinds = 6
	}
	switch r.IntN(kinds) {
	case 0:
		return space.Line{Length: size(1), Edge: edge}
	case 1:
		return space.Ring{Length: size(1)}
	case 2:
		return space.Square4{Rows: size(2), Cols: size(2), Edge: edge}
	case 3:
		return space.Square8{Rows: size(2), Cols: size(2), Edge: edge}
	case 4:
		return space.Hex{Cols: size(2), Rows: size(2), Edge: edge}
	case 5:
		s := space.FCC12{W: size(3), H: size(3), D: size(3), Edge: edge}
		if edge == space.Wrap {
			s.W, s.H, s.D = s.W+s.W%2, s.H+s.H%2, s.D+s.D%2
		}
		return s
	}
	var p space.Product
	for n := 1 + r.IntN(3); len(p) < n; {
		share := limit / 30
		if len(p) == 0 {
			share = limit / 10
		}
		p = append(p, randomSpace(r, depth-1, max(share, 2)))
	}
	return p
}

func pow(base, n int) int {
	p := 1
	for range n {
		p *= base
	}
	return p
}

func TestConformance(t *testing.T) {
	spaces := fixedSpaces()
	r := rand.New(rand.NewPCG(1, 2))
	for range 400 {
		spaces = append(spaces, randomSpace(r, 2, 900))
	}
	tried := 0
	for _, s := range spaces {
		l, err := s.Build()
		if err != nil { // only a random product can have too many dimensions
			if got := err.(*space.Error).Fault; got != space.ErrDimension {
				t.Errorf("%v: Build: %v", s, err)
			}
			continue
		}
		tried++
		n := naively(s)
		ranks := n.index()
		checkCells(t, l, n, ranks)
		checkSpans(t, l, n)
		checkSplits(t, l, r)
		checkBands(t, l, r)
		checkEstimate(t, l)
		checkBalls(t, l, n, ranks, r)
		checkDirections(t, l)
		checkLayout(t, l)
		checkRays(t, l, r)
		if t.Failed() {
			t.Fatalf("%v fails", s)
		}
	}
	t.Logf("%d spaces", tried)
	if tried < 400 {
		t.Errorf("only %d spaces could be built", tried)
	}
}

// checkCells compares ranks, coordinates, neighbours and degrees with the naive rules.
func checkCells(t *testing.T, l *space.Lattice, n naive, ranks map[space.Coord]int) {
	t.Helper()
	if l.Cells() != len(n.cells) || l.Dim() != len(n.cells[0]) || len(l.Axes()) != l.Dim() {
		t.Fatalf("%v: %d cells in %d dimensions, want %d in %d", l.Space(), l.Cells(), l.Dim(), len(n.cells), len(n.cells[0]))
	}
	most := 0
	for rank, c := range n.cells {
		want := space.At(c...)
		if got := l.Coord(rank); got != want {
			t.Fatalf("%v: Coord(%d) = %v, want %v", l.Space(), rank, got, want)
		}
		if got, ok := l.Rank(want); !ok || got != rank {
			t.Fatalf("%v: Rank(%v) = %d, %v, want %d", l.Space(), want, got, ok, rank)
		}
		var neighbours []int32
		for _, m := range n.moves(c) {
			neighbours = append(neighbours, int32(ranks[space.At(m.to...)]))
		}
		if got := l.AppendNeighbours(nil, rank); !slices.Equal(got, neighbours) {
			t.Fatalf("%v: neighbours of %v = %v, want %v", l.Space(), want, got, neighbours)
		}
		if got := l.Degree(rank); got != len(neighbours) || got > l.MaxDegree() {
			t.Fatalf("%v: Degree(%d) = %d, want %d, at most %d", l.Space(), rank, got, len(neighbours), l.MaxDegree())
		}
		most = max(most, len(neighbours))
		for axis := range c {
			for _, d := range []int32{-1, 1, int32(l.Axes()[axis].Extent)} {
				off := slices.Clone(c)
				off[axis] += d
				want, ok := ranks[space.At(off...)]
				if got, gotOK := l.Rank(space.At(off...)); gotOK != ok || ok && got != want {
					t.Fatalf("%v: Rank(%v) = %d, %v, want %d, %v", l.Space(), off, got, gotOK, want, ok)
				}
			}
		}
	}
	if !hasFCC(l.Space()) && most != l.MaxDegree() {
		t.Errorf("%v: MaxDegree = %d, want %d", l.Space(), l.MaxDegree(), most)
	}
}

func hasFCC(s space.Space) bool {
	if p, ok := s.(space.Product); ok {
		return slices.ContainsFunc(p, hasFCC)
	}
	_, ok := s.(space.FCC12)
	return ok
}

// checkSpans checks that the spans cover every cell once and tell its neighbours, directions,
// steps and jumps as the naive rules do.
func checkSpans(t *testing.T, l *space.Lattice, n naive) {
	t.Helper()
	covered := make([]int, l.Cells())
	dirs := l.Directions()
	last := -1
	var want []int32
	for _, s := range l.Spans() {
		if s.Count < 1 || s.Stride < 1 || s.First <= last || l.Patterns()[s.Pattern.ID] != s.Pattern {
			t.Fatalf("%v: bad span %+v", l.Space(), s)
		}
		last = s.First
		for k := range s.Count {
			rank := s.First + k*s.Stride
			covered[rank]++
			want = l.AppendNeighbours(want[:0], rank)
			here := n.cells[rank]
			moves := n.moves(here)
			p := s.Pattern
			if len(p.Offsets) != len(want) || len(p.Dirs) != len(want) || len(p.Deltas) != len(want) || len(p.Jumps) != len(want) {
				t.Fatalf("%v: pattern %d has %d offsets, want %d", l.Space(), p.ID, len(p.Offsets), len(want))
			}
			for i, to := range want {
				if got := rank + p.Offsets[i]; got != int(to) {
					t.Fatalf("%v: neighbour %d of %d = %d, want %d", l.Space(), i, rank, got, to)
				}
				for a := range here {
					step, jump, dir := p.Deltas[i].At(a), p.Jumps[i].At(a), dirs[p.Dirs[i]].Step.At(a)
					if step != moves[i].step[a] || jump != moves[i].to[a]-here[a] || step != 0 && step != dir {
						t.Fatalf("%v: neighbour %d of %v: step %v, jump %v, direction %v; want %v, to %v", l.Space(), i, here,
							p.Deltas[i], p.Jumps[i], dirs[p.Dirs[i]], moves[i].step, moves[i].to)
					}
				}
				if i > 0 && p.Dirs[i] <= p.Dirs[i-1] {
					t.Fatalf("%v: directions %v are not ascending", l.Space(), p.Dirs)
				}
			}
		}
	}
	for rank, times := range covered {
		if times != 1 {
			t.Fatalf("%v: cell %d is in %d spans", l.Space(), rank, times)
		}
	}
}

// checkSplits checks that random splits of the ranks split the spans.
func checkSplits(t *testing.T, l *space.Lattice, r *rand.Rand) {
	t.Helper()
	for range 3 {
		cuts := []int{0, l.Cells()}
		for range r.IntN(6) {
			cuts = append(cuts, r.IntN(l.Cells()+1))
		}
		slices.Sort(cuts)
		pattern := make([]*space.Pattern, l.Cells())
		for i := range len(cuts) - 1 {
			for _, s := range l.SpansIn(nil, cuts[i], cuts[i+1]) {
				for k := range s.Count {
					rank := s.First + k*s.Stride
					if rank < cuts[i] || rank >= cuts[i+1] || pattern[rank] != nil {
						t.Fatalf("%v: SpansIn(%d, %d) has cell %d wrongly or twice", l.Space(), cuts[i], cuts[i+1], rank)
					}
					pattern[rank] = s.Pattern
				}
			}
		}
		for _, s := range l.Spans() {
			for k := range s.Count {
				if got := pattern[s.First+k*s.Stride]; got != s.Pattern {
					t.Fatalf("%v: cuts %v: pattern of cell %d = %v, want %d", l.Space(), cuts, s.First+k*s.Stride, got, s.Pattern.ID)
				}
			}
		}
	}
}

// checkEstimate compares the estimate with the sizes of what was made.
func checkEstimate(t *testing.T, l *space.Lattice) {
	t.Helper()
	cells, bytes, err := space.Estimate(l.Space())
	if err != nil || cells != uint64(l.Cells()) {
		t.Fatalf("%v: Estimate = %d cells, error %v, want %d", l.Space(), cells, err, l.Cells())
	}
	real := uintptr(cap(l.Spans())) * reflect.TypeFor[space.Span]().Size()
	coord := reflect.TypeFor[space.Coord]().Size()
	for _, p := range l.Patterns() {
		real += reflect.TypeFor[space.Pattern]().Size() + 8 + 8*uintptr(cap(p.Offsets)) + uintptr(cap(p.Dirs)) +
			coord*uintptr(cap(p.Deltas)+cap(p.Jumps))
	}
	if bytes < uint64(real) {
		t.Errorf("%v: Estimate = %d bytes, want at least %d", l.Space(), bytes, real)
	}
}

// checkBalls compares disks with a plain breadth-first search.
func checkBalls(t *testing.T, l *space.Lattice, n naive, ranks map[space.Coord]int, r *rand.Rand) {
	t.Helper()
	for _, radius := range []int{0, 1, r.IntN(5), 40} {
		center := r.IntN(l.Cells())
		plan, err := l.Compile(space.Disk{Center: l.Coord(center), Radius: radius})
		if err != nil {
			t.Fatalf("%v: %v", l.Space(), err)
		}
		if want := n.ball(ranks, center, radius); !slices.Equal(plan.Ranks, want) {
			t.Fatalf("%v: disk of %d around %d = %v, want %v", l.Space(), radius, center, plan.Ranks, want)
		}
		for rank := 0; rank < l.Cells() && !hasFCC(l.Space()); rank++ {
			_, in := slices.BinarySearch(plan.Ranks, int32(rank))
			if d := l.Distance(center, rank); d != l.Distance(rank, center) || in != (d <= float64(radius)) {
				t.Fatalf("%v: Distance(%d, %d) = %v, but in the disk of %d: %v", l.Space(), center, rank, d, radius, in)
			}
		}
		valid := 0
		for _, ok := range plan.ValidMask {
			if ok {
				valid++
			}
		}
		if valid != len(plan.Ranks) || len(plan.TensorIndices) != len(plan.Ranks) {
			t.Fatalf("%v: disk of %d: %d valid elements and %d indices for %d cells", l.Space(), radius, valid, len(plan.TensorIndices), len(plan.Ranks))
		}
	}
}
