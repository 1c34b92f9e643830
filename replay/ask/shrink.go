package ask

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"github.com/murksim/murksim/commands"
	"github.com/murksim/murksim/engine"
)

// A Shrinking looks for a small part of a recording in which a condition becomes true: it does not hold, and after the next tick it does.
type Shrinking struct {
	Runs
	Trials int    // how many runs were needed, the same for any number of workers
	Lead   uint64 // how many ticks before the condition becomes true a run begins, at least; 0: one, which is enough if the condition hangs on the state alone
}

func (s *Shrinking) lead() uint64 { return max(s.Lead, 1) }

// A Shrunk is a run in which a condition becomes true, with few commands.
type Shrunk struct {
	World    *engine.World // in the state at which it begins; no cursor uses it
	Commands []Given       // in order; without any one of them the condition does not become true by Last
	Last     uint64        // the tick in which it becomes true
	Recorded int           // how many commands the recording has in the ticks that were looked at
	Hash     uint64        // after that tick
}

// Begin returns the latest tick from first to last-1 from which on recorded commands matter: from its state, the condition does not become true by the tick
// last without any more command. If that state is nowhere, commands do not matter, and it returns the tick that lies Lead before last. In the states from first to last-1 the
// condition must not hold, or first be so near to last, and in that of last it must. The search goes backwards in steps that double, and then halves the last of them, so that where the
// world's answer changes several times, it may find an earlier of those ticks.
func (s *Shrinking) Begin(ctx context.Context, first, last uint64) (uint64, error) {
	itself := last // from its state, the condition becomes true without more commands
	for back := s.lead(); ; back *= 2 {
		at := last - min(back, last-first)
		is, err := s.alone(ctx, at, last)
		if err != nil {
			return 0, err
		}
		if is {
			if itself = at; at > first {
				continue
			}
			return last - min(s.lead(), last-first), nil
		}
		for first = at; itself-first > s.lead(); {
			mid := first + (itself-first)/2
			if is, err = s.alone(ctx, mid, last); err != nil {
				return 0, err
			}
			if is {
				itself = mid
			} else {
				first = mid
			}
		}
		return first, nil
	}
}

// alone reports whether the condition becomes true without commands behind a tick.
func (s *Shrinking) alone(ctx context.Context, at, last uint64) (bool, error) {
	from, err := s.startAt(at)
	if err != nil {
		return false, err
	}
	i, _, err := s.first(ctx, from, last, 1, func(int) []Given { return nil })
	return i == 0, err
}

// From returns a part of the recording in which the condition becomes true with few of the commands in the ticks behind begin and up to last, in which
// it must do so. It begins at the state that the ticks before the first of those commands lead to, and ends with the tick in which the condition becomes true.
func (s *Shrinking) From(ctx context.Context, begin, last uint64) (*Shrunk, error) {
	from, err := s.startAt(begin)
	if err != nil {
		return nil, err
	}
	w, err := s.Cursor.World().Fork()
	if err != nil {
		return nil, err
	}
	all, hashes, err := s.recorded(ctx, last)
	if err != nil {
		return nil, err
	}
	x, end := &Shrunk{World: w, Recorded: len(all)}, hashes[len(hashes)-1]
	shows := func(n int, list func(int) []Given) (int, error) {
		i, at, err := s.first(ctx, from, last, n, list)
		if at.tick > 0 {
			x.Last, x.Hash, x.Commands = at.tick, at.hash, list(i)
		}
		return i, err
	}
	one := func(list []Given) (bool, error) {
		i, err := shows(1, func(int) []Given { return list })
		return i == 0, err
	}
	if is, err := one(nil); err != nil {
		return nil, err
	} else if is { // commands do not matter
		if err := s.control(ctx, from, all, last, end); err != nil {
			return nil, err
		}
		return x, s.forward(ctx, x, x.Last)
	}
	first := all[:0:0]
	for i := range all {
		if all[i].Tick == begin+1 {
			first = append(first, all[i])
		}
	}
	is, err := one(first)
	if err == nil && !is {
		if is, err = one(all); err == nil && !is {
			return nil, ErrRemembers
		}
		first = all
	}
	if err == nil {
		err = minimal(first, shows)
	}
	if err == nil {
		err = s.control(ctx, from, all, last, end)
	}
	if err == nil {
		err = s.workersHold(func(w *worker) error {
			if at, err := w.becomes(ctx, from, x.Commands, last); err != nil || at != (became{x.Last, x.Hash}) {
				return cmp.Or(err, ErrRemembers)
			}
			return nil
		})
	}
	if err != nil {
		return nil, err
	}
	return x, s.forward(ctx, x, x.Commands[0].Tick)
}

