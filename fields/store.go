package fields

import (
	"math"
	"slices"
	"sync"
	"sync/atomic"
)

// A Store keeps the columns of a world in generations. Between ticks there is one,
// the current. In a tick, commands patch it (under an undo log, or on a copy while
// a snapshot holds it) and propagators write the next beside it; [Store.Turn] lets
// commands patch that, too; [Store.Commit] makes the next one current,
// [Store.Rollback] leaves no trace of the tick. A steady state reuses buffers and
// allocates nothing.
//
// It also keeps which tiles of a column may have changed when: see [Store.HoldDelta].
// Columns are written as [Store.Patch], [Store.Full] and [Store.Incremental] give them, by
// the next call of a method; only before the first HoldDelta may [Store.Current] be.
//
// A Store belongs to one goroutine, but for the releasing of its snapshots and of columns
// that it shares.
type Store struct {
	defs   []Def
	slots  []slot
	undo   []patch
	turned int    // how many patches came before Turn
	epoch  uint64 // how often a state was held by HoldDelta, plus one
}

// A slot is one field's generations.
type slot struct {
	def    *Def
	size   int
	cur    *buffer // what was published, with this tick's patches
	next   *buffer // what this tick's propagators wrote, nil if none did
	before *buffer // what cur was before Turn, nil if that changed nothing
	spare  *buffer // for the next take, with the store's reference still on it; may be nil
	ledger ledger
	other  *buffer // what Swap exchanges next with, nil if that was never asked for in this tick

	//detcheck:allow goroutine buffers are released from any goroutine; it guards spare memory only
	mu   sync.Mutex
	free []*buffer
}

// A buffer is a column with a count of those who hold it: stores and snapshots.
type buffer struct {
	Column
	//detcheck:allow goroutine counts the holders of a buffer, never what is in it
	refs atomic.Int32
	slot *slot
}

// A patch remembers an element overwritten in place or on a copy.
type patch struct {
	field ID
	index int
	bits  uint64
}

// NewStore returns a store for fields of the given sizes, in elements, with every
// element at its initial value, bounds applied. It reports a definition that is
// wrong and an initial value that cannot be stored.
func NewStore(defs []Def, sizes []int) (*Store, error) {
	s := &Store{defs: defs, slots: make([]slot, len(defs)), epoch: 1}
	for i := range defs {
		d, sl := &s.defs[i], &s.slots[i]
		if err := d.Check(); err != nil {
			return nil, err
		}
		sl.def, sl.size = d, sizes[i]
		sl.ledger.begin(d.Element, sl.size, s.epoch)
		sl.cur = sl.take()
		if err := sl.genesis(); err != nil {
			return nil, err
		}
	}
	return s, nil
}

func (sl *slot) genesis() error {
	d := sl.def
	if n := d.Initial.Len(); n >= 0 && n != sl.size {
		return d.errorf("%d initial values for %d elements", n, sl.size)
	}
	if d.Initial.Len() < 0 && math.Float64bits(d.Initial.fill) == 0 && d.Bounds == nil { // -0 is not what a new column holds
		return nil
	}
	for i := range sl.size {
		bits, ok := d.Bits(d.Initial.At(i))
		if !ok {
			return d.errorf("initial value %v of element %d cannot be stored", d.Initial.At(i), i)
		}
		sl.cur.SetBits(i, d.Bound(bits))
	}
	return nil
}

// Reset puts every element back to its initial value. Snapshots keep what they hold.
func (s *Store) Reset() {
	s.Rollback()
	for i := range s.slots {
		sl := &s.slots[i]
		sl.drop(sl.cur)
		sl.cur = sl.take()
		sl.cur.Clear()
		sl.ledger.written(s.epoch)
		if err := sl.genesis(); err != nil {
			panic("fields: " + err.Error()) // NewStore has checked it
		}
	}
}

// Share gives every field the column that from has, a store of the same definitions and
// sizes. Either store copies it before it writes to it. Both are between ticks; afterwards
// each may be used in a goroutine of its own. Snapshots keep what they hold.
func (s *Store) Share(from *Store) {
	s.Rollback()
	for i := range s.slots {
		sl, b := &s.slots[i], from.slots[i].cur
		if sl.cur == b {
			continue // neither has written since the last Share
		}
		b.refs.Add(1)
		sl.drop(sl.cur)
		sl.cur = b
		sl.ledger.written(s.epoch)
	}
}

