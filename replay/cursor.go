package replay

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/murksim/murksim/commands"
	"github.com/murksim/murksim/engine"
)

// A Cursor is a world that goes to any tick of a recording. Every tick on its way is replayed, and its hash compared. It remembers some states that it has
// come through, as forks of the world, so that a way back is short; not those of a world that remembers something outside its state, which a fork
// lacks. It belongs to one goroutine.
type Cursor struct {
	Stop func() error // unless nil, called now and then on the way to a tick, which its error ends

	file  io.ReaderAt
	size  func() int64 // of the file, in bytes; below 0: unknown
	close func() error
	build Builder
	p     *Player
	first uint64
	last  uint64
	after error // why there is no tick behind the last; nil: the recording ends there
	marks []mark
	step  uint64 // between marks, a power of two; 0: the world cannot be forked
	most  int    // how many marks there may be
	keys  Keyframes
	lost  bool // the world is at no tick of the recording
	fresh bool // it was built to go to the next tick, and none of its parts has computed anything
}

// A Keyframes leads to states within a recording, as an index does, which it vouches for.
type Keyframes interface {
	// SealedTicks returns the ticks of these states, in order.
	SealedTicks() []uint64
	// Enter puts a player into the state of one of them, with the next tick's frame before it, and reports whether that could be done.
	Enter(p *Player, recording io.ReaderAt, size int64, tick uint64) bool
}

// A mark is a state that the cursor has come through.
type mark struct {
	world *engine.World
	next  Position // of the frame after it
}

// A cursor remembers so many states, fewer where they take more bytes together than so many, and at least two.
const (
	mostMarks = 64
	markBytes = 256 << 20
)

// OpenFile opens a recording in a file, at the tick at which it begins. The recording may end with a frame that is cut short. For a recording that
// is not in a file see [Open].
func OpenFile(path string, build Builder) (*Cursor, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	c, err := open(&Cursor{file: f, size: func() int64 { return sizeOf(f) }, close: f.Close, build: build, step: 1})
	if err != nil {
		f.Close()
	}
	return c, err
}

// OpenAt opens a recording of so many bytes as [OpenFile] does, such as one in memory.
func OpenAt(recording io.ReaderAt, size int64, build Builder) (*Cursor, error) {
	return open(&Cursor{file: io.NewSectionReader(recording, 0, size), size: func() int64 { return size }, close: func() error { return nil }, build: build, step: 1})
}

func open(c *Cursor) (*Cursor, error) {
	if err := c.restart(); err != nil {
		return nil, err
	}
	c.first = c.p.World.Tick()
	if c.p.World.Config().Rules != engine.Murksim {
		c.step = 0
	}
	frames, err := NewReader(c.section(0))
	if err == nil {
		var end Position
		end, c.after = frames.Prefix(nil)
		c.last = c.first + uint64(end.Frame)
		state := c.p.World.Snapshot()
		c.most = max(2, min(mostMarks, markBytes/max(state.Bytes(), 1)))
		state.Release()
		return c, nil
	}
	return nil, err
}

// Use makes the cursor begin at states of an index where that is shorter. What comes of one that is not as recorded does not count.
func (c *Cursor) Use(x Keyframes) { c.keys = x }

// section reads the file from a byte on.
func (c *Cursor) section(from int64) io.Reader {
	const all = 1 << 62
	return io.NewSectionReader(c.file, from, all-from)
}

// restart goes to where the recording begins.
func (c *Cursor) restart() error {
	frames, err := NewReader(c.section(0))
	var p *Player
	if err == nil {
		p, err = NewPlayer(frames, c.build)
	}
	if c.lost = err != nil; err == nil {
		c.p, c.fresh = p, true
	}
	return err
}

// World is the world at the cursor's tick, valid until the next call of Seek. It must not be changed; a fork of it may.
func (c *Cursor) World() *engine.World {
	c.fresh = false // forks have the same parts, which may remember what they compute
	return c.p.World
}

// Head returns the header of the recording.
func (c *Cursor) Head() *Header { return c.p.Source.Head() }

// Ticks returns the tick at which the recording begins, and its last whole one.
func (c *Cursor) Ticks() (first, last uint64) { return c.first, c.last }

// Damage is the error of what stands behind the last whole tick, such as that it is cut short; nil: the recording ends there.
func (c *Cursor) Damage() error { return c.after }

// Frame returns the frame of the cursor's tick, if it was reached by replaying it, as the next tick always is; else its Tick is 0. It is valid until the next call of Seek.
func (c *Cursor) Frame() *Frame { return c.p.Frame() }

// Receipts returns those of the cursor's tick, if it was reached by replaying it. They are valid until the next call of Seek.
func (c *Cursor) Receipts() []commands.Receipt { return c.p.Receipts() }

// Seek goes to a tick. Its error is that of [Player.Step], of the first tick on the way that is not as recorded, or says which ticks there are. After an
// error World is at no tick of the recording until a Seek succeeds, and the same Seek fails again.
func (c *Cursor) Seek(tick uint64) error {
	if tick < c.first || tick > c.last {
		return fmt.Errorf("replay: there is no tick %d; the recording has ticks %d to %d", tick, c.first, c.last)
	}
	return c.Walk(tick, tick, nil)
}

