package space_test

import (
	"slices"
	"testing"

	"github.com/murksim/murksim/space"
)

// A disk that is a large part of a large lattice has the cells that a search by steps finds.
func TestLargeDisk(t *testing.T) {
	for _, s := range []space.Space{
		space.Square4{Rows: 150, Cols: 170, Edge: space.Absorb},
		space.Square8{Rows: 150, Cols: 170, Edge: space.Wrap},
		space.Hex{Cols: 160, Rows: 140, Edge: space.Clamp},
		space.FCC12{W: 40, H: 41, D: 42, Edge: space.Absorb},
		space.Product{space.Square4{Rows: 30, Cols: 31, Edge: space.Clamp}, space.Ring{Length: 33}},
		space.Line{Length: 40000},
	} {
		l, err := s.Build()
		if err != nil {
			t.Fatal(err)
		}
		for _, center := range []int{0, l.Cells() / 3, l.Cells() - 1} {
			for _, radius := range []int{9, 60, 1 << 14} {
				if _, boxed := s.(space.Hex); boxed && radius > 1000 {
					continue
				}
				p, err := l.Compile(space.Disk{Center: l.Coord(center), Radius: radius})
				if err != nil {
					t.Fatal(err)
				}
				if want := within(l, center, radius); !slices.Equal(p.Ranks, want) {
					t.Errorf("%v: the disk of radius %d around %v has %d cells, want %d", s, radius, l.Coord(center), len(p.Ranks), len(want))
				}
			}
		}
	}
}

// within lists the cells that at most some steps lead to, ascending.
func within(l *space.Lattice, center, radius int) (ranks []int32) {
	steps := make([]int, l.Cells()) // plus 1
	steps[center] = 1
	queue := []int32{int32(center)}
	for len(queue) > 0 && steps[queue[0]] <= radius {
		for _, at := range l.AppendNeighbours(nil, int(queue[0])) {
			if steps[at] == 0 {
				steps[at] = steps[queue[0]] + 1
				queue = append(queue, at)
			}
		}
		queue = queue[1:]
	}
	for rank, n := range steps {
		if n > 0 {
			ranks = append(ranks, int32(rank))
		}
	}
	return ranks
}
