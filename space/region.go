package space

import (
	"fmt"
	"math"
	"slices"
)

// A Region selects cells of a lattice. The kinds are [All], [Disk], [Neighbours], [Rect] and
// [Cells]; there can be no others.
type Region interface {
	compile(l *Lattice) (*Plan, error)
}

// All is every cell.
type All struct{}

// A Disk is the cells at most Radius steps from Center, where a step leads to a neighbour.
type Disk struct {
	Center Coord
	Radius int
}

// Neighbours is the cells at most Depth steps from Center: with Depth 1 the cell and its
// neighbours.
type Neighbours struct {
	Center Coord
	Depth  int
}

// A Rect is the cells whose coordinates lie between Min and Max on every axis, both included.
// Both must be cells of the space.
type Rect struct{ Min, Max Coord }

// Cells is the cells listed. Order and repetitions do not matter.
type Cells []Coord

// A Plan is a region of one lattice laid out as a dense tensor.
type Plan struct {
	Ranks         []int32 // the cells, ascending
	TensorIndices []int32 // index of each cell in the tensor
	ValidMask     []bool  // for every element of the tensor, whether it holds a cell
	BoundingShape []int   // the tensor's extents, outermost first
}

// Compile lays a region out as a tensor. An error is an [*Error] that names the argument.
//
// All and Rect give a tensor with an axis per dimension in canonical order (rows before
// columns; an fcc12 has one axis for all its cells). The others give a flat list, except that
// a disk on a hex lattice lies in the middle of a box of 2·Radius+1 rows and columns, which
// may extend beyond the lattice.
func (l *Lattice) Compile(r Region) (*Plan, error) {
	if r == nil {
		return nil, &Error{Fault: ErrEmpty, Where: "region", Detail: "is nil"}
	}
	return r.compile(l)
}

func (All) compile(l *Lattice) (*Plan, error) {
	ranks := make([]int32, l.cells)
	for i := range ranks {
		ranks[i] = int32(i)
	}
	var shape []int
	for i := range l.parts {
		p := &l.parts[i]
		var last [3]int32
		for k, e := range p.ext[:p.dim()] {
			last[k] = e - 1
		}
		shape = p.appendShape(shape, [3]int32{}, last, p.cells)
	}
	return packed(ranks, shape), nil
}

func (d Disk) compile(l *Lattice) (*Plan, error) {
	return l.disk("disk", "radius", d.Center, d.Radius)
}

func (n Neighbours) compile(l *Lattice) (*Plan, error) {
	return l.disk("neighbours", "depth", n.Center, n.Depth)
}

func (cells Cells) compile(l *Lattice) (*Plan, error) {
	ranks := make([]int32, 0, len(cells))
	for i, c := range cells {
		rank, err := l.cell("cells", fmt.Sprintf("coordinate %d:", i), c)
		if err != nil {
			return nil, err
		}
		ranks = append(ranks, int32(rank))
	}
	slices.Sort(ranks)
	ranks = slices.Compact(ranks)
	return packed(ranks, []int{len(ranks)}), nil
}

func (r Rect) compile(l *Lattice) (*Plan, error) {
	if _, err := l.cell("rect", "min", r.Min); err != nil {
		return nil, err
	}
	if _, err := l.cell("rect", "max", r.Max); err != nil {
		return nil, err
	}
	ranks, shape := []int32{0}, []int(nil)
	for i := range l.parts {
		p := &l.parts[i]
		lo, hi := p.of(&r.Min), p.of(&r.Max)
		for k := range p.kind.Sizes {
			if lo[k] > hi[k] {
				return nil, &Error{Fault: ErrOrder, Where: "rect", Arg: "min",
					Detail: fmt.Sprintf("%v is above max %v on axis %d (%s)", r.Min, r.Max, p.axis+k, p.kind.Sizes[k].axis)}
			}
		}
		own := p.box(lo, hi)
		next := make([]int32, 0, len(ranks)*len(own))
		for _, outer := range ranks {
			for _, v := range own {
				next = append(next, outer*int32(p.cells)+v)
			}
		}
		ranks = next
		shape = p.appendShape(shape, lo, hi, len(own))
	}
	return packed(ranks, shape), nil
}

