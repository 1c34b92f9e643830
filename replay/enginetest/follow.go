package enginetest

import (
	"crypto/sha256"
	"errors"
	"io"
	"slices"

	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/replay"
)

// A follower is a world that was restored once and goes on from there, for what is remembered may act some ticks later.
// It is restored anew after 2, 4, 8, … ticks. It is recorded, which the run is not.
type follower struct {
	*Subject
	run  *run
	from uint64 // the tick of the state
	ends uint64 // the tick after which another one follows
}

// follow computes the latest tick of a run in the world that goes on, or in a new one from the state before the tick.
func (f *follower) follow(r *run, before []byte) (err error) {
	tick := r.world.Tick()
	if tick > f.ends {
		long := 2 * max(f.ends-f.from, 1)
		f.from, f.ends = tick-1, tick-1+long
		f.run, err = f.restored(before, way{workers: r.workers, recorded: true}, nil, true)
	} else if err = f.step(f.run); err != nil {
		err = f.run.failed(f.from, err)
	}
	if err == nil && f.run.same(&r.result) {
		if f.run.recorder != nil && f.run.hash != f.run.world.Hash() {
			return f.unreported(r, before)
		}
		return nil
	}
	if e := f.recorded(r, before); e != nil {
		return e
	}
	if err == nil {
		err = r.differs(&f.run.result, f.run.way)
	}
	if e, ok := err.(*SyncError); ok {
		e.From, e.Recorded = f.from, false // the recorder is not the cause
	}
	return err
}

// record lets a world be recorded, from its tick on, unless its configuration has a recorder.
func (r *run) record() (err error) {
	if r.world.Recorder() != nil {
		return nil
	}
	h := replay.HeaderOf(r.world, nil)
	if r.recorder, err = replay.ResumeRecorder(io.Discard, r.world, h, replay.Position{Frame: int(r.world.Tick())}, nil); err != nil {
		return err
	}
	r.recorder.OnHash(func(_, hash uint64, _ func() [sha256.Size]byte) { r.hash = hash })
	r.world.Record(r.recorder)
	return nil
}

// recorded returns the error of the latest tick of a run if the tick, computed once more, comes to something else with a recorder, and to
// the same without one, each time; nil: it does not.
func (s *Subject) recorded(r *run, before []byte) error {
	with, failed := s.restored(before, way{workers: r.workers, recorded: true}, nil, true)
	if failed == nil && with.same(&r.result) {
		return nil
	}
	for range tries {
		if x, err := s.restored(before, way{workers: r.workers}, nil, false); err != nil || !x.same(&r.result) {
			return nil
		}
	}
	if failed != nil {
		return failed
	}
	return r.differs(&with.result, with.way)
}

// unreported returns the error of the latest tick of a run, of which a recording has another hash.
func (s *Subject) unreported(r *run, before []byte) error {
	e := &SyncError{Tick: r.world.Tick(), From: r.world.Tick() - 1, Workers: r.workers, Recorded: true, first: r.workers, Unreported: errors.New("it is not known what")}
	c, err := s.Config(r.workers)
	if err != nil {
		return err
	}
	c.Paranoid = true
	var names []string
	for _, p := range c.Propagators {
		names = append(names, p.Spec(r.world.Lattice()).Name)
	}
	x := &run{way: way{workers: r.workers}}
	if x.world, err = engine.Restore(c, s.Descriptor, before); err == nil {
		if err = x.record(); err == nil {
			err = s.step(x)
		}
	}
	if tick, ok := errors.AsType[*engine.TickError](err); ok {
		e.Part, e.Unreported = tick.Where, tick.Err
		if e.Kind = engine.PartSystem; slices.Contains(names, tick.Where) {
			e.Kind = engine.PartPropagator
		}
	}
	return e
}
