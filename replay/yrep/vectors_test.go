package yrep_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/murksim/murksim/internal/vectors"
	"github.com/murksim/murksim/replay/yrep"
)

// A sidecar says what a file decodes to.
type sidecar struct {
	File, Dialect, Description, Provenance string
	Size                                   int
	SHA256, Expect                         string
	Header                                 *sidecarHeader
	FrameCount                             int `json:"frame_count"`
	InstructionCount                       int `json:"instruction_count"`
	Lifetimes                              map[int32][][2]int32
	SemanticErrors                         []sidecarFinding  `json:"semantic_errors"`
	StateNote                              string            `json:"state_at_note"`
	StateAt                                []json.RawMessage `json:"state_at"`
	Frames                                 []sidecarFrame
	Pattern                                string
	Loader                                 json.RawMessage `json:"reference_loader"`
	Error                                  *struct {
		Kind   yrep.Kind
		Offset int64
	}
}

type sidecarHeader struct {
	Version         int
	ProtocolVersion string  `json:"protocol_version"`
	MetadataHex     string  `json:"metadata_hex"`
	Length          int64   `json:"header_length"`
	MetadataText    *string `json:"metadata_text"`
}

type sidecarFinding struct {
	Kind    yrep.FindingKind
	Frame   int32
	Index   int
	Tracker int32 `json:"tracker_id"`
}

type sidecarFrame struct {
	Frame        int32
	Offset       int64
	Instructions []struct {
		ID             yrep.ID
		Name           string
		Offset, Length int64
		Fields         map[string]any
	}
}

// readJSON reads a file and refuses keys that v does not have.
func readJSON(t *testing.T, path string, v any) {
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

// TestVectors compares every file of the vectors with everything that its sidecar says.
func TestVectors(t *testing.T) {
	root := vectors.Path("yrep")
	var manifest struct {
		Vectors []struct {
			Path, Dialect, Expect, SHA256 string
			Error                         yrep.Kind
			Size                          int
		}
	}
	readJSON(t, filepath.Join(root, "manifest.json"), &manifest)
	listed := map[string]bool{}
	for _, m := range manifest.Vectors {
		listed[m.Path] = true
		t.Run(m.Path, func(t *testing.T) {
			path := filepath.Join(root, filepath.FromSlash(m.Path))
			b, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			var want sidecar
			readJSON(t, strings.TrimSuffix(path, ".yrep")+".json", &want)
			sum := sha256.Sum256(b)
			if got := hex.EncodeToString(sum[:]); got != want.SHA256 || got != m.SHA256 || len(b) != want.Size || len(b) != m.Size ||
				filepath.Base(path) != want.File || m.Dialect != want.Dialect || m.Expect != want.Expect {
				t.Fatalf("%d bytes of SHA-256 %s; sidecar and manifest say %d, %s and %d, %s", len(b), got, want.Size, want.SHA256, m.Size, m.SHA256)
			}
			if want.Error != nil {
				if want.Error.Kind != m.Error {
					t.Errorf("the sidecar says %s, the manifest %s", want.Error.Kind, m.Error)
				}
				checkError(t, b, dialect(t, want.Dialect), want.Error.Kind, want.Error.Offset)
				return
			}
			checkValid(t, b, &want)
		})
	}
	for _, name := range files(t, root, "*/*.yrep") {
		if !listed[name] {
			t.Errorf("%s is not in the manifest", name)
		}
	}
}

// files lists the files of a pattern by their paths below a folder.
func files(t *testing.T, root, pattern string) (list []string) {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(root, filepath.FromSlash(pattern)))
	if err != nil || len(found) == 0 {
		t.Fatalf("%s has no files %s (%v)", root, pattern, err)
	}
	for _, path := range found {
		rel, err := filepath.Rel(root, path)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, filepath.ToSlash(rel))
	}
	return list
}

