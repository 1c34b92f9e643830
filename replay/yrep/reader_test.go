package yrep_test

import (
	"bytes"
	"errors"
	"io"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/murksim/murksim/internal/vectors"
	"github.com/murksim/murksim/replay/yrep"
)

// vector returns a file of the vectors.
func vector(t testing.TB, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(vectors.Path("yrep"), filepath.FromSlash(name)))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// write returns a file of some frames.
func write(t testing.TB, d yrep.Dialect, frames ...[]yrep.Instruction) []byte {
	t.Helper()
	var b bytes.Buffer
	w, err := yrep.NewWriter(&b, yrep.Header{}, d)
	for n := 0; err == nil && n < len(frames); n++ {
		err = w.WriteFrame(frames[n])
	}
	if err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// TestProtocol: without a required version every well-formed one is good.
func TestProtocol(t *testing.T) {
	file := func(protocol string) []byte {
		b := []byte("\x0d\x00\x07\x21\x01\x1a\x00\x00\x00")
		return append(append(append(b, byte(len(protocol))), protocol...), 0, 0, 0, 0)
	}
	for _, tt := range []struct {
		protocol, required string
		want               yrep.Kind
	}{
		{"v1_8_R3", "", ""}, {"V1_8_r3", "", ""}, {"v12_345_R6789", "", ""}, {"v1_8_R3", "V1_8_r3", ""},
		{"v1_8_R3", "v1_8_R2", yrep.ErrProtocolMismatch}, {"1_8_R3", "", yrep.ErrProtocol}, {"v1_8_3", "", yrep.ErrProtocol},
		{"v_8_R3", "", yrep.ErrProtocol}, {"v1__R3", "", yrep.ErrProtocol}, {"v1_8_R", "", yrep.ErrProtocol}, {"v1_8_R3\n", "", yrep.ErrProtocol},
		{" v1_8_R3", "", yrep.ErrProtocol}, {"v1_8_R3_1", "", yrep.ErrProtocol}, {"v1_8", "v1_8", yrep.ErrProtocol}, {"v1_8_R3\xff", "", yrep.ErrInvalidUTF8},
		{"v+1_8_R3", "", yrep.ErrProtocol}, {"w1_8_R3", "", yrep.ErrProtocol}, {"v1_8_S3", "", yrep.ErrProtocol},
	} {
		_, err := yrep.NewReader(bytes.NewReader(file(tt.protocol)), yrep.Options{Protocol: tt.required})
		e, _ := errors.AsType[*yrep.Error](err)
		if (err == nil) != (tt.want == "") || err != nil && (e.Kind != tt.want || e.Offset != 6) {
			t.Errorf("protocol %q, required %q: %v, want %q at byte 6", tt.protocol, tt.required, err, tt.want)
		}
	}
}

// TestVersion: the error has the version that was found.
func TestVersion(t *testing.T) {
	for name, want := range map[string]int{"malformed/version_0119.yrep": 0x119, "malformed/version_8000.yrep": -0x8000} {
		_, err := yrep.NewReader(bytes.NewReader(vector(t, name)), yrep.Options{})
		if e, ok := errors.AsType[*yrep.Error](err); !ok || e.Found != want {
			t.Errorf("%s: %v, want version %d found", name, err, want)
		}
	}
}

// TestLenient: five kinds of errors become warnings, and the instruction stays as bytes.
func TestLenient(t *testing.T) {
	for _, name := range files(t, vectors.Path("yrep"), "malformed/*.yrep") {
		b := vector(t, name)
		d := yrep.Narrow
		if strings.HasPrefix(filepath.Base(name), "wide_block") || strings.HasSuffix(name, "as_wide.yrep") {
			d = yrep.Wide
		}
		_, _, strict := readAll(bytes.NewReader(b), yrep.Options{Dialect: d})
		in, frames, err := readAll(bytes.NewReader(b), yrep.Options{Dialect: d, Lenient: true})
		e, _ := errors.AsType[*yrep.Error](strict)
		soft := in != nil && slices.Contains([]yrep.Kind{yrep.ErrUnknownInstruction, yrep.ErrPayloadLength, yrep.ErrReservedBits, yrep.ErrSlot, yrep.ErrInvalidUTF8}, e.Kind)
		if !soft {
			if err == nil || err.Error() != strict.Error() {
				t.Errorf("%s: lenient %v, strict %v; want no difference", name, err, strict)
			}
			continue
		}
		if err != nil { // what follows may not fit
			if later, _ := errors.AsType[*yrep.Error](err); later == nil || later.Offset <= e.Offset || later.Kind == e.Kind && e.Kind != yrep.ErrTruncated {
				t.Errorf("%s: lenient %v, strict %v", name, err, strict)
			}
			continue
		}
		var warnings []*yrep.Error
		raw := 0
		for _, f := range frames {
			warnings = append(warnings, f.Warnings...)
			for _, i := range f.Instructions {
				if i.Raw != nil {
					raw++
				}
			}
		}
		if len(warnings) == 0 || *warnings[0] != *e || raw != len(warnings) {
			t.Errorf("%s: %d raw, warnings %v, want first %v", name, raw, warnings, e)
		}
	}
}

// TestKeepUnknown: unknown ids come as bytes and without a warning; nothing else is forgiven.
func TestKeepUnknown(t *testing.T) {
	b := vector(t, "malformed/id_0011.yrep")
	for _, lenient := range []bool{false, true} {
		_, frames, err := readAll(bytes.NewReader(b), yrep.Options{KeepUnknown: true, Lenient: lenient})
		if err != nil || len(frames[0].Warnings) > 0 || frames[0].Instructions[0].ID != 0x11 || len(frames[0].Instructions[0].Raw) != 4 {
			t.Errorf("lenient %v: %+v, %v; want instruction 0x0011 with 4 bytes", lenient, frames, err)
		}
	}
	checkErrorOf(t, vector(t, "malformed/payload_slot_negative.yrep"), yrep.Options{KeepUnknown: true}, yrep.ErrSlot)
}

func checkErrorOf(t *testing.T, b []byte, o yrep.Options, want yrep.Kind) {
	t.Helper()
	if _, _, err := readAll(bytes.NewReader(b), o); !errors.Is(err, want) {
		t.Errorf("%v, want %s", err, want)
	}
}

// TestAuto: a file that is whole in neither dialect has the error of the narrow one, and an input that cannot
// be read twice is refused.
func TestAuto(t *testing.T) {
	wide := vector(t, "wide/walk_one_player.yrep")
	cut := wide[:len(wide)-1]
	_, _, want := readAll(bytes.NewReader(cut), yrep.Options{})
	in, _, err := readAll(bytes.NewReader(cut), yrep.Options{Dialect: yrep.Auto})
	if in.Dialect != yrep.Narrow || err == nil || err.Error() != want.Error() {
		t.Errorf("cut: %s, %v, want narrow, %v", in.Dialect, err, want)
	}
	if _, err := yrep.NewReader(io.MultiReader(bytes.NewReader(wide)), yrep.Options{Dialect: yrep.Auto}); err == nil {
		t.Error("an input that cannot seek is read")
	}
	odd := write(t, yrep.Wide, []yrep.Instruction{{ID: yrep.PlayerInventory, Raw: []byte{0, 0, 0, 1, 9, 0, 0, 0, 0}}, {ID: yrep.PlayerDeath}})
	checkErrorOf(t, odd, yrep.Options{Dialect: yrep.Auto}, yrep.ErrPayloadLength)
	if in, _, err := readAll(bytes.NewReader(odd), yrep.Options{Dialect: yrep.Auto, Lenient: true}); err != nil || in.Dialect != yrep.Wide {
		t.Errorf("lenient: %s, %v, want wide", in.Dialect, err)
	}
	behind := bytes.NewReader(append([]byte("before"), wide...))
	behind.Seek(6, io.SeekStart)
	if in, frames, err := readAll(behind, yrep.Options{Dialect: yrep.Auto}); err != nil || in.Dialect != yrep.Wide || len(frames) != 25 {
		t.Errorf("in the middle of an input: %d frames, %v, want 25", len(frames), err)
	}
}

// TestReadError: an error of the input is no error of the format.
func TestReadError(t *testing.T) {
	b := vector(t, "narrow/walk_one_player.yrep")
	broken := errors.New("the disk is gone")
	for n := range b {
		_, _, err := readAll(io.MultiReader(bytes.NewReader(b[:n]), iotest.ErrReader(broken)), yrep.Options{})
		if !errors.Is(err, broken) {
			t.Fatalf("after %d bytes: %v, want %v", n, err, broken)
		}
	}
}

// TestMemory: lengths and counts that the file does not have reserve no memory.
func TestMemory(t *testing.T) {
	header := write(t, yrep.Wide)
	for name, b := range map[string][]byte{
		"protocol": []byte("\x0d\x00\x07\x21\x01\x1a\x7f\xff\xff\xffv"),
		"metadata": append(header[:len(header)-4:len(header)-4], 0x7f, 0xff, 0xff, 0xff),
		"payload":  append(header[:len(header):len(header)], 0, 0, 0, 1, 0x7f, 0xff, 0, 6, 0x7f, 0xff, 0xff, 0xff, 1),
		"text":     append(header[:len(header):len(header)], 0, 0, 0, 1, 0x7f, 0xff, 0, 6, 0, 0, 0, 9, 0, 0, 0, 0, 0x7f, 0xff, 0xff, 0xff, 1),
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, _, err := readAll(bytes.NewReader(b), yrep.Options{Dialect: yrep.Wide})
		runtime.ReadMemStats(&after)
		if size := after.TotalAlloc - before.TotalAlloc; err == nil || size > 3<<20 {
			t.Errorf("%s: %v after %d bytes of memory, want an error and at most 3 MiB", name, err, size)
		}
	}
}

// TestOneFrame: a reader holds one frame, however long the file is.
func TestOneFrame(t *testing.T) {
	frame := slices.Repeat([]yrep.Instruction{{ID: yrep.EntityPosition, Flags: yrep.HasX, X: 1}}, 1000)
	b := write(t, yrep.Narrow, slices.Repeat([][]yrep.Instruction{frame}, 200)...)
	in, err := yrep.NewReader(bytes.NewReader(b), yrep.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var f yrep.Frame
	if err := in.Next(&f); err != nil {
		t.Fatal(err)
	}
	if got := testing.AllocsPerRun(100, func() {
		if err := in.Next(&f); err != nil {
			t.Fatal(err)
		}
	}); got > 0 {
		t.Errorf("%v allocations a frame, want none", got)
	}
}

// TestWriterRefuses: what no file can hold is refused, and the file stays as it was.
func TestWriterRefuses(t *testing.T) {
	long := strings.Repeat("y", 40_000-8)
	good := []yrep.Instruction{{ID: yrep.PlayerChat, Message: "hi"}}
	for _, tt := range []struct {
		want yrep.Kind
		list []yrep.Instruction
	}{
		{yrep.ErrTooManyInstructions, make([]yrep.Instruction, 32768)},
		{yrep.ErrPayloadTooLarge, []yrep.Instruction{good[0], {ID: yrep.PlayerChat, Message: long}}},
		{yrep.ErrPayloadTooLarge, []yrep.Instruction{{ID: 99, Raw: []byte(long)}}},
		{yrep.ErrUnknownInstruction, []yrep.Instruction{{ID: 17}}},
		{yrep.ErrUnknownInstruction, []yrep.Instruction{{}}},
		{yrep.ErrInvalidUTF8, []yrep.Instruction{{ID: yrep.PlayerChat, Message: "\xed\xa0\x80"}}},
		{yrep.ErrSlot, []yrep.Instruction{{ID: yrep.PlayerInventory, Slot: 5}}},
		{yrep.ErrReservedBits, []yrep.Instruction{{ID: yrep.EntityPosition, Flags: 1 << 5}}},
		{yrep.ErrReservedBits, []yrep.Instruction{{ID: yrep.PlayerMotionStatus, Flags: 1 << 2}}},
	} {
		var b bytes.Buffer
		w, err := yrep.NewWriter(&b, yrep.Header{}, yrep.Narrow)
		if err := errors.Join(err, w.WriteFrame(good)); err != nil {
			t.Fatal(err)
		}
		before := slices.Clone(b.Bytes())
		err = w.WriteFrame(tt.list)
		e, ok := errors.AsType[*yrep.Error](err)
		if !ok || e.Kind != tt.want || e.Frame != 2 || e.Offset < int64(len(before)) || !bytes.Equal(b.Bytes(), before) {
			t.Errorf("%v with %d bytes more, want %s in frame 2 and no byte", err, b.Len()-len(before), tt.want)
		}
		if err := w.WriteFrame(good); err != nil {
			t.Fatal(err)
		}
		if _, frames, err := readAll(&b, yrep.Options{}); err != nil || len(frames) != 2 {
			t.Errorf("%s: afterwards %d frames, %v, want 2", tt.want, len(frames), err)
		}
	}
	for _, h := range []yrep.Header{{Protocol: "v1_8"}, {Protocol: "v1_8_R3 "}} {
		if _, err := yrep.NewWriter(io.Discard, h, yrep.Narrow); !errors.Is(err, yrep.ErrProtocol) {
			t.Errorf("protocol %q: %v, want %s", h.Protocol, err, yrep.ErrProtocol)
		}
	}
	if _, err := yrep.NewWriter(io.Discard, yrep.Header{}, yrep.Auto); err == nil {
		t.Error("a file is written in the dialect auto")
	}
	full := slices.Repeat([]yrep.Instruction{{ID: yrep.PlayerArmSwing}}, 32767)
	if _, frames, err := readAll(bytes.NewReader(write(t, yrep.Narrow, full)), yrep.Options{}); err != nil || len(frames[0].Instructions) != 32767 {
		t.Errorf("32767 instructions: %v", err)
	}
	if _, err := yrep.NewWriter(failing{}, yrep.Header{}, yrep.Narrow); !errors.Is(err, io.ErrClosedPipe) {
		t.Errorf("NewWriter = %v, want %v", err, io.ErrClosedPipe)
	}
}

type failing struct{}

func (failing) Write([]byte) (int, error) { return 0, io.ErrClosedPipe }

// TestFloatBits: the bits of a NaN and of a negative zero survive.
func TestFloatBits(t *testing.T) {
	odd := yrep.Instruction{
		ID: yrep.EntityPosition, Flags: 31, X: math.Float64frombits(0x7ff0000000000001), Y: math.Copysign(0, -1), Z: math.Inf(-1),
		Yaw: math.Float32frombits(0xffc00123), Pitch: math.Float32frombits(0x80000000),
	}
	b := write(t, yrep.Narrow, []yrep.Instruction{odd})
	want := []byte("\x7f\xf0\x00\x00\x00\x00\x00\x01\x80\x00\x00\x00\x00\x00\x00\x00\xff\xf0\x00\x00\x00\x00\x00\x00\xff\xc0\x01\x23\x80\x00\x00\x00")
	if !bytes.HasSuffix(b, want) {
		t.Errorf("written as %x, want %x at the end", b, want)
	}
	var lines, back bytes.Buffer
	if _, err := yrep.Convert(&lines, bytes.NewReader(b), yrep.Options{}, yrep.Auto); err != nil {
		t.Fatal(err)
	}
	const text = `"x":"0x7ff0000000000001","y":-0.0,"z":"0xfff0000000000000","yaw":"0xffc00123","pitch":-0.0`
	if !strings.Contains(lines.String(), text) {
		t.Errorf("lines are\n%s, want %s", lines.String(), text)
	}
	if _, err := yrep.Convert(&back, &lines, yrep.Options{}, yrep.Auto); err != nil || !bytes.Equal(back.Bytes(), b) {
		t.Errorf("back it is %x, %v, want %x", back.Bytes(), err, b)
	}
}

// TestLinesRefused: every mistake in a line has its place.
func TestLinesRefused(t *testing.T) {
	const header = `{"yrep":282,"dialect":"narrow","protocol":"v1_8_R3","metadata":""}` + "\n"
	frame := func(instructions string) string {
		return header + "\n" + `{"frame":1,"instructions":[` + instructions + "]}\n"
	}
	for _, tt := range []struct {
		lines string
		want  yrep.Kind
		line  int64
		text  string
	}{
		{`{"yrep":281,"dialect":"narrow","protocol":"v1_8_R3","metadata":""}`, yrep.ErrVersion, 1, "281"},
		{`{"yrep":282,"dialect":"auto","protocol":"v1_8_R3","metadata":""}`, yrep.ErrLine, 1, "auto"},
		{`{"yrep":282,"dialect":"wide","protocol":"v1_8","metadata":""}`, yrep.ErrProtocol, 1, "v1_8"},
		{`{"yrep":282,"dialect":"wide","protocol":"v1_8_R3"}`, yrep.ErrLine, 1, "metadata"},
		{`{"yrep":282,"dialect":"wide","protocol":"v1_8_R3","metadata_hex":"0"}`, yrep.ErrLine, 1, "metadata_hex"},
		{`{"yrep":282,"dialect":"wide","protocol":"v1_8_R3","metadata":"","x":1}`, yrep.ErrLine, 1, `"x"`},
		{header + `{"frame":2,"instructions":[]}`, yrep.ErrFrameNumber, 2, "1 is due"},
		{header + `{"frame":1}`, yrep.ErrLine, 2, "instructions"},
		{header + `{"frame":1,"instructions":[]} {}`, yrep.ErrLine, 2, "something follows"},
		{header + `{"frame":1,`, yrep.ErrLine, 2, "no end"},
		{header + "{\"frame\":1,\"instructions\":[], \"\xff\":0}", yrep.ErrInvalidUTF8, 2, "UTF-8"},
		{frame("[]"), yrep.ErrLine, 3, "(instruction 1 of 1): an instruction must be an object"},
		{frame(`{"instruction":"PLAYER_DEATH","tracker_id":1},{"a":"}\\","b":[{},",\"]"]}, 0`), yrep.ErrLine, 3, `(instruction 2 of 3): there is no "instruction"`},
		{frame("{" + strings.Repeat(`"a":0,`, 40) + `"b":0}`), yrep.ErrLine, 3, "at most 32 keys"},
		{header + `{"frame":1,"instructions":{}}`, yrep.ErrLine, 2, "an array"},
		{frame(strings.Repeat(`{"instruction":"PLAYER_DEATH","tracker_id":1},`, 32767) + `{}`), yrep.ErrTooManyInstructions, 3, "more than 32767"},
		{frame(`{"instruction":"JUMP"}`), yrep.ErrLine, 3, `no instruction "JUMP"`},
		{frame(`{"instruction":"PLAYER_DEATH"}`), yrep.ErrLine, 3, `no "tracker_id"`},
		{frame(`{"instruction":"PLAYER_DEATH","tracker_id":1,"message":"x"}`), yrep.ErrLine, 3, `PLAYER_DEATH has no "message"`},
		{frame(`{"instruction":"PLAYER_DEATH","tracker_id":2147483648}`), yrep.ErrLine, 3, "2147483648"},
		{frame(`{"instruction":"PLAYER_DEATH","tracker_id":null}`), yrep.ErrLine, 3, "null"},
		{frame(`{"instruction":"ENTITY_POSITION","tracker_id":1,"x":"1"}`), yrep.ErrLine, 3, "0x and 16"},
		{frame(`{"instruction":"ENTITY_POSITION","tracker_id":1,"yaw":1e39}`), yrep.ErrLine, 3, "1e39"},
		{frame(`{"instruction":"PLAYER_INVENTORY","tracker_id":1,"slot":"HAND","item":""}`), yrep.ErrLine, 3, "MAINHAND"},
		{frame(`{"instruction":"REMOVE_PLAYER","tracker_id":1,"uuid":"1"}`), yrep.ErrLine, 3, "UUID"},
		{frame(`{"instruction":"PLAYER_CHAT","tracker_id":1,"message":"\ud800"}`), yrep.ErrLine, 3, "surrogate"},
		{frame(`{"instruction":"0x0011"}`), yrep.ErrLine, 3, `"raw"`},
		{frame(`{"instruction":"0x0001","raw":""}`), yrep.ErrLine, 3, "0x0001"},
		{frame(`{"instruction":"PLAYER_DEATH","raw":"0"}`), yrep.ErrLine, 3, "raw"},
	} {
		_, err := yrep.Convert(io.Discard, strings.NewReader(tt.lines), yrep.Options{}, yrep.Auto)
		e, ok := errors.AsType[*yrep.Error](err)
		if !ok || e.Kind != tt.want || e.Line != tt.line || !strings.Contains(e.Error(), tt.text) {
			t.Errorf("%s\n%v, want %s at line %d with %s", tt.lines, err, tt.want, tt.line, tt.text)
		}
	}
	good := frame(`{ "\u0069nstruction" : "PLAYER_CHAT" , "tracker_id" :1, "message":"\u00e4\ufffd" } `)
	var b, back bytes.Buffer
	if _, err := yrep.Convert(&b, strings.NewReader(good), yrep.Options{}, yrep.Wide); err != nil {
		t.Fatal(err)
	}
	const want = `{"yrep":282,"dialect":"wide","protocol":"v1_8_R3","metadata":""}
{"frame":1,"instructions":[{"instruction":"PLAYER_CHAT","tracker_id":1,"message":"ä�"}]}
`
	if _, err := yrep.Convert(&back, &b, yrep.Options{Dialect: yrep.Wide}, yrep.Auto); err != nil || back.String() != want {
		t.Errorf("%s, %v, want %s", back.String(), err, want)
	}
}

// TestLongLines: what memory a line takes has the bound of a line and of a frame, whatever stands in it, and
// no line is written that is longer.
func TestLongLines(t *testing.T) {
	const header = `{"yrep":282,"dialect":"narrow","protocol":"v1_8_R3","metadata":""}` + "\n"
	allocated := func(lines io.Reader) (uint64, error) {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := yrep.Convert(io.Discard, lines, yrep.Options{}, yrep.Auto)
		runtime.ReadMemStats(&after)
		return (after.TotalAlloc - before.TotalAlloc) >> 20, err
	}
	many := header + `{"frame":1,"instructions":[{}` + strings.Repeat(",{}", 4<<20) + "]}\n" // 12 MB
	if mb, err := allocated(strings.NewReader(many)); !errors.Is(err, yrep.ErrLine) || mb > 150 {
		t.Errorf("12 MB of instructions: %v, %d MB are allocated, want %s and at most 150", err, mb, yrep.ErrLine)
	}
	endless := io.LimitReader(readerFunc(func(b []byte) (int, error) { return copy(b, strings.Repeat(" ", len(b))), nil }), 1<<30)
	if mb, err := allocated(io.MultiReader(strings.NewReader(header), endless)); !errors.Is(err, yrep.ErrLine) || mb > 400 {
		t.Errorf("an endless line: %v, %d MB are allocated, want %s and at most 400", err, mb, yrep.ErrLine)
	}
	raw := yrep.Instruction{ID: 99, Raw: make([]byte, 34<<20)}
	b := write(t, yrep.Wide, []yrep.Instruction{{ID: yrep.PlayerDeath}}, []yrep.Instruction{raw})
	var lines bytes.Buffer
	c, err := yrep.Convert(&lines, bytes.NewReader(b), yrep.Options{Dialect: yrep.Wide, KeepUnknown: true}, yrep.Auto)
	if !errors.Is(err, yrep.ErrPayloadTooLarge) || c.Frames != 1 || bytes.Count(lines.Bytes(), []byte("\n")) != 2 {
		t.Errorf("a frame that is too long for a line: %v, %d frames, %d bytes", err, c.Frames, lines.Len())
	}
}

// A readerFunc is a Read.
type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(b []byte) (int, error) { return f(b) }
