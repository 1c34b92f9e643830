// Package enginetest tests that a world keeps nothing outside of its state: what a propagator
// or a system remembers in a variable of its own is lost when a state is restored, in a replay
// that begins at a keyframe, and in another process.
package enginetest

import (
	"bytes"
	"fmt"

	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/replay/diff"
)

// A Subject is a world that can be made again and again.
type Subject struct {
	// Config returns its configuration, run by a number of workers, with propagators and systems
	// that are made anew each time: a world takes them over.
	Config func(workers int) (engine.Config, error)

	Submit func(*engine.World) error // submits the inputs of the next tick; nil: there are none

	// Descriptor is what the states hold: see [engine.World.Save].
	Descriptor []byte

	// Workers are the numbers of workers with which worlds are restored, in turns. Nil: 1, 2,
	// 3 and 8.
	Workers []int

	// Elsewhere runs one tick in another process, from a state to the next one. Nil: there is
	// none. It is called every so many ticks.
	Elsewhere func(state []byte) ([]byte, error)
	Every     uint64

	// Passed is called after each tick; its error ends the test. It may be nil.
	Passed func(tick uint64) error
}

// Of is the Subject of a configuration. Make returns it anew each time, with propagators and
// systems of its own, which a world takes over.
func Of(make func() engine.Config) Subject {
	return Subject{Config: func(workers int) (engine.Config, error) {
		c := make()
		c.Workers = workers
		return c, nil
	}}
}

// A SyncError reports a tick that a restored world computes in another way.
type SyncError struct {
	Tick    uint64
	Workers int          // of the restored world; 0: it was in another process
	Order   bool         // its propagators ran in another order
	Report  *diff.Report // what differs; nil: only the hash, and so the inputs or what became of them
}

// Error implements error.
func (e *SyncError) Error() string {
	how := fmt.Sprintf("with %d workers", e.Workers)
	if e.Workers == 0 {
		how = "in another process"
	}
	if e.Order {
		how += " and propagators that do not depend on each other in another order"
	}
	text := fmt.Sprintf("enginetest: a world restored from tick %d computes another tick %d, %s", e.Tick-1, e.Tick, how)
	const most = 5 // differences
	if e.Report != nil {
		text += "\n" + e.Report.Text(most)
	}
	return text
}

// Sync steps a world so many ticks, and each of them once more in a world that is restored from
// the state before it, with another number of workers, and every other tick with the propagators
// that do not depend on each other in another order. State and hash must be the same. An error
// is a [*SyncError], or that of making or stepping a world. Its cost is that of making a world
// for each tick.
func Sync(s Subject, ticks uint64) error {
	if s.Workers == nil {
		s.Workers = []int{1, 2, 3, 8}
	}
	c, err := s.Config(s.Workers[0])
	if err != nil {
		return err
	}
	w, err := engine.New(c)
	if err != nil {
		return err
	}
	before, err := w.Save(s.Descriptor)
	if err != nil {
		return err
	}
	for w.Tick() < ticks {
		if err := s.step(w); err != nil {
			return err
		}
		after, err := w.Save(s.Descriptor)
		if err != nil {
			return err
		}
		if err := s.again(w, before, after); err != nil {
			return err
		}
		before = after
		if s.Passed != nil {
			if err := s.Passed(w.Tick()); err != nil {
				return err
			}
		}
	}
	return nil
}

// step computes a tick with its inputs.
func (s *Subject) step(w *engine.World) error {
	if s.Submit != nil {
		if err := s.Submit(w); err != nil {
			return err
		}
	}
	_, err := w.Step()
	return err
}

// again computes the tick of a world once more, from the state before it.
func (s *Subject) again(w *engine.World, before, after []byte) error {
	found := SyncError{Tick: w.Tick(), Workers: s.Workers[w.Tick()%uint64(len(s.Workers))]}
	c, err := s.Config(found.Workers)
	if err != nil {
		return err
	}
	if turn := w.Tick() + w.Tick()/uint64(len(s.Workers)); turn%2 == 0 { // with each number of workers
		found.Order = reorder(c.Propagators, w.Lattice())
	}
	other, err := engine.Restore(c, s.Descriptor, before)
	if err != nil {
		return err
	}
	if err := s.step(other); err != nil {
		return fmt.Errorf("enginetest: a world restored from tick %d: %w", w.Tick()-1, err)
	}
	state, err := other.Save(s.Descriptor)
	if err != nil {
		return err
	}
	if err := found.same(w, after, state); err != nil {
		return err
	}
	if other.Hash() != w.Hash() {
		return &found
	}
	if s.Elsewhere == nil || s.Every == 0 || w.Tick()%s.Every != 0 {
		return nil
	}
	if state, err = s.Elsewhere(before); err != nil {
		return err
	}
	found.Workers, found.Order = 0, false
	return found.same(w, after, state)
}

// same compares two states after the world's tick. It returns e if they differ.
func (e *SyncError) same(w *engine.World, want, got []byte) (err error) {
	if bytes.Equal(want, got) {
		return nil
	}
	if e.Report, err = diff.States(w, want, got); err != nil {
		return err
	}
	return e
}
