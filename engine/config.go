package engine

import (
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/murksim/murksim/commands"
	"github.com/murksim/murksim/fields"
	"github.com/murksim/murksim/rng"
	"github.com/murksim/murksim/space"
)

// Version is the version of this program.
const Version = "0.1.0"

// RulesVersion counts the changes of results under the rules "murksim".
const RulesVersion = 1

// Defaults of a [Config].
const (
	DefaultTickRate = 20.0 // ticks a second
	DefaultQueue    = 65_536
	DefaultFailures = 3
	MaxEntities     = 1 << 28
	MaxWorkers      = 256
)

// GoodShare is a good [Config.Share]: with about this much work for each, two workers are
// faster than one by more than what it costs to bring them together.
const GoodShare = 16 * time.Microsecond

// MaxMemory is the most bytes that a world may take by [Config.Memory].
//
//detcheck:allow platformint a limit: a world that this machine cannot hold is refused, none changes
const MaxMemory = min(1<<40, math.MaxInt)

// A Config describes a world. A field left zero takes its default.
type Config struct {
	Space       space.Space  // required
	Fields      []fields.Def // user fields; a field's id is its index
	Propagators []Propagator // run in this order every tick
	Systems     []System     // run in this order after the propagators
	Handlers    []Handler    // of Custom commands, by type id
	Parameters  []Parameter  // named numbers that commands may set
	Capacity    int          // how many entities may live at once; 0: a world without entities
	Occupancy   int          // how many entities may stand on one cell; 0: any number
	Kinds       []string     // for people: the names of the kinds of entities, from 0; changes no result

	Rules     Rules         // how a tick works; default Murksim
	TickRate  float64       // ticks a second; the step is 1/TickRate seconds; default 20
	Timestep  float64       // the step in seconds, instead of a TickRate that no number gives exactly
	Seed      uint64        // master seed of all random streams
	Generator rng.Generator // of sequential streams; default ChaCha8
	QueueSize int           // inputs that may wait for one tick; default 65,536

	// Accept, unless nil, looks at the receipts of a tick once its events and inputs are applied. Its error fails the
	// tick. It must depend on nothing but its arguments, and keep nothing.
	Accept func(tick uint64, receipts []commands.Receipt) error

	MaxFailures int // failed ticks in a row after which the world stops until Reset; default 3; below 0: any number, but for ErrArithmetic

	Workers  int           // goroutines for parallel propagators; default 1; no bit of the result depends on it
	Share    time.Duration // least work of each worker, estimated by Spec.Cost; fewer workers run where it would be less; 0: no limit; see GoodShare
	Recorder Recorder      // nil records nothing
	Paranoid bool          // also check that all parts keep to their Spec and do the same twice, best with several Workers; for tests: see the package's comment
}

// A Parameter is a number that propagators read and commands set.
type Parameter struct {
	Key   uint32
	Name  string
	Value float64
}

// Dt returns the length of a tick in seconds.
func (c *Config) Dt() float64 {
	if c.Timestep != 0 {
		return c.Timestep
	}
	if c.TickRate == 0 {
		return 1 / DefaultTickRate
	}
	return 1 / c.TickRate
}

// The names of the engine's columns, which follow the user's fields: with entities, their
// id (0: free slot), kind and cell (-1: free slot); always last, the hash of the rest.
const (
	EntityID   = "entity.id"
	EntityKind = "entity.kind"
	EntityCell = "entity.cell"
	WorldRest  = "world.rest"
)

// columns are the ids of the engine's columns.
type columns struct {
	id, kind, cell, rest fields.ID
}

// defs returns the user's fields and the engine's columns after them.
func (c *Config) defs() ([]fields.Def, columns) {
	defs := append([]fields.Def(nil), c.Fields...)
	for i := range defs {
		if b := defs[i].Bounds; b != nil {
			defs[i].Bounds = new(*b) // the caller's may change
		}
	}
	var cols columns
	add := func(d fields.Def) fields.ID {
		defs = append(defs, d)
		return fields.ID(len(defs) - 1)
	}
	if c.Capacity > 0 {
		cols.id = add(fields.Def{Name: EntityID, Element: fields.Uint64, Domain: fields.Entities})
		cols.kind = add(fields.Def{Name: EntityKind, Element: fields.Int32, Domain: fields.Entities})
		cols.cell = add(fields.Def{Name: EntityCell, Element: fields.Int32, Domain: fields.Entities, Initial: fields.Fill(-1)})
	}
	if c.Rules.set().closed() {
		cols.rest = add(fields.Def{Name: WorldRest, Element: fields.Uint64})
	}
	return defs, cols
}

