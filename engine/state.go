package engine

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"iter"
	"math"

	"github.com/murksim/murksim/commands"
	"github.com/murksim/murksim/fields"
	"github.com/murksim/murksim/internal/wire"
	"github.com/murksim/murksim/rng"
)

// A State is a saved state, read without its world. Its slices refer to the bytes that it
// was read from.
type State struct {
	Tick       uint64
	Seed       uint64
	Dt         float64
	Rules      uint32 // their version
	Generator  string
	Descriptor [sha256.Size]byte // its digest
	Parameters []Parameter       // by key; a state holds no names
	Arrival    uint64            // of the next input
	Columns    []StateColumn     // by field id, without world.rest
	Draws      []Draws           // of the tick, by name and number
	Sections   [5][]byte         // the bytes of sections 1 to 5

	offsets [5]int // of the sections
}

// A StateColumn is a column as a state holds it.
type StateColumn struct {
	Element fields.Element
	Bytes   []byte // little-endian
	offset  int
}

// Len returns the number of elements.
func (c *StateColumn) Len() int { return len(c.Bytes) / c.Element.Size() }

// Column decodes the column.
func (c *StateColumn) Column() fields.Column {
	v := fields.NewColumn(c.Element, c.Len())
	v.SetBytes(c.Bytes)
	return v
}

// Draws says what one random stream returned in one tick.
type Draws struct {
	Name   string
	Number uint64
	Count  uint64
	Last   uint64 // value
}

// Events returns the commands that wait for a later tick, in their order.
func (s *State) Events() iter.Seq[commands.Event] {
	return func(yield func(commands.Event) bool) {
		stop := errors.New("stop")
		// ReadState has checked that there is no error.
		_ = commands.ReadEvents(s.Sections[eventSection-1], s.Tick, func(e commands.Event) error {
			if !yield(e) {
				return stop
			}
			return nil
		})
	}
}

// SectionNames are what the sections of a state are called, by id - 1.
var SectionNames = [5]string{"meta", "parameters", "fields", "events", "random"}

// A StateKind says what is wrong with a state, and is its own sentinel:
// errors.Is(err, ErrStateDamaged).
type StateKind string

// Error implements error.
func (k StateKind) Error() string { return string(k) }

// The kinds of errors of states.
const (
	ErrNotState       StateKind = "not a saved state"
	ErrStateTruncated StateKind = "truncated state"
	ErrStateDamaged   StateKind = "damaged state"
	ErrStateOther     StateKind = "state of another world"
)

// A StateError says why a state cannot be restored.
type StateError struct {
	Kind   StateKind
	What   string // ErrStateOther: what differs: seed, dt, rules, generator, descriptor, parameters, fields or random
	Offset int    // of the first byte that could not be used
	Err    error
}

// Error implements error.
func (e *StateError) Error() string {
	return fmt.Sprintf("engine: state: byte %d: %v", e.Offset, e.Err)
}

// Unwrap returns the kind and the cause.
func (e *StateError) Unwrap() []error { return []error{e.Kind, e.Err} }

func damaged(offset int, format string, args ...any) error {
	return &StateError{Kind: ErrStateDamaged, Offset: offset, Err: fmt.Errorf(format, args...)}
}

// LastTick is the last tick that a world can have: the ids of entities and events hold 44 bits of a tick.
const LastTick = 1<<43 - 1

var errLastTick = fmt.Errorf("a world has %d ticks at most", uint64(LastTick))

// maxStateArrival keeps arrival numbers from wrapping round to 0.
const maxStateArrival = 1 << 63

// ReadState reads a state that [World.Save] returned, without a world. It checks everything
// that can be checked in the state alone; only [Restore] checks that it fits a world. The
// error is a [*StateError].
func ReadState(b []byte) (*State, error) {
	s, err := readHead(b)
	if err != nil {
		return nil, err
	}
	if err := s.readRest(s.draws); err != nil {
		return nil, err
	}
	return s, nil
}

