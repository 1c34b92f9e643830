package engine

import (
	"fmt"
	"iter"

	"github.com/murksim/murksim/commands"
	"github.com/murksim/murksim/fields"
	"github.com/murksim/murksim/rng"
	"github.com/murksim/murksim/space"
)

// A SystemContext is what a system sees of the world during one Update: what a [Context]
// offers, and entities and events.
//
// Entity columns have one value (or vector) for each slot. A free slot has id 0, cell -1
// and its attributes at their initial values, which a system must not change.
type SystemContext struct {
	Context
}

// Entities is the population during an Update, as earlier parts of this tick left
// it. The slices are the engine's columns and must not be written.
type Entities struct {
	ID   []uint64 // 0: free slot
	Kind []int32
	Cell []int32 // rank; -1 in a free slot
}

// Live goes over the entities that live, by ascending slot: the slot and the id of each.
func (e Entities) Live() iter.Seq2[int, uint64] {
	return func(yield func(int, uint64) bool) {
		for slot, id := range e.ID {
			if id != 0 && !yield(slot, id) {
				return
			}
		}
	}
}

// Entities returns the population, slot by slot; none in a world without entities.
func (c *SystemContext) Entities() Entities {
	w := c.world()
	if w.entities.capacity == 0 {
		return Entities{}
	}
	return Entities{w.store.Now(w.cols.id).Uint64, w.store.Now(w.cols.kind).Int32, w.store.Now(w.cols.cell).Int32}
}

// Population returns the number of entities at the start of the tick, commands applied.
func (c *SystemContext) Population() int { return c.world().entities.live }

// Slot returns the slot of the entity with an id, and whether there is one.
func (c *SystemContext) Slot(id uint64) (slot int, ok bool) { return c.world().entities.slot(id) }

// AppendAt appends the slots of the entities that stood on a cell at the start of
// the tick, commands applied, in slot order.
func (c *SystemContext) AppendAt(dst []int32, cell int) []int32 {
	return c.world().entities.appendAt(dst, cell)
}

// AppendSpawns appends the cells of the spawns that are scheduled for the end of this tick so
// far, by any system, in the order in which they will be applied. With [SystemContext.Population] it says
// how many more entities the world has room for, and with the cells of the living how many
// more a cell has: a spawn within both is not refused for want of room.
func (c *SystemContext) AppendSpawns(dst []int32) []int32 {
	c.world().events.EachDue(func(cmd *commands.Command) {
		if cmd.Kind != commands.KindSpawn {
			return
		}
		if cell, ok := c.w.lattice.Rank(cmd.Coord); ok {
			dst = append(dst, int32(cell))
		}
	})
	return dst
}

// AppendDespawns appends the ids of the entities whose despawn is scheduled for the end of this tick so far, by any system, in the order in which they will be applied.
func (c *SystemContext) AppendDespawns(dst []uint64) []uint64 {
	c.world().events.EachDue(func(cmd *commands.Command) {
		if cmd.Kind == commands.KindDespawn && cmd.Expires > c.w.tick {
			dst = append(dst, cmd.Entity)
		}
	})
	return dst
}

// Schedule keeps a command as an event for a tick, this one or a later one, and copies its
// data. It returns the event's id, or a [commands.Reason]: Expired for a tick in the past.
//
// An event of a later tick is applied before the inputs of its priority. Those of this tick
// are applied after its last system, in canonical order, to the state that it left; what
// they schedule in turn is for later ticks. Do not store ids in float columns, which cannot
// hold them: a system that keeps an id for Cancel keeps it unchanged in a column of Fixed.
func (c *SystemContext) Schedule(due uint64, cmd commands.Command) (event uint64, err error) {
	return c.world().schedule(due, cmd)
}

// Cancel takes back an event that waits, and reports whether there was one.
func (c *SystemContext) Cancel(event uint64) bool { return c.world().events.Cancel(event) }

// EntityBulk returns random draws by entity id, in any order. It counts as one draw
// of the stream of that number, once a tick.
func (c *SystemContext) EntityBulk(number uint64) rng.Bulk {
	w := c.world()
	return c.s.bulk(w, c.s.spec.Name, number, w.entities.live)
}

