package view

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync/atomic"
	"time"

	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/replay"
	"github.com/murksim/murksim/replay/index"
	"github.com/murksim/murksim/scenarios"
)

// A Config says which recording to open.
type Config struct {
	Name      string // for people
	Recording io.ReaderAt
	Size      int64                                                            // bytes
	Written   bool                                                             // Recording is still being written: About says so while ticks are to come
	Live      *Live                                                            // a run that is still being recorded; nil: read Recording
	Index     *index.Index                                                     // see [index.Index.Trust]; nil: none; verifying builds one in memory
	Build     func(*replay.Header) (*engine.World, *scenarios.Scenario, error) // like a [replay.Builder]
}

// A Recording is a recording whose world can be taken to any tick.
type Recording struct {
	Config
	scenario    *scenarios.Scenario
	head        replay.Header
	first, last uint64 // ticks; first precedes the first frame; see end
	whole       int64  // bytes up to the end of the last frame
	problem     error  // why there is no frame after the last; nil: the recording ends there
	replayed    uint64 // ticks replayed to go back, see [Recording.Replay]
	again       string // see [Start]
	set         map[string]float64
	drive       func(context.Context) // drives a run of our own; nil: something else drives it, or it is no run

	show    cursor // the tick on show
	history cursor // for histories of a cell or an entity
	asked   cursor // for searches
	index   atomic.Pointer[keyframes]
	check   check

	searches []*search // those that were asked for last
	question *question // the last one; nil: none

	diverges atomic.Bool // a replay from the recording's start gives another hash than recorded
	hidden   atomic.Bool // only a replay from a keyframe does, or fails: the world keeps memory outside its state

	fails atomic.Pointer[failure] // of a replay from the recording's start; nil: none has failed
}

// Open reads a recording's header and finds its last intact frame. It returns errors of the header and
// of the builder.
func Open(c Config) (*Recording, error) {
	if c.Live != nil {
		c.Recording = c.Live.tape
	} else {
		c.Recording = hold(c.Recording, c.Size)
	}
	r := &Recording{Config: c}
	frames, err := replay.NewReader(r.bytes().from(0))
	if err != nil {
		return nil, err
	}
	r.head = *frames.Head()
	if c.Index != nil && c.Index.Belongs(&r.head) == nil {
		r.index.Store(&keyframes{Index: c.Index})
	}
	for _, c := range []*cursor{&r.show, &r.history, &r.asked} {
		c.of = r
	}
	if err := r.show.restart(); err != nil {
		return nil, err
	}
	r.first = r.show.player.World.Tick()
	if c.Live == nil {
		end, err := frames.Prefix(nil)
		r.problem, r.last, r.whole = err, r.first+uint64(end.Frame), end.Offset
		if c.Written && cut(err) && !r.complete() {
			r.problem = errWritten
		}
	}
	return r, nil
}

// errWritten is the problem of a file that was being written when it was opened. Locks do not tell who only holds one.
var errWritten = errors.New("it was still being written, or locked, when it was opened: open it again for later ticks")

// cut reports whether an error says no more than that a recording ends, maybe within a frame.
func cut(err error) bool { return err == nil || errors.Is(err, replay.ErrTruncated) }

// complete reports whether the last planned tick is there.
func (r *Recording) complete() bool {
	planned := r.scenario.PlannedTicks()
	return planned > 0 && r.last >= planned
}

// LastTick returns the last tick that is whole.
func (r *Recording) LastTick() uint64 { return r.end() }

// LastHash returns the hash recorded for the last tick that is whole; 0 if there is none.
func (r *Recording) LastHash() (uint64, error) {
	if r.end() == r.first {
		return 0, nil
	}
	end := r.whole
	if r.Live != nil { // whose recorder flushes whole frames
		end = r.Live.tape.size()
	}
	var b [8]byte // a frame ends with its hash
	_, err := r.bytes().ReadAt(b[:], end-int64(len(b)))
	return binary.LittleEndian.Uint64(b[:]), err
}

// Digest returns a digest of the bytes of the recording as they were opened, whatever its file holds now: the SHA-256 of the SHA-256s of
// each 65,536 of them.
func (r *Recording) Digest() ([sha256.Size]byte, error) {
	h, ok := r.Recording.(*held)
	if !ok {
		h = newHeld(r.Recording, r.bytes().size())
	}
	return h.digest()
}

// bytes returns the recording's bytes.
func (r *Recording) bytes() growing {
	if r.Live != nil {
		return growing{r.Live.tape, r.Live.tape.size}
	}
	size := r.Size
	return growing{r.Recording, func() int64 { return size }}
}

// end returns the last tick so far.
func (r *Recording) end() uint64 {
	if r.Live != nil {
		return r.Live.state().Last
	}
	return r.last
}

// frames returns the frames of the recording.
func (r *Recording) frames() (replay.Source, error) {
	reader, err := replay.NewReader(r.bytes().from(0))
	if err != nil {
		return nil, err
	}
	return &follower{reader, r.bytes()}, nil
}

