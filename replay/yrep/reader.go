package yrep

import (
	"errors"
	"fmt"
	"io"
	"math"
	"strings"
	"unicode/utf8"

	"github.com/murksim/murksim/internal/wire"
)

// Options say how a file is read. The zero Options are strict.
type Options struct {
	Dialect  Dialect // [Auto] reads the file twice or more, so it must be an io.Seeker
	Protocol string  // not empty: the protocol version that the file must have, in either case of letters

	// KeepUnknown gives instructions of unknown ids with their payloads as Raw.
	KeepUnknown bool

	// Lenient does the same for all instructions with unknown ids, payloads of the wrong length, reserved
	// bits, slots that there are not and text that is not UTF-8. Each of them, unless KeepUnknown
	// wants it, is also among the frame's warnings.
	Lenient bool
}

// A Reader reads a file frame by frame. It holds one frame in memory and belongs to one goroutine.
type Reader struct {
	Header  Header
	Dialect Dialect // in which it is read, [Narrow] or [Wide]

	options Options
	in      *wire.Decoder
	frame   int64 // number of the frame that is read
	place   Error // where in the frame
	end     int64
	err     error // final
	payload []byte
	fields  decoder
}

// NewReader reads the header. It reads ahead.
func NewReader(r io.Reader, o Options) (*Reader, error) {
	if o.Dialect == Auto {
		return newAutoReader(r, o)
	}
	in := &Reader{Dialect: o.Dialect, options: o, in: wire.NewDecoder(r, -1)}
	if err := in.header(); err != nil {
		return nil, err
	}
	in.end = in.in.Offset()
	return in, nil
}

func (r *Reader) head() (Header, Dialect) { return r.Header, r.Dialect }

// End returns the length of what is whole of the file: it ends with the last whole frame that Next has read.
// After an error, the file cut there is valid.
func (r *Reader) End() int64 { return r.end }

// Next reads the next frame into f and reuses its memory, but not that of Raw and of texts. At the end of
// the file it returns io.EOF. Every other error is final: an [*Error], or that of the underlying reader.
func (r *Reader) Next(f *Frame) error {
	*f = Frame{Instructions: f.Instructions[:0]}
	if r.err == nil {
		r.err = r.read(f)
	}
	if r.err != nil {
		f.Instructions = f.Instructions[:0]
		return r.err
	}
	r.end = r.in.Offset()
	return nil
}

// header reads what precedes the frames.
func (r *Reader) header() error {
	in := r.in
	if magic := in.Big(4, "the magic"); in.Err() == nil && magic != 0x0d000721 {
		return r.fail(ErrMagic, 0, "%08x; a YREP file begins with 0d000721", magic)
	}
	at := in.Offset()
	if v := in.Big(2, "the version"); in.Err() == nil && v != version {
		e := r.fail(ErrVersion, at, "version 0x%04x; this program reads 0x%04x", v, version)
		e.Found = int(int16(v))
		return e
	}
	at = in.Offset()
	protocol, err := r.bytes(nil, 4, "the protocol version")
	if err != nil {
		return err
	}
	if err := r.checkProtocol(at, string(protocol)); err != nil {
		return err
	}
	r.Header.Metadata, err = r.bytes(nil, 4, "the metadata")
	return err
}

// checkProtocol takes a protocol version whose length stands at an offset.
func (r *Reader) checkProtocol(at int64, protocol string) error {
	switch want := r.options.Protocol; {
	case !utf8.ValidString(protocol):
		return r.fail(ErrInvalidUTF8, at, "the protocol version is not UTF-8")
	case !isProtocol(protocol):
		return r.fail(ErrProtocol, at, "protocol version %q; it must have the form of v1_8_R3", clip(protocol))
	case want != "" && !strings.EqualFold(protocol, want):
		return r.fail(ErrProtocolMismatch, at, "protocol version %s; it must be %s", clip(protocol), want)
	}
	r.Header.Protocol = protocol
	return nil
}

