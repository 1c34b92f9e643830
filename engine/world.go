package engine

import (
	"cmp"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cespare/xxhash/v2"

	"github.com/murksim/murksim/commands"
	"github.com/murksim/murksim/fields"
	"github.com/murksim/murksim/internal/store"
	"github.com/murksim/murksim/rng"
	"github.com/murksim/murksim/space"
)

// A World is a running simulation. Submit, SubmitAll and Stop may be called from any
// goroutine; everything else belongs to one.
type World struct {
	lattice    *space.Lattice
	defs       []fields.Def // the user's, then the engine's
	userFields int
	cols       columns
	attributes []fields.ID // all columns of entities, the engine's included
	plain      []bool      // by field: whether it is a float32 of each cell that commands may set to any finite number
	rules      ruleSet
	dt         float64
	seed       rng.Seed
	generator  rng.Generator
	paranoid   bool
	recorder   Recorder
	settler    Settler       // the recorder, if it is a Settler
	watchers   []*watcher    // replaced, never changed in place, so that a watcher may stop while others are called
	leastShare time.Duration // least work for a worker

	config Config // as given to New

	published rest // of the last tick published
	near      near

	store    *store.Store
	params   *parameters
	entities *entities
	queue    *commands.Queue
	events   *commands.Events
	streams  rng.Set
	stages   []*stage
	crew     crew     // does the shares of a stage
	finite   []bool   // by field: whether its latest writer in this tick found all of it finite
	valid    []bool   // by field: and of categories, if it is categorical
	whole    share    // all cells
	shares   []share  // of the cells, if there are several workers
	writer   []*stage // the last stage that writes each field; nil if none
	handlers []handlerSlot

	tick        uint64 // the last one published
	phase       phase
	kin         *kin            // shared by the world and all its forks
	initials    *kin            // identifies the initial values, which Renew changes
	released    *commands.Queue // that of a world that was released
	arrival     uint64          // the next input's arrival number
	failures    int             // ticks in a row that failed
	maxFailures int             // below 0: any number
	halted      atomic.Bool     //detcheck:allow goroutine only the goroutine that ticks writes it; producers may read it

	// Memory of the tick under way, kept for the next.
	inputs   []commands.Command
	ticket   commands.Ticket // of the input that arrived first; 0 if they were recorded
	due      []commands.Command
	receipts []commands.Receipt
	detail   string        // of the command that is being applied, from its handler
	patches  []store.Patch // what setMany sets
	taken    []byte        // inputs(T) of the state: each input's encoding and result
	rest     rest          // the sections hashed into world.rest
	digest   *xxhash.Digest
	record   Tick
	settling Settler // has recorded the tick and is yet to settle it
	sweep    sweep   // of Run
	counts   []int32 // by cell; zeros, except while entities are counted
	staying  []int32 // by slot: the cells of entities that do not die at the end of the tick
	watched  bool    // a watcher is being called, or has panicked
	last     bool    // whether it is too late to schedule for this tick
	where    string  // what is being done, for the error of a panic

	// Of WatchParts.
	looker func(*Part) // may be nil
	part   Part

	// Of Paranoid.
	others     rng.Set // streams for what is run twice
	unrepeated error   // a handler did not do the same twice
}

// A kin is a world and all its forks, by its address. It keeps those that were released.
type kin struct {
	//detcheck:allow goroutine forks are released from any goroutine; it guards spare memory only
	mu   sync.Mutex
	free []*World
}

type handlerSlot struct {
	typeID  uint32
	handler Handler
	ctx     HandlerContext
}

