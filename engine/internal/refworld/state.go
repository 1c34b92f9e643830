package refworld

import (
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/murksim/murksim/commands"
	"github.com/murksim/murksim/fields"
	"github.com/murksim/murksim/space"
)

// A Place is where one number of a field stands: on a cell, in an entity's slot (a
// coordinate of one component) or, for world.rest, at the coordinate of none.
type Place struct {
	At   space.Coord
	Part int // component of a vector
}

// A Field holds the values of a column, as the element stores them, by place.
type Field struct {
	def    *fields.Def
	places []Place // in the order of the column
	bits   map[Place]uint64
}

// Bits returns a stored value.
func (f *Field) Bits(at space.Coord, part int) uint64 {
	bits, ok := f.bits[Place{at, part}]
	if !ok {
		panic(fmt.Sprintf("refworld: field %q has nothing at %v, %d", f.def.Name, at, part))
	}
	return bits
}

// SetBits stores a value.
func (f *Field) SetBits(at space.Coord, part int, bits uint64) {
	f.bits[Place{at, part}] = bits
}

// Float returns a value of a float32 field.
func (f *Field) Float(at space.Coord, part int) float32 { return float(f.Bits(at, part)) }

// SetFloat stores a value of a float32 field.
func (f *Field) SetFloat(at space.Coord, part int, v float32) {
	f.SetBits(at, part, uint64(math.Float32bits(v)))
}

// Parts returns the number of components.
func (f *Field) Parts() int { return f.def.Type.Components() }

// Element is how the values are stored.
func (f *Field) Element() fields.Element { return f.def.Element }

// Places returns the field's places in the order of the column.
func (f *Field) Places() []Place { return f.places }

// empty returns a field of the same places, without values.
func (f *Field) empty() *Field {
	return &Field{f.def, f.places, make(map[Place]uint64, len(f.places))}
}

func (f *Field) clone() *Field {
	return &Field{f.def, f.places, maps.Clone(f.bits)}
}

// An Event is a command for a later tick.
type Event struct {
	Due     uint64
	Command commands.Command
}

// A state is everything that a tick may change.
type state struct {
	fields     []*Field
	parameters map[uint32]float64
	events     []Event
	arrival    uint64 // of the next input
}

func (s *state) clone() *state {
	c := &state{parameters: maps.Clone(s.parameters), events: slices.Clone(s.events), arrival: s.arrival}
	for _, f := range s.fields {
		c.fields = append(c.fields, f.clone())
	}
	return c
}

// slotCoord returns an entity slot as a coordinate.
func slotCoord(slot int) space.Coord { return space.At(int32(slot)) }

// places lists the places of a field.
func places(d *fields.Def, on []space.Coord) (all []Place) {
	for _, at := range on {
		for part := range d.Type.Components() {
			all = append(all, Place{at, part})
		}
	}
	return all
}

// genesis makes a field with its initial values.
func genesis(d *fields.Def, on []space.Coord) *Field {
	f := &Field{def: d, places: places(d, on), bits: map[Place]uint64{}}
	for i, p := range f.places {
		bits, reason := store(d, d.Initial.At(i))
		if reason != commands.Applied {
			panic(fmt.Sprintf("refworld: field %q: initial value %d: %v", d.Name, i, reason))
		}
		f.bits[p] = bound(d, bits)
	}
	return f
}
