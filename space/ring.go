package space

import "fmt"

// A Ring is a line whose ends are neighbours.
type Ring struct{ Length int }

var ringKind = Kind{
	Name:  "ring",
	Sizes: lineKind.Sizes,
	make:  func(n []int, _ Edge) Space { return Ring{n[0]} },
	steps: lineSteps,

	distance: manhattan,
	spacing:  1, face: 1, wide: 1,
}

// Build implements [Space].
func (s Ring) Build() (*Lattice, error) { return build(s) }

// Kind implements [Space].
func (s Ring) Kind() *Kind { return &ringKind }

func (s Ring) String() string { return fmt.Sprintf("ring %d", s.Length) }

func (s Ring) appendParts(dst []part, where string, _ int) ([]part, error) {
	return appendPart(dst, &ringKind, where, Wrap, s.Length)
}
