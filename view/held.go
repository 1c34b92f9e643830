package view

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"io"
	"sync"
)

// heldBlock is how many bytes one digest of a held file covers.
const heldBlock = 64 << 10

// errChanged is the error of a file whose bytes are not what they were when they were first read.
var errChanged = errors.New("the file was changed while it was looked at; open it again")

// A held file is one whose bytes are those that were read first: what a replay has compared is what is shown later, too.
type held struct {
	file io.ReaderAt
	size int64

	mu    sync.Mutex
	sums  [][sha256.Size]byte // by block
	known []bool
	at    int    // the block that buf holds; below 0: none
	buf   []byte // of it
}

// hold returns a file whose bytes cannot become others unnoticed. What lies in memory is its own.
func hold(file io.ReaderAt, size int64) io.ReaderAt {
	if _, memory := file.(*bytes.Reader); memory || file == nil {
		return file
	}
	n := (size + heldBlock - 1) / heldBlock
	return &held{file: file, size: size, sums: make([][sha256.Size]byte, n), known: make([]bool, n), at: -1}
}

// ReadAt implements [io.ReaderAt].
func (h *held) ReadAt(b []byte, off int64) (n int, err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for n < len(b) {
		if off+int64(n) >= h.size {
			return n, io.EOF
		}
		if err := h.load(int((off + int64(n)) / heldBlock)); err != nil {
			return n, err
		}
		n += copy(b[n:], h.buf[(off+int64(n))%heldBlock:])
	}
	return n, nil
}

// load reads a block, which must be what it was.
func (h *held) load(block int) error {
	if h.at == block {
		return nil
	}
	begin := int64(block) * heldBlock
	if h.buf == nil {
		h.buf = make([]byte, heldBlock)
	}
	h.at, h.buf = -1, h.buf[:min(heldBlock, h.size-begin)]
	if n, err := h.file.ReadAt(h.buf, begin); n < len(h.buf) {
		if err == io.EOF {
			return errChanged // it has become shorter
		}
		return err
	}
	sum := sha256.Sum256(h.buf)
	if h.known[block] && sum != h.sums[block] {
		return errChanged
	}
	h.at, h.known[block], h.sums[block] = block, true, sum
	return nil
}
