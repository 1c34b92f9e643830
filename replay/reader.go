package replay

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/murksim/murksim/internal/wire"
)

// A Reader reads a recording, frame by frame. It accepts anything well-formed:
// any tick numbers, and payloads of any type and content, which [Record.Command]
// decodes. It belongs to one goroutine.
type Reader struct {
	Header Header

	d   *wire.Decoder
	old *oldVersion // nil except in [Upgrade]
	end int64       // of the last whole frame, or of the header
	at  place       // of the frame being read
	err error
}

// NewReader reads the header of a recording that begins at the current position of r. If
// the size of r can be found without reading it, lengths are checked against it before
// anything is allocated. The Reader reads ahead.
func NewReader(r io.Reader) (*Reader, error) { return newReaderSize(r, sizeOf(r)) }

// newReaderSize is [NewReader] for an input of size bytes, or of unknown size if
// size is negative.
func newReaderSize(r io.Reader, size int64) (*Reader, error) {
	rd := &Reader{d: wire.NewDecoder(r, max(size, -1)), at: place{frame: HeaderFrame}}
	v, err := rd.version()
	if err == nil && v != version {
		err = versionError(ErrVersion, v)
	}
	if err != nil {
		return nil, err
	}
	if err := rd.header(); err != nil {
		return nil, err
	}
	return rd, nil
}

// ResumeReader returns a reader of the frames of a recording from a position on, that of a
// frame or of the end. R must begin there, and h be the recording's header.
func ResumeReader(r io.Reader, h Header, at Position) *Reader {
	return &Reader{Header: h, d: wire.NewDecoder(r, sizeOf(r)).At(at.Offset), end: at.Offset, at: place{frame: at.Frame}}
}

// Head implements [Source].
func (r *Reader) Head() *Header { return &r.Header }

// Position returns the place of the next frame, or of the end: where the last whole frame
// that was read ends.
func (r *Reader) Position() Position { return Position{Frame: r.at.frame, Offset: r.end} }

// version reads the magic and the version.
func (r *Reader) version() (uint8, error) {
	for i := range len(magic) {
		if c := r.d.Uint8("magic"); r.d.Err() == nil && c != magic[i] {
			return 0, &FormatError{Frame: HeaderFrame, Kind: ErrMagic}
		}
	}
	v := r.d.Uint8("version")
	return v, r.failure()
}

func versionError(kind Kind, found uint8) error {
	return &FormatError{Offset: int64(len(magic)), Frame: HeaderFrame, Kind: kind, Found: found}
}

// header reads the part of the header after the version. It mirrors appendHeader.
func (r *Reader) header() error {
	d, h := r.d, &r.Header
	h.Build.Toolchain = d.String(MaxString, "toolchain")
	h.Build.Target = d.String(MaxString, "target")
	h.Build.Version = d.String(MaxString, "engine version")
	h.Build.Flags = d.String(MaxString, "compiler flags")
	h.Seed = d.Uint64("seed")
	h.ConfigHash = d.Uint64("config hash")
	h.FieldCount = d.Uint32("field count")
	h.CellCount = d.Uint64("cell count")
	h.Descriptor = d.Append(nil, d.Count(MaxBytes, 1, "descriptor bytes"), "descriptor")
	if err := r.failure(); err != nil {
		return err
	}
	r.end, r.at.frame = d.Offset(), 0
	return nil
}

// Next reads the next frame into f and reuses its memory. At the end of the
// recording, exactly after a frame, it returns io.EOF; every other error is
// final: a [*FormatError], or one that wraps the error of the underlying reader.
func (r *Reader) Next(f *Frame) error {
	if r.err != nil {
		return r.err
	}
	f.reset()
	r.at = place{frame: r.at.frame}
	if r.ahead(f) {
		r.whole(f)
		return nil
	}
	if r.d.More() {
		r.frame(f)
	} else if r.d.Err() == nil {
		return io.EOF
	}
	if r.err = r.failure(); r.err != nil {
		return r.err
	}
	r.whole(f)
	return nil
}

// whole records that a frame was read to its end.
func (r *Reader) whole(f *Frame) {
	start := r.end
	r.end = r.d.Offset()
	f.Position = Position{Frame: r.at.frame, Offset: start, Size: r.end - start}
	r.at.frame++
}

// ahead reads a frame that fits into the window and has no fault, several times as
// fast as frame does, and reports whether it did. Other frames are left to frame.
func (r *Reader) ahead(f *Frame) bool {
	if r.old != nil {
		return false
	}
	b := r.d.Window(frameHead)
	used, whole := r.inside(f, b)
	if !whole { // it needs at least one byte more, so waiting for that delays nothing
		f.reset()
		used, _ = r.inside(f, r.d.Window(len(b)+1))
	}
	if used == 0 {
		f.reset()
		return false
	}
	r.d.Skip(used)
	return true
}

