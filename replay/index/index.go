package index

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math"
	"sort"

	"github.com/cespare/xxhash/v2"
	"github.com/klauspost/compress/zstd"

	"github.com/murksim/murksim/fields"
	"github.com/murksim/murksim/internal/wire"
	"github.com/murksim/murksim/replay"
)

// An Index is an index that has been opened. It may be used by one goroutine at a time.
type Index struct {
	Header
	Last     uint64 // the last tick of which it knows the frame, or Begin
	Complete bool   // the recording was finished when the index was
	Cut      *Error // where the index breaks off; nil if it does not

	r                            io.ReaderAt
	begin, end                   int64 // of the chunks
	sound                        int64 // up to there their payloads have been checked
	frames, keys, digests, tiles []chunk
	seals                        map[uint64][]chunk // by tick
	extras                       []chunk            // keyframes and seals, as they stand in the file

	key    Key  // of the seals that vouch; nil: none
	own    bool // all keyframes are this program's
	summed prefixSum

	loaded  chunk // of frames
	offsets []int64
	hashes  []uint64
}

// A chunk is where a chunk of an index lies.
type chunk struct {
	chunkHead
	payload int64 // offset
}

// Open reads where the chunks of an index lie, but not the chunks. It accepts an index that
// breaks off: see Cut.
func Open(r io.ReaderAt, size int64) (*Index, error) {
	x := &Index{r: r, seals: map[uint64][]chunk{}}
	at, err := x.readHeader(size)
	if err != nil {
		return nil, err
	}
	x.begin, x.sound = at, at
	var b [headSize]byte
	for at < size {
		if size-at < headSize {
			x.Cut = &Error{at, ErrTruncated, "inside the head of a chunk"}
			break
		}
		if err := readAt(r, b[:], at); err != nil {
			return nil, err
		}
		head, ok := parseHead(b[:])
		if !ok {
			x.Cut = &Error{at, ErrDamaged, "the checksum of a chunk's head is wrong"}
			break
		}
		next := at + headSize + int64(head.length) + crcSize
		if next > size {
			x.Cut = &Error{at, ErrTruncated, fmt.Sprintf("inside a chunk of %d bytes", head.length)}
			break
		}
		if err := x.add(chunk{head, at + headSize}); err != nil {
			x.Cut = err
			break
		}
		at = next
	}
	x.end = at
	return x, nil
}

// add takes a chunk into the directory.
func (x *Index) add(c chunk) *Error {
	at := c.payload - headSize
	lists := map[byte]*[]chunk{frameChunk: &x.frames, digestChunk: &x.digests, tileChunk: &x.tiles, keyChunk: &x.keys}
	switch list := lists[c.kind]; {
	case c.length > maxChunk && (c.kind != keyChunk || uint64(c.length) > x.keyLimit()):
		return &Error{at, ErrDamaged, fmt.Sprintf("a chunk of %d bytes", c.length)}
	case c.kind == endChunk && c.length != 8:
		return &Error{at, ErrDamaged, "the chunk at the end is not one"}
	case c.kind == endChunk:
		_, err := x.read(&c)
		if err != nil || c.first != x.Last {
			return &Error{at, ErrDamaged, "the chunk at the end is not one"}
		}
		x.Complete = true
		return nil
	case c.kind == sealChunk && c.length == sha256.Size && c.ticks == 1 && c.first > x.Begin:
		x.seals[c.first] = append(x.seals[c.first], c)
		x.extras = append(x.extras, c)
		return nil
	case list == nil:
		return &Error{at, ErrDamaged, fmt.Sprintf("a chunk of the unknown kind %q", c.kind)}
	case c.ticks == 0 || c.ticks > maxTicks || c.first <= x.Begin || c.first+uint64(c.ticks) < c.first:
		return &Error{at, ErrDamaged, fmt.Sprintf("a chunk of %d ticks, the first is %d", c.ticks, c.first)}
	case len(*list) > 0 && (*list)[len(*list)-1].end() > c.first:
		return &Error{at, ErrDamaged, fmt.Sprintf("a chunk of tick %d stands after that of tick %d", c.first, (*list)[len(*list)-1].end()-1)}
	case c.kind == frameChunk && c.first != x.Last+1:
		return &Error{at, ErrDamaged, fmt.Sprintf("frames of tick %d stand where those of tick %d are due", c.first, x.Last+1)}
	default:
		*list = append(*list, c)
	}
	switch c.kind {
	case frameChunk:
		x.Last = c.end() - 1
	case keyChunk:
		x.extras = append(x.extras, c)
	}
	return nil
}

