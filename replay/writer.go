package replay

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash"
	"io"
	"unicode/utf8"

	"github.com/murksim/murksim/commands"
	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/internal/wire"
)

const flushSize = 64 << 10 // bytes of whole frames that are written at once

// A Writer writes a recording. It buffers whole frames; [Writer.Flush] writes them
// out. It keeps its first error and writes nothing after it. If a write fails in
// the middle of a frame and the sink can be truncated (a regular file), the partial
// frame is cut off, so that the rest is a valid recording. A Writer belongs to one
// goroutine.
type Writer struct {
	w     io.Writer
	done  int64             // bytes of the recording that were written
	buf   []byte            // whole frames to be written
	ends  []frameEnd        // of the header and of each of them
	frame int               // frames taken so far
	sum   hash.Hash         // SHA-256 of what was written; nil: not wanted
	run   *engine.RunDigest // of the frames taken; nil: not known
	err   error
}

// A frameEnd says where the header or a frame ends in the buffer.
type frameEnd struct {
	at   int
	tick uint64 // 0: the header
}

// A cutter is a sink whose end can be cut off.
type cutter interface {
	io.Seeker
	Truncate(size int64) error
}

// NewWriter begins a recording: it takes the header, which is written with the
// first frames. It refuses a header that a [Reader] would not read back.
func NewWriter(w io.Writer, h Header) (*Writer, error) {
	if err := checkHeader(&h); err != nil {
		return nil, err
	}
	wr := &Writer{w: w, buf: appendHeader(nil, &h), run: new(engine.RunDigest)}
	wr.ends = append(wr.ends, frameEnd{at: len(wr.buf)})
	return wr, nil
}

func checkHeader(h *Header) error {
	b := &h.Build
	for _, s := range []struct{ name, value string }{
		{"toolchain", b.Toolchain}, {"target", b.Target}, {"engine version", b.Version}, {"compiler flags", b.Flags},
	} {
		if len(s.value) > MaxString {
			return refusal(Position{Frame: HeaderFrame}, 0, ErrLimit, "%s: %d bytes, the limit is %d", s.name, len(s.value), MaxString)
		}
		if !utf8.ValidString(s.value) {
			return refusal(Position{Frame: HeaderFrame}, 0, ErrMalformed, "%s is not UTF-8", s.name)
		}
	}
	if len(h.Descriptor) > MaxBytes {
		return refusal(Position{Frame: HeaderFrame}, 0, ErrLimit, "descriptor: %d bytes, the limit is %d", len(h.Descriptor), MaxBytes)
	}
	return nil
}

func refusal(at Position, tick uint64, kind Kind, format string, args ...any) error {
	return &FormatError{Offset: at.Offset, Frame: at.Frame, Tick: tick, Kind: kind, Detail: "not written: " + fmt.Sprintf(format, args...)}
}

// AppendBytes appends the header as it stands in a recording.
func (h *Header) AppendBytes(b []byte) []byte { return appendHeader(b, h) }

// appendHeader mirrors [Reader.header]: change FORMAT.md first, then both.
func appendHeader(b []byte, h *Header) []byte {
	b = append(b, magic...)
	b = append(b, version)
	b = wire.AppendBytes(b, h.Build.Toolchain)
	b = wire.AppendBytes(b, h.Build.Target)
	b = wire.AppendBytes(b, h.Build.Version)
	b = wire.AppendBytes(b, h.Build.Flags)
	b = binary.LittleEndian.AppendUint64(b, h.Seed)
	b = binary.LittleEndian.AppendUint64(b, h.ConfigHash)
	b = binary.LittleEndian.AppendUint32(b, h.FieldCount)
	b = binary.LittleEndian.AppendUint64(b, h.CellCount)
	return wire.AppendBytes(b, h.Descriptor)
}

// WriteFrame appends a tick: its inputs, in canonical order, and the hash of the
// state after it. It refuses a frame that exceeds the limits. An error is final.
func (w *Writer) WriteFrame(tick uint64, inputs []commands.Command, hash uint64) error {
	if w.err != nil {
		return w.err
	}
	if w.err = checkInputs(w.next(), tick, inputs); w.err != nil {
		return w.err
	}
	return w.taken(tick, binary.LittleEndian.AppendUint64(appendInputs(w.buf, tick, inputs), hash))
}

// appendInputs appends a frame without its hash.
func appendInputs(b []byte, tick uint64, inputs []commands.Command) []byte {
	b = binary.LittleEndian.AppendUint64(b, tick)
	b = binary.LittleEndian.AppendUint32(b, uint32(len(inputs)))
	for i := range inputs {
		b = inputs[i].Append(b)
	}
	return b
}

// writeHashed appends a frame that appendInputs began, and its hash.
func (w *Writer) writeHashed(tick uint64, frame []byte, hash uint64) error {
	if w.err != nil {
		return w.err
	}
	return w.taken(tick, binary.LittleEndian.AppendUint64(append(w.buf, frame...), hash))
}

// next returns the position of the next frame.
func (w *Writer) next() Position { return Position{Frame: w.frame, Offset: w.Offset()} }

