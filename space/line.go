package space

import "fmt"

// A Line is Length cells in a row.
type Line struct {
	Length int
	Edge   Edge
}

var lineKind = Kind{
	Name:  "line",
	Sizes: []Size{{Name: "length", Doc: "cells", axis: "i", way: right}},
	Edges: true,
	make:  func(n []int, e Edge) Space { return Line{n[0], e} },
	steps: lineSteps,

	distance: manhattan,
	spacing:  1, face: 1, wide: 1,
}

var lineSteps = []step{{name: "previous", by: [3]int32{-1}}, {name: "next", by: [3]int32{1}}}

// Build implements [Space].
func (s Line) Build() (*Lattice, error) { return build(s) }

// Kind implements [Space].
func (s Line) Kind() *Kind { return &lineKind }

func (s Line) String() string { return fmt.Sprintf("line %d %v", s.Length, s.Edge) }

func (s Line) appendParts(dst []part, where string, _ int) ([]part, error) {
	return appendPart(dst, &lineKind, where, s.Edge, s.Length)
}
