package index

import (
	"encoding/binary"
	"io"

	"github.com/cespare/xxhash/v2"

	"github.com/murksim/murksim/fields"
)

// Chunks makes chunks of frames, digests and tiles.
type chunks struct {
	w       writer
	columns []column
	bytes   []byte // scratch memory
	changed []int  // likewise: tiles of a column

	first, ticks uint64 // of the chunk
	base         int64  // where its first frame begins
	offset       int64  // where the last one ends
	frames       []byte // sizes
	digests      []byte
	tiles        []byte
	budget       int64 // bytes of tile hashes that the file may still have; 0 or less: the chunk has none
}

// A column is what chunks remember of a field.
type column struct {
	tileLen int
	hashes  []uint64 // by tile
}

// begin makes ready for a first tick, whose frame begins at an offset.
func (r *chunks) begin(sink io.Writer, first uint64, frame, budget int64) {
	r.w.sink = sink
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
		if b := h.state.Buffer(id); b != nil {
			for k := range c.hashes {
				lo := k * c.tileLen
				r.tile(c, k, b.Slice(lo, min(lo+c.tileLen, b.Len())))
			}
		} else {
			copies, lo := h.state.Tiles(id), 0
			for _, k := range copies.Which {
				hi := min(lo+c.tileLen, copies.Data.Len())
				r.tile(c, int(k), copies.Data.Slice(lo, hi))
				lo = hi
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
	}
}

// end writes the chunks of the ticks since the last ones.
func (r *chunks) end() {
	if r.ticks == 0 {
		return
	}
	c := chunkHead{kind: frameChunk, first: r.first, ticks: uint32(r.ticks)}
	r.bytes = append(binary.LittleEndian.AppendUint64(r.bytes[:0], uint64(r.base)), r.frames...)
	r.w.chunk(c, r.bytes)
	c.kind = digestChunk
	r.w.chunk(c, r.digests)
	if r.budget > 0 && len(r.tiles) <= maxChunk {
		c.kind = tileChunk
		r.w.chunk(c, r.tiles)
		r.budget -= int64(len(r.tiles))
	}
	r.first, r.ticks, r.base = r.first+r.ticks, 0, r.offset
	r.frames, r.digests, r.tiles = r.frames[:0], r.digests[:0], r.tiles[:0]
}

// length is the payload of the chunk at the end: the length of the recording.
func (r *chunks) length() []byte { return binary.LittleEndian.AppendUint64(nil, uint64(r.offset)) }