// build is a [replay.Builder].
func (r *Recording) build(h *replay.Header) (*engine.World, error) {
	w, s, err := r.Build(h)
	if err == nil && r.scenario == nil {
		r.scenario = s
	}
	return w, err
}

// has returns an error if the recording does not have the tick.
func (r *Recording) has(tick uint64) error {
	if last := r.end(); tick < r.first || tick > last {
		return fmt.Errorf("there is no tick %d; there are %d to %d", tick, r.first, last)
	}
	return nil
}

// A keyframes is an index.
type keyframes struct {
	*index.Index
	own  bool  // built by our own replay, like what a cursor shows
	size int64 // of the index as read, in bytes
}

// A cursor is a world of the recording at some tick.
type cursor struct {
	of     *Recording
	player *replay.Player // nil: none yet
	keyed  bool           // it came from a keyframe
}

func (c *cursor) restart() error {
	c.player, c.keyed = nil, false
	frames, err := c.of.frames()
	if err == nil {
		c.player, err = replay.NewPlayer(frames, c.of.build)
	}
	return err
}

// position returns the position of the next tick's frame.
func (c *cursor) position() replay.Position {
	return c.player.Source.(interface{ Position() replay.Position }).Position()
}

// errNotYet says that reaching a tick needs more time; the next call continues.
var errNotYet = errors.New("view: on the way")

// to takes the world to a tick, or part of the way if the deadline passes first. The world then holds what a replay gives,
// whether or not it matches the recording. If a replay from a keyframe fails or does not give the recorded hash, to replays from
// the recording's start. If that is no better, the keyframes are not to blame and are used again.
func (c *cursor) to(tick uint64, deadline time.Time) error {
	if err := c.of.has(tick); err != nil {
		return err
	}
	for {
		if err := c.walk(tick, deadline); index.Blames(err) {
			if err = c.counts(err, tick); err != nil {
				return err
			}
			continue
		} else if err != nil {
			return err
		}
		if doubted := c.keyed || c.of.hidden.Load(); !doubted || c.of.diverges.Load() || !c.wrong(tick) {
			return nil
		}
		c.of.hidden.Store(c.keyed)
		if !c.keyed {
			c.of.diverges.Store(true)
			return nil
		}
		if err := c.restart(); err != nil {
			return err
		}
	}
}

// A failure is what keeps a replay from a tick, and from all after it.
type failure struct {
	tick uint64
	err  error
}

// counts returns what a failure on the way to a tick counts as: nothing if the cursor came from a keyframe, until a replay from the
// recording's start fails, too. The next replay begins there.
func (c *cursor) counts(err error, tick uint64) error {
	if known := c.of.fails.Load(); known != nil && tick >= known.tick {
		return known.err
	}
	if c.of.hidden.Store(c.keyed); c.keyed {
		return nil
	}
	c.of.fails.Store(&failure{tick, err})
	return err
}

// wrong reports whether the tick just replayed has another hash than recorded.
func (c *cursor) wrong(tick uint64) bool {
	f := c.player.Frame()
	return tick > c.of.first && f.Tick == tick && c.player.World.Hash() != f.Hash
}

// mismatch is the error of a tick that is wrong.
func (c *cursor) mismatch(tick uint64) error {
	f := c.player.Frame()
	return &replay.MismatchError{Offset: f.Position.Offset + f.Position.Size - 8, Tick: tick, What: "state hash", Recorded: f.Hash, Replayed: c.player.World.Hash()}
}

// walk takes the world to a tick, or part of the way if the deadline passes first.
func (c *cursor) walk(tick uint64, deadline time.Time) error {
	if err := c.jump(tick); err != nil {
		return err
	}
	for c.player.World.Tick() < tick {
		if err := c.player.Replay(); err != nil {
			c.player = nil
			return err
		}
		if c.player.World.Tick() < tick && time.Now().After(deadline) {
			return errNotYet
		}
	}
	return nil
}

// jump goes to the nearest place from which replay can reach a tick: the cursor's position, a
// keyframe, or the recording's start.
func (c *cursor) jump(tick uint64) error {
	here := c.player != nil && c.player.World.Tick() <= tick
	if x := c.of.index.Load(); x != nil && !c.of.hidden.Load() {
		ticks := x.SealedTicks()
		n, _ := slices.BinarySearch(ticks, tick) // a keyframe of the tick itself has no inputs to show
		if n > 0 && (!here || ticks[n-1] > c.player.World.Tick()) {
			if c.player == nil {
				if err := c.restart(); err != nil {
					return err
				}
			}
			if x.Enter(c.player, c.of.Recording, c.of.bytes().size(), ticks[n-1]) {
				c.keyed = true
				c.player.Source, c.player.Sum = &follower{c.player.Source.(*replay.Reader), c.of.bytes()}, nil
				return nil
			}
			c.of.index.CompareAndSwap(x, nil)
			here = false
		}
	}
	if here {
		return nil
	}
	return c.restart()
}
