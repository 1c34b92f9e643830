package session

import (
	"github.com/murksim/murksim/internal/files"
	"github.com/murksim/murksim/replay/index"
)

// IndexName returns where the index of a recording lies.
func IndexName(recording string) string { return recording + ".idx" }

// An OpenedIndex is the index of a file.
type OpenedIndex struct {
	*index.Index
	File files.Seekable
}

// OpenIndex opens an index, of which it trusts what this user and program has sealed, and returns its size.
func OpenIndex(path string) (x *OpenedIndex, size int64, err error) {
	f, size, err := files.OpenSeekable(path)
	if err != nil {
		return nil, 0, err
	}
	opened, err := index.Open(f, size)
	if err != nil {
		f.Close()
		return nil, 0, err
	}
	opened.Trust(IndexKey(false))
	return &OpenedIndex{opened, f}, size, nil
}

// Close closes the file; of nil it does nothing.
func (x *OpenedIndex) Close() {
	if x != nil {
		x.File.Close()
	}
}
