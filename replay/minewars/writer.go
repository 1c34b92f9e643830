package minewars

import (
	"encoding/binary"
	"io"
)

// A Writer writes a file of updates. It holds all frames until it is closed, because the header comes
// first; they are at most 65,535 bytes.
type Writer struct {
	encoder *Encoder
	start   Start
	frames  []byte
	open    func(part int) (io.WriteCloser, error) // of [NewParts]
	part    int
	w       io.Writer
	err     error
}

// NewWriter returns a writer of one file. An update for which the file has no room is an
// [ErrTooLarge].
func NewWriter(w io.Writer, s Start) (*Writer, error) {
	e, err := NewEncoder(s)
	return &Writer{encoder: e, start: s, w: w}, err
}

// NewParts returns a writer of as many files as needed, which it opens by their numbers, from 1 on,
// and closes. Each is a whole file, and ticks count on from one to the next.
func NewParts(s Start, open func(part int) (io.WriteCloser, error)) (*Writer, error) {
	e, err := NewEncoder(s)
	return &Writer{encoder: e, start: s, open: open}, err
}

// Write writes an update, whose tick must be above that of the last one. An error is final.
func (w *Writer) Write(u *Update) error {
	return w.add(u.Tick, func(b []byte) ([]byte, error) { return w.encoder.Append(b, u) })
}

// Idle says that nothing happens up to a tick, such as the last one.
func (w *Writer) Idle(tick uint64) error {
	return w.add(tick, func(b []byte) ([]byte, error) { return w.encoder.AppendIdle(b, tick), nil })
}

// add adds frames; if they are too many, those before them become a part.
func (w *Writer) add(tick uint64, frames func([]byte) ([]byte, error)) error {
	if w.err != nil {
		return w.err
	}
	before := len(w.frames)
	if w.frames, w.err = frames(w.frames); w.err != nil {
		return w.err
	}
	for len(w.frames) > maxFrames && w.err == nil {
		if w.open == nil {
			w.err = &Error{Kind: ErrTooLarge, Offset: -1, Tick: tick, Detail: "a file has at most 65,535 bytes of frames; the game must be written in parts"}
			break
		}
		cut := before
		if cut == 0 { // one update
			cut = lastFrame(w.frames, maxFrames)
		}
		rest := w.frames[cut:]
		w.frames = w.frames[:cut]
		w.err = w.finish()
		w.frames, before = append(w.frames[:0], rest...), 0
	}
	return w.err
}

// lastFrame returns the end of the last frame that ends at a limit, or before it.
func lastFrame(frames []byte, limit int) (end int) {
	for {
		head := frames[end:]
		size, _, err := frameSize(head[:min(len(head), maxFrameBytes)], MaxPlayers)
		if err != nil || end+size > limit {
			return end
		}
		end += size
	}
}

// finish writes a file of the frames.
func (w *Writer) finish() error {
	b, err := appendFile(nil, w.start, w.frames, storedBlocks{})
	if err != nil {
		return err
	}
	if w.open == nil {
		_, err = w.w.Write(b)
		return err
	}
	w.part++
	file, err := w.open(w.part)
	if err != nil {
		return err
	}
	if _, err := file.Write(b); err != nil {
		file.Close()
		return err
	}
	return file.Close()
}

// Close writes the file, or the last part. It does not close the writer of [NewWriter].
func (w *Writer) Close() error {
	if w.err == nil {
		w.err = w.finish()
		if w.err == nil {
			w.err = io.ErrClosedPipe
			return nil
		}
	}
	return w.err
}

// appendFile appends a file of frames. What is stored, if given, takes the place of what our own
// encoder would make of the map or the frames.
func appendFile(dst []byte, s Start, frames []byte, stored storedBlocks) ([]byte, error) {
	from := len(dst)
	dst = append(dst, make([]byte, headerSize)...)
	dst, err := appendStart(dst, s, stored.mapBlock)
	if err != nil {
		return dst[:from], err
	}
	end := len(dst)
	block := stored.frames
	if block == nil {
		block = frames
		if small := compress(nil, frames, s.dictionary()); len(small) < len(frames) {
			block = small
		}
	}
	dst = append(dst, block...)
	b := dst[from:]
	data := headerSize + fixedSize
	for _, name := range s.Names {
		data += 1 + len(name)
	}
	binary.BigEndian.PutUint16(b[24:], uint16(len(block)))
	binary.BigEndian.PutUint16(b[26:], uint16(len(frames)))
	binary.BigEndian.PutUint64(b[8:], seaHash(b[data:end-from]))
	binary.BigEndian.PutUint64(b[16:], seaHash(b[end-from:]))
	binary.BigEndian.PutUint64(b, seaHash(b[8:data]))
	return dst, nil
}

// IsFile reports whether a file begins with these bytes, of which 2 KiB suffice: whether its first
// checksum holds.
func IsFile(head []byte) bool {
	const flags = headerSize
	if len(head) < headerSize+fixedSize {
		return false
	}
	data := headerSize + fixedSize
	if head[flags]&flagAnonymous == 0 {
		for range head[flags+4] {
			if data >= len(head) {
				return false
			}
			data += 1 + int(head[data])
		}
	}
	return data <= len(head) && seaHash(head[8:data]) == binary.BigEndian.Uint64(head)
}

// IsStream reports whether a network stream may begin with these bytes: whether they could be the
// fixed part of an initialization sequence. Files never begin so, but by chance.
func IsStream(head []byte) bool {
	r := startReader{raw: head}
	return len(head) >= fixedSize && r.fixed(false) == nil
}
