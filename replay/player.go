package replay

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io"

	"github.com/murksim/murksim/commands"
	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/fields"
)

// A Builder rebuilds the world of a recording from its header, at genesis: from its seed and [Header.World]. Of a recording that begins at a state, [NewPlayer] puts the world into
// that state if the recording holds it; if not, the builder must return the world in that state. The header is untrusted: the builder must
// bound the memory that it takes.
type Builder func(*Header) (*engine.World, error)

// A Player plays a recording back into a world and checks every tick. It is strict:
// ticks must be the world's next ones, and every command must decode with no byte left
// over. [NewPlayer] makes one that begins where the recording does. For a world that has been brought to
// a later tick, write a literal whose Source is at the next tick's frame.
type Player struct {
	World  *engine.World
	Source Source

	// Feed steps the world with the inputs of a frame; nil means [engine.World.Replay].
	Feed func(inputs []commands.Command) error

	// Before, unless nil, is called by Verify before each tick and before the end; the
	// hashes of the last ticks may not have been compared by then. Its error ends Verify.
	Before func() error

	// Sum, unless nil, takes every frame that is replayed.
	Sum *Sum

	// From is the tick of the state that the world was put into; 0 where the recording begins. Errors tell it.
	From uint64

	frame    Frame
	inputs   []commands.Command
	receipts []commands.Receipt
	checking *checker          // of Verify
	begin    uint64            // tick after which the recording begins
	run      *engine.RunDigest // of the ticks whose hashes were compared; nil: the player began elsewhere
}

// A MismatchError says in what a recording and its replay differ.
type MismatchError struct {
	Offset             int64  // of the recorded value
	Line               int64  // in JSON lines, from 1, instead of the offset; 0 in bytes
	Tick               uint64 // 0: in the header
	What               string // "state hash", or a header field
	Recorded, Replayed uint64
	From               uint64 // the tick of the state at which the replay began; 0: it began where the recording does
}

// Error implements error.
func (e *MismatchError) Error() string {
	if e.Tick == 0 {
		return fmt.Sprintf("replay: header mismatch at %s: %s is %s, the descriptor makes it %s",
			spotText(e.Line, e.Offset), e.What, e.Format(e.Recorded), e.Format(e.Replayed))
	}
	return fmt.Sprintf("replay: %s at %s (tick %d): recorded %s, replayed %s%s",
		ErrMismatch, spotText(e.Line, e.Offset), e.Tick, e.Format(e.Recorded), e.Format(e.Replayed), fromText(e.From))
}

// fromText says where a replay began, and what that may be the reason for.
func fromText(from uint64) string {
	if from == 0 {
		return ""
	}
	return fmt.Sprintf(" from the state of tick %d; if a replay from the first tick matches, the world remembers something outside its state", from)
}

// Format writes a value as Error does.
func (e *MismatchError) Format(v uint64) string {
	if e.What == "state hash" || e.What == "config hash" {
		return fmt.Sprintf("%016x", v)
	}
	return fmt.Sprint(v)
}

// Unwrap returns ErrMismatch.
func (e *MismatchError) Unwrap() error { return ErrMismatch }

// A FailedError is a recorded tick that fails in a replay that began at a state.
type FailedError struct {
	*engine.TickError
	From uint64 // the tick of that state
}

// Error implements error. It says of the state what a [MismatchError] does.
func (e *FailedError) Error() string { return e.TickError.Error() + ", replayed" + fromText(e.From) }

// Unwrap returns the error of the tick.
func (e *FailedError) Unwrap() error { return e.TickError }

// NewPlayer builds the world of a recording and checks that the header fits it, and that the
// world is in the state at which the recording begins, by the SHA-256 of that state. An error
// is that of the builder, of [Header.Begin], a [*MismatchError], or [ErrBegin]. The builder must submit no commands: those are in the recording.
func NewPlayer(frames Source, build Builder) (*Player, error) {
	h := frames.Head()
	begin, err := h.Begin()
	if err != nil {
		return nil, err
	}
	w, err := build(h)
	if err != nil {
		return nil, err
	}
	if err := noneSubmitted(w); err != nil {
		return nil, err
	}
	if err := h.Check(w.Setup(h.Descriptor)); err != nil {
		return nil, err
	}
	if begin != nil && begin.State != nil && w.Tick() == 0 {
		if err := w.Load(h.World(), begin.State); err != nil {
			return nil, err
		}
	}
	if begin != nil {
		if err := begin.check(w, h.World()); err != nil {
			return nil, err
		}
	}
	return &Player{World: w, Source: frames, begin: w.Tick(), run: new(engine.RunDigest)}, nil
}

