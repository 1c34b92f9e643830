// Package enginetest tests that a world keeps nothing outside of its state: what a propagator
// or a system remembers in a variable of its own is lost when a state is restored, in a replay
// that begins at a keyframe, and in another process.
//
// [Test] does it in a test of one line, [Sync] in any program.
package enginetest

import (
	"bytes"
	"encoding/gob"
	"errors"
	"fmt"
	"hash/fnv"

	"github.com/murksim/murksim/commands"
	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/fields"
	"github.com/murksim/murksim/replay"
	"github.com/murksim/murksim/replay/diff"
	"github.com/murksim/murksim/space"
)

// A Subject is a world that can be made again and again.
type Subject struct {
	// Config returns its configuration, run by a number of workers, with propagators and systems
	// that are made anew each time: a world takes them over. It is required.
	Config func(workers int) (engine.Config, error)

	// Submit submits the inputs of the next tick, which depend on nothing but its number.
	// Nil: there are none.
	Submit func(*engine.World) error

	// Inputs returns the inputs of a tick as they were recorded, which the worlds take by
	// [engine.World.Replay], in place of what Submit submits. Nil: there is no recording.
	Inputs func(tick uint64) ([]commands.Command, error)

	// Descriptor is what the states hold: see [engine.World.Save].
	Descriptor []byte

	// Workers are the numbers of workers with which worlds are restored, in turns; the first
	// is that of the run. Nil: 1, 2, 3 and 8.
	Workers []int

	// Elsewhere calls [Subject.Again] in another process, with a state that it hands over, and
	// returns what that returned. It is called every so many ticks, if Every is not 0, and
	// always for the last one. Without it, Sync does not find what is remembered in a package
	// variable that is set once, because all worlds of a process share it. [Test] has one.
	Elsewhere func(state []byte) ([]byte, error)
	Every     uint64

	// Passed is called after each tick; its error ends the test. It may be nil.
	Passed func(tick uint64) error
}

// Of is the Subject of a configuration. Make returns it anew each time, with propagators and
// systems of its own, which a world takes over.
func Of(make func() engine.Config) Subject {
	if make == nil {
		return Subject{}
	}
	return Subject{Config: func(workers int) (engine.Config, error) {
		c := make()
		c.Workers = workers
		return c, nil
	}}
}

// Sync steps a world so many ticks, and each of them once more in a world that is restored from
// the state before it, with another number of workers, and every other tick with the propagators
// that do not depend on each other in another order; with [Subject].Elsewhere some of them in
// another process, too. State and hash must be the same. An error is a [*SyncError], or that of
// making or stepping a world. Now and then a world is restored that goes on beside the run for 2, 4, 8, … ticks,
// and must come to the same, too. It is recorded, which the run is not, and the recorded hash must be that of its state. The cost is that of making
// a world for each tick.
func Sync(s Subject, ticks uint64) error {
	if err := s.complete(); err != nil {
		return err
	}
	if ticks == 0 {
		return errors.New("enginetest: ticks must be at least 1")
	}
	r, err := s.begin()
	if err != nil {
		return err
	}
	behind := follower{Subject: &s}
	for r.world.Tick() < ticks {
		before := r.State
		if err := s.step(r); err != nil {
			return err
		}
		if err := s.again(r, before); err != nil {
			return err
		}
		if err := behind.follow(r, before); err != nil {
			return err
		}
		at := r.world.Tick()
		if s.Elsewhere != nil && (at == ticks || s.Every != 0 && at%s.Every == 0) {
			if err := s.elsewhere(r, before); err != nil {
				return err
			}
		}
		if s.Passed != nil {
			if err := s.Passed(at); err != nil {
				return err
			}
		}
	}
	return nil
}

// Again computes the tick after a state, and returns what [Subject].Elsewhere must return in the
// process of Sync. The Subject must be the same in both.
func (s Subject) Again(state []byte) ([]byte, error) {
	if err := s.complete(); err != nil {
		return nil, err
	}
	r, err := s.restored(state, way{workers: s.Workers[0]}, nil, true)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	err = gob.NewEncoder(&b).Encode(r.result)
	return b.Bytes(), err
}

// complete checks a Subject and sets its defaults.
func (s *Subject) complete() error {
	if s.Config == nil {
		return errors.New("enginetest: Subject.Config must not be nil")
	}
	if len(s.Workers) == 0 {
		s.Workers = []int{1, 2, 3, 8}
	}
	return nil
}

// A result is what a tick came to.
type result struct {
	State  []byte
	Rest   uint64 // what world.rest holds; with the state it makes the hash
	Inputs uint64 // a hash of them
	Parts  []part
}

// A run is a world with the result of its latest tick.
type run struct {
	world *engine.World
	way
	result
	recorder *replay.Recorder // nil: it is not recorded
	hash     uint64           // of the latest tick, as it is recorded
}

// A way is how a tick is computed.
type way struct {
	workers  int
	order    bool // of the propagators is another
	recorded bool
}

