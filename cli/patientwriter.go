package cli

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"time"
)

// readerPatience is how long a reader may take nothing after the context has ended.
const readerPatience = time.Second

// errUnread is the error of writing what is not read any more.
var errUnread = errors.New("interrupted, since nothing reads it")

// A patientWriter writes to a pipe or the like. While the context lasts, it waits for the reader
// as long as that takes. When the context has ended, what is read is still written, but a
// reader that takes nothing for readerPatience is given up, for good.
type patientWriter struct {
	ctx  context.Context
	w    io.Writer
	path string         // of the file; "" for standard output
	err  error          // errUnread, of the file
	buf  [64 << 10]byte // the caller's may be used again when the reader has been given up
}

// Write implements [io.Writer].
func (p *patientWriter) Write(b []byte) (n int, err error) {
	for n < len(b) && err == nil {
		var wrote int
		wrote, err = p.write(b[n:])
		n += wrote
	}
	return n, err
}

// write writes a part.
func (p *patientWriter) write(b []byte) (int, error) {
	if p.err != nil {
		return 0, p.err
	}
	patience, end := context.WithCancel(context.Background())
	defer end()
	defer context.AfterFunc(p.ctx, func() { time.AfterFunc(readerPatience, end) })()
	part := p.buf[:copy(p.buf[:], b)]
	n, err := await(patience, func() (int, error) { return p.w.Write(part) }, nil, nil)
	if patience.Err() != nil && err == patience.Err() {
		if p.err = errUnread; p.path != "" {
			p.err = &fs.PathError{Op: "write", Path: p.path, Err: errUnread}
		}
		return n, p.err
	}
	return n, err
}

// waits reports whether writing may wait for ever.
func waits(w io.Writer) bool {
	f, ok := w.(*os.File)
	if !ok {
		return false
	}
	info, err := f.Stat()
	return err == nil && !info.Mode().IsRegular()
}
