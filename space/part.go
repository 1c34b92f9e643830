package space

import (
	"fmt"
	"math/bits"
)

// A part is one space that is not a product. A lattice is a sequence of them: products are
// flattened, because coordinates, ranks, neighbours and distances do not show the nesting.
type part struct {
	kind   *Kind
	ext    [3]int32 // extents in the order of the coordinate's components; 1 beyond them
	stride [3]int   // of ranks, along each axis; unused with a sublattice
	edge   Edge
	cells  int
	inner  int // cells of all later parts together: the distance in rank of two consecutive cells
	axis   int // index of the part's first component in the lattice's coordinate
	dir    int // index of the part's first direction among the lattice's
}

func (p *part) dim() int { return p.kind.dim() }

func dimensions(parts []part) (n int) {
	for i := range parts {
		n += parts[i].dim()
	}
	return n
}

// appendPart checks one space's own arguments. Sizes are in the order of the coordinate.
func appendPart(dst []part, k *Kind, where string, edge Edge, sizes ...int) ([]part, error) {
	where += k.Name
	p := part{kind: k, edge: edge, ext: [3]int32{1, 1, 1}}
	if edge > Wrap {
		return nil, &Error{Fault: ErrEdge, Where: where, Arg: "edge", Detail: fmt.Sprintf("must be absorb, clamp or wrap, not %v", edge)}
	}
	for i, n := range sizes {
		switch {
		case n < 1:
			return nil, &Error{Fault: ErrSize, Where: where, Arg: k.Sizes[i].Name, Detail: fmt.Sprintf("must be at least 1, not %d", n)}
		case n > maxSize:
			return nil, &Error{Fault: ErrSize, Where: where, Arg: k.Sizes[i].Name, Detail: fmt.Sprintf("must be at most %d, not %d", maxSize, n)}
		}
		if k.cells != nil {
			if wrong := k.cells.check(n, edge); wrong != "" {
				return nil, &Error{Fault: ErrParity, Where: where, Arg: k.Sizes[i].Name, Detail: wrong}
			}
		}
		p.ext[i] = int32(n)
	}
	n, ok := p.count()
	if !ok {
		return nil, &Error{Fault: ErrCells, Where: where, Detail: fmt.Sprintf("has more than %d cells", maxCells)}
	}
	p.cells = n
	p.setStrides()
	if k.clamp == noClamp && edge == Clamp {
		p.edge = Absorb
	}
	return append(dst, p), nil
}

// count returns the number of cells, unless there are too many.
func (p *part) count() (int, bool) {
	n := uint64(1)
	for _, e := range p.ext {
		hi, lo := bits.Mul64(n, uint64(e))
		if hi != 0 || lo > 2*maxCells {
			return 0, false
		}
		n = lo
	}
	if p.kind.cells != nil {
		n = p.kind.cells.count(n)
	}
	return int(n), n <= maxCells
}

func (p *part) setStrides() {
	if p.kind.cells != nil {
		return
	}
	stride, order := 1, p.kind.order()
	for i := len(order) - 1; i >= 0; i-- {
		p.stride[order[i]] = stride
		stride *= int(p.ext[order[i]])
	}
}

// contains reports whether c is a cell of the part.
func (p *part) contains(c [3]int32) bool {
	for i, e := range p.ext[:p.dim()] {
		if c[i] < 0 || c[i] >= e {
			return false
		}
	}
	return p.kind.cells == nil || p.kind.cells.contains(c)
}

// rank returns the number of the cell c, which the part must contain.
func (p *part) rank(c [3]int32) int {
	if p.kind.cells != nil {
		return p.kind.cells.rank(p, c)
	}
	return int(c[0])*p.stride[0] + int(c[1])*p.stride[1] + int(c[2])*p.stride[2]
}

// coord is the inverse of rank.
func (p *part) coord(rank int) (c [3]int32) {
	switch {
	case p.kind.cells != nil:
		return p.kind.cells.coord(p, rank)
	case p.dim() == 1:
		return [3]int32{int32(rank)}
	case p.dim() == 2 && p.kind.firstFast:
		w := int(p.ext[0])
		return [3]int32{int32(rank % w), int32(rank / w)}
	case p.dim() == 2:
		w := int(p.ext[1])
		return [3]int32{int32(rank / w), int32(rank % w)}
	}
	for a := range c {
		c[a] = int32(rank / p.stride[a] % int(p.ext[a]))
	}
	return c
}

// step returns the neighbour of c in the direction s, and the actual step: zero on an
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
		case p.edge == Clamp && p.kind.clamp == clampSteps:
			return c, [3]int32{}, true
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

// maxDegree returns the most neighbours that a cell of the part has, or in a sublattice could
// have.
func (p *part) maxDegree() int {
	if p.kind.cells != nil || p.edge != Absorb {
		return len(p.kind.steps)
	}
	most := 0
	for _, a := range zones(p.ext[0]) {
		for _, b := range zones(p.ext[1]) {
			for _, c := range zones(p.ext[2]) {
				most = max(most, p.degree([3]int32{a.lo, b.lo, c.lo}))
			}
		}
	}
	return most
}

func (p *part) degree(c [3]int32) (n int) {
	for i := range p.kind.steps {
		if _, _, ok := p.step(c, p.kind.steps[i].by); ok {
			n++
		}
	}
	return n
}

// between returns the distance of two cells.
func (p *part) between(a, b [3]int32) int64 {
	d := p.difference(a, b)
	return p.kind.distance(d[0], d[1], d[2])
}

// difference returns the way from a to b, the shorter one round where the edge wraps.
func (p *part) difference(a, b [3]int32) (d [3]int64) {
	for i := range p.dim() {
		d[i] = int64(b[i]) - int64(a[i])
	}
	if p.edge == Wrap {
		return p.shortest(d)
	}
	return d
}

// shortest returns the shortest way around wrapped edges to where d leads, which crosses
// none. Among ways of equal length it prefers one that crosses no edge, then, on oblique
// axes, the edge of an earlier axis, so that the way back is the same way.
func (p *part) shortest(d [3]int64) [3]int64 {
	if !p.kind.oblique {
		for i := range p.dim() {
			if n := int64(p.ext[i]); 2*abs(d[i]) > n {
				d[i] = around(d[i], n)
			}
		}
		return d
	}
	best, least := d, p.kind.distance(d[0], d[1], d[2])
	for crossed := 1; crossed < 1<<p.dim(); crossed++ {
		way := d
		for i := range p.dim() {
			if crossed>>i&1 != 0 {
				way[i] = around(d[i], int64(p.ext[i]))
			}
		}
		if steps := p.kind.distance(way[0], way[1], way[2]); steps < least {
			best, least = way, steps
		}
	}
	return best
}

// around returns the other way round an axis of n cells.
func around(d, n int64) int64 {
	if d > 0 {
		return d - n
	}
	return d + n
}
