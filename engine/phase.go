package engine

import "errors"

// A phase is what a world is doing.
type phase uint8

const (
	between phase = iota // ticks: nothing
	ticking              // computing a tick: the state is that of no tick
	showing              // a tick that has happened, whose Step has not returned
)

// ErrUnderWay is in the chain of the error that a world returns if a recorder, handler,
// propagator, system or watcher asks for what is possible between ticks only.
var ErrUnderWay = errors.New("a tick is under way")

// ErrGoexit reports a tick that one of its parts ended by runtime.Goexit, as the FailNow
// of a test does. The tick has not happened.
var ErrGoexit = errors.New("its goroutine was ended, by runtime.Goexit")

// mayStep returns an error if the world cannot begin a tick now.
func (w *World) mayStep() error {
	if w.phase == between && !w.halted.Load() {
		return nil
	}
	return w.whyNot()
}

// whyNot says why the world cannot begin a tick.
func (w *World) whyNot() error {
	if err := w.mayChange(); err != nil {
		return err
	}
	return &TickError{w.tick + 1, "world", ErrHalted}
}

// mayChange returns an error if a Step has not returned.
func (w *World) mayChange() error {
	if w.phase != between {
		return &TickError{w.tick + 1, "world", ErrUnderWay}
	}
	return nil
}

// maySave returns an error if the state is that of no tick.
func (w *World) maySave() error {
	if w.phase == ticking {
		return &TickError{w.tick + 1, "world", ErrUnderWay}
	}
	return nil
}
