package minewars

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"math"
)

const (
	headerSize = 28 // bytes before the initialization sequence of a file
	maxFrames  = math.MaxUint16
	maxFile    = headerSize + fixedSize + MaxPlayers*(1+maxName) + 2*MaxCities + 2*math.MaxUint16
)

// Options say how to read. The zero Options are for a whole game, of which all must be as the format
// demands.
type Options struct {
	Reserved bool   // accept reserved flags that are set; they have no effect
	Salvage  bool   // accept a file whose header is all zeros or whose frames end early, and read its whole frames
	From     uint64 // the tick from which the first delta counts: of a part, the last tick of the part before it
}

// A Reader reads the frames of one game.
type Reader struct {
	start  Start
	frames *bufio.Reader
	read   Frame // what is read so far: where, and when
	count  int
	cut    bool // end at a frame that is not whole
	err    error

	stored storedBlocks
}

// storedBlocks are bytes of a file that several encoders would write in several ways.
type storedBlocks struct {
	network     bool
	mapBlock    []byte
	frames, raw []byte
}

// NewReader returns a reader of a file. It reads all of it and checks everything but the frames. An
// error is an [*Error], or of r.
func NewReader(r io.Reader, o Options) (*Reader, error) {
	b, err := io.ReadAll(io.LimitReader(r, maxFile+1))
	if err != nil {
		return nil, err
	}
	if len(b) < headerSize {
		return nil, bad(ErrHeaderTruncated, len(b), "the file ends inside its header of %d bytes", headerSize)
	}
	stored, packed := binary.BigEndian.Uint16(b[24:]), binary.BigEndian.Uint16(b[26:])
	if stored > packed {
		return nil, bad(ErrFrameLength, 24, "%d bytes of frames, but only %d when decompressed", stored, packed)
	}
	if o.Salvage && bytes.Equal(b[:headerSize], make([]byte, headerSize)) {
		rd, err := newStreamReader(bytes.NewReader(b[headerSize:]), o, headerSize)
		if err == nil {
			rd.cut = true
		}
		return rd, err
	}
	s := startReader{base: headerSize}
	if err := s.read(bytes.NewReader(b[headerSize:]), o.Reserved); err != nil {
		return nil, err
	}
	frames, err := checked(b, &s, int(stored))
	cut := o.Salvage && errors.Is(err, ErrFramesTruncated)
	if err != nil && !cut {
		return nil, err
	}
	rd := &Reader{read: Frame{Tick: o.From}, cut: cut, stored: storedBlocks{mapBlock: s.raw[s.block:], frames: frames}}
	if rd.start, err = s.start(); err != nil {
		return nil, err
	}
	raw := frames
	switch {
	case stored < packed && cut:
		raw = beginning(frames, int(packed), rd.start.dictionary())
	case stored < packed:
		if raw, err = decompress(frames, int(packed), rd.start.dictionary()); err != nil {
			return nil, bad(ErrFramesLZ4, headerSize+len(s.raw), "%v", err)
		}
	}
	rd.stored.raw, rd.frames = raw, bufio.NewReaderSize(bytes.NewReader(raw), maxFrameBytes)
	return rd, nil
}

// checked returns the frames of a file as they are stored, if all checksums and lengths hold; beside
// ErrFramesTruncated those that are there.
func checked(b []byte, s *startReader, stored int) ([]byte, error) {
	data, end := headerSize+s.cities, headerSize+len(s.raw)
	sum := func(i int, kind Kind, covered []byte) error {
		if got, want := seaHash(covered), binary.BigEndian.Uint64(b[8*i:]); got != want {
			return bad(kind, 8*i, "checksum %d is %016x, that of the bytes %016x", i+1, want, got)
		}
		return nil
	}
	if err := sum(0, ErrChecksumHeader, b[8:data]); err != nil {
		return nil, err
	}
	if err := sum(1, ErrChecksumStart, b[data:end]); err != nil {
		return nil, err
	}
	frames := b[end:]
	switch {
	case len(frames) < stored:
		return frames, bad(ErrFramesTruncated, len(b), "%d of %d bytes of frames", len(frames), stored)
	case len(frames) > stored:
		return nil, bad(ErrTrailingBytes, end+stored, "%d bytes or more after the frames", len(frames)-stored)
	}
	return frames, sum(2, ErrChecksumFrames, frames)
}

// NewStreamReader returns a reader of a network stream. It reads no further than the
// initialization sequence, and later frame by frame; both may wait for r.
func NewStreamReader(r io.Reader, o Options) (*Reader, error) { return newStreamReader(r, o, 0) }

func newStreamReader(r io.Reader, o Options, base int) (rd *Reader, err error) {
	rd = &Reader{frames: bufio.NewReaderSize(r, maxFrameBytes), read: Frame{Tick: o.From}, stored: storedBlocks{network: true}}
	s := startReader{base: base}
	if err := s.read(rd.frames, o.Reserved); err != nil {
		return nil, err
	}
	rd.stored.mapBlock = s.raw[s.block:]
	if rd.start, err = s.start(); err != nil {
		return nil, err
	}
	return rd, nil
}

// Start returns what the initialization sequence says. It must not be changed.
func (r *Reader) Start() Start { return r.start }

// Next reads the next frame, and uses the memory that f has. At the end it returns io.EOF; every
// other error is final.
func (r *Reader) Next(f *Frame) error {
	if r.err == nil {
		r.err = r.next(f)
	}
	return r.err
}

func (r *Reader) next(f *Frame) error {
	offset, tick := r.read.Offset+int64(r.read.Size), r.read.Tick
	fail := func(e *Error) error {
		e.Offset, e.Frame, e.Tick = e.Offset+offset, r.count+1, tick
		return e
	}
	head, err := r.frames.Peek(minFrame)
	switch {
	case len(head) == minFrame:
	case err != io.EOF:
		return err
	case len(head) == 0 || r.cut:
		return io.EOF
	default:
		return fail(bad(ErrFrameTruncated, len(head), "%d bytes are left, fewer than any frame has", len(head)))
	}
	tick += uint64(binary.BigEndian.Uint16(head))
	size, before, e := frameSize(head, r.start.Players)
	if e != nil {
		return fail(e)
	}
	whole, err := r.frames.Peek(before)
	if len(whole) == before { // so all lengths are there
		size, _, _ = frameSize(whole, r.start.Players)
		whole, err = r.frames.Peek(size)
	}
	switch {
	case len(whole) == size:
	case err != io.EOF:
		return err
	case r.cut:
		return io.EOF
	default:
		return fail(bad(ErrFrameTruncated, len(whole), "%d of at least %d bytes of the frame", len(whole), size))
	}
	if e := f.decode(whole, before, &r.start); e != nil {
		return fail(e)
	}
	f.Offset, f.Tick = offset, tick
	r.read.Offset, r.read.Size, r.read.Tick = offset, size, tick
	r.count++
	_, err = r.frames.Discard(size)
	return err
}
