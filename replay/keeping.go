package replay

import (
	"sync/atomic"
	"time"
)

// A Keeping says how often a [Recorder] writes out what it has recorded. It does so when the next tick comes, so the ticks that a crash costs are those since
// the last time and the one that was under way.
type Keeping struct {
	Flush     time.Duration // to the sink: what a process that is killed has written; 0: whenever 64 KiB are there
	Sync      time.Duration // to the disk: what a loss of power leaves; 0: not by time
	SyncTicks uint64        // to the disk after so many ticks; 0: not by ticks
}

// Keep says how often the Recorder writes out; by default it flushes once a second. It must be called between ticks.
func (r *Recorder) Keep(k Keeping) {
	r.keeping = k
	r.flushing, r.syncing, r.synced = new(alarmClock), new(alarmClock), r.last
}

// keep writes out what is due, before a tick is recorded.
func (r *Recorder) keep() error {
	k := &r.keeping
	if r.syncing.rang(k.Sync) || k.SyncTicks > 0 && r.last-r.synced >= k.SyncTicks {
		r.synced = r.last
		return r.Sync()
	}
	if r.flushing.rang(k.Flush) {
		return r.Flush()
	}
	return nil
}

// An alarmClock rings once so much time has passed. To ask it costs less than to look at a clock in each tick.
type alarmClock struct {
	set  bool
	ring atomic.Bool
}

// rang reports whether the time has passed since the clock last rang, or was first asked; 0: it never rings.
func (a *alarmClock) rang(after time.Duration) bool {
	if after <= 0 {
		return false
	}
	rang := a.ring.Load()
	if rang {
		a.ring.Store(false)
	}
	if rang || !a.set {
		a.set = true
		time.AfterFunc(after, func() { a.ring.Store(true) })
	}
	return rang
}
