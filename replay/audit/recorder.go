package audit

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/fields"
	"github.com/murksim/murksim/internal/store"
)

// How far a world may get ahead of its chain.
const (
	// MaxHashing is how many ticks of states below 32 KiB may wait for their SHA-256. For larger states it is 4, so that they stay in a
	// core's cache; for states above 64 MiB it is as many as fit into 256 MiB, but at least one.
	MaxHashing = 512

	// MaxUncommitted is how many more wait for the store.
	MaxUncommitted = 2 * batchTicks

	maxHashingBytes = 256 << 20
	batchTicks      = 512
	batchBytes      = 32 << 20 // of snapshots and inputs
	batchAge        = 100 * time.Millisecond
)

// DefaultEvery is the number of ticks from one snapshot to the next, unless the user chooses
// another.
const DefaultEvery = 1000

// A Recorder commits the chain of a world to a store, in batches: a tick is there after a tenth of a second, or 512 ticks, or
// [Recorder.Flush]. It implements [engine.Settler].
//
// Record keeps what may have changed in the state; other goroutines hash that and commit it, beside the world. Where that is slower than the
// world, Record hashes, too, and waits: a world is ahead of what is hashed by at most [MaxHashing] ticks, and of what is committed by
// [MaxUncommitted] more.
//
// If a commit fails, the next Record or Flush returns a [*CommitError]; nothing is committed after it. [Recorder.Close] must be called at
// the end.
type Recorder struct {
	store      Store
	world      *engine.World
	descriptor []byte
	setup      fields.Setup
	every      uint64 // ticks from one snapshot to the next; 0: none
	last       uint64 // tick that was recorded
	offered    *pendingTick
	moment     store.Moment // of the last tick that was handed on
	done       sync.WaitGroup
	ctx        context.Context // of commits
	abort      context.CancelCauseFunc

	mu        sync.Mutex
	progress  sync.Cond // of everything but what follows
	batches   sync.Cond // the committer may have something to do
	free      []*pendingTick
	limit     int // of pending ticks
	atOnce    int // ticks that one goroutine takes at a time
	pending   int // ticks that are not hashed
	waiting   []*pendingTick
	due       bool         // those that wait are not to wait for more of them
	timer     *time.Timer  // that makes them due
	held      *pendingTick // the last one that is hashed, which may get a snapshot yet; nil: it is in a batch
	end       []byte       // the snapshot of the last tick
	open      *Batch       // of what is hashed; the committer takes it
	since     time.Time    // when its first tick was hashed
	busy      bool         // the committer has the other batch
	flush     bool         // commit what there is
	finish    bool         // and that is the end
	committed int64        // tick; -1: none
	err       *CommitError // why nothing more is committed
	meter     meter

	chain chaining // of the goroutine that links
}

// A pendingTick is a tick that is not hashed yet.
type pendingTick struct {
	tick   uint64
	state  store.Delta  // what may have changed since the tick before it
	moment store.Moment // of the state
	saved  []byte       // S(T), if there is to be a snapshot
	rest   []byte       // the sections 2, 4 and 5
	ends   [3]int       // of them
	inputs []input
	bytes  []byte // of the inputs

	stage  stage  // the recorder's lock guards it
	leaves leaves // of the state

	// When it is linked:
	link   Link
	hashed []Input
}

// section returns one of the sections 2, 4 and 5.
func (p *pendingTick) section(i int) []byte {
	begin := 0
	if i > 0 {
		begin = p.ends[i-1]
	}
	return p.rest[begin:p.ends[i]]
}

// An input is where a command stands in the bytes of its tick.
type input struct {
	end    int
	kind   uint16
	source [16]byte
}

// A CommitError says that the chain of a run ends, and where.
type CommitError struct {
	Committed int64 // the last tick that is committed; -1: none
	Err       error
}

// ErrLost is in an error of a store that has lost what was committed before.
var ErrLost = errors.New("what was committed is lost")

// Error implements error.
func (e *CommitError) Error() string {
	if errors.Is(e.Err, ErrLost) {
		return e.Err.Error()
	}
	if e.Committed < 0 {
		return fmt.Sprintf("no tick is committed: %v", e.Err)
	}
	return fmt.Sprintf("ticks up to %d are committed: %v", e.Committed, e.Err)
}

// Unwrap returns the cause.
func (e *CommitError) Unwrap() error { return e.Err }

// A Head is the point at which a chain continues.
type Head struct {
	Tick   uint64 // of the last link
	Hash   Hash   // of the last link
	Events Events // the chain of its inputs
}

// NewRecorder begins the chain of a world: its present state is the first link, with a snapshot. Another snapshot follows every so
// many ticks, and one of the last tick; with 0 there are none of these. The descriptor must have no key "parent" or "begin" that is as
// [Parent.Describe] or [replay.Begin.Describe] write them, but for that of a fork which begins with the world's tick.
func NewRecorder(store Store, w *engine.World, descriptor []byte, every uint64) (*Recorder, error) {
	if err := checkKeys(descriptor, w.Tick()); err != nil {
		return nil, err
	}
	r, link, state, err := newRecorder(store, w, descriptor, every)
	if err != nil {
		return nil, err
	}
	r.chain.prev, r.held = link.Hash, newPending()
	r.held.link = *link
	if every > 0 || w.Tick() > 0 { // a run that does not begin at genesis needs it to begin
		r.held.saved = state
	}
	r.begin()
	return r, nil
}

