package engine

import (
	"time"

	"github.com/murksim/murksim/commands"
	"github.com/murksim/murksim/fields"
	"github.com/murksim/murksim/space"
)

// A Propagator carries fields forward by one tick. It must keep nothing between
// ticks: all that may influence a later tick must be a field.
type Propagator interface {
	// Spec says what Step touches in a world on this lattice. It is called before
	// the world is built and must return the same value every time.
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

// A Checker is a propagator or system that checks its own arguments, such as a field of
// a type that it cannot work on. [New] calls Check after Spec, which must not panic,
// whatever the arguments; the fields that the Spec names exist. If Check returns an error,
// New returns it in a [*ConfigError]; an [*ArgError] names the argument that is wrong.
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
	Full        []fields.ID // written with Context.Next, every element, without regard to what it held
	Incremental []fields.ID // written with Context.Next, beginning with what Now gives
	Rewrite     []fields.ID // Float32 fields of Incremental; Step writes every element, from the same one of Context.Was: they need no copy

	Places []string // that draw from streams of their own, called Name, a point and the place: see Context.Place; other streams have none of these names

	MaxDt    float64       // longest stable step here, in seconds; 0: any
	Scratch  int           // float32 elements of scratch memory for each worker, zeroed when Context.Scratch is called
	Parallel bool          // Step may run on disjoint cell ranges at once: it writes only its range and draws random numbers only in bulk
	Local    bool          // Parallel, and Step draws no random numbers and reads cell fields only in its range and next to it: see World.Run
	Cost     time.Duration // what 1,000 cells take one worker, roughly; default 10 µs, at most 100 ms; decides how many workers run: see Config.Share
}

// Fields returns its arguments as a list, for a [Spec].
func Fields(ids ...fields.ID) []fields.ID { return ids }

// A Handler gives meaning to the Custom commands of one type id.
type Handler interface {
	// Type returns the type id.
	Type() uint32
	// Handle applies a command. Unless it returns Applied, all that it did to the
	// state is undone, except that its random draws stay drawn and counted. Data is hashed
	// and recorded after the call: Handle must neither change it nor keep it.
	Handle(c *HandlerContext, data []byte) commands.Reason
}
