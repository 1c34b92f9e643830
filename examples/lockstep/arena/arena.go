// Package arena is the world of a small game: two runners paint the cells that they stand on.
package arena

import (
	"errors"
	"slices"

	"github.com/murksim/murksim/commands"
	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/fields"
	"github.com/murksim/murksim/replay"
	"github.com/murksim/murksim/space"
)

// Side is how many rows and columns the arena has, and Players how many play.
const Side, Players = 16, 2

// The fields, and the type of the one custom command: a player runs in one of four directions.
const (
	Owner   fields.ID = iota // 0: nobody's
	Stamina                  // of a runner
	Run     uint32    = 1
)

// Descriptor is what recordings of the game begin with. Change it when the rules change.
var Descriptor = []byte(`{"game":"lockstep arena","version":1}`)

// Build builds the world of a recording: a [replay.Builder].
func Build(h *replay.Header) (*engine.World, error) {
	if string(h.World()) != string(Descriptor) {
		return nil, errors.New("another version of the game recorded it")
	}
	return engine.New(engine.Config{
		Space: space.Square4{Rows: Side, Cols: Side}, Seed: h.Seed, Capacity: Players, Occupancy: 1, Kinds: []string{"ada", "bob"},
		Fields: []fields.Def{
			Owner:   {Name: "owner", Type: fields.Categorical(1 + Players), Values: []string{"nobody", "ada", "bob"}},
			Stamina: {Name: "stamina", Unit: "steps", Domain: fields.Entities, Initial: fields.Fill(20), Bounds: &fields.Bounds{Max: 20}},
		},
		Systems: []engine.System{paint{}}, Handlers: []engine.Handler{run{}},
	})
}

// Start is what the host orders in the first tick.
func Start(w *engine.World) []commands.Command {
	return []commands.Command{w.SpawnKind(0, space.At(2, 2)), w.SpawnKind(1, space.At(Side-3, Side-3))}
}

// Runner is the id of a player's entity.
func Runner(player uint64) uint64 { return 1<<20 | (player + 1) }

// Directions are those in which a runner can go, and Go is the order of a player to do so.
var Directions = []string{"up", "down", "left", "right"}

func Go(player uint64, direction string, number uint64) commands.Command {
	return commands.Custom(Run, []byte(direction)).From(player, number)
}

// Score counts a player's cells.
func Score(w *engine.World, player uint64) (cells int) {
	for _, owner := range w.Column(Owner).Float32 {
		if owner == float32(player+1) {
			cells++
		}
	}
	return cells
}

// Over says that all cells are painted.
func Over(w *engine.World) bool { return Score(w, 0)+Score(w, 1) == Side*Side }

type run struct{}

// Type implements [engine.Handler].
func (run) Type() uint32 { return Run }

// Handle implements [engine.Handler].
func (run) Handle(c *engine.HandlerContext, data []byte) commands.Reason {
	id := Runner(c.Sender().Source)
	slot, ok := c.Slot(id)
	way := slices.Index(Directions, string(data))
	if !ok || way < 0 {
		return c.Refuse("there is no such runner or direction")
	}
	if c.Get(Stamina, slot) < 1 {
		return c.Refuse("the runner is out of breath")
	}
	to := c.Lattice().Coord(c.Cell(slot))
	step := [...][2]int32{{-1, 0}, {1, 0}, {0, -1}, {0, 1}}[way]
	if _, reason := c.Apply(commands.Move(id, space.At(to.At(0)+step[0], to.At(1)+step[1]))); reason != commands.Applied {
		return c.Refuse("the runner cannot go there: %v", reason)
	}
	return c.Set(Stamina, slot, c.Get(Stamina, slot)-1)
}

type paint struct{}

// Spec implements [engine.System].
func (paint) Spec(*space.Lattice) engine.Spec {
	return engine.Spec{Name: "paint", Incremental: engine.Fields(Owner, Stamina)}
}

// Update implements [engine.System]: a runner paints its cell, and gets its breath back.
func (paint) Update(c *engine.SystemContext) error {
	owner, stamina, all := c.Next(Owner), c.Next(Stamina), c.Entities()
	for slot := range all.Live() {
		owner[all.Cell[slot]] = float32(all.Kind[slot] + 1)
		stamina[slot] += 0.75
	}
	return nil
}
