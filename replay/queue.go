package replay

import (
	"fmt"
	"slices"
	"sync"

	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/fields"
	"github.com/murksim/murksim/internal/statehash"
	"github.com/murksim/murksim/internal/store"
)

// The most that a [Recorder] holds.
const (
	maxHeldTicks = 12
	maxHeldBytes = 256 << 20 // of states
)

const (
	sideBySide = 4         // ticks that are best hashed together
	denseTicks = 8         // ticks held of a large state, for two groups: see limit
	lookEvery  = 32        // ticks after which to check whether most of the state still changes
	quietTicks = 2         // ticks held of a large state that mostly stays the same
	fewChanges = 2         // if less than 1 in so many bytes may have changed, only the changes are held
	bigFrame   = 4 << 20   // bytes of a frame that is not held
	smallState = 256 << 10 // bytes of a state whose ticks take no longer than the start of a worker
)

// A target takes ticks with their hashes.
type target interface {
	// hold keeps in h.frame what finish needs, and returns its size in bytes. It is called
	// while the tick happens.
	hold(h *pendingTick, t *engine.Tick) (size int)

	// finish takes the next tick. It is called on any goroutine, also after an error. It must
	// not panic, but may end the goroutine.
	finish(h *pendingTick) error
}

var _ = []engine.Settler{(*Recorder)(nil), (*TableWriter)(nil), (*checker)(nil)}

// A queue holds ticks from when they happen until their target takes them. One goroutine
// adds them. Two goroutines hash them, in groups: a worker, which ends when no group is
// left, and the goroutine that adds them, when it would have to wait. They are finished in
// order, by the goroutine that has hashed the first one that is not finished yet.
type queue struct {
	target     target        // but for hold, only the goroutine that has set finishing uses it
	ticks      []pendingTick // nil: the state is too large
	alone      pendingTick   // the only tick, if ticks is nil
	stateBytes int
	shape      []columnShape
	run        func()      // the method work
	canStop    func() bool // the method hasRoom

	mu       sync.Mutex
	progress sync.Cond // a tick was finished, or the worker has ended
	err      error     // the first one; never changes again

	// Ticks since the beginning: added, of these taken to be hashed, of these finished.
	added, taken, finished uint64

	paused *group // started, and owned by no goroutine
	spare  *group // for reuse

	meter     *meter           // nil: nothing is measured
	hasher    statehash.Hasher // only the goroutine that has set hashing uses it
	hashing   bool
	finishing bool
	working   bool   // there is a worker
	looked    uint64 // the first tick of the last group that used the hasher
	dense     bool   // most of that group had changed
	fresh     bool   // nearly all of that group had changed

	last    store.Moment // of the last tick added
	chained bool         // whether the last tick added is chained

	offered *pendingTick  // may still be taken back; only the goroutine that adds ticks uses it
	before  offer         // what taking it back restores
	world   *engine.World // of the offer; nil if there is none
}

// An offer is what a tick that is offered changes before it is added.
type offer struct {
	last    store.Moment
	chained bool
	size    int // bytes of what the target keeps
}

// A pendingTick is a tick that is not finished yet.
type pendingTick struct {
	number  uint64
	frame   pendingFrame
	state   store.Delta
	hash    uint64
	hasHash bool

	// Whether the hasher must hash it, in order: the Delta holds only what changed since the
	// tick before, or that of the tick after may do so.
	chained bool
}

// A pendingFrame is what a target keeps of a tick: a recorder the encoded frame, a player
// the recorded hash and its position.
type pendingFrame struct {
	bytes []byte // without the hash
	hash  uint64
	at    Position
}

// A columnShape is what the hasher assumes of a column.
type columnShape struct {
	element fields.Element
	size    int
}

// shapeOf returns the shapes of the columns of a state, which is an [engine.Snapshot] or a
// [store.State].
func shapeOf(s interface {
	Defs() []fields.Def
	Len(fields.ID) int
}) (shape []columnShape) {
	for i, d := range s.Defs() {
		shape = append(shape, columnShape{d.Element, s.Len(fields.ID(i))})
	}
	return shape
}

