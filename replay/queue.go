package replay

import (
	"fmt"
	"slices"
	"sync"

	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/fields"
)

// What a [Recorder] holds at most.
const (
	MaxHeldTicks = 12
	MaxHeldBytes = 256 << 20 // of states
)

const (
	sideBySide = 4         // ticks that are best hashed together
	denseTicks = 8         // ticks that are held of a large state, for two groups: see limit
	lookEvery  = 32        // ticks after which it is time to see whether they still are dense
	quietTicks = 2         // ticks that are held of a large state that mostly stays as it is
	fewChanges = 4         // a tick of which no more than this part may have changed is held as what changed
	bigFrame   = 4 << 20   // bytes of a frame that is not held
	smallState = 256 << 10 // bytes of a state whose ticks are so short that to begin a worker takes as long
)

// A target takes ticks with their hashes.
type target interface {
	// hold keeps in h what finish needs, but for state and hash, and returns its size in
	// bytes. It is called while the tick happens.
	hold(h *heldTick, t *engine.Tick) (size int, err error)

	// finish takes the next tick, on any goroutine, also after an error.
	finish(h *heldTick) error
}

var _ = []engine.Settler{(*Recorder)(nil), (*TableWriter)(nil), (*checker)(nil)}

// A queue holds ticks from when they happen until their target takes them. One goroutine
// adds them. They are hashed in groups: by a worker, which ends when no group is left, and
// by the one that adds them, when it would have to wait. They are finished in order, by
// whoever has hashed the tick that was missing.
type queue struct {
	target     target     // used by whoever has set finishing, but for hold
	ticks      []heldTick // nil: the state is too large
	alone      heldTick   // if so
	stateBytes int
	shape      []columnShape
	run        func()      // work
	canStop    func() bool // hasRoom

	mu      sync.Mutex
	changed sync.Cond // a tick was finished, or the worker has ended
	err     error     // the first; final

	// Ticks since the beginning: added, of these taken to be hashed, of these finished.
	added, taken, finished uint64

	paused *group // has been begun, and is at nobody's hands
	spare  *group // to be used again

	hasher    fields.Hasher // used by whoever has set hashing
	hashing   bool
	finishing bool
	working   bool   // there is a worker
	looked    uint64 // the tick that was hashed last with it
	dense     bool   // most of what was hashed last had changed
	fresh     bool   // nearly all of it had

	last    fields.Moment // of the tick that was added last
	chained bool          // that tick is

	offered *heldTick // has been taken, but may still be taken back; used by the one that adds
	before  offer     // what is put back then
}

// An offer is what a tick that is offered changes before it is added.
type offer struct {
	last    fields.Moment
	chained bool
	size    int // of what the target keeps
}

// A heldTick is a tick that is not finished yet.
type heldTick struct {
	number uint64
	kept   kept
	state  fields.Delta
	hash   uint64
	hashed bool

	// The hasher must have it, in its turn: it is held as what changed since the tick
	// before, or the one after it may be.
	chained bool
}

// A kept is what a target keeps of a tick: a recorder its frame, a player what the tick
// must come to.
type kept struct {
	frame []byte // but for the hash
	hash  uint64
	at    Position
}

// A columnShape is what the hasher takes for granted of a column.
type columnShape struct {
	element fields.Element
	size    int
}

func shapeOf(s *fields.Snapshot) (shape []columnShape) {
	for i, d := range s.Defs() {
		shape = append(shape, columnShape{d.Element, s.Len(fields.ID(i))})
	}
	return shape
}

// begin is for the ticks of a world, whose state it looks at.
func (q *queue) begin(to target, w *engine.World) {
	s := w.Snapshot()
	defer s.Release()
	q.target, q.shape, q.run, q.canStop, q.changed.L = to, shapeOf(s), q.work, q.hasRoom, &q.mu
	q.sized(s.Bytes())
}

// sized is for states of so many bytes.
func (q *queue) sized(stateBytes int) {
	q.stateBytes, q.ticks, q.dense, q.fresh = stateBytes, nil, true, false
	held := min(MaxHeldTicks, MaxHeldBytes/max(1, stateBytes))
	if held >= sideBySide {
		q.ticks = make([]heldTick, held)
	}
}

