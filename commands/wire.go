package commands

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"

	"github.com/murksim/murksim/internal/wire"
	"github.com/murksim/murksim/space"
)

// MaxPayload is the largest payload that a frame may carry, in bytes.
const MaxPayload = 64 << 20

// A PayloadError locates the fault in a payload that is not valid for its kind.
type PayloadError struct {
	Kind   Kind   // the payload tag
	Offset int    // of the first byte that could not be used, from the payload's start
	Reason string // what is wrong
}

// Error implements error.
func (e *PayloadError) Error() string {
	return fmt.Sprintf("commands: %s payload, byte %d: %s", e.Kind, e.Offset, e.Reason)
}

// An UnknownKindError reports a payload tag that Murk v3 does not define.
type UnknownKindError struct{ Tag uint8 }

// Error implements error.
func (e *UnknownKindError) Error() string {
	return fmt.Sprintf("commands: unknown payload type tag %d", e.Tag)
}

// A layout describes a kind's payload: the size of its fixed part, and whether a coordinate,
// whose count is in the fixed part, and data follow.
type layout struct{ fixed, coord, data uint8 }

var layouts = [...]layout{
	KindMove:              {8 + 4, 1, 0},
	KindSpawn:             {4 + 4, 1, 1},
	KindDespawn:           {8, 0, 0},
	KindSetField:          {4 + 8, 1, 0},
	KindCustom:            {8, 0, 1},
	KindSetParameter:      {12, 0, 0},
	KindSetParameterBatch: {4, 0, 1},
}

// PayloadSize returns the number of bytes that [Command.AppendPayload] appends. The
// command's kind must be one of the seven.
func (c *Command) PayloadSize() int {
	l := &layouts[c.Kind]
	return int(l.fixed) + c.Coord.Size()*int(l.coord) + len(c.Data)*int(l.data)
}

// Check returns Applied if a frame can hold the command, else why not. Commands
// made by the constructors always pass, unless the payload is larger than [MaxPayload].
func (c *Command) Check() Reason {
	switch c.Kind {
	case KindMove, KindDespawn, KindSetField, KindSetParameter:
		return Applied
	case KindSpawn, KindCustom, KindSetParameterBatch:
	default:
		return Unsupported
	}
	if c.Kind == KindSpawn && len(c.Data)%fieldValueSize != 0 ||
		c.Kind == KindSetParameterBatch && len(c.Data)%parameterSize != 0 || c.PayloadSize() > MaxPayload {
		return BadValue
	}
	return Applied
}

// Append appends the command as a Murk v3 frame holds it: tag, payload length,
// payload, priority, optional source and sequence, expiry, arrival.
func (c *Command) Append(b []byte) []byte {
	if c.isPlainSetField() {
		b, p := extend(b, plainSetField)
		c.putSetField((*[plainSetField]byte)(p))
		return b
	}
	size := c.PayloadSize()
	b, p := extend(b, headSize+size+c.Meta.size())
	p[0] = byte(c.Kind)
	binary.LittleEndian.PutUint32(p[1:], uint32(size))
	c.putPayload(p[headSize:])
	c.Meta.put(p[headSize+size:])
	return b
}

const (
	headSize = 1 + 4             // tag and payload length
	metaSize = 1 + 1 + 1 + 8 + 8 // without source and sequence

	plainSetField = headSize + 4 + 2*4 + 4 + 4 + metaSize
)

// isPlainSetField reports whether c is the most common command: a SetField of a cell in a
// plane, without a source.
func (c *Command) isPlainSetField() bool {
	_, _, plane := c.Coord.Pair()
	return plane && c.Kind == KindSetField && !c.HasSource && !c.HasSeq
}

// putSetField writes such a command: the same bytes as Append in a third of the time.
func (c *Command) putSetField(p *[plainSetField]byte) {
	p[0] = byte(KindSetField)
	binary.LittleEndian.PutUint32(p[1:], plainSetField-headSize-metaSize)
	binary.LittleEndian.PutUint32(p[5:], 2)
	first, second, _ := c.Coord.Pair()
	binary.LittleEndian.PutUint64(p[9:], uint64(uint32(first))|uint64(uint32(second))<<32)
	binary.LittleEndian.PutUint64(p[17:], uint64(c.ID)|c.Bits<<32)
	binary.LittleEndian.PutUint32(p[25:], uint32(c.Priority)) // and the flags of no source and no sequence
	binary.LittleEndian.PutUint64(p[28:], c.Expires)
	binary.LittleEndian.PutUint64(p[36:], c.Arrival)
}

// extend makes b longer by n bytes and also returns those, to be written.
func extend(b []byte, n int) (longer, added []byte) {
	start := len(b)
	if cap(b)-start < n {
		b = slices.Grow(b, n)
	}
	longer = b[:start+n]
	return longer, longer[start:]
}

// Append appends the metadata as a Murk v3 frame holds it.
func (m *Meta) Append(b []byte) []byte {
	b, p := extend(b, m.size())
	m.put(p)
	return b
}

