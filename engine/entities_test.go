package engine_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/murksim/murksim/commands"
	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/fields"
	"github.com/murksim/murksim/space"
)

// A wanderer is a system that puts every entity on the next cell and counts in its
// only field how many others stood where it was. Its field is the world's first.
type wanderer struct{ others []int32 } // scratch memory: nothing in it outlives an Update

// wander is a wanderer in a world with one user field, an attribute of entities.
func wander() engine.System { return &wanderer{} }

func (s *wanderer) Spec(*space.Lattice) engine.Spec {
	_, _, cell := engine.EntityColumns(1)
	return engine.Spec{Name: "wander", Incremental: engine.Fields(0, cell)}
}

func (s *wanderer) Update(c *engine.SystemContext) error {
	_, _, cell := engine.EntityColumns(1)
	next, met := c.NextColumn(cell).Int32, c.Next(0)
	for slot, id := range c.Entities().ID {
		if id == 0 {
			continue
		}
		s.others = c.AppendAt(s.others[:0], int(next[slot]))
		met[slot] = float32(len(s.others) - 1)
		next[slot] = (next[slot] + 1) % int32(c.Lattice().Cells())
	}
	return nil
}

// herd is a world with one attribute of entities, "energy", which begins at 2.
func herd(t testing.TB, capacity int, systems ...engine.System) *engine.World {
	return build(t, engine.Config{
		Capacity: capacity, Systems: systems,
		Fields: []fields.Def{{Name: "energy", Domain: fields.Entities, Initial: fields.Fill(2)}},
	})
}

const energy, entityID, entityKind, entityCell = 0, 1, 2, 3 // fields of a herd

func TestSpawnIDsAndSlots(t *testing.T) {
	w := herd(t, 4)
	step(t, w)
	receipts := applied(t, w, commands.Spawn(space.At(1)), commands.Spawn(space.At(2)), commands.Spawn(space.At(1)))
	var made []uint64
	for _, r := range receipts {
		made = append(made, r.Made)
	}
	if want := []uint64{2<<20 | 1, 2<<20 | 2, 2<<20 | 3}; !slices.Equal(made, want) {
		t.Fatalf("made %d, want %d", made, want)
	}
	wantValues(t, w, entityID, 2<<20|1, 2<<20|2, 2<<20|3, 0)
	wantValues(t, w, entityCell, 1, 2, 1, -1)

	applied(t, w, commands.Despawn(made[1]), commands.Despawn(made[0]))
	wantValues(t, w, entityID, 0, 0, 2<<20|3, 0)
	reborn := applied(t, w, commands.Spawn(space.At(3)), commands.Move(made[2], space.At(0)))[0].Made
	wantValues(t, w, entityID, 4<<20|1, 0, 2<<20|3, 0)
	wantValues(t, w, entityCell, 3, -1, 0, -1)
	if got := w.Population(); got != 2 {
		t.Errorf("population %d, want 2", got)
	}

	// The id that was in slot 0 before names nobody now.
	for _, c := range []commands.Command{
		commands.Move(made[0], space.At(1)), commands.Despawn(made[0]), commands.SetField(commands.EntityCoord(made[0]), energy, 1),
	} {
		if r := step(t, w, c); r[0].Reason != commands.UnknownEntity {
			t.Errorf("%v of a dead entity: %v, want unknown entity", c.Kind, r[0].Reason)
		}
	}
	applied(t, w, commands.Move(reborn, space.At(2)))
	wantValues(t, w, entityCell, 2, -1, 0, -1)
}

func TestSpawnAndDespawnInOneTick(t *testing.T) {
	w := herd(t, 1)
	receipts := step(t, w,
		commands.Spawn(space.At(0)), commands.Spawn(space.At(1)), commands.Despawn(1<<20|1), commands.Spawn(space.At(2)))
	want := []commands.Reason{commands.Applied, commands.CapacityFull, commands.Applied, commands.Applied}
	for i, r := range receipts {
		if r.Reason != want[i] {
			t.Errorf("command %d: %v, want %v", i, r.Reason, want[i])
		}
	}
	wantValues(t, w, entityID, 1<<20|2)
	wantValues(t, w, entityCell, 2)
}

func TestDespawnResetsAttributes(t *testing.T) {
	w := herd(t, 2)
	applied(t, w,
		commands.Spawn(space.At(1), commands.FieldValue{Field: energy, Value: 9}, commands.FieldValue{Field: entityKind, Value: 5}),
		commands.Spawn(space.At(1)))
	wantValues(t, w, energy, 9, 2)
	wantValues(t, w, entityKind, 5, 0)
	applied(t, w, commands.Despawn(1<<20|1))
	wantValues(t, w, energy, 2, 2)
	wantValues(t, w, entityKind, 0, 0)
	wantValues(t, w, entityCell, -1, 1)
}

