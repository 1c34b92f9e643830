package engine_test

import (
	"cmp"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/murksim/murksim/commands"
	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/space"
)

// TestNearest holds lookups by region and by distance against a plain search.
func TestNearest(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, s := range []space.Space{
		space.Ring{Length: 9}, space.Square4{Rows: 5, Cols: 7}, space.Square8{Rows: 6, Cols: 4, Edge: space.Wrap}, space.Hex{Cols: 5, Rows: 5},
		space.Hex{Cols: 6, Rows: 5, Edge: space.Wrap},
		space.FCC12{W: 4, H: 4, D: 4, Edge: space.Wrap}, space.Product{space.Line{Length: 4}, space.Ring{Length: 5}},
	} {
		looked := 0
		c := engine.Config{Space: s, Capacity: 40, Systems: []engine.System{system{engine.Spec{Name: "look"}, func(c *engine.SystemContext) error {
			for range 20 {
				from, radius, limit := r.IntN(c.Lattice().Cells()), r.IntN(5), 1+r.IntN(9)
				want := nearest(c, from, radius, limit)
				got := c.AppendNearest([]int32{99}, from, radius, limit, odd(c))
				if !slices.Equal(got[1:], want) {
					t.Errorf("%v: from %d, radius %d, limit %d: slots %v, want %v", s, from, radius, limit, got[1:], want)
				}
				looked += len(want)
			}
			return nil
		}}}}
		w := build(t, c)
		for range 6 {
			var list []commands.Command
			for range 6 {
				list = append(list, commands.Spawn(w.Lattice().Coord(r.IntN(w.Lattice().Cells()))))
			}
			step(t, w, append(list, commands.Despawn(w.Tick()<<20|2))...)
		}
		if looked == 0 {
			t.Errorf("%v: nobody was found", s)
		}
	}
}

// odd wants entities of odd ids.
func odd(c *engine.SystemContext) func(int32) bool {
	return func(slot int32) bool { return c.Entities().ID[slot]%2 == 1 }
}

// nearest looks at every entity, with distances found cell by cell.
func nearest(c *engine.SystemContext, from, radius, limit int) (slots []int32) {
	all, l := c.Entities(), c.Lattice()
	away := make([]int, l.Cells())
	for i := range away {
		away[i] = math.MaxInt
	}
	away[from] = 0
	for range l.Cells() {
		for cell, d := range away {
			for _, n := range l.AppendNeighbours(nil, cell) {
				if d < math.MaxInt && d+1 < away[n] {
					away[n] = d + 1
				}
			}
		}
	}
	for slot, id := range all.ID {
		if id%2 == 1 && away[all.Cell[slot]] <= radius {
			slots = append(slots, int32(slot))
		}
	}
	slices.SortFunc(slots, func(a, b int32) int {
		return cmp.Or(cmp.Compare(away[all.Cell[a]], away[all.Cell[b]]), cmp.Compare(all.ID[a], all.ID[b]))
	})
	return slots[:min(limit, len(slots))]
}

// TestNearestWithin holds that a search may ask for another one while it goes on.
func TestNearestWithin(t *testing.T) {
	w := build(t, engine.Config{Space: space.Line{Length: 64}, Capacity: 32})
	for i := range int32(30) {
		applied(t, w, commands.Spawn(space.At(i*2)))
	}
	alone := w.AppendNearest(nil, 30, 20, 8, nil)
	other := w.AppendNearest(nil, 5, 2, 3, nil)
	within := w.AppendNearest(nil, 30, 20, 8, func(int32) bool {
		if got := w.AppendNearest(nil, 5, 2, 3, nil); !slices.Equal(got, other) {
			t.Errorf("the inner search gives slots %v, want %v", got, other)
		}
		return true
	})
	if !slices.Equal(within, alone) || len(alone) != 8 || len(other) == 0 {
		t.Errorf("the outer search gives slots %v, want %v", within, alone)
	}
}

