package engine

import (
	"time"

	"github.com/murksim/murksim/commands"
	"github.com/murksim/murksim/fields"
	"github.com/murksim/murksim/space"
)

// A Propagator carries fields forward by one tick. It remembers nothing between
// ticks: all that may influence a later tick is a field.
type Propagator interface {
	// Spec says what Step touches in a world on this lattice. It is asked for
	// before the world is built and must give the same answer every time.
	Spec(*space.Lattice) Spec
	// Step computes one tick. An error fails the whole tick.
	Step(*Context) error
}

// A System is a part of the tick that works on entities: it may read and write
// entity columns and fields, and schedule events. Systems run after all
// propagators, in the order of the configuration.
type System interface {
	Spec(*space.Lattice) Spec
	Update(*SystemContext) error
}

// A Checker is a propagator or system that can say what is wrong with itself, such
// as a field of a type that it cannot work on. New asks after Spec, which must bear
// any values; the fields that the Spec names exist. It refuses the world with a
// [*ConfigError]; an [*ArgError] in it names the argument that is wrong.
type Checker interface {
	Check(*space.Lattice, []fields.Def) error
}

// A Spec declares what a propagator or system touches. The world checks the
// declarations against each other when it is built, and every access against them
// when it runs.
type Spec struct {
	Name string // of the instance and of its random streams; unique in a world; 1 to 255 bytes of ASCII

	Prev        []fields.ID // read with Context.Prev: as they stood at the start of the tick, commands applied
	Now         []fields.ID // read with Context.Now: what earlier parts of this tick wrote, else as Prev; none of Full
	Full        []fields.ID // written in full with Context.Next: every element, whatever it held
	Incremental []fields.ID // written with Context.Next starting from what Now gives

	MaxDt    float64       // longest stable step here, in seconds; 0: any
	Scratch  int           // float32 elements of scratch memory for each worker, zeroed when Context.Scratch is called
	Parallel bool          // Step may run on disjoint cell ranges at once: it writes only its range and draws only in bulk
	Local    bool          // Parallel, and Step draws nothing and reads of fields of cells only its range and its neighbours: see World.Run
	Cost     time.Duration // what 1,000 cells take one worker, roughly; default 10 µs, at most 100 ms; says how many workers pay: see Config.Share
}

// Fields lists field ids, for a [Spec].
func Fields(ids ...fields.ID) []fields.ID { return ids }

// A Handler gives meaning to the Custom commands of one type id.
type Handler interface {
	// Type is the type id.
	Type() uint32
	// Handle applies a command. Unless it returns Applied, all that it did to the
	// state is undone; its random draws stay drawn, and counted. Data is hashed and
	// recorded after the call: it must not be changed, nor kept.
	Handle(c *HandlerContext, data []byte) commands.Reason
}

// A Recorder is handed every tick before it is published. If it returns an error
// the tick has not happened: the state stays that of the tick before.
type Recorder interface {
	Record(*Tick) error
}

// A Tick is a tick as a [Recorder] sees it. It is valid during the call; inputs
// and receipts included.
type Tick struct {
	Number   uint64
	Inputs   []commands.Command // everything from outside that was taken, in canonical order
	Receipts []commands.Receipt // of events and inputs, in the order they were taken
	world    *World
	hash     uint64
	hashed   bool
}

// Setup is what [World.Setup] gives for the world of the tick.
func (t *Tick) Setup(descriptor []byte) fields.Setup { return t.world.Setup(descriptor) }

// Hash is the snapshot hash of the state after the tick.
func (t *Tick) Hash() uint64 {
	if !t.hashed {
		t.hash, t.hashed = t.world.store.Hash(), true
	}
	return t.hash
}

// FieldHash is the FNV-1a hash of one field's elements after the tick.
func (t *Tick) FieldHash(id fields.ID) uint64 { return t.world.store.FieldHash(id) }

// Snapshot holds on to the state after the tick.
func (t *Tick) Snapshot() *fields.Snapshot { return t.world.store.Snapshot() }

// Hold makes a snapshot as Snapshot does in n, which must be new or released.
func (t *Tick) Hold(n *fields.Snapshot) { t.world.store.Hold(n) }

// HoldDelta holds the state after the tick in d, which must be new or released, in as
// far as it may differ from the one at since; see [fields.Delta].
func (t *Tick) HoldDelta(d *fields.Delta, since fields.Moment) fields.Moment {
	return t.world.store.HoldDelta(d, since)
}

// Changed is how many bytes of the state HoldDelta would hold as having changed.
func (t *Tick) Changed(since fields.Moment) int { return t.world.store.Changed(since) }
