package space

import (
	"fmt"
	"math/bits"
)

// A kind is what all spaces of one name share. Steps and names are those of the
// directions, in the order in which neighbours are listed.
type kind struct {
	name      string
	axes      []string // names of the coordinate's components
	sizes     []string // names of the arguments that give their extents
	steps     [][3]int32
	names     []string
	firstFast bool // component 0 varies fastest in canonical order, not the last one
	distance  func(d [3]int64) int64
}

var (
	lineKind = kind{name: "line", axes: []string{"i"}, sizes: []string{"length"},
		steps: [][3]int32{{-1}, {1}}, names: []string{"previous", "next"}, distance: manhattan}
	ringKind = kind{name: "ring", axes: lineKind.axes, sizes: lineKind.sizes,
		steps: lineKind.steps, names: lineKind.names, distance: manhattan}
	square4Kind = kind{name: "square4", axes: []string{"row", "col"}, sizes: []string{"rows", "cols"},
		steps: square8Kind.steps[:4], names: square8Kind.names[:4], distance: manhattan}
	square8Kind = kind{name: "square8", axes: []string{"row", "col"}, sizes: []string{"rows", "cols"},
		steps:    [][3]int32{{-1, 0}, {1, 0}, {0, -1}, {0, 1}, {-1, -1}, {-1, 1}, {1, -1}, {1, 1}},
		names:    []string{"north", "south", "west", "east", "northwest", "northeast", "southwest", "southeast"},
		distance: chebyshev}
	hexKind = kind{name: "hex", axes: []string{"q", "r"}, sizes: []string{"cols", "rows"},
		steps:     [][3]int32{{1, 0}, {1, -1}, {0, -1}, {-1, 0}, {-1, 1}, {0, 1}},
		names:     []string{"east", "northeast", "northwest", "west", "southwest", "southeast"},
		firstFast: true, distance: hexagonal}
	fcc12Kind = kind{name: "fcc12", axes: []string{"x", "y", "z"}, sizes: []string{"w", "h", "d"},
		steps: [][3]int32{{1, 1, 0}, {-1, 1, 0}, {1, -1, 0}, {-1, -1, 0}, {1, 0, 1}, {-1, 0, 1}, {1, 0, -1}, {-1, 0, -1},
			{0, 1, 1}, {0, -1, 1}, {0, 1, -1}, {0, -1, -1}},
		names: []string{"+x+y", "-x+y", "+x-y", "-x-y", "+x+z", "-x+z", "+x-z", "-x-z",
			"+y+z", "-y+z", "+y-z", "-y-z"},
		firstFast: true, distance: faceCentred}
)

// A part is one space that is no product. A lattice is a sequence of them: products are
// flattened, because coordinates, ranks, neighbours and distances do not show the nesting.
type part struct {
	kind  *kind
	ext   [3]int32 // extents in the order of the coordinate's components
	edge  Edge
	cells int
	inner int // cells of all later parts together: how far apart two consecutive cells' ranks are
	axis  int // which component of the lattice's coordinate is this part's first
	dir   int // which direction of the lattice is this part's first
}

func (p *part) dim() int { return len(p.kind.axes) }

func (p *part) fcc() bool { return p.kind == &fcc12Kind }

func dimensions(parts []part) (n int) {
	for i := range parts {
		n += parts[i].dim()
	}
	return n
}

// appendPart checks one space's own arguments. Sizes are in the order of the coordinate.
func appendPart(dst []part, k *kind, where string, edge Edge, sizes ...int) ([]part, error) {
	where += k.name
	p := part{kind: k, edge: edge}
	if edge > Wrap {
		return nil, &Error{Fault: ErrEdge, Where: where, Arg: "edge", Detail: fmt.Sprintf("is %v; must be absorb, clamp or wrap", edge)}
	}
	for i, n := range sizes {
		switch {
		case n < 1:
			return nil, &Error{Fault: ErrSize, Where: where, Arg: k.sizes[i], Detail: fmt.Sprintf("is %d; must be at least 1", n)}
		case n > maxSize:
			return nil, &Error{Fault: ErrSize, Where: where, Arg: k.sizes[i], Detail: fmt.Sprintf("is %d; must be at most %d", n, maxSize)}
		case p.fcc() && edge == Wrap && n%2 != 0:
			return nil, &Error{Fault: ErrParity, Where: where, Arg: k.sizes[i], Detail: fmt.Sprintf("is %d; must be even when the edge wraps", n)}
		}
		p.ext[i] = int32(n)
	}
	n, ok := p.count()
	if !ok {
		return nil, &Error{Fault: ErrCells, Where: where, Detail: fmt.Sprintf("has more than %d cells", maxCells)}
	}
	p.cells = n
	if p.fcc() && edge == Clamp {
		p.edge = Absorb
	}
	return append(dst, p), nil
}

// count returns the number of cells, unless there are too many.
func (p *part) count() (int, bool) {
	n := uint64(1)
	for _, e := range p.ext[:p.dim()] {
		hi, lo := bits.Mul64(n, uint64(e))
		if hi != 0 || lo > 2*maxCells {
			return 0, false
		}
		n = lo
	}
	if p.fcc() {
		n = (n + 1) / 2
	}
	return int(n), n <= maxCells
}

