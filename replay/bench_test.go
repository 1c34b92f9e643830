package replay_test

import (
	"bytes"
	"io"
	"testing"

	"github.com/murksim/murksim/commands"
	"github.com/murksim/murksim/replay"
	"github.com/murksim/murksim/space"
)

// mixedInputs are 50 commands as a busy tick has them: mostly cells set by hand.
func mixedInputs() []commands.Command {
	var inputs []commands.Command
	for i := range 50 {
		at := space.At(int32(i), int32(2*i))
		var c commands.Command
		switch i % 10 {
		case 3:
			c = commands.Move(uint64(i), at)
		case 5:
			c = commands.Spawn(at, commands.FieldValue{Field: 3, Value: 1}, commands.FieldValue{Field: 4, Value: 2})
		case 7:
			c = commands.SetParameter(uint32(i), 0.5)
		case 9:
			c = commands.Custom(7, []byte("sixteen bytes ok"))
		default:
			c = commands.SetField(at, 1, float32(i))
		}
		if i%2 == 0 {
			c = c.From(9, uint64(i))
		}
		c.Arrival = uint64(i + 1)
		inputs = append(inputs, c)
	}
	return inputs
}

// mixedRecording returns a recording of n such ticks and the size of one frame.
func mixedRecording(tb testing.TB, n int) (b []byte, frameSize int64) {
	tb.Helper()
	var sink bytes.Buffer
	w, err := replay.NewWriter(&sink, replay.Header{})
	if err != nil {
		tb.Fatal(err)
	}
	start, inputs := w.Offset(), mixedInputs()
	for i := range n {
		if err := w.WriteFrame(uint64(i+1), inputs, uint64(i)); err != nil {
			tb.Fatal(err)
		}
	}
	frameSize = (w.Offset() - start) / int64(n)
	if err := w.Flush(); err != nil {
		tb.Fatal(err)
	}
	return sink.Bytes(), frameSize
}

// A loop reads the frames of a recording over and over.
type loop struct {
	frames []byte
	next   []byte // begins with the header
}

func (l *loop) Read(b []byte) (int, error) {
	if len(l.next) == 0 {
		l.next = l.frames
	}
	n := copy(b, l.next)
	l.next = l.next[n:]
	return n, nil
}

func newLoop(tb testing.TB) (l *loop, frameSize int64) {
	tb.Helper()
	const frames = 100
	b, size := mixedRecording(tb, frames)
	head := len(b) - frames*int(size)
	return &loop{frames: b[head:], next: b}, size
}

func BenchmarkWriteFrame(b *testing.B) {
	w, err := replay.NewWriter(io.Discard, replay.Header{})
	if err != nil {
		b.Fatal(err)
	}
	inputs := mixedInputs()
	_, size := mixedRecording(b, 1)
	b.SetBytes(size)
	b.ReportAllocs()
	for tick := uint64(1); b.Loop(); tick++ {
		if err := w.WriteFrame(tick, inputs, tick); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkCopyFrame(b *testing.B) {
	w, err := replay.NewWriter(io.Discard, replay.Header{})
	if err != nil {
		b.Fatal(err)
	}
	one, size := mixedRecording(b, 1)
	r, err := replay.NewReader(bytes.NewReader(one))
	if err != nil {
		b.Fatal(err)
	}
	var f replay.Frame
	if err := r.Next(&f); err != nil {
		b.Fatal(err)
	}
	b.SetBytes(size)
	b.ReportAllocs()
	for b.Loop() {
		if err := w.CopyFrame(&f); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkReadFrame decodes every command, too.
func BenchmarkReadFrame(b *testing.B) {
	l, size := newLoop(b)
	r, err := replay.NewReader(l)
	if err != nil {
		b.Fatal(err)
	}
	var f replay.Frame
	var cells int
	b.SetBytes(size)
	b.ReportAllocs()
	for b.Loop() {
		if err := r.Next(&f); err != nil {
			b.Fatal(err)
		}
		for i := range f.Records {
			c, err := f.Records[i].Command()
			if err != nil {
				b.Fatal(err)
			}
			cells += c.Coord.Dim()
		}
	}
	if cells == 0 {
		b.Fatal("no command has a coordinate")
	}
}
