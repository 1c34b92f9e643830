package engine

import (
	"errors"

	"github.com/murksim/murksim/rng"
)

// Fork makes a second world that goes on from the same state, with the same
// propagators, systems and handlers. It has no recorder and no watcher, and nothing is
// queued. Columns are shared until one of the two writes to them. Within a tick it fails with [ErrUnderWay]. For many forks, give each back
// with [World.Release], which makes the next one cheap.
func (w *World) Fork() (*World, error) {
	if err := w.maySave(); err != nil {
		return nil, err
	}
	if !w.rules.closed() {
		return nil, ErrUnsavable
	}
	if f := w.kin.take(w.initials); f != nil {
		f.queue, f.released, f.phase = f.released, nil, between
		f.become(w)
		return f, nil
	}
	f, err := New(w.Config())
	if err != nil {
		return nil, err
	}
	f.kin, f.initials = w.kin, w.initials
	return f, w.ForkInto(f)
}

// Release gives a world back that came from Fork, or from which others came, as Put of a sync.Pool does: forget the pointer. Its methods panic, until the
// next Fork of a world of its kin takes its memory; then the pointer is that fork. So a program that looks ahead again and again allocates nothing. Any
// goroutine may call Release. It fails with [ErrUnderWay] within a tick, and with [ErrRecorded] if the world has a recorder.
func (w *World) Release() error {
	if err := w.mayMove(); err != nil {
		return err
	}
	w.watchers, w.looker, w.rules = nil, nil, w.config.Rules.set()
	w.inputs = w.queue.Take(w.inputs[:0], 0)
	w.queue.Open()
	w.store.Drop()
	w.queue, w.released, w.phase = nil, w.queue, gone
	w.kin.mu.Lock()
	defer w.kin.mu.Unlock()
	w.kin.free = append(w.kin.free, w)
	return nil
}

// take returns a released world with these initial values, or nil.
func (k *kin) take(initials *kin) *World {
	k.mu.Lock()
	defer k.mu.Unlock()
	for i := len(k.free) - 1; i >= 0; i-- {
		if w := k.free[i]; w.initials == initials {
			k.free = append(k.free[:i], k.free[i+1:]...)
			return w
		}
	}
	return nil
}

// Config returns the configuration of the world with the seed that it has now, to make another one of. Propagators, systems and
// handlers are the world's own. It has no recorder.
func (w *World) Config() Config {
	c := w.config.clone()
	c.Seed = uint64(w.seed) // a Reset may have changed it
	c.Recorder = nil
	return c
}

// Reseed lets a world draw from its next tick on as one with another seed does: what else might have become of a fork. It fails with [ErrUnderWay] within a
// tick, and with [ErrRecorded] if the world has a recorder.
func (w *World) Reseed(seed uint64) error {
	if err := w.mayMove(); err != nil {
		return err
	}
	w.seed, w.config.Seed = rng.Seed(seed), seed
	return nil
}

// ErrNotKin reports two worlds that do not come from the same world by [World.Fork].
var ErrNotKin = errors.New("engine: the worlds are not forks of one world")

// ErrRecorded reports a world with a recorder, which would go on with a state that does not
// come from the ticks it has recorded. Take it off first, with Record(nil). It can go on
// after that if the state is the one after its last tick.
var ErrRecorded = errors.New("engine: the world has a recorder; take it off first")

// mayMove returns an error if the world cannot be put into another state.
func (w *World) mayMove() error {
	if err := w.mayChange(); err != nil {
		return err
	}
	if w.recorder != nil {
		return ErrRecorded
	}
	return nil
}

// ForkInto puts the world f into the state of w, as if f were a new fork, but reuses its
// memory: a program that looks ahead again and again need not allocate. Both must come from
// one world by Fork, or one from the other. A column is copied when one of them writes to
// it. Afterwards each may go on in a goroutine of its own.
//
// Inputs queued in f are dropped; its watchers stay, and a stopped queue stays stopped.
// ForkInto fails with [ErrUnderWay] within a tick of either world, with [ErrRecorded] if f
// has a recorder, and with [ErrNotKin] if the worlds are not kin; f is then as it was.
func (w *World) ForkInto(f *World) error {
	if err := errors.Join(w.maySave(), f.mayMove()); err != nil {
		return err
	}
	if f.kin != w.kin {
		return ErrNotKin
	}
	if f == w {
		return nil
	}
	f.inputs = f.queue.Take(f.inputs[:0], 0)
	f.become(w)
	return nil
}

// become takes over the seed and state of a world with otherwise the same configuration.
func (f *World) become(w *World) {
	f.seed, f.config.Seed = w.seed, uint64(w.seed)
	f.store.Share(w.store)
	copy(f.params.values, w.params.values)
	f.params.undo = f.params.undo[:0]
	f.events.CopyFrom(w.events)
	f.entities.stale(true)
	f.tick, f.arrival, f.failures, f.receipts = w.tick, w.arrival, 0, f.receipts[:0]
	f.published.bytes = append(f.published.bytes[:0], w.published.bytes...)
	f.published.events, f.published.random = w.published.events, w.published.random
	f.receipts = f.receipts[:0]
	f.halted.Store(false)
}

// Load puts the world into a state that [World.Save] returned for the same configuration
// and descriptor, as [Restore] would. Queued inputs and watchers stay, and a stopped queue
// stays stopped. Load fails with [ErrUnderWay] within a tick, with [ErrRecorded] if the
// world has a recorder, and with a [*StateError] for a state that does not fit; the world is
// then as it was.
func (w *World) Load(descriptor, state []byte) error {
	if err := w.mayMove(); err != nil {
		return err
	}
	c := w.config
	c.Seed, c.Recorder = uint64(w.seed), nil
	r, err := Restore(c, descriptor, state)
	if err != nil {
		return err
	}
	w.become(r)
	return nil
}

// SaveTick returns what [World.LoadTick] takes: the state as [World.Save] returns it, and the value of
// world.rest, which is not part of it.
func (w *World) SaveTick(descriptor []byte) (state []byte, rest uint64, err error) {
	if state, err = w.Save(descriptor); err != nil {
		return nil, 0, err
	}
	return state, w.store.Current(w.cols.rest).Uint64[0], nil
}

// LoadTick is [World.Load] for a state and the value of world.rest, as [Tick.AppendState]
// returns them: the hash of the world is then that of the tick.
func (w *World) LoadTick(descriptor, state []byte, rest uint64) error {
	if err := w.Load(descriptor, state); err != nil {
		return err
	}
	w.store.Current(w.cols.rest).Uint64[0] = rest
	return nil
}

// RestoreTick is [Restore] for a state and the value of world.rest, as [Tick.AppendState]
// returns them: the hash of the world is then that of the tick.
func RestoreTick(c Config, descriptor, state []byte, rest uint64) (*World, error) {
	w, err := Restore(c, descriptor, state)
	if err != nil {
		return nil, err
	}
	w.store.Current(w.cols.rest).Uint64[0] = rest
	return w, nil
}