// ResumeRecorder continues a chain: the world must be in the state of its head, see [Rerun].
func ResumeRecorder(store Store, w *engine.World, descriptor []byte, every uint64, head *Head) (*Recorder, error) {
	if w.Tick() != head.Tick {
		return nil, fmt.Errorf("audit: the world is at tick %d; the chain goes on after tick %d", w.Tick(), head.Tick)
	}
	r, _, _, err := newRecorder(store, w, descriptor, every)
	if err != nil {
		return nil, err
	}
	r.chain.prev, r.chain.events, r.committed = head.Hash, head.Events, int64(head.Tick)
	r.begin()
	return r, nil
}

// newRecorder returns a recorder, the state of the world, and the link that this state is if it begins a chain.
func newRecorder(store Store, w *engine.World, descriptor []byte, every uint64) (*Recorder, *Link, []byte, error) {
	state, err := w.Save(descriptor)
	if err != nil {
		return nil, nil, nil, err
	}
	s, err := engine.ReadState(state)
	if err != nil {
		return nil, nil, nil, err
	}
	link := newLink(Hash{}, s, len(state), columnLeaves(s))
	r := &Recorder{store: store, world: w, descriptor: descriptor, setup: w.Setup(nil), every: every, last: w.Tick(), committed: -1, open: new(Batch)}
	r.chain.meta, r.chain.fixed = link.Digests[0], link.StateLen-int64(len(s.Sections[1])+len(s.Sections[3])+len(s.Sections[4]))
	r.chain.digester = newDigester(s.Columns)
	r.limit, r.atOnce = max(1, min(largeTicks, maxHashingBytes/len(state))), 1
	if len(state) < smallState {
		r.limit, r.atOnce = MaxHashing, smallTicks
	}
	r.progress.L, r.batches.L = &r.mu, &r.mu
	return r, link, state, nil
}

func (r *Recorder) begin() {
	r.ctx, r.abort = context.WithCancelCause(context.Background())
	r.meter.first, r.meter.last = r.last, r.last
	r.timer = time.AfterFunc(batchAge, r.beDue) // take sets it anew
	r.done.Go(r.hash)
	for range r.helpers() {
		r.done.Go(r.help)
	}
	r.done.Go(r.commit)
}

// Record implements [engine.Recorder].
func (r *Recorder) Record(t *engine.Tick) error {
	r.take()
	if t.Number != r.last+1 {
		return fmt.Errorf("audit: tick %d after tick %d: the world was reset; begin another chain", t.Number, r.last)
	}
	if is := t.Setup(nil); is.Seed != r.setup.Seed || is.Dt != r.setup.Dt || is.Fields != r.setup.Fields || is.Cells != r.setup.Cells {
		return fmt.Errorf("audit: tick %d is of another world than the chain", t.Number)
	}
	r.mu.Lock()
	for room := r.limit; r.err == nil && r.pending >= room; {
		if r.atOnce > 1 {
			room = r.limit / 2 // else the two would wait for each other at every tick
			r.progress.Wait()
		} else if !r.hashOne() {
			r.progress.Wait()
		}
	}
	err := r.problem()
	var p *pendingTick
	if n := len(r.free); n > 0 {
		p, r.free = r.free[n-1], r.free[:n-1]
	}
	r.mu.Unlock()
	if err != nil {
		return err
	}
	if p == nil {
		p = newPending()
	}
	if p.saved = nil; r.every > 0 && t.Number%r.every == 0 {
		if p.saved, _, err = t.AppendState(nil, r.descriptor); err != nil {
			return err
		}
	}
	p.keep(t, r.moment)
	r.offered, r.last = p, t.Number
	return nil
}

// keep keeps what is to be hashed of a tick.
func (p *pendingTick) keep(t *engine.Tick, since store.Moment) {
	p.tick, p.stage, p.rest, p.inputs, p.bytes = t.Number, untouched, p.rest[:0], p.inputs[:0], p.bytes[:0]
	a, b, c := t.Rest()
	for i, section := range [...][]byte{a, b, c} {
		p.rest = append(p.rest, section...)
		p.ends[i] = len(p.rest)
	}
	p.moment = t.View().HoldDelta(&p.state, since)
	for i := range t.Inputs {
		c := &t.Inputs[i]
		p.bytes = c.Append(p.bytes)
		p.inputs = append(p.inputs, input{len(p.bytes), uint16(c.Kind), sourceOf(c)})
	}
}

// Settle implements [engine.Settler]. Without a call, a tick counts as happened once the next Record or Flush comes.
func (r *Recorder) Settle(happened bool) {
	if happened {
		r.take()
		return
	}
	if p := r.offered; p != nil {
		r.offered, r.last = nil, r.last-1
		p.state.Release()
		r.mu.Lock()
		r.free = append(r.free, p)
		r.mu.Unlock()
	}
}

