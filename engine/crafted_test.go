package engine_test

import (
	"bytes"
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/murksim/murksim/commands"
	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/engine/propagators"
	"github.com/murksim/murksim/fields"
	"github.com/murksim/murksim/space"
)

// TestRestoreCrafted holds that a state of the right shape, but such as no world comes
// into, is refused.
func TestRestoreCrafted(t *testing.T) {
	c := engine.Config{
		Space: space.Ring{Length: 4}, Capacity: 3, Occupancy: 1, Parameters: []engine.Parameter{{Key: 9, Value: 0.5}},
		Fields: []fields.Def{{Name: "a", Initial: fields.Fill(0.75), Bounds: &fields.Bounds{Min: 0, Max: 1}}},
	}
	w := build(t, c)
	applied(t, w, commands.Spawn(space.At(0)), commands.Spawn(space.At(1)), commands.Later(7, commands.Despawn(3)))
	state := save(t, w)
	for _, tt := range []struct {
		name     string
		old, new []byte
		want     string
	}{
		{"two on one cell", le(nil, int32(0), int32(1), int32(-1)), le(nil, int32(0), int32(0), int32(-1)), "cell [0]: more than 1 entities are put there"},
		{"out of bounds", le(nil, float32(0.75)), le(nil, float32(1.25)), `field "a": 1.25 is out of its bounds`},
		{"arrival numbers at their end", le(nil, 0.5, uint64(4)), le(nil, 0.5, uint64(math.MaxUint64)), "the next arrival number must be 1 to 9223372036854775808, not 18446744073709551615"},
		{"a tick beyond those of ids", le([]byte("MSS2"), uint64(1)), le([]byte("MSS2"), uint64(1<<43)), "tick must be at most 8796093022207, not 8796093022208"},
		{"another number of sections", le(nil, uint64(1), uint16(5), uint16(1)), le(nil, uint64(1), uint16(7), uint16(1)), "7 sections; a state has 5"},
		{"a parameter that is no number", le(nil, 0.5), le(nil, math.NaN()), "parameter 9 must be finite, not NaN"},
		{"an infinite parameter", le(nil, 0.5), le(nil, math.Inf(-1)), "parameter 9 must be finite, not -Inf"},
		{"a value that is no number", le(nil, float32(0.75)), le(nil, float32(math.NaN())), `field "a": NaN is not a valid value of a scalar`},
		{"an entity of genesis", le(nil, uint64(1<<20|1), uint64(1<<20|2)), le(nil, uint64(1<<20|1), uint64(1<<19|1)), "slot 1: 524289 is not the id of an entity of tick 1 or before, or occurs twice"},
		{"an id without its number", le(nil, uint64(1<<20|1), uint64(1<<20|2)), le(nil, uint64(1<<20|1), uint64(1<<20)), "slot 1: 1048576 is not the id of an entity of tick 1 or before, or occurs twice"},
		{"one id twice", le(nil, uint64(1<<20|1), uint64(1<<20|2)), le(nil, uint64(1<<20|1), uint64(1<<20|1)), "slot 1: 1048577 is not the id of an entity of tick 1 or before, or occurs twice"},
		{"an id of a later tick", le(nil, uint64(1<<20|2), uint64(0)), le(nil, uint64(2<<20|2), uint64(0)), "slot 1: 2097154 is not the id of an entity of tick 1"},
		{"a free slot on a cell", le(nil, int32(0), int32(1), int32(-1)), le(nil, int32(0), int32(1), int32(2)), "slot 2 is free and stands on cell 2"},
		{"a cell outside", le(nil, int32(0), int32(1), int32(-1)), le(nil, int32(0), int32(4), int32(-1)), "stands on cell 4; the world has 4 cells"},
		{"an event of genesis", le(nil, uint64(math.MaxUint64), uint64(1<<20|1)), le(nil, uint64(math.MaxUint64), uint64(1)), "its id 1 is not one of tick 1 or before"},
	} {
		if !bytes.Contains(state, tt.old) {
			t.Fatalf("%s: the state does not hold %x", tt.name, tt.old)
		}
		_, err := engine.Restore(c, about, bytes.Replace(state, tt.old, tt.new, 1))
		if !errors.Is(err, engine.ErrStateDamaged) || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: Restore = %v, want that it is damaged, with %q", tt.name, err, tt.want)
		}
	}
	if _, err := engine.Restore(c, about, state); err != nil {
		t.Errorf("as it was: Restore = %v", err)
	}
}

