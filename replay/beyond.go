package replay

import (
	"bytes"
	"encoding/binary"
	"io"
)

// Beyond looks for frames behind the end of what is whole of a recording, and returns the offset
// of the first one that it finds. If there is one, the frame that begins at the end is not cut
// short, although it may read so, but damaged. It finds the frame of one of the next million ticks if
// it is followed by that of the next; that of the tick after the end's also if it is followed by a part of
// the next, or ends with the recording.
func Beyond(recording io.ReaderAt, size int64, h *Header, end Position) (offset int64, found bool) {
	const (
		window = 1 << 16
		most   = 1 << 12 // places that look like a frame: expiries of commands do, too
		ticks  = 1_000_000
		bytes  = 8 // of the tick, with which a frame begins
	)
	due := h.after() + uint64(end.Frame) + 2
	b := make([]byte, window)
	for from, looks := end.Offset+1, 0; from < size && looks < most; {
		n, err := recording.ReadAt(b[:min(window, size-from)], from)
		for i := 0; i+bytes <= n && looks < most; i++ {
			tick := binary.LittleEndian.Uint64(b[i:])
			if tick-due >= ticks {
				continue
			}
			looks++
			if at := from + int64(i); goesOn(recording, size, h, Position{Frame: end.Frame + 1 + int(tick-due), Offset: at}, tick, tick > due) {
				return at, true
			}
		}
		if err != nil || n < bytes {
			return 0, false
		}
		from += int64(n - bytes + 1)
	}
	return 0, false
}

// goesOn reports whether the frame of a tick stands at a place, and that of the next tick behind
// it, as far as there is something; if it must be whole, the tick of that one.
func goesOn(recording io.ReaderAt, size int64, h *Header, at Position, tick uint64, whole bool) bool {
	r := ResumeReader(io.NewSectionReader(recording, at.Offset, size-at.Offset), *h, at)
	var f Frame
	if r.Next(&f) != nil || f.Tick != tick {
		return false
	}
	next := binary.LittleEndian.AppendUint64(nil, tick+1)
	if left := size - r.Offset(); left < int64(len(next)) {
		if whole {
			return false
		}
		next = next[:left]
	}
	is := make([]byte, len(next))
	_, err := recording.ReadAt(is, r.Offset())
	return (err == nil || err == io.EOF) && bytes.Equal(is, next)
}