// clone returns a copy for the world to keep: the caller may change its lists, and Fork builds
// another world of the copy.
func (c *Config) clone() Config {
	n := *c
	n.Fields, _ = c.defs()
	n.Fields = n.Fields[:len(c.Fields):len(c.Fields)]
	n.Propagators, n.Systems = slices.Clone(c.Propagators), slices.Clone(c.Systems)
	n.Handlers, n.Parameters = slices.Clone(c.Handlers), slices.Clone(c.Parameters)
	return n
}

// sizes returns the numbers of elements of the columns.
func (c *Config) sizes(defs []fields.Def, cells int) []int {
	n := make([]int, len(defs))
	for i := range defs {
		n[i] = cells
		if defs[i].Domain == fields.Entities {
			n[i] = c.Capacity
		}
		n[i] *= defs[i].Type.Components()
		if defs[i].Name == WorldRest {
			n[i] = 1
		}
	}
	return n
}

// EntityColumns returns the ids of the engine's entity columns in a world with n
// user fields and a capacity above zero.
func EntityColumns(n int) (id, kind, cell fields.ID) {
	return fields.ID(n), fields.ID(n + 1), fields.ID(n + 2)
}

// Setup returns what [World.Setup] will return in the configuration's world, on a lattice of
// that many cells.
func (c *Config) Setup(cells int, descriptor []byte) fields.Setup {
	defs, _ := c.defs()
	return fields.Setup{Seed: c.Seed, Dt: c.Dt(), Fields: uint32(len(defs)), Cells: uint64(cells), Descriptor: descriptor}
}

// Memory returns an upper bound of the bytes that a world of this configuration takes,
// found without building it: three generations of every column, indexes, spans and
// scratch memory. Held snapshots and queued commands come on top. It returns an error
// if sizes in the configuration are not valid or too large.
func (c *Config) Memory() (uint64, error) {
	if err := c.checkLimits(); err != nil {
		return 0, &ConfigError{Index: -1, Err: err}
	}
	cells, total, err := space.Estimate(c.Space)
	if err != nil {
		return 0, &ConfigError{Part: "space", Index: -1, Err: err}
	}
	total *= 2 + uint64(c.Workers) // every worker has a list of its share's spans, and World.Run those of its tiles
	total += cells / leastTile * tileMemory
	const fixed, parameterBytes, fieldBytes, entityBytes = 1 << 17, 64, 2048, 3*(8+4+4) + 128
	total += fixed + uint64(len(c.Parameters))*parameterBytes + uint64(c.Capacity)*entityBytes
	if total > MaxMemory {
		return 0, &ConfigError{Index: -1, Err: fmt.Errorf("engine: %v with Capacity %d takes more than %d bytes", c.Space, c.Capacity, MaxMemory)}
	}
	for i := range c.Fields {
		d := &c.Fields[i]
		if err := d.Check(); err != nil {
			return 0, &ConfigError{"field", i, d.Name, err}
		}
		n := cells
		if d.Domain == fields.Entities {
			n = uint64(c.Capacity)
		}
		const generations = 3
		n *= uint64(d.Type.Components() * d.Element.Size() * generations) // below 2^31 * 2^16 * 8 * 3
		if total += n + fieldBytes; total > MaxMemory {
			return 0, &ConfigError{"field", i, d.Name, fmt.Errorf("with it the world takes more than %d bytes", MaxMemory)}
		}
	}
	return c.addStageMemory(total)
}

