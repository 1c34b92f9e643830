package space

import "fmt"

// A Square4 is a grid of squares with four neighbours each.
type Square4 struct {
	Rows, Cols int
	Edge       Edge
}

// A Square8 is a grid of squares with eight neighbours each.
type Square8 struct {
	Rows, Cols int
	Edge       Edge
}

var square4Kind = Kind{
	Name:  "square4",
	Sizes: squareSizes,
	Edges: true,
	make:  func(n []int, e Edge) Space { return Square4{n[0], n[1], e} },
	steps: squareSteps[:4],

	distance: manhattan,
	samples:  chebyshev,
	spacing:  1, face: 1, wide: 1,
}

// In a square8 diagonal neighbours touch in a corner, where nothing passes.
var square8Kind = Kind{
	Name:  "square8",
	Sizes: squareSizes,
	Edges: true,
	make:  func(n []int, e Edge) Space { return Square8{n[0], n[1], e} },
	steps: squareSteps,

	distance: chebyshev,
	spacing:  1, face: 1, wide: 1,
}

var squareSizes = []Size{{Name: "rows", Doc: "rows", axis: "row", way: down}, {Name: "cols", Doc: "columns", axis: "col", way: right}}

var squareSteps = []step{
	{name: "north", by: [3]int32{-1, 0}}, {name: "south", by: [3]int32{1, 0}},
	{name: "west", by: [3]int32{0, -1}}, {name: "east", by: [3]int32{0, 1}},
	{name: "northwest", by: [3]int32{-1, -1}, corner: true}, {name: "northeast", by: [3]int32{-1, 1}, corner: true},
	{name: "southwest", by: [3]int32{1, -1}, corner: true}, {name: "southeast", by: [3]int32{1, 1}, corner: true},
}

// Build implements [Space].
func (s Square4) Build() (*Lattice, error) { return build(s) }

// Build implements [Space].
func (s Square8) Build() (*Lattice, error) { return build(s) }

// Kind implements [Space].
func (s Square4) Kind() *Kind { return &square4Kind }

// Kind implements [Space].
func (s Square8) Kind() *Kind { return &square8Kind }

func (s Square4) String() string { return fmt.Sprintf("square4 %d×%d %v", s.Rows, s.Cols, s.Edge) }

func (s Square8) String() string { return fmt.Sprintf("square8 %d×%d %v", s.Rows, s.Cols, s.Edge) }

func (s Square4) appendParts(dst []part, where string, _ int) ([]part, error) {
	return appendPart(dst, &square4Kind, where, s.Edge, s.Rows, s.Cols)
}

func (s Square8) appendParts(dst []part, where string, _ int) ([]part, error) {
	return appendPart(dst, &square8Kind, where, s.Edge, s.Rows, s.Cols)
}
