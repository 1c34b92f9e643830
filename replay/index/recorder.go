package index

import (
	"cmp"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
	"time"

	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/fields"
	"github.com/murksim/murksim/internal/store"
	"github.com/murksim/murksim/replay"
)

// DefaultBudget is the number of bytes of keyframes and tile hashes that an index may have.
const DefaultBudget = 256 << 20

const (
	chunkTicks  = 1024                   // of frames and digests in a chunk, at most
	minInterval = 20 * time.Millisecond  // of simulation between keyframes
	maxInterval = 250 * time.Millisecond // likewise, while the budget allows
)

// The most that a [Recorder] holds.
const (
	maxHeldTicks = 12
	maxHeldBytes = 256 << 20 // of states
)

const (
	smallState = 256 << 10 // bytes of a state whose tick is hashed sooner than a goroutine starts
	smallGroup = 6         // ticks of a small state that are worth that
)

// Options of a [Recorder].
type Options struct {
	Budget  int64            // bytes of keyframes and tile hashes; 0: DefaultBudget, negative: none of them
	Rebuilt bool             // the world replays a recording
	Now     func() time.Time // nil: time.Now
	Key     Key              // which seals the keyframes; nil: none is sealed
}

// A Recorder writes the index of a recording. It implements [engine.Settler] and is one of
// the world's recorders, after that which writes the recording: see [engine.Recorders].
//
// Another goroutine computes the XXH64 of the tiles that may have changed in a tick while the
// world goes on; for that the Recorder holds the states of up to 12 ticks, and of at most
// 256 MiB. Now and then it keeps a keyframe, which a third one compresses. [Recorder.Flush]
// writes what is held back; no goroutine outlives it. A tick is written once its recorded hash
// is known, so the recording is flushed before its index.
//
// An index is an aid: an error in writing it must not end the run. It ends the index, and
// Flush returns it.
type Recorder struct {
	frames Frames
	last   uint64       // tick that is recorded
	held   []heldTick   // a ring
	group  uint64       // ticks for which a worker starts
	run    func()       // the method work
	moment store.Moment // of the last tick

	offered *heldTick     // may still be taken back
	world   *engine.World // of the last offer
	before  store.Moment  // which restores this

	mu          sync.Mutex
	progress    sync.Cond
	added, done uint64 // ticks since the beginning
	working     bool   // a goroutine uses chunks

	keys   keyframes
	chunks chunks
}

// Frames is what records the frames of a recording: a [replay.Recorder], or what stands in for
// one while a recording is replayed.
type Frames interface {
	Offset() int64                                                  // of the end of the last recorded frame
	OnHash(f func(tick, hash uint64, sum func() [sha256.Size]byte)) // see [replay.Recorder.OnHash]
}

// A heldTick is a tick that is not in a chunk yet.
type heldTick struct {
	number uint64
	end    int64 // of its frame
	state  store.Delta
	key    bool // it has a keyframe
}

// NewRecorder begins the index of a recording with this header, whose world is where the
// recording begins, as are its frames.
func NewRecorder(sink io.Writer, w *engine.World, h *replay.Header, frames Frames, o Options) (*Recorder, error) {
	if w.UnderWay() {
		return nil, fmt.Errorf("index: %w", engine.ErrUnderWay)
	}
	begin, err := h.Begin()
	if err != nil {
		return nil, err
	}
	header := h.AppendBytes(nil)
	head := Header{Rebuilt: o.Rebuilt, Recording: recordingID(header), Frames: int64(len(header)), Fields: fieldsOf(w)}
	if begin != nil {
		head.Begin = begin.Tick
	}
	if w.Tick() != head.Begin {
		return nil, fmt.Errorf("index: the world is at tick %d; the recording begins after tick %d", w.Tick(), head.Begin)
	}
	b := appendHeader(nil, &head)
	if len(b) > maxHeader {
		return nil, fmt.Errorf("index: the names of all fields have %d bytes; an index has room for %d", len(b), maxHeader)
	}
	r := newRecorder(sink, w, h, head.Begin, head.Frames, frames, o)
	r.chunks.w.write(b)
	return r, nil
}