// TestAppendIn holds the lookup by region.
func TestAppendIn(t *testing.T) {
	var got []int32
	w := build(t, engine.Config{Space: space.Line{Length: 6}, Capacity: 5, Systems: []engine.System{
		system{engine.Spec{Name: "look"}, func(c *engine.SystemContext) error {
			plan, err := c.Lattice().Compile(space.Rect{Min: space.At(1), Max: space.At(3)})
			got = c.AppendIn(nil, plan)
			return err
		}},
	}})
	step(t, w, commands.Spawn(space.At(3)), commands.Spawn(space.At(0)), commands.Spawn(space.At(1)), commands.Spawn(space.At(3)), commands.Spawn(space.At(5)))
	if want := []int32{2, 0, 3}; !slices.Equal(got, want) {
		t.Errorf("slots %v, want %v", got, want)
	}
}

// TestOccupancy holds that commands and systems respect how many may stand on a cell.
func TestOccupancy(t *testing.T) {
	push := false
	_, _, cell := engine.EntityColumns(0)
	w := build(t, engine.Config{Space: space.Line{Length: 4}, Capacity: 6, Occupancy: 2, Systems: []engine.System{
		system{engine.Spec{Name: "push", Incremental: engine.Fields(cell)}, func(c *engine.SystemContext) error {
			if push {
				c.NextColumn(cell).Int32[2] = 1
			}
			return nil
		}},
	}})
	spawn := commands.Spawn(space.At(1))
	receipts := step(t, w, spawn, spawn, spawn, commands.Spawn(space.At(2)))
	var got []commands.Reason
	for _, r := range receipts {
		got = append(got, r.Reason)
		if r.Reason != commands.Applied && r.Made != 0 {
			t.Errorf("%v, made %d, want 0", r.Reason, r.Made)
		}
	}
	if want := []commands.Reason{commands.Applied, commands.Applied, commands.Occupied, commands.Applied}; !slices.Equal(got, want) {
		t.Fatalf("receipts %v, want %v", got, want)
	}
	first, third := receipts[0].Made, receipts[3].Made
	for _, tt := range []struct {
		c    commands.Command
		want commands.Reason
	}{
		{commands.Move(third, space.At(1)), commands.Occupied},
		{commands.Move(first, space.At(1)), commands.Applied}, // stays
		{commands.Move(first, space.At(0)), commands.Applied},
		{commands.Move(third, space.At(1)), commands.Applied},
		{commands.Move(third, space.At(3)), commands.Applied},
		{commands.Move(first, space.At(1)), commands.Applied},
	} {
		if r := step(t, w, tt.c); r[0].Reason != tt.want {
			t.Errorf("tick %d: %v, want %v", w.Tick(), r[0].Reason, tt.want)
		}
	}
	push = true
	_, err := w.Step()
	if e, ok := errors.AsType[*engine.CellError](err); !ok || e.Cell != 1 || e.Reason != "more than 2 entities are put there" {
		t.Errorf("Step = %v, want a failure at cell 1", err)
	}
	push = false
	step(t, w)
}

// TestUUID holds that UUIDs depend on seed, tick and ordinal, and are what the tick
// that made the entity says.
func TestUUID(t *testing.T) {
	w := build(t, engine.Config{Capacity: 3, Seed: 1337})
	step(t, w)
	made := step(t, w, commands.Spawn(space.At(1)), commands.Spawn(space.At(1)))
	for i, r := range made {
		if got, want := w.UUID(r.Made), engine.NewUUID("agent", 1337, 2, uint32(i)); got != want {
			t.Errorf("entity %d has UUID %v, want %v", r.Made, got, want)
		}
	}
	if a, b := engine.NewUUID("agent", 1, 2, 3), engine.NewUUID("item", 1, 2, 3); a == b {
		t.Errorf("agents and items have one UUID, %v", a)
	}
}
