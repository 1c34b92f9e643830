package replay

import (
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/murksim/murksim/commands"
	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/fields"
)

// A Removal is what a run comes to without one of its commands.
type Removal struct {
	Given
	Differ    int    // how many numbers of the last state are others
	Otherwise bool   // the condition holds there where it did not, or does not where it did
	Same      uint64 // the tick from which on all is as it was, again; 0: none
	Failed    error  // of the tick that fails instead, or of Check; nil: none does
}

// A Remover computes what a recorded run comes to without each of some of its commands.
type Remover struct {
	Cursor  *Cursor
	Workers int          // how many runs are computed at once; 0: one
	Before  func() error // unless nil, called before each command is left out, and each tick that is read; its error ends the search
	Stop    func() error // unless nil, called in each tick that is computed, from any goroutine; its error ends the search

	// Worker makes what a worker needs: a world like the cursor's, and a condition, which may be nil and must not change a world. It is called from one goroutine.
	Worker func() (*engine.World, func(*engine.World) bool, error)

	// Check, unless nil, is called with what is left of the commands of a tick, from any goroutine. Its error says that nothing can be said of a run with these.
	Check func(tick uint64, given []commands.Command) error

	Held bool // after Each: whether the condition holds in the last state

	descriptor []byte
	first      uint64         // tick that was read
	all        []Given        // its commands, and those of the ticks after it
	hashes     []uint64       // of these ticks
	end        *engine.World  // the last state
	slots      map[uint64]int // of the entities that live in it, by id
}

// Each leaves out each command of the ticks from first to last, one at a time, computes the run up to the tick end, and returns what comes of it, in the order of the
// commands, and how many numbers a state has. If a world comes to something else from a state than what was recorded, the error is [ErrRemembers].
func (r *Remover) Each(first, last, end uint64) (list []Removal, numbers int, err error) {
	if err := r.read(first, end); err != nil {
		return nil, 0, err
	}
	for i := range r.all {
		if r.all[i].Tick <= last {
			list = append(list, Removal{Given: r.all[i]})
		}
	}
	for i, d := range r.end.Defs() {
		switch {
		case d.Domain == fields.Entities:
			numbers += len(r.slots) * max(d.Type.Components(), 1)
		case d.Name != engine.WorldRest:
			numbers += r.end.Column(fields.ID(i)).Len()
		}
	}
	return list, numbers, r.compute(list)
}

// read reads the commands, and goes to the end.
func (r *Remover) read(first, end uint64) (err error) {
	c := r.Cursor
	if err := c.seekInPieces(first-1, r.before); err != nil {
		return err
	}
	r.descriptor, r.first = c.Head().World(), first
	if r.all, r.hashes, err = c.commands(end, r.before); err != nil {
		return err
	}
	if r.end, err = c.World().Fork(); err != nil {
		return err
	}
	r.slots = map[uint64]int{}
	for slot, id := range r.end.Entities().Live() {
		r.slots[id] = slot
	}
	return nil
}

func (r *Remover) before() error {
	if r.Before == nil {
		return nil
	}
	return r.Before()
}

// A job is a command to be left out, and the state before it.
type job struct {
	at    int // its index
	state []byte
	rest  uint64
}

// compute leaves out each command, several at once.
func (r *Remover) compute(list []Removal) error {
	jobs := make(chan job)
	var workers sync.WaitGroup
	var failed errorOnce
	for range max(1, min(r.Workers, len(list))) {
		x := remover{Remover: r}
		var err error
		if x.world, x.holds, err = r.Worker(); err != nil {
			failed.note(err)
			break
		}
		if x.holds != nil {
			x.held = x.holds(r.end)
			r.Held = x.held
		}
		workers.Go(func() {
			for j := range jobs {
				if failed.get() == nil {
					failed.note(x.remove(j, &list[j.at]))
				}
			}
		})
	}
	for i := range list {
		j, err := r.job(i, list[i].Tick)
		if failed.note(err); failed.get() != nil {
			break
		}
		jobs <- j
	}
	close(jobs)
	workers.Wait()
	return failed.get()
}

