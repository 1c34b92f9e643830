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

// A lattice is a space that is no product, in plain lists.
type lattice struct {
	sizes []int // of the axes, in the order of the coordinate's components
	order []int // the axes from the slowest to the fastest in canonical order
	steps [][]int32
	edge  space.Edge
	keep  func(c []int32) bool // nil: all
	whole bool                 // an edge clamps whole steps, not an axis of them
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

// latticeOf restates each kind of space.
func latticeOf(s space.Space) lattice {
	switch s := s.(type) {
	case space.Line:
		return lattice{sizes: []int{s.Length}, order: []int{0}, steps: lineSteps, edge: s.Edge}
	case space.Ring:
		return lattice{sizes: []int{s.Length}, order: []int{0}, steps: lineSteps, edge: space.Wrap}
	case space.Square4:
		return lattice{sizes: []int{s.Rows, s.Cols}, order: []int{0, 1}, steps: squareSteps[:4], edge: s.Edge}
	case space.Square8:
		return lattice{sizes: []int{s.Rows, s.Cols}, order: []int{0, 1}, steps: squareSteps, edge: s.Edge}
	case space.Hex:
		return lattice{sizes: []int{s.Cols, s.Rows}, order: []int{1, 0}, steps: hexSteps, edge: s.Edge, whole: true}
	case space.FCC12:
		l := lattice{sizes: []int{s.W, s.H, s.D}, order: []int{2, 1, 0}, steps: fccSteps, edge: s.Edge}
		if s.Edge == space.Clamp { // half a step would leave the lattice
			l.edge = space.Absorb
		}
		l.keep = func(c []int32) bool { return (c[0]+c[1]+c[2])%2 == 0 }
		return l
	}
	panic(fmt.Sprintf("refworld: a space of the kind %T", s))
}

// coords lists the coordinates of a space in canonical order.
func coords(s space.Space) (all [][]int32) {
	if parts, ok := s.(space.Product); ok {
		all = [][]int32{{}}
		for _, part := range parts {
			var longer [][]int32
			for _, c := range all {
				for _, d := range coords(part) {
					longer = append(longer, slices.Concat(c, d))
				}
			}
			all = longer
		}
		return all
	}
	l := latticeOf(s)
	all = [][]int32{make([]int32, len(l.sizes))}
	for _, axis := range l.order {
		var more [][]int32
		for _, c := range all {
			for v := range l.sizes[axis] {
				d := slices.Clone(c)
				d[axis] = int32(v)
				more = append(more, d)
			}
		}
		all = more
	}
	if l.keep != nil {
		all = slices.DeleteFunc(all, func(c []int32) bool { return !l.keep(c) })
	}
	return all
}

// moves lists the ways from c in contract order.
func moves(s space.Space, c []int32) []move {
	if parts, ok := s.(space.Product); ok {
		return productMoves(parts, c)
	}
	l := latticeOf(s)
	return l.walk(c)
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
func (l *lattice) walk(c []int32) (all []move) {
next:
	for dir, s := range l.steps {
		m := move{slices.Clone(c), slices.Clone(s), dir}
		for i, size := range l.sizes {
			last := int32(size - 1)
			m.to[i] = c[i] + s[i]
			if m.to[i] >= 0 && m.to[i] <= last {
				continue
			}
			switch l.edge {
			case space.Absorb:
				continue next
			case space.Clamp:
				if l.whole {
					all = append(all, move{slices.Clone(c), make([]int32, len(c)), dir})
					continue next
				}
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

// counts returns the components of a space's coordinates and its directions.
func counts(s space.Space) (components, directions int) {
	if parts, ok := s.(space.Product); ok {
		for _, part := range parts {
			c, d := counts(part)
			components, directions = components+c, directions+d
		}
		return components, directions
	}
	l := latticeOf(s)
	return len(l.sizes), len(l.steps)
}
