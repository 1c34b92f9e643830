// Package runner runs the world of a scenario. It holds the one loop that the command line,
// tools and tests share: submit the commands that are due, compute the tick, call the
// watchers.
package runner

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"time"

	"github.com/murksim/murksim/commands"
	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/environment"
	"github.com/murksim/murksim/scenarios"
)

// A Run advances the world of a scenario. [New] makes one; so does a literal with a world of
// the scenario at any tick.
type Run struct {
	Scenario *scenarios.Scenario // required
	World    *engine.World       // required
	Checker  *scenarios.Checker  // looks at the ticks before the Watchers; nil: nothing is expected
	Watchers []Watcher           // called in this order
	Realtime bool                // at the scenario's tick rate; false: as fast as possible
	Speed    float64             // in real time, how many times as fast; 0: 1, infinity: as fast as possible, but tick by tick

	// Gate, unless nil, is called before each tick, and holds the run as long as it does not return. Its error
	// ends the run.
	Gate func(context.Context) error

	// Due, unless nil, lists the commands to be submitted before a tick, instead of the scenario's
	// and those that its policy gives the agents of its environment.
	Due func(tick uint64) ([]commands.Command, error)

	// Receipts is called with the receipts of every tick that has some, of the scenario's
	// commands or of the world's own events, before the Checker and the Watchers look at it.
	// They are valid during the call.
	Receipts func([]commands.Receipt) error

	// Passed is called after ticks that succeeded, at least every [engine.MaxSweep] ticks,
	// for progress, flushing and the like. The world's tick is how far the run has come.
	Passed func() error

	// Timed, unless nil, is called after every tick, before Receipts, or after several that were computed in one
	// sweep: with how many they are, at most [engine.MaxSweep], and how long that took, recorders included,
	// without what the run has waited for the tick rate or the Gate.
	Timed func(ticks uint64, took time.Duration)

	pacer  *engine.Pacer
	waited time.Duration       // for the tick rate
	most   uint64              // ticks that World.Run may compute in one call; 0: not known
	begin  []commands.Command  // of the first tick; nil: not listed yet
	player *environment.Player // acts for the agents of the scenario; nil: it has none
}

// A Watcher sees the world after ticks of its choice. It must not change the world.
type Watcher interface {
	// Next returns the first tick after the given one that the Watcher wants to see, or
	// [Never]. It must be greater than the given tick.
	Next(after uint64) uint64

	// Observe looks at the world after such a tick. An error ends the run, after the other
	// Watchers of the tick.
	Observe(*engine.World) error
}

// Never is the tick of a Watcher that wants to see no more.
const Never = math.MaxUint64

// EveryTick is a Watcher that is called for every tick.
type EveryTick func(*engine.World) error

// Next implements [Watcher].
func (EveryTick) Next(after uint64) uint64 { return after + 1 }

// Observe implements [Watcher].
func (look EveryTick) Observe(w *engine.World) error { return look(w) }

// To advances the world to a tick. It returns early with the context's error, after a whole
// tick, at which the Checker looks for a tenth of a second at most, or with the error of a tick, of
// a Watcher, Receipts or Passed, or of a command that the world's queue refuses; the world is at the last
// tick that happened.
//
// Ticks without commands that no recorder gets and no watcher wants to see are computed by
// [engine.World.Run], in sweeps where the world allows it, unless the run is in real time.
// The bits are the same. A command that the queue refuses leaves those before it queued.
func (r *Run) To(ctx context.Context, tick uint64) error {
	if err := r.meet(); err != nil {
		return err
	}
	if r.Realtime && r.pacer == nil {
		r.pacer = engine.NewPacer(r.World.Dt() / cmp.Or(r.Speed, 1))
	}
	if r.Checker != nil { // many expectations may take long
		r.Checker.Interrupted = overdue(ctx)
		defer func() { r.Checker.Interrupted = nil }()
	}
	for r.World.Tick() < tick {
		if err := ctx.Err(); err != nil {
			return err
		}
		if r.Realtime {
			began := time.Now()
			err := r.pacer.Wait(ctx)
			if r.waited += time.Since(began); err != nil {
				return err
			}
		}
		if r.Gate != nil {
			if err := r.Gate(ctx); err != nil {
				return err
			}
		}
		receipts, err := r.timed(tick)
		if err != nil {
			return err
		}
		if err := r.show(receipts); err != nil {
			return err
		}
	}
	return nil
}

// meet finds the agents of a scenario with an environment.
func (r *Run) meet() (err error) {
	if r.Scenario.Environment != nil && r.player == nil {
		r.player, err = environment.NewPlayer(r.Scenario, r.World)
	}
	return err
}

