package index

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/cespare/xxhash/v2"

	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/fields"
	"github.com/murksim/murksim/internal/store"
	"github.com/murksim/murksim/replay"
)

// DefaultBudget is the number of bytes of keyframes and tile hashes that an index may have.
const DefaultBudget = 256 << 20

const (
	chunkTicks  = 1024                   // of frames and digests in a chunk, at most
	minInterval = 20 * time.Millisecond  // of simulation between keyframes
	maxInterval = 250 * time.Millisecond // likewise, while the budget allows
)

// Options of a [Recorder].
type Options struct {
	Budget  int64            // bytes of keyframes and tile hashes; 0: DefaultBudget, negative: none of them
	Rebuilt bool             // the world replays a recording
	Now     func() time.Time // nil: time.Now
}

// A Recorder writes the index of a recording. It implements [engine.Settler] and is one of
// the world's recorders, after that which writes the recording: see [engine.Recorders].
// [Recorder.Flush] writes what is held back. Its cost is an XXH64 of the tiles that
// may have changed in a tick, and now and then a keyframe, which another goroutine
// compresses; none outlives a Flush.
//
// An index is an aid: an error in writing it must not end the run. It ends the index, and
// Flush returns it.
type Recorder struct {
	w       writer
	offset  func() int64 // of the end of the last recorded frame
	options Options
	columns []column
	moment  store.Moment
	delta   store.Delta
	bytes   []byte // scratch memory
	changed []int  // likewise: tiles of a column

	last    uint64 // tick that is recorded
	end     int64  // where its frame ends
	rehash  bool   // the hashes at hand are not those of the tick before
	relist  bool   // the next entries hold all columns and tiles, not those that changed
	tiling  bool   // the chunk has tiles
	pending bool   // the last tick may be taken back
	before  mark   // to which

	first   uint64 // tick of the chunk
	base    int64  // where its first frame begins
	frames  []byte // sizes
	digests []byte
	tiles   []byte
	tiled   int64 // bytes of tile hashes in the file

	keys keyframes
}

// A mark is what taking a tick back restores.
type mark struct {
	end                    int64
	frames, digests, tiles int
}

// A column is what a Recorder remembers of a field.
type column struct {
	tileLen int
	hashes  []uint64 // by tile
}