// limit is how many ticks may be held now. A tick is faster while its memory is in the
// cache, so that of a large state there are no more than are hashed at a time, and few if
// it mostly stays as it is.
func (q *queue) limit() uint64 {
	most := uint64(len(q.ticks))
	switch {
	case q.chained:
		return min(denseTicks, most)
	case q.quiet():
		return min(quietTicks, most)
	case q.stateBytes > smallState:
		return min(denseTicks, most)
	}
	return most
}

func (q *queue) quiet() bool { return !q.dense && !q.chained && q.stateBytes > smallState }

// handover is how many ticks a worker is begun for. What is looked up need not be side
// by side, and a tick of a small state takes no longer than to begin a worker.
func (q *queue) handover() uint64 {
	switch {
	case q.quiet():
		return 1
	case q.stateBytes > smallState:
		return sideBySide
	}
	return 2 * sideBySide
}

// whole is how many ticks a worker goes on for.
func (q *queue) whole() uint64 { return min(sideBySide, q.handover()) }

func (q *queue) at(tick uint64) *heldTick { return &q.ticks[tick%uint64(len(q.ticks))] }

// offer takes a tick and returns how much of it the target keeps. Settle adds it, or
// takes it back.
func (q *queue) offer(t *engine.Tick) (size int, err error) {
	q.settle(true) // see Recorder.Settle
	if err := q.makeRoom(); err != nil {
		return 0, err
	}
	h := &q.alone
	if q.ticks != nil {
		h = q.at(q.added)
	}
	h.number, h.hashed = t.Number, false
	if size, err = q.target.hold(h, t); err != nil {
		return 0, q.fail(err)
	}
	q.before = offer{q.last, q.chained, size}
	if q.ticks == nil {
		h.hash = t.Hash()
		q.offered = h
		return size, nil
	}
	before := q.chained
	chained := q.stateBytes > smallState && t.Changed(q.last) < q.stateBytes/fewChanges
	since := q.last
	if !before || !chained {
		since = fields.Moment{}
	}
	now := t.HoldDelta(&h.state, since)
	if s := h.state.Whole(); !now.SameStore(q.last) && !slices.Equal(shapeOf(s), q.shape) { // it is whole
		h.state.Release()
		return 0, fmt.Errorf("%w: the state after tick %d has columns of other sizes", errOtherWorld, t.Number)
	}
	q.last = now
	h.chained = chained
	q.mu.Lock()
	q.chained = chained
	q.mu.Unlock()
	q.offered = h
	return size, nil
}

// settle adds the tick that is offered, if there is one, or takes it back.
func (q *queue) settle(happened bool) {
	h := q.offered
	if q.offered = nil; h == nil {
		return
	}
	switch {
	case !happened:
		h.state.Release()
		q.last = q.before.last
		q.mu.Lock()
		q.chained = q.before.chained
		q.mu.Unlock()
	case q.ticks == nil:
		if err := q.target.finish(h); err != nil {
			q.fail(err)
		}
	default:
		q.add()
	}
}

// add adds the tick that was offered.
func (q *queue) add() {
	q.mu.Lock()
	q.added++
	begin := !q.working && (q.paused != nil || q.added-q.taken >= q.handover())
	q.working = q.working || begin
	q.mu.Unlock()
	if begin {
		go q.run()
	}
	if q.before.size > bigFrame {
		q.flush() // an error is kept
	}
}

// fail keeps the first error.
func (q *queue) fail(err error) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.err == nil {
		q.err = err
	}
	return q.err
}

// makeRoom waits until a tick can be added, and hashes meanwhile if that helps.
func (q *queue) makeRoom() error {
	q.mu.Lock()
	defer q.mu.Unlock()
	for q.err == nil && q.ticks != nil && q.full() {
		q.help(q.whole(), q.canStop)
	}
	return q.err
}

func (q *queue) full() bool { return q.added-q.finished >= q.limit() }

// hasRoom is full without the lock, and not.
func (q *queue) hasRoom() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return !q.full()
}

