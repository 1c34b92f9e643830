package replay

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"runtime"
	"runtime/debug"
	"time"

	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/fields"
)

// A Recorder records a world to a file or another sink. It implements [engine.Settler].
// Call [Recorder.Flush] at the end: without it the last ticks are not written. Until then it writes once a second, or as [Recorder.Keep] says.
//
// Another goroutine computes the hash of a tick while the world goes on, together with
// those of its neighbours, four side by side. For that the Recorder holds the states of up
// to 12 ticks, and of at most 256 MiB. If a state has more than a quarter of that, Record
// hashes at once. While the Recorder holds all it may, Record helps with the hashing or
// waits. What is written is the same in any case.
//
// If a state has more than 256 KiB and less than half of it may have changed in a
// tick, the Recorder holds only the tiles of 4 KiB that may have changed. It knows them
// from commands, and from propagators that call [engine.Context.Changed]. Besides the ticks
// that it holds, a Recorder keeps the last state that it hashed, and tables of up to half
// its size.
//
// [Recorder.Flush] waits until all ticks are written; without it the last ones are not.
// A write that fails fails every tick that comes after: the next Record or Flush
// reports it, as a [*WriteError] that names the first tick that is lost. The world
// may by then be up to 12 ticks, and those of 64 KiB of frames, which are
// written at once, beyond it. What was written is a valid recording. No goroutine
// outlives a Flush.
//
// A Recorder belongs to one world and to the goroutine that steps it. Only a fork of that
// world, or one restored from its state, can go on with it.
type Recorder struct {
	setup  fields.Setup
	begin  uint64 // tick after which the recording begins
	last   uint64 // tick that was recorded
	offset int64
	target recording // of the queue
	queue  queue

	keeping           Keeping
	flushing, syncing *alarmClock
	synced            uint64 // the last tick that was synced
}

// NewRecorder begins the recording of a world. The descriptor is what the [Builder] of a
// player will rebuild the world from. A replay begins where the recording does: the world must
// be at genesis, or in the state that the descriptor names, see [Begin.Describe].
func NewRecorder(sink io.Writer, w *engine.World, descriptor []byte) (*Recorder, error) {
	wr, err := beginning(sink, w, descriptor)
	if err != nil {
		return nil, err
	}
	return recorderTo(wr, w, w.Tick()), nil
}

// Next ends the recording, which it flushes, or syncs where [Recorder.Keep] asks for that, and goes on in another one, as NewRecorder begins it: so the
// descriptor must name the state that the world is in. It must be called between ticks. [Recorder.RunDigest] goes on from the first recording.
// An error of writing is kept, as one of Flush is; after another one the recorder is as it was.
func (r *Recorder) Next(sink io.Writer, w *engine.World, descriptor []byte) error {
	end := r.Flush
	if r.keeping.Sync > 0 || r.keeping.SyncTicks > 0 { // nothing syncs this sink later
		end, r.synced = r.Sync, r.last
	}
	if err := end(); err != nil {
		return err
	}
	if w.Tick() != r.last {
		return fmt.Errorf("replay: the world is at tick %d; the recording goes on after tick %d", w.Tick(), r.last)
	}
	wr, err := beginning(sink, w, descriptor)
	if err != nil {
		return err
	}
	if wr.run = r.target.w.run; r.target.w.sum != nil {
		wr.sum = sha256.New()
		r.target.sum = wr.sum256
	}
	r.target.w, r.begin, r.offset = wr, w.Tick(), wr.Offset()
	r.queue.target = r.target
	return nil
}

// beginning begins a recording with the state in which the world is.
func beginning(sink io.Writer, w *engine.World, descriptor []byte) (*Writer, error) {
	if w.UnderWay() {
		return nil, fmt.Errorf("replay: %w", engine.ErrUnderWay)
	}
	h := HeaderOf(w, descriptor)
	switch begin, err := h.Begin(); {
	case err != nil:
		return nil, err
	case begin != nil:
		if err := begin.check(w, h.World()); err != nil {
			return nil, err
		}
	case w.Tick() != 0:
		return nil, fmt.Errorf("replay: the world is at tick %d; a recording must begin at genesis, or its descriptor name the state", w.Tick())
	}
	return NewWriter(sink, h)
}

