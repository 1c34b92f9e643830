package cli

import (
	"context"
	"io"
	"os"
	"time"
)

// openInput opens a file to read. Where opening or reading may wait for ever, as with a pipe,
// both end with the context.
func openInput(ctx context.Context, path string) (io.ReadCloser, error) {
	if !isPipe(path) {
		return os.Open(path)
	}
	f, err := await(ctx, func() (*os.File, error) { return os.Open(path) }, nil, nil)
	if err != nil {
		return nil, err
	}
	return struct {
		io.Reader
		io.Closer
	}{patient(ctx, f), f}, nil
}

// isPipe reports whether a path is neither a regular file nor a folder nor missing.
func isPipe(path string) bool {
	info, err := os.Stat(path)
	return err == nil && !info.Mode().IsRegular() && !info.IsDir()
}

// patient returns a reader of what may have nothing to give for long; reading ends with the
// context. Regular files are returned as they are.
func patient(ctx context.Context, r io.Reader) io.Reader {
	if f, ok := r.(*os.File); ok {
		if info, err := f.Stat(); err == nil && info.Mode().IsRegular() {
			return r
		}
	}
	return &patientReader{ctx: ctx, r: r}
}

type patientReader struct {
	ctx context.Context
	r   io.Reader
	buf [64 << 10]byte // the caller's may be used again after the context has ended
}

func (p *patientReader) Read(b []byte) (int, error) {
	if err := p.ctx.Err(); err != nil {
		return 0, err
	}
	n, err := await(p.ctx, func() (int, error) { return p.r.Read(p.buf[:min(len(b), len(p.buf))]) }, nil, nil)
	return copy(b, p.buf[:n]), err
}

// await returns what f returns, and calls tick now and then until it does. If the context ends
// first, it returns its error and leaves f, which may wait for ever, behind.
func await[T any](ctx context.Context, f func() (T, error), every <-chan time.Time, tick func()) (T, error) {
	type result struct {
		value T
		err   error
	}
	done := make(chan result, 1)
	go func() {
		v, err := f()
		done <- result{v, err}
	}()
	for {
		select {
		case r := <-done:
			return r.value, r.err
		case <-ctx.Done():
			var none T
			return none, ctx.Err()
		case <-every:
			tick()
		}
	}
}
