package runner_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/runner"
)

// Timed hears of every tick once, whether sweeps or single steps compute it.
func TestTimed(t *testing.T) {
	const ticks = 40
	for _, tt := range []struct {
		name string
		set  func(*runner.Run)
	}{
		{"sweeps", func(*runner.Run) {}},
		{"a recorder", func(r *runner.Run) { r.World.Record(recorder{}) }},
	} {
		run := &runner.Run{Scenario: open(t, "diffusion"), World: world(t, open(t, "diffusion"), 1)}
		tt.set(run)
		timed := uint64(0)
		run.Timed = func(n uint64, d time.Duration) {
			if timed += n; n == 0 || n > engine.MaxSweep || run.World.Tick() != timed || d < 0 { // 0 by a slow clock
				t.Errorf("%s: %d ticks in %v, %d in all; the world is at tick %d", tt.name, n, d, timed, run.World.Tick())
			}
		}
		if err := run.To(t.Context(), ticks); err != nil {
			t.Fatal(err)
		}
		if timed != ticks {
			t.Errorf("%s: heard of %d ticks, want %d", tt.name, timed, ticks)
		}
	}
}

// Timed hears of no time that the run has waited. By the clock of the test, nothing but waiting takes time.
func TestTimedWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const ticks, waited = 40, 20 * time.Millisecond
		run, began := &runner.Run{Scenario: open(t, "diffusion"), World: world(t, open(t, "diffusion"), 1)}, time.Now()
		run.Gate = func(context.Context) error {
			time.Sleep(waited)
			return nil
		}
		timed, took := uint64(0), time.Duration(0)
		run.Timed = func(n uint64, d time.Duration) { timed, took = timed+n, took+d }
		if err := run.To(t.Context(), ticks); err != nil {
			t.Fatal(err)
		}
		if passed := time.Since(began); timed != ticks || took != 0 || passed < ticks*waited {
			t.Errorf("heard of %d ticks that took %v, in %v; want %d in no time, and %v", timed, took, passed, ticks, ticks*waited)
		}
	})
}

// A tick that fails is none, and Timed does not hear of it.
func TestTimedFails(t *testing.T) {
	s := open(t, "diffusion")
	run := &runner.Run{Scenario: s, World: world(t, s, 1)}
	run.World.Record(refusing(3))
	heard := uint64(0)
	run.Timed = func(n uint64, _ time.Duration) { heard += n }
	if err := run.To(t.Context(), 10); err == nil || heard != 2 || run.World.Tick() != 2 {
		t.Errorf("heard of %d ticks, the world is at tick %d: %v; want 2 and an error", heard, run.World.Tick(), err)
	}
}

// A refusing recorder refuses a tick.
type refusing uint64

func (r refusing) Record(t *engine.Tick) error {
	if t.Number == uint64(r) {
		return errSeen
	}
	return nil
}
