package files

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"time"
)

// ReaderPatience is how long a reader may take nothing after the context has ended.
const ReaderPatience = time.Second

// ErrUnread is the error of writing to a pipe that no process reads any more.
var ErrUnread = errors.New("interrupted, since nothing reads it")

// A PatientWriter writes to a pipe or the like. While the context lasts, it waits for the reader
// as long as that takes. When the context has ended, what is read is still written, but a
// reader that takes nothing for [ReaderPatience] is given up, for good, with [ErrUnread].
type PatientWriter struct {
	ctx  context.Context
	w    io.Writer
	path string         // of the file; "" for standard output
	err  error          // ErrUnread, of the file
	buf  [64 << 10]byte // the caller's may be used again when the reader has been given up
}

// NewPatientWriter returns a writer to a file, whose path is "" for standard output.
func NewPatientWriter(ctx context.Context, w io.Writer, path string) *PatientWriter {
	return &PatientWriter{ctx: ctx, w: w, path: path}
}

// Write implements [io.Writer].
func (p *PatientWriter) Write(b []byte) (n int, err error) {
	for n < len(b) && err == nil {
		var wrote int
		wrote, err = p.write(b[n:])
		n += wrote
	}
	return n, err
}

// write writes a part.
func (p *PatientWriter) write(b []byte) (int, error) {
	if p.err != nil {
		return 0, p.err
	}
	patience, end := context.WithCancel(context.Background())
	defer end()
	defer context.AfterFunc(p.ctx, func() { time.AfterFunc(ReaderPatience, end) })()
	part := p.buf[:copy(p.buf[:], b)]
	n, err := Await(patience, func() (int, error) { return p.w.Write(part) }, nil, nil)
	if patience.Err() != nil && err == patience.Err() {
		if p.err = ErrUnread; p.path != "" {
			p.err = &fs.PathError{Op: "write", Path: p.path, Err: ErrUnread}
		}
		return n, p.err
	}
	return n, err
}

// Waits reports whether writing may wait for ever.
func Waits(w io.Writer) bool {
	f, ok := w.(*os.File)
	if !ok {
		return false
	}
	info, err := f.Stat()
	return err == nil && !info.Mode().IsRegular()
}
