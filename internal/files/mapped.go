package files

import (
	"errors"
	"io"
	"os"
	"runtime/debug"

	"golang.org/x/exp/mmap"
)

// A Seekable is a file that is read at any place, by any number of goroutines.
type Seekable interface {
	io.ReaderAt
	io.Closer
}

// OpenSeekable opens a file, as long as it is now: mapped into memory where that is possible,
// else by reading. It waits for none.
func OpenSeekable(path string) (f Seekable, size int64, err error) {
	if IsPipe(path) {
		return nil, 0, &os.PathError{Op: "open", Path: path, Err: errors.New("it is no regular file")}
	}
	if m, err := mmap.Open(path); err == nil {
		return mapped{m}, int64(m.Len()), nil
	}
	file, err := os.Open(path)
	if err != nil {
		return nil, 0, err
	}
	if size, err = file.Seek(0, io.SeekEnd); err != nil {
		file.Close()
		return nil, 0, err
	}
	return file, size, nil
}

// A mapped file may become shorter, and its disk may fail, while it is read; where that
// would end the program, reading fails instead.
type mapped struct{ *mmap.ReaderAt }

// ReadAt implements [io.ReaderAt].
func (m mapped) ReadAt(b []byte, at int64) (n int, err error) {
	if at >= int64(m.Len()) {
		return 0, io.EOF
	}
	before := debug.SetPanicOnFault(true)
	defer func() {
		debug.SetPanicOnFault(before)
		switch fault := recover().(type) {
		case nil:
		case interface{ Addr() uintptr }: // see [debug.SetPanicOnFault]
			n, err = 0, errShrunk
		default:
			panic(fault)
		}
	}()
	return m.ReaderAt.ReadAt(b, at)
}

var errShrunk = errors.New("the file became shorter while it was read, or its disk failed")