// size returns the number of bytes that put writes.
func (m *Meta) size() int {
	n := metaSize
	if m.HasSource {
		n += 8
	}
	if m.HasSeq {
		n += 8
	}
	return n
}

func (m *Meta) put(p []byte) {
	if !m.HasSource && !m.HasSeq { // the same as below, in fewer steps
		p := (*[metaSize]byte)(p)
		binary.LittleEndian.PutUint32(p[0:], uint32(m.Priority)) // and both flags
		binary.LittleEndian.PutUint64(p[3:], m.Expires)
		binary.LittleEndian.PutUint64(p[11:], m.Arrival)
		return
	}
	p[0] = m.Priority
	p = putOptional(p[1:], m.HasSource, m.Source)
	p = putOptional(p, m.HasSeq, m.SourceSeq)
	binary.LittleEndian.PutUint64(p, m.Expires)
	binary.LittleEndian.PutUint64(p[8:], m.Arrival)
}

// putOptional writes an optional number and returns the rest of p.
func putOptional(p []byte, present bool, v uint64) []byte {
	if !present {
		p[0] = 0
		return p[1:]
	}
	p[0] = 1
	binary.LittleEndian.PutUint64(p[1:], v)
	return p[9:]
}

// AppendPayload appends the payload alone; [Decode] reads it back.
func (c *Command) AppendPayload(b []byte) []byte {
	b, p := extend(b, c.PayloadSize())
	c.putPayload(p)
	return b
}

// putPayload writes PayloadSize bytes.
func (c *Command) putPayload(p []byte) {
	switch c.Kind {
	case KindMove:
		binary.LittleEndian.PutUint64(p, c.Entity)
		putCoord(p[8:], &c.Coord)
	case KindSpawn:
		p = putCoord(p, &c.Coord)
		binary.LittleEndian.PutUint32(p, uint32(len(c.Data)/fieldValueSize))
		copy(p[4:], c.Data)
	case KindDespawn:
		binary.LittleEndian.PutUint64(p, c.Entity)
	case KindSetField:
		p = putCoord(p, &c.Coord)
		binary.LittleEndian.PutUint32(p, c.ID)
		binary.LittleEndian.PutUint32(p[4:], uint32(c.Bits))
	case KindCustom:
		binary.LittleEndian.PutUint32(p, c.ID)
		binary.LittleEndian.PutUint32(p[4:], uint32(len(c.Data)))
		copy(p[8:], c.Data)
	case KindSetParameter:
		binary.LittleEndian.PutUint32(p, c.ID)
		binary.LittleEndian.PutUint64(p[4:], c.Bits)
	case KindSetParameterBatch:
		binary.LittleEndian.PutUint32(p, uint32(len(c.Data)/parameterSize))
		copy(p[4:], c.Data)
	}
}

// putCoord writes a coordinate and returns the rest of p.
func putCoord(p []byte, c *space.Coord) []byte {
	n := c.Size()
	binary.LittleEndian.PutUint32(p, uint32(n/4))
	c.PutBytes(p[4:])
	return p[4+n:]
}

// Decode sets the command's kind and payload from a frame's tag and payload and
// leaves its metadata as it is. The payload must have no bytes left over. Data aliases
// payload. An error is a [*PayloadError] or an [*UnknownKindError].
func (c *Command) Decode(tag uint8, payload []byte) error {
	if int(tag) >= len(kindNames) {
		return &UnknownKindError{tag}
	}
	if c.decode(Kind(tag), payload) {
		return nil
	}
	return c.decodeSlowly(tag, payload)
}

// decodeSlowly is the plain form of decode; its error says what is wrong.
func (c *Command) decodeSlowly(tag uint8, payload []byte) error {
	d := wire.Of(payload)
	c.Kind = Kind(tag)
	c.ID, c.Entity, c.Bits, c.Coord, c.Data = 0, 0, 0, space.Coord{}, nil
	c.payload(d)
	d.End()
	return payloadError(c.Kind, d)
}

// payloadError turns the error of a decoder into one of this package.
func payloadError(k Kind, d *wire.Decoder) error {
	if e, ok := d.Err().(*wire.Error); ok {
		return &PayloadError{k, int(e.Offset), e.Detail}
	}
	return nil // a decoder of bytes has no other
}

