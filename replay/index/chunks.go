package index

import (
	"encoding/binary"
	"io"
	"slices"
	"sync"

	"github.com/cespare/xxhash/v2"

	"github.com/murksim/murksim/fields"
)

// Chunks makes chunks of frames, digests and tiles.
type chunks struct {
	w       writer
	columns []column
	bytes   []byte // scratch memory
	changed []int  // likewise: tiles of a column

	span
	offset  int64  // where the last frame ends
	budget  int64  // bytes of tile hashes that the file may still have; 0 or less: the chunk has none
	waiting []span // for the hashes of their ticks
	spare   []span // for reuse
	hashes  hashList
}

// A span is what chunks of the same ticks hold.
type span struct {
	first, ticks uint64
	base         int64  // where the first frame begins
	frames       []byte // sizes
	digests      []byte
	tiles        []byte // empty: the budget does not allow them
}

// A hashList holds the recorded hashes of the ticks that are in no chunk yet. Any goroutine
// may use it.
type hashList struct {
	mu    sync.Mutex
	first uint64 // tick of the first
	list  []uint64
}

// add takes the hash of the tick after the last one, or once more that of an earlier one.
func (l *hashList) add(tick, hash uint64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if i := tick - l.first; tick >= l.first && i <= uint64(len(l.list)) {
		l.list = append(l.list[:i], hash)
	}
}

// take appends the hashes of the first ticks to b and forgets them, if all of them are known.
func (l *hashList) take(b []byte, ticks uint64) ([]byte, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if uint64(len(l.list)) < ticks {
		return b, false
	}
	for _, hash := range l.list[:ticks] {
		b = binary.LittleEndian.AppendUint64(b, hash)
	}
	l.list = l.list[:copy(l.list, l.list[ticks:])]
	l.first += ticks
	return b, true
}

// A column is what chunks remember of a field.
type column struct {
	tileLen int
	hashes  []uint64 // by tile
}

// begin makes ready for a first tick, whose frame begins at an offset.
func (r *chunks) begin(sink io.Writer, first uint64, frame, budget int64) {
	r.w.sink = sink
	r.hashes.first = first
	r.first, r.base, r.offset, r.budget = first, frame, frame, budget/2
}

// add appends a tick: the size of its frame, and the digests and the hashes of the tiles
// that are not those of the tick before. What is appended to the digests begins with a bit
// for each field: whether its digest follows. The first tick of a chunk has all.
func (r *chunks) add(h *heldTick) {
	r.frames = binary.AppendUvarint(r.frames, uint64(h.end-r.offset))
	r.offset = h.end
	mask := len(r.digests)
	r.digests = append(r.digests, make([]byte, (len(r.columns)+7)/8)...)
	for id := range r.columns {
		c := &r.columns[id]
		r.changed = r.changed[:0]
		whole, copies := h.state.Buffer(id), h.state.Tiles(id)
		for i, k := range copies.Which {
			if lo := int(k) * c.tileLen; whole != nil {
				r.tile(c, int(k), whole.Slice(lo, min(lo+c.tileLen, whole.Len())))
			} else {
				lo = i * c.tileLen
				r.tile(c, int(k), copies.Data.Slice(lo, min(lo+c.tileLen, copies.Data.Len())))
			}
		}
		if r.ticks == 0 {
			r.changed = r.changed[:0]
			for k := range c.hashes {
				r.changed = append(r.changed, k)
			}
		}
		if len(r.changed) > 0 || r.ticks == 0 {
			r.digests[mask+id/8] |= 1 << (id % 8)
			r.entry(c)
		}
	}
	r.ticks++
}

// tile hashes a tile, and notes if it has changed.
func (r *chunks) tile(c *column, k int, values fields.Column) {
	b, ok := view(&values)
	if !ok {
		r.bytes = values.AppendBytes(r.bytes[:0])
		b = r.bytes
	}
	if sum := xxhash.Sum64(b); sum != c.hashes[k] {
		c.hashes[k] = sum
		r.changed = append(r.changed, k)
	}
}

// entry appends the digest of a column, and the hashes of its changed tiles.
func (r *chunks) entry(c *column) {
	r.bytes = r.bytes[:0]
	for _, h := range c.hashes {
		r.bytes = binary.LittleEndian.AppendUint64(r.bytes, h)
	}
	r.digests = binary.LittleEndian.AppendUint64(r.digests, xxhash.Sum64(r.bytes))
	if r.budget <= 0 {
		return
	}
	r.tiles = binary.AppendUvarint(r.tiles, uint64(len(r.changed)))
	last := -1
	for _, k := range r.changed {
		r.tiles = binary.AppendUvarint(r.tiles, uint64(k-last-1))
		last = k
	}
	for _, k := range r.changed {
		r.tiles = binary.LittleEndian.AppendUint64(r.tiles, c.hashes[k])
	}
}

// endFull ends a chunk that is large enough.
func (r *chunks) endFull() {
	const large = 1 << 20
	full := r.budget > 0 && int64(len(r.tiles)) >= r.budget
	if r.ticks == chunkTicks || len(r.tiles) > large || full {
		r.end()
		r.write()
	}
}

// end ends the chunks of the ticks since the last ones.
func (r *chunks) end() {
	if r.ticks == 0 {
		return
	}
	if r.budget <= 0 || len(r.tiles) > maxChunk {
		r.tiles = r.tiles[:0]
	}
	r.budget -= int64(len(r.tiles))
	ended := r.span
	r.waiting, r.span = append(r.waiting, ended), span{}
	if n := len(r.spare); n > 0 {
		s := r.spare[n-1]
		r.spare, r.frames, r.digests, r.tiles = r.spare[:n-1], s.frames[:0], s.digests[:0], s.tiles[:0]
	}
	r.first, r.base = ended.first+ended.ticks, r.offset
}

// write writes the chunks that have ended, up to the first of whose ticks a hash is not known,
// and reports whether that is all.
func (r *chunks) write() bool {
	for len(r.waiting) > 0 {
		s := r.waiting[0]
		b, known := r.hashes.take(binary.LittleEndian.AppendUint64(r.bytes[:0], uint64(s.base)), s.ticks)
		if !known {
			return false
		}
		r.waiting = slices.Delete(r.waiting, 0, 1)
		c := chunkHead{kind: frameChunk, first: s.first, ticks: uint32(s.ticks)}
		r.bytes = append(b, s.frames...)
		r.w.chunk(c, r.bytes)
		c.kind = digestChunk
		r.w.chunk(c, s.digests)
		if len(s.tiles) > 0 {
			c.kind = tileChunk
			r.w.chunk(c, s.tiles)
		}
		r.spare = append(r.spare, s)
	}
	return true
}

// length is the payload of the chunk at the end: the length of the recording.
func (r *chunks) length() []byte { return binary.LittleEndian.AppendUint64(nil, uint64(r.offset)) }
