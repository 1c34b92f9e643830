package engine_test

import (
	"bytes"
	"errors"
	"slices"
	"testing"

	"github.com/murksim/murksim/commands"
	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/space"
)

func TestReplayGivesTheSameHashes(t *testing.T) {
	var frames [][]commands.Command
	var hashes []uint64
	w := busy(t, &saboteur{})
	w.Record(recorder(func(k *engine.Tick) error {
		inputs := slices.Clone(k.Inputs)
		for i := range inputs {
			inputs[i].Data = bytes.Clone(inputs[i].Data)
		}
		frames, hashes = append(frames, inputs), append(hashes, k.Hash())
		return nil
	}))
	for range 12 {
		step(t, w, busyInputs(w)...)
	}
	again := busy(t, &saboteur{})
	submit(t, again, set(space.At(0), zooHeat, 55)) // stays queued
	for i, inputs := range frames {
		if _, err := again.Replay(inputs); err != nil {
			t.Fatalf("Replay of tick %d = %v", i+1, err)
		}
		if again.Hash() != hashes[i] {
			t.Fatalf("tick %d: hash %016x, want %016x", i+1, again.Hash(), hashes[i])
		}
	}
	if r := step(t, again); r[len(r)-1].Float32() != 55 || r[len(r)-1].Event {
		t.Errorf("after the replay %v was applied last, want what had been submitted", r[len(r)-1].Command)
	}
}

func TestReplayRefusesAnotherOrder(t *testing.T) {
	first, second := set(space.At(0), zooHeat, 1), set(space.At(0), zooHeat, 2)
	first.Arrival, second.Arrival = 2, 3
	system := second
	system.Priority = commands.PrioritySystem
	for _, inputs := range [][]commands.Command{{second, first}, {first, first}, {first, system}} {
		w := zoo(t)
		before := w.Hash()
		receipts, err := w.Replay(inputs)
		got, ok := errors.AsType[*engine.TickError](err)
		if !errors.Is(err, engine.ErrOrder) || !ok || got.Tick != 2 || got.Where != "command 1" || len(receipts) != 0 {
			t.Errorf("Replay = %v, %v, want ErrOrder at tick 2, command 1", receipts, err)
		}
		if w.Tick() != 1 || w.Hash() != before {
			t.Errorf("tick %d, hash %016x, want 1, %016x", w.Tick(), w.Hash(), before)
		}
	}
}

// Events are not in a recording, and a replay that runs the system that schedules
// them applies each once.
func TestReplayAppliesEventsOnce(t *testing.T) {
	world := func() *engine.World {
		bump := handler{1, func(c *engine.HandlerContext, _ []byte) commands.Reason { return c.Set(0, 0, c.Get(0, 0)+1) }}
		return build(t, engine.Config{Fields: cells(1), Handlers: []engine.Handler{bump}, Systems: []engine.System{
			scheduler(func(c *engine.SystemContext) error {
				_, err := c.Schedule(c.Tick()+1, commands.Custom(1, nil))
				return err
			}),
		}})
	}
	w, again := world(), world()
	var inputs []commands.Command
	w.Record(recorder(func(k *engine.Tick) error {
		inputs = slices.Clone(k.Inputs)
		return nil
	}))
	for range 6 {
		step(t, w, set(space.At(1), 0, 3))
		if _, err := again.Replay(inputs); err != nil {
			t.Fatalf("Replay = %v", err)
		}
		if len(inputs) != 1 || again.Hash() != w.Hash() {
			t.Errorf("tick %d: %d inputs, hash %016x, want 1, %016x", w.Tick(), len(inputs), again.Hash(), w.Hash())
		}
	}
	wantValues(t, again, 0, 5, 3, 0, 0)
}
