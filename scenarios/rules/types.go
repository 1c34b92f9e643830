package rules

import (
	"fmt"
	"slices"
	"strings"
)

// A Type is the type of a value.
type Type struct {
	Base Base
	List int // Category: which of the scope's lists of names
	N    int // Float, Fixed: how many components a vector has; 0: it is no vector
}

// A Base is what a value is, or each component of a vector.
type Base uint8

// The bases.
const (
	Float    Base = iota // a float32; of a uniform number a float64
	Fixed                // a fixed number
	Category             // a number that stands for a name
	Boolean              // never stored
)

// A Field is a field of cells, as formulas see it.
type Field struct {
	Name      string
	Fixed     bool     // its elements are fixed numbers
	N         int      // components of a vector; 0: none
	Values    []string // of a categorical field
	Unit      string   // for people; "": none
	Attribute bool     // it belongs to entities
	Other     bool     // its elements are of a type that formulas cannot name
}

// A Let is a name for a formula.
type Let struct {
	Name    string
	Formula *Node
}

// lists are the different lists of values, in the order of the fields.
func lists(fields []Field) (all [][]string) {
	for i := range fields {
		if v := fields[i].Values; v != nil && !slices.ContainsFunc(all, func(l []string) bool { return slices.Equal(l, v) }) {
			all = append(all, v)
		}
	}
	return all
}

// typeOf is the type of a field.
func (c *checker) typeOf(f *Field) Type {
	switch {
	case f.Values != nil:
		return Type{Base: Category, List: slices.IndexFunc(c.lists, func(l []string) bool { return slices.Equal(l, f.Values) })}
	case f.Fixed:
		return Type{Base: Fixed, N: f.N}
	}
	return Type{N: f.N}
}

// describe says what a type is, in words that stand behind "is".
func (c *checker) describe(t Type) string {
	switch {
	case t.Base == Category:
		const most = 6 // names
		names := c.lists[t.List]
		text := strings.Join(names[:min(len(names), most)], ", ")
		if len(names) > most {
			text += ", …"
		}
		return "a category (" + text + ")"
	case t.Base == Boolean:
		return "true or false"
	case t.N > 0 && t.Base == Fixed:
		return fmt.Sprintf("a vector of %d fixed numbers", t.N)
	case t.N > 0:
		return fmt.Sprintf("a vector of %d", t.N)
	case t.Base == Fixed:
		return "a fixed number"
	}
	return "a number"
}

// numeric reports whether a type is that of numbers, or of vectors of them.
func (t Type) numeric() bool { return t.Base == Float || t.Base == Fixed }

// scalar reports whether it is that of a number.
func (t Type) scalar() bool { return t.numeric() && t.N == 0 }
