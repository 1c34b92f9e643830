package index

import (
	"errors"
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/replay"
)

// Seek returns a player whose world is at a tick of a recording, with the tick's recorded
// hash, and whose next frame is that of the tick after. It starts from the nearest keyframe
// before the tick that the index trusts, see [Index.Trust]; if there is none, or what comes of it
// is not what was recorded, where the recording begins. From is the tick of the keyframe, 0 without
// one. With all, every tick on the way is compared, and the player has the sum of the recording
// up to there. Progress, unless nil, is called before each tick, and its error ends the seek. A
// recording that does not have the tick gives [ErrNoTick]. If a tick has another hash than was recorded,
// Seek returns the player, replayed from where the recording begins, with the [*replay.MismatchError].
func Seek(recording io.ReaderAt, size int64, x *Index, build replay.Builder, tick uint64, all bool, progress func(tick uint64) error) (p *replay.Player, from uint64, err error) {
	if x != nil {
		p, from, err := fromKeyframe(recording, size, x, build, tick, all, progress)
		if p != nil || err != nil {
			return p, from, err
		}
	}
	if p, err = open(recording, size, build); err != nil {
		return nil, 0, err
	}
	if begin := p.World.Tick(); tick < begin {
		return p, 0, fmt.Errorf("%w: it begins after tick %d", ErrNoTick, begin)
	}
	if all {
		p.Sum = replay.NewSum(p.Source.Head())
	}
	return p, 0, forward(p, tick, all, progress)
}

// open returns a player where the recording begins.
func open(recording io.ReaderAt, size int64, build replay.Builder) (*replay.Player, error) {
	r, err := replay.NewReader(io.NewSectionReader(recording, 0, size))
	if err != nil {
		return nil, err
	}
	return replay.NewPlayer(r, build)
}

// fromKeyframe starts from the nearest keyframe that is not damaged. It returns nothing where the index does not help. An error is
// one that would stand in the way of a replay of the whole recording, too.
func fromKeyframe(recording io.ReaderAt, size int64, x *Index, build replay.Builder, tick uint64, all bool, progress func(uint64) error) (_ *replay.Player, from uint64, _ error) {
	const few = 4 // that may be damaged
	ticks := x.SealedTicks()
	before, _ := slices.BinarySearch(ticks, tick)
	if before == 0 {
		return nil, 0, nil
	}
	p, err := open(recording, size, build)
	if err != nil {
		return nil, 0, err
	}
	for i := before - 1; i >= max(0, before-few); i-- {
		if !x.Enter(p, recording, size, ticks[i]) {
			continue
		}
		if !all {
			p.Sum = nil
		}
		if err := forward(p, tick, all, progress); !Blames(err) {
			return p, ticks[i], err
		}
		break
	}
	return nil, 0, nil
}

// describes reports whether an index is that of a recording, and of its world. What it says of
// fields bounds the memory that its chunks may take.
func (x *Index) describes(p *replay.Player) bool {
	return x.Belongs(p.Source.Head()) == nil && x.fits(p.World)
}

// Enter puts a player of a recording at a keyframe that the index trusts, by its tick, where the next
// frame is that of the tick after, and reports whether that could be done. The player's sum is that of
// the recording up to there. If it could not be done, the state of the player's world may be any.
func (x *Index) Enter(p *replay.Player, recording io.ReaderAt, size int64, tick uint64) bool {
	if !x.describes(p) {
		return false
	}
	k, err := x.keyframe(tick)
	if err != nil || k.Next.Offset > size {
		return false
	}
	prefix, ok := x.vouched(recording, k)
	if !ok || !enter(p, recording, size, k) {
		return false
	}
	if p.Sum = nil; prefix != nil {
		p.Sum = replay.SumAfter(prefix)
	}
	return true
}

// keyframe returns that of a tick.
func (x *Index) keyframe(tick uint64) (*Keyframe, error) {
	k, err := x.Keyframe(tick)
	if err == nil && (k == nil || k.Tick != tick) {
		err = fmt.Errorf("%w: %d", ErrNoTick, tick)
	}
	return k, err
}

// enter puts a player at a keyframe, and reports whether that could be done.
func enter(p *replay.Player, recording io.ReaderAt, size int64, k *Keyframe) bool {
	h := p.Source.Head()
	if k.Next.Offset < 0 || k.Next.Offset > size || k.Tick > math.MaxInt || p.World.LoadTick(h.World(), k.State, k.Rest) != nil {
		return false
	}
	p.Source = replay.ResumeReader(io.NewSectionReader(recording, k.Next.Offset, size-k.Next.Offset), *h, k.Next)
	p.From = k.Tick
	return p.World.Tick() == k.Tick
}

// Blames reports whether an error of a replay that began at a keyframe may be gone in a replay of the whole
// recording, which then is what counts: a program that remembers something outside of the state goes another
// way from a keyframe.
func Blames(err error) bool {
	_, mismatch := errors.AsType[*replay.MismatchError](err)
	_, format := errors.AsType[*replay.FormatError](err)
	_, tick := errors.AsType[*engine.TickError](err)
	return mismatch || format || tick || errors.Is(err, ErrNoTick)
}

// forward replays up to a tick, and compares its hash, or all.
func forward(p *replay.Player, tick uint64, all bool, progress func(uint64) error) error {
	for p.World.Tick() < tick {
		step := p.Replay
		if all || p.World.Tick() == tick-1 {
			step = p.Step
		}
		if progress != nil {
			if err := progress(p.World.Tick() + 1); err != nil {
				return err
			}
		}
		if err := step(); err == io.EOF {
			return fmt.Errorf("%w: it ends with tick %d", ErrNoTick, p.World.Tick())
		} else if err != nil {
			return err
		}
	}
	return nil
}
