package engine_test

import (
	"errors"
	"testing"

	"github.com/murksim/murksim/commands"
	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/space"
)

// TestHalt holds that a world stops after failures in a row, keeps its state, and goes
// on after a reset.
func TestHalt(t *testing.T) {
	s := &saboteur{}
	w := busy(t, s)
	for range 3 {
		step(t, w, busyInputs(w)...)
	}
	want := w.Hash()
	s.stage, s.how = "late", func() error { return errPlanned }
	for i := range engine.DefaultFailures {
		submit(t, w, busyInputs(w)...)
		if _, err := w.Step(); !errors.Is(err, errPlanned) {
			t.Fatalf("failure %d: %v, want the planned one", i+1, err)
		}
	}
	s.how = nil
	for range 2 {
		if _, err := w.Submit(set(space.At(0), zooHeat, 1)); !errors.Is(err, commands.Stopped) {
			t.Errorf("Submit = %v, want stopped", err)
		}
		receipts, err := w.Step()
		if e, ok := errors.AsType[*engine.TickError](err); !ok || !errors.Is(err, engine.ErrHalted) || e.Tick != 4 || len(receipts) != 0 {
			t.Errorf("Step = %d receipts, %v; want ErrHalted at tick 4", len(receipts), err)
		}
		if _, err := w.Replay(nil); !errors.Is(err, engine.ErrHalted) {
			t.Errorf("Replay = %v, want ErrHalted", err)
		}
	}
	if got := w.Hash(); got != want || w.Tick() != 3 {
		t.Errorf("tick %d, hash %016x; want tick 3, %016x", w.Tick(), got, want)
	}
	w.Reset(w.Seed())
	fresh := busy(t, &saboteur{})
	for range 5 {
		equal(t, w, fresh, busyInputs(fresh)...)
	}
}

// TestHaltInARow holds that a tick that succeeds forgives the failures before it.
func TestHaltInARow(t *testing.T) {
	for _, c := range []struct{ max, fails, halted int }{{0, 2, 0}, {0, 3, 3}, {1, 1, 1}, {5, 4, 0}, {-1, 40, 0}} {
		fail := 0
		w := build(t, engine.Config{
			MaxFailures: c.max, Fields: cells(1),
			Propagators: []engine.Propagator{propagator{engine.Spec{Name: "p"}, func(*engine.Context) error {
				if fail--; fail >= 0 {
					return errPlanned
				}
				return nil
			}}},
		})
		for range 3 {
			fail = c.fails
			for range c.fails {
				if _, err := w.Step(); !errors.Is(err, errPlanned) {
					t.Fatalf("%+v: %v, want the planned error", c, err)
				}
			}
			fail = 0
			_, err := w.Step()
			if halted := errors.Is(err, engine.ErrHalted); halted != (c.halted > 0) {
				t.Fatalf("%+v: Step = %v", c, err)
			}
			if c.halted > 0 {
				w.Reset(2)
			}
		}
	}
}

// TestReset holds that a world that was reset is as a new one with that seed, whatever
// it did before, and that snapshots keep what they hold.
func TestReset(t *testing.T) {
	w := busy(t, &saboteur{})
	genesis := w.Hash()
	for range 7 {
		step(t, w, busyInputs(w)...)
	}
	s := w.Snapshot()
	defer s.Release()
	held := s.Hash()
	w.Reset(w.Seed())
	if w.Tick() != 0 || w.Hash() != genesis || w.Population() != 0 || w.Pending() != 0 {
		t.Errorf("tick %d, hash %016x, %d entities, %d events; want genesis, %016x", w.Tick(), w.Hash(), w.Population(), w.Pending(), genesis)
	}
	if got := s.Hash(); got != held {
		t.Errorf("the snapshot's hash is %016x now, want %016x", got, held)
	}
	fresh := busy(t, &saboteur{})
	for range 7 {
		equal(t, w, fresh, busyInputs(fresh)...)
	}
	w.Reset(5)
	if w.Seed() != 5 {
		t.Errorf("seed %d, want 5", w.Seed())
	}
	step(t, w)
	if w.Hash() == fresh.Hash() {
		t.Error("another seed gives the same state")
	}
}

func TestTimestep(t *testing.T) {
	w := build(t, engine.Config{Fields: cells(1), Timestep: 0.1 + 0.2})
	if got, want := w.Dt(), 0.1+0.2; got != want {
		t.Errorf("dt = %v, want %v", got, want)
	}
	for _, c := range []struct {
		rate, step float64
		want       string
	}{
		{20, 0.05, "engine: TickRate and Timestep must not both be given"},
		{0, -1, "engine: Timestep must be 1e-9 to 1e9 seconds, not -1"},
	} {
		_, err := engine.New(engine.Config{Space: space.Line{Length: 2}, TickRate: c.rate, Timestep: c.step})
		if err == nil || err.Error() != c.want {
			t.Errorf("New = %v, want %s", err, c.want)
		}
	}
}
