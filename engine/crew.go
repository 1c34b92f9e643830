package engine

import (
	"runtime"
	"sync"
	"sync/atomic"
)

// A crew runs the shares of a world's stages side by side. The goroutine of the world does the
// first share, and then each that no helper has begun, so that a helper that starts late
// delays nothing. No bit of a result depends on who did which share: each writes a range of
// its own, and all are done before any is read.
//
// Helpers are goroutines. After its shares a helper lingers for some microseconds, because
// waking a processor takes longer than many a share; the next stage, or the next tick, finds
// it there. Then it ends: a world between ticks, or one that is garbage, has no goroutines.
type crew struct {
	jobs    []func() // by share
	helpers []helper // by number; the first is the world's goroutine
	posted  []posting

	//detcheck:allow goroutine tells helpers that shares are posted
	round atomic.Uint32
	//detcheck:allow goroutine counts the shares that are not done
	left atomic.Int32
	wait sync.WaitGroup //detcheck:allow goroutine joins the helpers, each of which has a share of its own
}

// A helper may be away, or have a goroutine.
type helper struct {
	run func() // made once, so that starting it allocates nothing

	//detcheck:allow goroutine whether there is a goroutine
	here atomic.Bool
	_    [128]byte // two helpers must not write to one cache line
}

// A posting says whether a share may still be taken.
type posting struct {
	//detcheck:allow goroutine either goroutine computes the share in the same way
	open atomic.Bool
	_    [128]byte
}

// How long a helper lingers, and how long the world's goroutine waits before it sleeps: so
// many times so many looks, about 10 µs in all. Between the times other goroutines may run.
const (
	lingerTimes = 16
	lingerLooks = 1 << 10
)

// run does all jobs and returns when they are done. If a job ends this goroutine, those that
// no helper has begun are left out, but run waits for the others: they write to the columns.
func (c *crew) run(jobs []func()) {
	if len(jobs) == 1 {
		jobs[0]()
		return
	}
	c.jobs = jobs
	c.left.Store(int32(len(jobs) - 1))
	c.wait.Add(len(jobs) - 1)
	for i := 1; i < len(jobs); i++ {
		c.posted[i].open.Store(true)
	}
	c.round.Add(1)
	for k := 1; k < min(len(jobs), len(c.helpers)); k++ {
		if h := &c.helpers[k]; !h.here.Load() && h.here.CompareAndSwap(false, true) {
			//detcheck:allow goroutine helpers do shares, which write disjoint ranges and are joined before any is read
			go h.run()
		}
	}
	defer c.join()
	jobs[0]()
	for i := 1; i < len(jobs); i++ {
		if c.take(i) {
			c.do(i)
		}
	}
}

// begin makes room for stages of up to n shares. There are no more helpers than processors,
// since they would only be in each other's way.
func (c *crew) begin(n int) {
	//detcheck:allow environment no bit of the result depends on it
	c.helpers, c.posted = make([]helper, min(n, runtime.GOMAXPROCS(0))), make([]posting, n)
	for k := range c.helpers {
		c.helpers[k].run = func() { c.help(k) }
	}
}

// take takes a share that is still open, and reports whether it did.
func (c *crew) take(i int) bool {
	p := &c.posted[i]
	return p.open.Load() && p.open.CompareAndSwap(true, false)
}

// do does a share that was taken.
func (c *crew) do(i int) {
	defer c.done() // also if the share ends this goroutine
	c.jobs[i]()
}

func (c *crew) done() {
	c.left.Add(-1)
	c.wait.Done()
}

// join waits until no share is open or under way.
func (c *crew) join() {
	for i := 1; i < len(c.jobs); i++ { // if this goroutine is being ended
		if c.take(i) {
			c.done()
		}
	}
	for range lingerTimes {
		for range lingerLooks {
			if c.left.Load() == 0 {
				c.wait.Wait()
				return
			}
		}
		runtime.Gosched() //detcheck:allow goroutine lets others run while this one waits
	}
	c.wait.Wait()
}

// help is the goroutine of a helper.
func (c *crew) help(k int) {
	h, ended := &c.helpers[k], true
	defer func() {
		if ended { // by a share
			h.here.Store(false)
		}
	}()
	for {
		for again := true; again; {
			round := c.round.Load()
			c.helpOut(k)
			again = c.linger(round)
		}
		h.here.Store(false)
		if !c.anyOpen() || !h.here.CompareAndSwap(false, true) {
			ended = false
			return
		}
	}
}

// helpOut does all shares that are open. It begins with that of the helper's number, which it
// did in the tick before as well: this part of the world is in its processor's cache.
func (c *crew) helpOut(k int) {
	for i := range c.posted {
		if i = (k + i) % len(c.posted); c.take(i) {
			c.do(i)
		}
	}
}

// linger waits a little for the next round after this one, and reports whether it has come.
func (c *crew) linger(round uint32) bool {
	for range lingerTimes {
		for range lingerLooks {
			if c.round.Load() != round {
				return true
			}
		}
		runtime.Gosched() //detcheck:allow goroutine lets others run while this one waits
	}
	return false
}

func (c *crew) anyOpen() bool {
	for i := range c.posted {
		if c.posted[i].open.Load() {
			return true
		}
	}
	return false
}