// addStageMemory adds the memory of propagators and systems.
func (c *Config) addStageMemory(total uint64) (uint64, error) {
	lattice, err := c.Space.Build()
	if err != nil {
		return 0, &ConfigError{Part: "space", Index: -1, Err: err}
	}
	const searchBytes, crowdBytes, countBytes = 4, 4, 4 // a cell, in memory that is made when it is first needed
	if c.Capacity > 0 && len(c.Systems) > 0 {
		total += uint64(lattice.Cells())*(searchBytes+crowdBytes) + uint64(c.Capacity)*crowdBytes
	}
	if c.Occupancy > 0 {
		total += (uint64(lattice.Cells()) + uint64(c.Capacity)) * countBytes
	}
	add := func(part string, i int, spec Spec, workers int) error {
		const stageBytes, workerBytes = 4096, 1024
		if spec.Scratch < 0 || uint64(spec.Scratch) > MaxMemory/4 {
			return &ConfigError{part, i, spec.Name, fmt.Errorf("Scratch must be 0 to %d elements, not %d", uint64(MaxMemory/4), spec.Scratch)}
		}
		if !spec.Parallel {
			workers = 1
		}
		if total += stageBytes + uint64(workers)*(workerBytes+4*uint64(spec.Scratch)); total > MaxMemory {
			return &ConfigError{part, i, spec.Name, fmt.Errorf("with it the world takes more than %d bytes", MaxMemory)}
		}
		return nil
	}
	for i, p := range c.Propagators {
		if missing(p) {
			return 0, &ConfigError{Part: "propagator", Index: i, Err: errNil}
		}
		if err := add("propagator", i, p.Spec(lattice), max(1, c.Workers)); err != nil {
			return 0, err
		}
	}
	for i, s := range c.Systems {
		if missing(s) {
			return 0, &ConfigError{Part: "system", Index: i, Err: errNil}
		}
		if err := add("system", i, s.Spec(lattice), 1); err != nil {
			return 0, err
		}
	}
	if total > MaxMemory {
		return 0, &ConfigError{Index: -1, Err: fmt.Errorf("engine: the world takes more than %d bytes", MaxMemory)}
	}
	return total, nil
}

func (c *Config) checkLimits() error {
	switch {
	case missing(c.Space):
		return fmt.Errorf("engine: Space is required")
	case c.Capacity < 0 || c.Capacity > MaxEntities:
		return fmt.Errorf("engine: Capacity must be 0 to %d, not %d", MaxEntities, c.Capacity)
	case c.Occupancy < 0:
		return fmt.Errorf("engine: Occupancy must be at least 0, not %d", c.Occupancy)
	case math.IsNaN(c.TickRate) || c.TickRate < 0 || c.TickRate > 1e9 || c.TickRate != 0 && c.TickRate < 1e-9:
		return fmt.Errorf("engine: TickRate must be 1e-9 to 1e9 ticks a second, not %v", c.TickRate)
	case math.IsNaN(c.Timestep) || c.Timestep < 0 || c.Timestep > 1e9 || c.Timestep != 0 && c.Timestep < 1e-9:
		return fmt.Errorf("engine: Timestep must be 1e-9 to 1e9 seconds, not %v", c.Timestep)
	case c.Timestep != 0 && c.TickRate != 0:
		return fmt.Errorf("engine: TickRate and Timestep must not both be given")
	case c.QueueSize < 0 || c.QueueSize > commands.MaxQueue:
		return fmt.Errorf("engine: QueueSize must be 0 to %d, not %d", commands.MaxQueue, c.QueueSize)
	case c.Workers < 0 || c.Workers > MaxWorkers:
		return fmt.Errorf("engine: Workers must be 0 to %d, not %d", MaxWorkers, c.Workers)
	case c.Share < 0:
		return fmt.Errorf("engine: Share must be at least 0, not %v", c.Share)
	case !c.Rules.exist():
		return fmt.Errorf("engine: %v do not exist", c.Rules)
	case c.Recorder != nil && missing(c.Recorder):
		return fmt.Errorf("engine: Recorder must not be a nil %T; for none, leave it out", c.Recorder)
	case c.Generator != rng.ChaCha8 && c.Generator != rng.ChaCha20:
		return fmt.Errorf("engine: Generator %d does not exist", c.Generator)
	}
	return c.Rules.set().check(c)
}
