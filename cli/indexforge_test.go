package cli

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"hash/crc32"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/cespare/xxhash/v2"
	"github.com/klauspost/compress/zstd"

	"github.com/murksim/murksim/internal/waiting"
	"github.com/murksim/murksim/replay/index"
)

// forgeIndex gives the index of a recording a keyframe of the last tick, with all checksums right and a seal that is none.
func forgeIndex(t *testing.T, recording string, last uint64, state []byte) {
	t.Helper()
	info, err := os.Stat(recording)
	if err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(recording + ".idx")
	if err != nil {
		t.Fatal(err)
	}
	pack, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	payload := binary.LittleEndian.AppendUint64(nil, 0x1111) // world.rest
	payload = binary.LittleEndian.AppendUint64(payload, uint64(info.Size()))
	payload = binary.LittleEndian.AppendUint64(payload, uint64(len(state)))
	payload = pack.EncodeAll(state, binary.LittleEndian.AppendUint64(payload, xxhash.Sum64(state)))
	const head = 21             // bytes of a chunk before its payload
	const end = head + 8 + 4    // bytes of the chunk E, the last one
	for _, kind := range "KS" { // a slow run may have made a keyframe of that tick
		begin := binary.LittleEndian.AppendUint32(binary.LittleEndian.AppendUint64([]byte{byte(kind)}, last), 1)
		if i := bytes.Index(b, begin); i >= 0 {
			b = slices.Delete(b, i, i+head+int(binary.LittleEndian.Uint32(b[i+len(begin):]))+4)
		}
	}
	forged := append(bytes.Clone(b[:len(b)-end]), indexChunk('K', last, payload)...)
	forged = append(forged, indexChunk('S', last, bytes.Repeat([]byte{7}, 32))...)
	forged = append(forged, b[len(b)-end:]...)
	x, err := index.Open(bytes.NewReader(forged), int64(len(forged)))
	if err != nil {
		t.Fatal(err)
	}
	if k, err := x.Keyframe(last); err != nil || !bytes.Equal(k.State, state) {
		t.Fatalf("the index has no forged state: %v", err)
	}
	if err := os.WriteFile(recording+".idx", forged, 0o666); err != nil {
		t.Fatal(err)
	}
}

// indexChunk makes a chunk of one tick.
func indexChunk(kind byte, tick uint64, payload []byte) []byte {
	sum := func(b []byte) uint32 { return crc32.Checksum(b, crc32.MakeTable(crc32.Castagnoli)) }
	b := binary.LittleEndian.AppendUint64([]byte{kind}, tick)
	b = binary.LittleEndian.AppendUint32(b, 1)
	b = binary.LittleEndian.AppendUint32(b, uint32(len(payload)))
	b = binary.LittleEndian.AppendUint32(b, sum(b))
	return binary.LittleEndian.AppendUint32(append(b, payload...), sum(payload))
}

// forgedIndex: the viewer shows what is computed, whatever an index says that somebody has forged.
func (p program) forgedIndex(t *testing.T) {
	at := func(name string) string { return filepath.Join(p.dir, name) }
	p.must(t, "run", "heat", "-q", "--until", "40", "--save-state", "true.state", "-o", "true.murk")
	state, err := os.ReadFile(at("true.state"))
	if err != nil {
		t.Fatal(err)
	}
	forged := bytes.Clone(state[:len(state)-sha256.Size])
	middle := len(forged) / 4 &^ 3 // of the column of heat
	copy(forged[middle:], bytes.Repeat(binary.LittleEndian.AppendUint32(nil, math.Float32bits(42)), 400))
	sum := sha256.Sum256(forged)
	if err := os.WriteFile(at("forged.state"), append(bytes.Clone(forged), sum[:]...), 0o666); err != nil {
		t.Fatal(err)
	}
	p.must(t, "run", "heat", "-q", "--until", "40", "-o", "forged.murk")
	forgeIndex(t, at("forged.murk"), 40, forged)
	answers := map[string]string{}
	for _, name := range []string{"true.murk", "forged.murk", "forged.state"} {
		c, ask := p.viewing(t, "view", name)
		waiting.For(t, "tick 40 is shown", func() bool {
			answers[name] = ask(`{"op":"state","tick":40,"fields":[0,1]}`)
			return !strings.Contains(answers[name], `"later"`) && !strings.Contains(answers[name], `"error"`)
		})
		p.interrupt(t, c)
	}
	if answers["forged.state"] == answers["true.murk"] {
		t.Error("the forged state has no other cells")
	}
	if answers["true.murk"] != answers["forged.murk"] {
		t.Error("with a forged index it shows other cells")
	}
}