// ResumeRecorder goes on with an index, that of a recording with this header. The world must
// be at the tick that [Index.Prefix] returned, with the hash that the index has of it, and the
// sink at the length: cut a file there first. The budget is that of the whole index.
func ResumeRecorder(sink io.Writer, w *engine.World, h *replay.Header, x *Index, frames Frames, o Options) (*Recorder, error) {
	if err := x.Belongs(h); err != nil {
		return nil, err
	}
	last, length := x.Prefix(w.Tick())
	if last != w.Tick() || !slices.Equal(x.Fields, fieldsOf(w)) {
		return nil, fmt.Errorf("index: it has whole chunks up to tick %d; the world is at tick %d, or has other fields", last, w.Tick())
	}
	end := x.Frames
	if last > x.Begin {
		at, err := x.Frame(last)
		if err != nil {
			return nil, err
		}
		if hash, err := x.Hash(last); err != nil {
			return nil, err
		} else if hash != w.Hash() {
			return nil, fmt.Errorf("%w: that has another hash of tick %d", ErrOther, last)
		}
		end = at.Offset + at.Size
	}
	r := newRecorder(sink, w, h, x.Begin, end, frames, o)
	for i := range x.tiles {
		if t := &x.tiles[i]; t.after() <= length {
			r.chunks.budget -= int64(t.length)
		}
	}
	for i := range x.keys {
		if k := &x.keys[i]; k.after() <= length {
			r.keys.schedule.spend(headSize + int64(k.length) + crcSize)
			r.keys.schedule.key = k.first
		}
	}
	return r, nil
}

// newRecorder returns a recorder of a recording that begins after a tick. The next frame begins at
// an offset.
func newRecorder(sink io.Writer, w *engine.World, h *replay.Header, begin uint64, next int64, frames Frames, o Options) *Recorder {
	if o.Budget == 0 {
		o.Budget = DefaultBudget
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	r := &Recorder{frames: frames, group: 1, last: w.Tick()}
	r.run, r.progress.L = r.work, &r.mu
	r.chunks.begin(sink, w.Tick()+1, next, o.Budget)
	size := 0
	for _, f := range fieldsOf(w) {
		r.chunks.columns = append(r.chunks.columns, column{tileLen: f.TileLen, hashes: make([]uint64, f.Tiles())})
		size += f.Len * f.Element.Size()
	}
	r.held = make([]heldTick, max(2, min(maxHeldTicks, maxHeldBytes/max(1, size))))
	if size <= smallState {
		r.group = smallGroup
	}
	r.keys.begin(h.World(), begin, w.Tick(), size, o)
	frames.OnHash(func(tick, hash uint64, sum func() [sha256.Size]byte) {
		r.keys.hash(tick, sum)
		r.chunks.hashes.add(tick, hash)
	})
	return r
}

func fieldsOf(w *engine.World) (list []Field) {
	for id, d := range w.Defs() {
		_, tileLen := w.Tiling(fields.ID(id))
		list = append(list, Field{d.Name, d.Element, w.Column(fields.ID(id)).Len(), tileLen})
	}
	return list
}

// Record implements [engine.Recorder]. It fails only for a tick that is not the next one.
func (r *Recorder) Record(t *engine.Tick) error {
	r.Settle(true) // a tick counts as happened without a call of Settle
	if t.Number != r.last+1 {
		return fmt.Errorf("index: tick %d after tick %d: the world was reset; begin another index", t.Number, r.last)
	}
	r.makeRoom()
	h := &r.held[r.added%uint64(len(r.held))]
	h.number, h.end = t.Number, r.frames.Offset()
	h.key = r.keys.take(t, h.end)
	r.before = r.moment
	r.moment = t.View().HoldDelta(&h.state, r.moment)
	r.last, r.offered, r.world = t.Number, h, t.World()
	return nil
}

// makeRoom waits until another tick can be held.
func (r *Recorder) makeRoom() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for r.added-r.done == uint64(len(r.held)) {
		r.help()
	}
}

// help takes the ticks that are held into the chunks, or waits until one of them is.
func (r *Recorder) help() {
	if r.working {
		r.progress.Wait()
		return
	}
	r.working = true
	r.takeHeld()
}

// Settle implements [engine.Settler].
func (r *Recorder) Settle(happened bool) {
	h := r.offered
	if r.offered = nil; h == nil {
		return
	}
	if !happened {
		h.state.Release()
		r.last, r.moment = r.last-1, r.before
		if h.key {
			r.keys.drop()
		}
		return
	}
	r.mu.Lock()
	r.added++
	begin := !r.working && r.added-r.done >= r.group
	r.working = r.working || begin
	r.mu.Unlock()
	if begin {
		go r.run()
	}
}

// work is the worker: it takes ticks until none is left.
func (r *Recorder) work() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.takeHeld()
}

// takeHeld takes all ticks that are held into the chunks. The lock is held before and after,
// even if the sink ends the goroutine.
func (r *Recorder) takeHeld() {
	ended := false
	defer func() {
		if ended {
			r.mu.Lock()
			r.done++
			r.takeHeld()
		}
	}()
	for r.done < r.added {
		h := &r.held[r.done%uint64(len(r.held))]
		ended = true
		r.mu.Unlock()
		r.take(h)
		r.mu.Lock()
		ended = false
		r.done++
		r.progress.Signal()
	}
	r.working = false
	r.progress.Signal()
}

