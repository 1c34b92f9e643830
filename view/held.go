package view

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"io"
	"slices"
	"sync"
)

const (
	heldBlock  = 64 << 10 // bytes per digest of a held file
	heldBlocks = 4        // blocks kept in memory, for cursors that take turns reading
)

// errChanged is the error for a file whose bytes are no longer what was first read.
var errChanged = errors.New("the file was changed while it was looked at; open it again")

// A held is a file whose bytes must stay as they were first read: what is shown later is what a replay has compared.
type held struct {
	file io.ReaderAt
	size int64

	mu    sync.Mutex
	sums  [][sha256.Size]byte // by block
	known []bool
	kept  []keptBlock // most recently used first
}

// A keptBlock is a block whose digest was checked.
type keptBlock struct {
	at   int
	data []byte
}

// hold returns a file that detects when its bytes change. A file in memory is returned as it is.
func hold(file io.ReaderAt, size int64) io.ReaderAt {
	if _, memory := file.(*bytes.Reader); memory || file == nil {
		return file
	}
	return newHeld(file, size)
}

func newHeld(file io.ReaderAt, size int64) *held {
	n := (size + heldBlock - 1) / heldBlock
	return &held{file: file, size: size, sums: make([][sha256.Size]byte, n), known: make([]bool, n)}
}

// ReadAt implements [io.ReaderAt].
func (h *held) ReadAt(b []byte, off int64) (n int, err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for n < len(b) {
		if off+int64(n) >= h.size {
			return n, io.EOF
		}
		data, err := h.load(int((off + int64(n)) / heldBlock))
		if err != nil {
			return n, err
		}
		n += copy(b[n:], data[(off+int64(n))%heldBlock:])
	}
	return n, nil
}

// load returns a block, after checking that it has not changed.
func (h *held) load(block int) ([]byte, error) {
	if i := slices.IndexFunc(h.kept, func(k keptBlock) bool { return k.at == block }); i >= 0 {
		k := h.kept[i]
		copy(h.kept[1:i+1], h.kept[:i])
		h.kept[0] = k
		return k.data, nil
	}
	begin := int64(block) * heldBlock
	data := h.room()[:min(heldBlock, h.size-begin)]
	if n, err := h.file.ReadAt(data, begin); n < len(data) {
		if err == io.EOF {
			return nil, errChanged // it has become shorter
		}
		return nil, err
	}
	sum := sha256.Sum256(data)
	if h.known[block] && sum != h.sums[block] {
		return nil, errChanged
	}
	h.known[block], h.sums[block] = true, sum
	h.kept = slices.Insert(h.kept, 0, keptBlock{block, data})
	return data, nil
}

// digest returns the digest of the digests of all blocks, of which it reads those that are not known yet.
func (h *held) digest() (sum [sha256.Size]byte, err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	all := sha256.New()
	for i := range h.sums {
		if !h.known[i] {
			if _, err := h.load(i); err != nil {
				return sum, err
			}
		}
		all.Write(h.sums[i][:])
	}
	return [sha256.Size]byte(all.Sum(nil)), nil
}

// room returns memory for a block. Once heldBlocks are kept, it reuses the least recently used one.
func (h *held) room() []byte {
	last := len(h.kept) - 1
	if last+1 < heldBlocks {
		return make([]byte, heldBlock)
	}
	data := h.kept[last].data
	h.kept = h.kept[:last]
	return data[:heldBlock]
}
