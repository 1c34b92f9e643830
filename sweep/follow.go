package sweep

import (
	"bufio"
	"errors"
	"io"
	"os"
)

// ErrReplaced reports that the file at the journal's path was replaced or cut, so what was read of it
// may be wrong.
var ErrReplaced = errors.New("the journal was replaced or cut while it was read")

// A Follower reads a journal that another process may be writing: to its end, and then on as it grows. It reads
// each line once, and only when it is complete.
type Follower struct {
	*Journal // what was read so far. It is not to be written to; an --extend gives it another Plan

	path  string
	first [8]byte // of the file: the checksum of its first line, which no other sweep has
}

// FollowJournal opens a journal and reads its first line.
func FollowJournal(path string) (*Follower, error) {
	if err := regular(path); err != nil {
		return nil, err
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	w := &Follower{Journal: &Journal{file: f}, path: path}
	if err := w.head(); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return w, nil
}

// head reads the first line.
func (f *Follower) head() error {
	line, err := readLine(bufio.NewReaderSize(f.file, 1<<16), nil)
	switch {
	case errors.Is(err, io.EOF), errors.Is(err, bufio.ErrBufferFull), len(line) < len(f.first):
		return ErrNoJournal
	case err != nil:
		return err
	}
	copy(f.first[:], line)
	if err := f.take(line, nil); err != nil {
		return err
	}
	f.size = int64(len(line))
	return nil
}

// Next continues reading. It reads at least one line, if a complete one is there, and starts none after so many bytes. It calls visit
// with each row that it takes in. It reports whether there may be more to read right away. After [ErrReplaced] the journal must be opened
// again.
func (f *Follower) Next(most int64, visit func(*Row)) (more bool, err error) {
	size, err := f.current()
	if err != nil {
		return false, err
	}
	in := bufio.NewReaderSize(io.NewSectionReader(f.file, f.size, size-f.size), int(min(1<<20, max(most, 1<<12))))
	var line []byte
	for end := f.size + most; f.size < end; {
		line, err = readLine(in, line[:0])
		if errors.Is(err, io.EOF) {
			return false, nil
		} else if err != nil {
			return false, err
		}
		if err := f.take(line, visit); err != nil {
			return false, err
		}
		f.size += int64(len(line))
	}
	return f.size < size, nil
}

// Read returns how many bytes of the journal were read.
func (f *Follower) Read() int64 { return f.size }

// Stat describes the file of the journal.
func (f *Follower) Stat() (os.FileInfo, error) { return f.file.Stat() }

// current checks that the file is still the one that was read, and returns its size.
func (f *Follower) current() (size int64, err error) {
	there, err := os.Stat(f.path)
	if err != nil {
		return 0, err
	}
	mine, err := f.file.Stat()
	if err != nil {
		return 0, err
	}
	var first [len(f.first)]byte
	var last [1]byte
	_, err1 := f.file.ReadAt(first[:], 0)
	_, err2 := f.file.ReadAt(last[:], f.size-1)
	if !os.SameFile(there, mine) || mine.Size() < f.size || err1 != nil || err2 != nil || first != f.first || last[0] != '\n' {
		return 0, ErrReplaced
	}
	return mine.Size(), nil
}

// readLine appends the next line to a slice. Without an end of the line the error is io.EOF; what is longer than any line may be is
// bufio.ErrBufferFull.
func readLine(in *bufio.Reader, line []byte) ([]byte, error) {
	for {
		part, err := in.ReadSlice('\n')
		line = append(line, part...)
		if !errors.Is(err, bufio.ErrBufferFull) || len(line) >= maxLine {
			return line, err
		}
	}
}