// ResumeRecorder goes on with a recording that ends at a position: for example that of a
// [Reader] at the end, or after the last whole frame of a recording that was cut off. The
// header must fit the world, and a [Player] or a saved state must have brought it to the
// tick of the last frame. The sink must stand at the position with nothing after it:
// truncate a file there first. What is recorded from then on is byte for byte what an
// uninterrupted run records. Sum is that of the recording up to the position, or nil: then the
// digest of the run is not known.
func ResumeRecorder(sink io.Writer, w *engine.World, h Header, at Position, sum *Sum) (*Recorder, error) {
	if err := h.Check(w.Setup(h.Descriptor)); err != nil {
		return nil, err
	}
	begin := h.after()
	if last := begin + uint64(at.Frame); w.Tick() != last {
		return nil, fmt.Errorf("replay: the world is at tick %d; the recording goes on after tick %d", w.Tick(), last)
	}
	wr := &Writer{w: sink, done: at.Offset, frame: at.Frame}
	if sum != nil {
		wr.sum, wr.run = sum.w.summed(), sum.RunDigest()
	}
	return recorderTo(wr, w, begin), nil
}

// recorderTo returns a recorder of the ticks after that of the world; begin is the tick after
// which the recording begins.
func recorderTo(to *Writer, w *engine.World, begin uint64) *Recorder {
	r := &Recorder{setup: w.Setup(nil), begin: begin, last: w.Tick(), offset: to.Offset(), target: recording{w: to}}
	r.queue.begin(r.target, w)
	r.Keep(Keeping{Flush: time.Second})
	return r
}

// OnHash makes the Recorder call f with the hash of each tick that was written, in their order:
// on any goroutine, and before Flush returns. Sum, which f may call and must not keep, returns the
// SHA-256 of the recording up to the end of the tick; it is nil where that is not known, see
// [ResumeRecorder]. OnHash must be called before the first tick.
func (r *Recorder) OnHash(f func(tick, hash uint64, sum func() [sha256.Size]byte)) {
	w := r.target.w
	if w.sum == nil && w.done == 0 { // nothing is written yet
		w.sum = sha256.New()
	}
	if r.target.hashed = f; w.sum != nil {
		r.target.sum = w.sum256
	}
	r.queue.target = r.target
}

// Record implements [engine.Recorder]. It refuses the tick after a reset, which belongs
// into another recording because a replay has no reset. It refuses ticks of a world with
// another seed, time step or shape.
func (r *Recorder) Record(t *engine.Tick) error {
	if t.Number != r.last+1 {
		return fmt.Errorf("replay: tick %d after tick %d: the world was reset; begin another recording", t.Number, r.last)
	}
	was, is := &r.setup, t.Setup(nil)
	if is.Seed != was.Seed || is.Dt != was.Dt || is.Fields != was.Fields || is.Cells != was.Cells {
		return fmt.Errorf("%w: tick %d is of %s, the recording of %s", errOtherWorld, t.Number, described(&is), described(was))
	}
	if err := checkInputs(Position{Frame: int(t.Number - r.begin - 1), Offset: r.offset}, t.Number, t.Inputs); err != nil {
		return err
	}
	if err := r.keep(); err != nil {
		return err
	}
	size, err := r.queue.offer(t)
	if err != nil {
		return err
	}
	r.last, r.offset = t.Number, r.offset+int64(size)
	return nil
}

// Settle implements [engine.Settler]. A recorder that hands its ticks on to this one need
// not call it: without a call, a tick counts as happened once the next Record or Flush
// comes.
func (r *Recorder) Settle(happened bool) {
	if !happened && r.queue.offered != nil {
		r.last, r.offset = r.last-1, r.offset-int64(r.queue.before.size)
	}
	r.queue.settle(happened)
}

var errOtherWorld = errors.New("replay: a recording is of one world")

func described(s *fields.Setup) string {
	return fmt.Sprintf("seed %d, %v s a tick, %d fields, %d cells", s.Seed, s.Dt, s.Fields, s.Cells)
}