// box returns the part's cells between lo and hi, ascending.
func (p *part) box(lo, hi [3]int32) []int32 {
	var ranks []int32
	a, b, c := 0, 1, 2 // from the outermost axis to the innermost; those that are not there have one place
	if p.kind.firstFast {
		a, c = c, a
	}
	for z := int64(lo[a]); z <= int64(hi[a]); z++ {
		for y := int64(lo[b]); y <= int64(hi[b]); y++ {
			for x := int64(lo[c]); x <= int64(hi[c]); x++ {
				var at [3]int32
				at[a], at[b], at[c] = int32(z), int32(y), int32(x)
				if p.contains(at) {
					ranks = append(ranks, int32(p.rank(at)))
				}
			}
		}
	}
	return ranks
}

// appendShape appends the extents of the box from lo to hi that holds n cells.
func (p *part) appendShape(shape []int, lo, hi [3]int32, n int) []int {
	if p.kind.cells != nil {
		return append(shape, n)
	}
	for _, axis := range p.kind.order() {
		shape = append(shape, int(hi[axis]-lo[axis])+1)
	}
	return shape
}

// packed returns the plan of a region whose tensor has no gaps.
func packed(ranks []int32, shape []int) *Plan {
	p := &Plan{Ranks: ranks, TensorIndices: make([]int32, len(ranks)), ValidMask: make([]bool, len(ranks)), BoundingShape: shape}
	for i := range ranks {
		p.TensorIndices[i] = int32(i)
		p.ValidMask[i] = true
	}
	return p
}

func (l *Lattice) disk(where, arg string, center Coord, radius int) (*Plan, error) {
	rank, err := l.cell(where, "center", center)
	if err != nil {
		return nil, err
	}
	if radius < 0 {
		return nil, &Error{Fault: ErrRadius, Where: where, Arg: arg, Detail: fmt.Sprintf("must be at least 0, not %d", radius)}
	}
	if k := l.space.Kind(); k == nil || !k.boxed {
		ranks := l.ball(int32(rank), radius)
		return packed(ranks, []int{len(ranks)}), nil
	}
	side := 2*uint64(radius) + 1
	if side > maxCells || side*side > min(max(maxBox, 4*uint64(l.cells)), maxCells) {
		return nil, &Error{Fault: ErrLimit, Where: where, Arg: arg,
			Detail: fmt.Sprintf("is %d, which gives a box of %d×%d; too large for %v", radius, side, side, l.space)}
	}
	return l.boxed(center, l.ball(int32(rank), radius), radius), nil
}

// maxBox is the limit of the box around a disk on a small lattice.
const maxBox = 1 << 24

// boxed lays the cells of a disk in a plane out in the box around its centre.
func (l *Lattice) boxed(center Coord, ranks []int32, radius int) *Plan {
	side := 2*radius + 1
	p := &Plan{Ranks: ranks, TensorIndices: make([]int32, len(ranks)), ValidMask: make([]bool, side*side), BoundingShape: []int{side, side}}
	own, axes := &l.parts[0], l.parts[0].kind.order()
	for i, rank := range ranks {
		d := own.difference(own.of(&center), own.coord(int(rank)))
		at := (int(d[axes[0]])+radius)*side + int(d[axes[1]]) + radius
		p.TensorIndices[i] = int32(at)
		p.ValidMask[at] = true
	}
	return p
}

