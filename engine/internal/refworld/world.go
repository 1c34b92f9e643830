package refworld

import (
	"errors"
	"fmt"
	"sort"

	"github.com/murksim/murksim/commands"
	"github.com/murksim/murksim/fields"
	"github.com/murksim/murksim/rng"
	"github.com/murksim/murksim/space"
)

// A Config describes a world. It is not checked here: a caller that compares two worlds has the
// engine check it.
type Config struct {
	Space      space.Space
	Fields     []fields.Def // user fields
	Parts      []Part       // propagators, then systems, in their order
	Handlers   []Handler
	Parameters map[uint32]float64
	Capacity   int
	Dt         float64 // seconds
	Seed       uint64
	Generator  rng.Generator
	QueueSize  int
	Failures   int                     // in a row after which the world halts; below 0: any number
	Record     func(tick uint64) error // called for every tick before it is published; may be nil
}

// A Part is a propagator or system.
type Part struct {
	Name        string
	Full        []fields.ID // written in full
	Incremental []fields.ID // written over what earlier parts left
	Run         func(*Tick) error
}

// A Handler gives meaning to Custom commands of one type id.
type Handler struct {
	Type uint32
	// Handle applies a command; an error fails the tick.
	Handle func(*Handling, []byte) (commands.Reason, error)
}

// A Failure says why a tick did not happen.
type Failure struct {
	Tick  uint64
	Where string // "commands", names of parts, "recorder", "world"
	Err   error
}

// Unwrap returns the cause.
func (f *Failure) Unwrap() error { return f.Err }

// Error implements error.
func (f *Failure) Error() string { return fmt.Sprintf("tick %d: %s: %v", f.Tick, f.Where, f.Err) }

// A World is a simulation, told as plainly as possible.
type World struct {
	config   Config
	grid     *grid
	defs     []fields.Def
	user     int // fields that are the user's
	tick     uint64
	state    *state
	queue    []commands.Command
	stopped  bool
	failures int // in a row
}

// ErrHalted reports a world in which too many ticks in a row have failed.
var ErrHalted = errors.New("halted")

func (w *World) halted() bool { return w.failures == w.config.Failures }

// Reset makes the world what New makes it, with another seed. What is queued stays.
func (w *World) Reset(seed uint64) {
	w.config.Seed = seed
	fresh := New(w.config)
	w.tick, w.state, w.failures = 0, fresh.state, 0
}

// New builds a world at tick 0.
func New(c Config) *World {
	w := &World{config: c, grid: newGrid(c.Space), user: len(c.Fields)}
	w.defs = append(w.defs, c.Fields...)
	if c.Capacity > 0 {
		w.defs = append(w.defs,
			fields.Def{Name: "entity.id", Element: fields.Uint64, Domain: fields.Entities},
			fields.Def{Name: "entity.kind", Element: fields.Int32, Domain: fields.Entities},
			fields.Def{Name: "entity.cell", Element: fields.Int32, Domain: fields.Entities, Initial: fields.Fill(-1)})
	}
	w.defs = append(w.defs, fields.Def{Name: "world.rest", Element: fields.Uint64})

	w.state = &state{parameters: map[uint32]float64{}, arrival: 1}
	for key, v := range c.Parameters {
		w.state.parameters[key] = v
	}
	slots := []space.Coord{}
	for slot := range c.Capacity {
		slots = append(slots, slotCoord(slot))
	}
	for i := range w.defs {
		on := w.grid.cells
		if w.defs[i].Domain == fields.Entities {
			on = slots
		}
		if i == len(w.defs)-1 {
			on = []space.Coord{{}}
		}
		w.state.fields = append(w.state.fields, genesis(&w.defs[i], on))
	}
	w.rest().SetBits(space.Coord{}, 0, rest(w.state, nil, nil, nil))
	return w
}

// The engine's columns, by their place after the user's.
func (w *World) idColumn() fields.ID   { return fields.ID(w.user) }
func (w *World) kindColumn() fields.ID { return fields.ID(w.user + 1) }
func (w *World) cellColumn() fields.ID { return fields.ID(w.user + 2) }
func (w *World) rest() *Field          { return w.state.fields[len(w.defs)-1] }

// Tick returns the last tick that happened.
func (w *World) Tick() uint64 { return w.tick }

// Defs returns all fields, the engine's included.
func (w *World) Defs() []fields.Def { return w.defs }

// Field returns a column of the current state.
func (w *World) Field(id fields.ID) *Field { return w.state.fields[id] }

// FieldHash returns the hash of a field's values alone.
func (w *World) FieldHash(id fields.ID) uint64 {
	return fnv1a(fnvBasis, w.state.fields[id].bytes())
}

// Hash returns the snapshot hash.
func (w *World) Hash() uint64 {
	h := uint64(fnvBasis)
	for i, f := range w.state.fields {
		h = fnv1a(h, le32(nil, uint32(i)))
		h = fnv1a(h, f.bytes())
	}
	return h
}

// Population returns the number of live entities.
func (w *World) Population() int {
	n := 0
	for slot := range w.config.Capacity {
		if w.state.fields[w.idColumn()].Bits(slotCoord(slot), 0) != 0 {
			n++
		}
	}
	return n
}

// Pending returns the number of events to come.
func (w *World) Pending() int { return len(w.state.events) }

// Submit queues a command for the next tick, or says why it is never taken.
func (w *World) Submit(c commands.Command) commands.Reason {
	if reason := encodable(&c); reason != commands.Applied {
		return reason
	}
	if w.stopped || w.halted() {
		return commands.Stopped
	}
	if len(w.queue) == w.config.QueueSize {
		return commands.QueueFull
	}
	w.queue = append(w.queue, c)
	return commands.Applied
}

// Stop ends submission.
func (w *World) Stop() { w.stopped = true }

// encodable says whether a frame has a form for a command.
func encodable(c *commands.Command) commands.Reason {
	if c.Kind > commands.KindSetParameterBatch {
		return commands.Unsupported
	}
	if c.Kind == commands.KindSpawn && len(c.Data)%8 != 0 || c.Kind == commands.KindSetParameterBatch && len(c.Data)%12 != 0 {
		return commands.BadValue
	}
	return commands.Applied
}

// Take empties the queue: the inputs of the next tick, numbered as they arrived, in
// canonical order.
func (w *World) Take() []commands.Command {
	if w.halted() {
		return nil
	}
	inputs := w.queue
	w.queue = nil
	for i := range inputs {
		inputs[i].Arrival = w.state.arrival + uint64(i)
	}
	sort.SliceStable(inputs, func(i, j int) bool { return before(&inputs[i], &inputs[j]) })
	return inputs
}

// before says which of two commands comes first.
func before(a, b *commands.Command) bool {
	if a.Priority != b.Priority {
		return a.Priority < b.Priority
	}
	sourceA, seqA := sourceOf(a)
	sourceB, seqB := sourceOf(b)
	if sourceA != sourceB {
		return sourceA < sourceB
	}
	if seqA != seqB {
		return seqA < seqB
	}
	return a.Arrival < b.Arrival
}

// sourceOf gives source and sequence with the largest number for what is absent; a
// command without a source has no sequence.
func sourceOf(c *commands.Command) (source, seq uint64) {
	source, seq = 1<<64-1, 1<<64-1
	if c.HasSource {
		source = c.Source
	}
	if c.HasSource && c.HasSeq {
		seq = c.SourceSeq
	}
	return source, seq
}