// TestLastTick holds that a world has as many ticks as a state can say, and that it is as it was
// when there are no more.
func TestLastTick(t *testing.T) {
	const last = 1<<43 - 1
	c := engine.Config{Space: space.Square4{Rows: 64, Cols: 64}, TickRate: 20, Fields: []fields.Def{{Name: "a", Initial: fields.Fill(0.75)}},
		Propagators: []engine.Propagator{propagators.Diffusion{Field: 0, Rate: 0.1}}}
	w, err := engine.New(c)
	if err != nil {
		t.Fatal(err)
	}
	step(t, w)
	state := bytes.Replace(save(t, w), le([]byte("MSS2"), uint64(1)), le([]byte("MSS2"), uint64(last-6)), 1)
	for name, more := range map[string]func(w *engine.World) error{
		"Step": func(w *engine.World) error {
			for {
				if _, err := w.Step(); err != nil {
					return err
				}
			}
		},
		"Replay": func(w *engine.World) error {
			for {
				if _, err := w.Replay(nil); err != nil {
					return err
				}
			}
		},
		"Run": func(w *engine.World) error { return w.Run(1000) },
		"a sweep": func(w *engine.World) error {
			if w.Sweeps(4, 64); w.Sweepable(9) != 4 {
				t.Errorf("sweeps of %d ticks, want 4", w.Sweepable(9))
			}
			return w.Run(1000)
		},
	} {
		w, err := engine.Restore(c, about, state)
		if err != nil {
			t.Fatal(err)
		}
		const want = "tick 8796093022208: world: a world has 8796093022207 ticks at most"
		if err := more(w); err == nil || !strings.HasSuffix(err.Error(), want) || w.Tick() != last {
			t.Errorf("%s: %v at tick %d, want %q at tick %d", name, err, w.Tick(), want, uint64(last))
		}
		if again := restore(t, c, save(t, w)); again.Tick() != last {
			t.Errorf("%s: the state is of tick %d", name, again.Tick())
		}
	}
}

// TestForkDoesNotRecord holds that only the first world's ticks go to its recorder.
func TestForkDoesNotRecord(t *testing.T) {
	var ticks []uint64
	c := zooConfig()
	c.Recorder = recorder(func(t *engine.Tick) error { ticks = append(ticks, t.Number); return nil })
	w := build(t, c)
	step(t, w)
	fork, err := w.Fork()
	if err != nil {
		t.Fatal(err)
	}
	step(t, fork)
	if len(ticks) != 1 {
		t.Errorf("ticks %v are recorded, want the first alone", ticks)
	}
}

// TestForkAfterReset holds that a fork has the seed of the reset, not of the configuration.
func TestForkAfterReset(t *testing.T) {
	w := busy(t, &saboteur{})
	w.Reset(w.Seed() + 1)
	step(t, w, busyInputs(w)...)
	fork, err := w.Fork()
	if err != nil {
		t.Fatal(err)
	}
	equal(t, w, fork, busyInputs(w)...)
}

// TestNearestAtBounds holds that no limit is too large, and that nobody is found from
// outside of the space or within a negative radius.
func TestNearestAtBounds(t *testing.T) {
	var found [6]int
	c := engine.Config{Space: space.Ring{Length: 4}, Capacity: 3, Systems: []engine.System{
		system{engine.Spec{Name: "look"}, func(c *engine.SystemContext) error {
			for i, q := range [len(found)]struct{ cell, radius, limit int }{
				{0, 4, math.MaxInt}, {3, 0, math.MaxInt}, {3, -1, 9}, {-1, 4, 9}, {4, 4, 9}, {0, 4, 0},
			} {
				found[i] = len(c.AppendNearest([]int32{99}, q.cell, q.radius, q.limit, nil)) - 1
			}
			return nil
		}},
	}}
	step(t, build(t, c), commands.Spawn(space.At(3)), commands.Spawn(space.At(1)))
	if want := [len(found)]int{2, 1}; found != want {
		t.Errorf("%d are found, want %d", found, want)
	}
}

// TestRestoreHash holds that a restored world has the hash of a tick without inputs,
// genesis too.
func TestRestoreHash(t *testing.T) {
	w := busy(t, &saboteur{})
	for range 4 {
		if got := restore(t, busyConfig(&saboteur{}), save(t, w)).Hash(); got != w.Hash() {
			t.Errorf("tick %d: the hash is %016x, want %016x", w.Tick(), got, w.Hash())
		}
		step(t, w)
	}
}

// TestRestoreEntities holds that a restored world knows its entities at once: how many
// there are, where, by which ids, and which slot is free.
func TestRestoreEntities(t *testing.T) {
	c := engine.Config{Space: space.Ring{Length: 4}, Capacity: 3, Occupancy: 1}
	w := build(t, c)
	var ids []uint64
	for _, r := range applied(t, w, commands.Spawn(space.At(0)), commands.Spawn(space.At(1)), commands.Spawn(space.At(2))) {
		ids = append(ids, r.Made)
	}
	applied(t, w, commands.Despawn(ids[1]))
	again := restore(t, c, save(t, w))
	if n := again.Population(); n != 2 {
		t.Errorf("%d live, want 2", n)
	}
	receipts := step(t, again, commands.Move(ids[2], space.At(0)), commands.Move(ids[2], space.At(3)), commands.Despawn(ids[1]), commands.Spawn(space.At(2)))
	for i, want := range []commands.Reason{commands.Occupied, commands.Applied, commands.UnknownEntity, commands.Applied} {
		if got := receipts[i].Reason; got != want {
			t.Errorf("command %d: %v, want %v", i, got, want)
		}
	}
	_, _, cell := engine.EntityColumns(0)
	wantValues(t, again, cell, 0, 2, 3)
}
