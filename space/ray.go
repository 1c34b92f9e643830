package space

// A vector is a coordinate, or the difference of two, of the whole lattice.
type vector [MaxDim]int

// Rays are the straight lines from one cell to those around it, the short way around
// wrapped edges. [Lattice.Rays] makes them, and they allocate nothing:
//
//	rays := lattice.Rays()
//	for rays.From(cell, radius, 0, lattice.Cells()); rays.Next(); {
//		fmt.Println(rays.To, rays.Clear(walls))
//	}
//
// A line from a to b = a + d is sampled at n-1 points between them, a + d·i/n, with n
// the longest way in any part of the space, so that a line touches each row that it
// crosses once. Each point belongs to the cell nearest to it; if several are equally near,
// to the one toward a and the one toward b. All computation is in whole numbers and
// does not depend on the end from which a line starts.
//
// A line takes the shortest way around wrapped edges. Among ways of equal length it prefers
// one that crosses no edge, then, on axes that are not at right angles, the edge of an
// earlier axis.
type Rays struct {
	To int // the cell that the ray leads to; set by Next

	lattice *Lattice
	box            // of the cells to which rays may lead
	stride  vector // of ranks; unused with a sublattice
	linear  bool   // ranks are sums of strides
	mends   bool   // axes cannot be rounded one by one
	oblique bool   // the short way around cannot be found for each axis by itself

	way    vector // of the ray: from its first cell to its last
	radius int64
}

// Rays returns the lattice's rays.
func (l *Lattice) Rays() Rays {
	r := Rays{lattice: l, box: box{dim: l.dim}, linear: true}
	for i := range l.parts {
		p := &l.parts[i]
		for k, a := range p.kind.order() {
			r.order[p.axis+k] = uint8(p.axis + a)
		}
		for k := range p.dim() {
			a := p.axis + k
			r.extent[a], r.stride[a], r.wraps[a] = int(p.ext[k]), p.stride[k]*p.inner, p.edge == Wrap
		}
		r.linear = r.linear && p.kind.cells == nil
		r.mends = r.mends || p.kind.round != nil
		r.oblique = r.oblique || p.kind.oblique && p.edge == Wrap
	}
	return r
}

// From prepares the rays from a cell to those at most radius steps away whose ranks
// are in [lo, hi); the first call of Next goes to the first ray. Radius must be at most 2^14,
// so that no product of coordinates overflows 32 bits.
func (r *Rays) From(cell, radius, lo, hi int) {
	r.radius = int64(radius)
	r.begin(r.lattice, cell, radius, lo, hi)
}

// Next goes on to the ray to the next cell and reports whether there is one. There is one
// ray to each cell.
func (r *Rays) Next() bool {
	for r.next() {
		r.turn()
		if rank, ok := r.rank(&r.way); ok && r.steps() <= r.radius {
			r.To = rank
			return true
		}
	}
	return false
}

// Around returns a range of ranks. No cell outside it is so near to one of ranks [lo, hi) that
// a ray of a radius leads there. Where that is hard to say, it is all cells.
func (r *Rays) Around(radius, lo, hi int) (begin, end int) {
	slowest := r.order[0]
	if lo, hi = max(lo, 0), min(hi, r.lattice.cells); lo >= hi {
		return 0, 0
	}
	if !r.linear || r.wraps[slowest] {
		return 0, r.lattice.cells
	}
	row := r.stride[slowest]
	return max(lo/row-radius, 0) * row, min((hi-1)/row+radius+1, r.extent[slowest]) * row
}

// turn sets the way to the shortest one that leads to the same cell as at.
func (r *Rays) turn() {
	r.way = r.at
	for a := range r.dim {
		if r.wraps[a] && 2*r.at[a] == r.extent[a] && r.from[a]+r.at[a] >= r.extent[a] {
			r.way[a] = -r.at[a]
		}
	}
	if !r.oblique {
		return
	}
	for i := range r.lattice.parts {
		p := &r.lattice.parts[i]
		if !p.kind.oblique || p.edge != Wrap {
			continue
		}
		var inside [3]int64 // the way that crosses no edge
		for k := range p.dim() {
			a := p.axis + k
			to := (r.from[a] + r.at[a] + r.extent[a]) % r.extent[a]
			inside[k] = int64(to - r.from[a])
		}
		short := p.shortest(inside)
		for k := range p.dim() {
			r.way[p.axis+k] = int(short[k])
		}
	}
}

