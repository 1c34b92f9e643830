package replay_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"runtime"
	"strings"
	"testing"

	"github.com/murksim/murksim/commands"
	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/replay"
	"github.com/murksim/murksim/rng"
	"github.com/murksim/murksim/space"
)

// waters is the descriptor of the pond where a recording may begin at a state.
var waters = []byte(`{"pond":"a, \"begin\":{\"tick\":1"}`)

// pondAt builds the pond in a state, or at genesis without one.
func pondAt(state []byte) (*engine.World, error) {
	if state == nil {
		return pond(nil)
	}
	return engine.Restore(pondConfig(wind), waters, state)
}

// pondBegin is the builder of recordings of the pond that hold the state at which they begin.
func pondBegin(h *replay.Header) (*engine.World, error) {
	b, err := h.Begin()
	if err != nil || b == nil {
		return pond(h)
	}
	return pondAt(b.State)
}

// pondPart records the pond from a state to a tick, and returns the state there.
func pondPart(tb testing.TB, state []byte, to uint64) (recording, end []byte) {
	tb.Helper()
	w, err := pondAt(state)
	if err != nil {
		tb.Fatal(err)
	}
	descriptor := waters
	if state != nil {
		descriptor = begun(tb, state)
	}
	var sink bytes.Buffer
	r, err := replay.NewRecorder(&sink, w, descriptor)
	if err != nil {
		tb.Fatal(err)
	}
	w.Record(r)
	for w.Tick() < to {
		if _, _, err := w.SubmitAll(pondInputs(w.Tick() + 1)); err != nil {
			tb.Fatal(err)
		}
		if _, err := w.Step(); err != nil {
			tb.Fatal(err)
		}
	}
	if err := r.Flush(); err != nil {
		tb.Fatal(err)
	}
	if to > 0 && w.Pending() == 0 {
		tb.Fatalf("no event waits after tick %d; want one", to)
	}
	if end, err = w.Save(waters); err != nil {
		tb.Fatal(err)
	}
	return sink.Bytes(), end
}

// begun is the descriptor of a recording that begins at a state.
func begun(tb testing.TB, state []byte) []byte {
	tb.Helper()
	b, err := replay.NewBegin(state)
	if err != nil {
		tb.Fatal(err)
	}
	d, err := b.Describe(waters)
	if err != nil {
		tb.Fatal(err)
	}
	return d
}

// head is the length of a recording's header.
func head(tb testing.TB, recording []byte) int64 {
	tb.Helper()
	r, err := replay.NewReader(bytes.NewReader(recording))
	if err != nil {
		tb.Fatal(err)
	}
	return r.Offset()
}

// TestBeginChain holds that recordings, each of which begins at the state with which the one
// before it ends, have the frames and the last state of one recording, wherever they are cut.
func TestBeginChain(t *testing.T) {
	whole, last := pondPart(t, nil, pondTicks)
	for _, cuts := range [][]uint64{{0}, {1}, {3}, {6}, {2, 5}, {1, 2, 3, 4, 5, 6}} {
		var state, frames []byte
		begin := uint64(0)
		for _, to := range append(cuts, pondTicks) {
			part, end := pondPart(t, state, to)
			frames, state = append(frames, part[head(t, part):]...), end
			if n, err := verify(part, pondBegin); n != to-begin || err != nil {
				t.Fatalf("cut at %d: %d ticks up to %d match, %v; want %d", cuts, n, to, err, to-begin)
			}
			begin = to
		}
		if want := whole[head(t, whole):]; !bytes.Equal(frames, want) {
			t.Errorf("cut at %d: the frames are %x, want %x", cuts, frames, want)
		}
		if !bytes.Equal(state, last) {
			t.Errorf("cut at %d: the last state is another one", cuts)
		}
	}
}

// A forging recorder gives a tick another input before it hands it on.
type forging struct {
	*replay.Recorder
	input commands.Command
}

// Record implements [engine.Recorder].
func (f forging) Record(t *engine.Tick) error {
	was := t.Inputs
	defer func() { t.Inputs = was }()
	t.Inputs = []commands.Command{f.input}
	return f.Recorder.Record(t)
}

