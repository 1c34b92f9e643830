package index_test

import (
	"bytes"
	"encoding/binary"
	"io"
	"testing"

	"github.com/murksim/murksim/fields"
	"github.com/murksim/murksim/replay/index"
)

// sizes is the payload of a chunk of frames: where the first begins, a hash, and the sizes as they stand.
func sizes(offset uint64, size ...byte) []byte {
	return append(append(binary.LittleEndian.AppendUint64(nil, offset), 1, 2, 3, 4, 5, 6, 7, 8), size...)
}

// TestChunks holds what is said of each chunk that cannot be in an index, and what stands before it counts.
func TestChunks(t *testing.T) {
	header := headerFor([]byte("a recording"), index.Field{Name: "x", Element: fields.Uint64, Len: 3, TileLen: 1})
	good := chunkOf('F', 1, sizes(11, 20))
	end := func(last uint64, n int) []byte { return chunkOf('E', last, make([]byte, n)) }
	twoTicks := func(kind byte, first uint64) []byte {
		b := binary.LittleEndian.AppendUint64([]byte{kind}, first)
		b = binary.LittleEndian.AppendUint32(b, 2)
		return append(withSum(binary.LittleEndian.AppendUint32(b, 1)), withSum([]byte{0})...)
	}
	for _, tt := range []struct {
		name  string
		chunk []byte
		want  string
	}{
		{"frames too early", chunkOf('F', 1, sizes(31, 20)), "a chunk of tick 1 stands after that of tick 1"},
		{"frames too late", chunkOf('F', 3, sizes(31, 20)), "frames of tick 3 stand where those of tick 2 are due"},
		{"an unknown kind", chunkOf('Q', 2, []byte{0}), "a chunk of the unknown kind 'Q'"},
		{"a seal of another length", chunkOf('S', 2, make([]byte, 31)), "a chunk of the unknown kind 'S'"},
		{"of tick 0", chunkOf('K', 0, []byte{0}), "a chunk of 1 ticks, the first is 0"},
		{"an end of another tick", end(2, 8), "the chunk at the end is not one"},
		{"a longer end", end(1, 9), "the chunk at the end is not one"},
		{"a large chunk", headOf('F', 2, 1<<31), "a chunk of 2147483648 bytes"},
		{"a keyframe larger than a state of these fields", headOf('K', 2, 100<<20), "a chunk of 104857600 bytes"},
		{"beyond the last tick", chunkOf('K', 1<<64-1, []byte{0}), "a chunk of 1 ticks, the first is 18446744073709551615"},
	} {
		b := append(append(bytes.Clone(header), good...), tt.chunk...)
		x, err := index.Open(sparse(b), 1<<33)
		if err != nil {
			t.Fatalf("%s: Open = %v", tt.name, err)
		}
		cut := x.Cut
		if cut == nil || cut.Detail != tt.want || cut.Offset != int64(len(header)+len(good)) || x.Last != 1 || x.Complete {
			t.Errorf("%s: %v, last tick %d", tt.name, x.Cut, x.Last)
		}
		if at, err := x.Frame(1); err != nil || at.Offset != 11 || at.Size != 20 {
			t.Errorf("%s: the frame of tick 1 stands at %+v, %v", tt.name, at, err)
		}
	}
	twice := append(append(append(bytes.Clone(header), good...), twoTicks('D', 1)...), twoTicks('D', 2)...)
	if x, err := index.Open(bytes.NewReader(twice), int64(len(twice))); err != nil || x.Cut == nil || x.Cut.Detail != "a chunk of tick 2 stands after that of tick 2" {
		t.Errorf("digests that overlap: %v, %v", x.Cut, err)
	}
}

// TestSizes holds that sizes which are none are told, wherever they stop being some.
func TestSizes(t *testing.T) {
	header := headerFor([]byte("a recording"), index.Field{Name: "x", Element: fields.Uint64, Len: 3, TileLen: 1})
	most := binary.AppendUvarint(nil, 1<<62)
	for name, payload := range map[string][]byte{
		"cut short":         sizes(11, 0x80),
		"none":              sizes(11),
		"without a hash":    sizes(11)[:15],
		"without an offset": sizes(11)[:7],
		"too large":         sizes(11, most...),
		"beyond 64 bits":    sizes(1<<63, binary.AppendUvarint(nil, 1<<63)...),
		"of eleven bytes":   sizes(11, bytes.Repeat([]byte{0xff}, 11)...),
		"one too many":      sizes(11, 20, 20),
		"empty":             {},
	} {
		b := append(bytes.Clone(header), chunkOf('F', 1, payload)...)
		x, err := index.Open(bytes.NewReader(b), int64(len(b)))
		if err != nil || x.Cut != nil {
			t.Fatalf("%s: Open = %v, %v", name, err, x.Cut)
		}
		for range 2 { // the second time, nothing of the first is left
			if at, err := x.Frame(1); err == nil {
				t.Errorf("%s: the frame of tick 1 stands at %+v", name, at)
			}
		}
		if last, end := x.Prefix(1); last != 0 && end != int64(len(b)) {
			t.Errorf("%s: Prefix = %d, %d", name, last, end)
		}
	}
}

// TestSeekReadsNoFurther holds that bytes behind the end that a seek was told are not read, also those of the next ticks.
func TestSeekReadsNoFurther(t *testing.T) {
	r := record(t, "life", 60, index.Options{Now: ticking()}, false)
	x := r.open(t)
	x.TrustAll()
	at, err := x.Frame(50)
	if err != nil {
		t.Fatal(err)
	}
	p, from, err := index.Seek(bytes.NewReader(r.recording.Bytes()), at.Offset+at.Size, x, r.build, 45, true, nil)
	if err != nil || from == 0 {
		t.Fatalf("Seek = %d, %v; want a keyframe", from, err)
	}
	for p.World.Tick() < 50 {
		if err := p.Step(); err != nil {
			t.Fatal(err)
		}
	}
	if err := p.Step(); err != io.EOF {
		t.Errorf("Step = %v behind the end", err)
	}
}