func TestSpawnSetsEveryAttribute(t *testing.T) {
	drain := system{engine.Spec{Name: "drain", Incremental: engine.Fields(energy)}, func(c *engine.SystemContext) error {
		for i := range c.Next(energy) { // free slots as well
			c.Next(energy)[i]--
		}
		return nil
	}}
	w := herd(t, 2, drain)
	for range 3 {
		step(t, w)
	}
	applied(t, w, commands.Spawn(space.At(0)))
	if got := w.Value(energy, 0); got != 1 {
		t.Errorf("energy after its first tick %v, want 1: what others wrote into the free slot is gone", got)
	}
}

func TestVectorAttributes(t *testing.T) {
	w := build(t, engine.Config{Capacity: 2, Fields: []fields.Def{
		{Name: "v", Domain: fields.Entities, Type: fields.Vector(3), Element: fields.Fixed, Initial: fields.Fill(1)},
		{Name: "f", Type: fields.Vector(2)},
	}})
	applied(t, w, commands.Spawn(space.At(0), commands.FieldValue{Field: 0, Value: 7}), commands.Spawn(space.At(0)))
	wantValues(t, w, 0, 7, 7, 7, 1, 1, 1)
	second := commands.EntityCoord(1<<20 | 2)
	applied(t, w, commands.SetField(second.Append(2), 0, 0.25), commands.SetField(space.At(3, 1), 1, 4))
	wantValues(t, w, 0, 7, 7, 7, 1, 1, 0.25)
	wantValues(t, w, 1, 0, 0, 0, 0, 0, 0, 0, 4)
	for _, at := range []space.Coord{second, second.Append(3), second.Append(-1)} {
		r := step(t, w, commands.SetField(at, 0, 1))[0]
		if r.Reason == commands.Applied {
			t.Errorf("SetField at %v was applied, want a refusal", at)
		}
	}
}

// looker is a system that holds the indexes against the columns.
func looker(t *testing.T) engine.System {
	return system{engine.Spec{Name: "looker"}, func(c *engine.SystemContext) error {
		e, live := c.Entities(), 0
		for slot, id := range e.ID {
			if id == 0 {
				continue
			}
			live++
			if got, ok := c.Slot(id); got != slot || !ok {
				t.Errorf("tick %d: Slot(%d) = %d, %v, want %d", c.Tick(), id, got, ok, slot)
			}
		}
		if got := c.Population(); got != live {
			t.Errorf("tick %d: population %d, want %d", c.Tick(), got, live)
		}
		for cell := range c.Lattice().Cells() {
			var want []int32
			for slot, at := range e.Cell {
				if int(at) == cell {
					want = append(want, int32(slot))
				}
			}
			if got := c.AppendAt(nil, cell); !slices.Equal(got, want) {
				t.Errorf("tick %d: AppendAt(%d) = %d, want %d", c.Tick(), cell, got, want)
			}
		}
		return nil
	}}
}

// The indexes that systems ask agree with the columns, whatever commands did before.
func TestIndexesFollowTheColumns(t *testing.T) {
	refuse := handler{1, func(c *engine.HandlerContext, _ []byte) commands.Reason {
		c.Apply(commands.Spawn(space.At(3)))
		c.Apply(commands.Despawn(1<<20 | 2))
		c.Apply(commands.Move(1<<20|1, space.At(2)))
		return commands.BadValue
	}}
	script := [][]commands.Command{
		{commands.Spawn(space.At(0)), commands.Spawn(space.At(0)), commands.Spawn(space.At(1))},
		{commands.Move(1<<20|1, space.At(3)), commands.Despawn(1<<20 | 3)},
		{},
		{commands.Spawn(space.At(2)), commands.Custom(1, nil), commands.Spawn(space.At(2))},
		{commands.Custom(1, nil)},
		{commands.Move(4<<20|1, space.At(0)), commands.Move(4<<20|2, space.At(0)), commands.Despawn(1<<20 | 1)},
		{commands.Spawn(space.At(1))},
	}
	for _, systems := range [][]engine.System{{looker(t)}, {looker(t), wander()}} {
		w := build(t, engine.Config{
			Capacity: 5, Systems: systems, Handlers: []engine.Handler{refuse}, Fields: []fields.Def{{Name: "energy", Domain: fields.Entities}},
		})
		for _, list := range script {
			for _, r := range step(t, w, list...) {
				if want := r.Kind == commands.KindCustom; (r.Reason == commands.BadValue) != want || !want && r.Reason != commands.Applied {
					t.Errorf("tick %d: %s: %s", w.Tick(), r.Kind.String(), r.Reason.String())
				}
			}
		}
		wantValues(t, w, entityID, 7<<20|1, 1<<20|2, 4<<20|1, 4<<20|2, 0)
	}
}

