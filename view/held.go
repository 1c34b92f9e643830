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
	heldBlock  = 64 << 10 // bytes that one digest of a held file covers
	heldBlocks = 4        // of those that are kept: for cursors that read in turn
)

// errChanged is the error of a file whose bytes are not what they were when they were first read.
var errChanged = errors.New("the file was changed while it was looked at; open it again")

// A held file is one whose bytes are those that were read first: what a replay has compared is what is shown later, too.
type held struct {
	file io.ReaderAt
	size int64

	mu    sync.Mutex
	sums  [][sha256.Size]byte // by block
	known []bool
	kept  []keptBlock // the one that was used last is the first
}

// A keptBlock is bytes that were compared.
type keptBlock struct {
	at   int
	data []byte
}

// hold returns a file whose bytes cannot become others unnoticed. What lies in memory is its own.
func hold(file io.ReaderAt, size int64) io.ReaderAt {
	if _, memory := file.(*bytes.Reader); memory || file == nil {
		return file
	}
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

// load returns a block, which must be what it was.
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

// room returns memory for a block: that of the one that was used longest ago, if there are enough.
func (h *held) room() []byte {
	last := len(h.kept) - 1
	if last+1 < heldBlocks {
		return make([]byte, heldBlock)
	}
	data := h.kept[last].data
	h.kept = h.kept[:last]
	return data[:heldBlock]
}