// NewRecorder begins the index of a recording with this header, whose world is at tick 0
// and whose last frame ends at offset().
func NewRecorder(sink io.Writer, w *engine.World, h *replay.Header, offset func() int64, o Options) (*Recorder, error) {
	if w.Tick() != 0 {
		return nil, fmt.Errorf("index: the world is at tick %d; an index begins at genesis", w.Tick())
	}
	if o.Budget == 0 {
		o.Budget = DefaultBudget
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	header := h.AppendBytes(nil)
	r := &Recorder{w: writer{sink: sink}, offset: offset, options: o, end: int64(len(header)), base: int64(len(header)), first: 1, rehash: true, relist: true, tiling: o.Budget > 0}
	head := Header{Rebuilt: o.Rebuilt, Recording: recordingID(header), Frames: r.end}
	for id, d := range w.Defs() {
		n, tileLen := w.Tiling(fields.ID(id))
		r.columns = append(r.columns, column{tileLen: tileLen, hashes: make([]uint64, n)})
		head.Fields = append(head.Fields, Field{d.Name, d.Element, w.Column(fields.ID(id)).Len(), tileLen})
	}
	r.w.write(appendHeader(nil, &head))
	r.keys.begin(h.Descriptor, o)
	return r, nil
}

// Record implements [engine.Recorder]. It fails only for a tick that is not the next one.
func (r *Recorder) Record(t *engine.Tick) error {
	r.Settle(true) // a tick counts as happened without a call of Settle
	if t.Number != r.last+1 {
		return fmt.Errorf("index: tick %d after tick %d: the world was reset; begin another index", t.Number, r.last)
	}
	r.before = mark{r.end, len(r.frames), len(r.digests), len(r.tiles)}
	end := r.offset()
	r.frames = binary.AppendUvarint(r.frames, uint64(end-r.end))
	r.hash(t)
	r.keys.take(t, end)
	r.last, r.end, r.pending = t.Number, end, true
	return nil
}

// Settle implements [engine.Settler].
func (r *Recorder) Settle(happened bool) {
	if !r.pending {
		return
	}
	r.pending = false
	if !happened {
		b := &r.before
		r.last, r.end = r.last-1, b.end
		r.frames, r.digests, r.tiles = r.frames[:b.frames], r.digests[:b.digests], r.tiles[:b.tiles]
		r.rehash, r.relist = true, true
		r.keys.drop()
		return
	}
	r.rehash, r.relist = false, false
	r.keys.settle(&r.w)
	const large = 1 << 20
	full := r.tiling && r.tiled+int64(len(r.tiles)) >= r.options.Budget/2
	if r.last-r.first+1 == chunkTicks || len(r.tiles) > large || full {
		r.endChunk()
	}
}

// hash appends the digests, and the hashes of the tiles, that are not those of the tick
// before. What is appended for a tick begins with a bit for each field: whether its digest
// follows.
func (r *Recorder) hash(t *engine.Tick) {
	since := r.moment
	if r.rehash {
		since = store.Moment{}
	}
	r.moment = t.View().HoldDelta(&r.delta, since)
	defer r.delta.Release()
	mask := len(r.digests)
	r.digests = append(r.digests, make([]byte, (len(r.columns)+7)/8)...)
	for id := range r.columns {
		c := &r.columns[id]
		r.changed = r.changed[:0]
		if b := r.delta.Buffer(id); b != nil {
			for k := range c.hashes {
				lo := k * c.tileLen
				r.tile(c, k, b.Slice(lo, min(lo+c.tileLen, b.Len())))
			}
		} else {
			copies := r.delta.Tiles(id)
			lo := 0
			for _, k := range copies.Which {
				hi := min(lo+c.tileLen, copies.Data.Len())
				r.tile(c, int(k), copies.Data.Slice(lo, hi))
				lo = hi
			}
		}
		if r.relist {
			r.changed = r.changed[:0]
			for k := range c.hashes {
				r.changed = append(r.changed, k)
			}
		}
		if len(r.changed) > 0 || r.relist {
			r.digests[mask+id/8] |= 1 << (id % 8)
			r.entry(c)
		}
	}
}

// tile hashes a tile, and notes if it has changed.
func (r *Recorder) tile(c *column, k int, values fields.Column) {
	r.bytes = values.AppendBytes(r.bytes[:0])
	if sum := xxhash.Sum64(r.bytes); sum != c.hashes[k] {
		c.hashes[k] = sum
		r.changed = append(r.changed, k)
	}
}

// entry appends the digest of a column, and the hashes of its changed tiles.
func (r *Recorder) entry(c *column) {
	r.bytes = r.bytes[:0]
	for _, h := range c.hashes {
		r.bytes = binary.LittleEndian.AppendUint64(r.bytes, h)
	}
	r.digests = binary.LittleEndian.AppendUint64(r.digests, xxhash.Sum64(r.bytes))
	if !r.tiling {
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

// endChunk writes the chunks of the ticks since the last ones.
func (r *Recorder) endChunk() {
	if len(r.frames) == 0 {
		return
	}
	c := chunkHead{kind: frameChunk, first: r.first, ticks: uint32(r.last - r.first + 1)}
	r.w.chunk(c, append(binary.LittleEndian.AppendUint64(nil, uint64(r.base)), r.frames...))
	c.kind = digestChunk
	r.w.chunk(c, r.digests)
	if r.tiling {
		c.kind = tileChunk
		r.w.chunk(c, r.tiles)
		r.tiled += int64(len(r.tiles))
		r.tiling = r.tiled < r.options.Budget/2
	}
	r.first, r.base = r.last+1, r.end
	r.frames, r.digests, r.tiles = r.frames[:0], r.digests[:0], r.tiles[:0]
	r.relist = true
}

// Flush writes what has been recorded. Its error is final: what was written before is a
// valid index.
func (r *Recorder) Flush() error {
	r.Settle(true)
	r.endChunk()
	r.keys.finish(&r.w)
	return r.w.err
}

// Close flushes, and notes that the recording is complete.
func (r *Recorder) Close() error {
	if err := r.Flush(); err != nil {
		return err
	}
	r.w.chunk(chunkHead{kind: endChunk, first: r.last}, binary.LittleEndian.AppendUint64(nil, uint64(r.end)))
	return r.w.err
}

// Rebuild replays all frames that are left of a recording from genesis, as
// [replay.Player.Verify] does, and writes an index of them. It returns how many ticks
// matched. Where the recording is damaged or differs, the index holds the ticks up to there.
func Rebuild(dst io.Writer, p *replay.Player, budget int64) (ticks uint64, err error) {
	offset := func() int64 { return p.Frame().Position.Offset + p.Frame().Position.Size }
	r, err := NewRecorder(dst, p.World, p.Source.Head(), offset, Options{Budget: budget, Rebuilt: true})
	if err != nil {
		return 0, err
	}
	own := p.World.Recorder()
	p.World.Record(r)
	defer p.World.Record(own)
	ticks, err = p.Verify()
	if err != nil {
		return ticks, errors.Join(err, r.Flush())
	}
	return ticks, r.Close()
}
