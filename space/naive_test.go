package space_test

import (
	"slices"

	"github.com/murksim/murksim/space"
)

// This file restates the rules of every kind cell by cell, as plainly as possible and
// sharing nothing with the package: the conformance suite compares the two.

// A naive is a space as lists of coordinates.
type naive struct {
	cells [][]int32
	moves func(c []int32) []move // in contract order
}

// A move leads to a neighbour. Step is what it changes on the short way round.
type move struct{ to, step []int32 }

// shift moves v by d on an axis of n positions.
func shift(v, d int32, n int, e space.Edge) (to, step int32, ok bool) {
	to = v + d
	switch {
	case to >= 0 && to < int32(n):
		return to, d, true
	case e == space.Absorb:
		return 0, 0, false
	case e == space.Clamp || n == 1:
		return v, 0, true
	case to < 0:
		return int32(n - 1), d, true
	default:
		return 0, d, true
	}
}

// grid makes a naive of the coordinates below sizes that keep accepts. Axes are listed
// from the slowest to the fastest.
func grid(sizes, axes []int, e space.Edge, keep func([]int32) bool, steps ...[]int32) naive {
	var cells [][]int32
	var fill func(c []int32, i int)
	fill = func(c []int32, i int) {
		if i == len(axes) {
			if keep == nil || keep(c) {
				cells = append(cells, slices.Clone(c))
			}
			return
		}
		for v := range sizes[axes[i]] {
			c[axes[i]] = int32(v)
			fill(c, i+1)
		}
	}
	fill(make([]int32, len(sizes)), 0)
	moves := func(c []int32) (ms []move) {
	next:
		for _, s := range steps {
			m := move{make([]int32, len(c)), make([]int32, len(c))}
			for i := range c {
				if s[i] == 0 {
					m.to[i] = c[i]
					continue
				}
				var ok bool
				if m.to[i], m.step[i], ok = shift(c[i], s[i], sizes[i], e); !ok {
					continue next
				}
			}
			ms = append(ms, m)
		}
		return ms
	}
	return naive{cells, moves}
}

func naively(s space.Space) naive {
	switch s := s.(type) {
	case space.Line:
		return grid([]int{s.Length}, []int{0}, s.Edge, nil, []int32{-1}, []int32{1})
	case space.Ring:
		return grid([]int{s.Length}, []int{0}, space.Wrap, nil, []int32{-1}, []int32{1})
	case space.Square4:
		return grid([]int{s.Rows, s.Cols}, []int{0, 1}, s.Edge, nil,
			[]int32{-1, 0}, []int32{1, 0}, []int32{0, -1}, []int32{0, 1})
	case space.Square8:
		return grid([]int{s.Rows, s.Cols}, []int{0, 1}, s.Edge, nil,
			[]int32{-1, 0}, []int32{1, 0}, []int32{0, -1}, []int32{0, 1},
			[]int32{-1, -1}, []int32{-1, 1}, []int32{1, -1}, []int32{1, 1})
	case space.Hex:
		n := grid([]int{s.Cols, s.Rows}, []int{1, 0}, s.Edge, nil,
			[]int32{1, 0}, []int32{1, -1}, []int32{0, -1}, []int32{-1, 0}, []int32{-1, 1}, []int32{0, 1})
		if s.Edge == space.Clamp {
			n.moves = inside(n.moves)
		}
		return n
	case space.FCC12:
		e := s.Edge
		if e == space.Clamp {
			e = space.Absorb
		}
		even := func(c []int32) bool { return (c[0]+c[1]+c[2])%2 == 0 }
		var steps [][]int32
		for _, axes := range [][2]int{{0, 1}, {0, 2}, {1, 2}} {
			for _, signs := range [][2]int32{{1, 1}, {-1, 1}, {1, -1}, {-1, -1}} {
				step := make([]int32, 3)
				step[axes[0]], step[axes[1]] = signs[0], signs[1]
				steps = append(steps, step)
			}
		}
		return grid([]int{s.W, s.H, s.D}, []int{2, 1, 0}, e, even, steps...)
	case space.Product:
		all := naively(s[0])
		for _, p := range s[1:] {
			all = cross(all, naively(p))
		}
		return all
	}
	panic("unknown kind of space")
}

// inside turns every move that an edge clamps on some axis into none at all: of hexes a
// step must not become another.
func inside(moves func([]int32) []move) func([]int32) []move {
	steps := [][]int32{{1, 0}, {1, -1}, {0, -1}, {-1, 0}, {-1, 1}, {0, 1}}
	return func(c []int32) []move {
		all := moves(c)
		for i := range all {
			if !slices.Equal(all[i].step, steps[i]) {
				all[i] = move{slices.Clone(c), make([]int32, len(c))}
			}
		}
		return all
	}
}

// cross is the product of two spaces: every pair of cells, neighbours differ in one.
func cross(a, b naive) naive {
	dimA := len(a.cells[0])
	var cells [][]int32
	for _, ca := range a.cells {
		for _, cb := range b.cells {
			cells = append(cells, slices.Concat(ca, cb))
		}
	}
	return naive{cells, func(c []int32) (ms []move) {
		ca, cb := c[:dimA], c[dimA:]
		for _, m := range a.moves(ca) {
			ms = append(ms, move{slices.Concat(m.to, cb), slices.Concat(m.step, make([]int32, len(cb)))})
		}
		for _, m := range b.moves(cb) {
			ms = append(ms, move{slices.Concat(ca, m.to), slices.Concat(make([]int32, len(ca)), m.step)})
		}
		return ms
	}}
}

// index gives the rank of every cell.
func (n naive) index() map[space.Coord]int {
	ranks := make(map[space.Coord]int, len(n.cells))
	for i, c := range n.cells {
		ranks[space.At(c...)] = i
	}
	return ranks
}

// ball returns the ranks at most radius steps from a cell, ascending.
func (n naive) ball(ranks map[space.Coord]int, center, radius int) []int32 {
	seen := make([]bool, len(n.cells))
	seen[center] = true
	front := []int{center}
	for range radius {
		var next []int
		for _, rank := range front {
			for _, m := range n.moves(n.cells[rank]) {
				if to := ranks[space.At(m.to...)]; !seen[to] {
					seen[to] = true
					next = append(next, to)
				}
			}
		}
		front = next
	}
	var out []int32
	for rank, in := range seen {
		if in {
			out = append(out, int32(rank))
		}
	}
	return out
}
