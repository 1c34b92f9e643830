package index

import (
	"cmp"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/replay"
)

// Verify replays a whole recording in several worlds at a time, each from a keyframe to the
// next. It is as strong as [replay.Player.Verify] in one go: every tick is replayed and compared with its recorded hash, and every replay but the first
// begins in a state that the replay before it has reached. Each keeps the SHA-256 of what it
// began with, as it was used, and of what it reached, world.rest and the place of the next frame
// included. If all are equal, one replay from where the recording begins goes through all of
// them. So nothing that an index says can be part of the result.
//
// Where anything is not as it should be, one world replays the whole recording; what it finds
// is the result, as a [*HiddenError] or [*UnsteadyError] if the replays of the same bytes came to different things. Only one goroutine at a time calls Progress, unless it is nil, with the number
// of ticks that were replayed; its error ends the verification.
func Verify(recording io.ReaderAt, size int64, x *Index, build replay.Builder, parallel int, progress func(ticks uint64) error) (Verified, error) {
	v := &verification{recording: recording, size: size, index: x, progress: progress}
	return v.run(build, parallel)
}

// run replays the recording in so many worlds at a time, and then, where anything is not as it should be, in one.
func (v *verification) run(build replay.Builder, parallel int) (Verified, error) {
	first, err := open(v.recording, v.size, build)
	if err != nil {
		return Verified{}, err
	}
	holds, err := v.condition()
	if err != nil {
		return Verified{}, err
	}
	v.begin = first.World.Tick()
	v.plan(first, parallel)
	var workers sync.WaitGroup
	for i := range min(parallel, len(v.parts)) {
		p, holds := first, holds
		if i > 0 {
			if p, err = open(v.recording, v.size, build); err != nil {
				break // fewer worlds do as well
			}
			if holds, err = v.condition(); err != nil {
				break
			}
		}
		workers.Go(func() { v.work(p, holds) })
	}
	workers.Wait()
	if v.stopped != nil {
		return Verified{Ticks: v.matched(), World: v.last}, v.stopped
	}
	if v.whole() {
		if of, same := v.again(); same {
			v.found = spansUpTo(math.MaxUint64, v.parts...)
			return of, nil
		}
	}
	return v.alone(build)
}

// A Verified says what [Verify] came to. After an error it has neither a digest nor states.
type Verified struct {
	Ticks     uint64        // that match
	World     *engine.World // after the last of them
	RunDigest [sha256.Size]byte
	Reached   []Reached // the states between the replays: see [AppendSeals]
}

// A HiddenError reports a recording whose ticks all match, but not if the world is started from
// the state of a tick: its program remembers something outside the state.
type HiddenError struct {
	From uint64 // the tick of the state
	Once bool   // from there all ticks matched, too, when they were computed again: the program or the machine does not compute the same each time
	Err  error  // what is found from there
}

// Error implements error.
func (e *HiddenError) Error() string {
	if e.Once {
		return fmt.Sprintf("index: every tick matches, but one did not the first time that it was computed: %v", e.Err)
	}
	return fmt.Sprintf("index: every tick matches, but not if the world is started from the state of tick %d: %v", e.From, e.Err)
}

// Unwrap returns what is found from the state.
func (e *HiddenError) Unwrap() error { return e.Err }

// A verification is a recording in parts.
type verification struct {
	recording io.ReaderAt
	size      int64
	begin     uint64 // tick after which the recording begins
	parts     []part
	next      atomic.Int64  // part to be replayed
	last      *engine.World // of the last part

	conditions func() (Condition, error) // nil: none is looked for
	found      []Span
	single     bool // one world looked at all states

	reading sync.Mutex
	index   *Index

	replayed atomic.Uint64
	over     atomic.Bool // there is no use in going on
	showing  sync.Mutex
	progress func(uint64) error
	stopped  error // of progress
}

// A part of a recording begins after a keyframe, or where the recording does, and ends with the
// next one.
type part struct {
	begin, end uint64            // ticks; that of the last part is none
	from, to   mark              // what it began with, and what it reached
	frames     [sha256.Size]byte // the SHA-256 of those that it read
	read       int               // how many they are
	ticks      uint64            // that match
	held       []Span            // where the condition holds
	ok         bool
	err        error // of its replay
}

// A mark is all that a replay goes on with after a tick.
type mark struct {
	tick  uint64
	next  int64             // offset of the frame after it
	rest  uint64            // the value of world.rest
	state [sha256.Size]byte // its SHA-256
}

// whole reports whether all parts matched, and follow from each other.
func (v *verification) whole() bool {
	for i := range v.parts {
		p := &v.parts[i]
		if !p.ok || i > 0 && (p.ticks == 0 || p.from != v.parts[i-1].to) {
			return false
		}
	}
	return true
}

// matched returns how many ticks match up to the first part that is not ok.
func (v *verification) matched() (ticks uint64) {
	for i := range v.parts {
		if ticks += v.parts[i].ticks; !v.parts[i].ok {
			break
		}
	}
	return ticks
}