// decode decodes a payload without a fault, several times as fast as decodeSlowly. It
// returns false for one with a fault, which decodeSlowly then finds.
func (c *Command) decode(k Kind, p []byte) bool {
	l := &layouts[k]
	if len(p) < int(l.fixed) {
		return false
	}
	c.Kind, c.ID, c.Entity, c.Bits, c.Data = k, 0, 0, 0, nil
	if k == KindMove || k == KindDespawn {
		c.Entity = binary.LittleEndian.Uint64(p)
		p = p[8:]
	}
	if l.coord == 0 {
		c.Coord = space.Coord{}
	} else {
		n := binary.LittleEndian.Uint32(p)
		if n > space.MaxDim || len(p) < 4+4*int(n) {
			return false
		}
		c.Coord.SetBytes(p[4 : 4+4*n])
		p = p[4+4*n:]
	}
	switch k {
	case KindSpawn:
		return c.decodeData(p, fieldValueSize)
	case KindSetParameterBatch:
		return c.decodeData(p, parameterSize)
	case KindCustom:
		c.ID = binary.LittleEndian.Uint32(p)
		return c.decodeData(p[4:], 1)
	case KindSetField:
		if len(p) != 8 {
			return false
		}
		c.ID, c.Bits = binary.LittleEndian.Uint32(p), uint64(binary.LittleEndian.Uint32(p[4:]))
		return true
	case KindSetParameter:
		c.ID, c.Bits = binary.LittleEndian.Uint32(p), binary.LittleEndian.Uint64(p[4:])
		p = p[12:]
	}
	return len(p) == 0
}

// decodeData takes a count and as many entries of size bytes, which must be all of p.
func (c *Command) decodeData(p []byte, size int) bool {
	if len(p) < 4 || uint64(len(p)-4) != uint64(binary.LittleEndian.Uint32(p))*uint64(size) {
		return false
	}
	if p = p[4:]; len(p) > 0 {
		c.Data = p[:len(p):len(p)]
	}
	return true
}

// DecodeFrom reads metadata as [Meta.Append] wrote it from the start of b and returns
// how many bytes it took. Zero means that b is too short, or, if whole, that it has a
// presence flag that is neither 0 nor 1.
func (m *Meta) DecodeFrom(b []byte) (used int, whole bool) {
	if len(b) < metaSize {
		return 0, false
	}
	m.Priority, m.Source, m.SourceSeq = b[0], 0, 0
	at := 2
	if m.HasSource = b[1] == 1; m.HasSource {
		m.Source = binary.LittleEndian.Uint64(b[2:])
		at = 10
	}
	flag := b[at]
	at++
	if b[1] > 1 || flag > 1 {
		return 0, true
	}
	if m.HasSeq = flag == 1; m.HasSeq {
		if len(b)-at < 8 {
			return 0, false
		}
		m.SourceSeq = binary.LittleEndian.Uint64(b[at:])
		at += 8
	}
	if len(b)-at < 16 {
		return 0, false
	}
	m.Expires, m.Arrival = binary.LittleEndian.Uint64(b[at:]), binary.LittleEndian.Uint64(b[at+8:])
	return at + 16, true
}

// DecodeFrom reads a command as [Command.Append] wrote it from the start of b and
// returns how many bytes it took. Data aliases b. The error is a [*PayloadError] or an
// [*UnknownKindError]; the offset of the former counts from the start of b.
func (c *Command) DecodeFrom(b []byte) (n int, err error) {
	d := wire.Of(b)
	tag := d.Uint8("payload type")
	size := d.Count(math.MaxUint32, 1, "payload bytes")
	start := int(d.Offset())
	payload := d.Bytes(size, "payload")
	if err := payloadError(Kind(tag), d); err != nil {
		return 0, err
	}
	if err := c.Decode(tag, payload); err != nil {
		if e, ok := err.(*PayloadError); ok {
			e.Offset += start
		}
		return 0, err
	}
	if used, _ := c.Meta.DecodeFrom(d.Window(0)); used > 0 {
		return int(d.Offset()) + used, nil
	}
	c.Priority = d.Uint8("priority") // the plain form, whose error says what is wrong
	c.HasSource, c.Source = d.Optional("source")
	c.HasSeq, c.SourceSeq = d.Optional("source sequence")
	c.Expires = d.Uint64("expiry")
	c.Arrival = d.Uint64("arrival")
	if err := payloadError(c.Kind, d); err != nil {
		return 0, err
	}
	return int(d.Offset()), nil
}

// payload mirrors putPayload.
func (c *Command) payload(d *wire.Decoder) {
	switch c.Kind {
	case KindMove:
		c.Entity = d.Uint64("entity id")
		c.coord(d)
	case KindSpawn:
		c.coord(d)
		c.entries(d, "field values", fieldValueSize)
	case KindDespawn:
		c.Entity = d.Uint64("entity id")
	case KindSetField:
		c.coord(d)
		c.ID = d.Uint32("field id")
		c.Bits = uint64(d.Uint32("value"))
	case KindCustom:
		c.ID = d.Uint32("type id")
		c.entries(d, "data", 1)
	case KindSetParameter:
		c.ID = d.Uint32("key")
		c.Bits = d.Uint64("value")
	case KindSetParameterBatch:
		c.entries(d, "parameters", parameterSize)
	}
}

// coord mirrors putCoord.
func (c *Command) coord(d *wire.Decoder) {
	c.Coord.SetBytes(d.Bytes(4*d.Count(space.MaxDim, 4, "coordinate components"), "coordinate"))
}

// entries reads a count and that many entries of size bytes each, without decoding them.
func (c *Command) entries(d *wire.Decoder, what string, size int) {
	if n := d.Count(math.MaxUint32, size, what); n > 0 {
		c.Data = d.Bytes(n*size, what)
	}
}
