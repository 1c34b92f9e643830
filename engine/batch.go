package engine

import (
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/murksim/murksim/commands"
)

// A Batch steps many worlds in one call, spread over goroutines. Each world goes through
// the same states as if stepped alone, for any number of workers. A steady state allocates
// nothing.
//
// Between calls the worlds may be used like any others: inputs submitted, snapshots
// taken. While a call runs they belong to it, except for Submit, SubmitAll and Stop. Each
// may have a recorder of its own; with several workers two worlds must not share one.
type Batch struct {
	worlds  []*World
	results []Result // by world
	parts   []batchPart
	wait    sync.WaitGroup //detcheck:allow goroutine joins the workers, each of which steps its own worlds
	ticks   int

	//detcheck:allow goroutine refuses a call from within one, which would wait for ever
	running atomic.Bool
}

// A Result is the outcome of one world of a [Batch].
type Result struct {
	Receipts []commands.Receipt // of its last tick, valid until that world steps again
	Err      error              // why it did not take all ticks, a [*TickError]; nil if it did
}

// A BatchError is the failure of the first world, by index, that failed.
type BatchError struct {
	Index  int // of the world
	Failed int // how many worlds failed, this one included
	Err    error
}

// Error implements error.
func (e *BatchError) Error() string {
	if e.Failed > 1 {
		return fmt.Sprintf("world %d, the first of %d that failed: %v", e.Index, e.Failed, e.Err)
	}
	return fmt.Sprintf("world %d: %v", e.Index, e.Err)
}

// Unwrap returns the cause.
func (e *BatchError) Unwrap() error { return e.Err }

// A batchPart is one worker's share: always the same worlds, side by side. Workers that
// are done with theirs take what is left of it.
type batchPart struct {
	lo, hi int
	run    func() // made once, so that starting it allocates nothing

	//detcheck:allow goroutine shares out worlds; the results of one do not depend on the worker that steps it
	next atomic.Int64
	_    [128]byte // two workers must not write to one cache line
}

// claim takes the next world of the share and returns its index; none is left if that is
// p.hi or above.
func (p *batchPart) claim() int { return int(p.next.Add(1)) - 1 }

// NewBatch returns a batch of these worlds, in this order. Workers must be 1 to
// [MaxWorkers]; no more are used than there are worlds. No world may be nil or listed
// twice.
func NewBatch(worlds []*World, workers int) (*Batch, error) {
	if workers < 1 || workers > MaxWorkers {
		return nil, fmt.Errorf("engine: batch: workers must be 1 to %d, not %d", MaxWorkers, workers)
	}
	//detcheck:allow pointer looked up only: the result does not depend on the addresses
	known := make(map[*World]int, len(worlds))
	for i, w := range worlds {
		if w == nil {
			return nil, fmt.Errorf("engine: batch: world %d is nil", i)
		}
		if w.phase == unmade {
			return nil, fmt.Errorf("engine: batch: world %d was not made by New, Restore or Fork", i)
		}
		if j, twice := known[w]; twice {
			return nil, fmt.Errorf("engine: batch: worlds %d and %d are the same", j, i)
		}
		known[w] = i
	}
	b := &Batch{worlds: append([]*World(nil), worlds...), results: make([]Result, len(worlds))}
	b.parts = make([]batchPart, max(1, min(workers, len(worlds))))
	for i := range b.parts {
		p := &b.parts[i]
		p.lo, p.hi = b.bound(i), b.bound(i+1)
		p.run = func() {
			defer b.wait.Done()
			b.work(i)
		}
	}
	return b, nil
}

// bound is where the share of a worker begins.
func (b *Batch) bound(i int) int {
	return int(int64(len(b.worlds)) * int64(i) / int64(len(b.parts)))
}

// Worlds returns the worlds of the batch, in order. The slice must not be changed.
func (b *Batch) Worlds() []*World {
	b.made()
	return b.worlds
}

// made panics with words if NewBatch did not make the batch.
func (b *Batch) made() {
	if b == nil || b.parts == nil {
		panic("engine: a method of a Batch that NewBatch did not make")
	}
}

// Run advances every world by that many ticks, as [World.Run] does, and returns the result
// of each, in order; the slice is valid until the next call. A world whose tick fails takes
// no more ticks in this call, and is as it was before that tick; so does one whose watcher
// panics or ends its goroutine, but its tick has happened. The others are not affected,
// also if this goroutine is the one that is ended: then Run does not return.
// Below 1, ticks count as 0. The error is nil or a [*BatchError]. If a call of Run has not
// returned, it is [ErrUnderWay], and there are no results.
func (b *Batch) Run(ticks int) ([]Result, error) {
	b.made()
	if b.running.Swap(true) {
		return nil, fmt.Errorf("engine: batch: %w", ErrUnderWay)
	}
	defer b.running.Store(false)
	b.ticks = ticks
	b.wait.Add(len(b.parts))
	for i := range b.parts {
		b.parts[i].next.Store(int64(b.parts[i].lo))
	}
	for i := range b.parts[1:] {
		//detcheck:allow goroutine workers step disjoint worlds and are joined before any is looked at
		go b.parts[1+i].run()
	}
	func() {
		defer b.wait.Wait() // also if a world ends this goroutine
		b.parts[0].run()
	}()
	var first *BatchError
	for i := range b.results {
		switch err := b.results[i].Err; {
		case err == nil:
		case first == nil:
			first = &BatchError{Index: i, Failed: 1, Err: err}
		default:
			first.Failed++
		}
	}
	if first != nil {
		return b.results, first
	}
	return b.results, nil
}

// work takes the worlds of a worker's share through all ticks, then what is left of
// the other shares, so that a worker that starts late or has to wait delays none.
func (b *Batch) work(own int) {
	ended := true
	defer func() {
		if ended { // a world ends this goroutine: first the others
			b.work(own)
		}
	}()
	for k := range b.parts {
		p := &b.parts[(own+k)%len(b.parts)]
		for i := p.claim(); i < p.hi; i = p.claim() {
			b.step(i)
		}
	}
	ended = false
}

// step takes one world through all ticks, so that it stays in the processor's cache.
func (b *Batch) step(i int) {
	r, w := &b.results[i], b.worlds[i]
	if w.phase == between {
		w.watched = false
	}
	var err error
	defer func() { // also if the world ends this goroutine
		if err == nil {
			return
		}
		e := &TickError{w.tick + 1, "world", err}
		if w.watched { // the tick has happened
			e.Tick, e.Where = w.tick, "watcher"
		}
		r.Receipts, r.Err = nil, e
		if broken, _ := unsound(err); broken != nil {
			e.Err = broken
		}
	}()
	Guard(&err, func() error {
		r.Receipts, r.Err = w.run(uint64(max(0, b.ticks)))
		return nil
	})
}
