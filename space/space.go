// Package space says where the cells of a world are and which are neighbours.
//
// A description such as Square4{Rows: 64, Cols: 64, Edge: Wrap} is a [Space]. Its
// Build method checks it and gives a [*Lattice], which numbers the cells in a
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
package space

import (
	"fmt"
	"strconv"
	"strings"
)

// A Space describes a lattice. The kinds are [Line], [Ring], [Square4], [Square8],
// [Hex], [FCC12], and [Product]; there can be no others.
type Space interface {
	// Build checks the description and returns its lattice, or an [*Error] that
	// names the offending argument. Its cost does not depend on the sizes.
	Build() (*Lattice, error)

	// String describes the space in one line: "square4 128×128 absorb".
	String() string

	// appendParts appends what the space is made of, unchecked against each
	// other. Where names the space in errors; depth counts the products around it.
	appendParts(dst []part, where string, depth int) ([]part, error)
}

// An Edge says what lies beyond the last cell of an axis.
type Edge uint8

// The edges. The zero Edge is Absorb.
const (
	Absorb Edge = iota // no neighbour
	Clamp              // the edge cell itself (on fcc12: no neighbour)
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

// A Line is Length cells in a row.
type Line struct {
	Length int
	Edge   Edge
}

// A Ring is a line whose ends are neighbours.
type Ring struct{ Length int }

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

// A Hex is a rhombus of hexagons in axial coordinates: Cols values of q and Rows
// values of r. Its edge absorbs.
type Hex struct{ Cols, Rows int }

// An FCC12 is a face-centred cubic lattice: the points of a W×H×D box whose
// coordinates have an even sum, with twelve neighbours each. With the edge Wrap all
// three sizes must be even.
type FCC12 struct {
	W, H, D int
	Edge    Edge
}

// A Product combines spaces: a cell is one cell of each part, and its neighbours are
// those that differ by one step in one part. Parts may be products, up to a depth of 8;
// all dimensions together are at most 10.
type Product []Space

const (
	maxSize       = 1<<31 - 1
	maxCells      = 1<<31 - 1
	maxDimensions = 10
	maxNesting    = 8
)

// Build implements [Space].
func (s Line) Build() (*Lattice, error) { return build(s) }

// Build implements [Space].
func (s Ring) Build() (*Lattice, error) { return build(s) }

// Build implements [Space].
func (s Square4) Build() (*Lattice, error) { return build(s) }

// Build implements [Space].
func (s Square8) Build() (*Lattice, error) { return build(s) }

// Build implements [Space].
func (s Hex) Build() (*Lattice, error) { return build(s) }

// Build implements [Space].
func (s FCC12) Build() (*Lattice, error) { return build(s) }

// Build implements [Space].
func (s Product) Build() (*Lattice, error) { return build(s) }

func (s Line) String() string { return fmt.Sprintf("line %d %v", s.Length, s.Edge) }

func (s Ring) String() string { return fmt.Sprintf("ring %d", s.Length) }

func (s Square4) String() string { return fmt.Sprintf("square4 %d×%d %v", s.Rows, s.Cols, s.Edge) }

func (s Square8) String() string { return fmt.Sprintf("square8 %d×%d %v", s.Rows, s.Cols, s.Edge) }

func (s Hex) String() string { return fmt.Sprintf("hex %d×%d", s.Cols, s.Rows) }

func (s FCC12) String() string { return fmt.Sprintf("fcc12 %d×%d×%d %v", s.W, s.H, s.D, s.Edge) }

// String joins the descriptions of the parts: "product (ring 8, line 3 clamp)".
func (s Product) String() string {
	var b strings.Builder
	s.write(&b, 0)
	return b.String()
}

// write stops where Build would refuse, so that it ends even for a product that
// contains itself.
func (s Product) write(b *strings.Builder, depth int) {
	if depth >= maxNesting {
		b.WriteString("…")
		return
	}
	b.WriteString("product (")
	for i, p := range s {
		if i > 0 {
			b.WriteString(", ")
		}
		if i == maxDimensions {
			b.WriteString("…")
			break
		}
		switch p := p.(type) {
		case nil:
			b.WriteString("nil")
		case Product:
			p.write(b, depth+1)
		default:
			b.WriteString(p.String())
		}
	}
	b.WriteString(")")
}

func (s Line) appendParts(dst []part, where string, _ int) ([]part, error) {
	return appendPart(dst, &lineKind, where, s.Edge, s.Length)
}

func (s Ring) appendParts(dst []part, where string, _ int) ([]part, error) {
	return appendPart(dst, &ringKind, where, Wrap, s.Length)
}

func (s Square4) appendParts(dst []part, where string, _ int) ([]part, error) {
	return appendPart(dst, &square4Kind, where, s.Edge, s.Rows, s.Cols)
}

func (s Square8) appendParts(dst []part, where string, _ int) ([]part, error) {
	return appendPart(dst, &square8Kind, where, s.Edge, s.Rows, s.Cols)
}

func (s Hex) appendParts(dst []part, where string, _ int) ([]part, error) {
	return appendPart(dst, &hexKind, where, Absorb, s.Cols, s.Rows)
}

func (s FCC12) appendParts(dst []part, where string, _ int) ([]part, error) {
	return appendPart(dst, &fcc12Kind, where, s.Edge, s.W, s.H, s.D)
}

func (s Product) appendParts(dst []part, where string, depth int) ([]part, error) {
	where += "product"
	if depth >= maxNesting {
		return nil, &Error{Fault: ErrNesting, Where: where, Detail: fmt.Sprintf("is nested more than %d deep", maxNesting)}
	}
	if len(s) == 0 {
		return nil, &Error{Fault: ErrEmpty, Where: where, Arg: "parts", Detail: "are none; at least one is needed"}
	}
	for i, p := range s {
		at := fmt.Sprintf("%s: part %d: ", where, i)
		if p == nil {
			return nil, &Error{Fault: ErrEmpty, Where: where, Arg: fmt.Sprintf("part %d", i), Detail: "is nil"}
		}
		var err error
		if dst, err = p.appendParts(dst, at, depth+1); err != nil {
			return nil, err
		}
		if n := dimensions(dst); n > maxDimensions {
			return nil, &Error{Fault: ErrDimension, Where: where, Arg: "parts",
				Detail: fmt.Sprintf("have %d dimensions or more; at most %d are possible", n, maxDimensions)}
		}
	}
	return dst, nil
}