// job goes to the state before a command.
func (r *Remover) job(i int, tick uint64) (j job, err error) {
	if err := r.before(); err != nil {
		return j, err
	}
	if err := r.Cursor.Seek(tick - 1); err != nil {
		return j, err
	}
	j.at = i
	j.state, j.rest, err = r.Cursor.World().SaveTick(r.descriptor)
	return j, err
}

// A remover is a worker.
type remover struct {
	*Remover
	world *engine.World
	holds func(*engine.World) bool
	held  bool // in the last state
}

// remove computes a run without a command; before the first one also one with all, which must end as it was recorded.
func (r *remover) remove(j job, x *Removal) error {
	if j.at == 0 {
		same := *x
		if err := r.without(job{none, j.state, j.rest}, &same); err != nil {
			return err
		}
		if same.Failed != nil || same.Differ > 0 || r.world.Hash() != r.end.Hash() {
			return ErrRemembers
		}
	}
	return r.without(j, x)
}

// none is the index of no command.
const none = -1

// without computes a run without a command.
func (r *remover) without(j job, x *Removal) error {
	w := r.world
	if err := w.LoadTick(r.descriptor, j.state, j.rest); err != nil {
		return err
	}
	next := slices.IndexFunc(r.all, func(g Given) bool { return g.Tick == x.Tick })
	var inputs []commands.Command
	for end := r.end.Tick(); w.Tick() < end; {
		if r.Stop != nil {
			if err := r.Stop(); err != nil {
				return err
			}
		}
		tick := w.Tick() + 1
		inputs = inputs[:0]
		for ; next < len(r.all) && r.all[next].Tick == tick; next++ {
			c := r.all[next].Command
			switch {
			case next != j.at:
			case c.Kind == commands.KindSpawn: // which Accept would miss
				continue
			default: // it does nothing, and those after it keep their numbers, which are state
				c.Expires = tick - 1
			}
			inputs = append(inputs, c)
		}
		if r.Check != nil {
			if x.Failed = r.Check(tick, inputs); x.Failed != nil {
				return nil
			}
		}
		if _, err := w.Replay(inputs); errors.As(err, new(*engine.TickError)) {
			x.Failed = err
			return nil
		} else if err != nil {
			return fmt.Errorf("replay: tick %d without command %d: %w", tick, x.Arrival, err)
		}
		if w.Hash() == r.hashes[tick-r.first] && tick > x.Tick && j.at != none { // both are of our own computation
			x.Same = tick
			return nil
		}
	}
	x.Differ = r.differing(w)
	x.Otherwise = r.holds != nil && r.holds(w) != r.held
	return nil
}

// differing counts the numbers in which a world differs from the last state: those of cells, and those of entities, by their ids. Of an entity that lives in
// one of them alone, all do.
func (r *Remover) differing(w *engine.World) (n int) {
	live := w.Entities()
	for i, d := range w.Defs() {
		a, b := w.Column(fields.ID(i)), r.end.Column(fields.ID(i))
		if d.Domain != fields.Entities {
			if d.Name != engine.WorldRest {
				n += differing(a, b, 0, 0, a.Len())
			}
			continue
		}
		size, both := max(d.Type.Components(), 1), 0
		for slot, id := range live.Live() {
			other, lives := r.slots[id]
			if !lives {
				n += size
				continue
			}
			both++
			n += differing(a, b, slot*size, other*size, size)
		}
		n += (len(r.slots) - both) * size
	}
	return n
}

// differing counts the elements that differ in a bit, of so many of two columns from these on.
func differing(a, b *fields.Column, i, k, count int) (n int) {
	for at := range count {
		if a.Bits(i+at) != b.Bits(k+at) {
			n++
		}
	}
	return n
}

// An errorOnce keeps the first error of several goroutines.
type errorOnce struct {
	mu  sync.Mutex
	err error
}

func (e *errorOnce) note(err error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.err == nil {
		e.err = err
	}
}

func (e *errorOnce) get() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.err
}