// TestBeginLimit: what a recording that begins at a state cannot take is refused at its place in it.
func TestBeginLimit(t *testing.T) {
	_, state := pondPart(t, nil, 3)
	w, err := pondAt(state)
	if err != nil {
		t.Fatal(err)
	}
	var sink bytes.Buffer
	r, err := replay.NewRecorder(&sink, w, begun(t, state))
	if err != nil {
		t.Fatal(err)
	}
	w.Record(forging{r, commands.Custom(1, make([]byte, replay.MaxBytes))})
	_, err = w.Step()
	e, ok := errors.AsType[*replay.FormatError](err)
	if err := r.Flush(); err != nil {
		t.Fatal(err)
	}
	if !ok || e.Frame != 0 || e.Tick != 4 || e.Offset != head(t, sink.Bytes()) || e.Kind != replay.ErrLimit {
		t.Errorf("%v, want frame 0 of tick 4 at byte %d", err, head(t, sink.Bytes()))
	}
}

// TestBeginResumed: a recording that begins at a state is cut off after every byte, and goes on
// with the same bytes; it takes the way through JSON lines, too.
func TestBeginResumed(t *testing.T) {
	_, state := pondPart(t, nil, 3)
	whole, _ := pondPart(t, state, pondTicks)
	for n := head(t, whole); n < int64(len(whole)); n += 5 {
		r, err := replay.NewReader(bytes.NewReader(whole[:n]))
		if err != nil {
			t.Fatal(err)
		}
		end, reason := r.Prefix(nil)
		if (reason == nil) != (end.Offset == n) {
			t.Fatalf("cut at %d: Prefix = %+v, %v", n, end, reason)
		}
		w, err := pondAt(state)
		if err != nil {
			t.Fatal(err)
		}
		again := bytes.NewBuffer(bytes.Clone(whole[:end.Offset]))
		for tick := uint64(4); tick <= pondTicks; tick++ {
			if tick == 4+uint64(end.Frame) {
				rec, err := replay.ResumeRecorder(again, w, r.Header, end, nil)
				if err != nil {
					t.Fatal(err)
				}
				w.Record(rec)
			}
			if _, _, err := w.SubmitAll(pondInputs(tick)); err != nil {
				t.Fatal(err)
			}
			if _, err := w.Step(); err != nil {
				t.Fatal(err)
			}
		}
		if rec, ok := w.Recorder().(*replay.Recorder); ok {
			if err := rec.Flush(); err != nil {
				t.Fatal(err)
			}
		}
		if !bytes.Equal(again.Bytes(), whole) {
			t.Errorf("cut at %d, gone on with at %+v: other bytes", n, end)
		}
	}
	var lines, back bytes.Buffer
	if _, err := replay.Convert(&lines, bytes.NewReader(whole)); err != nil {
		t.Fatal(err)
	}
	source, err := replay.Open(bytes.NewReader(lines.Bytes()))
	if err != nil {
		t.Fatal(err)
	}
	p, err := replay.NewPlayer(source, pondBegin)
	if err != nil {
		t.Fatal(err)
	}
	if n, err := p.Verify(); n != pondTicks-3 || err != nil {
		t.Errorf("of the JSON lines %d ticks match, %v; want %d", n, err, pondTicks-3)
	}
	if _, err := replay.Convert(&back, &lines); err != nil || !bytes.Equal(back.Bytes(), whole) {
		t.Errorf("Convert and back = %v, or other bytes", err)
	}
}

// TestBeginWorld holds that a world that is not in the named state is neither recorded nor
// replayed, whatever its builder says, unless it is at genesis and can be put there.
func TestBeginWorld(t *testing.T) {
	_, state := pondPart(t, nil, 3)
	_, later := pondPart(t, nil, 4)
	recording, _ := pondPart(t, state, pondTicks)
	other := engine.Config{Space: space.Ring{Length: 6}}
	for name, build := range map[string]replay.Builder{
		"at genesis": pond,
		"later":      func(*replay.Header) (*engine.World, error) { return pondAt(later) },
		"with other values": func(*replay.Header) (*engine.World, error) {
			w, err := pond(nil)
			for err == nil && w.Tick() < 3 {
				_, err = w.Step()
			}
			return w, err
		},
	} {
		n, err := replayed(recording, build, (*replay.Player).Verify)
		if name == "at genesis" { // it is put into the state, which the recording holds
			if n != pondTicks-3 || err != nil {
				t.Errorf("%s: %d ticks match, %v", name, n, err)
			}
		} else if n != 0 || !errors.Is(err, replay.ErrBegin) {
			t.Errorf("%s: %d ticks match, %v; want %v", name, n, err, replay.ErrBegin)
		}
		want := fmt.Sprintf("; that of the recording is %x", sha256.Sum256(state))
		if name == "later" {
			want = "the world is at tick 4; the recording begins at the state of tick 3"
		}
		if name != "at genesis" && !strings.HasSuffix(err.Error(), want) {
			t.Errorf("%s: %v, want … %s", name, err, want)
		}
		w, err := build(nil)
		if err != nil {
			t.Fatal(err)
		}
		var sink bytes.Buffer
		if _, err := replay.NewRecorder(&sink, w, begun(t, state)); !errors.Is(err, replay.ErrBegin) || sink.Len() > 0 {
			t.Errorf("%s: NewRecorder = %v with %d bytes written, want %v and none", name, err, sink.Len(), replay.ErrBegin)
		}
	}
	w, err := engine.New(other)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := replayed(recording, func(*replay.Header) (*engine.World, error) { return w, nil }, (*replay.Player).Verify); !errors.Is(err, replay.ErrMismatch) {
		t.Errorf("another world: %v, want %v", err, replay.ErrMismatch)
	}
	w, err = pondAt(state)
	if err != nil {
		t.Fatal(err)
	}
	h := replay.HeaderOf(w, begun(t, state))
	if _, err := replay.ResumeRecorder(io.Discard, w, h, replay.Position{Frame: 1, Offset: 999}, nil); err == nil {
		t.Error("ResumeRecorder a tick too early = nil, want an error")
	}
}