// control computes the run with all commands in each world that a trial was computed in, which must end as it was recorded: the trials may have changed what a world
// remembers.
func (s *Shrinking) control(ctx context.Context, from start, all []Given, last, hash uint64) error {
	return s.workersHold(func(x *worker) error {
		list := all
		failed, err := x.run(ctx, from, last, true, func(tick uint64, inputs []commands.Command) []commands.Command {
			for ; len(list) > 0 && list[0].Tick == tick; list = list[1:] {
				inputs = append(inputs, list[0].Command)
			}
			return inputs
		}, func(uint64) bool { return false })
		if err == nil && (failed != nil || x.world.Hash() != hash) {
			err = ErrRemembers
		}
		return err
	})
}

// forward computes ticks without commands, to begin before a tick that matters.
func (s *Shrinking) forward(ctx context.Context, x *Shrunk, tick uint64) error {
	for x.World.Tick()+1 < tick && x.World.Tick()+s.lead() < x.Last {
		if err := ctx.Err(); err != nil {
			return err
		}
		if _, err := x.World.Step(); errors.As(err, new(*engine.TickError)) { // which did not fail before
			return ErrRemembers
		} else if err != nil {
			return err
		}
	}
	return nil
}

// A became is the tick in which a condition becomes true, and the hash after it; 0: none.
type became struct{ tick, hash uint64 }

// first returns the index of the first of so many lists of commands with which the condition becomes true up to the tick last, and when it does. If there is none, the
// index is none. As many lists are tried at once as there are workers, so that it may have tried some behind that one.
func (s *Shrinking) first(ctx context.Context, from start, last uint64, n int, list func(int) []Given) (i int, when became, err error) {
	at := max(1, s.Workers)
	for i = 0; i < n; i += at {
		some := make([]became, min(at, n-i))
		if err := s.each(ctx, len(some), func(int) (start, error) { return from, nil }, func(x *worker, k int, from start) (err error) {
			some[k], err = x.becomes(ctx, from, list(i+k), last)
			return err
		}); err != nil {
			return none, when, err
		}
		for k, when := range some {
			if s.Trials++; when.tick > 0 {
				return i + k, when, nil
			}
		}
	}
	return none, when, nil
}

// becomes computes what comes of a state with these commands, and returns when the condition becomes true, up to the tick last. A tick that fails ends it.
func (x *worker) becomes(ctx context.Context, from start, list []Given, last uint64) (when became, err error) {
	held, begun := false, false
	_, err = x.run(ctx, from, last, false, func(tick uint64, inputs []commands.Command) []commands.Command {
		if !begun {
			held, begun = x.holds(x.world, true), true
		}
		for ; len(list) > 0 && list[0].Tick == tick; list = list[1:] {
			inputs = append(inputs, list[0].Command)
		}
		return inputs
	}, func(now uint64) bool {
		before := held
		if held = x.holds(x.world, false); held && !before {
			when = became{now, x.world.Hash()}
		}
		return when.tick > 0
	})
	return when, err
}

// minimal finds a part of a list that shows and without any one element of which it does not. Shows gets some lists by their numbers, and returns the number of the first that
// shows, or none; the last one of which it said so is that part. Of the whole list it has said so, and the empty one does not. It is ddmin: A. Zeller and R. Hildebrandt,
// Simplifying and Isolating Failure-Inducing Input, IEEE Transactions on Software Engineering 28 (2002).
func minimal[T any](list []T, shows func(n int, list func(int) []T) (int, error)) error {
	for parts := 2; len(list) > 1; {
		bounds := func(i int) (int, int) { return i * len(list) / parts, (i + 1) * len(list) / parts }
		one := func(i int) []T { a, b := bounds(i); return list[a:b] }
		others := func(i int) []T { a, b := bounds(i); return slices.Concat(list[:a], list[b:]) }
		i, err := shows(parts, one)
		if err != nil {
			return err
		}
		if i != none {
			list, parts = one(i), 2
			continue
		}
		if parts > 2 { // of two parts, one is what is without the other
			if i, err = shows(parts, others); err != nil {
				return err
			}
		}
		switch {
		case i != none:
			list, parts = others(i), parts-1
		case parts == len(list):
			return nil
		default:
			parts = min(2*parts, len(list))
		}
	}
	return nil
}