// contains reports whether c is a cell of the part.
func (p *part) contains(c [3]int32) bool {
	for i, e := range p.ext[:p.dim()] {
		if c[i] < 0 || c[i] >= e {
			return false
		}
	}
	return !p.fcc() || (c[0]^c[1]^c[2])&1 == 0
}

// rank returns the number of the cell c, which the part must contain.
func (p *part) rank(c [3]int32) int {
	switch {
	case p.fcc():
		return p.fccRow(c[1], c[2]) + int(c[0]>>1)
	case p.dim() == 1:
		return int(c[0])
	case p.kind.firstFast:
		return int(c[1])*int(p.ext[0]) + int(c[0])
	default:
		return int(c[0])*int(p.ext[1]) + int(c[1])
	}
}

// coord is the inverse of rank.
func (p *part) coord(rank int) [3]int32 {
	switch {
	case p.fcc():
		return p.fccCoord(rank)
	case p.dim() == 1:
		return [3]int32{int32(rank)}
	case p.kind.firstFast:
		w := int(p.ext[0])
		return [3]int32{int32(rank % w), int32(rank / w)}
	default:
		w := int(p.ext[1])
		return [3]int32{int32(rank / w), int32(rank % w)}
	}
}

// fccRow returns the rank of the first cell of row (y, z). Rows hold every other x, so
// with an odd width they alternate between (w+1)/2 cells, where y+z is even, and (w-1)/2;
// two consecutive rows of a layer always hold w.
func (p *part) fccRow(y, z int32) int {
	w, h := int64(p.ext[0]), int64(p.ext[1])
	row, layer := int64(y), int64(z)
	if w%2 == 0 {
		//detcheck:allow platformint a rank is below the number of cells, which fits int
		return int((layer*h + row) * (w / 2))
	}
	first := (w + 1) / 2 // cells in the first of a pair of rows
	start := int64(0)
	if h%2 == 0 {
		start = layer * (h / 2) * w
		first -= layer & 1
	} else {
		row += layer * h
	}
	//detcheck:allow platformint a rank is below the number of cells, which fits int
	return int(start + row/2*w + (row&1)*first)
}

// fccCoord inverts fccRow.
func (p *part) fccCoord(rank int) [3]int32 {
	w, h, r := int64(p.ext[0]), int64(p.ext[1]), int64(rank)
	var y, z, i int64
	if w%2 == 0 {
		row := r / (w / 2)
		y, z, i = row%h, row/h, r%(w/2)
	} else {
		first := (w + 1) / 2
		if h%2 == 0 {
			z, r = r/(h/2*w), r%(h/2*w)
			first -= z & 1
		}
		y, i = r/w*2, r%w
		if i >= first {
			y, i = y+1, i-first
		}
		if h%2 != 0 {
			y, z = y%h, y/h
		}
	}
	return [3]int32{int32(2*i + (y+z)&1), int32(y), int32(z)}
}

// step returns the neighbour of c in the direction s, and the step really taken: zero on an
// axis where an edge clamps or where the only way around leads back to c.
func (p *part) step(c, s [3]int32) (to, taken [3]int32, ok bool) {
	for i, e := range p.ext[:p.dim()] {
		v := c[i] + s[i]
		if v >= 0 && v < e {
			to[i], taken[i] = v, s[i]
			continue
		}
		switch {
		case p.edge == Absorb:
			return to, taken, false
		case p.edge == Clamp || e == 1:
			to[i] = c[i]
		case v < 0:
			to[i], taken[i] = e-1, s[i]
		default:
			to[i], taken[i] = 0, s[i]
		}
	}
	return to, taken, true
}

// maxDegree returns the most neighbours that a cell of the part has. An fcc12 always says twelve.
func (p *part) maxDegree() int {
	if p.fcc() || p.edge != Absorb {
		return len(p.kind.steps)
	}
	most := 0
	var c [3]int32
	for _, a := range zones(p.ext[0]) {
		for _, b := range zones(max(p.ext[1], 1)) {
			c[0], c[1] = a.lo, b.lo
			most = max(most, p.degree(c))
		}
	}
	return most
}

func (p *part) degree(c [3]int32) (n int) {
	for _, s := range p.kind.steps {
		if _, _, ok := p.step(c, s); ok {
			n++
		}
	}
	return n
}

// between returns the distance of two cells: the kind's closed form of the
// coordinate differences, each the shorter way round where the edge wraps.
func (p *part) between(a, b [3]int32) int64 {
	var d [3]int64
	for i := range p.dim() {
		d[i] = int64(b[i]) - int64(a[i])
		if p.edge == Wrap {
			d[i] = max(d[i], -d[i])
			d[i] = min(d[i], int64(p.ext[i])-d[i])
		}
	}
	return p.kind.distance(d)
}

func abs(v int64) int64 { return max(v, -v) }

func manhattan(d [3]int64) int64 { return abs(d[0]) + abs(d[1]) + abs(d[2]) }

func chebyshev(d [3]int64) int64 { return max(abs(d[0]), abs(d[1]), abs(d[2])) }

func hexagonal(d [3]int64) int64 { return max(abs(d[0]), abs(d[1]), abs(d[0]+d[1])) }

func faceCentred(d [3]int64) int64 { return max(chebyshev(d), manhattan(d)/2) }
