package engine

import "errors"

// A phase is what a world is doing.
type phase uint8

const (
	between phase = iota // nothing, between ticks
	ticking              // computing a tick: the state is incomplete
	showing              // calling recorder and watchers after a tick, before Step returns
)

// ErrUnderWay is in the chain of the error that a world returns if a recorder, handler,
// propagator, system or watcher calls a method that may be called between ticks only.
var ErrUnderWay = errors.New("a tick is under way")

// ErrGoexit reports a tick during which one of its parts called runtime.Goexit, as the
// FailNow of a test does. The tick has not happened.
var ErrGoexit = errors.New("its goroutine was ended by runtime.Goexit")

// mayStep returns an error if the world cannot begin a tick now.
func (w *World) mayStep() error {
	if w.phase == between && !w.halted.Load() {
		return nil
	}
	return w.whyNot()
}

// whyNot returns why the world cannot begin a tick.
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

// maySave returns an error if the state is incomplete: a tick is being computed.
func (w *World) maySave() error {
	if w.phase == ticking {
		return &TickError{w.tick + 1, "world", ErrUnderWay}
	}
	return nil
}
