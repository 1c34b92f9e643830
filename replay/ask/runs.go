package ask

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/murksim/murksim/commands"
	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/replay"
)

// Runs computes what comes of the world of a recording with other commands, several runs at once.
type Runs struct {
	Cursor   *replay.Cursor
	Workers  int    // how many runs are computed at once; 0: one
	Progress func() // unless nil, called now and then, by the goroutine of the caller

	// Worker makes what a worker needs: a world like the cursor's, and a condition, which must not change a world, and is told when it looks at the first state of a run. The
	// goroutine of the caller calls it.
	Worker func() (*engine.World, func(w *engine.World, first bool) bool, error)

	// Check, unless nil, is called with the commands of each tick of a run, from any goroutine. Its error says that nothing can be said of a run with these.
	Check func(tick uint64, given []commands.Command) error

	workers []*worker
}

// A worker computes one run at a time.
type worker struct {
	*Runs
	holds  func(w *engine.World, first bool) bool
	first  *engine.World // in the state of the latest start
	start  start
	last   uint64        // tick of the latest command that was left out
	world  *engine.World // in which the latest run was computed, a fork of the first
	inputs []commands.Command
}

// A start is a state at which a run begins.
type start struct {
	descriptor []byte
	state      []byte
	rest       uint64
}

func (r *Runs) note() {
	if r.Progress != nil {
		r.Progress()
	}
}

// startAt goes to a tick, and returns its state.
func (r *Runs) startAt(tick uint64) (s start, err error) {
	if err := r.Cursor.Seek(tick); err != nil {
		return s, err
	}
	s.descriptor = r.Cursor.Head().World()
	s.state, s.rest, err = r.Cursor.World().SaveTick(s.descriptor)
	return s, err
}

// hire makes the workers, as many as there can be use of.
func (r *Runs) hire(most int) error {
	for len(r.workers) < max(1, min(r.Workers, most)) {
		x, err := &worker{Runs: r}, error(nil)
		if x.first, x.holds, err = r.Worker(); err != nil {
			return err
		}
		r.workers = append(r.workers, x)
	}
	return nil
}

// each lets workers do so many things, for each of which prepare makes a start, in order. The error is the first one.
func (r *Runs) each(ctx context.Context, n int, prepare func(i int) (start, error), do func(x *worker, i int, s start) error) error {
	type job struct {
		i int
		start
	}
	if err := r.hire(n); err != nil {
		return err
	}
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	jobs := make(chan job)
	var workers sync.WaitGroup
	for _, x := range r.workers[:min(n, len(r.workers))] {
		workers.Go(func() {
			for j := range jobs {
				if ctx.Err() != nil {
					continue
				}
				if err := do(x, j.i, j.start); err != nil {
					stop(err)
				}
			}
		})
	}
	for i := 0; i < n && ctx.Err() == nil; i++ {
		s, err := prepare(i)
		if err != nil {
			stop(err)
			break
		}
		r.note()
		jobs <- job{i, s}
	}
	close(jobs)
	workers.Wait()
	return context.Cause(ctx)
}

// workersHold calls a function with each worker that has computed a run, and returns the first error.
func (r *Runs) workersHold(f func(*worker) error) error {
	for _, x := range r.workers {
		if x.world == nil {
			continue
		}
		if err := f(x); err != nil {
			return err
		}
	}
	return nil
}

// run computes ticks from a state up to the tick last. Give appends the commands of a tick to a list, which are taken with the numbers that they have, or
// as new ones. After is called after each tick; true ends the run. Failed is the error of a tick that fails, or of Check.
func (x *worker) run(ctx context.Context, s start, last uint64, numbered bool, give func(tick uint64, list []commands.Command) []commands.Command, after func(tick uint64) bool) (failed, err error) {
	if err := x.begin(s); err != nil {
		return nil, err
	}
	for w := x.world; w.Tick() < last; {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		tick := w.Tick() + 1
		x.inputs = give(tick, x.inputs[:0])
		if x.Check != nil {
			if failed := x.Check(tick, x.inputs); failed != nil {
				return failed, nil
			}
		}
		if numbered {
			_, err = w.Replay(x.inputs)
		} else if _, _, err = w.SubmitAll(x.inputs); err == nil {
			_, err = w.Step()
		}
		if errors.As(err, new(*engine.TickError)) {
			return err, nil
		} else if err != nil {
			return nil, fmt.Errorf("ask: tick %d of a run with other commands: %w", tick, err)
		}
		if after(tick) {
			return nil, nil
		}
	}
	return nil, nil
}

// begin makes a world in a state.
func (x *worker) begin(s start) (err error) {
	if x.world != nil {
		if err := x.world.Release(); err != nil {
			return err
		}
		x.world = nil
	}
	if x.start.state == nil || &x.start.state[0] != &s.state[0] {
		if err := x.first.LoadTick(s.descriptor, s.state, s.rest); err != nil {
			return err
		}
		x.start = s
	}
	x.world, err = x.first.Fork()
	return err
}
