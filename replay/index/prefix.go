package index

import (
	"encoding/binary"
	"hash/crc32"
	"io"
)

// Prefix returns the last tick, up to a given one, of which the index has the frame and the
// digests, or Begin if there is none, and the length of the index up to there, with the
// keyframes of these ticks, and their seals, that follow at once. No chunk up to that length is damaged: Prefix reads
// them all, once. Nothing after that length is of an earlier tick but keyframes, so that the index
// can be cut there, and be continued: see [ResumeRecorder].
func (x *Index) Prefix(tick uint64) (last uint64, length int64) {
	last, length = x.prefix(tick, x.end)
	if end := x.check(length); end < length {
		return x.prefix(tick, end)
	}
	return last, length
}

// Intact reports whether the index is complete and no chunk of it is damaged. It reads them all.
func (x *Index) Intact() bool {
	return x.Complete && x.Cut == nil && x.check(x.end) == x.end
}

// prefix is Prefix of the chunks up to an offset.
func (x *Index) prefix(tick uint64, end int64) (last uint64, length int64) {
	last, length = x.Begin, x.begin
	for i := range x.digests {
		c := &x.digests[i]
		if c.end()-1 > tick || i >= len(x.frames) || x.frames[i].first != c.first || x.frames[i].ticks != c.ticks {
			break
		}
		after := max(c.after(), x.frames[i].after())
		if t := find(x.tiles, c.first); t != nil {
			after = max(after, t.after())
		}
		if after > end {
			break
		}
		last, length = c.end()-1, after
	}
	for i := range x.extras {
		if c := &x.extras[i]; c.payload-headSize == length && c.first <= last && c.after() <= end {
			length = c.after()
		}
	}
	return last, length
}

// check reads chunks up to an offset, but none twice that is not damaged, and returns where the
// first one begins that is, or the offset.
func (x *Index) check(end int64) int64 {
	var head [headSize]byte
	for x.sound < end {
		if readAt(x.r, head[:], x.sound) != nil {
			break
		}
		h, ok := parseHead(head[:])
		c := chunk{h, x.sound + headSize}
		if !ok || c.after() > x.end || !x.intact(&c) {
			break
		}
		x.sound = c.after()
	}
	return min(x.sound, end)
}

// intact reports whether the checksum of a chunk's payload is right, in bounded memory.
func (x *Index) intact(c *chunk) bool {
	sum := crc32.New(castagnoli)
	payload := io.NewSectionReader(x.r, c.payload, int64(c.length))
	if n, err := io.CopyBuffer(sum, struct{ io.Reader }{payload}, make([]byte, min(1<<20, int(c.length)+1))); err != nil || n != int64(c.length) {
		return false
	}
	var b [crcSize]byte
	return readAt(x.r, b[:], c.payload+int64(c.length)) == nil && binary.LittleEndian.Uint32(b[:]) == sum.Sum32()
}
