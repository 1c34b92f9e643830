// Package index keeps what makes a recording quick to travel in: where each frame begins,
// the state at some ticks, a digest of every field at every tick, and hashes of the tiles
// that changed. Nothing in it is needed to verify a recording.
//
// A [Recorder] writes an index beside a recording that is being made, or while one is
// replayed; [Open] reads it; [Index.World] goes to a tick. The file is a header and chunks,
// which are only ever appended; INDEX.md specifies each byte.
package index

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"

	"github.com/cespare/xxhash/v2"

	"github.com/murksim/murksim/fields"
	"github.com/murksim/murksim/internal/wire"
)

const (
	magic   = "MIDX"
	version = 2
	rebuilt = 1 // flag: made by a replay, not beside the run
	later   = 2 // flag: of a recording that begins at the state of a tick, not at genesis

	headSize  = 21 // of a chunk: kind, first tick, ticks, length, CRC-32C of these
	crcSize   = 4
	maxFields = 1 << 16
	maxHeader = 16 << 20 // bytes
	maxTicks  = 1 << 14  // of a chunk
	maxChunk  = 64 << 20 // bytes of payload, but for a keyframe
)

// The kinds of chunks.
const (
	frameChunk  = 'F'
	keyChunk    = 'K'
	digestChunk = 'D'
	tileChunk   = 'T'
	sealChunk   = 'S'
	endChunk    = 'E'
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// A Header says what an index belongs to.
type Header struct {
	Rebuilt   bool   // made by a replay: digests and tiles describe it, not the recorded run
	Begin     uint64 // the tick after which the recording begins; 0: genesis
	Recording uint64 // the XXH64 of the recording's header
	Frames    int64  // offset of the first frame in the recording, in bytes
	Fields    []Field
}

// A Field is a column of the world, the engine's own included.
type Field struct {
	Name    string
	Element fields.Element
	Len     int // elements
	TileLen int // elements of a tile; the last one may have fewer
}

// Tiles returns the number of tiles of the field.
func (f *Field) Tiles() int {
	if f.Len == 0 {
		return 0
	}
	return (f.Len-1)/f.TileLen + 1 // no sum that could overflow
}

// An Error says what is wrong with an index.
type Error struct {
	Offset int64 // of the first byte that could not be used
	Kind   error // ErrDamaged, ErrTruncated or ErrOther
	Detail string
}

// The kinds of an [Error].
var (
	ErrDamaged   = fmt.Errorf("index: damaged")
	ErrTruncated = fmt.Errorf("index: ends early")
	ErrOther     = fmt.Errorf("index: of another recording")
)

// Error implements error.
func (e *Error) Error() string { return fmt.Sprintf("%v at byte %d: %s", e.Kind, e.Offset, e.Detail) }

// Unwrap returns the kind.
func (e *Error) Unwrap() error { return e.Kind }

// appendHeader appends a header with its checksum.
func appendHeader(b []byte, h *Header) []byte {
	begin := len(b)
	flags := byte(0)
	if h.Rebuilt {
		flags = rebuilt
	}
	if h.Begin > 0 {
		flags |= later
	}
	b = append(append(b, magic...), version, flags, 0, 0)
	b = binary.LittleEndian.AppendUint64(b, h.Recording)
	b = binary.LittleEndian.AppendUint64(b, uint64(h.Frames))
	if h.Begin > 0 {
		b = binary.LittleEndian.AppendUint64(b, h.Begin)
	}
	b = binary.LittleEndian.AppendUint32(b, uint32(len(h.Fields)))
	for i := range h.Fields {
		f := &h.Fields[i]
		b = wire.AppendBytes(b, []byte(f.Name))
		b = append(b, byte(f.Element))
		b = binary.LittleEndian.AppendUint64(b, uint64(f.Len))
		b = binary.LittleEndian.AppendUint32(b, uint32(f.TileLen))
	}
	return binary.LittleEndian.AppendUint32(b, crc32.Checksum(b[begin:], castagnoli))
}

// A chunkHead is the head of a chunk.
type chunkHead struct {
	kind   byte
	first  uint64 // tick
	ticks  uint32 // that it covers
	length uint32 // of the payload
}

// appendHead appends the head with its checksum.
func (c *chunkHead) append(b []byte) []byte {
	begin := len(b)
	b = append(b, c.kind)
	b = binary.LittleEndian.AppendUint64(b, c.first)
	b = binary.LittleEndian.AppendUint32(b, c.ticks)
	b = binary.LittleEndian.AppendUint32(b, c.length)
	return binary.LittleEndian.AppendUint32(b, crc32.Checksum(b[begin:], castagnoli))
}

// parseHead is the inverse of append; b has headSize bytes.
func parseHead(b []byte) (c chunkHead, ok bool) {
	c = chunkHead{b[0], binary.LittleEndian.Uint64(b[1:]), binary.LittleEndian.Uint32(b[9:]), binary.LittleEndian.Uint32(b[13:])}
	return c, crc32.Checksum(b[:17], castagnoli) == binary.LittleEndian.Uint32(b[17:])
}

// recordingID returns what ties an index to its recording.
func recordingID(header []byte) uint64 { return xxhash.Sum64(header) }

// Digest returns the digest of a field whose tiles have these hashes: their XXH64.
func Digest(tiles []uint64) uint64 {
	b := make([]byte, 0, 8*len(tiles))
	for _, h := range tiles {
		b = binary.LittleEndian.AppendUint64(b, h)
	}
	return xxhash.Sum64(b)
}