// Walk goes to a tick, as Seek does, and calls a function in each state from that of another tick on, before it. Where it has to begin once more, it calls it in these states again, from the
// first one on; an error of the function ends it.
func (c *Cursor) Walk(from, tick uint64, look func(*engine.World) error) error {
	if from < c.first || from > tick || tick > c.last {
		return fmt.Errorf("replay: there are no ticks %d to %d; the recording has ticks %d to %d", from, tick, c.first, c.last)
	}
	if err := c.nearest(from); err != nil {
		return err
	}
	fresh := c.fresh
	c.fresh = false
	err := c.walk(from, tick, look)
	if _, fails := errors.AsType[*engine.TickError](err); !fresh && (fails || errors.Is(err, ErrMismatch)) { // only what a replay from the beginning comes to counts
		if err = errors.Join(c.forget(), c.restart()); err == nil {
			c.fresh = false
			err = c.walk(from, tick, look)
		}
	}
	if err != nil {
		c.lost = true
	}
	return err
}

// walk computes the ticks up to a tick, and compares them.
func (c *Cursor) walk(from, tick uint64, look func(*engine.World) error) error {
	p, reader := c.p, c.p.Source.(*Reader)
	before := func() (err error) {
		at := p.World.Tick()
		if c.Stop != nil && at%64 == 0 {
			err = c.Stop()
		}
		if err == nil && look != nil && at >= from {
			err = look(p.World)
		}
		if err == nil {
			err = c.remember(reader)
		}
		return err
	}
	if at := p.World.Tick(); at+1 == tick || at == tick {
		err := before()
		if err == nil && at < tick {
			if err = p.Step(); err == nil {
				err = before()
			}
		}
		return err
	}
	p.Source, p.Before = &upTo{reader, p.World, tick}, before
	_, err := p.Verify() // which is faster than steps
	p.Source, p.Before = reader, nil
	if err != nil { // some of what it remembered last was not compared
		if wrong := c.drop(); wrong != nil {
			err = errors.Join(err, wrong)
		}
	}
	return err
}

// An upTo is a source that ends with a tick.
type upTo struct {
	Source
	world *engine.World
	last  uint64
}

// Next implements [Source].
func (s *upTo) Next(f *Frame) error {
	if s.world.Tick() >= s.last {
		return io.EOF
	}
	return s.Source.Next(f)
}

// nearest goes to a tick that is known and lies before another one, or is it.
func (c *Cursor) nearest(tick uint64) error {
	at, known, best := c.p.World.Tick(), uint64(0), -1
	here := !c.lost && at <= tick
	if here && at+1 == tick { // the next tick has its frame, too
		return nil
	}
	for i := range c.marks {
		if t := c.marks[i].world.Tick(); t <= tick && (best < 0 || t > known) {
			best, known = i, t
		}
	}
	if here {
		known = max(known, at)
	}
	switch {
	case c.enter(known, tick):
		return nil
	case here && !c.lost && known == at:
		return nil
	case best < 0:
		return c.restart()
	}
	m := c.marks[best]
	w, err := m.world.Fork()
	if err == nil {
		err = c.p.World.Release()
	}
	if err != nil {
		return err
	}
	c.lost, c.fresh = false, false
	c.p = &Player{World: w, Source: ResumeReader(c.section(m.next.Offset), *c.p.Source.Head(), m.next), begin: c.first, From: w.Tick()}
	return nil
}

// enter goes to the last keyframe behind a tick that is known and up to another one, and reports whether there is one. One that cannot be used is the last that is tried.
func (c *Cursor) enter(known, tick uint64) bool {
	if c.keys == nil {
		return false
	}
	ticks := c.keys.SealedTicks()
	n, exact := slices.BinarySearch(ticks, tick)
	if exact {
		n++
	}
	if n == 0 || ticks[n-1] <= max(known, c.first) {
		return false
	}
	size := c.size()
	p := &Player{World: c.p.World, Source: c.p.Source, begin: c.first}
	if c.lost = size < 0 || !c.keys.Enter(p, c.file, size, ticks[n-1]); c.lost {
		c.keys = nil
		return false
	}
	c.p, c.fresh = p, false
	return true
}

// forget drops what it remembers, and remembers nothing more: a fork came to something else than the recording.
func (c *Cursor) forget() error {
	c.step, c.keys = 0, nil
	return c.drop()
}

// drop drops what it remembers.
func (c *Cursor) drop() (err error) {
	for _, m := range c.marks {
		err = errors.Join(err, m.world.Release())
	}
	c.marks = nil
	return err
}

// remember keeps the state that was reached if its tick is a multiple of the step. Where there are too many, the step doubles.
func (c *Cursor) remember(reader *Reader) error {
	w := c.p.World
	if c.step == 0 || w.Tick()%c.step != 0 {
		return nil
	}
	for i := range c.marks {
		if c.marks[i].world.Tick() == w.Tick() {
			return nil
		}
	}
	if len(c.marks) >= c.most {
		c.step *= 2
		kept := c.marks[:0]
		for _, m := range c.marks {
			if m.world.Tick()%c.step == 0 {
				kept = append(kept, m)
			} else if err := m.world.Release(); err != nil {
				return err
			}
		}
		clear(c.marks[len(kept):])
		c.marks = kept
		return c.remember(reader)
	}
	f, err := w.Fork()
	if err != nil {
		return err
	}
	c.marks = append(c.marks, mark{f, reader.Position()})
	return nil
}

// Close closes the file.
func (c *Cursor) Close() error { return c.close() }
