package propagators

import "github.com/murksim/murksim/space"

// A vector is a coordinate, or the difference of two.
type vector [space.MaxDim]int

// A geometry knows how the axes of a lattice belong together.
type geometry struct {
	lattice *space.Lattice
	dim     int
	extent  vector
	stride  vector // of ranks; unused with an fcc12
	wraps   [space.MaxDim]bool
	parts   [space.MaxDim]axes
	count   int  // of parts
	linear  bool // ranks are sums of strides
	mends   bool // axes cannot be rounded each by itself
}

// axes are the first axis of a part, and its kind.
type axes struct {
	kind  axesKind
	first int
}

type axesKind uint8

const (
	lineAxes    axesKind = iota // one axis of a line
	square4Axes                 // two, without diagonals
	square8Axes                 // two, with
	hexAxes                     // two
	fccAxes                     // three
)

var axesOf = [...]int{lineAxes: 1, square4Axes: 2, square8Axes: 2, hexAxes: 2, fccAxes: 3}

// describe makes the geometry of a lattice.
func (g *geometry) describe(l *space.Lattice) {
	*g = geometry{lattice: l, linear: true}
	g.add(l.Space())
	g.setStrides()
}

// add adds the parts of a space.
func (g *geometry) add(s space.Space) {
	switch s := s.(type) {
	case space.Product:
		for _, part := range s {
			g.add(part)
		}
	case space.Line:
		g.part(lineAxes, s.Edge, s.Length)
	case space.Ring:
		g.part(lineAxes, space.Wrap, s.Length)
	case space.Square4:
		g.part(square4Axes, s.Edge, s.Rows, s.Cols)
	case space.Square8:
		g.part(square8Axes, s.Edge, s.Rows, s.Cols)
	case space.Hex:
		g.part(hexAxes, space.Absorb, s.Cols, s.Rows)
		g.mends = true
	case space.FCC12:
		g.part(fccAxes, s.Edge, s.W, s.H, s.D)
		g.mends, g.linear = true, false
	}
}

func (g *geometry) part(kind axesKind, edge space.Edge, extents ...int) {
	g.parts[g.count] = axes{kind, g.dim}
	g.count++
	for _, n := range extents {
		g.extent[g.dim], g.wraps[g.dim] = n, edge == space.Wrap
		g.dim++
	}
}

// setStrides finds how far apart the ranks of neighbours along each axis are: the last
// part varies fastest, and of hexes the first axis.
func (g *geometry) setStrides() {
	inner := 1
	for i := g.count - 1; i >= 0; i-- {
		p := g.parts[i]
		last := p.first + axesOf[p.kind] - 1
		for a := last; a >= p.first; a-- {
			axis := a
			if p.kind == hexAxes {
				axis = p.first + last - a
			}
			g.stride[axis] = inner
			inner *= g.extent[axis]
		}
	}
}

// vector is the coordinate of a cell.
func (g *geometry) vector(rank int) (v vector) {
	c := g.lattice.Coord(rank)
	for a := range g.dim {
		v[a] = int(c.At(a))
	}
	return v
}

// rank is the cell at from + d, if there is one.
func (g *geometry) rank(from, d *vector) (rank int, ok bool) {
	var c [space.MaxDim]int32
	for a := range g.dim {
		v := from[a] + d[a]
		switch {
		case v >= 0 && v < g.extent[a]:
		case !g.wraps[a]:
			return 0, false
		case v < 0:
			v += g.extent[a]
		default:
			v -= g.extent[a]
		}
		c[a] = int32(v)
		rank += v * g.stride[a]
	}
	if g.linear {
		return rank, true
	}
	at, err := space.MakeCoord(c[:g.dim])
	if err != nil {
		return 0, false
	}
	return g.lattice.Rank(at)
}

// shortest is d, turned round where it leads half way around an axis and crosses its
// edge.
func (g *geometry) shortest(from, d *vector) vector {
	s := *d
	for a := range g.dim {
		if g.wraps[a] && 2*d[a] == g.extent[a] && from[a]+d[a] >= g.extent[a] {
			s[a] = -d[a]
		}
	}
	return s
}

// A box is all differences between two corners.
type box struct {
	lo, hi vector
	dim    int
}

