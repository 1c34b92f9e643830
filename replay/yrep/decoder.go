package yrep

import (
	"fmt"
	"math"
	"unicode/utf8"

	"github.com/murksim/murksim/internal/wire"
)

// A decoder is the [visitor] that reads a payload.
type decoder struct {
	in       wire.Decoder
	fault    *Error // the first one
	lengthAt int64  // offset of the length field
	start    int64  // of the payload
}

// decode reads the fields of an instruction from a payload that begins at an offset; its length field
// stands at another. The error's place in the frame is left to the caller.
func (d *decoder) decode(i *Instruction, payload []byte, lengthAt, at int64) *Error {
	d.in, d.fault, d.lengthAt, d.start = *wire.Of(payload), nil, lengthAt, at
	i.visit(d)
	switch {
	case d.fault != nil:
		return d.fault
	case d.in.Err() != nil:
		d.fail(ErrPayloadLength, lengthAt, "a payload of %d bytes is too short for %s", len(payload), i.ID)
	case d.in.Left() > 0:
		d.fail(ErrPayloadLength, lengthAt, "a payload of %d bytes has %d more than %s needs", len(payload), d.in.Left(), i.ID)
	}
	return d.fault
}

func (d *decoder) offset() int64 { return d.start + d.in.Offset() }

// fail keeps an error, unless there is one already or the payload has ended.
func (d *decoder) fail(kind Kind, offset int64, format string, args ...any) {
	if d.fault == nil && (d.in.Err() == nil || kind == ErrPayloadLength) {
		d.fault = &Error{Kind: kind, Offset: offset, Detail: fmt.Sprintf(format, args...)}
	}
}

func (d *decoder) int8(name string, v *int8)   { *v = int8(d.in.Uint8(name)) }
func (d *decoder) int32(name string, v *int32) { *v = int32(d.in.Big(4, name)) }
func (d *decoder) float32(name string, v *float32) {
	*v = math.Float32frombits(uint32(d.in.Big(4, name)))
}
func (d *decoder) float64(name string, v *float64) { *v = math.Float64frombits(d.in.Big(8, name)) }
func (d *decoder) uuid(name string, v *UUID)       { copy(v[:], d.in.Bytes(len(v), name)) }

func (d *decoder) text(name string, v *string) {
	at := d.offset()
	n := int32(d.in.Big(4, name))
	switch {
	case d.in.Err() != nil:
		return
	case n < 0:
		d.fail(ErrNegativeLength, at, "the %s has a length of %d", name, n)
		return
	case int64(n) > d.in.Left():
		d.fail(ErrPayloadLength, d.lengthAt, "the %s has a length of %d, but the payload has %d more bytes", name, n, d.in.Left())
		return
	}
	b := d.in.Bytes(int(n), name)
	if !utf8.Valid(b) {
		d.fail(ErrInvalidUTF8, at, "the %s is not UTF-8", name)
	}
	*v = string(b)
}

func (d *decoder) slot(name string, v *int8) {
	at := d.offset()
	if d.int8(name, v); *v < 0 || int(*v) >= Slots {
		d.fail(ErrSlot, at, "slot %d; there are 0 to %d", *v, Slots-1)
	}
}

func (d *decoder) present(v *uint8, names []string) { d.states(v, names) }

func (d *decoder) states(v *uint8, names []string) {
	at := d.offset()
	if *v = d.in.Uint8("flags"); *v>>len(names) != 0 {
		d.fail(ErrReservedBits, at, "flags 0x%02x; only bits 0 to %d have a meaning", *v, len(names)-1)
	}
}
