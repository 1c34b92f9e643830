package replay_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/murksim/murksim/commands"
	"github.com/murksim/murksim/replay"
)

func TestWriteFrame(t *testing.T) {
	h := replay.Header{
		Build: replay.Build{Toolchain: "go", Target: "any", Version: "1", Flags: "ü"},
		Seed:  1, ConfigHash: 2, FieldCount: 3, CellCount: 1 << 40, Descriptor: []byte("world"),
	}
	w := newWriter(t, h)
	inputs := mixedInputs()
	if err := errors.Join(w.WriteFrame(5, inputs, 6), w.WriteFrame(6, nil, 7)); err != nil {
		t.Fatal(err)
	}
	if w.sink.Len() != 0 {
		t.Errorf("%d bytes are written before Flush, want 0", w.sink.Len())
	}
	offset := w.Offset()
	b := w.bytes(t)
	if int64(len(b)) != offset || w.Offset() != offset {
		t.Errorf("Offset = %d, then %d; %d bytes were written", offset, w.Offset(), len(b))
	}
	r, err := replay.NewReader(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	if got := r.Header; got.Build != h.Build || got.Seed != 1 || got.ConfigHash != 2 || got.FieldCount != 3 || got.CellCount != 1<<40 || string(got.Descriptor) != "world" {
		t.Errorf("header = %+v, want %+v", got, h)
	}
	var f replay.Frame
	if err := r.Next(&f); err != nil || f.Tick != 5 || f.Hash != 6 || len(f.Records) != len(inputs) {
		t.Fatalf("frame = tick %d, hash %d, %d commands, %v; want 5, 6, %d", f.Tick, f.Hash, len(f.Records), err, len(inputs))
	}
	for i := range f.Records {
		c, err := f.Records[i].Command()
		if err != nil || !bytes.Equal(c.Append(nil), inputs[i].Append(nil)) {
			t.Errorf("command %d = %+v, %v; want %+v", i, c, err, inputs[i])
		}
	}
	if err := r.Next(&f); err != nil || f.Tick != 6 || f.Hash != 7 || len(f.Records) != 0 {
		t.Errorf("frame = tick %d, hash %d, %d commands, %v; want 6, 7, 0", f.Tick, f.Hash, len(f.Records), err)
	}
	if err := r.Next(&f); err != io.EOF {
		t.Errorf("Next = %v, want io.EOF", err)
	}
}

func TestWriterRefuses(t *testing.T) {
	long := strings.Repeat("x", replay.MaxString+1)
	for name, tt := range map[string]struct {
		build replay.Build
		want  replay.Kind
	}{
		"long toolchain":   {replay.Build{Toolchain: long}, replay.ErrLimit},
		"long flags":       {replay.Build{Flags: long}, replay.ErrLimit},
		"not UTF-8":        {replay.Build{Version: "\xff"}, replay.ErrMalformed},
		"just long enough": {replay.Build{Target: long[1:]}, ""},
	} {
		_, err := replay.NewWriter(io.Discard, replay.Header{Build: tt.build})
		if kindOf(err) != tt.want {
			t.Errorf("%s: NewWriter = %v, want %q", name, err, tt.want)
		}
		if e, ok := errors.AsType[*replay.FormatError](err); ok && (e.Frame != replay.HeaderFrame || e.Tick != 0 || e.Offset != 0) {
			t.Errorf("%s: the error is in frame %d, tick %d, byte %d, want the header", name, e.Frame, e.Tick, e.Offset)
		}
	}
	_, err := replay.NewWriter(io.Discard, replay.Header{Descriptor: make([]byte, replay.MaxBytes+1)})
	want := replay.FormatError{
		Frame: replay.HeaderFrame, Kind: replay.ErrLimit,
		Detail: fmt.Sprintf("not written: descriptor: %d bytes, the limit is %d", replay.MaxBytes+1, replay.MaxBytes),
	}
	if e, ok := errors.AsType[*replay.FormatError](err); !ok || *e != want {
		t.Errorf("NewWriter with a long descriptor = %v, want %v", err, &want)
	}
	for name, tt := range map[string]struct {
		inputs []commands.Command
		want   string
	}{
		"many commands": {make([]commands.Command, replay.MaxCommands+1), "1000001 commands, the limit is 1000000"},
		"long payload":  {[]commands.Command{commands.Despawn(1), commands.Custom(1, make([]byte, replay.MaxBytes))}, "command 1: payload of 67108872 bytes, the limit is 67108864"},
	} {
		w := newWriter(t, replay.Header{})
		err := w.WriteFrame(1, tt.inputs, 1)
		if e, ok := errors.AsType[*replay.FormatError](err); !ok || e.Kind != replay.ErrLimit || e.Tick != 1 || e.Detail != "not written: "+tt.want {
			t.Errorf("%s: WriteFrame = %v, want %q at tick 1", name, err, tt.want)
		}
		if again := w.WriteFrame(2, nil, 0); again != err {
			t.Errorf("%s: WriteFrame after that = %v, want the same error", name, again)
		}
	}
}

// TestLargestFrame holds that the payloads of a frame may have 1 GiB together and not a
// byte more. The commands share their data, so that the test needs no such memory.
func TestLargestFrame(t *testing.T) {
	payload := make([]byte, replay.MaxBytes)
	const head = 4 + 4 // of a custom payload: its type and the length of its data
	full := commands.Custom(1, payload[head:])
	if n := full.PayloadSize(); n != replay.MaxBytes {
		t.Fatalf("a payload of %d bytes, want %d", n, replay.MaxBytes)
	}
	const most = replay.MaxFrame / replay.MaxBytes
	inputs := slices.Repeat([]commands.Command{full}, most+1)
	if err := replay.CheckInputs(replay.Position{}, 1, inputs[:most]); err != nil {
		t.Errorf("%d commands of 64 MiB: %v, want them accepted", most, err)
	}
	var frame replay.Frame
	for range inputs {
		frame.Records = append(frame.Records, replay.Record{Tag: uint8(commands.KindCustom), Payload: payload})
	}
	for name, write := range map[string]func(*replay.Writer) error{
		"WriteFrame": func(w *replay.Writer) error { return w.WriteFrame(1, inputs, 0) },
		"CopyFrame":  func(w *replay.Writer) error { return w.CopyFrame(&frame) },
	} {
		if err := write(newWriter(t, replay.Header{}).Writer); kindOf(err) != replay.ErrLimit {
			t.Errorf("%s of %d commands of 64 MiB = %v, want %q", name, most+1, err, replay.ErrLimit)
		}
	}
}

// A full sink takes limit bytes and fails then, like a full disk or a closed pipe.
type full struct {
	w     io.Writer
	limit int
	cause error
	short bool // says nothing about why it took less
}

func (s *full) Write(b []byte) (int, error) {
	if len(b) <= s.limit {
		s.limit -= len(b)
		return s.w.Write(b)
	}
	n, err := s.w.Write(b[:s.limit])
	s.limit = 0
	if err == nil && !s.short {
		err = s.cause
	}
	return n, err
}

// A fullFile is a full disk under a file, which can still be cut.
type fullFile struct {
	*os.File
	full
}

func (s *fullFile) Write(b []byte) (int, error) { return s.full.Write(b) }

// TestFailingWriter: after a failed write, nothing more is written, the error
// stays, and what is left is a valid prefix; in a file it ends with a whole frame.
func TestFailingWriter(t *testing.T) {
	whole, size := mixedRecording(t, 80)
	head := len(whole) - 80*int(size)
	path := filepath.Join(t.TempDir(), "run.murk")
	for _, limit := range []int{0, 1, head, head + 1, head + 7, head + int(size), head + int(size) + 9, 70_000, len(whole) - 1} {
		for _, short := range []bool{false, true} {
			cause := error(syscall.ENOSPC)
			if short {
				cause = io.ErrShortWrite
			}
			for _, flags := range []int{0, os.O_APPEND} {
				file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_TRUNC|flags, 0o600)
				if err != nil {
					t.Fatal(err)
				}
				lost := writeUntilFailure(t, &fullFile{file, full{file, limit, syscall.ENOSPC, short}}, cause)
				file.Close()
				got, err := os.ReadFile(path)
				if err != nil {
					t.Fatal(err)
				}
				want, tick := 0, uint64(0) // the header
				if limit >= head {
					want = limit - (limit-head)%int(size)
					tick = uint64((limit-head)/int(size)) + 1
				}
				if lost.Tick != tick || lost.Offset != int64(want) {
					t.Errorf("disk full at %d: tick %d is lost, from byte %d; want tick %d, byte %d", limit, lost.Tick, lost.Offset, tick, want)
				}
				if !bytes.Equal(got, whole[:want]) {
					t.Errorf("disk full at %d: the file has %d bytes, want the first %d, %d whole frames", limit, len(got), want, (want-head)/int(size))
				}
			}
			var sink bytes.Buffer
			writeUntilFailure(t, &full{&sink, limit, syscall.ENOSPC, short}, cause)
			if !bytes.Equal(sink.Bytes(), whole[:limit]) {
				t.Errorf("pipe closed at %d: %d bytes came through, want the first %d", limit, sink.Len(), limit)
			}
		}
	}
}

