package index_test

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"testing"
	"time"

	"github.com/cespare/xxhash/v2"
	"github.com/klauspost/compress/zstd"

	"github.com/murksim/murksim/replay/index"
)

const headSize, crcSize = 21, 4 // of a chunk

// chunksOf returns the header of an index, and its chunks.
func chunksOf(b []byte) (header []byte, chunks [][]byte) {
	count := 24
	if b[5]&2 != 0 { // the tick after which the recording begins stands before it
		count += 8
	}
	p := count + 4
	for range binary.LittleEndian.Uint32(b[count:]) {
		p += 4 + int(binary.LittleEndian.Uint32(b[p:])) + 13
	}
	p += crcSize
	header = b[:p]
	for p < len(b) {
		end := p + headSize + int(binary.LittleEndian.Uint32(b[p+13:])) + crcSize
		chunks = append(chunks, b[p:end])
		p = end
	}
	return header, chunks
}

// withKeyframes returns an index with other keyframes, whose checksums are right.
func withKeyframes(b []byte, change func(payload []byte) []byte) []byte {
	sum := func(b []byte) uint32 { return crc32.Checksum(b, crc32.MakeTable(crc32.Castagnoli)) }
	header, chunks := chunksOf(b)
	out := bytes.Clone(header)
	for _, c := range chunks {
		head, payload := bytes.Clone(c[:headSize]), bytes.Clone(c[headSize:len(c)-crcSize])
		if head[0] == 'K' {
			payload = change(payload)
			binary.LittleEndian.PutUint32(head[13:], uint32(len(payload)))
			binary.LittleEndian.PutUint32(head[17:], sum(head[:17]))
		}
		out = binary.LittleEndian.AppendUint32(append(append(out, head...), payload...), sum(payload))
	}
	return out
}

// withKeyframesAt returns an index whose keyframes say that the next frame begins elsewhere.
func withKeyframesAt(b []byte, at func(true uint64) uint64) []byte {
	return withKeyframes(b, func(payload []byte) []byte {
		const endAt = 8
		binary.LittleEndian.PutUint64(payload[endAt:], at(binary.LittleEndian.Uint64(payload[endAt:])))
		return payload
	})
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
		x := opened(t, b)
		for tick := uint64(30); tick <= ticks; tick += 7 {
			p, from, err := index.Seek(bytes.NewReader(r.recording.Bytes()), int64(r.recording.Len()), x, r.build, tick, false, nil)
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

// TestSeekWithAFalseKeyframe holds that of a keyframe that is not the state of its tick no bit
// comes through, not even of what no later tick needs: arrivals, parameters, random streams.
func TestSeekWithAFalseKeyframe(t *testing.T) {
	const ticks = 1000
	r := record(t, "noise", ticks, index.Options{Now: ticking()}, false)
	x := r.open(t)
	tick := x.Keyframes()[0]
	k, err := x.Keyframe(tick)
	if err != nil || k.Tick != tick || tick+1 > ticks {
		t.Fatal(k, err)
	}
	pack, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	defer pack.Close()
	want := [2][]byte{r.saved(t, x, tick), r.saved(t, x, tick+1)}
	const often = 5 // bytes; each world takes its time
	for at := 0; at < len(k.State); at += often {
		wrong := bytes.Clone(k.State)
		wrong[at] ^= 1
		b := withKeyframes(r.index.Bytes(), func(payload []byte) []byte {
			payload = bytes.Clone(payload[:32])
			binary.LittleEndian.PutUint64(payload[24:], xxhash.Sum64(wrong))
			return pack.EncodeAll(wrong, payload)
		})
		x := opened(t, b)
		for i, want := range want {
			if got := r.saved(t, x, tick+uint64(i)); !bytes.Equal(got, want) {
				t.Errorf("with another byte %d of the state of tick %d, Seek(%d) gives another state", at, tick, tick+uint64(i))
			}
		}
	}
}

// TestSeekWithADamagedKeyframe holds that a seek begins at the keyframe before one that is damaged,
// or that is not the state of its tick.
func TestSeekWithADamagedKeyframe(t *testing.T) {
	clock := ticking()
	slowly := func() time.Time {
		time.Sleep(2 * time.Millisecond) // to compress a state, so that there are several
		return clock()
	}
	r := record(t, "heat", 120, index.Options{Now: slowly}, false)
	keys := r.open(t).Keyframes()
	last := len(keys) - 1
	if keys[last] == 120 { // no tick is after it; whether there is one depends on how fast the state is compressed
		last--
	}
	tick := keys[last] + 1
	if last < 4 {
		t.Fatalf("%d keyframes, want more", len(keys))
	}
	whole := r.index.Bytes()
	for what, others := range map[string][]byte{
		"a bit of each changed":  flipped(whole),
		"other states in each":   withOtherStates(t, whole),
		"another offset in each": withKeyframesAt(whole, func(n uint64) uint64 { return n + 3 }),
	} {
		_, changed := chunksOf(others)
		for wrong, want := range []uint64{keys[last], keys[last-1], keys[last-2], keys[last-3], 0, 0} {
			header, chunks := chunksOf(whole)
			b := bytes.Clone(header)
			for i, c := range chunks { // the last keyframes are the others
				if c[0] == 'K' && binary.LittleEndian.Uint64(c[1:]) > keys[max(0, last-wrong)] || wrong > last {
					c = changed[i]
				}
				b = append(b, c...)
			}
			x := opened(t, b)
			p, from, err := index.Seek(bytes.NewReader(r.recording.Bytes()), int64(r.recording.Len()), x, r.build, tick, false, nil)
			if err != nil || p.World.Hash() != r.hashes[tick] || from != want {
				t.Errorf("%s of the last %d: Seek(%d) begins at tick %d, %v; want %d", what, wrong, tick, from, err, want)
			}
		}
	}
}

// flipped returns an index with one bit changed in each keyframe.
func flipped(b []byte) []byte {
	b = bytes.Clone(b)
	_, chunks := chunksOf(b)
	for _, c := range chunks {
		if c[0] == 'K' {
			c[len(c)/2] ^= 1
		}
	}
	return b
}

// saved returns the state at a tick.
func (r *recorded) saved(t *testing.T, x *index.Index, tick uint64) []byte {
	t.Helper()
	p, err := r.seek(x, tick)
	if err != nil {
		t.Fatal(err)
	}
	b, err := p.World.Save(nil)
	if err != nil {
		t.Fatal(err)
	}
	return b
}