// flush waits until every tick is finished, and hashes meanwhile. Then there is no
// worker, and nobody uses the target.
func (q *queue) flush() error {
	q.settle(true)
	q.mu.Lock()
	defer q.mu.Unlock()
	for q.finished < q.added || q.working {
		q.help(1, nil)
	}
	return q.err
}

// help hashes a group of no less than so many ticks, until stop says so, or waits until
// something changes. It goes through all bytes, which is no help if most of them can be
// looked up.
func (q *queue) help(least uint64, stop func() bool) {
	switch {
	case q.paused != nil:
		q.goOn(stop)
	case q.added-q.taken >= least && q.takes():
		q.group(stop)
	default:
		q.changed.Wait()
	}
}

// takes reports whether there is use in taking the next group now.
func (q *queue) takes() bool { return !q.hashing || q.dense && !q.chain() }

// chain reports whether a tick of the next group is for the hasher.
func (q *queue) chain() bool {
	for i := q.taken; i < min(q.added, q.taken+sideBySide); i++ {
		if q.at(i).chained {
			return true
		}
	}
	return false
}

// work hashes all whole groups.
func (q *queue) work() {
	q.mu.Lock()
	defer q.mu.Unlock()
	for {
		switch {
		case q.paused != nil:
			q.goOn(nil)
		case q.added-q.taken >= q.whole() && !(q.hashing && q.chain()):
			q.group(nil)
		default:
			q.working = false
			q.changed.Broadcast()
			return
		}
	}
}

// A group is some ticks that are hashed together.
type group struct {
	first, n uint64
	pass     fields.Pass
}

// group takes a group of ticks and hashes them. The lock is held before and after.
// Those who may be stopped, and all where nearly everything changes, use the hasher only
// now and then, when it is free, to see what has become of the state.
func (q *queue) group(stop func() bool) {
	first, chain := q.taken, q.chain()
	n := min(q.added-first, sideBySide)
	q.taken += n
	if !chain && (q.hashing || (q.fresh || stop != nil && q.dense) && first-q.looked < lookEvery) {
		var states [sideBySide]*fields.Snapshot
		for i := range n {
			states[i] = q.at(first + i).state.Whole()
		}
		g := q.spare
		if q.spare = nil; g == nil {
			g = new(group)
		}
		g.first, g.n = first, n
		g.pass.Begin(states[:n])
		q.paused = g
		q.goOn(stop)
		return
	}
	q.hashing, q.looked = true, first
	q.mu.Unlock()
	var states [sideBySide]*fields.Delta
	for i := range n {
		states[i] = &q.at(first + i).state
	}
	var sums [sideBySide]uint64
	hashed := q.hasher.Hash(sums[:n], states[:n])
	q.release(first, n)
	q.mu.Lock()
	q.hashing = false
	if !chain {
		all := int(n) * q.stateBytes
		q.dense, q.fresh = hashed > all/2, hashed > all-all/16
	}
	q.hashed(first, sums[:n])
}

// goOn goes on with the group that is paused.
func (q *queue) goOn(stop func() bool) {
	g := q.paused
	q.paused = nil
	q.mu.Unlock()
	done := g.pass.Run(stop)
	if done {
		q.release(g.first, g.n)
	}
	q.mu.Lock()
	if !done {
		q.paused = g
		q.changed.Broadcast()
		return
	}
	q.hashed(g.first, g.pass.Sums())
	q.spare = g
}

// release lets go of the states of a group.
func (q *queue) release(first, n uint64) {
	for i := range n {
		q.at(first + i).state.Release()
	}
}

// hashed notes the hashes of a group, and finishes what can be finished.
func (q *queue) hashed(first uint64, sums []uint64) {
	for i, sum := range sums {
		h := q.at(first + uint64(i))
		h.hash, h.hashed = sum, true
	}
	q.finishHashed()
}

// finishHashed finishes the ticks that are next, as far as they are hashed, unless
// somebody is at it, who will.
func (q *queue) finishHashed() {
	for !q.finishing && q.finished < q.taken && q.at(q.finished).hashed {
		h := q.at(q.finished)
		q.finishing = true
		q.mu.Unlock()
		err := q.target.finish(h)
		q.mu.Lock()
		if q.err == nil {
			q.err = err
		}
		q.finishing = false
		q.finished++
		q.changed.Broadcast()
	}
}
