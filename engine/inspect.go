package engine

import (
	"crypto/sha256"
	"math"

	"github.com/murksim/murksim/commands"
	"github.com/murksim/murksim/fields"
)

// A State is a saved state, read without the world that it is of.
type State struct {
	Tick       uint64
	Seed       uint64
	Dt         float64
	Rules      uint32 // their version
	Generator  string
	Descriptor [sha256.Size]byte // its digest
	Parameters []Parameter       // by key; a state holds no names
	Arrival    uint64            // of the next input
	Columns    []fields.Column   // by field id, without world.rest
	Events     []Event           // that wait, in their order
	Draws      []Draws           // of the tick, by name and number
	Sections   [5][]byte         // the bytes of sections 1 to 5, in the state
}

// An Event is a command that waits for its tick. Its id is the command's arrival number.
type Event struct {
	Due     uint64
	Command commands.Command
}

// Draws are what one random stream gave in one tick.
type Draws struct {
	Name   string
	Number uint64
	Count  uint64
	Last   uint64 // value
}

// SectionNames are what the sections of a state are called, by id - 1.
var SectionNames = [5]string{"meta", "parameters", "fields", "events", "random"}

// ReadState reads a state that [World.Save] gave, without a world. It checks that the
// bytes can be read to the end; only [Restore] checks that they fit a world. The result
// refers to the bytes. The error is a *[StateError].
func ReadState(b []byte) (*State, error) {
	s, r := new(State), stateReader{b: b, end: len(b)}
	r.magic()
	s.Tick = r.uint64("tick")
	if n := r.uint16("number of sections"); n != randomSection {
		r.fail("%d sections; a state has %d", n, randomSection)
	}
	for i, read := range [...]func(*State){r.anyMeta, r.anyParameters, r.anyFields, r.anyEvents, r.anyDraws} {
		var from int
		r.section(uint16(i+1), func() {
			from = r.off
			read(s)
		})
		if r.err != nil {
			return nil, r.err
		}
		s.Sections[i] = b[from:r.off]
	}
	if r.used(); r.err != nil {
		return nil, r.err
	}
	return s, nil
}

func (r *stateReader) anyMeta(s *State) {
	s.Seed = r.uint64("seed")
	s.Dt = math.Float64frombits(r.uint64("dt"))
	s.Rules = r.uint32("rules version")
	s.Generator = r.text(uint32(r.end-r.off), "generator")
	copy(s.Descriptor[:], r.take(len(s.Descriptor), "digest"))
}

func (r *stateReader) anyParameters(s *State) {
	for n := r.uint32("number of parameters"); n > 0 && r.err == nil; n-- {
		key := r.uint32("key")
		s.Parameters = append(s.Parameters, Parameter{Key: key, Value: math.Float64frombits(r.uint64("value"))})
	}
	s.Arrival = r.uint64("next arrival")
}

func (r *stateReader) anyFields(s *State) {
	count := r.uint32("number of fields")
	for id := uint32(0); id < count && r.err == nil; id++ {
		if got := r.uint32("field id"); got != id {
			r.fail("field %d stands where field %d belongs", got, id)
		}
		e := fields.Element(r.uint8("element"))
		if e > fields.Uint64 {
			r.fail("field %d: there is no element %d", id, e)
		}
		n := r.uint64("number of elements")
		if left := uint64(r.end - r.off); r.err == nil && n > left/uint64(e.Size()) {
			r.fail("field %d claims %d elements; %d bytes are left", id, n, left)
		}
		if r.err != nil {
			return
		}
		c := fields.NewColumn(e, int(n))
		c.SetBytes(r.take(int(n)*e.Size(), "field"))
		s.Columns = append(s.Columns, c)
	}
}

func (r *stateReader) anyEvents(s *State) {
	for n := r.uint32("number of events"); n > 0 && r.err == nil; n-- {
		e := Event{Due: r.uint64("due tick")}
		if r.err != nil {
			return
		}
		used, err := e.Command.DecodeFrom(r.b[r.off:r.end])
		if err != nil {
			r.fail("event: %w", err)
			return
		}
		r.off += used
		s.Events = append(s.Events, e)
	}
}

func (r *stateReader) anyDraws(s *State) {
	for n := r.uint32("number of streams"); n > 0 && r.err == nil; n-- {
		d := Draws{Name: r.text(uint32(r.end-r.off), "name of a stream")}
		d.Number, d.Count, d.Last = r.uint64("number of a stream"), r.uint64("draws"), r.uint64("last value")
		s.Draws = append(s.Draws, d)
	}
}
