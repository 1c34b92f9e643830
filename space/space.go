// Package space defines the lattices of cells that worlds live on: where the cells are and
// which are neighbours.
//
// A description such as Square4{Rows: 64, Cols: 64, Edge: Wrap} is a [Space]. Its
// Build method checks it and returns a [*Lattice], which numbers the cells in a
// fixed canonical order. That number is the cell's rank, and inside an engine
// a cell is its rank; coordinates are for people and files.
//
//	kind     coordinate   canonical order      neighbours, in order
//	line     [i]          i                    i-1, i+1
//	ring     [i]          i                    i-1, i+1, around
//	square4  [row, col]   row, then col        north, south, west, east
//	square8  [row, col]   row, then col        those, then NW, NE, SW, SE
//	hex      [q, r]       r, then q            E, NE, NW, W, SW, SE
//	fcc12    [x, y, z]    z, then y, then x    the twelve (±1, ±1, 0), (±1, 0, ±1), (0, ±1, ±1)
//	product  all parts'   first part outermost those of each part in turn
//
// Row 0 is the northern one. Hexes are axial and pointy-topped. An fcc12 holds
// only the coordinates whose sum is even. Sums over neighbours are rounded in
// this order, so the order is a promise and never changes.
//
// Loops over all cells should use [Lattice.Spans]: runs of cells that share one
// [Pattern], a list of rank offsets, so that the loop needs no branch at all.
//
// One file of this package holds everything about one kind of lattice, in a [Kind].
// Other packages ask what every kind can answer: where each of
// [Lattice.Directions] leads and through which face, how the cells lie in rows and
// columns ([Lattice.Layout]), which straight lines are clear ([Lattice.Rays]).
package space

import "strconv"

// A Space describes a lattice. The kinds are [Line], [Ring], [Square4], [Square8],
// [Hex], [FCC12], and [Product]; there can be no others.
type Space interface {
	// Build checks the description and returns its lattice, or an [*Error] that
	// names the offending argument. Its cost does not depend on the sizes.
	Build() (*Lattice, error)

	// Kind returns what all spaces of this kind share; nil for a [Product].
	Kind() *Kind

	// String describes the space in one line: "square4 128×128 absorb".
	String() string

	// appendParts appends the parts of the space, unchecked against each
	// other. Where names the space in errors; depth counts the products around it.
	appendParts(dst []part, where string, depth int) ([]part, error)
}

// An Edge says what follows the last cell of an axis.
type Edge uint8

// The edges. The zero Edge is Absorb. What Clamp does with a diagonal step depends on the
// kind: on squares the step goes on along the edge, on hexes it stands still, and on an
// fcc12 Clamp is like Absorb.
const (
	Absorb Edge = iota // no neighbour
	Clamp              // the edge cell itself
	Wrap               // the cell at the other end
)

var edgeNames = [...]string{Absorb: "absorb", Clamp: "clamp", Wrap: "wrap"}

// String returns "absorb", "clamp" or "wrap".
func (e Edge) String() string {
	if int(e) < len(edgeNames) {
		return edgeNames[e]
	}
	return "Edge(" + strconv.Itoa(int(e)) + ")"
}

// ParseEdge is the inverse of [Edge.String].
func ParseEdge(s string) (Edge, error) {
	for e, name := range edgeNames {
		if s == name {
			return Edge(e), nil
		}
	}
	return 0, &Error{Fault: ErrEdge, Where: "edge", Detail: strconv.Quote(s) + " is unknown; use absorb, clamp or wrap"}
}

const (
	maxSize       = 1<<31 - 1
	maxCells      = 1<<31 - 1
	maxDimensions = 10
	maxNesting    = 8
)