// take hands the offered tick on.
func (r *Recorder) take() {
	p := r.offered
	if p == nil {
		return
	}
	r.offered, r.moment = nil, p.moment
	r.mu.Lock()
	r.waiting = append(r.waiting, p)
	r.pending++
	n := len(r.waiting)
	r.mu.Unlock()
	switch {
	case n >= r.atOnce:
		r.progress.Broadcast()
	case n == 1:
		r.timer.Reset(batchAge / 2)
	}
}

// problem returns the error after which nothing more is committed.
func (r *Recorder) problem() error {
	if r.err == nil {
		return nil
	}
	return r.err
}

// Flush waits until all ticks so far are committed.
func (r *Recorder) Flush() error {
	r.take()
	r.mu.Lock()
	defer r.mu.Unlock()
	r.flush = true
	r.wakeAll()
	for r.err == nil && (r.pending > 0 || r.held != nil || len(r.open.Links) > 0 || r.busy) {
		r.progress.Wait()
	}
	r.flush = false
	return r.problem()
}

// Close commits all ticks, with a snapshot of the last, and ends the chain. Further calls return the same. It must not be called within a tick.
func (r *Recorder) Close() error {
	r.take()
	r.mu.Lock()
	if !r.finish && r.every > 0 && r.world.Tick() == r.last {
		var err error
		if r.end, err = r.world.Save(r.descriptor); err != nil {
			r.fail(err)
		}
	}
	r.finish = true
	r.wakeAll()
	r.mu.Unlock()
	r.done.Wait()
	r.timer.Stop()
	r.abort(nil)
	return r.problem()
}

// Abort ends the chain for a reason, and the commit under way if the store can interrupt it. Any goroutine may call it; Close must still
// be called.
func (r *Recorder) Abort(reason error) { r.abort(reason) }

// Committed returns the last tick that is committed; -1 if there is none.
func (r *Recorder) Committed() int64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.committed
}

// fail ends the chain. The lock is held.
func (r *Recorder) fail(err error) {
	if r.err == nil {
		r.err = &CommitError{r.committed, err}
	}
	r.wakeAll()
}

// push puts the held tick into the open batch. The lock is held.
func (r *Recorder) push() {
	p, b := r.held, r.open
	if p == nil {
		return
	}
	r.held = nil
	if len(b.Links) == 0 {
		r.since = time.Now()
		time.AfterFunc(batchAge, r.wake)
	}
	link, n := p.link, len(b.digests)
	b.digests = append(b.digests, link.Digests...)
	link.Digests = b.digests[n:len(b.digests):len(b.digests)]
	b.Links = append(b.Links, link)
	b.Inputs = append(b.Inputs, p.hashed...)
	for i := range p.hashed {
		b.bytes += len(p.hashed[i].Payload)
	}
	if p.saved != nil {
		b.Snapshots = append(b.Snapshots, Snapshot{link.Tick, link.Hash, p.saved})
		b.bytes += len(p.saved)
	}
	r.free = append(r.free, p)
	if b.full() || r.flush || r.finish {
		r.batches.Signal()
	}
}

// wakeAll wakes all waiting goroutines to look at what has changed. The caller holds the lock.
func (r *Recorder) wakeAll() {
	r.progress.Broadcast()
	r.batches.Signal()
}

// wake lets the committer look at the clock.
func (r *Recorder) wake() {
	r.mu.Lock() // else it could be between the look and the wait
	defer r.mu.Unlock()
	r.batches.Signal()
}

// full reports whether a batch has no more room.
func (b *Batch) full() bool { return len(b.Links) >= batchTicks || b.bytes >= batchBytes }

// commit commits batches until the chain ends.
func (r *Recorder) commit() {
	r.mu.Lock()
	defer r.mu.Unlock()
	spare := new(Batch)
	for r.err == nil {
		switch b := r.open; {
		case len(b.Links) > 0 && (b.full() || r.flush || r.finish || time.Since(r.since) >= batchAge):
			r.open, r.busy = spare, true
			r.progress.Broadcast()
			r.mu.Unlock()
			err := r.store.Commit(r.ctx, b)
			if cause := context.Cause(r.ctx); err != nil && cause != nil {
				err = cause
			}
			r.mu.Lock()
			if r.busy = false; err != nil {
				r.fail(err)
				return
			}
			r.committed = int64(b.Links[len(b.Links)-1].Tick)
			b.reset()
			spare = b
			r.progress.Broadcast()
		case r.finish && r.pending == 0 && r.held == nil && len(b.Links) == 0:
			return
		default:
			r.batches.Wait()
		}
	}
}

// reset empties a batch, and keeps its memory for the next ticks.
func (b *Batch) reset() {
	clear(b.Inputs)
	clear(b.Snapshots)
	b.Inputs, b.Links, b.Snapshots, b.digests, b.bytes = b.Inputs[:0], b.Links[:0], b.Snapshots[:0], b.digests[:0], 0
}