// writeUntilFailure writes the frames of mixedRecording until the sink fails, and on. It
// returns the error that says what is lost.
func writeUntilFailure(t *testing.T, sink io.Writer, cause error) *replay.WriteError {
	t.Helper()
	w, err := replay.NewWriter(sink, replay.Header{})
	if err != nil {
		t.Fatal(err)
	}
	inputs := mixedInputs()
	for i := range 80 {
		if err = w.WriteFrame(uint64(i+1), inputs, uint64(i)); err != nil {
			break
		}
	}
	if err == nil {
		err = w.Flush()
	}
	if !errors.Is(err, cause) {
		t.Fatalf("the error is %v, want %v", err, cause)
	}
	if got := errors.Join(w.WriteFrame(99, nil, 0), w.Sync()); !errors.Is(got, cause) {
		t.Errorf("writing on = %v, want the same error", got)
	}
	lost, ok := errors.AsType[*replay.WriteError](err)
	if !ok {
		t.Fatalf("the error is %v, want a WriteError", err)
	}
	return lost
}

func TestClosedPipe(t *testing.T) {
	r, sink, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer sink.Close()
	w, err := replay.NewWriter(sink, replay.Header{})
	if err != nil {
		t.Fatal(err)
	}
	r.Close()
	if err := w.Flush(); err == nil || w.Sync() != err {
		t.Errorf("Flush into a closed pipe = %v, then %v, want one error", err, w.Sync())
	}
}