// New builds a world at tick 0. It checks the whole configuration first; a
// [*ConfigError] names the part that is wrong.
func New(c Config) (*World, error) {
	lattice, err := c.check()
	if err != nil {
		return nil, err
	}
	c = c.clone()
	w := &World{
		phase: between, config: c, lattice: lattice, userFields: len(c.Fields), rules: c.Rules.set(), dt: c.Dt(), seed: rng.Seed(c.Seed), generator: c.Generator,
		paranoid: c.Paranoid, leastShare: c.Share, digest: xxhash.New(), events: commands.NewEvents(), kin: new(kin),
		maxFailures: cmp.Or(c.MaxFailures, DefaultFailures),
	}
	w.defs, w.cols = c.defs()
	w.finite, w.valid, w.plain = make([]bool, len(w.defs)), make([]bool, len(w.defs)), make([]bool, len(w.defs))
	for i := range w.defs {
		d := &w.defs[i]
		if d.Domain == fields.Entities {
			w.attributes = append(w.attributes, fields.ID(i))
		}
		w.plain[i] = d.Domain == fields.Cells && d.Type == fields.Scalar && d.Element == fields.Float32 &&
			d.Mutability != fields.Static && d.Bounds == nil
	}
	if w.store, err = store.New(w.defs, c.sizes(w.defs, lattice.Cells())); err != nil {
		return nil, err
	}
	if w.params, err = newParameters(c.Parameters); err != nil {
		return nil, err
	}
	w.initials = w.kin
	w.entities = newEntities(w.store, w.cols, lattice.Cells(), c.Capacity)
	w.queue = commands.NewQueue(c.queueSize())
	if err := w.addStages(&c); err != nil {
		return nil, err
	}
	if err := w.addHandlers(c.Handlers); err != nil {
		return nil, err
	}
	w.Record(c.Recorder)
	w.genesis()
	return w, nil
}

// genesis makes the columns and parameters as they are the state of tick 0.
func (w *World) genesis() {
	w.tick, w.arrival, w.failures = 0, 1, 0
	w.streams.Begin(w.generator, w.seed, 0)
	w.receipts = w.receipts[:0]
	if w.rules.closed() {
		w.hashRest()
	}
	w.store.Commit()
	w.rest, w.published = w.published, w.rest
	w.halted.Store(false)
}

// Reset puts the world back to genesis under another seed, as [New] would make it,
// even if it has halted. Its recorder and watchers stay, and see tick 1 next. Inputs that
// were submitted and not yet taken stay queued; after [World.Stop] the queue stays closed.
// While a tick is under way, Reset changes nothing and returns a [*TickError] with
// [ErrUnderWay].
func (w *World) Reset(seed uint64) error {
	if err := w.mayChange(); err != nil {
		return err
	}
	w.seed = rng.Seed(seed)
	w.store.Reset()
	w.params.reset()
	w.events = commands.NewEvents()
	w.entities.stale(true)
	w.rules = w.watchable(w.config.Rules.set())
	w.genesis()
	return nil
}

// Renew is [World.Reset] with other initial values, one for each field of the configuration,
// as [New] would have made the world with them. Inputs that wait are dropped. Values that a
// field cannot hold are a [*ConfigError], and change nothing.
func (w *World) Renew(seed uint64, initial []fields.Initial) error {
	if err := w.mayChange(); err != nil {
		return err
	}
	if len(initial) != w.userFields {
		return &ConfigError{Index: -1, Err: fmt.Errorf("engine: %d initial values; the world has %d fields", len(initial), w.userFields)}
	}
	for i := range initial {
		d := w.defs[i]
		if d.Initial.Same(initial[i]) {
			continue
		}
		d.Initial = initial[i]
		if err := d.CheckInitial(w.store.Current(fields.ID(i)).Len()); err != nil {
			return &ConfigError{"field", i, d.Name, err}
		}
	}
	w.initials = new(kin)
	for i := range initial {
		if !w.defs[i].Initial.Same(initial[i]) {
			w.defs[i].Initial, w.config.Fields[i].Initial = initial[i], initial[i]
			w.store.Other(fields.ID(i))
		}
	}
	w.inputs = w.queue.Take(w.inputs[:0], 0)
	return w.Reset(seed)
}

func (c *Config) queueSize() int {
	if c.QueueSize == 0 {
		return DefaultQueue
	}
	return c.QueueSize
}

