package yrep

import (
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"unicode/utf8"
)

// A Writer writes a file frame by frame, each with one Write: whatever has been written after a frame is a
// valid file. So output can be taken in pieces after any frame; the pieces joined are the file.
type Writer struct {
	w       io.Writer
	dialect Dialect
	frame   int64 // number of the last one
	offset  int64
	buf     encoder
	err     error // of w; final
}

// NewWriter writes the header.
func NewWriter(w io.Writer, h Header, d Dialect) (*Writer, error) {
	if d == Auto {
		return nil, fmt.Errorf("yrep: a file is written in the dialect %s or %s, not in %s", Narrow, Wide, Auto)
	}
	if h.Protocol == "" {
		h.Protocol = DefaultProtocol
	}
	const protocolAt = len(Magic) + 2
	switch {
	case !isProtocol(h.Protocol):
		detail := fmt.Sprintf("protocol version %q; it must have the form of %s", clip(h.Protocol), DefaultProtocol)
		return nil, &Error{Kind: ErrProtocol, Offset: int64(protocolAt), Detail: detail}
	case len(h.Metadata) > maxBytes:
		detail := fmt.Sprintf("metadata of %d bytes; the limit is %d", len(h.Metadata), maxBytes)
		return nil, &Error{Kind: ErrPayloadTooLarge, Offset: int64(protocolAt + 4 + len(h.Protocol)), Detail: detail}
	}
	b := binary.BigEndian.AppendUint16([]byte(Magic), version)
	b = appendText(b, h.Protocol)
	b = appendText(b, h.Metadata)
	out := &Writer{w: w, dialect: d}
	out.write(b)
	return out, out.err
}

// WriteFrame writes the next frame. An instruction that no file can hold gives an [*Error]; then nothing of
// the frame is written, and the file ends with the frame before. An error of the underlying writer is final.
func (w *Writer) WriteFrame(list []Instruction) error {
	if w.err != nil {
		return w.err
	}
	e := Error{Frame: int32(min(w.frame+1, math.MaxInt32)), Offset: w.offset}
	switch {
	case w.frame == math.MaxInt32:
		e.Kind, e.Detail = ErrFrameNumber, "a file ends with frame 2147483647"
		return &e
	case len(list) > maxInstructions:
		e.Kind, e.Detail = ErrTooManyInstructions, fmt.Sprintf("%d instructions; a frame holds %d", len(list), maxInstructions)
		return &e
	}
	b := binary.BigEndian.AppendUint32(w.buf.b[:0], uint32(e.Frame))
	w.buf.b = binary.BigEndian.AppendUint16(b, uint16(len(list)))
	for n := range list {
		at := len(w.buf.b)
		if fault := w.buf.instruction(&list[n], w.dialect); fault != nil {
			fault.Frame, fault.Instruction, fault.Instructions = e.Frame, n+1, len(list)
			fault.Offset = w.offset + int64(at)
			return fault
		}
	}
	if w.write(w.buf.b); w.err == nil {
		w.frame++
	}
	return w.err
}

func (w *Writer) write(b []byte) {
	var n int
	if n, w.err = w.w.Write(b); w.err == nil && n < len(b) {
		w.err = io.ErrShortWrite
	}
	w.offset += int64(n)
}

// An encoder is the [visitor] that appends a payload.
type encoder struct {
	b     []byte
	fault *Error // the first one
}

// instruction appends an instruction.
func (e *encoder) instruction(i *Instruction, d Dialect) *Error {
	e.fault = nil
	e.b = binary.BigEndian.AppendUint16(e.b, uint16(i.ID))
	at := len(e.b)
	e.b = append(e.b, make([]byte, d.width())...)
	start := len(e.b)
	switch {
	case i.Raw != nil:
		e.b = append(e.b, i.Raw...)
	case !i.ID.known():
		e.fail(ErrUnknownInstruction, "there is no instruction %s", i.ID)
	default:
		i.visit(e)
	}
	n := len(e.b) - start
	if d == Wide {
		if n > maxBytes {
			e.fail(ErrPayloadTooLarge, "a payload of %d bytes; the limit is %d", n, maxBytes)
		}
		binary.BigEndian.PutUint32(e.b[at:], uint32(n))
		return e.fault
	}
	if n > maxNarrow {
		e.fail(ErrPayloadTooLarge, "a payload of %d bytes; the limit of the narrow dialect is %d", n, maxNarrow)
	}
	binary.BigEndian.PutUint16(e.b[at:], uint16(n))
	return e.fault
}

func (e *encoder) fail(kind Kind, format string, args ...any) {
	if e.fault == nil {
		e.fault = &Error{Kind: kind, Detail: fmt.Sprintf(format, args...)}
	}
}

func (e *encoder) int8(_ string, v *int8)   { e.b = append(e.b, uint8(*v)) }
func (e *encoder) int32(_ string, v *int32) { e.b = binary.BigEndian.AppendUint32(e.b, uint32(*v)) }

func (e *encoder) float32(_ string, v *float32) {
	e.b = binary.BigEndian.AppendUint32(e.b, math.Float32bits(*v))
}

func (e *encoder) float64(_ string, v *float64) {
	e.b = binary.BigEndian.AppendUint64(e.b, math.Float64bits(*v))
}

func (e *encoder) uuid(_ string, v *UUID) { e.b = append(e.b, v[:]...) }

func (e *encoder) text(name string, v *string) {
	switch {
	case !utf8.ValidString(*v):
		e.fail(ErrInvalidUTF8, "the %s is not UTF-8", name)
	case len(*v) > maxBytes:
		e.fail(ErrPayloadTooLarge, "the %s has %d bytes", name, len(*v))
	default:
		e.b = appendText(e.b, *v)
	}
}

func (e *encoder) slot(name string, v *int8) {
	if *v < 0 || int(*v) >= Slots {
		e.fail(ErrSlot, "slot %d; there are 0 to %d", *v, Slots-1)
	}
	e.int8(name, v)
}

func (e *encoder) present(v *uint8, names []string) { e.states(v, names) }

func (e *encoder) states(v *uint8, names []string) {
	if *v>>len(names) != 0 {
		e.fail(ErrReservedBits, "flags 0x%02x; only bits 0 to %d have a meaning", *v, len(names)-1)
	}
	e.b = append(e.b, *v)
}

// appendText appends a length and the bytes.
func appendText[T string | []byte](b []byte, v T) []byte {
	return append(binary.BigEndian.AppendUint32(b, uint32(len(v))), v...)
}
