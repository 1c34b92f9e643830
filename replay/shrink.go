package replay

import (
	"errors"
	"slices"

	"github.com/murksim/murksim/commands"
	"github.com/murksim/murksim/engine"
)

// A Shrinking looks for a small part of a recording in which a condition becomes true: it does not hold, and after the next tick it does.
type Shrinking struct {
	Cursor *Cursor
	Holds  func(*engine.World) (bool, error) // in a world as it is, which it must not change
	Before func() error                      // unless nil, called before each tick that is tried; its error ends the search

	// Check, unless nil, is called with the commands of each tick that is tried. Its error says that a run with these shows nothing.
	Check func(tick uint64, given []commands.Command) error

	Trials int // how many runs were tried

	given []commands.Command // of a tick
}

// A Shrunk is a run in which a condition becomes true, with few commands.
type Shrunk struct {
	World    *engine.World // in the state at which it begins; no cursor uses it
	Commands []Given       // in order; without any one of them the condition does not become true by Last
	Last     uint64        // the tick in which it becomes true
	Recorded int           // how many commands the recording has in the ticks that were looked at
}

// Begin returns the latest tick from first to last-1 from which on recorded commands matter: from its state, the condition does not become true by the tick
// last without any more command. If that state is nowhere, commands do not matter, and it returns last-1. In the states from first to last-1 the condition
// must not hold, and in that of last it must. The search goes backwards in steps that double, and then halves the last of them, so that where the
// world's answer changes several times, it may find an earlier of those ticks.
func (s *Shrinking) Begin(first, last uint64) (uint64, error) {
	itself := last // from its state, the condition becomes true without more commands
	for back := uint64(1); ; back *= 2 {
		at := last - min(back, last-first)
		is, err := s.alone(at, last)
		if err != nil {
			return 0, err
		}
		if is {
			if itself = at; at > first {
				continue
			}
			return last - 1, nil
		}
		for first = at; itself-first > 1; {
			mid := first + (itself-first)/2
			if is, err = s.alone(mid, last); err != nil {
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
func (s *Shrinking) alone(at, last uint64) (bool, error) {
	if err := s.Cursor.seekInPieces(at, s.before); err != nil {
		return false, err
	}
	tick, err := s.try(s.Cursor.World(), nil, last)
	return tick > 0, err
}

func (s *Shrinking) before() error {
	if s.Before == nil {
		return nil
	}
	return s.Before()
}

// From returns a part of the recording in which the condition becomes true with few of the commands in the ticks behind begin and up to last, in which
// it must do so. It begins at the state that the ticks before the first of those commands lead to, and ends with the tick in which the condition becomes true.
func (s *Shrinking) From(begin, last uint64) (*Shrunk, error) {
	if err := s.Cursor.seekInPieces(begin, s.before); err != nil {
		return nil, err
	}
	w, err := s.Cursor.World().Fork()
	if err != nil {
		return nil, err
	}
	all, _, err := s.Cursor.commands(last, s.before)
	if err != nil {
		return nil, err
	}
	x := &Shrunk{World: w, Recorded: len(all)}
	shows := func(list []Given) (bool, error) {
		tick, err := s.try(w, list, last)
		if tick > 0 {
			x.Last, x.Commands = tick, list
		}
		return tick > 0, err
	}
	if is, err := shows(nil); is || err != nil { // commands do not matter
		return x, s.forward(x, x.Last-1, err)
	}
	first := all[:0:0]
	for i := range all {
		if all[i].Tick == begin+1 {
			first = append(first, all[i])
		}
	}
	is, err := shows(first)
	if err == nil && !is {
		if is, err = shows(all); err == nil && !is {
			return nil, ErrRemembers
		}
		first = all
	}
	if err == nil {
		err = minimal(first, shows)
	}
	if err != nil {
		return nil, err
	}
	return x, s.forward(x, x.Commands[0].Tick-1, nil)
}

// ErrRemembers reports a world that comes to something else when it is forked: it remembers something outside its state.
var ErrRemembers = errors.New("replay: a fork of the world comes to something else; the world remembers something outside its state")

// forward computes ticks without commands, up to a tick, to begin there.
func (s *Shrinking) forward(x *Shrunk, tick uint64, err error) error {
	for err == nil && x.World.Tick() < tick {
		if _, err = x.World.Step(); err == nil {
			err = s.before()
		}
	}
	return err
}

// try computes what comes of a world with these commands, and returns the first tick in which the condition becomes true; 0: none up to last. A tick
// that fails ends it.
func (s *Shrinking) try(from *engine.World, list []Given, last uint64) (tick uint64, err error) {
	s.Trials++
	w, err := from.Fork()
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, w.Release()) }()
	held, err := s.Holds(w)
	for err == nil && w.Tick() < last {
		if err := s.before(); err != nil {
			return 0, err
		}
		s.given = s.given[:0]
		for ; len(list) > 0 && list[0].Tick == w.Tick()+1; list = list[1:] {
			if _, err := w.Submit(list[0].Command); err != nil {
				return 0, err
			}
			s.given = append(s.given, list[0].Command)
		}
		if s.Check != nil && s.Check(w.Tick()+1, s.given) != nil {
			return 0, nil
		}
		if _, err := w.Step(); errors.As(err, new(*engine.TickError)) {
			return 0, nil
		} else if err != nil {
			return 0, err
		}
		before := held
		if held, err = s.Holds(w); held && !before {
			return w.Tick(), err
		}
	}
	return 0, err
}

// minimal finds a part of a list with which shows is true and without any one element of which it is not; the last list of which shows said so
// is that part. Of the whole list it has said so, and of an empty one it does not. It is ddmin: A. Zeller and R. Hildebrandt, Simplifying and Isolating
// Failure-Inducing Input, IEEE Transactions on Software Engineering 28 (2002).
func minimal[T any](list []T, shows func([]T) (bool, error)) error {
	for parts := 2; len(list) > 1; {
		smaller, alone, err := reduced(list, parts, shows)
		switch {
		case err != nil:
			return err
		case smaller == nil && parts == len(list):
			return nil
		case smaller == nil:
			parts = min(2*parts, len(list))
			continue
		case alone:
			parts = 2
		default:
			parts = max(parts-1, 2)
		}
		list = smaller
		parts = min(parts, len(list))
	}
	return nil
}

// reduced returns one of so many parts of a list that shows, alone, or the list without one of them; nil if none does.
func reduced[T any](list []T, parts int, shows func([]T) (bool, error)) (smaller []T, alone bool, err error) {
	bounds := func(i int) (int, int) { return i * len(list) / parts, (i + 1) * len(list) / parts }
	for i := range parts {
		a, b := bounds(i)
		if is, err := shows(list[a:b]); is || err != nil {
			return list[a:b], true, err
		}
	}
	for i := 0; i < parts && parts > 2; i++ { // of two parts, one is what is without the other
		a, b := bounds(i)
		rest := slices.Concat(list[:a], list[b:])
		if is, err := shows(rest); is || err != nil {
			return rest, false, err
		}
	}
	return nil, false, nil
}
