package replay_test

import (
	"bytes"
	"errors"
	"io"
	"runtime/metrics"
	"slices"
	"testing"

	"github.com/murksim/murksim/commands"
	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/replay"
)

// A layout says where the parts of a recording stand.
type layout struct {
	header replay.Header
	builds [4][2]int64 // first byte and end of the four build strings
	ends   []int64     // of the header, then of each frame
	frames []replay.Frame
}

func layoutOf(t *testing.T, b []byte) (l layout) {
	t.Helper()
	r, err := replay.NewReader(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	l.header = r.Header
	at := int64(5)
	for i, s := range []string{r.Header.Build.Toolchain, r.Header.Build.Target, r.Header.Build.Version, r.Header.Build.Flags} {
		at += 4
		l.builds[i] = [2]int64{at, at + int64(len(s))}
		at += int64(len(s))
	}
	for {
		var f replay.Frame
		l.ends = append(l.ends, r.Offset())
		if err := r.Next(&f); err == io.EOF {
			return l
		} else if err != nil {
			t.Fatal(err)
		}
		l.frames = append(l.frames, f)
	}
}

// frame is the index of the frame that a byte belongs to, HeaderFrame for the header.
func (l *layout) frame(at int64) int {
	return slices.IndexFunc(l.ends, func(end int64) bool { return at < end }) - 1
}

// covered says whether anything vouches for a byte: all but the build strings.
func (l *layout) covered(at int64) bool {
	return !slices.ContainsFunc(l.builds[:], func(s [2]int64) bool { return s[0] <= at && at < s[1] })
}

// write makes a recording of these frames under the same header.
func (l *layout) write(t *testing.T, frames ...replay.Frame) []byte {
	t.Helper()
	w := newWriter(t, l.header)
	for i := range frames {
		if err := w.CopyFrame(&frames[i]); err != nil {
			t.Fatal(err)
		}
	}
	return w.bytes(t)
}

// allocated is how many bytes this program has allocated so far.
func allocated() uint64 {
	s := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}}
	metrics.Read(s)
	return s[0].Value.Uint64()
}

const maxAllocated = 64 << 20

// TestEveryBitFlip: each bit of a recording but those of the build strings makes
// the verification fail, at the place of the bit, and with little memory.
func TestEveryBitFlip(t *testing.T) {
	b, _ := pondRecording(t)
	l := layoutOf(t, b)
	kinds, free := map[string]int{}, 0
	for i := 0; i < len(b)*8; i += stride() {
		at := int64(i / 8)
		b[at] ^= 1 << (i % 8)
		before := allocated()
		ticks, err := verify(b, pond)
		if n := allocated() - before; n > maxAllocated {
			t.Errorf("byte %d, bit %d: %d bytes allocated, at most %d are due", at, i%8, n, maxAllocated)
		}
		b[at] ^= 1 << (i % 8)
		switch {
		case !l.covered(at) && err == nil:
			free++
		case !l.covered(at) && kindOf(err) == replay.ErrMalformed: // not UTF-8
		default:
			kinds[l.located(t, at, ticks, err)]++
		}
		if t.Failed() {
			t.Fatalf("byte %d of %d, bit %d, frame %d", at, len(b), i%8, l.frame(at))
		}
	}
	t.Logf("%d bytes; what the flips gave: %v; %d in the build strings are not noticed", len(b), kinds, free)
}

// located checks that an error points at the frame of the byte that was changed,
// and returns what kind of error it is.
func (l *layout) located(t *testing.T, at int64, ticks uint64, err error) string {
	t.Helper()
	frame := l.frame(at)
	start, end := int64(0), l.ends[0]
	if frame >= 0 {
		start, end = l.ends[frame], l.ends[len(l.ends)-1]
	}
	if want := uint64(max(frame, 0)); ticks != want {
		t.Errorf("%d ticks match, want %d: %v", ticks, want, err)
	}
	if e, ok := errors.AsType[*replay.FormatError](err); ok {
		if e.Frame != frame || e.Offset < start || e.Offset > end {
			t.Errorf("got %+v, want an error in frame %d, byte %d to %d", e, frame, start, end)
		}
		return string(e.Kind)
	}
	if e, ok := errors.AsType[*replay.MismatchError](err); ok {
		if e.Tick != uint64(frame+1) || e.Offset < start || e.Offset > end {
			t.Errorf("got %+v, want a mismatch at tick %d, byte %d to %d", e, frame+1, start, end)
		}
		return e.What
	}
	if e, ok := errors.AsType[*engine.TickError](err); ok && e.Tick == uint64(frame+1) {
		return "failed tick"
	}
	t.Errorf("got %v, want an error that says where", err)
	return ""
}

// TestEveryPrefix: a recording cut between two frames verifies up to there, cut
// anywhere else it is truncated in the frame of the cut, whether the size of the
// input is known or not.
func TestEveryPrefix(t *testing.T) {
	b, _ := pondRecording(t)
	l := layoutOf(t, b)
	for n := range int64(len(b)) {
		frame := l.frame(n)
		for _, in := range []io.Reader{bytes.NewReader(b[:n]), io.MultiReader(bytes.NewReader(b[:n]))} {
			r, err := replay.NewReader(in)
			var p *replay.Player
			if err == nil {
				p, err = replay.NewPlayer(r, pond)
			}
			ticks := uint64(0)
			if err == nil {
				ticks, err = p.Verify()
			}
			if want := uint64(max(frame, 0)); ticks != want {
				t.Fatalf("%d bytes: %d ticks match, want %d", n, ticks, want)
			}
			if frame >= 0 && n == l.ends[frame] {
				if err != nil {
					t.Fatalf("%d bytes, %d whole frames: %v, want none", n, frame, err)
				}
				continue
			}
			e, ok := errors.AsType[*replay.FormatError](err)
			if !ok || e.Kind != replay.ErrTruncated || e.Frame != frame || e.Offset > n {
				t.Fatalf("%d bytes: %v, want truncated in frame %d", n, err, frame)
			}
		}
	}
}