// noneSubmitted refuses a world in which its builder has submitted commands.
func noneSubmitted(w *engine.World) error {
	if n := w.Queued(); n > 0 {
		return fmt.Errorf("replay: the builder has submitted %d commands; a replay takes them from the recording, so submit them where the run begins, at tick 0", n)
	}
	return nil
}

// Check compares the header with the setup that its descriptor gives, one value at a time,
// and returns a [*MismatchError] for the first that differs. A builder should call it before
// it allocates the world.
func (h *Header) Check(s fields.Setup) error {
	at := headerSize(h)
	for _, c := range []struct {
		what               string
		before             int64 // bytes from here to the descriptor
		recorded, replayed uint64
	}{
		{"seed", 32, h.Seed, s.Seed},
		{"field count", 16, uint64(h.FieldCount), uint64(s.Fields)},
		{"cell count", 12, h.CellCount, s.Cells},
		{"config hash", 24, h.ConfigHash, s.Hash()},
	} {
		if c.recorded != c.replayed {
			e := &MismatchError{Offset: at - c.before, What: c.what, Recorded: c.recorded, Replayed: c.replayed}
			if e.Line = h.line; e.Line != 0 {
				e.Offset = 0
			}
			return e
		}
	}
	return nil
}

// headerSize returns the length of the header without its descriptor's bytes.
func headerSize(h *Header) int64 {
	b := &h.Build
	return int64(len(magic) + 1 + 4*4 + len(b.Toolchain) + len(b.Target) + len(b.Version) + len(b.Flags) + 32)
}

const hashSize = 8 // bytes, at the end of a frame

// Step replays the next frame and compares its hash, which it computes from the whole state. At the end of the recording
// it returns io.EOF. A [*MismatchError] or [*FormatError] says what is wrong; an
// [*engine.TickError] reports a recorded tick that fails in the replay, in a [*FailedError] if
// the replay began at a state.
func (p *Player) Step() error {
	if p.World.Recorder() == nil {
		p.World.Record(unread{})
		defer p.unrecord()
	}
	if err := p.Replay(); err != nil {
		return p.from(err)
	}
	got := p.World.Hash()
	if got != p.frame.Hash {
		return p.from(wrongHash(&p.frame.Position, p.frame.Tick, p.frame.Hash, got))
	}
	p.matched(got)
	return nil
}

// An unread is a recorder that keeps nothing. With it, [engine.Context.WantsChanges] is in Step what it was in the run and is in Verify.
type unread struct{}

// Record implements [engine.Recorder].
func (unread) Record(*engine.Tick) error { return nil }

// unrecord takes off the recorder of Step, unless a watcher has put on another one.
func (p *Player) unrecord() {
	if _, own := p.World.Recorder().(unread); own {
		p.World.Record(nil)
	}
}

// matched takes the hash of a tick that was compared.
func (p *Player) matched(hash uint64) {
	if p.run != nil {
		p.run.Add(hash)
	}
}

// RunDigest returns the digest of the ticks from where the recording begins to that of the world, if the player
// has compared the hash of each of them.
func (p *Player) RunDigest() (sum [sha256.Size]byte, known bool) {
	if p.run == nil || p.From > 0 || p.begin+p.run.Ticks() != p.World.Tick() {
		return sum, false
	}
	return p.run.Sum(), true
}

// from adds to the error of a tick that does not match, or fails, where the replay began.
func (p *Player) from(err error) error {
	if e, ok := errors.AsType[*MismatchError](err); ok {
		e.From = p.From
	}
	if e, ok := errors.AsType[*engine.TickError](err); ok && p.From > 0 && e.Where != "recorder" {
		return &FailedError{e, p.From}
	}
	return err
}

// wrongHash returns the error for a frame whose replay reaches another state.
func wrongHash(at *Position, tick, recorded, replayed uint64) error {
	return &MismatchError{max(at.Offset+at.Size-hashSize, 0), at.Line, tick, "state hash", recorded, replayed, 0}
}

