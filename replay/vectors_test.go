package replay_test

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/murksim/murksim/commands"
	"github.com/murksim/murksim/fields"
	"github.com/murksim/murksim/internal/vectors"
	"github.com/murksim/murksim/replay"
	"github.com/murksim/murksim/space"
)

// A number is a 64-bit integer, written in decimal or as 0x and hex digits.
type number uint64

func (n *number) UnmarshalJSON(b []byte) error {
	var s string
	if err := json.Unmarshal(b, &s); err != nil {
		return err
	}
	v, err := strconv.ParseUint(s, 0, 64)
	*n = number(v)
	return err
}

// A blob is bytes in full, or their length and hash.
type blob struct {
	Hex   *string
	Len   int
	FNV1a number
}

func (want blob) check(t *testing.T, what string, got []byte) {
	t.Helper()
	if want.Hex != nil {
		if s := hex.EncodeToString(got); s != *want.Hex {
			t.Errorf("%s = %s, want %s", what, s, *want.Hex)
		}
		return
	}
	if hash := fnv(got); len(got) != want.Len || hash != uint64(want.FNV1a) {
		t.Errorf("%s = %d bytes of hash %016x, want %d of %016x", what, len(got), hash, want.Len, want.FNV1a)
	}
}

func fnv(b []byte) uint64 { return uint64(fields.NewHash().Bytes(b)) }

// A sidecar says what a recording decodes to.
type sidecar struct {
	Schema, ID, Note string
	FileLen          int    `json:"file_len"`
	FileFNV1a        number `json:"file_fnv1a"`
	Build            struct {
		Toolchain string
		Target    string `json:"target_triple"`
		Version   string `json:"murk_version"`
		Flags     string `json:"compile_flags"`
	} `json:"build_metadata"`
	Init struct {
		Seed       number
		ConfigHash number `json:"config_hash"`
		FieldCount uint32 `json:"field_count"`
		CellCount  number `json:"cell_count"`
		Descriptor blob   `json:"space_descriptor"`
	}
	FrameCount int `json:"frame_count"`
	Frames     []struct {
		Tick     number `json:"tick_id"`
		Commands []sidecarCommand
		Hash     number `json:"snapshot_hash"`
	}
}

type sidecarCommand struct {
	Tag          uint8   `json:"payload_type"`
	PayloadHex   *string `json:"payload_hex"`
	PayloadLen   int     `json:"payload_len"`
	PayloadFNV1a number  `json:"payload_fnv1a"`
	Priority     uint8   `json:"priority_class"`
	Source       *number `json:"source_id"`
	SourceSeq    *number `json:"source_seq"`
	Expires      number  `json:"expires_after_tick"`
	Arrival      number  `json:"arrival_seq"`
	Decoded      *sidecarDecoded
	Error        *struct{ Kind, Display string } `json:"deserialize_error"`
}

type sidecarDecoded struct {
	Type      string
	Entity    number  `json:"entity_id"`
	Target    []int32 `json:"target_coord"`
	Coord     []int32
	Values    []sidecarPair `json:"field_values"`
	Field     uint32        `json:"field_id"`
	ValueBits number        `json:"value_bits"`
	TypeID    uint32        `json:"type_id"`
	DataHex   string        `json:"data_hex"`
	Key       uint32
	Params    []sidecarPair
}

// A sidecarPair is a field id or key and the bits of its value.
type sidecarPair struct {
	id   uint32
	bits number
}

func (p *sidecarPair) UnmarshalJSON(b []byte) error {
	return json.Unmarshal(b, &[2]any{&p.id, &p.bits})
}

// readJSON decodes a file of vectors; keys that the test does not know fail it.
func readJSON(t testing.TB, path string, v any) {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	d := json.NewDecoder(bytes.NewReader(b))
	d.DisallowUnknownFields()
	if err := d.Decode(v); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
}

func list(t testing.TB, folder string) []string {
	t.Helper()
	entries, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	if len(names) == 0 {
		t.Fatalf("no files in %s", folder)
	}
	return names
}

