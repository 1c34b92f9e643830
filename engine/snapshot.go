package engine

import (
	"github.com/murksim/murksim/fields"
	"github.com/murksim/murksim/internal/store"
)

// A Snapshot is the state of a world at the end of a tick, as [World.Snapshot] and
// [Tick.Snapshot] take it. It does not change while the world goes on, and any goroutine
// may read it.
//
// Taking one copies nothing: the world writes its next states to other memory while the
// snapshot is held. Release gives that memory back to the world; without a Release the
// garbage collector frees it. Up to 16 snapshots held at a time cost a world no further
// allocation per tick.
type Snapshot struct{ state store.State }

// Snapshot takes a snapshot of the current state. Within a tick the state is incomplete, and
// Snapshot panics with [ErrUnderWay]; see [Tick.Snapshot].
func (w *World) Snapshot() *Snapshot {
	w.made()
	if err := w.maySave(); err != nil {
		panic(err)
	}
	return w.hold()
}

func (w *World) hold() *Snapshot {
	n := new(Snapshot)
	w.store.Hold(&n.state)
	return n
}

// Snapshot takes a snapshot of the state after the tick.
func (t *Tick) Snapshot() *Snapshot { return t.during().hold() }

// Defs returns the definitions of the fields, in the order of their ids. They must not be
// changed.
func (n *Snapshot) Defs() []fields.Def { return n.state.Defs() }

// Len is the number of elements of a field.
func (n *Snapshot) Len(id fields.ID) int { return n.state.Len(id) }

// Bytes is the size of all fields.
func (n *Snapshot) Bytes() int { return n.state.Size() }

// At returns element i of a field as a number.
func (n *Snapshot) At(id fields.ID, i int) float64 {
	return n.state.Defs()[id].Value(n.state.Column(id).Bits(i))
}

// Column returns a copy of a field's column.
func (n *Snapshot) Column(id fields.ID) fields.Column { return n.state.Column(id).Clone() }

// AppendFloat32 appends the elements of a Float32 field to dst.
func (n *Snapshot) AppendFloat32(dst []float32, id fields.ID) []float32 {
	return append(dst, n.state.Column(id).Float32...)
}

// Hash is the snapshot hash: that of the frame of this tick in a recording.
func (n *Snapshot) Hash() uint64 { return n.state.Hash() }

// FieldHash is the FNV-1a hash of the elements of one field.
func (n *Snapshot) FieldHash(id fields.ID) uint64 {
	return uint64(fields.NewHash().Column(n.state.Column(id)))
}

// Release gives the memory back to the world. The snapshot must not be used afterwards. A
// second Release does nothing.
func (n *Snapshot) Release() { n.state.Release() }