// take returns a buffer to write, with one reference and any contents.
func (sl *slot) take() *buffer {
	if b := sl.spare; b != nil {
		sl.spare = nil
		return b
	}
	sl.mu.Lock()
	defer sl.mu.Unlock()
	if n := len(sl.free); n > 0 {
		b := sl.free[n-1]
		sl.free = sl.free[:n-1]
		b.refs.Store(1)
		return b
	}
	b := &buffer{Column: NewColumn(sl.def.Element, sl.size), slot: sl}
	b.refs.Store(1)
	return b
}

// MaxHeld is how many snapshots can be held at a time for a steady state to allocate
// nothing: so many spare buffers of each field are kept for reuse, 3 more for the tick
// itself, if there were ever so many.
const MaxHeld = 16

const maxFree = MaxHeld + 3

// drop gives up the store's reference to a buffer. If there is no other, nobody can
// make one: the buffer is kept at hand, without a lock.
func (sl *slot) drop(b *buffer) {
	if sl.spare == nil && b.refs.Load() == 1 {
		sl.spare = b
		return
	}
	b.release()
}

// release gives up one reference; the last one gives the buffer back for reuse.
func (b *buffer) release() {
	if b.refs.Add(-1) > 0 {
		return
	}
	b.slot.mu.Lock()
	defer b.slot.mu.Unlock()
	if len(b.slot.free) < maxFree {
		b.slot.free = append(b.slot.free, b)
	}
}

// Defs are the definitions, which must not be changed.
func (s *Store) Defs() []Def { return s.defs }

// Current is the state at the start of the tick, commands applied.
func (s *Store) Current(id ID) *Column { return &s.slots[id].cur.Column }

// Now is what this tick's propagators have written so far, else the current state.
func (s *Store) Now(id ID) *Column {
	if n := s.slots[id].next; n != nil {
		return &n.Column
	}
	return &s.slots[id].cur.Column
}

// Written reports whether a propagator has written the field in this tick.
func (s *Store) Written(id ID) bool { return s.slots[id].next != nil }

// Full gives the next generation to write in full; it starts with any contents.
func (s *Store) Full(id ID) *Column {
	sl := &s.slots[id]
	sl.ledger.written(s.epoch)
	if sl.next == nil {
		sl.next = sl.take()
	}
	return &sl.next.Column
}

// Incremental gives the next generation as it stands so far.
func (s *Store) Incremental(id ID) *Column {
	sl := &s.slots[id]
	sl.ledger.written(s.epoch)
	if sl.next == nil {
		sl.next = sl.take()
		sl.next.CopyFrom(&sl.cur.Column)
	}
	return &sl.next.Column
}

// Swap puts another column, of any contents, in the place of the next generation of a
// field that is written in full; a second Swap puts back the first. What is in place at
// Commit is kept.
func (s *Store) Swap(id ID) {
	sl := &s.slots[id]
	if sl.other == nil {
		sl.other = sl.take()
	}
	sl.next, sl.other = sl.other, sl.next
}

// dropOther gives up the column that Swap left beside the next generation.
func (sl *slot) dropOther() {
	if sl.other != nil {
		sl.drop(sl.other)
		sl.other = nil
	}
}

// Patch writes one element of the current state. The caller has checked index and
// value.
func (s *Store) Patch(id ID, index int, bits uint64) {
	sl := &s.slots[id]
	if sl.cur.refs.Load() != 1 {
		sl.own()
	}
	sl.ledger.stamps[index>>sl.ledger.shift] = s.epoch
	if v := sl.cur.Float32; v != nil { // the most common
		s.undo = append(s.undo, patch{id, index, uint64(math.Float32bits(v[index]))})
		v[index] = math.Float32frombits(uint32(bits))
		return
	}
	s.undo = append(s.undo, patch{id, index, sl.cur.Bits(index)})
	sl.cur.SetBits(index, bits)
}

// A Patch is an element of a Float32 field and what it is to be.
type Patch struct {
	Index int32
	Value float32
}

