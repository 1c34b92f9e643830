package audit

import "sync/atomic"

// A Progress says how far a [Recorder] is behind its world, and what hashing has cost so far.
type Progress struct {
	Unhashed    uint64 // ticks that wait for their SHA-256
	Uncommitted uint64 // ticks that have it and wait for the store
	Committed   int64  // the last tick that is committed; -1: none
	Hashed      uint64 // ticks that were hashed since Measure
	HashNanos   int64  // how long all goroutines together took for it, by the clock of Measure
}

// Measure makes the Recorder add up how long it hashes, by a clock in nanoseconds that any goroutine may read. It must be called
// before the first tick. Without a call hashing is not measured.
func (r *Recorder) Measure(nanos func() int64) { r.meter.nanos = nanos }

// Progress returns how far the Recorder is. Any goroutine may call it.
func (r *Recorder) Progress() Progress {
	r.mu.Lock()
	defer r.mu.Unlock()
	before := r.committed // the tick before the first that is not committed
	if before < 0 {
		before = int64(r.meter.first) - 1
	}
	return Progress{
		Unhashed: uint64(r.pending), Uncommitted: uint64(int64(r.meter.last) - before), Committed: r.committed,
		Hashed: r.meter.hashed.Load(), HashNanos: r.meter.hashNanos.Load(),
	}
}

// A meter measures a recorder.
type meter struct {
	first     uint64       // tick of the world at the beginning
	last      uint64       // tick that is hashed; the recorder's lock guards it
	nanos     func() int64 // nil: hashing is not measured
	hashed    atomic.Uint64
	hashNanos atomic.Int64
}

// measure adds the time of some hashing.
func (m *meter) measure(work func()) {
	if m.nanos == nil {
		work()
		return
	}
	began := m.nanos()
	work()
	m.hashNanos.Add(m.nanos() - began)
}
