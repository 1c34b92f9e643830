// Package fields is the vocabulary of a world's state: what a field is, how its values are
// stored, and how they are hashed.
//
// A [Def] describes a field and a [Column] holds its values. A [Hash] folds values into
// the FNV-1a hash that ends each tick of a recording. The state itself belongs to package
// engine: a propagator reaches it through its Context, everything else through a Snapshot.
package fields

import (
	"fmt"
	"math"
	"slices"
)

// An ID is a field's index in its world.
type ID uint32

// An Element is how one value is stored.
type Element uint8

// The elements. Their numbers stand in saved states and never change.
const (
	Float32 Element = 0
	Fixed   Element = 1 // 64-bit signed, 16 fraction bits
	Int32   Element = 2
	Uint64  Element = 3
)

var elementNames = [...]string{"float32", "fixed", "int32", "uint64"}

// String returns the element's name as it stands in YAML.
func (e Element) String() string { return name(elementNames[:], int(e)) }

// Size is the number of bytes of one element, in memory and in the hash.
func (e Element) Size() int {
	if e == Float32 || e == Int32 {
		return 4
	}
	return 8
}

// A Type is what one cell or entity holds.
type Type struct {
	Kind TypeKind
	N    int // Vector: components; Categorical: how many values; else 0
}

// A TypeKind is the sort of a [Type].
type TypeKind uint8

// The kinds of types.
const (
	ScalarKind TypeKind = iota
	VectorKind
	CategoricalKind
)

// Scalar is the type of a field with one number a cell; the zero Type.
var Scalar = Type{}

// Vector is the type of a field with n numbers a cell, stored together.
func Vector(n int) Type { return Type{VectorKind, n} }

// Categorical is the type of a field with one of the whole numbers 0 to n-1 a cell. They are stored as the field's [Element] says: in a
// scenario that says nothing as Float32.
func Categorical(n int) Type { return Type{CategoricalKind, n} }

// Components is the number of elements a cell or entity has.
func (t Type) Components() int {
	if t.Kind == VectorKind {
		return t.N
	}
	return 1
}

// String returns the type as it stands in YAML.
func (t Type) String() string {
	switch t.Kind {
	case VectorKind:
		return fmt.Sprintf("vector(%d)", t.N)
	case CategoricalKind:
		return fmt.Sprintf("categorical(%d)", t.N)
	}
	return "scalar"
}

// A Domain says what a field has values for.
type Domain uint8

// The domains.
const (
	Cells    Domain = iota // one value a cell
	Entities               // one value an entity slot
)

// String returns the domain's name as it stands in YAML.
func (d Domain) String() string { return name([]string{"cells", "entities"}, int(d)) }

// A Mutability says who may change a field and when.
type Mutability uint8

// The mutabilities.
const (
	PerTick Mutability = iota // written every tick
	Sparse                    // written now and then
	Static                    // set at genesis, then never
)

// String returns the mutability's name as it stands in YAML.
func (m Mutability) String() string { return name([]string{"per_tick", "sparse", "static"}, int(m)) }

// Bounds keep every value of a field in [Min, Max], component by component.
type Bounds struct {
	Min, Max float64
	Mode     BoundMode
}

// A BoundMode says what happens to a value beyond a bound.
type BoundMode uint8

// The bound modes.
const (
	ClampBound   BoundMode = iota // it takes the bound's value
	ReflectBound                  // it bounces back by as much as it went too far, once, then is clamped
	AbsorbBound                   // it takes the bound's value and stays there until a command writes it
	WrapBound                     // it comes in again at the other end; Max itself becomes Min
)

// String returns the mode's name as it stands in YAML.
func (m BoundMode) String() string {
	return name([]string{"clamp", "reflect", "absorb", "wrap"}, int(m))
}

func name(names []string, i int) string {
	if i < len(names) {
		return names[i]
	}
	return "invalid"
}

// A Def describes a field. Only the name is required.
type Def struct {
	Name       string
	Type       Type
	Element    Element
	Domain     Domain
	Mutability Mutability
	Initial    Initial  // zero: all elements 0
	Unit       string   // for people, such as "K"; changes no result
	Values     []string // for people: the names of a categorical field's values; changes no result
	Bounds     *Bounds  // nil: none; only for Float32 and Fixed
}

// An Initial gives a field's values at genesis. For entities it is the value of
// an attribute that a spawn does not name, and must be a Fill.
type Initial struct {
	fill   float64
	values []float64 // one for each element; with all, one for each component of every cell or entity
	all    bool
}