// begin prepares the queue for the ticks of a world.
func (q *queue) begin(to target, w *engine.World) {
	s := w.Snapshot()
	defer s.Release()
	q.target, q.shape, q.run, q.canStop, q.progress.L = to, shapeOf(s), q.work, q.hasRoom, &q.mu
	q.setSize(s.Bytes())
}

// setSize prepares the queue for states of so many bytes.
func (q *queue) setSize(stateBytes int) {
	q.stateBytes, q.ticks, q.dense, q.fresh = stateBytes, nil, true, false
	held := min(maxHeldTicks, maxHeldBytes/max(1, stateBytes))
	if held >= sideBySide {
		q.ticks = make([]pendingTick, held)
	}
}

// limit is how many ticks may be held now. A tick is faster while its memory is in the
// cache, so ticks of a large state are limited to those that are hashed at a time, and to
// fewer if the state mostly stays the same.
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

// quiet reports whether most of a large state stays the same, but ticks are held whole.
func (q *queue) quiet() bool { return !q.dense && !q.chained && q.stateBytes > smallState }

// handover is how many ticks must wait before a worker starts. Hashes that are looked up
// gain nothing from lying side by side, and a tick of a small state takes no longer than
// the start of a worker.
func (q *queue) handover() uint64 {
	switch {
	case q.quiet():
		return 1
	case q.stateBytes > smallState:
		return sideBySide
	}
	return 2 * sideBySide
}

// whole is how many ticks must wait for a worker to go on.
func (q *queue) whole() uint64 { return min(sideBySide, q.handover()) }

func (q *queue) at(tick uint64) *pendingTick { return &q.ticks[tick%uint64(len(q.ticks))] }

