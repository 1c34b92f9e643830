package replay

import (
	"bytes"
	"encoding/binary"
	"io"
)

// Beyond looks for frames behind the end of what is whole of a recording, and returns the offset
// of the first one that it finds. If there is one, the frame that begins at the end is not cut
// short, although it may read so, but damaged. It finds the frame of the tick after that one's if
// it is followed by the next, or by a part of it, or ends with the recording.
func Beyond(recording io.ReaderAt, size int64, h *Header, end Position) (offset int64, found bool) {
	const (
		window = 1 << 16
		most   = 1 << 12 // places that look like a frame: expiries of commands do, too
	)
	due := h.after() + uint64(end.Frame) + 2
	first := binary.LittleEndian.AppendUint64(nil, due)
	b := make([]byte, window)
	for from, looks := end.Offset+1, 0; from < size && looks < most; {
		n, err := recording.ReadAt(b[:min(window, size-from)], from)
		if n < len(first) {
			return 0, false
		}
		i := bytes.Index(b[:n], first)
		switch {
		case i >= 0:
			looks++
			if at := from + int64(i); goesOn(recording, size, h, Position{Frame: end.Frame + 1, Offset: at}, due) {
				return at, true
			}
			from += int64(i) + 1
		case err != nil:
			return 0, false
		default:
			from += int64(n - len(first) + 1)
		}
	}
	return 0, false
}

// goesOn reports whether the frame of a tick stands at a place, and that of the next tick behind
// it, as far as there is something.
func goesOn(recording io.ReaderAt, size int64, h *Header, at Position, tick uint64) bool {
	r := ResumeReader(io.NewSectionReader(recording, at.Offset, size-at.Offset), *h, at)
	var f Frame
	if r.Next(&f) != nil || f.Tick != tick {
		return false
	}
	next := binary.LittleEndian.AppendUint64(nil, tick+1)
	next = next[:min(int64(len(next)), size-r.Offset())]
	is := make([]byte, len(next))
	_, err := recording.ReadAt(is, r.Offset())
	return (err == nil || err == io.EOF) && bytes.Equal(is, next)
}
