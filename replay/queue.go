package replay

import (
	"fmt"
	"runtime/debug"
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
	quietTicks = 3         // ticks that are held of a large state that mostly stays as it is
	bigFrame   = 4 << 20   // bytes of a frame that is not held
	smallState = 256 << 10 // bytes of a state whose ticks are so short that to begin a worker takes as long
)

// A queue holds ticks from when they happen until they are written. One goroutine adds
// them. They are hashed in groups: by a worker, which ends when no group is left, and by
// the one that adds them, when it would have to wait. They are written in order, by
// whoever has hashed the tick that was missing.
type queue struct {
	w          *Writer    // used by whoever has set writing
	ticks      []heldTick // nil: the state is too large
	stateBytes int
	run        func() // work

	mu      sync.Mutex
	changed sync.Cond // a tick was written, or the worker has ended
	err     error     // the first; final

	// Ticks since the beginning: added, of these taken to be hashed, of these written.
	added, taken, written uint64

	hasher  fields.Hasher // used by whoever has set hashing
	hashing bool
	writing bool
	working bool // there is a worker
	dense   bool // most of what was hashed last had changed
}

// A heldTick is a tick that is not written yet.
type heldTick struct {
	number uint64
	frame  []byte // but for its hash
	state  fields.Snapshot
	hash   uint64
	hashed bool
}

func (q *queue) begin(w *Writer, stateBytes int) {
	q.w, q.stateBytes, q.run, q.changed.L, q.dense = w, stateBytes, q.work, &q.mu, true
	held := min(MaxHeldTicks, MaxHeldBytes/max(1, stateBytes))
	if held >= sideBySide {
		q.ticks = make([]heldTick, held)
	}
}

// limit is how many ticks may be held now: of a large state that mostly stays as it is
// few, because the tick is faster while its memory is in the cache.
func (q *queue) limit() uint64 {
	if q.quiet() {
		return min(quietTicks, uint64(len(q.ticks)))
	}
	return uint64(len(q.ticks))
}

func (q *queue) quiet() bool { return !q.dense && q.stateBytes > smallState }

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

// add takes a tick and returns the size of its frame.
func (q *queue) add(t *engine.Tick) (size int, err error) {
	if err := q.makeRoom(); err != nil {
		return 0, err
	}
	if err := checkInputs(int(q.added), t.Number, t.Inputs); err != nil {
		return 0, q.fail(err)
	}
	if q.ticks == nil {
		return q.write(t)
	}
	h := q.at(q.added)
	h.number, h.frame, h.hashed = t.Number, appendInputs(h.frame[:0], t.Number, t.Inputs), false
	t.Hold(&h.state)
	size = len(h.frame) + hashSize
	q.mu.Lock()
	q.added++
	begin := !q.working && q.added-q.taken >= q.handover()
	q.working = q.working || begin
	q.mu.Unlock()
	if begin {
		go q.run()
	}
	if size > bigFrame {
		err = q.flush(func(*Writer) error { return nil })
	}
	return size, err
}

// write writes a tick at once.
func (q *queue) write(t *engine.Tick) (size int, err error) {
	before := q.w.Offset()
	if err := q.w.WriteFrame(t.Number, t.Inputs, t.Hash()); err != nil {
		return 0, q.fail(err)
	}
	q.added++
	q.taken, q.written = q.added, q.added
	return int(q.w.Offset() - before), nil
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
	for q.err == nil && q.ticks != nil && q.added-q.written >= q.limit() {
		q.help(q.whole())
	}
	return q.err
}

// flush waits until every tick is written, and hashes meanwhile. Then there is no
// worker, and the writer can be used.
func (q *queue) flush(then func(*Writer) error) error {
	q.mu.Lock()
	for q.written < q.added || q.working {
		q.help(1)
	}
	q.mu.Unlock()
	if err := then(q.w); err != nil {
		return q.fail(err)
	}
	return q.err
}

// help hashes a group of no less than so many ticks, or waits until something changes.
// Without the hasher it would go through all bytes, which is no help if most of them
// can be looked up.
func (q *queue) help(least uint64) {
	if q.added-q.taken >= least && (q.dense || !q.hashing) {
		q.group()
		return
	}
	q.changed.Wait()
}

// work hashes all whole groups.
func (q *queue) work() {
	q.mu.Lock()
	defer q.mu.Unlock()
	for q.added-q.taken >= q.whole() {
		q.group()
	}
	q.working = false
	q.changed.Broadcast()
}

// group takes a group of ticks and hashes them, with the hasher if it is free. The lock
// is held before and after.
func (q *queue) group() {
	first := q.taken
	n := min(q.added-first, sideBySide)
	q.taken += n
	looksUp := !q.hashing
	q.hashing = true
	q.mu.Unlock()

	var states [sideBySide]*fields.Snapshot
	var sums [sideBySide]uint64
	for i := range n {
		states[i] = &q.at(first + i).state
	}
	hashed := 0
	if looksUp {
		hashed = q.hasher.Hash(sums[:n], states[:n])
	} else {
		fields.HashSnapshots(sums[:n], states[:n])
	}
	for _, s := range states[:n] {
		s.Release()
	}

	q.mu.Lock()
	if looksUp {
		q.hashing, q.dense = false, hashed > int(n)*q.stateBytes/2
	}
	for i := range n {
		h := q.at(first + i)
		h.hash, h.hashed = sums[i], true
	}
	q.writeHashed()
}

// writeHashed writes the ticks that are next, as far as they are hashed, unless
// somebody is at it, who will.
func (q *queue) writeHashed() {
	for !q.writing && q.written < q.taken && q.at(q.written).hashed {
		h := q.at(q.written)
		q.writing = true
		q.mu.Unlock()
		err := q.writeHeld(h)
		q.mu.Lock()
		if q.err == nil {
			q.err = err
		}
		q.writing = false
		q.written++
		q.changed.Broadcast()
	}
}

// writeHeld writes one tick. A panic of the sink is an error.
func (q *queue) writeHeld(h *heldTick) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("replay: writing after byte %d: %w", q.w.done, &engine.PanicError{Value: v, Stack: debug.Stack()})
			q.w.err = err
		}
	}()
	err = q.w.writeHashed(h.number, h.frame, h.hash)
	if cap(h.frame) > flushSize {
		h.frame = nil
	}
	return err
}