// TestBeginRejects changes the begin of a recording.
func TestBeginRejects(t *testing.T) {
	_, state := pondPart(t, nil, 3)
	_, later := pondPart(t, nil, 4)
	good := string(begun(t, state))
	text := func(b []byte) string { return base64.StdEncoding.EncodeToString(b) }
	sum := func(b []byte) string { return fmt.Sprintf("%x", sha256.Sum256(b)) }
	big := append(bytes.Clone(state), make([]byte, replay.MaxBeginState)...)
	for _, tt := range []struct{ name, old, new, want string }{
		{"other tick", `{"tick":3,`, `{"tick":4,`, "its state is of tick 3, not 4"},
		{"no tick", `{"tick":3,`, `{"tick":,`, `"" is not a tick`},
		{"negative tick", `{"tick":3,`, `{"tick":-3,`, `"-3" is not a tick`},
		{"huge tick", `{"tick":3,`, `{"tick":99999999999999999999,`, `"99999999999999999999" is not a tick`},
		{"tick of 44 bits", `{"tick":3,`, `{"tick":8796093022208,`, `"8796093022208" is not a tick`},
		{"largest tick", `{"tick":3,`, `{"tick":8796093022207,`, "its state is of tick 3, not 8796093022207"},
		{"zero before", `{"tick":3,`, `{"tick":03,`, "not in canonical form"},
		{"other digit", sum(state), "f" + sum(state)[1:], "its state has the SHA-256 " + sum(state) + ", not f"},
		{"capitals", sum(state), strings.ToUpper(sum(state)), "not in canonical form"},
		{"short SHA-256", sum(state), sum(state)[2:], "is not a SHA-256"},
		{"long SHA-256", sum(state), sum(state) + "00", "not in canonical form"},
		{"no SHA-256", sum(state), "", `"" is not a SHA-256`},
		{"other state", text(state), text(later), "its state has the SHA-256 " + sum(later)},
		{"other state and SHA-256", sum(state) + `","state":"` + text(state), sum(later) + `","state":"` + text(later), "its state is of tick 4, not 3"},
		{"cut base64", text(state), text(state)[:101], "is not base64"},
		{"cut state", text(state), text(state)[:100], "its state has the SHA-256"},
		{"line end", text(state), text(state)[:4] + "\n" + text(state)[4:], "not in canonical form"},
		{"no state", sum(state) + `","state":"` + text(state), sum([]byte("no")) + `","state":"` + text([]byte("no")), "engine: state: byte 0"},
		{"empty state", text(state), "", "its state has the SHA-256 " + sum(nil)},
		{"large state", text(state), text(big), "at most 1048576 bytes"},
	} {
		if !strings.Contains(good, tt.old) {
			t.Fatalf("%s: there is no %s", tt.name, tt.old)
		}
		h := replay.Header{Descriptor: []byte(strings.Replace(good, tt.old, tt.new, 1))}
		b, err := h.Begin()
		e, ok := errors.AsType[*replay.FormatError](err)
		if !ok || b != nil || !strings.Contains(err.Error(), "(header): begin: ") || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %+v, %v; want … %s …", tt.name, b, err, tt.want)
			continue
		}
		if at := int64(len(h.AppendBytes(nil))-len(h.Descriptor)) + int64(strings.Index(good, `"begin":{`)); e.Offset != at || e.Frame != replay.HeaderFrame {
			t.Errorf("%s: at byte %d, frame %d; want %d in the header", tt.name, e.Offset, e.Frame, at)
		}
		r, err := replay.NewReader(bytes.NewReader(h.AppendBytes(nil)))
		if err != nil {
			t.Fatal(err)
		}
		var lines bytes.Buffer
		if _, err := replay.Convert(&lines, bytes.NewReader(h.AppendBytes(nil))); err != nil {
			t.Fatal(err)
		}
		source, err := replay.Open(&lines)
		if err != nil {
			t.Fatal(err)
		}
		_, err = source.Head().Begin()
		if e, ok := errors.AsType[*replay.FormatError](err); !ok || e.Line != 1 || e.Offset != 0 {
			t.Errorf("%s, in JSON lines: %v; want an error in line 1", tt.name, err)
		}
		if _, err := replay.NewPlayer(r, pondBegin); !errors.Is(err, replay.ErrMalformed) {
			t.Errorf("%s: NewPlayer = %v, want %v", tt.name, err, replay.ErrMalformed)
		}
	}
}