func TestVectorsCodec(t *testing.T) {
	folder := vectors.Path("murk/codec")
	recordings, sidecars, records := 0, 0, 0
	for _, name := range list(t, folder) {
		base, isSidecar := strings.CutSuffix(name, ".json")
		if !isSidecar {
			base, isRecording := strings.CutSuffix(name, ".murkreplay")
			if _, err := os.Stat(filepath.Join(folder, base+".json")); !isRecording || err != nil {
				t.Errorf("%s: neither a sidecar nor a recording with one", name)
			}
			recordings++
			continue
		}
		t.Run(base, func(t *testing.T) {
			var want sidecar
			readJSON(t, filepath.Join(folder, name), &want)
			b, err := os.ReadFile(filepath.Join(folder, base+".murkreplay"))
			if err != nil {
				t.Fatal(err)
			}
			records += want.check(t, b)
		})
		sidecars++
	}
	if recordings != sidecars {
		t.Errorf("%d recordings for %d sidecars", recordings, sidecars)
	}
	t.Logf("murk/codec: %d files: %d recordings, %d sidecars, %d commands", recordings+sidecars, recordings, sidecars, records)
}

// check compares a recording with its sidecar and returns how many commands it has.
func (want *sidecar) check(t *testing.T, b []byte) (records int) {
	if want.Schema != "murk-codec-vector-1" || len(b) != want.FileLen || fnv(b) != uint64(want.FileFNV1a) {
		t.Fatalf("schema %q, file of %d bytes: not what the sidecar describes", want.Schema, len(b))
	}
	r, err := replay.NewReader(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	want.checkHeader(t, &r.Header)
	raw, decoded := newWriter(t, r.Header), newWriter(t, r.Header)
	var f replay.Frame
	for i, wf := range want.Frames {
		if err := r.Next(&f); err != nil {
			t.Fatalf("frame %d: %v", i, err)
		}
		if f.Tick != uint64(wf.Tick) || f.Hash != uint64(wf.Hash) || len(f.Records) != len(wf.Commands) {
			t.Fatalf("frame %d: tick %d, hash %016x, %d commands; want %d, %016x, %d",
				i, f.Tick, f.Hash, len(f.Records), wf.Tick, wf.Hash, len(wf.Commands))
		}
		var inputs []commands.Command
		for j := range f.Records {
			c, ok := wf.Commands[j].check(t, fmt.Sprintf("frame %d, command %d", i, j), &f.Records[j])
			if ok {
				inputs = append(inputs, c)
			}
		}
		records += len(f.Records)
		raw.copy(t, &f)
		if len(inputs) == len(f.Records) {
			err = decoded.WriteFrame(f.Tick, inputs, f.Hash)
		} else {
			err = decoded.CopyFrame(&f)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := r.Next(&f); err != io.EOF || want.FrameCount != len(want.Frames) {
		t.Errorf("after %d of %d frames: Next = %v, want io.EOF", len(want.Frames), want.FrameCount, err)
	}
	if got := raw.bytes(t); !bytes.Equal(got, b) {
		t.Errorf("records written again: %d bytes, not the same as the %d read", len(got), len(b))
	}
	if got := decoded.bytes(t); !bytes.Equal(got, b) {
		t.Errorf("commands written again: %d bytes, not the same as the %d read", len(got), len(b))
	}
	return records
}

func (want *sidecar) checkHeader(t *testing.T, h *replay.Header) {
	t.Helper()
	w := &want.Build
	if build := (replay.Build{Toolchain: w.Toolchain, Target: w.Target, Version: w.Version, Flags: w.Flags}); h.Build != build {
		t.Errorf("build = %+v, want %+v", h.Build, build)
	}
	in := &want.Init
	if h.Seed != uint64(in.Seed) || h.ConfigHash != uint64(in.ConfigHash) || h.FieldCount != in.FieldCount || h.CellCount != uint64(in.CellCount) {
		t.Errorf("seed, config hash, fields, cells = %d, %016x, %d, %d, want %d, %016x, %d, %d",
			h.Seed, h.ConfigHash, h.FieldCount, h.CellCount, in.Seed, in.ConfigHash, in.FieldCount, in.CellCount)
	}
	in.Descriptor.check(t, "descriptor", h.Descriptor)
}

// check compares a record with its description, and its decoded form if it has one.
func (want *sidecarCommand) check(t *testing.T, where string, r *replay.Record) (commands.Command, bool) {
	t.Helper()
	blob{want.PayloadHex, want.PayloadLen, want.PayloadFNV1a}.check(t, where+": payload", r.Payload)
	meta := commands.Meta{Priority: want.Priority, Expires: uint64(want.Expires), Arrival: uint64(want.Arrival)}
	if want.Source != nil {
		meta.HasSource, meta.Source = true, uint64(*want.Source)
	}
	if want.SourceSeq != nil {
		meta.HasSeq, meta.SourceSeq = true, uint64(*want.SourceSeq)
	}
	if r.Tag != want.Tag || r.Meta != meta {
		t.Errorf("%s: tag %d, %+v; want %d, %+v", where, r.Tag, r.Meta, want.Tag, meta)
	}
	c, err := r.Command()
	if want.Error != nil {
		if e, ok := errors.AsType[*replay.FormatError](err); !ok || e.Kind != replay.ErrUnknownPayload || want.Error.Kind != "UnknownPayloadType" || e.Found != r.Tag {
			t.Errorf("%s: Command = %v, want %s", where, err, want.Error.Display)
		}
		return c, false
	}
	if err != nil || c.Meta != meta {
		t.Errorf("%s: Command = %+v, %v; want %+v", where, c.Meta, err, meta)
		return c, false
	}
	if want.Decoded != nil { // given for all but the longest payloads
		want.Decoded.check(t, where, &c)
	} else if want.PayloadHex != nil {
		t.Errorf("%s: the sidecar does not say what it decodes to", where)
	}
	return c, true
}

func (want *sidecarDecoded) check(t *testing.T, where string, c *commands.Command) {
	t.Helper()
	if c.Kind.String() != want.Type {
		t.Fatalf("%s: decoded a %s, want a %s", where, c.Kind, want.Type)
	}
	switch c.Kind {
	case commands.KindMove, commands.KindDespawn:
		if c.Entity != uint64(want.Entity) || c.Coord != space.At(want.Target...) {
			t.Errorf("%s: entity %d to %v, want %d to %v", where, c.Entity, c.Coord, want.Entity, want.Target)
		}
	case commands.KindSpawn:
		var got []sidecarPair
		for v := range c.FieldValues() {
			got = append(got, sidecarPair{v.Field, number(math.Float32bits(v.Value))})
		}
		if c.Coord != space.At(want.Coord...) || fmt.Sprint(got) != fmt.Sprint(want.Values) {
			t.Errorf("%s: spawn at %v with %v, want %v with %v", where, c.Coord, got, want.Coord, want.Values)
		}
	case commands.KindSetField:
		if c.Coord != space.At(want.Coord...) || c.ID != want.Field || c.Bits != uint64(want.ValueBits) {
			t.Errorf("%s: field %d at %v = %x, want %d at %v = %x", where, c.ID, c.Coord, c.Bits, want.Field, want.Coord, want.ValueBits)
		}
	case commands.KindCustom:
		if data := hex.EncodeToString(c.Data); c.ID != want.TypeID || data != want.DataHex {
			t.Errorf("%s: type id %d, data %s, want %d, %s", where, c.ID, data, want.TypeID, want.DataHex)
		}
	case commands.KindSetParameter:
		if c.ID != want.Key || c.Bits != uint64(want.ValueBits) {
			t.Errorf("%s: key %d = %x, want %d = %x", where, c.ID, c.Bits, want.Key, want.ValueBits)
		}
	case commands.KindSetParameterBatch:
		var got []sidecarPair
		for p := range c.Parameters() {
			got = append(got, sidecarPair{p.Key, number(math.Float64bits(p.Value))})
		}
		if fmt.Sprint(got) != fmt.Sprint(want.Params) {
			t.Errorf("%s: parameters %v, want %v", where, got, want.Params)
		}
	}
}

// A memory is a Writer into memory.
type memory struct {
	*replay.Writer
	sink *bytes.Buffer
}

func newWriter(t testing.TB, h replay.Header) memory {
	t.Helper()
	sink := new(bytes.Buffer)
	w, err := replay.NewWriter(sink, h)
	if err != nil {
		t.Fatal(err)
	}
	return memory{w, sink}
}

func (m memory) copy(t testing.TB, f *replay.Frame) {
	t.Helper()
	if err := m.CopyFrame(f); err != nil {
		t.Fatal(err)
	}
}

func (m memory) bytes(t testing.TB) []byte {
	t.Helper()
	if err := m.Flush(); err != nil {
		t.Fatal(err)
	}
	return m.sink.Bytes()
}