// read reads a frame.
func (r *Reader) read(f *Frame) error {
	in := r.in
	r.place = Error{}
	if !in.More() {
		if in.Err() != nil {
			return in.Err()
		}
		return io.EOF
	}
	due := r.frame + 1
	r.place.Frame = int32(min(due, math.MaxInt32))
	f.Offset = in.Offset()
	f.Number = int32(in.Big(4, "the frame number"))
	if in.Err() == nil && int64(f.Number) != due {
		return r.fail(ErrFrameNumber, f.Offset, "frame number %d stands where %d is due", f.Number, due)
	}
	r.frame = due
	at := in.Offset()
	count := int16(in.Big(2, "the instruction count"))
	if count < 0 {
		return r.fail(ErrNegativeCount, at, "an instruction count of %d", count)
	}
	r.place.Instructions = int(count)
	for n := range int(count) {
		r.place.Instruction = n + 1
		f.Instructions = append(f.Instructions, Instruction{})
		if err := r.instruction(f, &f.Instructions[n]); err != nil {
			return err
		}
	}
	return r.short()
}

// instruction reads one of a frame's instructions.
func (r *Reader) instruction(f *Frame, i *Instruction) error {
	in := r.in
	i.Offset = in.Offset()
	i.ID = ID(in.Big(2, "the instruction id"))
	if err := r.short(); err != nil {
		return err
	}
	var fault *Error
	if !i.ID.known() && !r.options.KeepUnknown {
		fault = r.fail(ErrUnknownInstruction, i.Offset, "there is no instruction %s", i.ID)
		if !r.options.Lenient {
			return fault
		}
	}
	at := in.Offset()
	var err error
	if r.payload, err = r.bytes(r.payload[:0], r.Dialect.width(), "the payload"); err != nil {
		return err
	}
	if i.ID.known() {
		if fault = r.fields.decode(i, r.payload, at, in.Offset()-int64(len(r.payload))); fault == nil {
			return nil
		}
		fault.Frame, fault.Instruction, fault.Instructions = r.place.Frame, r.place.Instruction, r.place.Instructions
		if !r.options.Lenient || !fault.Kind.lenient() {
			return fault
		}
	}
	*i = Instruction{ID: i.ID, Raw: append([]byte{}, r.payload...), Offset: i.Offset}
	if fault != nil {
		f.Warnings = append(f.Warnings, fault)
	}
	return nil
}

// bytes appends what a length of some bytes precedes. Memory grows with the bytes that arrive.
func (r *Reader) bytes(dst []byte, width int, what string) ([]byte, error) {
	at := r.in.Offset()
	n := int32(r.in.Big(width, "a length"))
	if width == 2 {
		n = int32(int16(n))
	}
	if err := r.short(); err != nil {
		return dst, err
	}
	if n < 0 {
		return dst, r.fail(ErrNegativeLength, at, "%s has a length of %d", what, n)
	}
	dst = r.in.Append(dst, int(n), what)
	err := r.short()
	if e, ended := err.(*Error); ended {
		e.Offset = at
	}
	return dst, err
}

// short returns the error of the input, if it has one: usually that it ends where more is due.
func (r *Reader) short() error {
	if r.in.Err() == nil {
		return nil
	}
	if e, ended := errors.AsType[*wire.Error](r.in.Err()); ended {
		return r.fail(ErrTruncated, e.Offset, "%s", e.Detail)
	}
	return r.in.Err()
}

// fail returns an error at an offset of the input, in the frame that is read.
func (r *Reader) fail(kind Kind, offset int64, format string, args ...any) *Error {
	e := r.place
	e.Kind, e.Offset, e.Detail = kind, offset, fmt.Sprintf(format, args...)
	return &e
}

// clip returns text for an error.
func clip(s string) string {
	const most = 40
	if len(s) > most {
		return strings.ToValidUTF8(s[:most], "") + "…"
	}
	return s
}
