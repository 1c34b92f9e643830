package ask

import (
	"cmp"
	"context"
	"slices"

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
	Runs
	Held bool // after Each: whether the condition holds in the last state

	first  uint64         // tick that was read
	all    []Given        // its commands, and those of the ticks after it
	hashes []uint64       // of these ticks
	end    *engine.World  // the last state
	slots  map[uint64]int // of the entities that live in it, by id
}

// Each leaves out each command of the ticks from first to last, one at a time, computes the run up to the tick end, and returns what comes of it, in the order of the
// commands, and how many numbers a state has. The condition of a worker may be nil. If a world comes to something else from a state than what was recorded, the
// error is [ErrRemembers].
func (r *Remover) Each(ctx context.Context, first, last, end uint64) (list []Removal, numbers int, err error) {
	if err := r.read(ctx, first, end); err != nil {
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
	if err := r.hire(len(list)); err != nil {
		return nil, 0, err
	}
	if holds := r.workers[0].holds; holds != nil {
		r.Held = holds(r.end, true)
	}
	var at start
	tick := uint64(0)
	if err := r.each(ctx, len(list), func(i int) (s start, err error) {
		if list[i].Tick != tick {
			tick = list[i].Tick
			at, err = r.startAt(tick - 1)
		}
		return at, err
	}, func(x *worker, i int, s start) error {
		if x.last = list[i].Tick; i == 0 {
			if err := r.control(ctx, x, s); err != nil {
				return err
			}
		}
		return r.without(ctx, x, i, s, &list[i])
	}); err != nil {
		return nil, 0, err
	}
	return list, numbers, r.workersHold(func(x *worker) error { return r.control(ctx, x, x.start) }) // the runs themselves may have changed what a world remembers
}

// read reads the commands, and goes to the end.
func (r *Remover) read(ctx context.Context, first, end uint64) (err error) {
	if err := r.Cursor.Seek(first - 1); err != nil {
		return err
	}
	r.first = first
	if r.all, r.hashes, err = r.recorded(ctx, end); err != nil {
		return err
	}
	if r.end, err = r.Cursor.World().Fork(); err != nil {
		return err
	}
	r.slots = map[uint64]int{}
	for slot, id := range r.end.Entities().Live() {
		r.slots[id] = slot
	}
	return nil
}

// control computes a run with all commands, from the tick of the latest one that was left out, which must end as it was recorded.
func (r *Remover) control(ctx context.Context, x *worker, s start) error {
	same := Removal{Given: Given{Tick: x.last}}
	if err := r.without(ctx, x, none, s, &same); err != nil {
		return err
	}
	if same.Failed != nil || same.Differ > 0 || x.world.Hash() != r.end.Hash() {
		return ErrRemembers
	}
	return nil
}

// none is the index of no command.
const none = -1

// without computes a run without a command.
func (r *Remover) without(ctx context.Context, x *worker, at int, s start, to *Removal) (err error) {
	next, _ := slices.BinarySearchFunc(r.all, to.Tick, func(g Given, tick uint64) int { return cmp.Compare(g.Tick, tick) })
	give := func(tick uint64, list []commands.Command) []commands.Command {
		for ; next < len(r.all) && r.all[next].Tick == tick; next++ {
			c := r.all[next].Command
			switch {
			case next != at:
			case c.Kind == commands.KindSpawn: // which Check would miss
				continue
			default: // it does nothing, and those after it keep their numbers, which are state
				c.Expires = tick - 1
			}
			list = append(list, c)
		}
		return list
	}
	to.Failed, err = x.run(ctx, s, r.end.Tick(), true, give, func(tick uint64) bool {
		if at != none && tick > to.Tick && x.world.Hash() == r.hashes[tick-r.first] { // both are of our own computation
			to.Same = tick
		}
		return to.Same > 0
	})
	if err == nil && to.Failed == nil && to.Same == 0 {
		to.Differ = r.differing(x.world)
		to.Otherwise = x.holds != nil && x.holds(x.world, true) != r.Held
	}
	return err
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
