package engine_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/murksim/murksim/commands"
	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/fields"
	"github.com/murksim/murksim/space"
)

// adder writes every cell of field 0, so that a command has something to stand on.
func adder(by float32) engine.Propagator {
	return propagator{engine.Spec{Name: "adder", Incremental: engine.Fields(0)}, func(c *engine.Context) error {
		for i := range c.Next(0) {
			c.Next(0)[i] += by
		}
		return nil
	}}
}

// TestEventsOfThisTick holds that what systems schedule for this tick is applied after
// the last of them, in canonical order, to what propagators and systems wrote.
func TestEventsOfThisTick(t *testing.T) {
	first := scheduler(func(c *engine.SystemContext) error {
		_, err1 := c.Schedule(at(c.Tick(), 1, 50))
		_, err2 := c.Schedule(at(c.Tick(), 0, 40))
		gone, err3 := c.Schedule(at(c.Tick(), 1, 60))
		if !c.Cancel(gone) {
			t.Error("an event of this tick cannot be cancelled")
		}
		return errors.Join(err1, err2, err3)
	})
	second := system{engine.Spec{Name: "reader", Now: engine.Fields(0)}, func(c *engine.SystemContext) error {
		if got := c.Now(0)[0]; c.Tick() == 1 && got != 1 {
			t.Errorf("a later system reads %v, want 1: commands of this tick come after all systems", got)
		}
		return nil
	}}
	w := build(t, engine.Config{Fields: cells(2), Propagators: []engine.Propagator{adder(1)}, Systems: []engine.System{first, second}})
	snapshot := w.Snapshot()
	receipts := applied(t, w)
	var got []float32
	for _, r := range receipts {
		if !r.Event || r.Arrival>>20 != 1 {
			t.Errorf("receipt %+v, want an event of tick 1", r)
		}
		got = append(got, r.Float32())
	}
	if want := []float32{40, 50}; !slices.Equal(got, want) {
		t.Errorf("applied %v, want %v", got, want)
	}
	wantValues(t, w, 0, 50, 1, 1, 1)
	applied(t, w)
	wantValues(t, w, 0, 50, 2, 2, 2)
	if snapshot.At(0, 0) != 0 {
		t.Errorf("a snapshot of genesis changed to %v", snapshot.At(0, 0))
	}
	snapshot.Release()
}

// TestOccupancyOfThisTick holds that what comes at the end of a tick finds entities where
// systems put them, not where commands of the tick saw them.
func TestOccupancyOfThisTick(t *testing.T) {
	_, _, cell := engine.EntityColumns(0)
	mover := system{engine.Spec{Name: "mover", Incremental: engine.Fields(cell)}, func(c *engine.SystemContext) error {
		if c.Tick() != 2 {
			return nil
		}
		c.NextColumn(cell).Int32[0] = 1
		_, err1 := c.Schedule(2, commands.Spawn(space.At(0)))
		_, err2 := c.Schedule(2, commands.Spawn(space.At(1)))
		return errors.Join(err1, err2)
	}}
	w := build(t, engine.Config{Capacity: 4, Systems: []engine.System{mover}, Occupancy: 1, Space: space.Ring{Length: 4}})
	applied(t, w, commands.Spawn(space.At(0)))
	var got []commands.Reason
	for _, r := range step(t, w, commands.Spawn(space.At(3))) {
		got = append(got, r.Reason)
	}
	if want := []commands.Reason{commands.Applied, commands.Applied, commands.Occupied}; !slices.Equal(got, want) {
		t.Errorf("receipts %v, want %v", got, want)
	}
}

// TestStepOntoTheDying holds that an entity may be put onto the cell of one that dies at the end of the tick, but of no other one.
func TestStepOntoTheDying(t *testing.T) {
	var ids []uint64
	var despawn commands.Command
	due := uint64(2)
	hunter := system{engine.Spec{Name: "hunter", Incremental: engine.Fields(entityCell)}, func(c *engine.SystemContext) error {
		if c.Tick() != 2 {
			return nil
		}
		c.NextColumn(entityCell).Int32[0] = 1
		_, err := c.Schedule(due, despawn)
		return err
	}}
	hunt := func(t *testing.T) *engine.World {
		ids = nil
		w := build(t, engine.Config{
			Capacity: 3, Systems: []engine.System{hunter}, Occupancy: 1, Space: space.Ring{Length: 4},
			Fields: []fields.Def{{Name: "energy", Domain: fields.Entities, Initial: fields.Fill(2)}},
		})
		for _, r := range applied(t, w, commands.Spawn(space.At(0)), commands.Spawn(space.At(1)), commands.Spawn(space.At(3))) {
			ids = append(ids, r.Made)
		}
		return w
	}
	w := hunt(t)
	despawn = commands.Despawn(ids[1])
	step(t, w)
	wantValues(t, w, entityCell, 1, -1, 3)
	for name, change := range map[string]func(){
		"another one dies": func() { despawn = commands.Despawn(ids[2]) },
		"it dies later":    func() { due = 3 },
		"it has expired":   func() { despawn.Expires = 1 },
		"it moves":         func() { despawn = commands.Move(ids[1], space.At(2)) },
	} {
		t.Run(name, func(t *testing.T) {
			w := hunt(t)
			due, despawn = 2, commands.Despawn(ids[1])
			change()
			hash := w.Hash()
			_, err := w.Step()
			if e, ok := errors.AsType[*engine.TickError](err); !ok || !strings.Contains(err.Error(), "more than 1 entities are put there") || e.Where != "hunter" || w.Hash() != hash {
				t.Errorf("%v, want that a cell has too many", err)
			}
		})
	}
}