// box holds the differences to every cell within a radius, each once.
func (g *geometry) box(from *vector, radius int) box {
	b := box{dim: g.dim}
	for a := range g.dim {
		if n := g.extent[a]; g.wraps[a] {
			b.lo[a], b.hi[a] = max(-radius, -((n-1)/2)), min(radius, n/2)
		} else {
			b.lo[a], b.hi[a] = max(-radius, -from[a]), min(radius, n-1-from[a])
		}
	}
	return b
}

// next moves d on, until all have been there.
func (b *box) next(d *vector) bool {
	for a := b.dim - 1; a >= 0; a-- {
		if d[a]++; d[a] <= b.hi[a] {
			return true
		}
		d[a] = b.lo[a]
	}
	return false
}

// A length is how many steps a way takes, and in how many pieces it is looked at: the
// longest way in any part.
type length struct{ steps, samples int }

func (g *geometry) length(d *vector) (n length) {
	for _, p := range g.parts[:g.count] {
		a := p.first
		steps, samples := 0, 0
		switch p.kind {
		case lineAxes:
			steps = abs(d[a])
			samples = steps
		case square4Axes:
			steps, samples = abs(d[a])+abs(d[a+1]), max(abs(d[a]), abs(d[a+1]))
		case square8Axes:
			steps = max(abs(d[a]), abs(d[a+1]))
			samples = steps
		case hexAxes:
			steps = max(abs(d[a]), abs(d[a+1]), abs(d[a]+d[a+1]))
			samples = steps
		case fccAxes:
			x, y, z := abs(d[a]), abs(d[a+1]), abs(d[a+2])
			steps = max(x, y, z, (x+y+z)/2)
			samples = steps
		}
		n.steps, n.samples = n.steps+steps, max(n.samples, samples)
	}
	return n
}

// walk moves at on by one n-th of d: it is d·i/n after i times, rounded axis by axis as
// nearest does. What is left over is in rest, in n-ths.
func (g *geometry) walk(at, rest, d *vector, n int) {
	for a := range g.dim {
		step, way := 1, d[a]
		if way < 0 {
			step, way = -1, -way
		}
		if rest[a] += way; 2*rest[a] > n {
			rest[a] -= n
			at[a] += step
		}
	}
}

// round is the difference nearest to d·i/n that leads to a cell; of those as near one
// toward 0.
func (g *geometry) round(d *vector, i, n int) (v vector) {
	for a := range g.dim {
		v[a] = nearest(d[a]*i, n)
	}
	if g.mends {
		g.mend(&v, d, i, n)
	}
	return v
}

// mend makes the difference v, d·i/n rounded axis by axis, lead to the nearest cell.
func (g *geometry) mend(v, d *vector, i, n int) {
	for _, p := range g.parts[:g.count] {
		switch a := p.first; p.kind {
		case hexAxes:
			roundHex(v, a, d, i, n)
		case fccAxes:
			roundFCC(v, a, d, i, n)
		}
	}
}

// nearest is x/n rounded, halves toward 0.
func nearest(x, n int) int {
	if x < 0 {
		return -nearest(-x, n)
	}
	return (2*x + n - 1) / (2 * n)
}

// roundHex mends the coordinate of a hex: of the three that make a cube and add up to
// 0, the one that was rounded most follows from the others.
func roundHex(v *vector, a int, d *vector, i, n int) {
	q, r := d[a]*i, d[a+1]*i
	s := -q - r
	vs := nearest(s, n)
	dq, dr, ds := abs(v[a]*n-q), abs(v[a+1]*n-r), abs(vs*n-s)
	switch {
	case v[a]+v[a+1]+vs == 0 || ds > max(dq, dr):
	case dq >= dr:
		v[a] = -v[a+1] - vs
	default:
		v[a+1] = -v[a] - vs
	}
}

// roundFCC mends the coordinate of an fcc12, whose sum must be even: the one that was
// rounded most, or else the longest, takes the other neighbour.
func roundFCC(v *vector, a int, d *vector, i, n int) {
	if (v[a]+v[a+1]+v[a+2])%2 == 0 {
		return
	}
	most := a
	off := func(k int) int { return abs(v[k]*n - d[k]*i) }
	for k := a + 1; k < a+3; k++ {
		if off(k) > off(most) || off(k) == off(most) && abs(d[k]) > abs(d[most]) {
			most = k
		}
	}
	switch x := d[most] * i; {
	case v[most]*n < x:
		v[most]++
	case v[most]*n > x:
		v[most]--
	case x > 0:
		v[most]--
	default:
		v[most]++
	}
}

func abs(x int) int { return max(x, -x) }
