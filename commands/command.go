// Package commands defines the orders that a world takes: the seven commands of the
// Murk v3 format, their canonical order, their byte encoding, the bounded queue
// of inputs and the queue of scheduled events.
//
//	Move, Spawn, Despawn             entities
//	SetField                         one value of a field
//	SetParameter, SetParameterBatch  named numbers
//	Custom                           anything that its handler does; [Later] and [Cancel]
//
// A [Command] is a plain value with a [Meta]: its source, how urgent it is, when it
// expires. [Compare] is the order in which a tick applies them. The outcome of each
// is in its [Receipt]: applied, or refused for one [Reason].
package commands

import (
	"cmp"
	"encoding/binary"
	"iter"
	"math"

	"github.com/murksim/murksim/space"
)

// A Kind is a command's payload tag in a Murk v3 frame.
type Kind uint8

// The payload tags of Murk v3.
const (
	KindMove              Kind = 0
	KindSpawn             Kind = 1
	KindDespawn           Kind = 2
	KindSetField          Kind = 3
	KindCustom            Kind = 4
	KindSetParameter      Kind = 5
	KindSetParameterBatch Kind = 6
)

var kindNames = [...]string{"move", "spawn", "despawn", "set_field", "custom", "set_parameter", "set_parameter_batch"}

// String returns the kind's name as it stands in YAML and JSON.
func (k Kind) String() string {
	if int(k) < len(kindNames) {
		return kindNames[k]
	}
	return "unknown"
}

// Priority classes. Lower acts first, so of two writes to one cell the one with
// the higher number prevails.
const (
	PrioritySystem uint8 = 0
	PriorityUser   uint8 = 1
)

// NoExpiry is the Expires of a command that never expires.
const NoExpiry uint64 = math.MaxUint64

// Meta is what a command carries besides its payload.
type Meta struct {
	Priority  uint8  // lower acts first
	HasSource bool   // whether Source is given
	HasSeq    bool   // whether SourceSeq is given; ordering ignores it without a source
	Source    uint64 // the sender
	SourceSeq uint64 // its number among its source's commands
	Expires   uint64 // last tick at which it may still be applied
	Arrival   uint64 // assigned when it is taken into a tick: 1, 2, 3, …
}

// A Command is one order to the world, a plain value. Which payload fields it
// uses depends on its kind; a constructor sets them together with default
// metadata (priority user, no source, never expires).
type Command struct {
	Kind Kind
	Meta
	Entity uint64      // Move, Despawn: entity id
	Bits   uint64      // SetField: float32 bits; SetParameter: float64 bits
	ID     uint32      // SetField: field id; Custom: type id; SetParameter: key
	Coord  space.Coord // Move, Spawn, SetField
	Data   []byte      // Spawn, SetParameterBatch: encoded entries; Custom: opaque; owned by the maker of the command
}

// A FieldValue is one attribute of an entity to be spawned.
type FieldValue struct {
	Field uint32
	Value float32
}

// Set is an attribute for [Spawn]. Those of one vector that follow each other are its components.
func Set(field uint32, v float32) FieldValue { return FieldValue{field, v} }

// SetAttribute writes one value of an attribute of an entity that lives.
func SetAttribute(entity uint64, field uint32, v float32) Command {
	return SetField(EntityCoord(entity), field, v)
}

// A Parameter is a key and its value.
type Parameter struct {
	Key   uint32
	Value float64
}

const (
	fieldValueSize = 8
	parameterSize  = 12
)

func user(k Kind) Command {
	return Command{Kind: k, Meta: Meta{Priority: PriorityUser, Expires: NoExpiry}}
}

// Move puts an entity on another cell.
func Move(entity uint64, to space.Coord) Command {
	c := user(KindMove)
	c.Entity, c.Coord = entity, to
	return c
}

// Spawn makes an entity on a cell, with the given attributes; the others take
// their initial values.
func Spawn(at space.Coord, values ...FieldValue) Command {
	c := user(KindSpawn)
	c.Coord, c.Data = at, AppendValues(nil, values)
	return c
}

// AppendValues appends attributes as the Data of a [Spawn] has them.
func AppendValues(data []byte, values []FieldValue) []byte {
	for _, v := range values {
		data = binary.LittleEndian.AppendUint32(data, v.Field)
		data = binary.LittleEndian.AppendUint32(data, math.Float32bits(v.Value))
	}
	return data
}

// Despawn removes an entity.
func Despawn(entity uint64) Command {
	c := user(KindDespawn)
	c.Entity = entity
	return c
}

