package replay

import "sync/atomic"

// A Progress says how far a [Recorder] is behind its world, and what hashing has cost so far.
type Progress struct {
	Unhashed  uint64 // ticks that were recorded and are not hashed
	Unwritten uint64 // ticks that were hashed and are not handed to the sink
	Hashed    uint64 // ticks that were hashed since Measure
	HashNanos int64  // how long that took, by the clock of Measure; goroutines that hash at the same time count each
}

// Measure makes the Recorder add up how long it hashes, by a clock in nanoseconds that any goroutine may
// read. It must be called before the first tick. Without a call no clock is read.
func (r *Recorder) Measure(nanos func() int64) {
	m := &meter{nanos: nanos}
	r.target.meter, r.queue.meter = m, m
	r.queue.target = r.target
}

// Progress returns how far the Recorder is. Any goroutine may call it. Without [Recorder.Measure] only Unhashed is known.
func (r *Recorder) Progress() (p Progress) {
	if m := r.queue.meter; m != nil {
		p.Unwritten, p.Hashed, p.HashNanos = m.unwritten.Load(), m.hashed.Load(), m.hashNanos.Load()
	}
	r.queue.mu.Lock()
	defer r.queue.mu.Unlock()
	p.Unhashed = r.queue.added - r.queue.finished
	return p
}

// A meter measures a recorder. A nil one measures nothing.
type meter struct {
	nanos     func() int64
	hashed    atomic.Uint64 // ticks
	hashNanos atomic.Int64
	unwritten atomic.Uint64 // ticks
}

// begin returns when hashing begins.
func (m *meter) begin() (nanos int64) {
	if m == nil {
		return 0
	}
	return m.nanos()
}

// end adds the time since then.
func (m *meter) end(began int64) {
	if m != nil {
		m.hashNanos.Add(m.nanos() - began)
	}
}

// count counts ticks that were hashed.
func (m *meter) count(ticks int) {
	if m != nil {
		m.hashed.Add(uint64(ticks))
	}
}

// note notes how many ticks a writer holds.
func (m *meter) note(w *Writer) {
	if m == nil {
		return
	}
	n := len(w.ends)
	if n > 0 && w.ends[0].tick == 0 { // the header
		n--
	}
	m.unwritten.Store(uint64(n))
}
