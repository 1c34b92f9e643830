package engine_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/murksim/murksim/commands"
	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/fields"
	"github.com/murksim/murksim/space"
)

// TestLookUp holds that entities are found on a world, between its ticks and by who watches
// it, as its columns have them, whether commands have moved them or systems.
func TestLookUp(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 9))
	s := space.Square4{Rows: 5, Cols: 6}
	moves := false
	_, _, cell := engine.EntityColumns(1)
	w := build(t, engine.Config{
		Space: s, Capacity: 20, Fields: []fields.Def{{Name: "energy", Domain: fields.Entities, Initial: fields.Fill(2)}},
		Systems: []engine.System{system{engine.Spec{Name: "s", Incremental: engine.Fields(0, cell)}, func(c *engine.SystemContext) error {
			for slot, id := range c.Entities().ID {
				if id != 0 && moves {
					c.NextColumn(cell).Int32[slot] = int32(c.Tick()) * 7 % 30
					c.Next(0)[slot]++
				}
			}
			return nil
		}}},
	})
	region, err := w.Lattice().Compile(space.Disk{Center: space.At(2, 2), Radius: 2})
	if err != nil {
		t.Fatal(err)
	}
	watched := 0
	w.Watch(func(*engine.Tick) { watched += lookAtAll(t, w, region) })
	for range 60 {
		moves = r.IntN(3) == 0
		var inputs []commands.Command
		for range r.IntN(6) {
			at := space.At(int32(r.IntN(5)), int32(r.IntN(6)))
			inputs = append(inputs, commands.Spawn(at, commands.FieldValue{Field: 2, Value: float32(r.IntN(3))}))
		}
		for _, id := range w.Entities().ID {
			switch r.IntN(4) {
			case 0:
				inputs = append(inputs, commands.Move(id, space.At(1, 1)))
			case 1:
				inputs = append(inputs, commands.Despawn(id))
			}
		}
		step(t, w, inputs...)
		lookAtAll(t, w, region)
	}
	if watched < 300 {
		t.Errorf("%d entities were looked up, want 300 at least", watched)
	}
}

// lookAtAll compares all ways to look entities up with the columns, and counts those who live.
func lookAtAll(t *testing.T, w *engine.World, region *space.Plan) (live int) {
	t.Helper()
	all := w.Entities()
	at := func(want func(slot int) bool) (slots []int32) {
		for slot, id := range all.ID {
			if id != 0 && want(slot) {
				slots = append(slots, int32(slot))
			}
		}
		return slots
	}
	for slot, id := range all.ID {
		if got, ok := w.Slot(id); ok != (id != 0) || ok && got != slot {
			t.Fatalf("Slot(%d) = %d, %v, want %d", id, got, ok, slot)
		}
		if float64(w.Column(0).Float32[slot]) != w.Value(0, slot) || float64(all.Cell[slot]) != w.Value(3, slot) {
			t.Fatalf("slot %d: the columns hold other values", slot)
		}
	}
	var inRegion []int32
	for cell := range w.Lattice().Cells() {
		want := at(func(slot int) bool { return int(all.Cell[slot]) == cell })
		if got := w.AppendAt(nil, cell); !slices.Equal(got, want) {
			t.Fatalf("AppendAt(%d) = %v, want %v", cell, got, want)
		}
	}
	for _, cell := range region.Ranks {
		inRegion = append(inRegion, at(func(slot int) bool { return all.Cell[slot] == int32(cell) })...)
	}
	if got := w.AppendIn(nil, region); !slices.Equal(got, inRegion) {
		t.Fatalf("AppendIn = %v, want %v", got, inRegion)
	}
	for kind := range int32(3) {
		want := at(func(slot int) bool { return all.Kind[slot] == kind })
		if got := w.AppendKind(nil, kind); !slices.Equal(got, want) {
			t.Fatalf("AppendKind(%d) = %v, want %v", kind, got, want)
		}
	}
	everyone := at(func(int) bool { return true })
	near := w.AppendNearest(nil, 14, 20, 100, nil)
	if slices.Sort(near); !slices.Equal(near, everyone) || w.Population() != len(everyone) {
		t.Fatalf("AppendNearest = %v, want %v; population %d", near, everyone, w.Population())
	}
	return len(everyone)
}

// TestLookUpNobody holds for a world without entities.
func TestLookUpNobody(t *testing.T) {
	w := build(t, engine.Config{Fields: cells(1)})
	if e := w.Entities(); e.ID != nil || e.Kind != nil || e.Cell != nil {
		t.Errorf("Entities = %v", e)
	}
	if _, ok := w.Slot(1 << 20); ok || w.AppendAt(nil, 0) != nil || w.AppendKind(nil, 0) != nil || w.AppendNearest(nil, 0, 3, 3, nil) != nil {
		t.Error("somebody is found in a world without entities")
	}
}
