package store

import (
	"sync/atomic"

	"github.com/murksim/murksim/fields"
)

// A State holds one generation of every field. It does not change while the store goes on,
// and any goroutine may read it. Release returns its buffers to the store; without a
// Release the garbage collector frees them.
type State struct {
	defs     []fields.Def
	buffers  []*Buffer
	released atomic.Bool //detcheck:allow goroutine a second Release must do nothing, from any goroutine
}

// Hold makes n hold what [Store.Now] returns for every field. The state must be new or
// released.
func (s *Store) Hold(n *State) {
	n.begin(s)
	for i := range s.slots {
		b := s.slots[i].now()
		b.Retain()
		n.buffers = append(n.buffers, b)
	}
}

// begin makes n hold no buffer yet.
func (n *State) begin(s *Store) {
	n.defs, n.buffers = s.defs, n.buffers[:0]
	if cap(n.buffers) < len(s.slots) {
		n.buffers = make([]*Buffer, 0, len(s.slots))
	}
	n.released.Store(false)
}

// Defs returns the definitions of the fields. They must not be changed.
func (n *State) Defs() []fields.Def { return n.defs }

// Column returns the values of a field. They must not be changed.
func (n *State) Column(id fields.ID) *fields.Column { return &n.buffers[id].Column }

// Len is the number of elements of a field.
func (n *State) Len(id fields.ID) int { return n.buffers[id].Len() }

// Size is the number of bytes of all fields.
func (n *State) Size() (bytes int) {
	for _, b := range n.buffers {
		bytes += b.Size()
	}
	return bytes
}

// Hash is the snapshot hash.
func (n *State) Hash() uint64 {
	h := fields.NewHash()
	for i, b := range n.buffers {
		h = h.Field(fields.ID(i), &b.Column)
	}
	return uint64(h)
}

// Release returns the buffers to the store. The state must not be used afterwards. A
// second Release does nothing.
func (n *State) Release() {
	if n.released.Swap(true) {
		return
	}
	for _, b := range n.buffers {
		if b != nil { // see Delta
			b.Release()
		}
	}
}