// offer takes a tick and returns how many bytes of it the target keeps. Then settle adds
// the tick or takes it back.
func (q *queue) offer(t *engine.Tick) (size int, err error) {
	q.settle(true) // see Recorder.Settle
	q.world = t.World()
	if err := q.makeRoom(); err != nil {
		return 0, err
	}
	h := &q.alone
	if q.ticks != nil {
		h = q.at(q.added)
	}
	h.number, h.hasHash = t.Number, false
	size = q.target.hold(h, t)
	q.before = offer{q.last, q.chained, size}
	if q.ticks == nil {
		began := q.meter.begin()
		h.hash = t.Hash()
		q.meter.end(began)
		q.meter.count(1)
		q.offered = h
		return size, nil
	}
	chained := q.stateBytes > smallState && t.View().ChangedBytes(q.last) < q.stateBytes/fewChanges
	since := q.last
	if !q.chained || !chained {
		since = store.Moment{}
	}
	now := t.View().HoldDelta(&h.state, since)
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

// settle adds the tick that is offered or takes it back. Without an offer it does nothing.
func (q *queue) settle(happened bool) {
	h := q.offered
	if q.offered, q.world = nil, nil; h == nil {
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
		q.finishAlone(h)
	default:
		q.add()
	}
}

// errSinkEnded is the error of a target that does not return from finish, because code that
// is not this package's ended the goroutine.
var errSinkEnded = fmt.Errorf("replay: writing: %w", engine.ErrGoexit)

// finishAlone finishes the only tick of a queue that holds none.
func (q *queue) finishAlone(h *pendingTick) {
	err := errSinkEnded // unless finish returns
	defer func() {
		if err != nil {
			q.fail(err)
		}
	}()
	err = q.target.finish(h)
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

// fail records an error and returns the first one.
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

// hasRoom locks the queue and reports whether another tick may be held.
func (q *queue) hasRoom() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return !q.full()
}

// flush waits until every tick is finished, and hashes meanwhile. When it returns, there is
// no worker and no goroutine uses the target.
func (q *queue) flush() error {
	q.settle(true)
	q.mu.Lock()
	defer q.mu.Unlock()
	for q.finished < q.added || q.working {
		q.help(1, nil)
	}
	return q.err
}

// help hashes a group of at least so many ticks, until stop returns true. If there is no
// such group, or if most of its bytes can be looked up by the goroutine that has the
// hasher, it waits for progress.
func (q *queue) help(least uint64, stop func() bool) {
	switch {
	case q.paused != nil:
		q.goOn(stop)
	case q.added-q.taken >= least && q.shouldTake():
		q.group(stop)
	default:
		q.progress.Wait()
	}
}

// shouldTake reports whether hashing the next group now, without the hasher, is useful.
func (q *queue) shouldTake() bool { return !q.hashing || q.dense && !q.chain() }

// chain reports whether a tick of the next group is chained.
func (q *queue) chain() bool {
	for i := q.taken; i < min(q.added, q.taken+sideBySide); i++ {
		if q.at(i).chained {
			return true
		}
	}
	return false
}

// work is the worker: it hashes all whole groups.
func (q *queue) work() {
	q.mu.Lock()
	defer func() { // also if the target ends this goroutine
		q.working = false
		q.progress.Broadcast()
		q.mu.Unlock()
	}()
	for {
		switch {
		case q.paused != nil:
			q.goOn(nil)
		case q.added-q.taken >= q.whole() && !(q.hashing && q.chain()):
			q.group(nil)
		default:
			return
		}
	}
}

// A group is some ticks that are hashed together.
type group struct {
	first, n uint64
	pass     statehash.Pass
}

// group takes a group of ticks and hashes it. The lock is held before and after. A call
// that may be stopped, and every call while nearly everything changes, uses the hasher only
// now and then and when it is free, to find out whether that is still so.
func (q *queue) group(stop func() bool) {
	first, chain := q.taken, q.chain()
	n := min(q.added-first, sideBySide)
	q.taken += n
	if !chain && (q.hashing || (q.fresh || stop != nil && q.dense) && first-q.looked < lookEvery) {
		var states [sideBySide]*store.State
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
	var states [sideBySide]*store.Delta
	for i := range n {
		states[i] = &q.at(first + i).state
	}
	var sums [sideBySide]uint64
	began := q.meter.begin()
	hashedBytes := q.hasher.Hash(sums[:n], states[:n])
	q.meter.end(began)
	q.release(first, n)
	q.mu.Lock()
	q.hashing = false
	if !chain {
		all := int(n) * q.stateBytes
		q.dense, q.fresh = hashedBytes > all/2, hashedBytes > all-all/16
	}
	q.noteHashes(first, sums[:n])
}

// goOn continues with the paused group.
func (q *queue) goOn(stop func() bool) {
	g := q.paused
	q.paused = nil
	q.mu.Unlock()
	began := q.meter.begin()
	done := g.pass.Run(stop)
	q.meter.end(began)
	if done {
		q.release(g.first, g.n)
	}
	q.mu.Lock()
	if !done {
		q.paused = g
		return
	}
	q.noteHashes(g.first, g.pass.Sums())
	q.spare = g
}

// release releases the states of a group.
func (q *queue) release(first, n uint64) {
	for i := range n {
		q.at(first + i).state.Release()
	}
}

// noteHashes records the hashes of a group, and finishes all ticks that can be.
func (q *queue) noteHashes(first uint64, sums []uint64) {
	q.meter.count(len(sums))
	for i, sum := range sums {
		h := q.at(first + uint64(i))
		h.hash, h.hasHash = sum, true
	}
	q.finishTicks()
}

// finishTicks finishes the next ticks in order, up to the first that has no hash. If another
// goroutine is finishing ticks, it does nothing: that goroutine goes on with them. The lock
// is held before and after, and all of them are finished, even if the target ends the
// goroutine.
func (q *queue) finishTicks() {
	ended := false
	defer func() {
		if ended {
			q.mu.Lock()
			q.noteFinished(errSinkEnded)
			q.finishTicks()
		}
	}()
	for !q.finishing && q.finished < q.taken && q.at(q.finished).hasHash {
		h := q.at(q.finished)
		q.finishing, ended = true, true
		q.mu.Unlock()
		err := q.target.finish(h)
		q.mu.Lock()
		ended = false
		q.noteFinished(err)
	}
}

// noteFinished records what became of the tick that was being finished.
func (q *queue) noteFinished(err error) {
	if q.err == nil {
		q.err = err
	}
	q.finishing = false
	q.finished++
	q.progress.Broadcast()
}
