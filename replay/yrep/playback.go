package yrep

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/murksim/murksim/internal/wire"
)

// A Playback goes to the state after any frame of a file, in any order. The way there makes no difference.
// It holds that state and some others, never the file, which must not change. It belongs to one goroutine.
type Playback struct {
	Header  Header
	Dialect Dialect // in which the file is read, [Narrow] or [Wide]

	file    io.ReadSeeker
	start   int64 // of the file
	options Options
	frames  int32
	state   *State
	keys    []keyState
	held    int   // bytes of the key states
	every   int64 // frames from one key state to the next
	in      *Reader
	frame   Frame
}

// A keyState is kept so that not all frames need to be read again.
type keyState struct {
	*State
	offset int64 // of the frame after it
	bytes  int   // about what it occupies
}

// The key states are at most so many and together at most so large. When another one has no room, every
// second one goes.
const (
	maxKeys     = 64
	maxKeyBytes = 64 << 20
)

// NewPlayback reads a file to its end, calls report for everything that does not fit in it, and stands before
// its first frame. If the file is not whole, it returns an error beside the playback of all whole
// frames; the playback is nil if not even the header is whole. Report may be nil.
func NewPlayback(file io.ReadSeeker, o Options, report func(Finding)) (*Playback, error) {
	start, err := file.Seek(0, io.SeekCurrent)
	if err != nil {
		return nil, err
	}
	in, err := NewReader(file, o)
	if err != nil {
		return nil, err
	}
	o.Dialect = in.Dialect
	p := &Playback{
		Header: in.Header, Dialect: in.Dialect, file: file, start: start, options: o,
		state: &State{}, every: 16, in: in,
	}
	p.keys = []keyState{{&State{}, in.End(), 0}}
	for err == nil {
		if err = in.Next(&p.frame); err == nil {
			p.state.Apply(&p.frame, report)
			p.keep()
		}
	}
	p.frames = p.state.Frame
	if err == io.EOF {
		err = nil
	}
	return p, errors.Join(err, p.Seek(0))
}

// keep makes a key state of the present state, if one is due and has room.
func (p *Playback) keep() {
	due := func(s *State) bool { return int64(s.Frame)%p.every == 0 }
	if !due(p.state) {
		return
	}
	size := p.state.bytes()
	if size > maxKeyBytes {
		return
	}
	for len(p.keys) == maxKeys || p.held+size > maxKeyBytes {
		p.every *= 2
		p.keys = slices.DeleteFunc(p.keys, func(k keyState) bool { return !due(k.State) })
		p.held = 0
		for _, k := range p.keys {
			p.held += k.bytes
		}
		if !due(p.state) {
			return
		}
	}
	p.keys = append(p.keys, keyState{p.state.clone(), p.in.End(), size})
	p.held += size
}

// Frames returns how many frames there are.
func (p *Playback) Frames() int32 { return p.frames }

// State returns the present state. It stays as it is until the playback moves on.
func (p *Playback) State() *State { return p.state }

// Step goes to the state after the next frame, and returns the frame, whose memory belongs to the playback.
// After the last one it returns io.EOF.
func (p *Playback) Step() (*Frame, error) {
	if p.state.Frame == p.frames {
		return nil, io.EOF
	}
	if err := p.in.Next(&p.frame); err != nil {
		return nil, p.changed(err)
	}
	p.state.Apply(&p.frame, nil)
	return &p.frame, nil
}

// changed is the error of a file that could be read before.
func (p *Playback) changed(err error) error {
	return fmt.Errorf("yrep: the file has changed since it was opened: %w", err)
}

// Back goes to the state before the present one. Before the first frame it returns io.EOF.
func (p *Playback) Back() error {
	if p.state.Frame == 0 {
		return io.EOF
	}
	return p.Seek(p.state.Frame - 1)
}

// Seek goes to the state after a frame; 0 is the state before the first one.
func (p *Playback) Seek(frame int32) error {
	if _, err := p.Near(frame); err != nil {
		return err
	}
	for p.state.Frame < frame {
		if _, err := p.Step(); err != nil {
			return err
		}
	}
	return nil
}

// Near goes to the nearest state at or before a frame from which steps lead there, and reports whether that is another one
// than the present.
func (p *Playback) Near(frame int32) (bool, error) {
	if frame < 0 || frame > p.frames {
		return false, fmt.Errorf("yrep: there is no frame %d; the file has %d", frame, p.frames)
	}
	near := p.keys[0]
	for _, k := range p.keys {
		if k.Frame <= frame {
			near = k
		}
	}
	if p.state.Frame <= frame && p.state.Frame >= near.Frame {
		return false, nil
	}
	if _, err := p.file.Seek(p.start+near.offset, io.SeekStart); err != nil {
		return false, err
	}
	p.state = near.clone()
	p.in = &Reader{
		Header: p.Header, Dialect: p.Dialect, options: p.options, in: wire.NewDecoder(p.file, -1).At(near.offset), frame: int64(near.Frame),
		end: near.offset,
	}
	return true, nil
}

// Tick does what one tick of a player at a speed does: some steps, or none, forward or backward, toward a
// frame, where it stops. It calls entered, unless nil, with every frame that it enters forward.
func (p *Playback) Tick(s *Speed, to int32, entered func(*Frame) error) error {
	to = min(max(to, 0), p.frames)
	steps := s.steps()
	if back := p.state.Frame - to; back > 0 {
		return p.Seek(p.state.Frame - int32(min(uint64(back), steps)))
	}
	for ; steps > 0 && p.state.Frame < to; steps-- {
		f, err := p.Step()
		if err == nil && entered != nil {
			err = entered(f)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// A Speed is how many frames a player tick has, a positive rational number.
type Speed struct {
	num, den uint32
	sum      uint64 // of units of 1/den not yet gone
}

// ParseSpeed reads a whole number such as 5, or a fraction such as 1/3.
func ParseSpeed(s string) (*Speed, error) {
	num, den, fraction := strings.Cut(s, "/")
	if !fraction {
		den = "1"
	}
	n, err := strconv.ParseUint(num, 10, 32)
	d, err2 := strconv.ParseUint(den, 10, 32)
	if err != nil || err2 != nil || n == 0 || d == 0 {
		return nil, fmt.Errorf("a speed must be a whole number or a fraction, such as 5 or 1/3, not %q", s)
	}
	return &Speed{num: uint32(n), den: uint32(d)}, nil
}

// steps adds a tick and returns how many steps are due.
func (s *Speed) steps() uint64 {
	s.sum += uint64(s.num)
	n := s.sum / uint64(s.den)
	s.sum %= uint64(s.den)
	return n
}