// after is the offset of what follows the chunk.
func (c *chunk) after() int64 { return c.payload + int64(c.length) + crcSize }

// end is the tick after the chunk's last.
func (c *chunk) end() uint64 { return c.first + uint64(c.ticks) }

// readHeader returns where the first chunk begins.
func (x *Index) readHeader(size int64) (int64, error) {
	size = min(size, maxHeader)
	d := wire.NewDecoder(io.NewSectionReader(x.r, 0, size), size)
	head := make([]byte, 0, 8)
	if head = d.Append(head, 8, "magic"); d.Err() == nil && (string(head[:4]) != magic || head[4] != version) {
		return 0, &Error{0, ErrDamaged, fmt.Sprintf("an index begins with %q and the version %d; remove the file, and murksim index makes one", magic, version)}
	}
	if d.Err() == nil {
		x.Rebuilt = head[5]&rebuilt != 0
	}
	x.Recording, x.Frames = d.Uint64("recording"), int64(d.Uint64("first frame"))
	if d.Err() == nil && head[5]&later != 0 {
		x.Begin = d.Uint64("tick of the state at which the recording begins")
	}
	x.Last = x.Begin
	for range d.Count(maxFields, 17, "fields") {
		f := Field{Name: d.String(maxFields, "field's name"), Element: fields.Element(d.Uint8("element"))}
		length, tileLen := d.Uint64("elements"), d.Uint32("elements of a tile")
		if d.Err() == nil && (length > min(1<<40, math.MaxInt) || tileLen == 0 || f.Element.Size() == 0) {
			d.Fail(d.Offset(), wire.ErrMalformed, "field %q: %d elements in tiles of %d", f.Name, length, tileLen)
		}
		f.Len, f.TileLen = int(length), int(tileLen)
		x.Fields = append(x.Fields, f)
	}
	end := d.Offset()
	sum := d.Uint32("checksum")
	if err := d.Err(); err != nil {
		if e, ok := errors.AsType[*wire.Error](err); ok {
			kind := ErrDamaged
			if e.Kind == wire.ErrTruncated {
				kind = ErrTruncated
			}
			return 0, &Error{e.Offset, kind, e.Detail}
		}
		return 0, err
	}
	b := make([]byte, end)
	if err := readAt(x.r, b, 0); err != nil {
		return 0, err
	}
	if crc32.Checksum(b, castagnoli) != sum {
		return 0, &Error{end, ErrDamaged, "the checksum of the header is wrong"}
	}
	return end + crcSize, nil
}

func readAt(r io.ReaderAt, b []byte, at int64) error {
	if n, err := r.ReadAt(b, at); n < len(b) {
		if err == nil || err == io.EOF {
			err = io.ErrUnexpectedEOF
		}
		return err
	}
	return nil
}

// Belongs checks that the index is that of a recording with this header. Other builds may have
// recorded other runs with the same one, which [Index.Hash] tells apart.
func (x *Index) Belongs(h *replay.Header) error {
	b := h.AppendBytes(nil)
	if recordingID(b) != x.Recording || int64(len(b)) != x.Frames {
		return &Error{8, ErrOther, "it was made for a recording with another header"}
	}
	begin, err := h.Begin()
	if err != nil {
		return err
	}
	if begin != nil && begin.Tick != x.Begin || begin == nil && x.Begin != 0 {
		return &Error{8, ErrOther, fmt.Sprintf("it was made for a recording that begins after tick %d", x.Begin)}
	}
	return nil
}

// read returns the payload of a chunk.
func (x *Index) read(c *chunk) ([]byte, error) {
	b := make([]byte, int64(c.length)+crcSize)
	if err := readAt(x.r, b, c.payload); err != nil {
		return nil, err
	}
	payload := b[:c.length]
	if crc32.Checksum(payload, castagnoli) != binary.LittleEndian.Uint32(b[c.length:]) {
		return nil, &Error{c.payload, ErrDamaged, "the checksum of a chunk is wrong"}
	}
	return payload, nil
}

// find returns the chunk of a list that has a tick, or nil.
func find(list []chunk, tick uint64) *chunk {
	i := sort.Search(len(list), func(i int) bool { return list[i].end() > tick })
	if i == len(list) || list[i].first > tick {
		return nil
	}
	return &list[i]
}

