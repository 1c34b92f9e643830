package space

// A box is the cells that are no further from one cell than a radius along each axis, of
// which it goes through those of a range of ranks, ascending but for what lies across a
// wrapped edge.
//
// Ranks order the cells like their coordinates, from the slowest axis to the fastest. So as
// long as a cell's coordinates are those of the first cell of the range, the next one must not
// be less than its; and likewise for the last. On each axis that leaves an interval, and what
// lies outside it is never visited.
type box struct {
	dim    int
	order  [MaxDim]uint8 // the axes, the slowest first
	extent vector
	wraps  [MaxDim]bool

	from        vector
	least, most vector // differences on each axis
	lo, hi      int    // ranks
	first, last vector // the coordinates of lo and of the last cell before hi

	at    vector         // the difference
	end   vector         // how far at may go on until it must be looked for again
	bound [MaxDim]border // by position in the order
	begun bool
}

// A border says whether the coordinates on all slower axes are those of the first cell, and of
// the last.
type border struct{ first, last bool }

// begin prepares for the cells around one whose ranks are in [lo, hi).
func (b *box) begin(l *Lattice, cell, radius, lo, hi int) {
	c := l.Coord(cell)
	for a := range b.dim {
		b.from[a] = int(c.c[a])
		if n := b.extent[a]; b.wraps[a] { // each cell once
			b.least[a], b.most[a] = max(-radius, -((n-1)/2)), min(radius, n/2)
		} else {
			b.least[a], b.most[a] = max(-radius, -b.from[a]), min(radius, n-1-b.from[a])
		}
	}
	b.begun = false
	if lo, hi = max(lo, 0), min(hi, l.cells); b.lo == lo && b.hi == hi {
		return
	}
	if b.lo, b.hi = lo, hi; lo < hi {
		first, last := l.Coord(lo), l.Coord(hi-1)
		for a := range b.dim {
			b.first[a], b.last[a] = int(first.c[a]), int(last.c[a])
		}
	}
}

// next goes on to the next difference and reports whether there is one.
func (b *box) next() bool {
	i := b.dim - 1
	if !b.begun {
		b.begun = true
		if b.lo >= b.hi {
			return false
		}
		i, b.bound[0] = 0, border{true, true}
		a := b.order[0]
		b.at[a], b.end[a] = b.least[a]-1, b.least[a]-1
	}
	for i >= 0 {
		a := b.order[i]
		if b.at[a]++; b.at[a] > b.end[a] && !b.find(i) {
			i--
			continue
		}
		if i == b.dim-1 {
			return true
		}
		i++
		b.enter(i)
	}
	return false
}

// enter goes to before the first difference on the axis at a position in the order.
func (b *box) enter(i int) {
	before := b.order[i-1]
	v := b.wrapped(int(before), b.at[before])
	bound := b.bound[i-1]
	b.bound[i] = border{bound.first && v == b.first[before], bound.last && v == b.last[before]}
	a := b.order[i]
	b.at[a], b.end[a] = b.least[a]-1, b.least[a]-1
}

// wrapped returns the coordinate on an axis at a difference from the first cell.
func (b *box) wrapped(a, d int) int {
	switch v := b.from[a] + d; {
	case v < 0:
		return v + b.extent[a]
	case v >= b.extent[a]:
		return v - b.extent[a]
	default:
		return v
	}
}

// find moves at on the axis at a position in the order to the first difference from there on
// whose coordinate may be that of a cell in the range, and end to the last one of that run. It
// reports whether there is one.
func (b *box) find(i int) bool {
	a := b.order[i]
	lo, hi := 0, b.extent[a]-1
	if b.bound[i].first {
		lo = b.first[a]
	}
	if b.bound[i].last {
		hi = b.last[a]
	}
	for turn := -b.extent[a]; turn <= b.extent[a]; turn += b.extent[a] { // across one edge, none, the other
		begin := max(b.at[a], b.least[a], lo+turn-b.from[a])
		end := min(b.most[a], hi+turn-b.from[a])
		if begin <= end {
			b.at[a], b.end[a] = begin, end
			return true
		}
	}
	return false
}
