package engine

import (
	"fmt"
	"math"

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
	MaxEntities     = 1 << 28
	MaxWorkers      = 256
)

// A Config describes a world. A field left zero takes its default.
type Config struct {
	Space       space.Space  // required
	Fields      []fields.Def // user fields; a field's id is its index
	Propagators []Propagator // run in this order every tick
	Systems     []System     // run in this order after the propagators
	Handlers    []Handler    // of Custom commands, by type id
	Parameters  []Parameter  // named numbers that commands may set
	Capacity    int          // how many entities may live at once; 0: a world without entities

	TickRate  float64       // ticks a second; the step is 1/TickRate seconds; default 20
	Seed      uint64        // master seed of all random streams
	Generator rng.Generator // of sequential streams; default ChaCha8
	QueueSize int           // inputs that may wait for one tick; default 65,536

	Workers  int      // goroutines for parallel propagators; default 1; no bit of the result depends on it
	Recorder Recorder // nil records nothing
	Paranoid bool     // also check that propagators keep to their Spec: slow, for tests
}

// A Parameter is a number that propagators read and commands set.
type Parameter struct {
	Key   uint32
	Name  string
	Value float64
}

// Dt is the length of a tick in seconds.
func (c *Config) Dt() float64 {
	if c.TickRate == 0 {
		return 1 / DefaultTickRate
	}
	return 1 / c.TickRate
}

// Engine columns stand after the user's fields: with entities, their id (0: free
// slot), kind and cell (-1: free slot); always last, the hash of the rest.
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
	cols.rest = add(fields.Def{Name: WorldRest, Element: fields.Uint64})
	return defs, cols
}

// sizes are the numbers of elements of the columns.
func (c *Config) sizes(defs []fields.Def, cells int) []int {
	n := make([]int, len(defs))
	for i := range defs {
		n[i] = cells
		if defs[i].Domain == fields.Entities {
			n[i] = c.Capacity
		}
		n[i] *= defs[i].Type.Components()
	}
	n[len(n)-1] = 1 // world.rest
	return n
}

// EntityColumns gives the ids of the engine's entity columns in a world with n
// user fields and a capacity above zero.
func EntityColumns(n int) (id, kind, cell fields.ID) {
	return fields.ID(n), fields.ID(n + 1), fields.ID(n + 2)
}

// Memory estimates the bytes that a world of this configuration takes, without
// building it: every generation of every column, indexes and spans. It reports a
// space that cannot be built.
func (c *Config) Memory() (uint64, error) {
	if c.Space == nil {
		return 0, fmt.Errorf("engine: Space is required")
	}
	cells, total, err := space.Estimate(c.Space)
	if err != nil {
		return 0, err
	}
	if err := c.checkLimits(); err != nil {
		return 0, err
	}
	const generations = 3
	for i := range c.Fields {
		d := &c.Fields[i]
		if err := d.Check(); err != nil {
			return 0, err
		}
		n := cells
		if d.Domain == fields.Entities {
			n = uint64(c.Capacity)
		}
		each := uint64(d.Type.Components() * d.Element.Size() * generations)
		if n > 0 && each > (math.MaxUint64>>2)/n {
			return 0, fmt.Errorf("engine: field %q: %d elements overflow", d.Name, n)
		}
		total += n * each
		if total > math.MaxUint64>>2 {
			return 0, fmt.Errorf("engine: field %q: memory overflows", d.Name)
		}
	}
	const entityBytes = 3*(8+4+4) + 64 // columns and indexes
	total += uint64(c.Capacity) * entityBytes
	return total, nil
}

func (c *Config) checkLimits() error {
	switch {
	case c.Space == nil:
		return fmt.Errorf("engine: Space is required")
	case c.Capacity < 0 || c.Capacity > MaxEntities:
		return fmt.Errorf("engine: Capacity is %d; must be 0 to %d", c.Capacity, MaxEntities)
	case math.IsNaN(c.TickRate) || c.TickRate < 0 || c.TickRate > 1e9 || c.TickRate != 0 && c.TickRate < 1e-9:
		return fmt.Errorf("engine: TickRate is %v ticks a second; must be 1e-9 to 1e9", c.TickRate)
	case c.QueueSize < 0 || c.QueueSize > commands.MaxQueue:
		return fmt.Errorf("engine: QueueSize is %d; must be 0 to %d", c.QueueSize, commands.MaxQueue)
	case c.Workers < 0 || c.Workers > MaxWorkers:
		return fmt.Errorf("engine: Workers is %d; must be 0 to %d", c.Workers, MaxWorkers)
	case c.Generator != rng.ChaCha8 && c.Generator != rng.ChaCha20:
		return fmt.Errorf("engine: Generator %d does not exist", c.Generator)
	}
	return nil
}
