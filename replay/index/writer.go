package index

import (
	"encoding/binary"
	"hash/crc32"
	"io"
)

// A writer appends chunks. After its first error it writes nothing more.
type writer struct {
	sink   io.Writer
	offset int64
	err    error
	head   []byte
}

func (w *writer) write(b []byte) {
	if w.err != nil {
		return
	}
	n, err := w.sink.Write(b)
	if w.offset += int64(n); err == nil && n < len(b) {
		err = io.ErrShortWrite
	}
	w.err = err
}

// chunk appends a chunk. Head and payload are written in one go where they are small, so
// that a crash rarely cuts a chunk.
func (w *writer) chunk(c chunkHead, payload []byte) {
	c.length = uint32(len(payload))
	w.head = c.append(w.head[:0])
	const small = 64 << 10
	sum := crc32.Checksum(payload, castagnoli)
	if len(payload) > small {
		w.write(w.head)
		w.write(payload)
		w.head = w.head[:0]
	} else {
		w.head = append(w.head, payload...)
	}
	w.write(binary.LittleEndian.AppendUint32(w.head, sum))
}