// TestBeginFull: a state with which the descriptor would be too large is left out of it.
func TestBeginFull(t *testing.T) {
	_, state := pondPart(t, nil, 5)
	describe := func(size int) (*replay.Begin, []byte) {
		b, err := replay.NewBegin(state)
		if err != nil {
			t.Fatal(err)
		}
		d, err := b.Describe([]byte(`{"pond":"` + strings.Repeat("a", size-len(`{"pond":""}`)) + `"}`))
		if err != nil {
			t.Fatal(err)
		}
		return b, d
	}
	const small = 1000
	_, d := describe(small)
	most := replay.MaxBytes - (len(d) - small) // of a world whose descriptor has room for the state
	for _, size := range []int{most, most + 1, replay.MaxBytes - 200} {
		b, d := describe(size)
		if holds := bytes.Contains(d[size-1:], []byte(`"state"`)); holds != (size == most) || holds != (b.State != nil) || holds && len(d) != replay.MaxBytes || len(d) > replay.MaxBytes {
			t.Errorf("with %d bytes of a world: %d bytes, holds a state: %t, %t", size, len(d), holds, b.State != nil)
		}
		h := replay.Header{Descriptor: d}
		if again, err := h.Begin(); err != nil || again.SHA256 != b.SHA256 || again.Tick != 5 || !bytes.Equal(again.State, b.State) {
			t.Errorf("with %d bytes of a world: Begin = %v, %v", size, again != nil, err)
		}
	}
}

// TestBeginSize holds which states a recording holds.
func TestBeginSize(t *testing.T) {
	const rest = 144 // bytes of a state without those of its cells, with the generator chacha8
	for _, tt := range []struct {
		cells     int
		generator rng.Generator
		over      int // bytes
	}{
		{1000, rng.ChaCha8, rest + 4000 - replay.MaxBeginState}, {(replay.MaxBeginState - rest) / 4, rng.ChaCha8, 0}, {(replay.MaxBeginState - rest) / 4, rng.ChaCha20, 1},
	} {
		w, err := engine.New(engine.Config{Space: space.Line{Length: tt.cells}, Fields: pondConfig(0).Fields[1:2], Generator: tt.generator})
		if err != nil {
			t.Fatal(err)
		}
		if err := w.Run(19); err != nil {
			t.Fatal(err)
		}
		state, err := w.Save(waters)
		if err != nil || len(state) != replay.MaxBeginState+tt.over {
			t.Fatalf("a state of %d bytes, %v; want %d", len(state), err, replay.MaxBeginState+tt.over)
		}
		h := replay.Header{Descriptor: begun(t, state)}
		b, err := h.Begin()
		if err != nil {
			t.Fatal(err)
		}
		if held := tt.over <= 0; held != bytes.Equal(b.State, state) || !held && b.State != nil {
			t.Errorf("a state of %d bytes: the recording holds %d", len(state), len(b.State))
		}
		if b.Tick != 19 || b.SHA256 != sha256.Sum256(state) || !bytes.Equal(h.World(), waters) || !bytes.Contains(h.Descriptor, []byte(`"begin":{"tick":19,`)) {
			t.Errorf("Begin = tick %d, SHA-256 %x, of %s; want 19, %x, %s", b.Tick, b.SHA256, h.World(), sha256.Sum256(state), waters)
		}
		b.State = state // also if it is too large
		if h.Descriptor, err = b.Describe(waters); err != nil {
			t.Fatal(err)
		}
		if _, err := h.Begin(); (err != nil) != (tt.over > 0) {
			t.Errorf("a state of %d bytes in the recording: %v", len(state), err)
		}
	}
}