// TestRearranged: frames and commands in another order, missing, twice, or with
// something added.
func TestRearranged(t *testing.T) {
	b, _ := pondRecording(t)
	l := layoutOf(t, b)
	f, last := l.frames, l.frames[pondTicks-1]
	forged := last
	forged.Tick++
	changed := func(i int, change func(r []replay.Record) []replay.Record) []byte {
		frames := slices.Clone(f)
		frames[i].Records = change(slices.Clone(f[i].Records))
		return l.write(t, frames...)
	}
	swap := func(r []replay.Record) []replay.Record {
		r[1], r[2] = r[2], r[1]
		return r
	}
	for _, tt := range []struct {
		name  string
		input []byte
		ticks uint64
		tick  uint64      // where it fails; 0: nowhere
		kind  replay.Kind // "": the state hash differs
	}{
		{"as it was", l.write(t, f...), pondTicks, 0, ""},
		{"two frames swapped", l.write(t, f[0], f[2], f[1]), 1, 0, replay.ErrMalformed},
		{"a frame twice", l.write(t, f[0], f[1], f[1], f[2]), 2, 0, replay.ErrMalformed},
		{"the first frame missing", l.write(t, f[1:]...), 0, 0, replay.ErrMalformed},
		{"a frame missing", l.write(t, f[0], f[2]), 1, 0, replay.ErrMalformed},
		{"the last frame missing", l.write(t, f[:3]...), 3, 0, ""},
		{"a frame more", l.write(t, append(slices.Clone(f), forged)...), pondTicks, pondTicks + 1, ""},
		{"garbage appended", append(bytes.Clone(b), "garbage"...), pondTicks, 0, replay.ErrTruncated},
		{"two commands swapped", changed(2, swap), 2, 3, replay.ErrMalformed},
		{"their payloads swapped", changed(2, func(r []replay.Record) []replay.Record {
			swap(r)
			r[1].Meta, r[2].Meta = r[2].Meta, r[1].Meta
			return r
		}), 2, 3, ""},
		{"a refused command missing", changed(2, func(r []replay.Record) []replay.Record { return slices.Delete(r, 2, 3) }), 2, 3, ""},
		{"a refused command twice", changed(2, func(r []replay.Record) []replay.Record { return append(r, r[2]) }), 2, 3, replay.ErrMalformed},
		{"a refused command more", changed(4, func(r []replay.Record) []replay.Record {
			more := r[1]
			more.Arrival = 1000
			return append(r, more)
		}), 4, 5, ""},
		{"a payload with a byte more", changed(4, func(r []replay.Record) []replay.Record {
			r[0].Payload = append(bytes.Clone(r[0].Payload), 0)
			return r
		}), 4, 5, replay.ErrMalformed},
		{"an unknown payload", changed(4, func(r []replay.Record) []replay.Record {
			r[0].Tag = uint8(commands.KindSetParameterBatch) + 1
			return r
		}), 4, 5, replay.ErrUnknownPayload},
	} {
		ticks, err := verify(tt.input, pond)
		if ticks != tt.ticks {
			t.Errorf("%s: %d ticks match, want %d", tt.name, ticks, tt.ticks)
		}
		e, malformed := errors.AsType[*replay.FormatError](err)
		m, mismatch := errors.AsType[*replay.MismatchError](err)
		switch {
		case tt.kind != "" && (!malformed || e.Kind != tt.kind || e.Tick != tt.tick),
			tt.kind == "" && tt.tick != 0 && (!mismatch || m.Tick != tt.tick),
			tt.kind == "" && tt.tick == 0 && err != nil:
			t.Errorf("%s: %v, want %q at tick %d", tt.name, err, tt.kind, tt.tick)
		}
	}
}

// TestHugeClaims: lengths that the input does not hold cost no memory, also where
// nobody knows how long the input is.
func TestHugeClaims(t *testing.T) {
	b, _ := pondRecording(t)
	l := layoutOf(t, b)
	head := b[:l.ends[0]:l.ends[0]]
	count := func(n byte) []byte { return append(append(head, make([]byte, 8)...), 0x3f, 0x42, 0x0f-n, 0) }
	for name, input := range map[string][]byte{
		"toolchain":  append(b[:5:5], 0xff, 0xff, 0x0f, 0),
		"descriptor": append(b[:l.ends[0]-int64(len(pondDescriptor))-4:l.ends[0]-int64(len(pondDescriptor))-4], 0xff, 0xff, 0xff, 3),
		"commands":   count(0),
		"payload":    append(append(count(1), 4), 0xff, 0xff, 0xff, 3),
	} {
		for _, in := range []io.Reader{bytes.NewReader(input), io.MultiReader(bytes.NewReader(input))} {
			before := allocated()
			r, err := replay.NewReader(in)
			var f replay.Frame
			if err == nil {
				err = r.Next(&f)
			}
			if n := allocated() - before; kindOf(err) != replay.ErrTruncated || n > maxAllocated {
				t.Errorf("%s: %v after %d bytes, want %q after at most %d", name, err, n, replay.ErrTruncated, maxAllocated)
			}
		}
	}
}
