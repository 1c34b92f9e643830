package index

import (
	"bytes"
	"errors"
	"io"
	"math"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/replay"
)

// Verify replays a whole recording in several worlds at a time, each from a keyframe to the
// next, and returns how many ticks match. It is as strong as [replay.Player.Verify] in one go:
// every tick is replayed and compared with its recorded hash, and every replay but the first
// begins in a state that the replay before it has reached, compared in every byte. So if all
// are equal, one replay from where the recording begins goes through all of them.
//
// Where a keyframe is not what the replay before it reaches, or anything else is wrong, one
// world goes on alone, from the last keyframe up to which all is equal, to the end of the
// recording; what it finds is the result. Only one goroutine at a time calls Progress, unless
// it is nil, with the number of ticks that were replayed; its error ends the verification.
func Verify(recording io.ReaderAt, size int64, x *Index, build replay.Builder, parallel int, progress func(ticks uint64) error) (ticks uint64, w *engine.World, err error) {
	v := &verification{recording: recording, size: size, index: x, progress: progress}
	first, err := open(recording, size, build)
	if err != nil {
		return 0, nil, err
	}
	v.begin = first.World.Tick()
	v.plan(first, parallel)
	var workers sync.WaitGroup
	for i := range min(parallel, len(v.parts)) {
		p := first
		if i > 0 {
			if p, err = open(recording, size, build); err != nil {
				break // fewer worlds do as well
			}
		}
		workers.Go(func() { v.work(p) })
	}
	workers.Wait()
	for i := range v.parts {
		part := &v.parts[i]
		if !part.ok && v.stopped == nil {
			return v.alone(build, part)
		}
		if ticks += part.ticks; !part.ok {
			break
		}
	}
	return ticks, v.last, v.stopped
}

// A verification is a recording in parts.
type verification struct {
	recording io.ReaderAt
	size      int64
	begin     uint64 // tick after which the recording begins
	parts     []part
	next      atomic.Int64  // part to be replayed
	last      *engine.World // of the last part

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
	begin, end uint64 // ticks; that of the last part is none
	ticks      uint64 // that match
	ok         bool
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
			if last := &v.parts[len(v.parts)-1]; key > last.begin {
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
func (v *verification) work(p *replay.Player) {
	for {
		i := int(v.next.Add(1)) - 1
		if i >= len(v.parts) || v.over.Load() {
			return
		}
		part := &v.parts[i]
		if part.ok = v.enter(p, part.begin) && v.replay(p, part); !part.ok {
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
	if v.stopped != nil {
		v.over.Store(true)
	}
	return v.stopped
}

// keyframe returns that of a tick, or nil.
func (v *verification) keyframe(tick uint64) *Keyframe {
	v.reading.Lock()
	defer v.reading.Unlock()
	k, err := v.index.Keyframe(tick)
	if err != nil || k == nil || k.Tick != tick {
		return nil
	}
	return k
}

// enter puts a player at the beginning of a part.
func (v *verification) enter(p *replay.Player, begin uint64) bool {
	if begin == v.begin {
		return true // the first part is the first that a world replays
	}
	k := v.keyframe(begin)
	return k != nil && enter(p, v.recording, v.size, k)
}

// replay replays a part, and compares its end with the keyframe there.
func (v *verification) replay(p *replay.Player, part *part) bool {
	p.Source = &upTo{p.Source, part.end}
	p.Before = v.passed
	ticks, err := p.Verify()
	if part.ticks = ticks; err != nil {
		return false
	}
	if part.end == math.MaxUint64 {
		v.last = p.World
		return true
	}
	k := v.keyframe(part.end)
	state, err := p.World.Save(p.Source.Head().World())
	at := p.Frame().Position
	return err == nil && k != nil && p.World.Tick() == part.end && at.Offset+at.Size == k.Next.Offset && bytes.Equal(state, k.State)
}

// alone replays all from the beginning of a part, which the replay before it has reached.
func (v *verification) alone(build replay.Builder, from *part) (ticks uint64, w *engine.World, err error) {
	p, err := open(v.recording, v.size, build)
	if err != nil {
		return 0, nil, err
	}
	if !v.enter(p, from.begin) {
		return 0, nil, errors.New("index: a keyframe has changed while it was used")
	}
	p.Before = v.passed
	ticks, err = p.Verify()
	return from.begin - v.begin + ticks, p.World, err
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