// TestEntitiesOfThisTick spawns, moves and removes at the end of a tick whose system has
// moved everybody.
func TestEntitiesOfThisTick(t *testing.T) {
	var ids []uint64
	mover := system{engine.Spec{Name: "mover", Incremental: engine.Fields(entityCell)}, func(c *engine.SystemContext) error {
		cells, e := c.NextColumn(entityCell).Int32, c.Entities()
		for slot, id := range e.ID {
			if id != 0 {
				cells[slot] = (cells[slot] + 1) % 4
			}
		}
		if c.Tick() != 3 {
			return nil
		}
		_, err1 := c.Schedule(3, commands.Despawn(ids[0]))
		_, err2 := c.Schedule(3, commands.Spawn(space.At(2), commands.FieldValue{Field: energy, Value: 9}))
		_, err3 := c.Schedule(3, commands.Move(ids[1], space.At(0)))
		return errors.Join(err1, err2, err3)
	}}
	w := build(t, engine.Config{
		Capacity: 3, Systems: []engine.System{mover}, Occupancy: 1, Space: space.Ring{Length: 4},
		Fields: []fields.Def{{Name: "energy", Domain: fields.Entities, Initial: fields.Fill(2)}},
	})
	step(t, w)
	for _, r := range applied(t, w, commands.Spawn(space.At(0)), commands.Spawn(space.At(1))) {
		ids = append(ids, r.Made)
	}
	made := applied(t, w)[1].Made
	if want := uint64(3<<20 | 1); made != want {
		t.Errorf("the spawn made %d, want %d", made, want)
	}
	wantValues(t, w, entityID, float64(made), float64(ids[1]), 0)
	wantValues(t, w, entityCell, 2, 0, -1)
	wantValues(t, w, energy, 9, 2, 2)
	if w.Population() != 2 {
		t.Errorf("%d live, want 2", w.Population())
	}
	applied(t, w)
	wantValues(t, w, entityCell, 3, 1, -1)
}

// TestTickRollsBackItsLastCommands lets the recorder fail after them.
func TestTickRollsBackItsLastCommands(t *testing.T) {
	s := scheduler(func(c *engine.SystemContext) error {
		for i := range 4 {
			if _, err := c.Schedule(c.Tick(), set(space.At(int32(i)), uint32(i%2), 7)); err != nil {
				return err
			}
		}
		return nil
	})
	fail := false
	w := build(t, engine.Config{Fields: cells(2), Propagators: []engine.Propagator{adder(1)}, Systems: []engine.System{s},
		Recorder: recorder(func(*engine.Tick) error {
			if fail {
				return errPlanned
			}
			return nil
		})})
	applied(t, w, set(space.At(3), 0, 5))
	hash := w.Hash()
	wantValues(t, w, 0, 7, 1, 7, 6)
	fail = true
	if _, err := w.Submit(set(space.At(1), 0, 100)); err != nil {
		t.Fatal(err)
	}
	if receipts, err := w.Step(); !errors.Is(err, errPlanned) || len(receipts) != 5 {
		t.Fatalf("%d receipts, %v; want 5 and the planned failure", len(receipts), err)
	}
	if w.Hash() != hash || w.Pending() != 0 {
		t.Errorf("the failed tick left %#x, %d events; want %#x, none", w.Hash(), w.Pending(), hash)
	}
	fail = false
	applied(t, w)
	wantValues(t, w, 0, 7, 2, 7, 7)
	wantValues(t, w, 1, 0, 7, 0, 7)
}

