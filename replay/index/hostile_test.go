package index_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"math"
	"runtime"
	"strings"
	"testing"

	"github.com/cespare/xxhash/v2"

	"github.com/murksim/murksim/fields"
	"github.com/murksim/murksim/replay"
	"github.com/murksim/murksim/replay/index"
)

func withSum(b []byte) []byte {
	return binary.LittleEndian.AppendUint32(b, crc32.Checksum(b, crc32.MakeTable(crc32.Castagnoli)))
}

// headerFor returns the header of an index of a recording, with fields of its own choice.
func headerFor(recording []byte, list ...index.Field) []byte {
	b := append([]byte("MIDX"), 2, 0, 0, 0)
	b = binary.LittleEndian.AppendUint64(b, xxhash.Sum64(recording))
	b = binary.LittleEndian.AppendUint64(b, uint64(len(recording)))
	b = binary.LittleEndian.AppendUint32(b, uint32(len(list)))
	for _, f := range list {
		b = append(binary.LittleEndian.AppendUint32(b, uint32(len(f.Name))), f.Name...)
		b = append(b, byte(f.Element))
		b = binary.LittleEndian.AppendUint64(b, uint64(f.Len))
		b = binary.LittleEndian.AppendUint32(b, uint32(f.TileLen))
	}
	return withSum(b)
}

// headOf returns the head of a chunk that says that it has so many bytes.
func headOf(kind byte, first uint64, length uint32) []byte {
	b := binary.LittleEndian.AppendUint64([]byte{kind}, first)
	b = binary.LittleEndian.AppendUint32(b, 1)
	return withSum(binary.LittleEndian.AppendUint32(b, length))
}

func chunkOf(kind byte, first uint64, payload []byte) []byte {
	return append(headOf(kind, first, uint32(len(payload))), withSum(payload)...)
}

// bomb is the payload of a keyframe whose state unpacks to so many zeros, a multiple of 128 KiB.
func bomb(size int) []byte {
	const block = 128 << 10
	b := make([]byte, 32)
	binary.LittleEndian.PutUint64(b[16:], uint64(size))
	b = append(b, 0x28, 0xb5, 0x2f, 0xfd, 0, 7<<3)
	for n := size; n > 0; n -= block {
		head := block<<3 | 1<<1
		if n == block {
			head |= 1
		}
		b = append(b, byte(head), byte(head>>8), byte(head>>16), 0)
	}
	return b
}

// manyFrames is a chunk of so many empty frames.
func manyFrames(n int) []byte {
	b := chunkOf('F', 1, make([]byte, 8+9*n))
	binary.LittleEndian.PutUint32(b[9:], uint32(n)) // ticks
	return append(withSum(b[:17:17]), b[21:]...)
}