// Clock returns the time of day less what the run has waited to keep to its tick rate, for what
// measures how long ticks take.
func (r *Run) Clock() time.Time { return time.Now().Add(-r.waited) }

// Late returns how much later than due the last tick began, in real time.
func (r *Run) Late() time.Duration {
	if r.pacer == nil {
		return 0
	}
	return r.pacer.Late()
}

// overdue returns a function that reports whether a context has ended, and a tenth of a second has
// passed since it was first asked after that.
func overdue(ctx context.Context) func() bool {
	var ended time.Time
	return func() bool {
		if ctx.Err() != nil && ended.IsZero() {
			ended = time.Now()
		}
		return ctx.Err() != nil && time.Since(ended) > 100*time.Millisecond
	}
}

// timed is advance, but measures its time if Timed is set.
func (r *Run) timed(last uint64) ([]commands.Receipt, error) {
	if r.Timed == nil {
		return r.advance(last)
	}
	before, began := r.World.Tick(), time.Now()
	receipts, err := r.advance(last)
	if n := r.World.Tick() - before; n > 0 {
		r.Timed(n, time.Since(began))
	}
	return receipts, err
}

// advance computes one tick or, if nothing happens in them, several. It returns the receipts
// of a tick that was computed by itself.
func (r *Run) advance(last uint64) ([]commands.Receipt, error) {
	w := r.World
	if w.UnderWay() { // which Step says, too, but after the commands
		return nil, fmt.Errorf("runner: %w", engine.ErrUnderWay)
	}
	before := w.Tick()
	list, err := r.due(before + 1)
	if err != nil {
		return nil, fmt.Errorf("tick %d: %w", before+1, err)
	}
	if _, taken, err := w.SubmitAll(list); err != nil {
		return nil, fmt.Errorf("tick %d: command %d of %d: %w", before+1, taken+1, len(list), err)
	}
	if len(list) == 0 {
		if n := r.quiet(before, last); n > 0 {
			return nil, r.run(n)
		}
	}
	return w.Step()
}

// due returns the commands of a tick.
func (r *Run) due(tick uint64) ([]commands.Command, error) {
	if r.Due != nil {
		return r.Due(tick)
	}
	return r.Scheduled(tick)
}

// Scheduled lists what is to be submitted before the world's next tick, whose number is given: the scenario's commands, and
// those that its policy gives the agents of its environment.
func (r *Run) Scheduled(tick uint64) ([]commands.Command, error) {
	if err := r.meet(); err != nil {
		return nil, err
	}
	list := r.begin
	if r.begin = nil; tick != 1 || list == nil {
		list = r.Scenario.CommandsAt(tick)
	}
	if r.player != nil {
		list = r.player.Append(list, tick)
	}
	return list, nil
}

// quiet returns how many ticks after the given one World.Run may compute in one call; 0: the
// next one is for Step.
func (r *Run) quiet(tick, last uint64) uint64 {
	// Run passes no receipts on. Events come from systems, or from commands before.
	events := r.Receipts != nil && (len(r.Scenario.Systems) > 0 || r.World.Pending() > 0)
	if r.Realtime || r.Gate != nil || r.Due != nil || r.World.Recorder() != nil || events {
		return 0
	}
	next := min(last, r.Scenario.NextCommands(tick+1)-1)
	if r.player != nil {
		next = min(next, r.player.Next(tick+1)-1)
	}
	if r.Checker != nil {
		next = min(next, max(r.Checker.Next(tick), tick+1))
	}
	for _, v := range r.Watchers {
		next = min(next, max(v.Next(tick), tick+1))
	}
	return min(next-tick, max(r.most, 1))
}

// run computes ticks in one call, and learns from it how many the next call may compute if a
// context that ends is to be noticed soon.
func (r *Run) run(ticks uint64) error {
	if ticks == 1 && r.most > 0 {
		return r.World.Run(1)
	}
	const patience = 100 * time.Millisecond
	began := time.Now()
	err := r.World.Run(ticks)
	each := time.Since(began) / time.Duration(ticks)
	r.most = uint64(max(1, min(patience/max(each, 1), engine.MaxSweep)))
	return err
}

// show calls Receipts, lets the checker and the watchers see the tick, then calls Passed.
func (r *Run) show(receipts []commands.Receipt) error {
	if r.Receipts != nil && len(receipts) > 0 {
		if err := r.Receipts(receipts); err != nil {
			return err
		}
	}
	tick := r.World.Tick()
	if r.Checker != nil && r.Checker.Next(tick-1) == tick {
		r.Checker.Observe(r.World)
	}
	var failed error
	for _, v := range r.Watchers {
		if v.Next(tick-1) == tick {
			failed = cmp.Or(failed, v.Observe(r.World))
		}
	}
	if failed != nil || r.Passed == nil {
		return failed
	}
	return r.Passed()
}