// Submit queues a command for the next tick and copies its data. It returns a ticket, which the command's receipt will have,
// or why it refuses the command: commands.QueueFull, commands.Stopped (after [World.Stop], or while the world has halted), or
// commands.Unsupported or BadValue if no frame can hold it.
func (w *World) Submit(c commands.Command) (commands.Ticket, error) {
	w.made()
	if reason := c.Check(); reason != commands.Applied {
		return 0, reason
	}
	if w.halted.Load() {
		return 0, commands.Stopped
	}
	return w.queue.Push(&c)
}

// SubmitAll submits commands as [World.Submit] does, in order, up to the first that is
// refused. It returns the ticket of the first, which those of the others follow, how many were taken, and why the next one was
// not. It costs less for each command, and no command of another goroutine comes in between.
func (w *World) SubmitAll(list []commands.Command) (first commands.Ticket, taken int, err error) {
	w.made()
	if len(list) > 0 && w.halted.Load() {
		return 0, 0, commands.Stopped
	}
	return w.queue.PushAll(list)
}

// SubmitTogether submits all of some commands, or none: then it returns why. It returns the ticket of the first, which those of
// the others follow.
func (w *World) SubmitTogether(list []commands.Command) (first commands.Ticket, err error) {
	w.made()
	if w.halted.Load() {
		return 0, commands.Stopped
	}
	return w.queue.PushTogether(list)
}

// Queued returns how many commands wait for the next Step.
func (w *World) Queued() int {
	w.made()
	return w.queue.Len()
}

// Stop makes every later Submit fail with commands.Stopped. Like Submit it may be
// called from any goroutine. What was submitted before is taken by the next Step.
func (w *World) Stop() {
	w.made()
	w.queue.Stop()
}

// Tick returns the number of the last completed tick; 0 is genesis.
func (w *World) Tick() uint64 {
	w.made()
	return w.tick
}

// Hash returns the snapshot hash of the current state.
func (w *World) Hash() uint64 {
	w.made()
	return w.store.Hash()
}

// FieldHash returns the FNV-1a hash of one field's elements.
func (w *World) FieldHash(id fields.ID) uint64 {
	w.made()
	return w.store.FieldHash(id)
}

// Value returns element i of a field as a number.
func (w *World) Value(id fields.ID, i int) float64 {
	w.made()
	return w.defs[id].Value(w.store.Current(id).Bits(i))
}

// Borrow returns a field's column without a copy, for what reads much of the world between
// ticks. It must not be changed, and is valid until the next call of a method that changes
// the world, such as Step. Within a tick it panics with [ErrUnderWay].
func (w *World) Borrow(id fields.ID) *fields.Column {
	w.made()
	if err := w.maySave(); err != nil {
		panic(err)
	}
	return w.store.Current(id)
}

// Parameter returns the value of a parameter; false if the world has none with that key.
func (w *World) Parameter(key uint32) (float64, bool) {
	w.made()
	i, ok := w.params.find(key)
	if !ok {
		return 0, false
	}
	return w.params.values[i], true
}

// Lattice returns the world's space.
func (w *World) Lattice() *space.Lattice {
	w.made()
	return w.lattice
}

// Defs returns all fields, the engine's columns included, by id. They must not be changed.
func (w *World) Defs() []fields.Def {
	w.made()
	return w.defs
}

// Dt returns the length of a tick in seconds.
func (w *World) Dt() float64 {
	w.made()
	return w.dt
}

// Seed returns the master seed.
func (w *World) Seed() uint64 {
	w.made()
	return uint64(w.seed)
}

// Population returns the number of live entities.
func (w *World) Population() int {
	w.made()
	w.entities.refresh()
	return w.entities.live
}

// Pending returns the number of events that wait for a later tick.
func (w *World) Pending() int {
	w.made()
	return w.events.Len()
}

// Setup returns what the config hash of a recording with this descriptor covers.
func (w *World) Setup(descriptor []byte) fields.Setup {
	w.made()
	return fields.Setup{
		Seed: uint64(w.seed), Dt: w.dt, Fields: uint32(len(w.defs)), Cells: uint64(w.lattice.Cells()), Descriptor: descriptor,
	}
}
