package engine_test

import (
	"errors"
	"fmt"
	"runtime"
	"testing"

	"github.com/murksim/murksim/commands"
	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/space"
)

// reenter asks a world for everything that is possible between ticks only, and reports
// what did not say that a tick is under way. A watcher may save and fork.
func reenter(t *testing.T, w *engine.World, watching bool) {
	_, save := w.Save(nil)
	_, fork := w.Fork()
	_, step := w.Step()
	_, replay := w.Replay(nil)
	b, err := engine.NewBatch([]*engine.World{w}, 1)
	if err != nil {
		t.Error(err)
		return
	}
	_, batch := b.Run(1)
	for what, err := range map[string]error{
		"Step": step, "Replay": replay, "Run": w.Run(1), "Batch.Run": batch, "Reset": w.Reset(9), "Save": save, "Fork": fork,
	} {
		if watching && (what == "Save" || what == "Fork") {
			if err != nil {
				t.Errorf("%s = %v in a watcher", what, err)
			}
			continue
		}
		if e, ok := errors.AsType[*engine.TickError](err); !ok || !errors.Is(err, engine.ErrUnderWay) || e.Tick != w.Tick()+1 {
			t.Errorf("%s = %v within a tick, want %v", what, err, engine.ErrUnderWay)
		}
	}
}

// TestUnderWay holds that within a tick, wherever, nothing can be done to the world that is
// for the time between ticks, that the tick is not disturbed by the attempt, and that all
// of it works again after the tick, a failed one too.
func TestUnderWay(t *testing.T) {
	for _, stage := range []string{"early", "late", "system", "recorder", "custom:9", "watcher"} {
		for _, then := range []error{nil, errPlanned} {
			s := &saboteur{stage: stage}
			w, calm := unchecked(t, busyConfig(s)), unchecked(t, busyConfig(&saboteur{}))
			w.Watch(func(*engine.Tick) {
				if err := s.at("watcher"); err != nil && err != errPlanned {
					t.Error(err)
				}
			})
			asked := 0
			s.how = func() error {
				asked++
				submit(t, w, set(space.At(3), zooHeat, 1)) // is for the tick after
				reenter(t, w, stage == "watcher")
				return then
			}
			submit(t, w, busyInputs(w)...)
			_, err := w.Step()
			if failed := then != nil && stage != "watcher"; failed != (err != nil) || asked != 1 {
				t.Fatalf("%s: Step = %v, asked %d times", stage, err, asked)
			}
			if s.how = nil; err == nil {
				step(t, calm, busyInputs(calm)...)
			}
			wantSame(t, w, stateOf(calm))
			for _, world := range []*engine.World{w, calm} {
				if world == calm {
					submit(t, world, set(space.At(3), zooHeat, 1))
				}
				step(t, world, busyInputs(world)...)
				if _, err := world.Save(nil); err != nil {
					t.Error(err)
				}
			}
			if w.Hash() != calm.Hash() {
				t.Errorf("%s: hash %016x, want %016x", stage, w.Hash(), calm.Hash())
			}
		}
	}
}

// exitConfig is a world whose parallel propagator asks where to end its goroutine.
func exitConfig(workers int, exits func(lo int) bool) engine.Config {
	return engine.Config{
		Space: space.Line{Length: 64}, Fields: cells(1), MaxFailures: -1, Workers: workers,
		Propagators: []engine.Propagator{propagator{
			engine.Spec{Name: "p", Prev: engine.Fields(0), Full: engine.Fields(0), Parallel: true, Local: true},
			func(c *engine.Context) error {
				lo, hi := c.Range()
				for cell := lo; cell < hi; cell++ {
					if cell == (lo+hi)/2 && exits(lo) {
						runtime.Goexit()
					}
					c.Next(0)[cell] = c.Prev(0)[cell] + 1
				}
				return nil
			},
		}},
	}
}

