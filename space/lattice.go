package space

import (
	"fmt"
	"sync"
)

// A Lattice is a space made ready for use. It is immutable and safe for concurrent use.
// Ranks given to its methods must be in [0, Cells()); the methods panic otherwise.
type Lattice struct {
	space      Space
	parts      []part
	cells      int
	dim        int
	maxDegree  int
	directions []Direction
	plane      plane

	//detcheck:allow goroutine a lattice may be shared by worlds; what is made depends on it alone
	once     sync.Once // guards the fields below, which are made at first use
	spans    []Span    // ascending by First
	patterns []*Pattern
	reach    int // the greatest distance in ranks from a span's first cell to its last
}

// build checks the space as a whole and lays out its parts.
func build(s Space) (*Lattice, error) {
	parts, err := s.appendParts(nil, "", 0)
	if err != nil {
		return nil, err
	}
	l := &Lattice{space: s, parts: parts, cells: 1}
	for i := len(parts) - 1; i >= 0; i-- {
		p := &parts[i]
		p.inner = l.cells
		n := uint64(l.cells) * uint64(p.cells)
		if n > maxCells {
			return nil, &Error{Fault: ErrCells, Where: "product", Detail: fmt.Sprintf("has more than %d cells", maxCells)}
		}
		l.cells = int(n)
	}
	dir := 0
	for i := range parts {
		p := &parts[i]
		p.axis, p.dir = l.dim, dir
		l.dim += p.dim()
		dir += len(p.kind.steps)
		l.maxDegree += p.maxDegree()
	}
	l.directions = make([]Direction, 0, dir)
	for i := range parts {
		l.addDirections(i)
	}
	if p := &parts[0]; len(parts) == 1 && l.dim == 2 && p.kind.cells == nil {
		l.plane = plane{[2]uint32{uint32(p.ext[0]), uint32(p.ext[1])}, [2]int{p.stride[0], p.stride[1]}}
	}
	return l, nil
}

// A plane holds the extents of a lattice with two axes, and how far cells are apart in rank
// along each. For other lattices it is empty.
type plane struct {
	extent [2]uint32
	stride [2]int
}

// Space returns the description that the lattice was built from.
func (l *Lattice) Space() Space { return l.space }

// Kind returns the kind's name, such as "hex", or "product". It is for messages only; use
// Directions and Layout to find out about a lattice.
func (l *Lattice) Kind() string {
	if k := l.space.Kind(); k != nil {
		return k.Name
	}
	return "product"
}

// Dim returns the number of components that a coordinate has here.
func (l *Lattice) Dim() int { return l.dim }

// Cells returns the number of cells.
func (l *Lattice) Cells() int { return l.cells }

// MaxDegree returns the most neighbours a cell can have. For an fcc12 that is always
// twelve and for a product the sum over its parts, even where a small lattice has
// no such cell; elsewhere some cell has exactly that many.
func (l *Lattice) MaxDegree() int { return l.maxDegree }

// An Axis is one component of a lattice's coordinates.
type Axis struct {
	Name   string // "row", "q", "x", …
	Extent int    // the component is in [0, Extent)
	Edge   Edge
}

// Axes returns the axes in the order of the coordinate's components.
func (l *Lattice) Axes() []Axis {
	axes := make([]Axis, 0, l.dim)
	for i := range l.parts {
		p := &l.parts[i]
		for k := range p.kind.Sizes {
			axes = append(axes, Axis{p.kind.Sizes[k].axis, int(p.ext[k]), p.edge})
		}
	}
	return axes
}

// widen returns a step within one part as a step of the whole coordinate.
func (l *Lattice) widen(p *part, step [3]int32) Coord {
	c := Coord{n: uint8(l.dim)}
	copy(c.c[p.axis:], step[:p.dim()])
	return c
}

func (l *Lattice) check(rank int) {
	if uint(rank) >= uint(l.cells) {
		panic(fmt.Sprintf("space: rank %d is not in [0, %d)", rank, l.cells))
	}
}

// Coord returns the coordinate of a cell.
func (l *Lattice) Coord(rank int) Coord {
	l.check(rank)
	c := Coord{n: uint8(l.dim)}
	for i := range l.parts {
		p := &l.parts[i]
		own := p.coord(rank / p.inner % p.cells)
		copy(c.c[p.axis:], own[:p.dim()])
	}
	return c
}

// Rank returns the rank of the cell at c, or false if c is not a coordinate of this space:
// outside it, of another dimension, or, in an fcc12, with an odd sum.
func (l *Lattice) Rank(c Coord) (rank int, ok bool) { return l.RankOf(&c) }

// RankOf is [Lattice.Rank] without copying the coordinate.
func (l *Lattice) RankOf(c *Coord) (rank int, ok bool) {
	i, j := uint32(c.c[0]), uint32(c.c[1])
	if c.n == 2 && i < l.plane.extent[0] && j < l.plane.extent[1] { // the most common
		return int(i)*l.plane.stride[0] + int(j)*l.plane.stride[1], true
	}
	return l.rank(c)
}

// rank does what RankOf does, for any lattice.
func (l *Lattice) rank(c *Coord) (rank int, ok bool) {
	if int(c.n) != l.dim {
		return 0, false
	}
	for i := range l.parts {
		p := &l.parts[i]
		own := p.of(c)
		if !p.contains(own) {
			return 0, false
		}
		rank += p.rank(own) * p.inner
	}
	return rank, true
}

// of returns the part's own components of a lattice coordinate.
func (p *part) of(c *Coord) (own [3]int32) {
	copy(own[:p.dim()], c.c[p.axis:])
	return own
}

// AppendNeighbours appends the ranks of a cell's neighbours to dst, in contract order.
// A cell may occur more than once (both ways around a ring of two) and may be its own
// neighbour (at a clamped edge, or around a wrapped axis of extent one).
func (l *Lattice) AppendNeighbours(dst []int32, rank int) []int32 {
	l.check(rank)
	for i := range l.parts {
		p := &l.parts[i]
		own := rank / p.inner % p.cells
		c := p.coord(own)
		for k := range p.kind.steps {
			if to, _, ok := p.step(c, p.kind.steps[k].by); ok {
				dst = append(dst, int32(rank+(p.rank(to)-own)*p.inner))
			}
		}
	}
	return dst
}

// Degree returns the number of neighbours that AppendNeighbours lists for a cell.
func (l *Lattice) Degree(rank int) (n int) {
	l.check(rank)
	for i := range l.parts {
		p := &l.parts[i]
		n += p.degree(p.coord(rank / p.inner % p.cells))
	}
	return n
}

// Distance returns the distance of two cells by the closed form of the kind: Manhattan
// for line, ring and square4, Chebyshev for square8, the axial distance for hex,
// max(dx, dy, dz, (dx+dy+dz)/2) for fcc12, and the sum over the parts for a product;
// around the edge where it wraps and that is shorter. It is the number of steps between
// them, except that on an fcc12 too flat to move in, more steps may be needed.
func (l *Lattice) Distance(a, b int) float64 {
	l.check(a)
	l.check(b)
	sum := int64(0)
	for i := range l.parts {
		p := &l.parts[i]
		sum += p.between(p.coord(a/p.inner%p.cells), p.coord(b/p.inner%p.cells))
	}
	return float64(sum)
}