// readHead finds the sections of a state and reads the first one.
func readHead(b []byte) (*State, error) {
	s, all := new(State), wire.Of(b)
	if err := s.frame(all); err != nil {
		return nil, err
	}
	if all.Left() == sha256.Size {
		return nil, damaged(int(all.Offset()), "%d bytes are left over: Unseal takes the SHA-256 off a sealed state", sha256.Size)
	}
	if all.End(); all.Err() != nil {
		return nil, stateError(all, ErrStateDamaged)
	}
	if err := s.section(metaSection, s.meta); err != nil {
		return nil, err
	}
	return s, nil
}

// readRest reads the other sections, the last one by draws.
func (s *State) readRest(draws func(*wire.Decoder) error) error {
	for i, read := range [...]func(*wire.Decoder) error{s.parameters, s.columns, s.events, draws} {
		if err := s.section(parameterSection+uint16(i), read); err != nil {
			return err
		}
	}
	return nil
}

// section reads all of a section.
func (s *State) section(id uint16, read func(*wire.Decoder) error) error {
	d := wire.Of(s.Sections[id-1]).At(int64(s.offsets[id-1]))
	if err := read(d); err != nil {
		return err
	}
	if d.End(); d.Err() != nil {
		return stateError(d, ErrStateDamaged)
	}
	return nil
}

// stateError turns the error of a decoder into one of this package; missing bytes are an
// error of the kind short.
func stateError(d *wire.Decoder, short StateKind) error {
	e, ok := d.Err().(*wire.Error)
	if !ok {
		return nil // a decoder of bytes has no other
	}
	kind := ErrStateDamaged
	if e.Kind == wire.ErrTruncated {
		kind = short
	}
	return &StateError{Kind: kind, Offset: int(e.Offset), Err: errors.New(e.Detail)}
}

// frame reads the magic number and the tick, and finds the sections.
func (s *State) frame(d *wire.Decoder) error {
	head := d.Window(0)
	if n := min(len(stateMagic), len(head)); string(head[:n]) != stateMagic[:n] {
		return &StateError{Kind: ErrNotState, Err: fmt.Errorf("it begins with %q; a state begins with %q", head[:n], stateMagic)}
	}
	d.Bytes(len(stateMagic), "magic number")
	at := int(d.Offset())
	if s.Tick = d.Uint64("tick"); s.Tick > LastTick {
		return damaged(at, "tick must be at most %d, not %d", uint64(LastTick), s.Tick)
	}
	at = int(d.Offset())
	if n := d.Uint16("number of sections"); d.Err() == nil && n != randomSection {
		return damaged(at, "%d sections; a state has %d", n, randomSection)
	}
	for i := range s.Sections {
		at := int(d.Offset())
		if id := d.Uint16("section"); d.Err() == nil && id != uint16(i+1) {
			return damaged(at, "section %d stands where section %d belongs", id, i+1)
		}
		n := d.Count(math.MaxUint32, 1, "bytes of section "+SectionNames[i])
		s.offsets[i] = int(d.Offset())
		s.Sections[i] = d.Bytes(n, "section")
	}
	return stateError(d, ErrStateTruncated)
}

func (s *State) meta(d *wire.Decoder) error {
	const longest = 64
	s.Seed = d.Uint64("seed")
	s.Dt = math.Float64frombits(d.Uint64("dt"))
	s.Rules = d.Uint32("rules version")
	s.Generator = d.String(longest, "generator")
	copy(s.Descriptor[:], d.Bytes(len(s.Descriptor), "digest of the descriptor"))
	return nil
}