// TestGoexit holds that a tick which is ended by runtime.Goexit has not happened, whatever
// part of it did that, on whichever worker.
func TestGoexit(t *testing.T) {
	for _, stage := range []string{"early", "late", "system", "recorder", "custom:9"} {
		s := &saboteur{stage: stage}
		w, calm := busy(t, s), busy(t, &saboteur{})
		for range 3 {
			s.how = nil
			equal(t, w, calm, busyInputs(w)...)
			s.how = func() error { runtime.Goexit(); return nil }
			submit(t, w, busyInputs(w)...)
			if err := stepApart(w); !errors.Is(err, engine.ErrGoexit) {
				t.Errorf("%s: Step = %v, want %v", stage, err, engine.ErrGoexit)
			}
			wantSame(t, w, stateOf(calm))
		}
	}
	for _, paranoid := range []bool{false, true} {
		for worker := range 4 {
			exits := false
			c := exitConfig(4, func(lo int) bool { return exits && lo == 16*worker })
			c.Paranoid = paranoid
			w, err := engine.New(c)
			if err != nil {
				t.Fatal(err)
			}
			for tick := range uint64(6) {
				exits = true
				if err := stepApart(w); !errors.Is(err, engine.ErrGoexit) || w.Tick() != tick || w.Value(0, 63) != float64(tick) || w.Value(0, 0) != float64(tick) {
					t.Fatalf("worker %d: Step = %v at tick %d, want %v", worker, err, w.Tick(), engine.ErrGoexit)
				}
				exits = false
				step(t, w)
			}
		}
	}
}

// TestGoexitHalts holds that such ticks count as failed.
func TestGoexitHalts(t *testing.T) {
	c := exitConfig(1, func(int) bool { return true })
	c.MaxFailures = 2
	w := build(t, c)
	for i := range 4 {
		if err := stepApart(w); errors.Is(err, engine.ErrHalted) != (i > 1) {
			t.Errorf("failure %d: %v", i, err)
		}
	}
}

// TestGoexitInASweep holds that no tick of the sweep has happened.
func TestGoexitInASweep(t *testing.T) {
	exits := 0
	w, err := engine.New(exitConfig(1, func(int) bool { exits++; return exits == 9 }))
	if err != nil {
		t.Fatal(err)
	}
	w.Sweeps(4, 8)
	done := make(chan struct{})
	go func() {
		defer close(done)
		w.Run(100)
	}()
	<-done
	if w.Tick() != 0 || w.Value(0, 0) != 0 || w.Value(0, 63) != 0 {
		t.Errorf("tick %d, values %v, %v; want genesis", w.Tick(), w.Value(0, 0), w.Value(0, 63))
	}
	if err := w.Run(100); err != nil || w.Tick() != 100 || w.Value(0, 63) != 100 {
		t.Errorf("Run = %v at tick %d with %v", err, w.Tick(), w.Value(0, 63))
	}
}

// TestGoexitInABatch holds that a world which ends its worker has failed, and that the
// others go on.
func TestGoexitInABatch(t *testing.T) {
	const bad = 5 // of the second worker
	var worlds []*engine.World
	for i := range 8 {
		w, err := engine.New(engine.Config{
			Space: space.Ring{Length: 4}, Fields: cells(1), Handlers: []engine.Handler{handler{9, func(*engine.HandlerContext, []byte) commands.Reason {
				runtime.Goexit()
				return commands.Applied
			}}},
		})
		if err != nil {
			t.Fatal(err)
		}
		if i == bad {
			submit(t, w, commands.Custom(9, nil))
		}
		worlds = append(worlds, w)
	}
	b, err := engine.NewBatch(worlds, 2)
	if err != nil {
		t.Fatal(err)
	}
	// The other worker may come first: this goroutine may be the one that is ended.
	var results []engine.Result
	done := make(chan error, 1)
	go func() {
		defer close(done)
		var err error
		results, err = b.Run(3)
		done <- err
	}()
	if err, ran := <-done; ran {
		if e, ok := errors.AsType[*engine.BatchError](err); !ok || e.Index != bad || e.Failed != 1 || !errors.Is(err, engine.ErrGoexit) {
			t.Errorf("Run = %v, want that world %d was ended", err, bad)
		}
		for i, r := range results {
			if want := uint64(3); i != bad && (r.Err != nil || worlds[i].Tick() != want) {
				t.Errorf("world %d: %v at tick %d", i, r.Err, worlds[i].Tick())
			}
		}
	}
	if worlds[bad].Tick() != 0 {
		t.Errorf("world %d is at tick %d, want 0", bad, worlds[bad].Tick())
	}
	if results, err = b.Run(2); err != nil {
		t.Error(fmt.Sprint(results), err)
	}
}