func TestSync(t *testing.T) {
	path := filepath.Join(t.TempDir(), "run.murk")
	file, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	w, err := replay.NewWriter(file, replay.Header{})
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(w.WriteFrame(1, nil, 1), w.Sync()); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(path); err != nil || info.Size() != w.Offset() {
		t.Errorf("after Sync the file has %d bytes, %v, want %d", info.Size(), err, w.Offset())
	}
	in, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	if _, ends, err := copied(t, in, w.Offset()); err != nil || len(ends) != 2 {
		t.Errorf("the file has %d whole parts, %v, want 2", len(ends), err)
	}
	file.Close()
	if err := errors.Join(w.WriteFrame(2, nil, 1), w.Sync()); !errors.Is(err, os.ErrClosed) {
		t.Errorf("Sync of a closed file = %v, want os.ErrClosed", err)
	}
	broken := errors.New("no sync")
	if w := newWriterTo(t, unsyncable{broken}); w.Sync() != w.Flush() || !errors.Is(w.Sync(), broken) {
		t.Errorf("Sync = %v, want %v, and for good", w.Sync(), broken)
	}
}

func newWriterTo(t *testing.T, sink io.Writer) *replay.Writer {
	t.Helper()
	w, err := replay.NewWriter(sink, replay.Header{})
	if err != nil {
		t.Fatal(err)
	}
	return w
}

type unsyncable struct{ err error }

func (unsyncable) Write(b []byte) (int, error) { return len(b), nil }
func (u unsyncable) Sync() error               { return u.err }