func dialect(t *testing.T, name string) yrep.Dialect {
	t.Helper()
	d, err := yrep.ParseDialect(name)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// readAll reads a file to its end, keeping its frames.
func readAll(r io.Reader, o yrep.Options) (in *yrep.Reader, frames []yrep.Frame, err error) {
	if in, err = yrep.NewReader(r, o); err != nil {
		return nil, nil, err
	}
	for {
		var f yrep.Frame
		if err := in.Next(&f); err == io.EOF {
			return in, frames, nil
		} else if err != nil {
			return in, frames, err
		}
		frames = append(frames, f)
	}
}

// checkError holds that a strict reader refuses a file for the reason and at the place that it should,
// however the bytes arrive.
func checkError(t *testing.T, b []byte, d yrep.Dialect, kind yrep.Kind, offset int64) {
	t.Helper()
	for name, r := range map[string]io.Reader{"at once": bytes.NewReader(b), "byte by byte": iotest.OneByteReader(bytes.NewReader(b))} {
		_, _, err := readAll(r, yrep.Options{Dialect: d})
		e, ok := errors.AsType[*yrep.Error](err)
		if !ok || e.Kind != kind || e.Offset != offset || !errors.Is(err, kind) {
			t.Errorf("%s: %v, want %s at byte %d", name, err, kind, offset)
		}
	}
}

// checkValid holds that a file is what its sidecar says, in every form.
func checkValid(t *testing.T, b []byte, want *sidecar) {
	d := dialect(t, want.Dialect)
	in, frames, err := readAll(iotest.HalfReader(bytes.NewReader(b)), yrep.Options{Dialect: d})
	if err != nil {
		t.Fatal(err)
	}
	checkHeader(t, in, b, want.Header)
	if in.End() != int64(len(b)) {
		t.Errorf("End = %d, want %d", in.End(), len(b))
	}
	count := 0
	for _, f := range frames {
		count += len(f.Instructions)
	}
	if len(frames) != want.FrameCount || count != want.InstructionCount {
		t.Errorf("%d frames of %d instructions, want %d of %d", len(frames), count, want.FrameCount, want.InstructionCount)
	}
	checkFrames(t, frames, want, d, int64(len(b)))
	checkEncoding(t, in, frames, b)
	checkPlayback(t, b, want)
	checkAuto(t, b, d, count)
}

func checkHeader(t *testing.T, in *yrep.Reader, b []byte, want *sidecarHeader) {
	h := in.Header
	if h.Protocol != want.ProtocolVersion || hex.EncodeToString(h.Metadata) != want.MetadataHex || want.MetadataText != nil && string(h.Metadata) != *want.MetadataText {
		t.Errorf("header %+v, want %+v", h, want)
	}
	version := int(b[4])<<8 | int(b[5])
	var w bytes.Buffer
	if _, err := yrep.NewWriter(&w, h, in.Dialect); err != nil || int64(w.Len()) != want.Length || version != want.Version {
		t.Errorf("header of %d bytes, version %d (%v), want %d, %d", w.Len(), version, err, want.Length, want.Version)
	}
}

// checkFrames compares every field of every instruction, floats by their bits.
func checkFrames(t *testing.T, frames []yrep.Frame, want *sidecar, d yrep.Dialect, size int64) {
	if want.Pattern != "" {
		checkPattern(t, frames, want.Pattern)
		return
	}
	if len(frames) != len(want.Frames) {
		t.Fatalf("%d frames, want %d", len(frames), len(want.Frames))
	}
	for n, f := range frames {
		w := want.Frames[n]
		if f.Number != w.Frame || f.Offset != w.Offset || len(f.Instructions) != len(w.Instructions) {
			t.Fatalf("frame %d at %d with %d instructions, want %d at %d with %d", f.Number, f.Offset, len(f.Instructions), w.Frame, w.Offset, len(w.Instructions))
		}
		end := size
		if n+1 < len(frames) {
			end = frames[n+1].Offset
		}
		for k := range f.Instructions {
			i, wi := &f.Instructions[k], w.Instructions[k]
			next := end
			if k+1 < len(f.Instructions) {
				next = f.Instructions[k+1].Offset
			}
			length := next - i.Offset - 4
			if d == yrep.Wide {
				length -= 2
			}
			if i.ID != wi.ID || i.ID.String() != wi.Name || i.Offset != wi.Offset || length != wi.Length {
				t.Errorf("%s (%d) at %d of %d bytes, want %s (%d) at %d of %d", i.ID, i.ID, i.Offset, length, wi.Name, wi.ID, wi.Offset, wi.Length)
			}
			if got := fieldsOf(i); !maps.EqualFunc(got, wi.Fields, func(a, b any) bool { return reflect.DeepEqual(a, b) }) {
				t.Errorf("frame %d: %s has\n%v, want\n%v", f.Number, i.ID, got, wi.Fields)
			}
		}
	}
}

// checkPattern compares a frame that a sentence describes.
func checkPattern(t *testing.T, frames []yrep.Frame, pattern string) {
	var tracker int32
	var times int
	var letter rune
	if _, err := fmt.Sscanf(pattern, "frame 1: one PLAYER_CHAT, tracker_id %d, message = %d times '%c'", &tracker, &times, &letter); err != nil {
		t.Fatalf("pattern %q: %v", pattern, err)
	}
	if len(frames) != 1 || len(frames[0].Instructions) != 1 {
		t.Fatalf("%d frames, want 1 of 1 instruction", len(frames))
	}
	if i := frames[0].Instructions[0]; i.ID != yrep.PlayerChat || i.Tracker != tracker || i.Message != strings.Repeat(string(letter), times) {
		t.Errorf("%s by %d of %d bytes, want %s", i.ID, i.Tracker, len(i.Message), pattern)
	}
}

// fieldsOf returns an instruction's fields in the form of a sidecar.
func fieldsOf(i *yrep.Instruction) map[string]any {
	m := map[string]any{}
	double := func(name string, v float64) { m[name] = sidecarFloat(fmt.Sprintf("%016x", math.Float64bits(v)), v) }
	single := func(name string, v float32) {
		m[name] = sidecarFloat(fmt.Sprintf("%08x", math.Float32bits(v)), float64(v))
	}
	for name, text := range i.Fields() {
		var v any
		if err := json.Unmarshal([]byte(text), &v); err != nil {
			panic(err)
		}
		switch name {
		case "x", "y", "z":
			if i.ID == yrep.BlockChange || i.ID == yrep.BlockBreakProgress {
				m[name] = v
				continue
			}
			double(name, map[string]float64{"x": i.X, "y": i.Y, "z": i.Z}[name])
		case "vx", "vy", "vz":
			double(name, map[string]float64{"vx": i.VelocityX, "vy": i.VelocityY, "vz": i.VelocityZ}[name])
		case "yaw":
			single(name, i.Yaw)
		case "pitch":
			single(name, i.Pitch)
		case "slot":
			m["slot"], m["slot_name"] = float64(i.Slot), v
		default:
			m[name] = v
		}
	}
	if i.ID == yrep.EntityPosition || i.ID == yrep.PlayerMotionStatus {
		m["flags"] = float64(i.Flags)
	}
	return m
}

func sidecarFloat(bits string, v float64) any {
	var value any = v
	switch {
	case v != v:
		value = "NaN"
	case math.IsInf(v, 1):
		value = "Infinity"
	case math.IsInf(v, -1):
		value = "-Infinity"
	}
	return map[string]any{"hex": bits, "value": value}
}

// checkEncoding holds that the frames encode to the same bytes, through the other dialect and through JSON
// lines, too.
func checkEncoding(t *testing.T, in *yrep.Reader, frames []yrep.Frame, b []byte) {
	var w bytes.Buffer
	out, err := yrep.NewWriter(&w, in.Header, in.Dialect)
	for n := 0; err == nil && n < len(frames); n++ {
		err = out.WriteFrame(frames[n].Instructions)
	}
	if err != nil || !bytes.Equal(w.Bytes(), b) {
		t.Errorf("encoding gives %d other bytes, %v", w.Len(), err)
	}
	var lines, back bytes.Buffer
	if _, err := yrep.Convert(&lines, bytes.NewReader(b), yrep.Options{Dialect: in.Dialect}, yrep.Auto); err != nil {
		t.Fatal(err)
	}
	if _, err := yrep.Convert(&back, bytes.NewReader(lines.Bytes()), yrep.Options{}, yrep.Auto); err != nil || !bytes.Equal(back.Bytes(), b) {
		t.Errorf("JSON lines give %d other bytes, %v:\n%.2000s", back.Len(), err, lines.Bytes())
	}
	other := yrep.Wide
	if in.Dialect == yrep.Wide {
		other = yrep.Narrow
	}
	var there bytes.Buffer
	back.Reset()
	switch _, err := yrep.Convert(&there, bytes.NewReader(b), yrep.Options{Dialect: in.Dialect}, other); {
	case errors.Is(err, yrep.ErrPayloadTooLarge) && len(b) > 1<<15:
		return
	case err != nil:
		t.Fatal(err)
	}
	if _, err := yrep.Convert(&back, bytes.NewReader(there.Bytes()), yrep.Options{Dialect: other}, in.Dialect); err != nil || !bytes.Equal(back.Bytes(), b) {
		t.Errorf("the %s dialect gives %d other bytes, %v", other, back.Len(), err)
	}
}

// checkPlayback compares lifetimes, semantic errors and states.
func checkPlayback(t *testing.T, b []byte, want *sidecar) {
	var found []sidecarFinding
	p, err := yrep.NewPlayback(bytes.NewReader(b), yrep.Options{Dialect: dialect(t, want.Dialect)}, func(f yrep.Finding) {
		if f.Kind.Semantic() {
			found = append(found, sidecarFinding{f.Kind, f.Frame, f.Index, f.Tracker})
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(found, want.SemanticErrors) {
		t.Errorf("semantic errors %v, want %v", found, want.SemanticErrors)
	}
	if err := p.Seek(p.Frames()); err != nil {
		t.Fatal(err)
	}
	lifetimes := map[int32][][2]int32{}
	for _, e := range p.State().Entities() {
		for _, l := range e.Lifetimes {
			if l.End == 0 {
				l.End = p.Frames() + 1
			}
			lifetimes[e.Tracker] = append(lifetimes[e.Tracker], [2]int32{l.Start, l.End})
		}
	}
	if !reflect.DeepEqual(lifetimes, want.Lifetimes) {
		t.Errorf("lifetimes %v, want %v", lifetimes, want.Lifetimes)
	}
	for _, text := range slices.Backward(want.StateAt) {
		var state map[string]any
		if err := json.Unmarshal(text, &state); err != nil {
			t.Fatal(err)
		}
		frame := int32(state["after_frame"].(float64))
		if err := p.Seek(frame); err != nil {
			t.Fatal(err)
		}
		dump, err := json.Marshal(p.State())
		var got map[string]any
		if err := errors.Join(err, json.Unmarshal(dump, &got)); err != nil || !reflect.DeepEqual(got, state) {
			t.Errorf("state after frame %d (%v):\n%s, want\n%s", frame, err, dump, text)
		}
	}
}

// checkAuto holds that the dialect is found.
func checkAuto(t *testing.T, b []byte, d yrep.Dialect, instructions int) {
	in, _, err := readAll(bytes.NewReader(b), yrep.Options{Dialect: yrep.Auto})
	if err != nil {
		t.Fatal(err)
	}
	if instructions == 0 {
		d = yrep.Narrow
	}
	if in.Dialect != d {
		t.Errorf("auto reads it as %s, want %s", in.Dialect, d)
	}
}

// TestTruncation cuts files at every byte.
func TestTruncation(t *testing.T) {
	root := vectors.Path("yrep")
	for _, name := range files(t, root, "truncation/*.json") {
		var want struct {
			Base, Dialect, Description, Provenance string
			Size                                   int
			Valid                                  []int64  `json:"valid_prefix_lengths"`
			Offsets                                []*int64 `json:"error_offset"`
		}
		readJSON(t, filepath.Join(root, name), &want)
		b, err := os.ReadFile(filepath.Join(root, want.Base))
		if err != nil || len(b) != want.Size || len(want.Offsets) != len(b)+1 {
			t.Fatalf("%s: %d bytes and %d offsets, want %d (%v)", name, len(b), len(want.Offsets), want.Size, err)
		}
		d := dialect(t, want.Dialect)
		for n, offset := range want.Offsets {
			in, frames, err := readAll(bytes.NewReader(b[:n]), yrep.Options{Dialect: d})
			if whole := slices.Index(want.Valid, int64(n)); whole >= 0 {
				if err != nil || len(frames) != whole || offset != nil {
					t.Errorf("%s, %d bytes: %d frames, %v, want %d", name, n, len(frames), err, whole)
				}
				continue
			}
			checkError(t, b[:n], d, yrep.ErrTruncated, *offset)
			if in == nil {
				continue // in the header
			}
			if whole := int(slices.Index(want.Valid, in.End())); whole != len(frames) {
				t.Errorf("%s, %d bytes: %d frames are whole, and %d bytes, want those of %d frames", name, n, len(frames), in.End(), whole)
			}
			if _, _, err := readAll(bytes.NewReader(b[:in.End()]), yrep.Options{Dialect: d}); err != nil {
				t.Errorf("%s, %d bytes, repaired: %v", name, n, err)
			}
		}
	}
}

// TestFlushChunks writes files in pieces, as the vectors have them.
func TestFlushChunks(t *testing.T) {
	root := vectors.Path("yrep")
	for _, d := range []yrep.Dialect{yrep.Narrow, yrep.Wide} {
		b, err := os.ReadFile(filepath.Join(root, d.String(), "flush_chunks.yrep"))
		if err != nil {
			t.Fatal(err)
		}
		in, frames, err := readAll(bytes.NewReader(b), yrep.Options{Dialect: d})
		if err != nil {
			t.Fatal(err)
		}
		var piece, all bytes.Buffer
		w, err := yrep.NewWriter(&piece, in.Header, d)
		if err != nil {
			t.Fatal(err)
		}
		for part := 1; part <= 3; part++ {
			want, err := os.ReadFile(filepath.Join(root, d.String(), fmt.Sprintf("flush_chunks.part%d.bin", part)))
			if err != nil {
				t.Fatal(err)
			}
			for piece.Len() < len(want) {
				if err := w.WriteFrame(frames[0].Instructions); err != nil {
					t.Fatal(err)
				}
				frames = frames[1:]
			}
			if !bytes.Equal(piece.Bytes(), want) {
				t.Errorf("%s: part %d is %x, want %x", d, part, piece.Bytes(), want)
			}
			piece.WriteTo(&all)
			if _, _, err := readAll(bytes.NewReader(all.Bytes()), yrep.Options{Dialect: d}); err != nil {
				t.Errorf("%s: the first %d parts: %v", d, part, err)
			}
		}
		if len(frames) > 0 || !bytes.Equal(all.Bytes(), b) {
			t.Errorf("%s: the parts do not make the file", d)
		}
	}
}