// inside reads a frame from the start of b and returns how many bytes it took. Zero means
// that the frame has a fault, or, if whole is false, that b is too short to tell.
func (r *Reader) inside(f *Frame, b []byte) (used int, whole bool) {
	if len(b) < frameHead {
		return 0, false
	}
	n := binary.LittleEndian.Uint32(b[8:])
	if int64(n)*minCommandSize > int64(len(b)) {
		return 0, n > MaxCommands
	}
	f.Tick = binary.LittleEndian.Uint64(b)
	f.Records = slices.Grow(f.Records, int(n))[:n]
	f.payload = slices.Grow(f.payload, len(b))[:len(b)]
	start, at := r.d.Offset(), frameHead
	for i := range f.Records {
		p := b[at:]
		if len(p) < minCommandSize {
			return 0, false
		}
		size := binary.LittleEndian.Uint32(p[1:])
		if uint64(size) > uint64(len(p)-minCommandSize) {
			return 0, size > MaxBytes
		}
		rec, end := &f.Records[i], at+5+int(size)
		rec.Tag, rec.Payload = p[0], f.payload[at+5:end:end]
		rec.at = place{start + int64(at+5), 0, f.Tick, r.at.frame, uint32(i + 1), n}
		used, whole := rec.Meta.DecodeFrom(b[end:])
		if used == 0 {
			return 0, whole
		}
		at = end + used
	}
	if len(b)-at < 8 {
		return 0, false
	}
	f.Hash = binary.LittleEndian.Uint64(b[at:])
	copy(f.payload, b[:at])
	return at + 8, true
}

const frameHead = 8 + 4 // tick and number of commands

// reset empties a frame and keeps its memory.
func (f *Frame) reset() {
	f.Tick, f.Hash, f.Position, f.Records, f.payload = 0, 0, Position{}, f.Records[:0], f.payload[:0]
}

// Offset returns the length of the header and of every frame that Next returned.
func (r *Reader) Offset() int64 { return r.end }

// Buffered returns how many bytes after that were read from the source already. As long as there are some, whoever reads a recording
// while it is written is behind.
func (r *Reader) Buffered() int { return r.d.Buffered() }

// frame mirrors appendInputs.
func (r *Reader) frame(f *Frame) {
	f.Tick = r.d.Uint64("tick")
	r.at.tick = f.Tick // errors from here on name this tick
	smallest := minCommandSize
	if r.old != nil {
		smallest = r.old.minCommandSize
	}
	n := r.d.Count(MaxCommands, smallest, "command count")
	for i := range n {
		r.at.command, r.at.commands = uint32(i+1), uint32(n)
		r.record(f)
		if r.d.Err() != nil {
			return
		}
	}
	r.at.command, r.at.commands = 0, 0
	f.Hash = r.d.Uint64("state hash")
}

// record mirrors Record.append.
func (r *Reader) record(f *Frame) {
	d := r.d
	tag := d.Uint8("payload type")
	at := d.Offset()
	n := d.Count(MaxBytes, 1, "payload bytes")
	if n > MaxFrame-len(f.payload) {
		d.Fail(at, wire.ErrLimit, "payloads of more than %d bytes in a frame", MaxFrame)
		return
	}
	f.Records = append(f.Records, Record{Tag: tag, at: r.at})
	rec := &f.Records[len(f.Records)-1]
	rec.at.offset = d.Offset()
	start := len(f.payload)
	f.payload = d.Append(f.payload, n, "payload")
	rec.Payload = f.payload[start:len(f.payload):len(f.payload)]
	rec.Priority = d.Uint8("priority")
	if r.old != nil {
		r.old.meta(r, &rec.Meta)
		return
	}
	rec.HasSource, rec.Source = d.Optional("source")
	rec.HasSeq, rec.SourceSeq = d.Optional("source sequence")
	rec.Expires = d.Uint64("expiry")
	rec.Arrival = d.Uint64("arrival")
}

// failure turns the decoder's error into one of this package.
func (r *Reader) failure() error {
	err := r.d.Err()
	if err == nil {
		return nil
	}
	if e, ok := errors.AsType[*wire.Error](err); ok {
		return r.at.error(e.Offset, Kind(e.Kind), e.Detail)
	}
	return fmt.Errorf("replay: reading at byte %d: %w", r.d.Offset(), err)
}
