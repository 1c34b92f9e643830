package space

import "fmt"

// A Hex is a rhombus of hexagons in axial coordinates: Cols values of q and Rows
// values of r.
//
// With the edge Wrap it is a torus: q is counted modulo Cols and r modulo Rows. A row
// leads around to itself, and so does a column, which leans to the southeast. With the
// edge Clamp every step beyond the edge leads back to the cell itself. If it stopped on
// one axis only, it would become another of the six directions, whose opposite leads
// elsewhere.
type Hex struct {
	Cols, Rows int
	Edge       Edge
}

// Pointy-topped hexagons: a step along q leads to the right, one along r half to the
// right and down.
var hexKind = Kind{
	Name: "hex",
	Sizes: []Size{
		{Name: "cols", Doc: "columns", axis: "q", way: right},
		{Name: "rows", Doc: "rows", axis: "r", way: [3]float64{0.5, rootThree / 2, 0}},
	},
	Edges: true,
	make:  func(n []int, e Edge) Space { return Hex{n[0], n[1], e} },
	steps: []step{
		{name: "east", by: [3]int32{1, 0}}, {name: "northeast", by: [3]int32{1, -1}}, {name: "northwest", by: [3]int32{0, -1}},
		{name: "west", by: [3]int32{-1, 0}}, {name: "southwest", by: [3]int32{-1, 1}}, {name: "southeast", by: [3]int32{0, 1}},
	},
	firstFast: true,
	clamp:     clampSteps,
	boxed:     true,

	distance: func(q, r, _ int64) int64 { return max(abs(q), abs(r), abs(q+r)) },
	oblique:  true,
	round:    roundHex,
	spacing:  1, face: 2.0 / 3, wide: 1, // edges of 1/√3, an area of √3/2
}

const rootThree = 1.7320508075688772

// Build implements [Space].
func (s Hex) Build() (*Lattice, error) { return build(s) }

// Kind implements [Space].
func (s Hex) Kind() *Kind { return &hexKind }

// String describes the hex; it leaves out the edge where it absorbs.
func (s Hex) String() string { return fmt.Sprintf("hex %d×%d %v", s.Cols, s.Rows, s.Edge) }

func (s Hex) appendParts(dst []part, where string, _ int) ([]part, error) {
	return appendPart(dst, &hexKind, where, s.Edge, s.Cols, s.Rows)
}

// roundHex corrects the coordinate of a hex: of the three cube coordinates, whose sum is
// 0, the one that was rounded most is computed from the others (A. Patel, Hexagonal Grids,
// 2013).
func roundHex(v, d point, i, n int) point {
	q, r := d.x*i, d.y*i
	s := -q - r
	vs := nearest(s, n)
	dq, dr, ds := abs(v.x*n-q), abs(v.y*n-r), abs(vs*n-s)
	switch {
	case v.x+v.y+vs == 0 || ds > max(dq, dr):
	case dq >= dr:
		v.x = -v.y - vs
	default:
		v.y = -v.x - vs
	}
	return v
}