// ErrNoTick reports a tick of which the index knows nothing.
var ErrNoTick = errors.New("index: no such tick")

// Frame returns the position of the frame of a tick.
func (x *Index) Frame(tick uint64) (replay.Position, error) {
	c := find(x.frames, tick)
	if c == nil {
		return replay.Position{}, fmt.Errorf("%w: %d", ErrNoTick, tick)
	}
	if err := x.load(c); err != nil {
		return replay.Position{}, err
	}
	i := tick - c.first
	return replay.Position{Frame: int(tick - x.Begin - 1), Offset: x.offsets[i], Size: x.offsets[i+1] - x.offsets[i]}, nil
}

// Hash returns the recorded hash of a tick. Only if a recording has the same one, what the index
// knows of the tick is also true of that recording's run: see [Index.Belongs].
func (x *Index) Hash(tick uint64) (uint64, error) {
	c := find(x.frames, tick)
	if c == nil {
		return 0, fmt.Errorf("%w: %d", ErrNoTick, tick)
	}
	if err := x.load(c); err != nil {
		return 0, err
	}
	return x.hashes[tick-c.first], nil
}

// load reads the frames of a chunk.
func (x *Index) load(c *chunk) error {
	if x.loaded == *c {
		return nil
	}
	b, err := x.read(c)
	if err != nil {
		return err
	}
	bad := &Error{c.payload, ErrDamaged, "sizes of frames that are none"}
	if len(b) < 8+8*int(c.ticks) {
		return bad
	}
	offset := binary.LittleEndian.Uint64(b)
	b = b[8:]
	x.offsets, x.hashes = append(x.offsets[:0], int64(offset)), x.hashes[:0]
	for range c.ticks {
		x.hashes, b = append(x.hashes, binary.LittleEndian.Uint64(b)), b[8:]
	}
	for range c.ticks {
		size, n := binary.Uvarint(b)
		if n <= 0 || offset+size < offset || offset+size > 1<<62 {
			x.loaded = chunk{}
			return bad
		}
		b, offset = b[n:], offset+size
		x.offsets = append(x.offsets, int64(offset))
	}
	if x.loaded = *c; len(b) > 0 {
		x.loaded = chunk{}
		return bad
	}
	return nil
}

// A Keyframe is the state at a tick.
type Keyframe struct {
	Tick  uint64
	Rest  uint64          // the value of world.rest: see [engine.RestoreTick]
	Next  replay.Position // of the frame after it
	State []byte
}

// Keyframes returns the ticks that have keyframes.
func (x *Index) Keyframes() []uint64 {
	ticks := make([]uint64, len(x.keys))
	for i := range x.keys {
		ticks[i] = x.keys[i].first
	}
	return ticks
}

// Keyframe returns the last keyframe at a tick or before it, or nil if there is none.
func (x *Index) Keyframe(tick uint64) (*Keyframe, error) {
	i := sort.Search(len(x.keys), func(i int) bool { return x.keys[i].first > tick })
	if i == 0 {
		return nil, nil
	}
	c := &x.keys[i-1]
	const fixed = keyFixed
	if c.length < fixed || uint64(c.length) > x.keyLimit() {
		return nil, &Error{c.payload, ErrDamaged, fmt.Sprintf("a keyframe of %d bytes", c.length)}
	}
	b, err := x.read(c)
	if err != nil {
		return nil, err
	}
	k := &Keyframe{Tick: c.first, Rest: binary.LittleEndian.Uint64(b)}
	k.Next = replay.Position{Frame: int(c.first - x.Begin), Offset: int64(binary.LittleEndian.Uint64(b[8:]))}
	size, sum := binary.LittleEndian.Uint64(b[16:]), binary.LittleEndian.Uint64(b[24:])
	if k.State, err = inflate(b[fixed:], size, x.stateLimit()); err != nil || xxhash.Sum64(k.State) != sum {
		return nil, &Error{c.payload, ErrDamaged, fmt.Sprintf("the keyframe of tick %d does not unpack", c.first)}
	}
	return k, nil
}

// stateLimit bounds the memory of a state: all columns, and as much again for the rest. It is
// as true as Fields: see describes.
func (x *Index) stateLimit() uint64 {
	n := uint64(64 << 20)
	for i := range x.Fields {
		f := &x.Fields[i]
		n += 2 * uint64(f.Len) * uint64(f.Element.Size())
	}
	return n
}

