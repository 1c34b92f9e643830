package engine

import "errors"

// A phase is what a world is doing.
type phase uint8

const (
	unmade  phase = iota // nothing ever: the zero World
	between              // nothing, between ticks
	ticking              // computing a tick: the state is incomplete
	showing              // calling recorder and watchers after a tick, before Step returns
	gone                 // of a world that was released
)

// ErrUnderWay is in the chain of the error that a world returns if a recorder, handler,
// propagator, system or watcher calls a method that may be called between ticks only.
var ErrUnderWay = errors.New("a tick is under way")

// ErrGoexit reports a tick during which one of its parts called runtime.Goexit, as the
// FailNow of a test does. The tick has not happened.
var ErrGoexit = errors.New("its goroutine was ended by runtime.Goexit")

// made panics with words if the world is the zero World, or nil, in which nothing works.
func (w *World) made() {
	if w != nil && w.released != nil {
		panic("engine: a method of a World that was released")
	}
	if w == nil || w.queue == nil { // not the phase: Submit and others are called from any goroutine
		panic("engine: a method of a World that New did not make; make Worlds with New, Restore or Fork")
	}
}

// UnderWay reports whether a Step of the world has not returned: the caller is one of the
// world's parts, its recorder or a watcher. A world that was released is in no tick.
func (w *World) UnderWay() bool {
	if w != nil && w.released != nil {
		return false
	}
	w.made()
	return w.phase != between
}

// mayStep returns an error if the world cannot begin a tick now.
func (w *World) mayStep() error {
	if w != nil && w.phase == between && !w.halted.Load() && w.tick < LastTick {
		return nil
	}
	return w.whyNot()
}

// whyNot returns why the world cannot begin a tick.
func (w *World) whyNot() error {
	if err := w.mayChange(); err != nil {
		return err
	}
	if w.halted.Load() {
		return &TickError{w.tick + 1, "world", ErrHalted}
	}
	return &TickError{w.tick + 1, "world", errLastTick}
}

// mayChange returns an error if a Step has not returned.
func (w *World) mayChange() error {
	w.made()
	if w.phase != between {
		return &TickError{w.tick + 1, "world", ErrUnderWay}
	}
	return nil
}

// maySave returns an error if the state is incomplete: a tick is being computed.
func (w *World) maySave() error {
	w.made()
	if w.phase == ticking {
		return &TickError{w.tick + 1, "world", ErrUnderWay}
	}
	return nil
}
