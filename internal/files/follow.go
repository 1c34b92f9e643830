package files

import (
	"context"
	"fmt"
	"io"
	"os"
	"time"
)

// A Follower reads a file that another process may be writing. Where the file ends, it waits for more until nobody writes it any more, or End is
// called. It belongs to one goroutine.
type Follower struct {
	ctx     context.Context
	file    *os.File
	at      int64
	writing func(*os.File) bool
	ended   bool
}

// Follow opens a file to be followed. Writing reports whether a process has it open to write.
func Follow(ctx context.Context, path string, writing func(*os.File) bool) (*Follower, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		f.Close()
		return nil, fmt.Errorf("it is no regular file, which could be followed")
	}
	return &Follower{ctx: ctx, file: f, writing: writing}, nil
}

const (
	followEvery = 20 * time.Millisecond
	askEvery    = 50 // waits; asking is dearer
)

// Read implements [io.Reader]. It ends with the context.
func (f *Follower) Read(b []byte) (int, error) {
	for waits := 0; ; waits++ {
		n, err := f.file.ReadAt(b, f.at)
		if n > 0 || err != io.EOF || len(b) == 0 {
			f.at += int64(n)
			if err == io.EOF {
				err = nil
			}
			return n, err
		}
		switch info, err := f.file.Stat(); {
		case err != nil:
			return 0, err
		case info.Size() < f.at:
			return 0, fmt.Errorf("it was cut to %d bytes while it was followed", info.Size())
		case f.ended:
			return 0, io.EOF
		case waits%askEvery == 0 && !f.writing(f.file):
			f.ended = true // but for what was written before the writer ended
			continue
		}
		select {
		case <-f.ctx.Done():
			return 0, f.ctx.Err()
		case <-time.After(followEvery):
		}
	}
}

// End makes the file end where it ends now.
func (f *Follower) End() { f.ended = true }

// Close closes the file.
func (f *Follower) Close() error { return f.file.Close() }
