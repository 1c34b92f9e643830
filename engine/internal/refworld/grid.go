package refworld

import (
	"fmt"
	"slices"

	"github.com/murksim/murksim/space"
)

// A grid is a space as a list of its coordinates and a way to step between them.
type grid struct {
	cells []space.Coord       // in canonical order
	rank  map[space.Coord]int // where a coordinate stands in cells
	moves map[space.Coord][]Move
}

// A Move leads to a neighbour. Step is the change of the coordinate on the way
// there: one step even where an edge wraps, none along an axis that an edge clamps.
type Move struct {
	To   space.Coord
	Step space.Coord
	Dir  int // which of the space's directions, counted in contract order
}

func newGrid(s space.Space) *grid {
	g := &grid{rank: map[space.Coord]int{}, moves: map[space.Coord][]Move{}}
	for i, c := range coords(s) {
		at := space.At(c...)
		g.cells = append(g.cells, at)
		g.rank[at] = i
		for _, m := range moves(s, c) {
			g.moves[at] = append(g.moves[at], Move{space.At(m.to...), space.At(m.step...), m.dir})
		}
	}
	return g
}

// A move is a Move of bare components.
type move struct {
	to, step []int32
	dir      int
}

// coords lists the coordinates of a space in canonical order.
func coords(s space.Space) (all [][]int32) {
	switch s := s.(type) {
	case space.Line:
		return box(s.Length)
	case space.Ring:
		return box(s.Length)
	case space.Square4:
		return box(s.Rows, s.Cols)
	case space.Square8:
		return box(s.Rows, s.Cols)
	case space.Hex: // r is the slower axis, q comes first
		for _, c := range box(s.Rows, s.Cols) {
			all = append(all, []int32{c[1], c[0]})
		}
	case space.FCC12: // z is the slowest axis, x comes first
		for _, c := range box(s.D, s.H, s.W) {
			if (c[0]+c[1]+c[2])%2 == 0 {
				all = append(all, []int32{c[2], c[1], c[0]})
			}
		}
	case space.Product:
		all = [][]int32{{}}
		for _, part := range s {
			var longer [][]int32
			for _, c := range all {
				for _, d := range coords(part) {
					longer = append(longer, slices.Concat(c, d))
				}
			}
			all = longer
		}
	default:
		panic(fmt.Sprintf("refworld: a space of the kind %T", s))
	}
	return all
}

// box lists all vectors below sizes, the last component fastest.
func box(sizes ...int) [][]int32 {
	all := [][]int32{{}}
	for _, n := range sizes {
		var longer [][]int32
		for _, c := range all {
			for v := range n {
				longer = append(longer, append(slices.Clone(c), int32(v)))
			}
		}
		all = longer
	}
	return all
}

var (
	lineSteps   = [][]int32{{-1}, {1}}
	squareSteps = [][]int32{{-1, 0}, {1, 0}, {0, -1}, {0, 1}, {-1, -1}, {-1, 1}, {1, -1}, {1, 1}}
	hexSteps    = [][]int32{{1, 0}, {1, -1}, {0, -1}, {-1, 0}, {-1, 1}, {0, 1}}
	fccSteps    = [][]int32{
		{1, 1, 0}, {-1, 1, 0}, {1, -1, 0}, {-1, -1, 0},
		{1, 0, 1}, {-1, 0, 1}, {1, 0, -1}, {-1, 0, -1},
		{0, 1, 1}, {0, -1, 1}, {0, 1, -1}, {0, -1, -1},
	}
)

// moves lists the ways from c in contract order.
func moves(s space.Space, c []int32) []move {
	switch s := s.(type) {
	case space.Line:
		return walk(c, lineSteps, s.Edge, s.Length)
	case space.Ring:
		return walk(c, lineSteps, space.Wrap, s.Length)
	case space.Square4:
		return walk(c, squareSteps[:4], s.Edge, s.Rows, s.Cols)
	case space.Square8:
		return walk(c, squareSteps, s.Edge, s.Rows, s.Cols)
	case space.Hex:
		return walk(c, hexSteps, space.Absorb, s.Cols, s.Rows)
	case space.FCC12:
		edge := s.Edge
		if edge == space.Clamp { // half a step would leave the lattice
			edge = space.Absorb
		}
		return walk(c, fccSteps, edge, s.W, s.H, s.D)
	case space.Product:
		return productMoves(s, c)
	}
	panic(fmt.Sprintf("refworld: a space of the kind %T", s))
}

// productMoves moves in one part at a time, part after part.
func productMoves(s space.Product, c []int32) (all []move) {
	first, dir := 0, 0
	for _, part := range s {
		n, directions := counts(part)
		before, own, after := c[:first], c[first:first+n], c[first+n:]
		for _, m := range moves(part, own) {
			all = append(all, move{
				to:   slices.Concat(before, m.to, after),
				step: slices.Concat(make([]int32, len(before)), m.step, make([]int32, len(after))),
				dir:  dir + m.dir,
			})
		}
		first += n
		dir += directions
	}
	return all
}

// walk takes each step from c that the edge lets pass.
func walk(c []int32, steps [][]int32, edge space.Edge, sizes ...int) (all []move) {
next:
	for dir, s := range steps {
		m := move{slices.Clone(c), slices.Clone(s), dir}
		for i, size := range sizes {
			last := int32(size - 1)
			m.to[i] += s[i]
			if m.to[i] >= 0 && m.to[i] <= last {
				continue
			}
			switch edge {
			case space.Absorb:
				continue next
			case space.Clamp:
				m.to[i], m.step[i] = c[i], 0
			case space.Wrap:
				m.to[i] = last - c[i] // c[i] is 0 or last
				if size == 1 {
					m.step[i] = 0
				}
			}
		}
		all = append(all, m)
	}
	return all
}

// counts are the components of a space's coordinates and its directions.
func counts(s space.Space) (components, directions int) {
	switch s := s.(type) {
	case space.Line, space.Ring:
		return 1, 2
	case space.Square4:
		return 2, 4
	case space.Square8:
		return 2, 8
	case space.Hex:
		return 2, 6
	case space.FCC12:
		return 3, 12
	case space.Product:
		for _, part := range s {
			c, d := counts(part)
			components, directions = components+c, directions+d
		}
		return components, directions
	}
	panic(fmt.Sprintf("refworld: a space of the kind %T", s))
}
