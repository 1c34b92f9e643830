package space

import (
	"fmt"
	"math"
)

// An FCC12 is a face-centred cubic lattice: the points of a W×H×D box whose
// coordinates have an even sum, with twelve neighbours each. With the edge Wrap all
// three sizes must be even. Without it, the cells of a box of which two sizes are 1 have no
// neighbours.
type FCC12 struct {
	W, H, D int
	Edge    Edge
}

// A diagonal step that an edge clamped on one axis would end off the lattice, so there
// is no neighbour beyond an edge with Clamp. Cells are rhombic dodecahedra of volume 2 with
// faces of area √½.
var fcc12Kind = Kind{
	Name: "fcc12",
	Sizes: []Size{
		{Name: "w", Doc: "extent of x", axis: "x", way: right}, {Name: "h", Doc: "extent of y", axis: "y", way: down},
		{Name: "d", Doc: "extent of z", axis: "z", way: away},
	},
	Edges: true,
	make:  func(n []int, e Edge) Space { return FCC12{n[0], n[1], n[2], e} },
	steps: []step{
		{name: "+x+y", by: [3]int32{1, 1, 0}}, {name: "-x+y", by: [3]int32{-1, 1, 0}},
		{name: "+x-y", by: [3]int32{1, -1, 0}}, {name: "-x-y", by: [3]int32{-1, -1, 0}},
		{name: "+x+z", by: [3]int32{1, 0, 1}}, {name: "-x+z", by: [3]int32{-1, 0, 1}},
		{name: "+x-z", by: [3]int32{1, 0, -1}}, {name: "-x-z", by: [3]int32{-1, 0, -1}},
		{name: "+y+z", by: [3]int32{0, 1, 1}}, {name: "-y+z", by: [3]int32{0, -1, 1}},
		{name: "+y-z", by: [3]int32{0, 1, -1}}, {name: "-y-z", by: [3]int32{0, -1, -1}},
	},
	firstFast: true,
	cells:     &fccCells,
	clamp:     noClamp,

	distance: func(x, y, z int64) int64 { return max(chebyshev(x, y, z), manhattan(x, y, z)/2) },
	round:    roundFCC,
	spacing:  math.Sqrt2, face: math.Sqrt2 / 4, wide: 2,
}

// Build implements [Space].
func (s FCC12) Build() (*Lattice, error) { return build(s) }

// Kind implements [Space].
func (s FCC12) Kind() *Kind { return &fcc12Kind }

func (s FCC12) String() string { return fmt.Sprintf("fcc12 %d×%d×%d %v", s.W, s.H, s.D, s.Edge) }

func (s FCC12) appendParts(dst []part, where string, _ int) ([]part, error) {
	return appendPart(dst, &fcc12Kind, where, s.Edge, s.W, s.H, s.D)
}

var fccCells = sublattice{
	check: func(size int, edge Edge) string {
		if edge == Wrap && size%2 != 0 {
			return fmt.Sprintf("must be even if the edge wraps, not %d", size)
		}
		return ""
	},
	count:    func(points uint64) uint64 { return (points + 1) / 2 },
	contains: func(c [3]int32) bool { return (c[0]^c[1]^c[2])&1 == 0 },
	needs: func(axis int) string {
		return fmt.Sprintf("the sum of components %d to %d must be even", axis, axis+2)
	},
	rank:   func(p *part, c [3]int32) int { return fccRow(p, c[1], c[2]) + int(c[0]>>1) },
	coord:  fccCoord,
	blocks: fccBlocks,
}

// fccRow returns the rank of the first cell of row (y, z). Rows hold every other x, so
// with an odd width they alternate between (w+1)/2 cells, where y+z is even, and (w-1)/2;
// two consecutive rows of a layer always hold w.
func fccRow(p *part, y, z int32) int {
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
func fccCoord(p *part, rank int) [3]int32 {
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

// fccBlocks also divides by the parity of y and z, on which offsets depend. Two layers
// together hold w·h cells and two rows of a layer w, whatever the parities.
func fccBlocks(p *part) []block {
	var all []block
	w, h := int(p.ext[0]), int(p.ext[1])
	for _, z := range parities(zones(p.ext[2])) {
		for _, y := range parities(zones(p.ext[1])) {
			odd := (y.lo + z.lo) & 1
			for _, x := range zones(p.ext[0]) {
				x.lo += (x.lo ^ odd) & 1
				if x.lo > x.hi {
					continue
				}
				b := block{first: p.rank([3]int32{x.lo, y.lo, z.lo})}
				b.nest(int(z.hi-z.lo)/2+1, w*h)
				b.nest(int(y.hi-y.lo)/2+1, w)
				b.nest(int(x.hi-x.lo)/2+1, 1)
				all = append(all, b)
			}
		}
	}
	return all
}

// parities splits each zone into two: every other position from the first, and from the
// second.
func parities(zs []zone) []zone {
	var out []zone
	for _, z := range zs {
		out = append(out, z)
		if z.lo < z.hi {
			out = append(out, zone{z.lo + 1, z.hi})
		}
	}
	return out
}

// roundFCC corrects the coordinate of an fcc12, whose sum must be even: the component that
// was rounded most, or among equal ones the longest, is rounded the other way (J. H. Conway,
// N. J. A. Sloane, IEEE Trans. Inf. Theory 28, 227 (1982)).
func roundFCC(v, d point, i, n int) point {
	if (v.x+v.y+v.z)%2 == 0 {
		return v
	}
	most, way := &v.x, d.x
	off := abs(v.x*n - d.x*i)
	if o := abs(v.y*n - d.y*i); o > off || o == off && abs(d.y) > abs(way) {
		most, way, off = &v.y, d.y, o
	}
	if o := abs(v.z*n - d.z*i); o > off || o == off && abs(d.z) > abs(way) {
		most, way = &v.z, d.z
	}
	switch x := way * i; {
	case *most*n < x:
		*most++
	case *most*n > x:
		*most--
	case x > 0:
		*most--
	default:
		*most++
	}
	return v
}
