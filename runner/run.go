// Package runner takes the world of a scenario from tick to tick. It holds the one loop
// that command line, tools and tests share: submit what is due, compute the tick, let
// those look who want to.
package runner

import (
	"context"
	"fmt"
	"math"

	"github.com/murksim/murksim/commands"
	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/scenarios"
)

// A Run takes a scenario's world on. [New] makes one; so does a literal with a world of the
// scenario at any tick.
type Run struct {
	Scenario *scenarios.Scenario // required
	World    *engine.World       // required
	Checker  *scenarios.Checker  // looks at what the scenario expects; nil: nothing does
	Watchers []Watcher           // look after the Checker, in this order
	Realtime bool                // at the scenario's tick rate; false: as fast as possible

	// Receipts is given the receipts of every tick that took inputs. They are valid
	// during the call.
	Receipts func([]commands.Receipt) error

	// Passed is called whenever ticks have passed, at least every [engine.MaxSweep] ticks,
	// for progress, flushing, and what else belongs between ticks. The world's tick tells
	// how far the run has come.
	Passed func() error

	pacer *engine.Pacer
}

// A Watcher looks at the world after ticks of its choice. It must not change it.
type Watcher interface {
	// Next returns the first tick after the given one that the Watcher wants to see, or
	// [Never].
	Next(after uint64) uint64

	// Observe looks at the world after such a tick.
	Observe(*engine.World)
}

// Never is the tick of a Watcher that wants to see no more.
const Never = math.MaxUint64

// EveryTick is a Watcher that looks after every tick.
type EveryTick func(*engine.World)

// Next implements [Watcher].
func (EveryTick) Next(after uint64) uint64 { return after + 1 }

// Observe implements [Watcher].
func (look EveryTick) Observe(w *engine.World) { look(w) }

// To takes the world on to a tick. It returns early with the context's error, after a
// whole tick, or with the error of a tick, of Receipts or Passed, or of a command that the
// world's queue refuses; the world is at the last tick that happened.
//
// Ticks that take no input, that no recorder is handed and no watcher wants to see are
// computed by [engine.World.Run], in sweeps where the world allows it. The bits are the
// same.
func (r *Run) To(ctx context.Context, tick uint64) error {
	if r.Realtime && r.pacer == nil {
		r.pacer = engine.NewPacer(r.World.Dt())
	}
	for r.World.Tick() < tick {
		if err := ctx.Err(); err != nil {
			return err
		}
		if r.Realtime {
			if err := r.pacer.Wait(ctx); err != nil {
				return err
			}
		}
		if err := r.advance(tick); err != nil {
			return err
		}
		if err := r.look(); err != nil {
			return err
		}
	}
	return nil
}

// advance computes one tick or, if nothing happens in them, several.
func (r *Run) advance(last uint64) error {
	w := r.World
	before := w.Tick()
	list := r.Scenario.CommandsAt(before + 1)
	if taken, err := w.SubmitAll(list); err != nil {
		return fmt.Errorf("tick %d: command %d of %d: %w", before+1, taken+1, len(list), err)
	}
	if len(list) == 0 {
		if n := r.quiet(before, last); n > 1 {
			return w.Run(n)
		}
	}
	receipts, err := w.Step()
	if err == nil && r.Receipts != nil && len(receipts) > 0 {
		err = r.Receipts(receipts)
	}
	return err
}

// quiet returns how many ticks after one may pass as one.
func (r *Run) quiet(tick, last uint64) uint64 {
	if r.Realtime || r.World.Recorder() != nil {
		return 1
	}
	next := min(last, r.Scenario.NextCommands(tick+1)-1)
	if r.Checker != nil {
		next = min(next, r.Checker.Next(tick))
	}
	for _, o := range r.Watchers {
		next = min(next, o.Next(tick))
	}
	return min(next-tick, engine.MaxSweep)
}

// look lets the watchers look at the tick.
func (r *Run) look() error {
	tick := r.World.Tick()
	if r.Checker != nil {
		r.Checker.Observe(r.World)
	}
	for _, o := range r.Watchers {
		if o.Next(tick-1) == tick {
			o.Observe(r.World)
		}
	}
	if r.Passed == nil {
		return nil
	}
	return r.Passed()
}
