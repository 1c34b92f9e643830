package files

import (
	"context"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/murksim/murksim/internal/words"
	"github.com/murksim/murksim/scenarios/document"
)

// Open opens a file to read. Where opening or reading may wait for ever, as with a pipe,
// both end with the context.
func Open(ctx context.Context, path string) (io.ReadCloser, error) {
	if !IsPipe(path) {
		return os.Open(path)
	}
	f, err := Await(ctx, func() (*os.File, error) { return os.Open(path) }, nil, nil)
	if err != nil {
		return nil, err
	}
	return struct {
		io.Reader
		io.Closer
	}{Patient(ctx, f), f}, nil
}

// IsPipe reports whether a path is neither a regular file nor a folder nor missing.
func IsPipe(path string) bool {
	info, err := os.Stat(path)
	return err == nil && !info.Mode().IsRegular() && !info.IsDir()
}

// Patient returns a reader of what may have nothing to give for long; reading ends with the
// context. Regular files are returned as they are.
func Patient(ctx context.Context, r io.Reader) io.Reader {
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
	buf [64 << 10]byte // the caller may reuse its own after the context has ended
}

func (p *patientReader) Read(b []byte) (int, error) {
	if err := p.ctx.Err(); err != nil {
		return 0, err
	}
	n, err := Await(p.ctx, func() (int, error) { return p.r.Read(p.buf[:min(len(b), len(p.buf))]) }, nil, nil)
	return copy(b, p.buf[:n]), err
}

// Await returns what f returns, and calls tick now and then until it does. If the context ends
// first, it returns its error and leaves f, which may wait for ever, behind.
func Await[T any](ctx context.Context, f func() (T, error), every <-chan time.Time, tick func()) (T, error) {
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

// ReadSmall reads a file that is small if it is of the right kind.
func ReadSmall(path, what string) ([]byte, error) { return ReadAtMost(path, what, 1<<16) }

// ReadAtMost reads a file of so many bytes or fewer.
func ReadAtMost(path, what string, most int) ([]byte, error) {
	wrong := func(why string, args ...any) error {
		return fmt.Errorf("%s: not %s: it "+why, append([]any{document.FileName(path), what}, args...)...)
	}
	if IsPipe(path) { // which may keep us waiting
		return nil, wrong("is not a regular file")
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, words.About(path, err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err == nil && info.IsDir() {
		return nil, wrong("is a directory")
	}
	b, err := io.ReadAll(io.LimitReader(f, int64(most)+1))
	switch {
	case err != nil:
		return nil, words.About(path, err)
	case len(b) > most:
		return nil, wrong("has more than %d bytes", most)
	}
	return b, nil
}
