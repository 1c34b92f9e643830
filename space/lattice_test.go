package space_test

import (
	"math"
	"sync"
	"testing"

	"github.com/murksim/murksim/space"
)

func mustBuild(tb testing.TB, s space.Space) *space.Lattice {
	tb.Helper()
	l, err := s.Build()
	if err != nil {
		tb.Fatal(err)
	}
	return l
}

// The engine counts on few and long runs: one span a row inside a square4, edge columns
// merged, and no runs of one to three cells where an inner dimension is narrow.
func TestRunsAreLong(t *testing.T) {
	for _, tt := range []struct {
		space space.Space
		most  int // spans
	}{
		{space.Square4{Rows: 1000, Cols: 1000}, 998 + 2*18 + 2 + 4},
		{space.Square4{Rows: 1 << 20, Cols: 3}, 3*(1<<20*3/16384+1) + 6},
		{space.Square4{Rows: 1, Cols: 1 << 20, Edge: space.Wrap}, 3},
		{space.Line{Length: 1 << 30}, 3},
		{space.Product{space.Line{Length: 100000}, space.Line{Length: 3}}, 3*19 + 6},
		{space.Product{space.Ring{Length: 1000}, space.Ring{Length: 2}}, 2 + 4},
		{space.Product{space.Line{Length: 1}, space.Ring{Length: 1000}, space.Line{Length: 1}}, 3},
		{space.Product{space.Square4{Rows: 500, Cols: 500, Edge: space.Wrap}, space.Line{Length: 2}}, 2 * (498 + 2*9 + 2 + 4)},
		{space.FCC12{W: 128, H: 128, D: 128}, 128*128 + 1000},
		{space.FCC12{W: 4, H: 512, D: 512}, 512 * 512 * 4 / 2 / 200},
	} {
		if got := len(mustBuild(t, tt.space).Spans()); got > tt.most {
			t.Errorf("%v: %d spans, want at most %d", tt.space, got, tt.most)
		}
	}
}

func TestNothingIsAllocated(t *testing.T) {
	l := mustBuild(t, space.Product{space.Hex{Cols: 40, Rows: 30}, space.FCC12{W: 6, H: 6, D: 6, Edge: space.Wrap}})
	spans := make([]space.Span, 0, len(l.Spans()))
	ranks := make([]int32, 0, l.MaxDegree())
	allocs := testing.AllocsPerRun(20, func() {
		spans = l.SpansIn(spans[:0], l.Cells()/3, l.Cells()/2)
		ranks = l.AppendNeighbours(ranks[:0], l.Cells()/2)
		if rank, ok := l.Rank(l.Coord(int(ranks[0]))); !ok || rank != int(ranks[0]) {
			t.Errorf("Rank(Coord(%d)) = %d, %v", ranks[0], rank, ok)
		}
	})
	if allocs != 0 {
		t.Errorf("%v allocations, want none", allocs)
	}
}

func TestConcurrentUse(t *testing.T) {
	l := mustBuild(t, space.Square8{Rows: 60, Cols: 70, Edge: space.Wrap})
	const workers = 8
	var counts [workers]int
	var wg sync.WaitGroup
	for w := range workers {
		wg.Go(func() {
			for _, s := range l.SpansIn(nil, w*l.Cells()/workers, (w+1)*l.Cells()/workers) {
				counts[w] += s.Count * len(s.Pattern.Offsets)
			}
		})
	}
	wg.Wait()
	sum := 0
	for _, n := range counts {
		sum += n
	}
	if want := 8 * l.Cells(); sum != want {
		t.Errorf("workers counted %d neighbours, want %d", sum, want)
	}
}

func TestDirections(t *testing.T) {
	l := mustBuild(t, space.Product{space.Line{Length: 4}, space.Hex{Cols: 3, Rows: 3}})
	dirs := l.Directions()
	if len(dirs) != 8 {
		t.Fatalf("%d directions, want 8", len(dirs))
	}
	for i, want := range map[int]space.Direction{
		0: {Name: "previous", Part: 0, Step: space.At(-1, 0, 0), Opposite: 1, Way: [3]float64{-1}, Length: 1, Face: 1},
		3: {Name: "northeast", Part: 1, Axis: 1, Step: space.At(0, 1, -1), Opposite: 6,
			Way: [3]float64{0.5, -math.Sqrt(3) / 2}, Length: 1, Face: 2.0 / 3},
	} {
		if dirs[i] != want {
			t.Errorf("direction %d = %+v, want %+v", i, dirs[i], want)
		}
	}
	axes := l.Axes()
	if len(axes) != 3 || axes[0] != (space.Axis{Name: "i", Extent: 4}) || axes[2] != (space.Axis{Name: "r", Extent: 3}) {
		t.Errorf("Axes = %+v", axes)
	}
}

// TestCellsWithoutNeighbours: a space may have cells with no neighbour at all, as SCENARIO.md says.
func TestCellsWithoutNeighbours(t *testing.T) {
	for _, s := range []space.Space{
		space.FCC12{W: 1, H: 1, D: 1}, space.FCC12{W: 1, H: 1, D: 5}, space.FCC12{W: 7, H: 1, D: 1, Edge: space.Clamp},
		space.Line{Length: 1}, space.Square4{Rows: 1, Cols: 1}, space.Square8{Rows: 1, Cols: 1}, space.Hex{Cols: 1, Rows: 1},
	} {
		l, err := s.Build()
		if err != nil {
			t.Fatal(err)
		}
		for rank := range l.Cells() {
			if n := l.Degree(rank); n != 0 {
				t.Errorf("%v: cell %d has %d neighbours, want none", s, rank, n)
			}
		}
	}
}