// TestBeginElsewhere: what looks like a begin elsewhere in a descriptor is none, and descriptors
// that are no objects cannot have one.
func TestBeginElsewhere(t *testing.T) {
	_, state := pondPart(t, nil, 3)
	begin := strings.TrimSuffix(strings.TrimPrefix(string(begun(t, state)), strings.TrimSuffix(string(waters), "}")), "}")
	for _, d := range []string{
		"", "{}", "the pond", string(waters), begin + "}", `{"a":{"b":1` + begin + `}}`, `{"a":1` + begin + `,"c":2}`, `{"a":1` + begin + `} `,
		`{"a":1,"begin":{"tick":3}}`, `{"a":1,"begin":{"tick":3,"sha256":"00","c":"d"}}`, `{"a":1,"begin":{"tick":3,"sha256":"00","state":"00","c":"d"}}`, `{"a":1,"begin":{"tick":3,"b":{"c":1,"sha256":"d"}}`, `["a"` + begin + `]`,
	} {
		h := replay.Header{Descriptor: []byte(d)}
		if b, err := h.Begin(); b != nil || err != nil || string(h.World()) != d {
			t.Errorf("%.40q…: Begin = %v, %v, World = %.40q…; want none", d, b, err, h.World())
		}
	}
	b, err := replay.NewBegin(state)
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range []string{"", "{}", "the pond", "[1]", `{"a":1`, "{\"a\":1}\n", " {}", "{ }", "{a}", `{"a":{}`} {
		if got, err := b.Describe([]byte(d)); err == nil {
			t.Errorf("Describe(%q) = %q, want an error", d, got)
		}
	}
	if _, err := replay.NewBegin(state[:len(state)-1]); !errors.Is(err, engine.ErrStateTruncated) {
		t.Errorf("NewBegin = %v, want %v", err, engine.ErrStateTruncated)
	}
}

// TestBeginMemory feeds long descriptors that claim much.
func TestBeginMemory(t *testing.T) {
	const size = 8 << 20
	sum := strings.Repeat("0", 64)
	for name, d := range map[string]string{
		"state":  `{"a":1,"begin":{"tick":1,"sha256":"` + sum + `","state":"` + strings.Repeat("A", size) + `"}}`,
		"limit":  `{"a":1,"begin":{"tick":1,"sha256":"` + sum + `","state":"` + strings.Repeat("A", 4*replay.MaxBeginState/3) + `"}}`,
		"sha256": `{"a":1,"begin":{"tick":1,"sha256":"` + strings.Repeat("0", size) + `"}}`,
		"tick":   `{"a":1,"begin":{"tick":` + strings.Repeat("1", size) + `,"sha256":"` + sum + `"}}`,
		"keys":   `{"a":1` + strings.Repeat(`,"begin":{"tick":1,"sha256":"`+sum+`"}`, size/100) + `}`,
	} {
		h := replay.Header{Descriptor: []byte(d)}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := h.Begin()
		runtime.ReadMemStats(&after)
		if grown := after.TotalAlloc - before.TotalAlloc; grown > 8*uint64(len(d)) {
			t.Errorf("%s: %d KiB allocated for %d (%.80v)", name, grown>>10, len(d)>>10, err)
		}
	}
}

// FuzzBegin looks for a panic, and for a begin with two spellings.
func FuzzBegin(f *testing.F) {
	_, state := pondPart(f, nil, 3)
	good := begun(f, state)
	f.Add(good)
	f.Add(waters)
	f.Add(good[:len(good)-9])
	f.Add([]byte(`{"a":1,"begin":{"tick":1,"sha256":"` + strings.Repeat("0", 64) + `"}}`))
	f.Fuzz(func(t *testing.T, d []byte) {
		h := replay.Header{Descriptor: d}
		b, err := h.Begin()
		switch {
		case err != nil:
			return
		case b == nil:
			if !bytes.Equal(h.World(), d) {
				t.Errorf("%q has no begin, but %q is its world", d, h.World())
			}
			return
		}
		if again, err := b.Describe(h.World()); err != nil || !bytes.Equal(again, d) {
			t.Errorf("%q begins at a state, but encodes as %q, %v", d, again, err)
		}
	})
}