// suspect returns the first part that began where the one before it ended, or the recording does, and went another way; nil: none did.
func (v *verification) suspect() *part {
	for i := range v.parts {
		if p := &v.parts[i]; p.err != nil && (i == 0 || p.from == v.parts[i-1].to) {
			return p
		}
	}
	return nil
}

// hidden returns the error of a world that diverges only when it is started from a state: the replay of the whole recording did not
// diverge, came through that state and read the same frames. A recording that changes while it is read must not accuse a program. So the
// part is replayed once more; a divergence that happens only once does not count.
func (v *verification) hidden(build replay.Builder, whole *witness, sum *replay.Sum) error {
	p, first := whole.part, whole.part.begin == v.begin
	if !first && whole.from != p.from {
		return nil
	}
	again := part{begin: p.begin, end: p.end}
	player, err := open(v.recording, v.size, build)
	once := err == nil && v.enter(player, &again) && again.from == p.from && v.replay(player, &again, nil) || first
	if v.stopped == nil && !v.unchanged(sum) {
		return nil
	}
	if m, ok := errors.AsType[*replay.MismatchError](p.err); ok && once {
		m.From = 0 // what it says of a start there is not so
	}
	if f, ok := errors.AsType[*replay.FailedError](p.err); ok && once {
		p.err = f.TickError
	}
	return cmp.Or(v.stopped, error(&HiddenError{p.begin, once, p.err}))
}

// A witness looks on while the whole recording is replayed: in which state one part of it begins.
type witness struct {
	part *part
	from mark
}

// look is called before each tick, and before the end.
func (s *witness) look(p *replay.Player) error {
	if p.World.Tick() != s.part.begin {
		return nil
	}
	f := p.Frame()
	state, rest, err := p.World.SaveTick(p.Source.Head().World())
	s.from = mark{s.part.begin, f.Position.Offset + f.Position.Size, rest, sha256.Sum256(state)}
	return err
}

// plan cuts the recording in parts of about as many ticks each, a few for each world: at the
// keyframes that are nearest to that.
func (v *verification) plan(p *replay.Player, parallel int) {
	const each = 4 // parts for a world, so that none has to wait long at the end
	v.parts = []part{{begin: v.begin}}
	if v.index != nil && v.index.describes(p) {
		keys, ticks := v.index.Keyframes(), float64(v.index.Last-v.begin)
		for i := 1; i < each*parallel && len(keys) > 0; i++ {
			key := nearest(keys, v.begin+uint64(ticks*float64(i)/float64(each*parallel)))
			if last := &v.parts[len(v.parts)-1]; key > last.begin && key < v.index.Last { // a part has a tick
				last.end = key
				v.parts = append(v.parts, part{begin: key})
			}
		}
	}
	v.parts[len(v.parts)-1].end = math.MaxUint64
}

// nearest returns the tick of a list in ascending order, which is not empty, that is nearest to a
// tick.
func nearest(list []uint64, tick uint64) uint64 {
	i, _ := slices.BinarySearch(list, tick)
	if i == len(list) || i > 0 && tick-list[i-1] < list[i]-tick {
		i--
	}
	return list[i]
}

// work replays parts in one world until none is left, or one is not as it should be.
func (v *verification) work(p *replay.Player, holds Condition) {
	for {
		i := int(v.next.Add(1)) - 1
		if i >= len(v.parts) || v.over.Load() {
			return
		}
		part := &v.parts[i]
		if part.ok = v.enter(p, part) && v.replay(p, part, holds); !part.ok {
			v.over.Store(true)
		}
	}
}

// passed counts a tick. No world waits while another one shows progress.
func (v *verification) passed() error {
	v.replayed.Add(1)
	if v.progress == nil || !v.showing.TryLock() {
		return nil
	}
	defer v.showing.Unlock()
	if v.stopped == nil {
		v.stopped = v.progress(v.replayed.Load())
	}
	return v.stopped
}

// enter puts a player at the beginning of a part.
func (v *verification) enter(p *replay.Player, part *part) bool {
	if part.begin == v.begin { // the first part is the first that a world replays
		p.Sum = replay.NewSum(p.Source.Head())
		return true
	}
	v.reading.Lock()
	k, err := v.index.keyframe(part.begin)
	v.reading.Unlock()
	if err != nil || !enter(p, v.recording, v.size, k) {
		return false
	}
	p.Sum = replay.SumAfter(sha256.New())
	part.from = mark{k.Tick, k.Next.Offset, k.Rest, sha256.Sum256(k.State)}
	return true
}

// replay replays a part, and notes what it reaches.
func (v *verification) replay(p *replay.Player, part *part, holds Condition) bool {
	p.Source = &upTo{p.Source, part.end}
	p.Before = func() error { return cmp.Or(part.look(p.World, holds, part.begin == v.begin), v.passed()) }
	part.ticks, part.err = p.Verify()
	part.frames, part.read = p.Sum.SHA256(), p.Sum.Frames()
	if part.err != nil {
		return false
	}
	if part.to.tick = p.World.Tick(); part.end == math.MaxUint64 { // and the recording ends there
		part.to.next, v.last = v.size, p.World
		return true
	}
	at := p.Frame().Position
	part.to.next = at.Offset + at.Size
	state, rest, err := p.World.SaveTick(p.Source.Head().World())
	part.to.rest, part.to.state = rest, sha256.Sum256(state)
	return err == nil && part.to.tick == part.end
}

