package space

import "math"

// A Layout says how the cells of a lattice lie in rows and columns, as a picture shows
// them: on a line in one row, on squares and hexes in a plane, on an fcc12 in slices.
type Layout struct {
	Slices, Rows, Cols int
	Shift              int // half cells by which a row lies to the right of the one above it; 1 on hexes, else 0
	Wide               int // columns that a cell takes; 2 on an fcc12, where every other place of a row is empty, else 1
	Edge               Edge

	axes [3]int // which components of the coordinate are slice, row and column; -1: none
}

// Layout returns the layout of a lattice, unless it is a product. Each of a product's
// [Lattice.Parts] has one.
func (l *Lattice) Layout() (y Layout, ok bool) {
	k := l.space.Kind()
	if k == nil {
		return Layout{}, false
	}
	extent := [3]int{1, 1, 1}
	y.axes = [3]int{-1, -1, -1}
	order := k.order()
	for i, axis := range order {
		at := 3 - len(order) + i
		y.axes[at], extent[at] = axis, int(l.parts[0].ext[axis])
	}
	y.Slices, y.Rows, y.Cols, y.Wide, y.Edge = extent[0], extent[1], extent[2], k.wide, l.parts[0].edge
	if row := y.axes[1]; row >= 0 {
		y.Shift = int(math.Round(2 * k.Sizes[row].way[0]))
	}
	return y, true
}

// Place returns the slice, row and column of the cell at c.
func (y *Layout) Place(c Coord) (slice, row, col int) {
	var at [3]int
	for i, axis := range y.axes {
		if axis >= 0 {
			at[i] = int(c.At(axis))
		}
	}
	return at[0], at[1], at[2]
}

// Cell is the inverse of Place. The coordinate need not be that of a cell of the lattice.
func (y *Layout) Cell(slice, row, col int) Coord {
	var c Coord
	for i, v := range [3]int{slice, row, col} {
		if axis := y.axes[i]; axis >= 0 {
			c.c[axis] = int32(v)
			c.n++
		}
	}
	return c
}

// Parts returns the parts of a product, however nested, as lattices of their own, in the
// order of the coordinate; of another lattice, itself.
func (l *Lattice) Parts() []*Lattice {
	if l.space.Kind() != nil {
		return []*Lattice{l}
	}
	var all []*Lattice
	for i := range l.parts {
		p := &l.parts[i]
		var sizes []int
		for _, n := range p.ext[:p.dim()] {
			sizes = append(sizes, int(n))
		}
		own, err := p.kind.New(sizes, p.edge).Build()
		if err != nil {
			panic("space: a part of a lattice cannot be built: " + err.Error())
		}
		all = append(all, own)
	}
	return all
}