// TestLastCommandsScheduleForLater holds that there is no second end of a tick.
func TestLastCommandsScheduleForLater(t *testing.T) {
	var got []error
	h := handler{5, func(c *engine.HandlerContext, _ []byte) commands.Reason {
		for _, due := range []uint64{c.Tick(), c.Tick() + 1} {
			_, err := c.Schedule(due, set(space.At(0), 0, float32(due)))
			got = append(got, err)
		}
		return commands.Applied
	}}
	s := scheduler(func(c *engine.SystemContext) error {
		if c.Tick() > 1 {
			return nil
		}
		_, err := c.Schedule(c.Tick(), commands.Custom(5, nil))
		return err
	})
	w := unchecked(t, engine.Config{Space: space.Ring{Length: 4}, Fields: cells(1), Systems: []engine.System{s}, Handlers: []engine.Handler{h}})
	applied(t, w)
	if len(got) != 2 || !errors.Is(got[0], commands.Expired) || got[1] != nil {
		t.Errorf("Schedule = %v, want expired, then nil", got)
	}
	applied(t, w)
	wantValues(t, w, 0, 2, 0, 0, 0)
}

// TestEventsFromOutside schedules and cancels by commands, and goes on from a saved state.
func TestEventsFromOutside(t *testing.T) {
	config := engine.Config{Space: space.Ring{Length: 4}, Fields: cells(1)}
	w := build(t, config)
	receipts := applied(t, w,
		commands.Later(4, set(space.At(0), 0, 1)), commands.Later(4, set(space.At(1), 0, 2)), commands.Later(5, set(space.At(2), 0, 3)))
	for i, r := range receipts {
		if want := uint64(1<<20 + i + 1); r.Made != want || r.Event {
			t.Errorf("receipt %d made event %d, want %d", i, r.Made, want)
		}
	}
	applied(t, w, commands.Cancel(receipts[1].Made))
	state, err := w.Save(nil)
	if err != nil {
		t.Fatal(err)
	}
	restored, err := engine.Restore(config, nil, state)
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		applied(t, w)
		applied(t, restored)
		if w.Hash() != restored.Hash() {
			t.Fatalf("tick %d: hash %#x, restored %#x", w.Tick(), w.Hash(), restored.Hash())
		}
	}
	wantValues(t, w, 0, 1, 0, 3, 0)
}

// TestEventsFromOutsideRefused holds the reasons.
func TestEventsFromOutsideRefused(t *testing.T) {
	long := commands.Later(9, commands.Despawn(1))
	long.Data = long.Data[:20]
	for _, tt := range []struct {
		command commands.Command
		want    commands.Reason
	}{
		{commands.Later(1, commands.Despawn(1)), commands.Expired},
		{commands.Later(0, commands.Despawn(1)), commands.Expired},
		{commands.Cancel(7), commands.UnknownEvent},
		{long, commands.BadValue},
		{commands.Custom(commands.LaterType, nil), commands.BadValue},
		{commands.Custom(commands.CancelType, make([]byte, 9)), commands.BadValue},
	} {
		fresh := build(t, engine.Config{Fields: cells(1)})
		if r := step(t, fresh, tt.command); len(r) != 1 || r[0].Reason != tt.want || r[0].Made != 0 {
			t.Errorf("%s %x: %v, want %v", tt.command.Kind, tt.command.Data, r, tt.want)
		}
	}
	_, err := engine.New(engine.Config{Space: space.Ring{Length: 4}, Fields: cells(1), Handlers: []engine.Handler{handler{commands.LaterType, nil}}})
	var wrong *engine.ConfigError
	if !errors.As(err, &wrong) || wrong.Part != "handler" {
		t.Errorf("a handler of commands.Later: %v, want a ConfigError of a handler", err)
	}
}

// TestSpawnsToCome holds that a system learns of the spawns that earlier systems scheduled
// for the end of the tick, and of no others.
func TestSpawnsToCome(t *testing.T) {
	first := scheduler(func(c *engine.SystemContext) error {
		_, err1 := c.Schedule(c.Tick(), commands.Spawn(space.At(2)))
		_, err2 := c.Schedule(c.Tick()+1, commands.Spawn(space.At(3)))
		gone, err3 := c.Schedule(c.Tick(), commands.Spawn(space.At(1)))
		c.Cancel(gone)
		_, err4 := c.Schedule(c.Tick(), commands.Despawn(77))
		_, err5 := c.Schedule(c.Tick(), commands.Spawn(space.At(0)))
		return errors.Join(err1, err2, err3, err4, err5)
	})
	var got [][]int32
	second := system{engine.Spec{Name: "reader"}, func(c *engine.SystemContext) error {
		got = append(got, c.AppendSpawns(nil))
		return nil
	}}
	w := unchecked(t, engine.Config{Capacity: 40, Systems: []engine.System{first, second}, Space: space.Ring{Length: 4}})
	for range 2 {
		step(t, w)
	}
	if want := [][]int32{{2, 0}, {2, 0}}; !slices.EqualFunc(got, want, slices.Equal) {
		t.Errorf("spawns to come are on the cells %v, want %v", got, want)
	}
}
