package replay

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/murksim/murksim/commands"
)

// WholePart finds the position after the last whole frame of a recording, and why it ends there: nil if nothing follows. [ErrTruncated] is in the
// chain where a process was killed while it wrote a frame; a frame that only reads so, because its length was changed, hides others, and is
// malformed. The header is nil if not even that is whole. Passed, if it is not nil, is called after each frame; its error ends the search.
func WholePart(recording io.ReaderAt, size int64, passed func(Position) error) (end Position, h *Header, reason error) {
	frames, err := NewReader(io.NewSectionReader(recording, 0, size))
	if err != nil {
		return end, nil, err
	}
	h = frames.Head()
	end, reason = frames.Prefix(passed)
	if !errors.Is(reason, ErrTruncated) {
		return end, h, reason
	}
	if at, found := beyond(recording, size, h, end); found {
		reason = &FormatError{
			Offset: end.Offset, Frame: end.Frame, Kind: ErrMalformed,
			Detail: fmt.Sprintf("a frame that claims more bytes than there are, though frames go on at byte %d", at),
		}
	}
	return end, h, reason
}

// beyond looks for frames behind the end of what is whole of a recording, and returns the offset
// of the first one that it finds. If there is one, the frame that begins at the end is not cut
// short, although it may read so, but damaged. It finds the frame of one of the next million ticks if
// it is followed by that of the next; that of the tick after the end's also if it is followed by a part of
// the next, or ends with the recording. A frame that reads as one that was torn while it was written is cut short, whatever its commands hold.
func beyond(recording io.ReaderAt, size int64, h *Header, end Position) (offset int64, found bool) {
	const (
		window   = 1 << 16
		most     = 1 << 12 // places that look like the frame of the tick after the end's, and like one of a later tick: expiries of commands do, too
		later    = 1_000_000
		tickSize = 8 // a frame begins with its tick
	)
	if torn(recording, size, h, end) {
		return 0, false
	}
	due := h.after() + uint64(end.Frame) + 2
	b := make([]byte, window)
	looks := map[bool]int{} // by whether the tick is a later one
	for from := end.Offset + 1; from < size; {
		n, err := recording.ReadAt(b[:min(window, size-from)], from)
		for i := 0; i+tickSize <= n; i++ {
			tick := binary.LittleEndian.Uint64(b[i:])
			if tick-due >= later || looks[tick > due] == most {
				continue
			}
			looks[tick > due]++
			if at := from + int64(i); goesOn(recording, size, h, Position{Frame: end.Frame + 1 + int(tick-due), Offset: at}, tick, tick > due) {
				return at, true
			}
		}
		if err != nil || n < tickSize {
			return 0, false
		}
		from += int64(n - tickSize + 1)
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

// torn reports whether the end of the file is the beginning of the tick's frame: its commands decode, and the last one, which is
// incomplete, decodes as far as it goes. If a length was changed, the bytes after it are taken for a command, which does not decode.
func torn(recording io.ReaderAt, size int64, h *Header, end Position) bool {
	const most = 64 << 20 // limit in bytes: a writer flushes far sooner
	if size-end.Offset > most {
		return false
	}
	b := make([]byte, size-end.Offset)
	if _, err := recording.ReadAt(b, end.Offset); err != nil && err != io.EOF {
		return false
	}
	if len(b) < frameHead {
		return true
	}
	if binary.LittleEndian.Uint64(b) != h.after()+uint64(end.Frame)+1 {
		return false
	}
	count := binary.LittleEndian.Uint32(b[8:])
	b = b[frameHead:]
	var c commands.Command
	for range count {
		n, err := c.DecodeFrom(b)
		if err == nil {
			b = b[n:]
			continue
		}
		const head = 1 + 4 // tag and length of the payload
		if len(b) < head {
			return true
		}
		tag, length, payload := b[0], binary.LittleEndian.Uint32(b[1:]), b[head:]
		if uint64(len(payload)) >= uint64(length) { // what follows the payload is cut
			return c.Decode(tag, payload[:length]) == nil && len(payload)-int(length) < minCommandSize+2*8-head
		}
		if length > MaxBytes {
			return false
		}
		err = c.Decode(tag, append(payload, make([]byte, int(length)-len(payload))...)) // zeros stand for what is missing
		e, ok := errors.AsType[*commands.PayloadError](err)
		return err == nil || ok && e.Offset >= len(payload)
	}
	return true
}