// alone replays the whole recording.
func (v *verification) alone(build replay.Builder) (of Verified, err error) {
	p, err := open(v.recording, v.size, build)
	if err != nil {
		return of, err
	}
	holds, err := v.condition()
	if err != nil {
		return of, err
	}
	v.replayed.Store(0)
	of.World = p.World
	p.Sum = replay.NewSum(p.Source.Head())
	v.single = true
	all, whole := part{begin: v.begin}, (*witness)(nil)
	if suspect := v.suspect(); suspect != nil {
		whole = &witness{part: suspect}
	}
	p.Before = func() error {
		if whole != nil {
			if err := whole.look(p); err != nil {
				return err
			}
		}
		return cmp.Or(all.look(p.World, holds, true), v.passed())
	}
	of.Ticks, err = p.Verify()
	v.found = spansUpTo(v.begin+of.Ticks, all)
	if err == nil {
		of.RunDigest, _ = p.RunDigest()
		if whole != nil {
			v.replayed.Store(0)
			err = v.hidden(build, whole, p.Sum)
		}
	} else if other := v.unsteady(err); other != nil && v.unchanged(p.Sum) {
		err = other
	}
	return of, err
}

// unchanged reports whether the recording holds what the parts read of it, and what the replay of the whole read: then both read the same bytes.
func (v *verification) unchanged(whole *replay.Sum) bool {
	frames, err := replay.NewReader(io.NewSectionReader(v.recording, 0, v.size))
	if err != nil {
		return false
	}
	read := []part{{begin: v.begin, read: whole.Frames(), frames: whole.SHA256()}}
	for _, p := range v.parts {
		if p.read > 0 {
			read = append(read, p)
		}
	}
	sums := make([]*replay.Sum, len(read))
	for i := range read {
		if sums[i] = replay.SumAfter(sha256.New()); read[i].begin == v.begin {
			sums[i] = replay.NewSum(frames.Head())
		}
	}
	var f replay.Frame
	for frames.Next(&f) == nil {
		for i, s := range sums {
			if f.Tick > read[i].begin && s.Frames() < read[i].read && s.Add(&f) != nil {
				return false
			}
		}
	}
	for i, s := range sums {
		if s.Frames() != read[i].read || s.SHA256() != read[i].frames {
			return false
		}
	}
	return true
}

// unsteady returns the error of a tick of which a part found another thing than the replay of the whole recording, which ended with an error;
// nil: there is none. A part counts if it goes on from where the recording begins, by way of parts that matched.
func (v *verification) unsteady(whole error) error {
	o, disputes := outcomeOf(whole)
	if !disputes {
		return nil
	}
	for i := range v.parts {
		p := &v.parts[i]
		if i > 0 && p.from != v.parts[i-1].to {
			return nil
		}
		switch last := p.begin + p.ticks; {
		case o.tick <= last:
			return Unsteady(nil, whole)
		case !p.ok:
			return Unsteady(p.err, whole)
		}
	}
	return nil
}

// A Reached is a state of a recording that [Verify] has reached, and compared.
type Reached struct{ sealed }

// again reads a recording whose parts matched once more, for what no part can know alone: the digest of all ticks, and
// the SHA-256 of the recording up to each state at which a part began, with which the state can be sealed. It reports
// whether each part still is what was replayed.
func (v *verification) again() (of Verified, same bool) {
	whole, part, run := sha256.New(), sha256.New(), engine.RunDigest{}
	var head replay.Header
	var frame replay.Frame
	at := replay.Position{}
	for i := range v.parts {
		p := &v.parts[i]
		part.Reset()
		bytes := io.TeeReader(io.NewSectionReader(v.recording, at.Offset, p.to.next-at.Offset), io.MultiWriter(whole, part))
		frames := replay.ResumeReader(bytes, head, at)
		var err error
		if i == 0 {
			if frames, err = replay.NewReader(bytes); err != nil {
				return of, false
			}
			head = frames.Header
		}
		for err = frames.Next(&frame); err == nil; err = frames.Next(&frame) {
			run.Add(frame.Hash)
		}
		if err != io.EOF || [sha256.Size]byte(part.Sum(nil)) != p.frames {
			return of, false
		}
		if at = (replay.Position{Frame: int(p.to.tick - v.begin), Offset: p.to.next}); i < len(v.parts)-1 {
			of.Reached = append(of.Reached, Reached{sealed{[sha256.Size]byte(whole.Sum(nil)), p.to.tick, p.to.state, p.to.rest}})
		}
	}
	of.Ticks, of.World, of.RunDigest = v.matched(), v.last, run.Sum()
	return of, run.Ticks() == of.Ticks
}

// An upTo is a source that ends with a tick.
type upTo struct {
	replay.Source
	end uint64
}

// Next implements [replay.Source].
func (s *upTo) Next(f *replay.Frame) error {
	if f.Tick == s.end && s.end > 0 {
		return io.EOF
	}
	return s.Source.Next(f)
}