// ball returns the cells at most radius steps from a cell, ascending. Neighbourship is mutual, so
// the neighbours of the cells at distance d are at d-1, d or d+1, and the memory needed is
// that of the ball, however large the lattice. Where the box around the ball is a large part
// of a large lattice, flood is faster.
func (l *Lattice) ball(center int32, radius int) []int32 {
	const large, part = 1 << 14, 8
	box := int64(1)
	for range l.dim {
		box = min(box*(2*min(int64(radius), maxCells)+1), int64(l.cells))
	}
	if box >= large && box >= int64(l.cells/part) && len(l.Patterns()) < math.MaxUint16 {
		return l.flood(center, radius)
	}
	ball := []int32{center}
	var before, next []int32
	shell := []int32{center}
	for range radius {
		next = next[:0]
		for _, rank := range shell {
			next = l.AppendNeighbours(next, int(rank))
		}
		slices.Sort(next)
		next = slices.Compact(next)
		next = without(without(next, shell), before)
		if len(next) == 0 {
			break
		}
		ball = append(ball, next...)
		before, shell, next = shell, next, before
	}
	slices.Sort(ball)
	return ball
}

// flood returns what ball does. It takes memory for every cell of the lattice, and neither
// sorts nor computes coordinates.
func (l *Lattice) flood(center int32, radius int) []int32 {
	pattern := make([]uint16, l.cells) // by cell: 1 + its pattern's ID; 0 if the cell is in the ball
	for _, s := range l.Spans() {
		for i := range s.Count {
			pattern[s.First+i*s.Stride] = uint16(s.Pattern.ID + 1)
		}
	}
	n := 0
	shell, next := []int32{center}, []int32(nil)
	take := func(rank int32) *Pattern {
		p := l.patterns[pattern[rank]-1]
		pattern[rank] = 0
		n++
		return p
	}
	around, of := []*Pattern{take(center)}, []*Pattern(nil) // the patterns of the shell's cells, and of the next
	for range radius {
		next, of = next[:0], of[:0]
		for i, rank := range shell {
			for _, by := range around[i].Offsets {
				if at := rank + int32(by); pattern[at] != 0 {
					next, of = append(next, at), append(of, take(at))
				}
			}
		}
		shell, next, around, of = next, shell, of, around
	}
	ball := make([]int32, 0, n)
	for rank, p := range pattern {
		if p == 0 {
			ball = append(ball, int32(rank))
		}
	}
	return ball
}

// without removes from the ascending list a the elements of the ascending list b, in place.
func without(a, b []int32) []int32 {
	kept := a[:0]
	for _, v := range a {
		for len(b) > 0 && b[0] < v {
			b = b[1:]
		}
		if len(b) == 0 || b[0] != v {
			kept = append(kept, v)
		}
	}
	return kept
}

// cell returns the rank of a coordinate, or an error that says why it has none.
func (l *Lattice) cell(where, arg string, c Coord) (int, error) {
	if rank, ok := l.Rank(c); ok {
		return rank, nil
	}
	e := &Error{Where: where, Arg: arg}
	if c.Dim() != l.dim {
		e.Fault = ErrDimension
		plural := "s"
		if c.Dim() == 1 {
			plural = ""
		}
		e.Detail = fmt.Sprintf("%v has %d component%s; a cell of %v has %d", c, c.Dim(), plural, l.space, l.dim)
		return 0, e
	}
	for i := range l.parts {
		p := &l.parts[i]
		own := p.of(&c)
		for k := range p.kind.Sizes {
			if own[k] < 0 || own[k] >= p.ext[k] {
				e.Fault = ErrBounds
				e.Detail = fmt.Sprintf("%v is outside %v: %s must be in [0, %d)", c, l.space, p.kind.Sizes[k].axis, p.ext[k])
				return 0, e
			}
		}
		if !p.contains(own) {
			e.Fault = ErrParity
			e.Detail = fmt.Sprintf("%v is not in %v: %s", c, l.space, p.kind.cells.needs(p.axis))
			return 0, e
		}
	}
	panic("space: a coordinate within every part has no rank")
}