func (s *State) parameters(d *wire.Decoder) error {
	const size = 4 + 8
	n := d.Count(math.MaxUint32, size, "number of parameters")
	s.Parameters = make([]Parameter, 0, n)
	for i := range n {
		at := int(d.Offset())
		p := Parameter{Key: d.Uint32("key"), Value: math.Float64frombits(d.Uint64("value"))}
		switch {
		case i > 0 && p.Key <= s.Parameters[i-1].Key:
			return damaged(at, "parameter %d is out of order", p.Key)
		case p.Value-p.Value != 0:
			return damaged(at, "parameter %d must be finite, not %v", p.Key, p.Value)
		}
		s.Parameters = append(s.Parameters, p)
	}
	at := int(d.Offset())
	if s.Arrival = d.Uint64("next arrival"); d.Err() == nil && (s.Arrival == 0 || s.Arrival > maxStateArrival) {
		return damaged(at, "the next arrival number must be 1 to %d, not %d", uint64(maxStateArrival), s.Arrival)
	}
	return nil
}

func (s *State) columns(d *wire.Decoder) error {
	const leastField = 4 // bytes: every field has an element
	n := d.Count(math.MaxUint32, fieldHead+leastField, "number of fields")
	s.Columns = make([]StateColumn, 0, n)
	for id := range n {
		at := int(d.Offset())
		if got := d.Uint32("field id"); d.Err() == nil && got != uint32(id) {
			return damaged(at, "field %d stands where field %d belongs", got, id)
		}
		e := fields.Element(d.Uint8("element"))
		if e > fields.Uint64 {
			return damaged(at+4, "field %d: element %d does not exist", id, e)
		}
		elements := d.Uint64("number of elements")
		if left := uint64(d.Left()); d.Err() == nil && elements > left/uint64(e.Size()) {
			return damaged(at+5, "field %d: %d elements, but only %d bytes are left", id, elements, left)
		}
		if elements == 0 && d.Err() == nil {
			return damaged(at+5, "field %d: it must have an element", id)
		}
		c := StateColumn{Element: e, offset: int(d.Offset())}
		if c.Bytes = d.Bytes(int(elements)*e.Size(), "field"); d.Err() != nil {
			return nil // which the caller sees
		}
		s.Columns = append(s.Columns, c)
	}
	return nil
}

func (s *State) events(d *wire.Decoder) error {
	b := d.Window(0)
	d.Skip(len(b))
	err := commands.ReadEvents(b, s.Tick, func(commands.Event) error { return nil })
	return s.eventError(err)
}

// eventError locates an error in the section of events.
func (s *State) eventError(err error) error {
	if e, ok := err.(*wire.Error); ok {
		return damaged(s.offsets[eventSection-1]+int(e.Offset), "%s", e.Detail)
	}
	return err
}

func (s *State) draws(d *wire.Decoder) error {
	return eachDraws(d, func(n, _ int, v Draws) error {
		if s.Draws == nil {
			s.Draws = make([]Draws, 0, n)
		}
		s.Draws = append(s.Draws, v)
		return nil
	})
}

// eachDraws calls f for each of n streams, with the offset where it stands. The streams of one
// name share its memory.
func eachDraws(d *wire.Decoder, f func(n, at int, v Draws) error) error {
	const longest, smallest = 255, 4 + 1 + 3*8
	n := d.Count(math.MaxUint32, smallest, "number of streams")
	var last Draws
	for i := range n {
		at := int(d.Offset())
		name := d.Bytes(d.Count(longest, 1, "name of a stream"), "name of a stream")
		v := Draws{last.Name, d.Uint64("number of a stream"), d.Uint64("draws"), d.Uint64("last value")}
		if d.Err() != nil {
			return nil // which the caller sees
		}
		if string(name) != last.Name {
			v.Name = string(name)
		}
		ordered := i == 0 || last.Name < v.Name || last.Name == v.Name && last.Number < v.Number
		if rng.CheckName(v.Name) != nil || v.Count == 0 || !ordered {
			return damaged(at, "stream %q, %d: not a valid name, no draws, or out of order", v.Name, v.Number)
		}
		if err := f(n, at, v); err != nil {
			return err
		}
		last = v
	}
	return nil
}