// keyFixed are the bytes of a keyframe before its state.
const keyFixed = 32

// keyLimit bounds the bytes of a keyframe, whose state may be a little longer when it is packed.
func (x *Index) keyLimit() uint64 {
	limit := x.stateLimit()
	return keyFixed + limit + limit/64
}

// inflate unpacks a state of a known size.
func inflate(b []byte, size, limit uint64) ([]byte, error) {
	if size > limit {
		return nil, errors.New("too large")
	}
	d, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(max(size, 1<<20)), zstd.WithDecoderLowmem(true))
	if err != nil {
		return nil, err
	}
	defer d.Close()
	state, err := d.DecodeAll(b, nil)
	if err == nil && uint64(len(state)) != size {
		err = errors.New("another size")
	}
	return state, err
}

// Digests sets sums, one for each of Fields, to the digests of a tick.
func (x *Index) Digests(tick uint64, sums []uint64) error {
	return x.changes(tick, func(id int, digest uint64) bool {
		sums[id] = digest
		return true
	})
}

// Tiles returns the hashes of the tiles of each of Fields at a tick, or ErrNoTick where the
// budget did not allow them.
func (x *Index) Tiles(tick uint64) ([][]uint64, error) {
	c, d := find(x.tiles, tick), find(x.digests, tick)
	if c == nil || d == nil || c.first != d.first {
		return nil, fmt.Errorf("%w: %d", ErrNoTick, tick)
	}
	b, err := x.read(c)
	if err != nil {
		return nil, err
	}
	all := 0 // tiles, which the first tick of the chunk lists
	for i := range x.Fields {
		if all += x.Fields[i].Tiles(); all > len(b)/8 {
			return nil, &Error{c.payload, ErrDamaged, "hashes of tiles are missing"}
		}
	}
	sums, whole := make([][]uint64, len(x.Fields)), true
	err = x.changes(tick, func(id int, _ uint64) bool {
		sums[id], b, whole = readTiles(sums[id], b, x.Fields[id].Tiles())
		return whole
	})
	if !whole {
		return nil, &Error{c.payload, ErrDamaged, "hashes of tiles are cut short"}
	}
	for id := range sums {
		if err == nil && len(sums[id]) != x.Fields[id].Tiles() {
			return nil, &Error{c.payload, ErrDamaged, "hashes of tiles are missing"}
		}
	}
	return sums, err
}

// changes calls change with every digest that its chunk has up to a tick, in order, until
// that returns false.
func (x *Index) changes(tick uint64, change func(id int, digest uint64) bool) error {
	c := find(x.digests, tick)
	if c == nil {
		return fmt.Errorf("%w: %d", ErrNoTick, tick)
	}
	b, err := x.read(c)
	if err != nil {
		return err
	}
	cut := &Error{c.payload, ErrDamaged, "digests are cut short"}
	mask := (len(x.Fields) + 7) / 8
	for range tick - c.first + 1 {
		if len(b) < mask {
			return cut
		}
		var bits []byte
		bits, b = b[:mask], b[mask:]
		for id := range x.Fields {
			if bits[id/8]>>(id%8)&1 == 0 {
				continue
			}
			if len(b) < 8 {
				return cut
			}
			if !change(id, binary.LittleEndian.Uint64(b)) {
				return nil
			}
			b = b[8:]
		}
	}
	return nil
}

// readTiles reads the tiles of a field that changed in a tick.
func readTiles(sums []uint64, b []byte, tiles int) (_ []uint64, left []byte, ok bool) {
	count, n := binary.Uvarint(b)
	if n <= 0 || count > uint64(tiles) || count*9 > uint64(len(b)) {
		return nil, nil, false
	}
	b = b[n:]
	which := make([]int, 0, count)
	last := -1
	for range count {
		gap, n := binary.Uvarint(b)
		if n <= 0 || gap >= uint64(tiles-last-1) {
			return nil, nil, false
		}
		last += 1 + int(gap)
		which, b = append(which, last), b[n:]
	}
	if len(b) < 8*len(which) {
		return nil, nil, false
	}
	if len(sums) < last+1 {
		sums = append(sums, make([]uint64, last+1-len(sums))...)
	}
	for _, k := range which {
		sums[k], b = binary.LittleEndian.Uint64(b), b[8:]
	}
	return sums, b, true
}