// begin makes the world at its beginning.
func (s *Subject) begin() (*run, error) {
	c, err := s.Config(s.Workers[0])
	if err != nil {
		return nil, err
	}
	r := &run{way: way{workers: s.Workers[0]}}
	if r.world, err = engine.New(c); err != nil {
		return nil, err
	}
	r.watch(&c)
	r.State, err = r.world.Save(s.Descriptor)
	return r, err
}

// restored computes the tick after a state in a new world, with its propagators in another order
// if there is one and a lattice is given.
func (s *Subject) restored(state []byte, how way, other *space.Lattice, watched bool) (*run, error) {
	c, err := s.Config(how.workers)
	if err != nil {
		return nil, err
	}
	r := &run{way: how}
	if other != nil {
		r.order = reorder(c.Propagators, other)
	}
	if r.world, err = engine.Restore(c, s.Descriptor, state); err != nil {
		return nil, err
	}
	if watched {
		r.watch(&c)
	}
	if how.recorded {
		if err := r.record(); err != nil {
			return nil, err
		}
	}
	if err := s.step(r); err != nil {
		return nil, r.failed(r.world.Tick(), err)
	}
	return r, nil
}

// failed is the error of a world that was restored, which fails where the run did not.
func (r *run) failed(from uint64, err error) error {
	tick, ok := errors.AsType[*engine.TickError](err)
	if !ok {
		return fmt.Errorf("enginetest: a world restored from the state of tick %d: %w", from, err)
	}
	return &SyncError{Tick: tick.Tick, From: from, Workers: r.workers, Order: r.order, Recorded: r.recorded, Err: fmt.Errorf("%s: %w", tick.Where, tick.Err)}
}

// step computes a tick with its inputs.
func (s *Subject) step(r *run) error {
	var receipts []commands.Receipt
	var err error
	r.Parts = r.Parts[:0]
	switch {
	case s.Inputs != nil:
		var list []commands.Command
		if list, err = s.Inputs(r.world.Tick() + 1); err == nil {
			receipts, err = r.world.Replay(list)
		}
	case s.Submit != nil:
		if err = s.Submit(r.world); err == nil {
			receipts, err = r.world.Step()
		}
	default:
		receipts, err = r.world.Step()
	}
	if err != nil {
		return err
	}
	if r.recorder != nil {
		if err := r.recorder.Flush(); err != nil {
			return err
		}
	}
	inputs := fnv.New64a()
	for _, x := range receipts {
		if !x.Event {
			inputs.Write(x.Append(nil))
		}
	}
	r.Inputs = inputs.Sum64()
	r.State, err = r.world.Save(s.Descriptor)
	r.Rest = r.world.Column(fields.ID(len(r.world.Defs()) - 1)).Uint64[0]
	return err
}

// tries is how often a tick is computed as the run did before something else is blamed.
const tries = 8

// again computes the latest tick of a run once more, from the state before it.
func (s *Subject) again(r *run, before []byte) error {
	tick, turns, lattice := r.world.Tick(), uint64(len(s.Workers)), r.world.Lattice()
	workers := s.Workers[tick%turns]
	if (tick+tick/turns)%2 != 0 { // so that each number of workers has both orders
		lattice = nil
	}
	other, err := s.restored(before, way{workers: workers}, lattice, false)
	if err != nil {
		return err
	}
	if other.same(&r.result) {
		return nil
	}
	// The simplest world that differs says most about the cause. Before workers or an order are blamed, it is computed several times
	// as the run did, for a clock or the order of a map may come to the same by chance.
	for _, simpler := range []struct {
		workers int
		order   *space.Lattice
		tries   int
	}{{r.workers, nil, tries}, {workers, nil, 1}, {workers, lattice, 1}} {
		for range simpler.tries {
			x, err := s.restored(before, way{workers: simpler.workers}, simpler.order, true)
			if err == nil && !x.same(&r.result) {
				return r.differs(&x.result, x.way)
			}
		}
	}
	return r.differs(&other.result, other.way)
}

// elsewhere compares the latest tick of a run with that of another process.
func (s *Subject) elsewhere(r *run, before []byte) error {
	b, err := s.Elsewhere(before)
	if err != nil {
		return err
	}
	var other result
	if err := gob.NewDecoder(bytes.NewReader(b)).Decode(&other); err != nil {
		return fmt.Errorf("enginetest: what Elsewhere returned is not of Again: %w", err)
	}
	if other.same(&r.result) {
		return nil
	}
	return r.differs(&other, way{})
}

func (r *result) same(other *result) bool {
	return r.Rest == other.Rest && bytes.Equal(r.State, other.State)
}

// differs returns the error for another result of the latest tick.
func (r *run) differs(other *result, how way) error {
	e := &SyncError{Tick: r.world.Tick(), From: r.world.Tick() - 1, Workers: how.workers, Order: how.order, Recorded: how.recorded, first: r.workers}
	if e.Kind, e.Part = engine.PartCommands, engine.PartCommands; r.Inputs == other.Inputs {
		e.Kind, e.Part = firstPart(r.Parts, other.Parts, how.order)
	}
	if bytes.Equal(r.State, other.State) {
		return e
	}
	var err error
	if e.Report, err = diff.States(r.world, r.State, other.State); err != nil {
		return err
	}
	return e
}