// EntityPlace is [SystemContext.EntityBulk] of a place that the Spec lists, as [Context.Place] is of a propagator.
func (c *SystemContext) EntityPlace(place string, number uint64) rng.Bulk {
	return c.s.bulk(c.world(), c.placeName(place), number, c.w.entities.live)
}

// A HandlerContext is what a handler of Custom commands may see and do. Like all commands,
// it acts on the state at the start of the tick. It is valid during that Handle only: after
// it, its methods panic.
type HandlerContext struct {
	w    *World // nil, but during Handle
	name string // of its random streams
	meta commands.Meta
	why  string
}

// world returns the world. It panics if the context is used when no Handle has it.
func (c *HandlerContext) world() *World {
	if c == nil || c.w == nil {
		panic("engine: a context is used outside of the Handle that it was handed to")
	}
	return c.w
}

// Tick returns the number of the tick that is being computed.
func (c *HandlerContext) Tick() uint64 { return c.world().tick + 1 }

// Sender returns what the command carries besides its data: who sent it, and its number.
func (c *HandlerContext) Sender() commands.Meta { return c.meta }

// Lattice returns the world's lattice.
func (c *HandlerContext) Lattice() *space.Lattice { return c.world().lattice }

// Parameter returns the value of a parameter as it is now. It panics if the world has none with the key, as [Context.Parameter] does.
func (c *HandlerContext) Parameter(key uint32) float64 {
	i, ok := c.world().params.find(key)
	if !ok {
		panic(fmt.Sprintf("engine: the handler of %s asks for parameter %d, which the world does not have", c.name, key))
	}
	return c.w.params.values[i]
}

// Refuse returns the answer of a handler to a command that its own rules do not allow, and tells why in the receipt. What it says must depend on nothing
// but the state and the command.
func (c *HandlerContext) Refuse(format string, args ...any) commands.Reason {
	c.why = fmt.Sprintf(format, args...)
	return commands.Refused
}

// Get returns the number that element i of a field holds.
func (c *HandlerContext) Get(id fields.ID, i int) float64 {
	return c.world().defs[id].Value(c.w.store.Current(id).Bits(i))
}

// Set writes element i of a user field, as SetField does.
func (c *HandlerContext) Set(id fields.ID, i int, v float64) commands.Reason {
	if id >= fields.ID(c.world().userFields) {
		return commands.UnknownField
	}
	if i < 0 || i >= c.w.store.Current(id).Len() {
		return commands.OutsideSpace
	}
	return c.w.setElement(id, i, v)
}

// Apply applies another command at once, without a receipt. Custom commands are Unsupported
// here.
func (c *HandlerContext) Apply(cmd commands.Command) (made uint64, reason commands.Reason) {
	if cmd.Kind == commands.KindCustom {
		return 0, commands.Unsupported
	}
	return c.world().apply(&cmd)
}

// Schedule keeps a command as an event, as [SystemContext.Schedule] does.
func (c *HandlerContext) Schedule(due uint64, cmd commands.Command) (event uint64, err error) {
	return c.world().schedule(due, cmd)
}

// Cancel takes back an event that waits, and reports whether there was one.
func (c *HandlerContext) Cancel(event uint64) bool { return c.world().events.Cancel(event) }

// Cell returns the rank of the cell on which the entity in a slot stands; -1 if the slot is free.
func (c *HandlerContext) Cell(slot int) int {
	return int(c.world().store.Current(c.w.cols.cell).Int32[slot])
}

// Slot returns the slot of the entity with an id, and whether there is one.
func (c *HandlerContext) Slot(id uint64) (slot int, ok bool) { return c.world().entities.slot(id) }

// Entities returns the entities as the commands before this one left them, valid until the next Set or Apply. They must not be written.
func (c *HandlerContext) Entities() Entities { return c.world().Entities() }

// Stream returns a sequential random stream of this handler.
func (c *HandlerContext) Stream(number uint64) *rng.Stream {
	return c.world().streams.Stream(c.name, number)
}