// take takes a tick into the chunks.
func (r *Recorder) take(h *heldTick) {
	r.guarded(func() {
		r.chunks.add(h)
		h.state.Release()
		r.keys.settle(h.key, &r.chunks.w, r.chunks.write())
		r.chunks.endFull()
	})
}

// guarded calls f. If the sink panics, or ends the goroutine, that is the writer's error.
func (r *Recorder) guarded(f func()) {
	var err error
	defer func() {
		if err != nil {
			r.chunks.w.err = err
		}
	}()
	engine.Guard(&err, func() error {
		f()
		return nil
	})
}

// errNoHash reports ticks that cannot be written yet.
var errNoHash = errors.New("index: the hash of the last tick is not known yet; flush the recording first")

// Flush writes what has been recorded. Its error is final: what was written before is a
// valid index. If the recording was not flushed before, Flush says so, and writes the last
// ticks the next time. Within a tick that another recorder may still refuse it fails with
// [engine.ErrUnderWay] and does nothing.
func (r *Recorder) Flush() error {
	if r.offered != nil && r.world.UnderWay() && r.world.Tick() < r.last {
		return fmt.Errorf("index: Flush: %w", engine.ErrUnderWay)
	}
	r.Settle(true)
	r.takeAll()
	return r.finish(nil)
}

// takeAll waits until all ticks are in the chunks and no worker is left.
func (r *Recorder) takeAll() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for r.done < r.added || r.working {
		r.help()
	}
}

// finish writes what is left, and then a last chunk, if there is one.
func (r *Recorder) finish(last *chunkHead) error {
	var late error
	r.guarded(func() {
		r.chunks.end()
		known := r.chunks.write()
		r.keys.finish(&r.chunks.w, known)
		switch {
		case !known:
			late = errNoHash
		case last != nil:
			r.chunks.w.chunk(*last, r.chunks.length())
		}
	})
	return cmp.Or(r.chunks.w.err, late)
}

// Close flushes, and notes that the recording is complete.
func (r *Recorder) Close() error {
	if err := r.Flush(); err != nil {
		return err
	}
	return r.finish(&chunkHead{kind: endChunk, first: r.last})
}

// Rebuild replays all frames of a recording, as
// [replay.Player.Verify] does, and writes an index of them. It returns how many ticks
// matched. Where the recording is damaged or differs, the index holds the ticks up to there.
// The key seals its keyframes; nil: they have none.
func Rebuild(dst io.Writer, p *replay.Player, budget int64, key Key) (ticks uint64, err error) {
	r := &replayed{player: p}
	if r.Recorder, err = NewRecorder(dst, p.World, p.Source.Head(), r, Options{Budget: budget, Rebuilt: true, Key: key}); err != nil {
		return 0, err
	}
	if key != nil {
		p.Sum = replay.NewSum(p.Source.Head())
	}
	own, before := p.World.Recorder(), p.Before
	defer func() { p.Before = before; p.World.Record(own) }()
	p.World.Record(r)
	p.Before = func() error {
		if r.waiting.tick != 0 {
			r.compared(p.Settle())
		}
		if before != nil {
			return before()
		}
		return nil
	}
	first := p.World.Tick()
	ticks, err = p.Verify()
	r.compared(first + ticks)
	if err != nil {
		return ticks, errors.Join(err, r.Flush())
	}
	return ticks, r.Close()
}

// A replayed is the recorder of an index whose frames are those that a player replays.
type replayed struct {
	*Recorder
	player  *replay.Player
	hashed  func(tick, hash uint64, sum func() [sha256.Size]byte)
	waiting struct { // a tick with a keyframe, until its hash is compared; 0: none
		tick, hash uint64
		sum        [sha256.Size]byte
	}
}

// Record implements [engine.Recorder].
func (r *replayed) Record(t *engine.Tick) error {
	if err := r.Recorder.Record(t); err != nil {
		return err
	}
	if sum := r.player.Sum; sum != nil && r.offered.key {
		r.waiting.tick, r.waiting.hash, r.waiting.sum = t.Number, r.player.Frame().Hash, sum.SHA256()
		return nil
	}
	r.hashed(t.Number, r.player.Frame().Hash, nil)
	return nil
}

// compared hands on the tick with a keyframe. It is sealed if it and all before it matched.
func (r *replayed) compared(matched uint64) {
	w := &r.waiting
	switch {
	case w.tick == 0:
	case w.tick <= matched:
		r.hashed(w.tick, w.hash, func() [sha256.Size]byte { return w.sum })
	default:
		r.hashed(w.tick, w.hash, nil)
	}
	w.tick = 0
}

// Offset implements [Frames].
func (r *replayed) Offset() int64 {
	at := &r.player.Frame().Position
	return at.Offset + at.Size
}

// OnHash implements [Frames].
func (r *replayed) OnHash(f func(tick, hash uint64, sum func() [sha256.Size]byte)) { r.hashed = f }