// rank returns the cell at d from the first, if there is one.
func (r *Rays) rank(d *vector) (rank int, ok bool) {
	var c Coord
	for a := range r.dim {
		v := r.from[a] + d[a]
		switch {
		case v >= 0 && v < r.extent[a]:
		case !r.wraps[a]:
			return 0, false
		case v < 0:
			v += r.extent[a]
		default:
			v -= r.extent[a]
		}
		c.c[a] = int32(v)
		rank += v * r.stride[a]
	}
	if r.linear {
		return rank, true
	}
	c.n = uint8(r.dim)
	return r.lattice.rank(&c)
}

// steps returns the number of steps of the way.
func (r *Rays) steps() (n int64) {
	for i := range r.lattice.parts {
		p := &r.lattice.parts[i]
		d := p.own(&r.way)
		n += p.kind.distance(int64(d.x), int64(d.y), int64(d.z))
	}
	return n
}

// samples returns the number of pieces into which the way is cut.
func (r *Rays) samples() (n int64) {
	for i := range r.lattice.parts {
		p := &r.lattice.parts[i]
		longest := p.kind.samples
		if longest == nil {
			longest = p.kind.distance
		}
		d := p.own(&r.way)
		n = max(n, longest(int64(d.x), int64(d.y), int64(d.z)))
	}
	return n
}

// own returns the part's components of a vector.
func (p *part) own(v *vector) (d point) {
	d.x = v[p.axis]
	if p.dim() > 1 {
		d.y = v[p.axis+1]
	}
	if p.dim() > 2 {
		d.z = v[p.axis+2]
	}
	return d
}

// Clear reports whether nothing blocks the ray: at each of its points, at least one of the
// nearest cells must be open. A cell is blocked where blocked is not 0; the two ends count
// as open. Blocked has a value for each cell, or is nil: no cell is blocked.
func (r *Rays) Clear(blocked []float32) bool {
	if blocked == nil {
		return true
	}
	n := int(r.samples())
	var at, rest vector
	for i := 1; i < n; i++ {
		r.walk(&at, &rest, n)
		near := &at
		if r.mends {
			mended := at
			r.mend(&mended, i, n)
			near = &mended
		}
		if r.opaque(near, blocked) {
			far := r.round(n-i, n)
			for a := range r.dim {
				far[a] = r.way[a] - far[a]
			}
			if r.opaque(&far, blocked) {
				return false
			}
		}
	}
	return true
}

// opaque reports whether the cell at d from the first blocks the ray, which its ends never
// do.
func (r *Rays) opaque(d *vector, blocked []float32) bool {
	rank, in := r.rank(d)
	return in && blocked[rank] != 0 && *d != r.way && *d != vector{}
}

// walk advances at by one n-th of the way: after i calls it is way·i/n, rounded axis by
// axis as nearest does. Rest holds the remainder, in n-ths.
func (r *Rays) walk(at, rest *vector, n int) {
	for a := range r.dim {
		step, way := 1, r.way[a]
		if way < 0 {
			step, way = -1, -way
		}
		if rest[a] += way; 2*rest[a] > n {
			rest[a] -= n
			at[a] += step
		}
	}
}

// round returns the difference nearest to way·i/n that leads to a cell; of equally near
// ones, one toward 0.
func (r *Rays) round(i, n int) (v vector) {
	for a := range r.dim {
		v[a] = nearest(r.way[a]*i, n)
	}
	if r.mends {
		r.mend(&v, i, n)
	}
	return v
}

// mend corrects the difference v, which is way·i/n rounded axis by axis, so that it leads to
// the nearest cell.
func (r *Rays) mend(v *vector, i, n int) {
	for k := range r.lattice.parts {
		p := &r.lattice.parts[k]
		if p.kind.round == nil {
			continue
		}
		to := p.kind.round(p.own(v), p.own(&r.way), i, n)
		v[p.axis] = to.x
		if p.dim() > 1 {
			v[p.axis+1] = to.y
		}
		if p.dim() > 2 {
			v[p.axis+2] = to.z
		}
	}
}

// nearest returns x/n rounded to the nearest whole number, halves toward 0.
func nearest(x, n int) int {
	if x < 0 {
		return -nearest(-x, n)
	}
	return (2*x + n - 1) / (2 * n)
}
