package audit

import (
	"bytes"
	"crypto/sha256"
	"runtime"
	"slices"
)

// A stage is how far a pending tick is.
type stage uint8

const (
	untouched stage = iota
	inWork          // by one goroutine
	leafed          // its leaves are hashed
)

// Ticks of small states are handed on several at a time: waking a goroutine takes longer than hashing one.
const (
	smallState = 32 << 10 // bytes
	smallTicks = 128
	largeTicks = 4
)

func newPending() *pendingTick {
	p := new(pendingTick)
	p.state.Fine = true
	return p
}

// helpers returns how many goroutines hash leaves besides the world and the one that links.
func (r *Recorder) helpers() int {
	if r.atOnce > 1 {
		return 0
	}
	return min(max(runtime.GOMAXPROCS(0)-2, 0), 3)
}

// beDue hands on the ticks that wait for others to go with them.
func (r *Recorder) beDue() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.due = len(r.waiting) > 0
	r.progress.Broadcast()
}

// help hashes leaves until the chain ends.
func (r *Recorder) help() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for r.err == nil && !(r.finish && r.pending == 0) {
		if !r.hashOne() {
			r.progress.Wait()
		}
	}
}

// hashOne hashes the leaves of a tick that no goroutine has begun, and reports whether there was one. The caller holds the lock, which hashOne gives up meanwhile.
func (r *Recorder) hashOne() bool {
	i := slices.IndexFunc(r.waiting, func(p *pendingTick) bool { return p.stage == untouched })
	if i < 0 {
		return false
	}
	p := r.waiting[i]
	p.stage = inWork
	r.mu.Unlock()
	r.meter.measure(func() { r.leaves(p) })
	r.mu.Lock()
	p.stage = leafed
	r.progress.Broadcast()
	return true
}

// leaves hashes the leaves of a tick, and releases its state.
func (r *Recorder) leaves(p *pendingTick) {
	p.leaves.hash(&p.state, len(r.chain.digester.trees))
	p.state.Release()
}

// takeWaiting returns ticks from the first waiting one on: those whose leaves are hashed, and some that no goroutine has begun. The caller holds the lock.
func (r *Recorder) takeWaiting(list []*pendingTick) []*pendingTick {
	list = list[:0]
	begun := 0
	for _, p := range r.waiting[:min(len(r.waiting), batchTicks-len(r.open.Links))] {
		if p.stage == inWork || p.stage == untouched && begun == r.atOnce {
			break
		}
		if p.stage == untouched {
			p.stage = inWork
			begun++
		}
		list = append(list, p)
	}
	r.waiting = slices.Delete(r.waiting, 0, len(list))
	r.due = r.due && len(r.waiting) > 0
	return list
}

// hash links ticks until the chain ends.
func (r *Recorder) hash() {
	r.mu.Lock()
	defer r.mu.Unlock()
	defer r.wakeAll()
	var list []*pendingTick
	for r.err == nil {
		if !r.open.full() && (len(r.waiting) >= r.atOnce || r.due || r.flush || r.finish) {
			list = r.takeWaiting(list)
		} else {
			list = list[:0]
		}
		switch {
		case len(list) > 0:
			r.mu.Unlock()
			n, err := r.links(list)
			r.mu.Lock()
			for _, p := range list[:n] {
				r.push()
				r.held, r.meter.last = p, p.link.Tick
				r.pending--
			}
			if err != nil {
				r.fail(err)
				return
			}
		case r.pending == 0 && r.held != nil && (r.flush || r.finish):
			if r.finish && r.held.saved == nil {
				r.held.saved = r.end
			}
			r.push()
		case r.pending == 0 && r.finish:
			return
		case r.atOnce == 1 && r.hashOne():
		default:
			r.progress.Wait()
			continue
		}
		r.progress.Broadcast()
	}
}

// links links ticks, and returns how many before an error.
func (r *Recorder) links(list []*pendingTick) (n int, err error) {
	r.meter.measure(func() {
		for ; n < len(list); n++ {
			if list[n].stage != leafed {
				r.leaves(list[n])
			}
			if err = r.chain.link(list[n]); err != nil {
				return
			}
		}
	})
	r.meter.hashed.Add(uint64(n))
	return n, err
}

// A chaining is what links take over from the links before them.
type chaining struct {
	meta     Digest // of section 1, which stays as it is
	fixed    int64  // bytes of a state but for the sections 2, 4 and 5
	prev     Hash
	events   Events
	digester *digester
	sections [3]summed // 2, 4 and 5, as they were last
	buf      []byte
}

// link makes the link of a tick whose leaves are hashed, and hashes its inputs.
func (c *chaining) link(p *pendingTick) error {
	begin := 0
	p.hashed = p.hashed[:0]
	for _, in := range p.inputs {
		x := Input{Event: Event{Seq: c.events.Seq + 1, Tick: p.tick, Source: in.source, Kind: in.kind, Payload: slices.Clone(p.bytes[begin:in.end])}, Prev: c.events.Hash}
		if err := c.events.Add(&x.Event); err != nil {
			return err
		}
		x.Hash, begin = c.events.Hash, in.end
		p.hashed = append(p.hashed, x)
	}
	columns := c.digester.digest(&p.leaves)
	l := &p.link
	*l = Link{
		Tick: p.tick, Prev: c.prev, InputSeq: c.events.Seq, InputHash: c.events.Hash, StateLen: c.fixed + int64(len(p.rest)),
		Digests: append(l.Digests[:0], c.meta, Digest{2, c.sections[0].of(p.section(0))}, Digest{fieldSection, columns},
			Digest{4, c.sections[1].of(p.section(1))}, Digest{5, c.sections[2].of(p.section(2))}),
	}
	c.buf = l.appendHashed(c.buf[:0])
	l.Hash = sha256.Sum256(c.buf)
	c.prev = l.Hash
	return nil
}

// A summed keeps bytes with their SHA-256, since many ticks in a row have the same.
type summed struct {
	bytes []byte
	sum   Hash
}

// of returns the SHA-256 of bytes.
func (s *summed) of(b []byte) Hash {
	if s.bytes == nil || !bytes.Equal(s.bytes, b) {
		s.bytes, s.sum = append(s.bytes[:0], b...), sha256.Sum256(b)
	}
	return s.sum
}
