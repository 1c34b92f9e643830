package engine_test

import (
	"bytes"
	"errors"
	"fmt"
	"runtime"
	"testing"

	"github.com/murksim/murksim/engine"
)

// An unwrapper is an error whose Unwrap does something.
type unwrapper struct{ unwrap func() error }

func (*unwrapper) Error() string { return "unwrapper" }

func (e *unwrapper) Unwrap() error { return e.unwrap() }

// brokenErrors are errors with a method that panics or ends the goroutine.
func brokenErrors() map[string]error {
	return map[string]error{
		"a nil *ArgError":         (*engine.ArgError)(nil),
		"a nil *TickError":        (*engine.TickError)(nil),
		"a nil *unwrapper":        (*unwrapper)(nil),
		"one in another":          fmt.Errorf("it says %w", (*engine.ArgError)(nil)),
		"an Unwrap that panics":   &unwrapper{func() error { panic("unwrap") }},
		"one after ErrArithmetic": errors.Join(engine.ErrArithmetic, (*engine.ArgError)(nil)),
		"an Unwrap that exits":    &unwrapper{func() error { runtime.Goexit(); return nil }},
	}
}

// TestErrorThatPanicsLeavesTheWorldUsable holds that a tick which fails with an error that
// cannot even be looked at has failed like any other: the world is as before, says so, and
// goes on.
func TestErrorThatPanicsLeavesTheWorldUsable(t *testing.T) {
	for name, broken := range brokenErrors() {
		for _, stage := range []string{"early", "system", "recorder", "custom:9"} {
			for _, panics := range []bool{false, true} {
				s := &saboteur{stage: stage}
				w, calm := busy(t, s), busy(t, &saboteur{})
				equal(t, w, calm, busyInputs(w)...)
				s.how = func() error {
					if panics {
						panic(broken)
					}
					return broken
				}
				submit(t, w, busyInputs(w)...)
				err := stepApart(w)
				if exits := name == "an Unwrap that exits"; exits != (err == engine.ErrGoexit) {
					t.Fatalf("%s of %s: Step = %v", name, stage, err)
				} else if e, ok := errors.AsType[*engine.TickError](err); !exits && (!ok || e.Where != stage && !(panics && e.Where == "commands") && stage != "custom:9" || e.Tick != 2 || errors.Is(err, engine.ErrUnderWay)) {
					t.Errorf("%s of %s: Step = %v, want a TickError of tick 2", name, stage, err)
				}
				s.how = nil
				wantSame(t, w, stateOf(calm))
				if _, err := w.Fork(); err != nil {
					t.Errorf("%s of %s: Fork = %v", name, stage, err)
				}
				equal(t, w, calm, busyInputs(calm)...)
				if err := w.Reset(1); err != nil {
					t.Errorf("%s of %s: Reset = %v", name, stage, err)
				}
			}
		}
	}
}

// TestErrorThatPanicsInABatch holds that the world which failed so is usable afterwards, and
// that the error of the batch can be looked at.
func TestErrorThatPanicsInABatch(t *testing.T) {
	on := true
	bad := build(t, engine.Config{Fields: cells(1), Propagators: []engine.Propagator{propagator{
		engine.Spec{Name: "p"}, func(*engine.Context) error {
			if on {
				return (*engine.ArgError)(nil)
			}
			return nil
		},
	}}})
	watched := build(t, engine.Config{Fields: cells(1)})
	stop := watched.Watch(func(*engine.Tick) { panic((*engine.ArgError)(nil)) })
	b, err := engine.NewBatch([]*engine.World{bad, watched, build(t, engine.Config{Fields: cells(1)})}, 2)
	if err != nil {
		t.Fatal(err)
	}
	results, err := b.Run(1)
	if e, ok := errors.AsType[*engine.BatchError](err); !ok || e.Failed != 2 || errors.Is(results[1].Err, errPlanned) || results[2].Err != nil {
		t.Errorf("Run = %v, want that worlds 0 and 1 failed", err)
	}
	on = false
	stop()
	if _, err := b.Run(2); err != nil || bad.Tick() != 2 || watched.Tick() != 3 {
		t.Errorf("Run = %v at ticks %d and %d, want 2 and 3", err, bad.Tick(), watched.Tick())
	}
}

// TestPanicNil holds that panic(nil) fails a tick, with the old meaning of recover, too,
// wherever it happens and on whichever worker.
func TestPanicNil(t *testing.T) {
	for _, old := range []string{"panicnil=0", "panicnil=1"} {
		t.Setenv("GODEBUG", old)
		for _, stage := range []string{"early", "late", "system", "recorder", "custom:9"} {
			s := &saboteur{stage: stage}
			w, calm := busy(t, s), busy(t, &saboteur{})
			equal(t, w, calm, busyInputs(w)...)
			s.how = func() error { panic(nil) }
			submit(t, w, busyInputs(w)...)
			_, err := w.Step()
			if _, ok := errors.AsType[*engine.PanicError](err); !ok {
				t.Errorf("%s, %s: Step = %v, want a PanicError", old, stage, err)
			}
			s.how = nil
			wantSame(t, w, stateOf(calm))
			equal(t, w, calm, busyInputs(calm)...)
		}
		for worker := range 4 {
			w, err := engine.New(panicConfig(4, worker))
			if err != nil {
				t.Fatal(err)
			}
			before, _ := w.Save(nil)
			for _, step := range []func() error{func() error { _, err := w.Step(); return err }, func() error { return w.Run(5) }} {
				err := step()
				if _, ok := errors.AsType[*engine.PanicError](err); !ok {
					t.Errorf("%s, worker %d: %v, want a PanicError", old, worker, err)
				}
				if after, _ := w.Save(nil); !bytes.Equal(before, after) {
					t.Errorf("%s, worker %d: the state has changed", old, worker)
				}
			}
		}
	}
}

// panicConfig is a world whose parallel propagator panics with nil on one of its workers.
func panicConfig(workers, worker int) engine.Config {
	return exitConfig(workers, func(lo int) bool {
		if lo == 64/workers*worker {
			panic(nil)
		}
		return false
	})
}

// TestPanicNilOfAWatcherInABatch holds that the batch reports it.
func TestPanicNilOfAWatcherInABatch(t *testing.T) {
	t.Setenv("GODEBUG", "panicnil=1")
	w := build(t, engine.Config{Fields: cells(1)})
	w.Watch(func(*engine.Tick) { panic(nil) })
	b, err := engine.NewBatch([]*engine.World{w}, 1)
	if err != nil {
		t.Fatal(err)
	}
	if _, err = b.Run(1); err == nil || errors.Is(err, engine.ErrGoexit) {
		t.Errorf("Run = %v, want a panic", err)
	}
}