// Flush waits until all recorded ticks are hashed, and writes them. Within a tick that this
// recorder has, but another one may still refuse, it fails with [engine.ErrUnderWay].
func (r *Recorder) Flush() error { return r.flush((*Writer).Flush) }

// RunDigest returns the digest of all ticks that were hashed: after Flush, and before the next tick, of all that were recorded. The first one is that of
// the recording that the recorder began, whatever [Recorder.Next] began since, or went on with: of a run in parts whose second part is resumed,
// it begins with the second part. It is not known after [ResumeRecorder] without a sum of the whole recording.
func (r *Recorder) RunDigest() (sum [sha256.Size]byte, known bool) {
	if r.target.w.run == nil {
		return sum, false
	}
	return r.target.w.run.Sum(), true
}

// Sync flushes and, if the sink has a Sync method (a file), calls it, so that the recording
// survives a loss of power.
func (r *Recorder) Sync() error { return r.flush((*Writer).Sync) }

// flush uses the writer even after an error of the queue: it may hold earlier ticks.
func (r *Recorder) flush(use func(*Writer) error) error {
	if underWay(r.queue.world, r.last) {
		return fmt.Errorf("replay: Flush: %w", engine.ErrUnderWay)
	}
	err := r.queue.flush()
	late := r.target.guarded(use)
	r.target.meter.note(r.target.w)
	if err == nil && late != nil {
		err = r.queue.fail(late)
	}
	return err
}

// underWay reports whether a world computes a tick, of which nothing is final yet.
func underWay(w *engine.World, tick uint64) bool { return w != nil && w.UnderWay() && w.Tick() < tick }

// A recording is the target of a [Recorder].
type recording struct {
	w      *Writer
	hashed func(tick, hash uint64, sum func() [sha256.Size]byte) // nil: not wanted
	sum    func() [sha256.Size]byte                              // of the writer; nil: not known
	meter  *meter                                                // nil: not wanted
}

func (r recording) hold(h *pendingTick, t *engine.Tick) (size int) {
	h.frame.bytes = appendInputs(h.frame.bytes[:0], t.Number, t.Inputs)
	return len(h.frame.bytes) + hashSize
}

func (r recording) finish(h *pendingTick) error {
	err := r.guarded(func(w *Writer) error { return w.writeHashed(h.number, h.frame.bytes, h.hash) })
	r.meter.note(r.w)
	if cap(h.frame.bytes) > flushSize {
		h.frame.bytes = nil
	}
	if err == nil && r.hashed != nil {
		r.hashed(h.number, h.hash, r.sum)
	}
	return err
}

// guarded uses the writer. If the sink panics, or ends the goroutine, that is the writer's
// last error, since it is not known how much of its buffer was written.
func (r recording) guarded(use func(*Writer) error) (err error) {
	var broken error
	defer func() {
		if broken != nil {
			err = fmt.Errorf("replay: writing after byte %d: %w", r.w.done, broken)
			r.w.err = err
		}
	}()
	engine.Guard(&broken, func() error {
		err = use(r.w)
		return nil
	})
	return err
}

// Offset returns the length of the recording so far: of the header and of the ticks that
// were recorded, written or not.
func (r *Recorder) Offset() int64 { return r.offset }

// HeaderOf returns the header of a recording of this world by this program.
func HeaderOf(w *engine.World, descriptor []byte) Header {
	s := w.Setup(descriptor)
	return Header{
		Build: ThisBuild(), Seed: s.Seed, ConfigHash: s.Hash(),
		FieldCount: s.Fields, CellCount: s.Cells, Descriptor: descriptor,
	}
}

// ThisBuild returns the build of this program.
func ThisBuild() Build {
	b := Build{Toolchain: runtime.Version(), Target: runtime.GOOS + "/" + runtime.GOARCH, Version: engine.Version}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return b
	}
	for _, s := range info.Settings {
		switch s.Key {
		case "GOAMD64", "GOARM64", "GO386", "GORISCV64", "GOPPC64", "-race":
			if b.Flags != "" {
				b.Flags += " "
			}
			b.Flags += s.Key + "=" + s.Value
		}
	}
	return b
}