// TestHostileHeader holds that a header which never ends is not read on.
func TestHostileHeader(t *testing.T) {
	b := headerFor(nil, index.Field{Name: "a", Element: fields.Uint64, Len: 1, TileLen: 1})[:24]
	b = binary.LittleEndian.AppendUint32(b, 16_000)
	for range 300 {
		b = append(binary.LittleEndian.AppendUint32(b, 64_000), make([]byte, 64_000+13)...)
		b[len(b)-13] = byte(fields.Uint64)
		b[len(b)-4] = 1
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, err := index.Open(sparse(b), 1_100_000_000)
	runtime.ReadMemStats(&after)
	if err == nil || after.TotalAlloc-before.TotalAlloc > 64<<20 {
		t.Errorf("Open = %v, after %d bytes are allocated", err, after.TotalAlloc-before.TotalAlloc)
	}
}

// TestLongHeader holds that an honest header may be long, and that no tile is empty.
func TestLongHeader(t *testing.T) {
	list := make([]index.Field, 250)
	for i := range list {
		list[i] = index.Field{Name: strings.Repeat("x", 64_000), Element: fields.Uint64, Len: 1, TileLen: 1}
	}
	b := headerFor(nil, list...)
	if x, err := index.Open(bytes.NewReader(b), int64(len(b))); err != nil || len(x.Fields) != len(list) {
		t.Errorf("a header of %d bytes: %v", len(b), err)
	}
	b = headerFor(nil, index.Field{Name: "a", Element: fields.Uint64, Len: 7})
	if _, err := index.Open(bytes.NewReader(b), int64(len(b))); err == nil || !strings.Contains(err.Error(), `field "a": 7 elements in tiles of 0`) {
		t.Errorf("tiles of no element: %v", err)
	}
}

// A sparse file ends in zeros that take no memory.
type sparse []byte

func (s sparse) ReadAt(b []byte, at int64) (int, error) {
	clear(b)
	if at < int64(len(s)) {
		copy(b, s[at:])
	}
	return len(b), nil
}

// TestHostileIndex holds that an index of few bytes takes little memory whatever it says of
// states, fields and chunks, and that seeks and verifications are as without it.
func TestHostileIndex(t *testing.T) {
	const ticks, huge = 30, 600 << 20
	r := record(t, "heat", ticks, index.Options{Now: ticking()}, false)
	x := r.open(t)
	whole := r.recording.Bytes()
	header := whole[:x.Frames]
	large := append(append([]index.Field(nil), x.Fields...), index.Field{Name: "large", Element: fields.Uint64, Len: min(1<<36, math.MaxInt), TileLen: 512})
	for name, b := range map[string][]byte{
		"of another recording":        append(headerFor(whole[:99], large...), chunkOf('K', 1, bomb(huge))...),
		"of other fields":             append(headerFor(header, large...), chunkOf('K', 1, bomb(huge))...),
		"of a large state":            append(headerFor(header, x.Fields...), chunkOf('K', 1, bomb(huge))...),
		"with a large keyframe":       append(headerFor(header, x.Fields...), headOf('K', 1, 3_000_000_000)...),
		"with a large end":            append(headerFor(header, x.Fields...), headOf('E', 0, 3_000_000_000)...),
		"with many frames":            append(headerFor(header, x.Fields...), manyFrames(2<<20)...),
		"with large frames":           append(headerFor(header, x.Fields...), headOf('F', 1, 3_000_000_000)...),
		"with tiles of another world": append(headerFor(header, large...), headOf('T', 1, 3_000_000_000)...),
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		size := int64(len(b)) + 3_000_000_100
		if bytes.Contains(b, []byte{0x28, 0xb5, 0x2f, 0xfd}) {
			size = int64(len(b))
		}
		h, err := index.Open(sparse(b), size)
		if err != nil {
			t.Fatalf("%s: Open = %v", name, err)
		}
		h.TrustAll() // so that nothing stands before what reads it
		p, err := r.seek(h, 20)
		if err != nil || p.World.Hash() != r.hashes[20] {
			t.Errorf("%s: Seek = %v", name, err)
		}
		if of, err := index.Verify(bytes.NewReader(whole), int64(len(whole)), h, r.build, 2, nil); of.Ticks != ticks || err != nil || of.World.Hash() != r.hashes[ticks] {
			t.Errorf("%s: Verify = %d, %v; want %d", name, of.Ticks, err, ticks)
		}
		runtime.ReadMemStats(&after)
		if took := after.TotalAlloc - before.TotalAlloc; took > 200<<20 {
			t.Errorf("%s: %d bytes are allocated for an index of %d", name, took, len(b))
		}
	}
}

// TestHostileTiles holds that hashes of tiles that are not there are told as damage.
func TestHostileTiles(t *testing.T) {
	header := []byte("a recording")
	build := func(f index.Field, hashes ...uint64) *index.Index {
		b := headerFor(header, f)
		b = append(b, chunkOf('F', 1, append(binary.LittleEndian.AppendUint64(nil, 11), 0, 0, 0, 0, 0, 0, 0, 0, 20))...)
		b = append(b, chunkOf('D', 1, binary.LittleEndian.AppendUint64([]byte{1}, index.Digest(hashes)))...)
		tiles := append([]byte{byte(len(hashes))}, make([]byte, len(hashes))...)
		for _, h := range hashes {
			tiles = binary.LittleEndian.AppendUint64(tiles, h)
		}
		b = append(b, chunkOf('T', 1, tiles)...)
		x, err := index.Open(bytes.NewReader(b), int64(len(b)))
		if err != nil || x.Cut != nil {
			t.Fatalf("Open = %v, %v", err, x.Cut)
		}
		return x
	}
	three := index.Field{Name: "x", Element: fields.Uint64, Len: 3, TileLen: 1}
	good, short := build(three, 1, 2, 3), build(three, 1)
	vast := build(index.Field{Name: "x", Element: fields.Uint64, Len: min(1<<40, math.MaxInt), TileLen: 1}, 1)
	for name, x := range map[string]*index.Index{"fewer tiles": short, "a vast field": vast} {
		if _, err := x.Tiles(1); !errors.Is(err, index.ErrDamaged) {
			t.Errorf("%s: Tiles = %v, want damage", name, err)
		}
		if _, err := x.Compare(x, 1); !errors.Is(err, index.ErrDamaged) {
			t.Errorf("%s: Compare = %v, want damage", name, err)
		}
	}
	if _, err := good.Compare(short, 1); !errors.Is(err, index.ErrDamaged) {
		t.Errorf("Compare = %v, want damage", err)
	}
	if list, err := good.Compare(build(three, 1, 9, 3), 1); err != nil || len(list) != 1 || len(list[0].Tiles) != 1 || list[0].Tiles[0] != 1 {
		t.Errorf("Compare = %v, %v; want tile 1", list, err)
	}
}

// TestResumeBeyondTheBudget holds that an index with more keyframes than the budget allows is
// continued, without more of them.
func TestResumeBeyondTheBudget(t *testing.T) {
	const ticks = 200
	r := record(t, "heat", ticks, index.Options{Now: ticking()}, false)
	x := r.open(t)
	if len(x.Keyframes()) == 0 {
		t.Fatalf("%d keyframes, want some", len(x.Keyframes()))
	}
	for _, budget := range []int64{-1, 1, 2, 1000, 100_000} {
		last, length := x.Prefix(ticks)
		p, err := r.seek(x, last)
		if err != nil {
			t.Fatal(err)
		}
		again := bytes.NewBuffer(bytes.Clone(r.index.Bytes()[:length]))
		offset := int64(r.recording.Len())
		h := replay.HeaderOf(p.World, r.scenario.Descriptor())
		rec, err := index.ResumeRecorder(again, p.World, &h, x, &frames{world: p.World, end: func() int64 { offset += 20; return offset }}, index.Options{Budget: budget, Now: ticking()})
		if err != nil {
			t.Fatal(err)
		}
		p.World.Record(rec)
		for range 30 {
			if _, err := p.World.Step(); err != nil {
				t.Fatal(err)
			}
		}
		if err := rec.Close(); err != nil {
			t.Fatal(err)
		}
		y, err := index.Open(bytes.NewReader(again.Bytes()), int64(again.Len()))
		if err != nil || y.Last != last+30 || !y.Complete {
			t.Errorf("budget %d: the index ends with tick %d, %v; want %d", budget, y.Last, err, last+30)
		}
	}
}