// TestMostSpawns holds that a tick makes as many entities as its ids have numbers for, and
// refuses more.
func TestMostSpawns(t *testing.T) {
	const most = 1<<20 - 1
	made, reason := uint64(0), commands.Applied
	w, err := engine.New(engine.Config{Space: space.Line{Length: 1}, Fields: cells(1), Capacity: most + 1, Handlers: []engine.Handler{
		handler{5, func(c *engine.HandlerContext, _ []byte) commands.Reason {
			for range most {
				if made, reason = c.Apply(commands.Spawn(space.At(0))); reason != commands.Applied {
					return reason
				}
			}
			_, reason = c.Apply(commands.Spawn(space.At(0)))
			return commands.Applied
		}},
	}})
	if err != nil {
		t.Fatal(err)
	}
	applied(t, w, commands.Custom(5, nil))
	if w.Population() != most || made != 1<<20|most || reason != commands.CapacityFull {
		t.Errorf("%d entities, the last is %d, one more: %v; want %d, %d and %v", w.Population(), made, reason, most, 1<<20|most, commands.CapacityFull)
	}
	if applied(t, w, commands.Spawn(space.At(0)))[0].Made != 2<<20|1 {
		t.Error("the next tick does not begin anew")
	}
}

// The same holds after a tick that failed when its commands had been applied.
func TestIndexesAfterAFailedTick(t *testing.T) {
	var fail error
	w := herd(t, 3, looker(t), scheduler(func(*engine.SystemContext) error { return fail }))
	applied(t, w, commands.Spawn(space.At(0)), commands.Spawn(space.At(1)))
	fail = errors.New("planned")
	submit(t, w, commands.Despawn(1<<20|1), commands.Spawn(space.At(3)), commands.Spawn(space.At(3)), commands.Move(1<<20|2, space.At(2)))
	receipts, err := w.Step()
	if err == nil {
		t.Fatal("Step succeeds, want the planned failure")
	}
	for _, r := range receipts {
		if r.Reason != commands.RolledBack || r.Made != 0 {
			t.Errorf("%v: %v, made %d, want rolled back, 0", r.Kind, r.Reason, r.Made)
		}
	}
	fail = nil
	if got := w.Population(); got != 2 {
		t.Errorf("population %d, want 2", got)
	}
	step(t, w)
	applied(t, w, commands.Move(1<<20|1, space.At(3)), commands.Spawn(space.At(2)))
	wantValues(t, w, entityID, 1<<20|1, 1<<20|2, 3<<20|1)
}

func TestWorldWithoutEntities(t *testing.T) {
	calls := 0
	look := system{engine.Spec{Name: "look"}, func(c *engine.SystemContext) error {
		calls++
		if e := c.Entities(); len(e.ID)+len(e.Kind)+len(e.Cell)+c.Population()+len(c.AppendAt(nil, 0)) != 0 {
			t.Errorf("entities %v in a world without, want none", e)
		}
		if _, ok := c.Slot(1<<20 | 1); ok {
			t.Error("Slot finds an entity in a world without")
		}
		if calls == 2 {
			panic("so that the tick is undone")
		}
		return nil
	}}
	w := unchecked(t, engine.Config{
		Fields: []fields.Def{{Name: "count", Element: fields.Uint64, Initial: fields.Fill(5)}}, Systems: []engine.System{look},
	})
	step(t, w)
	if _, err := w.Step(); err == nil {
		t.Error("Step succeeds, want the panic's error")
	}
	for _, c := range []commands.Command{commands.Spawn(space.At(0)), commands.Move(5, space.At(0)), commands.Despawn(5)} {
		if r := step(t, w, c)[0]; r.Reason == commands.Applied {
			t.Errorf("%v: applied, want a refusal", c.Kind)
		}
	}
	if got := w.Population(); got != 0 {
		t.Errorf("population %d, want 0", got)
	}
}

func TestSystemPutsAnEntityNowhere(t *testing.T) {
	to := int32(0)
	push := system{engine.Spec{Name: "push", Incremental: engine.Fields(entityCell)}, func(c *engine.SystemContext) error {
		c.NextColumn(entityCell).Int32[0] = to
		return nil
	}}
	for _, tt := range []struct {
		occupied bool
		to       int32
		ok       bool
	}{{true, 3, true}, {true, 4, false}, {true, -1, false}, {false, -1, true}, {false, 0, false}} {
		w := herd(t, 1, push)
		if tt.occupied {
			to = 1
			applied(t, w, commands.Spawn(space.At(0)))
		}
		to = tt.to
		if _, err := w.Step(); (err == nil) != tt.ok {
			t.Errorf("occupied %v, put on %d: %v, want success %v", tt.occupied, tt.to, err, tt.ok)
		}
	}
}

// TestDespawnedEntityIsNotListed holds that AppendAt lists no slot whose entity is gone,
// after a tick in which nothing happened but its Despawn.
func TestDespawnedEntityIsNotListed(t *testing.T) {
	var listed []int32
	w := herd(t, 4, system{engine.Spec{Name: "looks"}, func(c *engine.SystemContext) error {
		listed = c.AppendAt(nil, 2)
		return nil
	}})
	if err := w.Reset(1); err != nil {
		t.Fatal(err)
	}
	id := applied(t, w, commands.Spawn(space.At(2)))[0].Made
	step(t, w)
	if !slices.Equal(listed, []int32{0}) {
		t.Fatalf("cell 2 lists slots %d, want 0", listed)
	}
	applied(t, w, commands.Despawn(id))
	if len(listed) > 0 {
		t.Errorf("cell 2 lists slots %d after the Despawn, want none", listed)
	}
}