// SetField writes one element of a field. For a field of cells, at is the cell,
// and on a vector field one more component, at the end, names the element. For a
// field of entities, at is [EntityCoord] (again with the element for a vector).
func SetField(at space.Coord, field uint32, value float32) Command {
	c := user(KindSetField)
	c.Coord, c.ID, c.Bits = at, field, uint64(math.Float32bits(value))
	return c
}

// EntityCoord returns a coordinate that stands for an entity: the high and the
// low word of its id. A frame does not say which of the two a coordinate is, so a field of
// cells takes it for a cell. That of an id which a Spawn made lies outside of every space
// with fewer than 2^20 columns; the command is refused as [OutsideSpace].
func EntityCoord(entity uint64) space.Coord {
	return space.At(int32(uint32(entity>>32)), int32(uint32(entity)))
}

// Custom carries data to the handler registered for a type id. The command keeps
// data; it does not copy it.
func Custom(typeID uint32, data []byte) Command {
	c := user(KindCustom)
	c.ID, c.Data = typeID, data
	return c
}

// SetParameter sets one parameter.
func SetParameter(key uint32, value float64) Command {
	c := user(KindSetParameter)
	c.ID, c.Bits = key, math.Float64bits(value)
	return c
}

// SetParameterBatch sets several parameters, all or none.
func SetParameterBatch(params ...Parameter) Command {
	c := user(KindSetParameterBatch)
	for _, p := range params {
		c.Data = binary.LittleEndian.AppendUint32(c.Data, p.Key)
		c.Data = binary.LittleEndian.AppendUint64(c.Data, math.Float64bits(p.Value))
	}
	return c
}

// From returns the command with its source and source sequence set.
func (c Command) From(source, seq uint64) Command {
	c.HasSource, c.Source = true, source
	c.HasSeq, c.SourceSeq = true, seq
	return c
}

// Float32 returns the value of a SetField.
func (c *Command) Float32() float32 { return math.Float32frombits(uint32(c.Bits)) }

// Float64 returns the value of a SetParameter.
func (c *Command) Float64() float64 { return math.Float64frombits(c.Bits) }

// FieldValues yields the entries of a Spawn in order.
func (c *Command) FieldValues() iter.Seq[FieldValue] {
	return func(yield func(FieldValue) bool) {
		for d := c.Data; len(d) >= fieldValueSize; d = d[fieldValueSize:] {
			v := FieldValue{binary.LittleEndian.Uint32(d), math.Float32frombits(binary.LittleEndian.Uint32(d[4:]))}
			if !yield(v) {
				return
			}
		}
	}
}

// Parameters yields the entries of a SetParameterBatch in order.
func (c *Command) Parameters() iter.Seq[Parameter] {
	return func(yield func(Parameter) bool) {
		for d := c.Data; len(d) >= parameterSize; d = d[parameterSize:] {
			p := Parameter{binary.LittleEndian.Uint32(d), math.Float64frombits(binary.LittleEndian.Uint64(d[4:]))}
			if !yield(p) {
				return
			}
		}
	}
}

// Compare returns the canonical order of commands: priority, then source, then
// source sequence (absent counts as the largest, and a sequence without a source
// as absent), then arrival. It is total over commands with different arrivals.
func Compare(a, b *Command) int {
	return a.key().compare(b.key())
}

// A key holds what the canonical order depends on.
type key struct {
	priority             uint8
	source, seq, arrival uint64
}

func (m *Meta) key() key {
	k := key{m.Priority, math.MaxUint64, math.MaxUint64, m.Arrival}
	if m.HasSource {
		k.source = m.Source
		if m.HasSeq {
			k.seq = m.SourceSeq
		}
	}
	return k
}

// precedes reports whether m comes before l in canonical order.
func (m *Meta) precedes(l *Meta) bool {
	if !m.HasSource && !l.HasSource && m.Priority == l.Priority { // the most common
		return m.Arrival < l.Arrival
	}
	a, b := m.key(), l.key()
	return a.before(&b)
}

// before reports whether compare is below 0, for sorting.
func (k *key) before(l *key) bool {
	switch {
	case k.priority != l.priority:
		return k.priority < l.priority
	case k.source != l.source:
		return k.source < l.source
	case k.seq != l.seq:
		return k.seq < l.seq
	}
	return k.arrival < l.arrival
}

func (k key) compare(l key) int {
	return cmp.Or(
		cmp.Compare(k.priority, l.priority),
		cmp.Compare(k.source, l.source),
		cmp.Compare(k.seq, l.seq),
		cmp.Compare(k.arrival, l.arrival),
	)
}