// PatchAll is [Store.Patch] for elements of a Float32 field, one after another.
func (s *Store) PatchAll(id ID, list []Patch) {
	if len(list) == 0 {
		return
	}
	sl := &s.slots[id]
	sl.own()
	undo, values := slices.Grow(s.undo, len(list)), sl.cur.Float32
	for _, p := range list {
		sl.ledger.stamps[int(p.Index)>>sl.ledger.shift] = s.epoch
		v := &values[p.Index]
		undo = append(undo, patch{id, int(p.Index), uint64(math.Float32bits(*v))})
		*v = p.Value
	}
	s.undo = undo
}

// own makes the current column a copy if a snapshot holds it.
func (sl *slot) own() {
	if sl.cur.refs.Load() == 1 {
		return
	}
	held := sl.cur
	sl.cur = sl.take()
	sl.cur.CopyFrom(&held.Column)
	sl.drop(held)
}

// Mark returns a point to which [Store.UndoTo] can go back.
func (s *Store) Mark() int { return len(s.undo) }

// UndoTo takes back the patches since the mark.
func (s *Store) UndoTo(mark int) {
	for i := len(s.undo) - 1; i >= mark; i-- {
		p := s.undo[i]
		sl := &s.slots[p.field]
		sl.own() // a snapshot may have been taken since
		sl.ledger.stamps[p.index>>sl.ledger.shift] = s.epoch
		sl.cur.SetBits(p.index, p.bits)
	}
	s.undo = s.undo[:mark]
}

// Turn makes what has been written in this tick the current state, once a tick, so
// that patches come on top of it. Rollback still takes back all of the tick.
func (s *Store) Turn() {
	for i := range s.slots {
		if sl := &s.slots[i]; sl.next != nil {
			sl.before, sl.cur, sl.next = sl.cur, sl.next, nil
		}
	}
	s.turned = len(s.undo)
}

// Commit makes this tick's state the current one.
func (s *Store) Commit() {
	for i := range s.slots {
		sl := &s.slots[i]
		sl.dropOther()
		if sl.before != nil {
			sl.drop(sl.before)
			sl.before = nil
		}
		if sl.next != nil {
			sl.drop(sl.cur)
			sl.cur, sl.next = sl.next, nil
		}
	}
	s.undo, s.turned = s.undo[:0], 0
}

// Rollback takes back everything since the last Commit.
func (s *Store) Rollback() {
	s.UndoTo(s.turned)
	for i := range s.slots {
		sl := &s.slots[i]
		sl.dropOther()
		if sl.before != nil {
			sl.drop(sl.cur)
			sl.cur, sl.before = sl.before, nil
			sl.ledger.written(s.epoch)
		}
		if sl.next != nil {
			sl.drop(sl.next)
			sl.next = nil
			sl.ledger.written(s.epoch)
		}
	}
	s.UndoTo(0)
	s.turned = 0
}

// Finish checks what propagators wrote, then puts it into the field's bounds. It
// returns the index of the first element that is no value of the field (not finite,
// even where bounds would have clamped it, or no category), or -1. A caller who knows
// that all elements are finite spares it that check.
func (s *Store) Finish(id ID, finite bool) int {
	sl := &s.slots[id]
	if sl.next == nil {
		return -1
	}
	if !finite || sl.def.Type.Kind == CategoricalKind {
		if i := sl.def.Bad(&sl.next.Column); i >= 0 || sl.def.Type.Kind == CategoricalKind {
			return i
		}
	}
	v := sl.next.Float32
	if b := sl.def.Bounds; b != nil {
		l := b.limits(sl.def)
		if b.Mode == AbsorbBound {
			l.hold(&sl.next.Column, &sl.cur.Column)
			return -1
		}
		l.bound(v)
		for i, x := range sl.next.Fixed {
			sl.next.Fixed[i] = l.fixed(x)
		}
	}
	return -1
}

// Bad returns the index of the first element of a column that is no value of the
// field: not finite, or no category; -1 if there is none.
func (d *Def) Bad(c *Column) int {
	if d.Type.Kind == CategoricalKind {
		return notCategory(d, c)
	}
	return notFinite(c.Float32)
}

