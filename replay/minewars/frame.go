package minewars

import (
	"encoding/binary"
	"math/bits"
)

const (
	homogeneous   = 1 << 7 // in a mask
	everyone      = 0xff
	filler        = 0x80
	maxPayload    = 255 // of one view in a frame
	maxFirst      = 127 // of the first view in a heterogeneous frame
	minFrame      = 4
	maxFrameBytes = 2 + 1 + (MaxPlayers + 1) + maxFirst + MaxPlayers*maxPayload
)

// A Frame is a part of what the views learn in a tick, as it stands in a stream. [Reader.Next] uses
// its memory again.
type Frame struct {
	Offset int64  // in the uncompressed frame data
	Size   int    // in bytes
	Delta  uint16 // ticks since the frame before it
	Tick   uint64
	Mask   uint8 // who takes part; see FORMAT.md

	// Lists has the messages: one list for all if the frame is homogeneous, else one for each bit
	// of the mask, from the spectator on.
	Lists [][]Message

	tiles []Tile // what messages alias
}

// Homogeneous reports whether all that take part get the same.
func (f *Frame) Homogeneous() bool { return f.Mask&homogeneous != 0 }

// Filler reports whether the frame only moves time on.
func (f *Frame) Filler() bool { return f.Mask == filler && len(f.Lists[0]) == 0 }

// For returns what a view learns.
func (f *Frame) For(v View) []Message {
	switch bit := uint8(1) << v; {
	case f.Mask&bit == 0:
		return nil
	case f.Homogeneous():
		return f.Lists[0]
	default:
		return f.Lists[bits.OnesCount8(f.Mask&(bit-1))]
	}
}

// frameSize returns how many bytes the frame has that begins with the bytes of head, which are its
// first 4 at least, and how many of them stand before the payload. An error has an offset in the frame.
func frameSize(head []byte, players int) (size, before int, err *Error) {
	b2, b3 := head[2], head[3]
	switch {
	case b3&homogeneous != 0:
		if b3&^homogeneous == 0 && b2 > 0 {
			return 0, 0, bad(ErrNoParticipants, 3, "%d bytes of messages for no view", b2)
		}
		return minFrame + int(b2), minFrame, nil
	case b2&homogeneous != 0:
		return 0, 0, bad(ErrFrameKind, 2, "bytes %02x %02x: of the two only the second, or none, may have the top bit", b2, b3)
	case b2 == 0:
		return 0, 0, bad(ErrEmptyMask, 2, "the mask names no view")
	case b2>>(players+1) != 0:
		return 0, 0, bad(ErrView, 2, "mask %08b names player %d of %d", b2, bits.Len8(b2)-1, players)
	}
	before = 3 + bits.OnesCount8(b2)
	size = before
	for _, n := range head[3:min(before, len(head))] {
		size += int(n)
	}
	return size, before, nil
}

// decode reads the messages of a frame of which all bytes are there. An error has an offset in the
// frame.
func (f *Frame) decode(b []byte, before int, s *Start) *Error {
	f.Delta, f.Size, f.tiles = binary.BigEndian.Uint16(b), len(b), f.tiles[:0]
	p := payload{start: s, tiles: f.tiles}
	lengths := b[2:3]
	if f.Mask = b[3]; !f.Homogeneous() {
		f.Mask, lengths = b[2], b[3:before]
	}
	f.Lists = grown(f.Lists, len(lengths))
	end := before
	for i, n := range lengths {
		list := f.Lists[i][:0]
		p.next, end = end, end+int(n)
		for p.b = b[:end]; p.next < end; {
			m, err := p.message()
			if err != nil {
				return err
			}
			list = append(list, m)
		}
		f.Lists[i] = list
	}
	f.tiles = p.tiles
	return nil
}

// grown returns lists with length n and keeps the memory of each.
func grown(lists [][]Message, n int) [][]Message {
	for cap(lists) < n {
		lists = append(lists[:cap(lists)], nil)
	}
	return lists[:n]
}

// append mirrors decode: it appends a frame as it is, canonical or not.
func (f *Frame) append(dst []byte) ([]byte, *Error) {
	dst = binary.BigEndian.AppendUint16(dst, f.Delta)
	at := len(dst)
	if f.Homogeneous() {
		dst = append(dst, 0, f.Mask)
	} else {
		dst = append(append(dst, f.Mask), make([]byte, len(f.Lists))...)
		at++
	}
	for i, list := range f.Lists {
		from := len(dst)
		for k := range list {
			if err := list[k].check(); err != nil {
				return dst, err
			}
			dst = appendMessage(dst, &list[k])
		}
		n := len(dst) - from
		if limit := f.limit(i); n > limit {
			return dst, unwritable(ErrValue, "%d bytes of messages for a view; here are at most %d", n, limit)
		}
		dst[at+i] = byte(n)
	}
	return dst, nil
}

// limit is how long the payload for a list may be.
func (f *Frame) limit(list int) int {
	if !f.Homogeneous() && list == 0 {
		return maxFirst
	}
	return maxPayload
}
