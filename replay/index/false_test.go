package index_test

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"testing"

	"github.com/murksim/murksim/replay/index"
)

// withKeyframesAt returns an index whose keyframes say that the next frame begins elsewhere,
// with checksums that are right.
func withKeyframesAt(b []byte, at func(true uint64) uint64) []byte {
	const chunkHead, crcSize, endAt = 17, 4, 8
	b = bytes.Clone(b)
	sum := func(b []byte) uint32 { return crc32.Checksum(b, crc32.MakeTable(crc32.Castagnoli)) }
	p := 28
	for range binary.LittleEndian.Uint32(b[24:]) {
		p += 4 + int(binary.LittleEndian.Uint32(b[p:])) + 13
	}
	for p += crcSize; p < len(b); {
		payload := b[p+chunkHead+crcSize:][:binary.LittleEndian.Uint32(b[p+13:])]
		end := p + chunkHead + crcSize + len(payload)
		if b[p] == 'K' {
			binary.LittleEndian.PutUint64(payload[endAt:], at(binary.LittleEndian.Uint64(payload[endAt:])))
			binary.LittleEndian.PutUint32(b[end:], sum(payload))
		}
		p = end + crcSize
	}
	return b
}

// TestSeekWithAFalseOffset holds that a keyframe which says that the next frame begins
// elsewhere does not make a good recording look damaged: the seek begins at genesis.
func TestSeekWithAFalseOffset(t *testing.T) {
	const ticks = 120
	r := record(t, "life", ticks, index.Options{Now: ticking()}, false)
	falsely := 0
	for name, at := range map[string]func(uint64) uint64{
		"true": func(n uint64) uint64 { return n }, "earlier": func(n uint64) uint64 { return n - 7 }, "later": func(n uint64) uint64 { return n + 3 },
		"zero": func(uint64) uint64 { return 0 }, "the end": func(uint64) uint64 { return uint64(r.recording.Len()) },
		"beyond": func(uint64) uint64 { return 1 << 40 }, "negative": func(uint64) uint64 { return 1 << 63 },
	} {
		b := withKeyframesAt(r.index.Bytes(), at)
		if !bytes.Equal(b, r.index.Bytes()) {
			falsely++
		}
		x, err := index.Open(bytes.NewReader(b), int64(len(b)))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		for tick := uint64(30); tick <= ticks; tick += 7 {
			p, from, err := index.Seek(bytes.NewReader(r.recording.Bytes()), int64(r.recording.Len()), x, r.build, tick, nil)
			if err != nil || p.World.Tick() != tick || p.World.Hash() != r.hashes[tick] {
				t.Fatalf("%s: Seek(%d) = %v", name, tick, err)
			}
			if good := name == "true"; good != (from > 0) {
				t.Errorf("%s: Seek(%d) begins at tick %d", name, tick, from)
			}
		}
	}
	if falsely != 6 {
		t.Errorf("%d indexes were changed, want 6", falsely)
	}
}