// CopyFrame appends a frame as a [Reader] returned it, its payloads undecoded.
func (w *Writer) CopyFrame(f *Frame) error {
	if w.err != nil {
		return w.err
	}
	if w.err = checkFrame(w.next(), f.Tick, len(f.Records), func(i int) int { return len(f.Records[i].Payload) }); w.err != nil {
		return w.err
	}
	b := binary.LittleEndian.AppendUint64(w.buf, f.Tick)
	b = binary.LittleEndian.AppendUint32(b, uint32(len(f.Records)))
	for i := range f.Records {
		b = f.Records[i].append(b)
	}
	return w.taken(f.Tick, binary.LittleEndian.AppendUint64(b, f.Hash))
}

// append mirrors [Reader.record].
func (r *Record) append(b []byte) []byte {
	b = append(b, r.Tag)
	b = wire.AppendBytes(b, r.Payload)
	return r.Meta.Append(b)
}

// checkInputs returns an error if a frame with these inputs exceeds the limits.
func checkInputs(at Position, tick uint64, inputs []commands.Command) error {
	return checkFrame(at, tick, len(inputs), func(i int) int { return inputs[i].PayloadSize() })
}

// checkFrame returns an error if a frame of so many commands, whose payloads have these sizes, exceeds the limits.
func checkFrame(at Position, tick uint64, count int, size func(i int) int) error {
	payloads := int64(0)
	for i := range count {
		n := size(i)
		if n > MaxBytes {
			return refusal(at, tick, ErrLimit, "command %d: payload of %d bytes, the limit is %d", i, n, MaxBytes)
		}
		payloads += int64(n)
	}
	switch {
	case count > MaxCommands:
		return refusal(at, tick, ErrLimit, "%d commands, the limit is %d", count, MaxCommands)
	case payloads > MaxFrame:
		return refusal(at, tick, ErrLimit, "payloads of %d bytes, the limit is %d", payloads, MaxFrame)
	}
	return nil
}

// A WriteError is a write that failed. What was written before is a valid recording of
// the ticks before Tick, unless the header is what failed.
type WriteError struct {
	Tick   uint64 // the first tick that is lost; 0: the header
	Offset int64  // where it begins in the recording
	Err    error
}

// Error implements error.
func (e *WriteError) Error() string {
	what := "the header"
	if e.Tick != 0 {
		what = fmt.Sprintf("tick %d", e.Tick)
	}
	return fmt.Sprintf("replay: writing %s at byte %d: %v", what, e.Offset, e.Err)
}

// Unwrap returns the cause.
func (e *WriteError) Unwrap() error { return e.Err }

// taken replaces the buffer by b, which has one more frame in it.
func (w *Writer) taken(tick uint64, b []byte) error {
	w.buf, w.ends = b, append(w.ends, frameEnd{len(b), tick})
	w.frame++
	if w.run != nil {
		w.run.Add(binary.LittleEndian.Uint64(b[len(b)-hashSize:]))
	}
	if len(b) < flushSize {
		return nil
	}
	return w.Flush()
}

// Flush writes what is buffered.
func (w *Writer) Flush() error {
	if w.err != nil || len(w.buf) == 0 {
		return w.err
	}
	n, err := w.w.Write(w.buf)
	if err == nil && n != len(w.buf) {
		err = io.ErrShortWrite
	}
	if err != nil {
		w.err = w.cut(n, err)
		return w.err
	}
	if w.sum != nil {
		w.sum.Write(w.buf)
	}
	w.done += int64(n)
	w.buf, w.ends = w.buf[:0], w.ends[:0]
	return nil
}

// cut drops the partial frame at the end of the n bytes of the buffer that were written, and
// returns an error that names the frame.
func (w *Writer) cut(n int, cause error) error {
	i, whole := 0, 0
	for ; i < len(w.ends)-1 && w.ends[i].at <= n; i++ {
		whole = w.ends[i].at
	}
	if w.ends[i].at <= n {
		whole = n
	}
	return &WriteError{w.ends[i].tick, w.done + int64(whole), w.truncate(n-whole, cause)}
}

// truncate removes the last bytes of the sink, if it can be truncated.
func (w *Writer) truncate(excess int, cause error) error {
	c, ok := w.w.(cutter)
	if !ok || excess == 0 {
		return cause
	}
	end, err := c.Seek(0, io.SeekCurrent) // after what was written, even if the sink appends
	if err != nil {
		return cause // a pipe, which cannot be truncated
	}
	size := end - int64(excess)
	if err := c.Truncate(size); err != nil {
		return errors.Join(cause, err)
	}
	_, err = c.Seek(size, io.SeekStart)
	return errors.Join(cause, err)
}

// Sync flushes and, if the sink has a Sync method (a file), calls it, so that the recording
// survives a loss of power.
func (w *Writer) Sync() error {
	if err := w.Flush(); err != nil {
		return err
	}
	if s, ok := w.w.(interface{ Sync() error }); ok {
		if err := s.Sync(); err != nil {
			w.err = fmt.Errorf("replay: syncing at byte %d: %w", w.done, err)
		}
	}
	return w.err
}

// Offset returns where the next frame will begin: the length of the header and of the
// frames taken so far, written or not.
func (w *Writer) Offset() int64 { return w.done + int64(len(w.buf)) }