// Replay does what Step does, without the comparison of the hash, which takes most of the
// time of a quick world.
func (p *Player) Replay() error {
	if p.World.UnderWay() { // which the world says, too, but after the frame was read
		return fmt.Errorf("replay: %w", engine.ErrUnderWay)
	}
	if err := p.Source.Next(&p.frame); err != nil {
		return misplaced(err, p.Source, p.World.Tick()+1)
	}
	f := &p.frame
	if next := p.World.Tick() + 1; f.Tick != next { // a source may put the world back
		return outOfOrder(&f.Position, f.Tick, next)
	}
	if p.Sum != nil {
		if err := p.Sum.Add(f); err != nil {
			return err
		}
	}
	inputs, err := f.Commands(p.inputs[:0])
	if err != nil {
		return err
	}
	p.inputs, p.receipts = inputs, nil
	if p.Feed != nil {
		return p.Feed(p.inputs)
	}
	if p.receipts, err = p.World.Replay(p.inputs); err != nil {
		if errors.Is(err, engine.ErrOrder) {
			at := &f.Position
			return &FormatError{Offset: at.Offset, Line: at.Line, Tick: f.Tick, Frame: at.Frame, Kind: ErrMalformed, Detail: err.Error()}
		}
		return err
	}
	return nil
}

// Frame returns the frame that Step read last. It is valid until the next Step.
func (p *Player) Frame() *Frame { return &p.frame }

// Receipts returns those of the tick that Step or Replay computed last; none with a Feed. They are valid until the next one.
func (p *Player) Receipts() []commands.Receipt { return p.receipts }

// Verify replays all frames that are left and returns how many ticks matched. It returns
// the error that Step would, but is faster: it computes hashes as a [Recorder] does, with
// the same memory, so at a mismatch the world may be up to 12 ticks beyond it. It compares
// the last hash that matched once more, with that of the whole state, in case a propagator
// did not report all its changes. No goroutine outlives it.
func (p *Player) Verify() (ticks uint64, err error) {
	if p.World.UnderWay() {
		return 0, fmt.Errorf("replay: %w", engine.ErrUnderWay)
	}
	first := p.World.Tick()
	c, own := &checker{p: p, matched: first}, p.World.Recorder()
	c.queue.begin(c, p.World)
	p.checking = c
	defer func() { p.checking = nil }()
	p.World.Record(c)
	if own != nil {
		p.World.Record(engine.Recorders(c, lastOf(own)))
	}
	defer p.World.Record(own)
	for err == nil {
		if p.Before != nil {
			err = p.Before()
		}
		if err == nil {
			err = p.Replay()
		}
	}
	if wrong := c.queue.flush(); wrong != nil {
		err = wrong
	} else if last := c.matched; last > first && last == p.World.Tick() {
		if got := p.World.Hash(); got != c.last.hash { // a propagator did not declare all that it changed
			c.matched--
			p.run = nil
			err = wrongHash(&c.last.at, last, c.last.hash, got)
		}
	}
	if err == io.EOF {
		err = nil
	}
	return c.matched - first, p.from(err)
}

// Settle is for Before: it waits until the hash of every tick that Verify has replayed is compared, and returns
// the last tick that matched. A tick that does not match ends Verify with the next one.
func (p *Player) Settle() (matched uint64) {
	_ = p.checking.queue.flush() // Verify returns it
	return p.checking.matched
}

// A checker compares the ticks of a recording with those of its replay.
type checker struct {
	p       *Player
	queue   queue
	matched uint64       // the last tick that matched, as did all before it
	last    pendingFrame // of that tick
}

// Record implements [engine.Recorder].
func (c *checker) Record(t *engine.Tick) error {
	_, err := c.queue.offer(t)
	return err
}

// Settle implements [engine.Settler].
func (c *checker) Settle(happened bool) { c.queue.settle(happened) }

// lastOf makes a Settler of any recorder, to be the last of several: no recorder after it
// can refuse a tick.
func lastOf(r engine.Recorder) engine.Settler {
	if s, ok := r.(engine.Settler); ok {
		return s
	}
	return last{r}
}

type last struct{ engine.Recorder }

func (last) Settle(bool) {}

func (c *checker) hold(h *pendingTick, _ *engine.Tick) (size int) {
	h.frame.hash, h.frame.at = c.p.frame.Hash, c.p.frame.Position
	return 0
}

func (c *checker) finish(h *pendingTick) error {
	if h.hash != h.frame.hash {
		return wrongHash(&h.frame.at, h.number, h.frame.hash, h.hash)
	}
	if h.number == c.matched+1 {
		c.matched++
		c.last = h.frame
		c.p.matched(h.hash)
	}
	return nil
}
