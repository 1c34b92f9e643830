package view

import (
	"io"
	"sync"

	"github.com/murksim/murksim/replay"
)

// A tape is a growing recording in memory. Its writer marks how much of it is complete; readers see only that. A
// write that would exceed the limit is dropped, and so is everything after it.
type tape struct {
	mu    sync.Mutex
	b     []byte
	most  int // bytes
	whole int64
	full  bool
}

// Write implements io.Writer. It never fails.
func (t *tape) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.full = t.full || len(t.b)+len(b) > t.most; !t.full {
		t.b = append(t.b, b...)
	}
	return len(b), nil
}

// mark marks all bytes written so far as complete, and reports whether there is room for more.
func (t *tape) mark() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.full {
		t.whole = int64(len(t.b))
	}
	return !t.full
}

func (t *tape) size() int64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.whole
}

// ReadAt implements io.ReaderAt.
func (t *tape) ReadAt(b []byte, at int64) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if at >= t.whole {
		return 0, io.EOF
	}
	n := copy(b, t.b[at:t.whole])
	if n < len(b) {
		return n, io.EOF
	}
	return n, nil
}

// A growing holds the bytes of a recording that may still grow.
type growing struct {
	io.ReaderAt
	size func() int64
}

// from returns the bytes from an offset to the current end.
func (g growing) from(offset int64) *io.SectionReader {
	return io.NewSectionReader(g.ReaderAt, offset, g.size()-offset)
}

// A follower reads the frames of a recording that may grow. At the end, it starts again there if more bytes have
// come. It keeps only the recording's bytes, not the recording itself.
type follower struct {
	*replay.Reader
	bytes growing
}

// Next implements [replay.Source].
func (f *follower) Next(frame *replay.Frame) error {
	err := f.Reader.Next(frame)
	if at := f.Position(); err == io.EOF && at.Offset < f.bytes.size() {
		f.Reader = replay.ResumeReader(f.bytes.from(at.Offset), *f.Head(), at)
		return f.Reader.Next(frame)
	}
	return err
}