// hold bounds next; an element that was at a bound before keeps its value.
func (l *limits) hold(next, before *Column) {
	for i, x := range next.Float32 {
		if was := before.Float32[i]; was <= l.lo || was >= l.hi {
			x = was
		}
		next.Float32[i] = l.float32(x)
	}
	for i, x := range next.Fixed {
		if was := before.Fixed[i]; was <= l.xlo || was >= l.xhi {
			x = was
		}
		next.Fixed[i] = l.fixed(x)
	}
}

func notCategory(d *Def, c *Column) int {
	if c.Float32 != nil {
		n := float32(d.Type.N)
		for i, x := range c.Float32 {
			if !(x >= 0 && x < n) || x != float32(int32(x)) { // n is far below 2**31
				return i
			}
		}
		return -1
	}
	for i := range c.Len() {
		if _, ok := d.Bits(d.Value(c.Bits(i))); !ok {
			return i
		}
	}
	return -1
}

// Hash is the snapshot hash of what [Store.Now] gives for every field.
func (s *Store) Hash() uint64 {
	h := NewHash()
	for i := range s.slots {
		h = h.Field(ID(i), s.Now(ID(i)))
	}
	return uint64(h)
}

// FieldHash is the FNV-1a hash of the elements that [Store.Now] gives for a field.
func (s *Store) FieldHash(id ID) uint64 { return uint64(NewHash().Column(s.Now(id))) }

// A Snapshot holds one generation of every column. It stays as it is while the
// world goes on, and may be read from any goroutine. Release it to let its buffers
// be used again; without that, the garbage collector takes them.
type Snapshot struct {
	defs     []Def
	buffers  []*buffer
	released atomic.Bool //detcheck:allow goroutine a second Release must do nothing, whoever calls it
}

// Snapshot holds on to what [Store.Now] gives for every field.
func (s *Store) Snapshot() *Snapshot {
	n := new(Snapshot)
	s.Hold(n)
	return n
}

// Hold makes a snapshot as [Store.Snapshot] does in n, which must be new or released.
func (s *Store) Hold(n *Snapshot) {
	n.defs, n.buffers = s.defs, n.buffers[:0]
	if cap(n.buffers) < len(s.slots) {
		n.buffers = make([]*buffer, 0, len(s.slots))
	}
	for i := range s.slots {
		b := s.slots[i].next
		if b == nil {
			b = s.slots[i].cur
		}
		b.refs.Add(1)
		n.buffers = append(n.buffers, b)
	}
	n.released.Store(false)
}

// Defs are the definitions of the snapshot's fields, which must not be changed.
func (n *Snapshot) Defs() []Def { return n.defs }

// Len is the number of elements of a field.
func (n *Snapshot) Len(id ID) int { return n.buffers[id].Len() }

// Bytes is the size of all fields.
func (n *Snapshot) Bytes() (size int) {
	for _, b := range n.buffers {
		size += b.bytes()
	}
	return size
}

// At is element i of a field as a number.
func (n *Snapshot) At(id ID, i int) float64 {
	return n.defs[id].Value(n.buffers[id].Bits(i))
}

// Column returns a copy of a field's column.
func (n *Snapshot) Column(id ID) Column { return n.buffers[id].Clone() }

// AppendFloat32 appends a Float32 field's values to dst.
func (n *Snapshot) AppendFloat32(dst []float32, id ID) []float32 {
	return append(dst, n.buffers[id].Float32...)
}

// Hash is the snapshot hash.
func (n *Snapshot) Hash() uint64 {
	h := NewHash()
	for i, b := range n.buffers {
		h = h.Field(ID(i), &b.Column)
	}
	return uint64(h)
}

// FieldHash is the FNV-1a hash of a field's elements alone.
func (n *Snapshot) FieldHash(id ID) uint64 { return uint64(NewHash().Column(&n.buffers[id].Column)) }

// Release gives the buffers back; the snapshot must not be used after. A second
// Release does nothing.
func (n *Snapshot) Release() {
	if n.released.Swap(true) {
		return
	}
	for _, b := range n.buffers {
		if b != nil { // see Delta
			b.release()
		}
	}
}
