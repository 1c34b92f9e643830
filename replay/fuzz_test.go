package replay_test

import (
	"bytes"
	"errors"
	"runtime"
	"slices"
	"testing"
	"testing/iotest"

	"github.com/murksim/murksim/replay"
)

// TestReadMemory: an input of 1 MiB takes less than 64 MiB, whatever it claims.
func TestReadMemory(t *testing.T) {
	const size, limit = 1 << 20, 64 << 20
	fill := func(b []byte) []byte { return append(b, make([]byte, size-len(b))...) }
	payload := func(tag uint8, b ...byte) []byte {
		return oneCommand(tag, fill(append(b, make([]byte, 200)...))[:size-200])
	}
	tiny := bytes.Repeat(oneCommand(4, make([]byte, 8))[53:], size/60)
	for name, b := range map[string][]byte{
		"longest descriptor": fill(append(append([]byte("MURK\x03"), make([]byte, 16+28)...), 0, 0, 0, 4)),
		"longest string":     fill([]byte("MURK\x03\x00\x00\x10\x00")),
		"most commands":      fill(prefix(1_000_000)),
		"smallest commands":  append(prefix(43_000), bytes.Repeat(append([]byte{4}, make([]byte, 23)...), 43_000)...),
		"longest payload":    fill(append(prefix(1), 4, 0, 0, 0, 4)),
		"4 billion values":   payload(1, 0, 0, 0, 0, 0xff, 0xff, 0xff, 0xff),
		"4 billion entries":  payload(6, 0xff, 0xff, 0xff, 0xff),
		"4 billion axes":     payload(3, 0xff, 0xff, 0xff, 0xff),
		"4 billion bytes":    payload(4, 0, 0, 0, 0, 0xff, 0xff, 0xff, 0xff),
		"many frames":        append(oneCommand(4, make([]byte, 8)), tiny...),
	} {
		for _, known := range []int64{-1, int64(len(b))} {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			_, _, err := decoded(b, known)
			runtime.ReadMemStats(&after)
			if got := after.TotalAlloc - before.TotalAlloc; got > limit {
				t.Errorf("%s, size %d: allocated %d bytes for %d, want at most %d (error %v)", name, known, got, len(b), limit, err)
			}
		}
	}
}

// decoded reads a recording as far as it goes and decodes every command. It
// returns the number of frames and of commands that could be decoded.
func decoded(b []byte, size int64) (frames, ok int, err error) {
	r, err := replay.NewReaderSize(bytes.NewReader(b), size)
	if err != nil {
		return 0, 0, err
	}
	var f replay.Frame
	for ; ; frames++ {
		if err = r.Next(&f); err != nil {
			return frames, ok, err
		}
		for i := range f.Records {
			if _, err := f.Records[i].Command(); err == nil {
				ok++
			}
		}
	}
}

func TestAllocations(t *testing.T) {
	l, _ := newLoop(t)
	r, err := replay.NewReader(l)
	if err != nil {
		t.Fatal(err)
	}
	var f replay.Frame
	w := newWriter(t, r.Header)
	inputs := mixedInputs()
	got := testing.AllocsPerRun(1000, func() {
		if err := r.Next(&f); err != nil {
			t.Fatal(err)
		}
		for i := range f.Records {
			if _, err := f.Records[i].Command(); err != nil {
				t.Fatal(err)
			}
		}
		if err := errors.Join(w.WriteFrame(f.Tick, inputs, f.Hash), w.CopyFrame(&f)); err != nil {
			t.Fatal(err)
		}
		w.sink.Reset()
	})
	if got != 0 {
		t.Errorf("%v allocations to read, decode and write a frame, want 0", got)
	}
}

func FuzzReader(f *testing.F) {
	const small = 4 << 10 // the fuzzer takes a minute to shorten what it finds in a long one
	for _, b := range recordings(f) {
		if len(b) <= small {
			f.Add(b)
		}
	}
	for _, b := range malformed(f) {
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		streamed, streamedEnds, streamedErr := copied(t, iotest.HalfReader(bytes.NewReader(b)), -1)
		got, ends, err := copied(t, bytes.NewReader(b), int64(len(b)))
		if !bytes.Equal(got, streamed) || len(ends) != len(streamedEnds) || (err == nil) != (streamedErr == nil) {
			t.Errorf("%x: %d parts, %v with the size known, %d, %v without", b, len(ends), err, len(streamedEnds), streamedErr)
		}
		if len(ends) > 0 && !bytes.Equal(got, b[:ends[len(ends)-1]]) || err == nil && len(got) != len(b) {
			t.Errorf("%x decodes, but encodes as %x", b, got)
		}
		commandsAgain(t, b)
		resumedAgain(t, b)
	})
}

// resumedAgain checks that what is read from the middle of a recording on is the second
// half of the whole.
func resumedAgain(t *testing.T, b []byte) {
	r, err := replay.NewReader(bytes.NewReader(b))
	if err != nil {
		return
	}
	positions := []replay.Position{r.Position()}
	for r.Next(new(replay.Frame)) == nil {
		positions = append(positions, r.Position())
	}
	at := positions[len(positions)/2]
	got := dump(replay.ResumeReader(bytes.NewReader(b[at.Offset:]), r.Header, at))
	whole, err := replay.NewReader(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	if want := dump(whole)[at.Frame:]; !slices.Equal(got, want) {
		t.Errorf("%x: from %+v on %q, want %q", b, at, got, want)
	}
}

// commandsAgain checks that every command that decodes encodes as it stood.
func commandsAgain(t *testing.T, b []byte) {
	r, err := replay.NewReader(bytes.NewReader(b))
	if err != nil {
		return
	}
	var f replay.Frame
	for r.Next(&f) == nil {
		for i := range f.Records {
			rec := &f.Records[i]
			c, err := rec.Command()
			if err == nil && (!bytes.Equal(c.AppendPayload(nil), rec.Payload) || c.PayloadSize() != len(rec.Payload) || c.Meta != rec.Meta) {
				t.Errorf("payload %x of type %d decodes, but encodes as %x", rec.Payload, rec.Tag, c.AppendPayload(nil))
			}
		}
	}
}