// Fill is the same initial value for every cell or entity: v for each component of a vector, or a number for each one.
func Fill(v float64, others ...float64) Initial {
	if len(others) == 0 {
		return Initial{fill: v}
	}
	return Initial{values: append([]float64{v}, others...), all: true}
}

// Values gives every element its own initial value: cell by cell in rank order,
// components together. It copies them.
func Values(v []float64) Initial { return Initial{values: slices.Clone(v)} }

// At is the initial value of element i.
func (v Initial) At(i int) float64 {
	switch {
	case v.all:
		return v.values[i%len(v.values)]
	case v.values != nil:
		return v.values[i]
	}
	return v.fill
}

// Len is the number of values, or -1 for a Fill.
func (v Initial) Len() int {
	if v.values == nil || v.all {
		return -1
	}
	return len(v.values)
}

// Same reports, at once and for certain, that two are the same; false means nothing.
func (v Initial) Same(other Initial) bool {
	if len(v.values) != len(other.values) || (v.values == nil) != (other.values == nil) || v.all != other.all {
		return false
	}
	if len(v.values) > 0 {
		return &v.values[0] == &other.values[0]
	}
	return math.Float64bits(v.fill) == math.Float64bits(other.fill)
}

// Check reports what is wrong with a definition taken by itself.
func (d *Def) Check() error {
	if d.Name == "" {
		return fmt.Errorf("fields: a field has no name")
	}
	for _, c := range []struct {
		what  string
		value int
		count int
	}{
		{"element", int(d.Element), len(elementNames)},
		{"type kind", int(d.Type.Kind), 3},
		{"domain", int(d.Domain), 2},
		{"mutability", int(d.Mutability), 3},
	} {
		if c.value >= c.count {
			return d.errorf("%s %d does not exist", c.what, c.value)
		}
	}
	return d.checkValues()
}

const (
	maxComponents = 1 << 16
	maxCategories = 1 << 24 // above, float32 cannot tell them apart
)

func (d *Def) checkValues() error {
	switch {
	case d.Type.Kind == VectorKind && (d.Type.N < 1 || d.Type.N > maxComponents):
		return d.errorf("a vector has 1 to %d components, not %d", maxComponents, d.Type.N)
	case d.Type.Kind == CategoricalKind && (d.Type.N < 1 || d.Type.N > maxCategories):
		return d.errorf("a category has 1 to %d values, not %d", maxCategories, d.Type.N)
	case d.Domain == Entities && d.Initial.Len() >= 0:
		return d.errorf("an attribute of entities has one initial value for all")
	case d.Domain == Entities && d.Mutability == Static:
		return d.errorf("an attribute of entities cannot be static: spawns write it")
	}
	if b := d.Bounds; b != nil {
		if b.Mode > WrapBound {
			return d.errorf("bound mode %d does not exist", b.Mode)
		}
		if !(b.Min < b.Max) || math.IsInf(b.Min, 0) || math.IsInf(b.Max, 0) {
			return d.errorf("bounds [%v, %v] are empty or not finite", b.Min, b.Max)
		}
		if d.Element != Float32 && d.Element != Fixed || d.Type.Kind == CategoricalKind {
			return d.errorf("%s %s takes no bounds", d.Type, d.Element)
		}
		lo, ok := d.Bits(b.Min)
		if !ok {
			return d.errorf("bound %v cannot be stored", b.Min)
		}
		hi, ok := d.Bits(b.Max)
		if !ok {
			return d.errorf("bound %v cannot be stored", b.Max)
		}
		if d.Value(lo) >= d.Value(hi) {
			return d.errorf("bounds [%v, %v] are stored as the same %s", b.Min, b.Max, d.Element)
		}
	}
	if d.Initial.Len() >= 0 {
		return nil
	}
	if n := len(d.Initial.values); n > 0 && n != d.Type.Components() {
		return d.errorf("the initial value has %d components; the field has %d", n, d.Type.Components())
	}
	for i := range max(1, len(d.Initial.values)) {
		if v := d.Initial.At(i); !d.stores(v) {
			return d.errorf("initial value %v cannot be stored", v)
		}
	}
	return nil
}

func (d *Def) stores(v float64) bool {
	_, ok := d.Bits(v)
	return ok
}

func (d *Def) errorf(format string, args ...any) error {
	return fmt.Errorf("fields: %q: %s", d.Name, fmt.Sprintf(format, args...))
}
