package engine

import (
	"github.com/murksim/murksim/commands"
	"github.com/murksim/murksim/fields"
	"github.com/murksim/murksim/internal/store"
)

// A Tick is one tick, as a [Recorder] sees it before it is published and a watcher
// afterwards. It is valid during the call only, inputs and receipts included: after it, its
// methods panic.
type Tick struct {
	Number   uint64
	Inputs   []commands.Command // everything from outside that was taken, in canonical order
	Receipts []commands.Receipt // of events and inputs, in the order they were taken
	world    *World             // nil, but during the call
	hash     uint64
	hashed   bool
}

// during returns the world. It panics if the tick is used when no recorder or watcher has it.
func (t *Tick) during() *World {
	if t == nil || t.world == nil {
		panic("engine: a Tick is used outside of the call that it was handed to")
	}
	return t.world
}

// World returns the world of the tick. A recorder may keep it.
func (t *Tick) World() *World { return t.during() }

// Setup returns what [World.Setup] returns for the world of the tick.
func (t *Tick) Setup(descriptor []byte) fields.Setup { return t.during().Setup(descriptor) }

// Hash returns the snapshot hash of the state after the tick.
func (t *Tick) Hash() uint64 {
	if w := t.during(); !t.hashed {
		t.hash, t.hashed = w.store.Hash(), true
	}
	return t.hash
}

// FieldHash returns the FNV-1a hash of one field's elements after the tick.
func (t *Tick) FieldHash(id fields.ID) uint64 { return t.during().store.FieldHash(id) }

// View gives the recorders of this module what [store.View] has: they hold a state only in
// as far as it has changed. For everything else there is [Tick.Snapshot].
func (t *Tick) View() store.View { return t.during().store.View() }

// Rest returns the sections 2, 4 and 5 of the state after the tick: parameters, events and random. They are valid
// during the call and must not be changed.
func (t *Tick) Rest() (parameters, events, random []byte) {
	r := t.rest()
	return r.bytes[:r.events], r.bytes[r.events:r.random], r.bytes[r.random:]
}

func (t *Tick) rest() *rest {
	w := t.during()
	if w.tick == t.Number { // it is published
		return &w.published
	}
	return &w.rest
}

// AppendState appends the state after the tick, as [World.Save] returns it once the tick is
// published. Rest is the value of the column world.rest, which is not part of the state:
// [RestoreTick] needs it to give the restored world the tick's hash.
func (t *Tick) AppendState(dst, descriptor []byte) (state []byte, rest uint64, err error) {
	w := t.during()
	if state, err = w.appendState(dst, t.Number, t.rest(), descriptor); err != nil {
		return dst, 0, err
	}
	return state, w.store.Now(w.cols.rest).Uint64[0], nil
}
