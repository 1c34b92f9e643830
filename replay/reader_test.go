package replay_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/murksim/murksim/commands"
	"github.com/murksim/murksim/internal/vectors"
	"github.com/murksim/murksim/internal/wire"
	"github.com/murksim/murksim/replay"
)

// recordings returns every recording in the folders of the codec's vectors.
func recordings(t testing.TB) map[string][]byte {
	t.Helper()
	files := map[string][]byte{}
	for _, folder := range []string{"murk/codec", "murk/malformed"} {
		entries, err := os.ReadDir(vectors.Path(folder))
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			if strings.HasSuffix(e.Name(), ".murkreplay") {
				b, err := os.ReadFile(filepath.Join(vectors.Path(folder), e.Name()))
				if err != nil {
					t.Fatal(err)
				}
				files[e.Name()] = b
			}
		}
	}
	return files
}

// TestBuffered: after each frame of a source that gives what it has, what is buffered are the frames behind it.
func TestBuffered(t *testing.T) {
	all, _ := pondRecording(t)
	half := len(all) / 2
	r, err := replay.NewReader(io.MultiReader(bytes.NewReader(all[:half]), bytes.NewReader(all[half:])))
	var f replay.Frame
	for there := half; err == nil; err = r.Next(&f) {
		if int(r.Offset()) > there {
			there = len(all)
		}
		if got, want := r.Buffered(), there-int(r.Offset()); got != want {
			t.Errorf("after byte %d of %d, %d bytes are buffered, want %d", r.Offset(), there, got, want)
		}
	}
	if err != io.EOF {
		t.Error(err)
	}
}

// copied reads a recording to its end and writes it again. It returns what was
// written, the offset after each whole frame (the header's first) and the error
// that ended the reading, nil at a clean end.
func copied(t testing.TB, in io.Reader, size int64) (out []byte, ends []int64, err error) {
	t.Helper()
	r, err := replay.NewReaderSize(in, size)
	if err != nil {
		return nil, nil, err
	}
	var sink bytes.Buffer
	w, err := replay.NewWriter(&sink, r.Header)
	if err != nil {
		t.Fatalf("the header was read, but NewWriter = %v", err)
	}
	var f replay.Frame
	for {
		ends = append(ends, r.Offset())
		if r.Offset() != w.Offset() {
			t.Fatalf("after %d frames: read up to %d, written up to %d", len(ends)-1, r.Offset(), w.Offset())
		}
		if err = r.Next(&f); err != nil {
			break
		}
		if err := w.CopyFrame(&f); err != nil {
			t.Fatalf("frame %d was read, but CopyFrame = %v", len(ends)-1, err)
		}
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return sink.Bytes(), ends, err
}

func TestCopy(t *testing.T) {
	for how, open := range map[string]func(b []byte) io.Reader{
		"at once":      func(b []byte) io.Reader { return bytes.NewReader(b) },
		"byte by byte": func(b []byte) io.Reader { return iotest.OneByteReader(bytes.NewReader(b)) },
		"with its end": func(b []byte) io.Reader { return iotest.DataErrReader(bytes.NewReader(b)) },
	} {
		for name, b := range recordings(t) {
			for _, size := range []int64{-1, int64(len(b))} {
				got, _, err := copied(t, open(b), size)
				if err != nil || !bytes.Equal(got, b) {
					t.Errorf("%s read %s, size %d: copy = %d bytes, %v; want the same %d bytes", name, how, size, len(got), err, len(b))
				}
			}
		}
	}
}

// TestPrefixes cuts recordings at every byte: the end is clean between two frames
// and nowhere else, and everything before the cut is read.
func TestPrefixes(t *testing.T) {
	for name, b := range recordings(t) {
		if len(b) > 5000 {
			continue
		}
		_, ends, err := copied(t, bytes.NewReader(b), -1)
		if err != nil {
			t.Fatal(err)
		}
		for n := 0; n < len(b); n += stride() {
			whole := 0 // header and frames that the prefix holds
			for whole < len(ends) && ends[whole] <= int64(n) {
				whole++
			}
			clean := whole > 0 && ends[whole-1] == int64(n)
			for _, size := range []int64{-1, int64(n)} {
				got, gotEnds, err := copied(t, bytes.NewReader(b[:n]), size)
				if clean != (err == nil) || err != nil && kindOf(err) != replay.ErrTruncated {
					t.Fatalf("%s cut at %d: %v, want a clean end: %v", name, n, err, clean)
				}
				if len(gotEnds) != whole || whole > 0 && !bytes.Equal(got, b[:ends[whole-1]]) {
					t.Fatalf("%s cut at %d: %d whole parts, want %d", name, n, len(gotEnds), whole)
				}
			}
		}
	}
}

// stride is the step of tests that try every position: with -short, a sample of them.
func stride() int {
	if testing.Short() {
		return 17
	}
	return 1
}

// prefix returns a recording's header, empty, and a frame of tick 9 up to its
// commands, of which there are count.
func prefix(count uint32) []byte {
	b := append([]byte("MURK\x03"), make([]byte, 4*4+28+4)...)
	b = binary.LittleEndian.AppendUint64(b, 9)
	return binary.LittleEndian.AppendUint32(b, count)
}

// oneCommand returns a recording of one command.
func oneCommand(tag uint8, payload []byte) []byte {
	b := wire.AppendBytes(append(prefix(1), tag), payload)
	b = (&commands.Meta{}).Append(b)
	return binary.LittleEndian.AppendUint64(b, 0)
}

func TestDecodeRejects(t *testing.T) {
	const head, first = 53, 53 + 12 // where the frame and its first command begin
	good := oneCommand(2, make([]byte, 8))
	meta := first + 1 + 4 + 8
	with := func(at int, v byte) []byte {
		b := bytes.Clone(good)
		b[at] = v
		return b
	}
	header := func(at int64, kind replay.Kind, detail string) replay.FormatError {
		return replay.FormatError{Offset: at, Frame: replay.HeaderFrame, Kind: kind, Detail: detail}
	}
	frame := func(at int, kind replay.Kind, detail string) replay.FormatError {
		return replay.FormatError{Offset: int64(at), Tick: 9, Kind: kind, Detail: detail}
	}
	command := func(at int, kind replay.Kind, detail string) replay.FormatError {
		e := frame(at, kind, detail)
		e.Command, e.Commands = 1, 1
		return e
	}
	for _, tt := range []struct {
		name  string
		input []byte
		want  replay.FormatError
		text  string
	}{
		{"empty", nil, header(0, replay.ErrTruncated, "magic is cut short: 0 of 1 bytes"),
			"replay: input ends early at byte 0 (header): magic is cut short: 0 of 1 bytes"},
		{"other magic", []byte("\x89PNG"), header(0, replay.ErrMagic, ""), "replay: not a recording at byte 0 (header)"},
		{"version 2", []byte("MURK\x02"), replay.FormatError{Offset: 4, Frame: replay.HeaderFrame, Kind: replay.ErrVersion, Found: 2},
			"replay: unsupported version 2 at byte 4 (header)"},
		{"not UTF-8", []byte("MURK\x03\x03\x00\x00\x00ab\xff"), header(11, replay.ErrMalformed, "toolchain is not UTF-8"), ""},
		{"long string", with(7, 0x20), header(5, replay.ErrLimit, "toolchain: 2097152, the limit is 1048576"), ""},
		{"string beyond the end", with(6, 0xff), header(5, replay.ErrTruncated, "toolchain: 65280, but only 96 bytes are left"), ""},
		{"cut in a tick", good[:head+3], replay.FormatError{Offset: head, Kind: replay.ErrTruncated, Detail: "tick is cut short: 3 of 8 bytes"},
			"replay: input ends early at byte 53 (frame 1): tick is cut short: 3 of 8 bytes"},
		{"many commands", prefix(1_000_001), frame(61, replay.ErrLimit, "command count: 1000001, the limit is 1000000"), ""},
		{"commands beyond the end", prefix(2), frame(61, replay.ErrTruncated, "command count: 2, but only 0 bytes are left"), ""},
		{"long payload", with(first+4, 0xff), command(first+1, replay.ErrLimit, "payload bytes: 4278190088, the limit is 67108864"), ""},
		{"presence 2", with(meta+1, 2), command(meta+1, replay.ErrMalformed, "presence flag of the source is 2, neither 0 nor 1"), ""},
		{"presence of a sequence 3", with(meta+2, 3), command(meta+2, replay.ErrMalformed, "presence flag of the source sequence is 3, neither 0 nor 1"), ""},
		{"cut in a hash", good[:len(good)-1], frame(len(good)-8, replay.ErrTruncated, "state hash is cut short: 7 of 8 bytes"), ""},
		{"unknown payload", with(first, 7), replay.FormatError{Offset: first + 5, Tick: 9, Command: 1, Commands: 1, Kind: replay.ErrUnknownPayload, Found: 7},
			"replay: unknown payload type 7 at byte 70 (tick 9, command 1 of 1)"},
		{"bytes left over", oneCommand(2, make([]byte, 9)), command(first+5+8, replay.ErrMalformed, "despawn payload: 1 bytes are left over"), ""},
		{"long coordinate", oneCommand(0, append(make([]byte, 8), 9, 0, 0, 0)),
			command(first+5+8, replay.ErrMalformed, "move payload: coordinate components: 9, but only 0 bytes are left"), ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			err := decodeAll(tt.input)
			if got, ok := errors.AsType[*replay.FormatError](err); !ok || *got != tt.want || !errors.Is(err, tt.want.Kind) {
				t.Errorf("got %+v, want %+v", err, &tt.want)
			}
			if tt.text != "" && err.Error() != tt.text {
				t.Errorf("got %q, want %q", err, tt.text)
			}
		})
	}
	if err := decodeAll(good); err != nil {
		t.Errorf("the good one: %v", err)
	}
}

// decodeAll reads a recording and decodes every command.
func decodeAll(b []byte) error {
	r, err := replay.NewReader(bytes.NewReader(b))
	if err != nil {
		return err
	}
	var f replay.Frame
	for {
		if err := r.Next(&f); err == io.EOF {
			return nil
		} else if err != nil {
			return err
		}
		for i := range f.Records {
			if _, err := f.Records[i].Command(); err != nil {
				return err
			}
		}
	}
}

// TestReadFailure: what the source fails with comes through, and stays.
func TestReadFailure(t *testing.T) {
	b, size := mixedRecording(t, 3)
	broken := errors.New("broken disk")
	cut := len(b) - int(size) - 10
	r, err := replay.NewReader(io.MultiReader(bytes.NewReader(b[:cut]), iotest.ErrReader(broken)))
	if err != nil {
		t.Fatal(err)
	}
	var f replay.Frame
	frames := 0
	for ; err == nil; frames++ {
		err = r.Next(&f)
	}
	if !errors.Is(err, broken) || kindOf(err) != "" || frames != 2 || r.Offset() != int64(len(b))-2*size {
		t.Errorf("after %d calls and %d bytes: %v, want the source's error in the second call", frames, r.Offset(), err)
	}
	if again := r.Next(&f); again != err {
		t.Errorf("Next after that = %v, want the same error", again)
	}
	if _, err := replay.NewReader(iotest.ErrReader(broken)); !errors.Is(err, broken) {
		t.Errorf("NewReader = %v, want the source's error", err)
	}
	if _, err := replay.NewReader(stuck{}); !errors.Is(err, io.ErrNoProgress) {
		t.Errorf("NewReader of a source that yields nothing = %v, want io.ErrNoProgress", err)
	}
}

// stuck is a reader that never says anything.
type stuck struct{}

func (stuck) Read([]byte) (int, error) { return 0, nil }

// TestReadingAheadAgrees: a frame that lies in memory as a whole is read as one that
// comes byte by byte, damaged or not, with the same error.
func TestReadingAheadAgrees(t *testing.T) {
	good, _ := mixedRecording(t, 2)
	random := rand.New(rand.NewPCG(5, 6))
	failures, count := 0, 100
	if testing.Short() {
		count = 20
	}
	for range count {
		b := bytes.Clone(good)
		b[random.IntN(len(b))] ^= 1 << random.IntN(8)
		b = b[:len(b)-random.IntN(2)*random.IntN(len(b)/2)]
		ahead, errAhead := readText(bytes.NewReader(b))
		slow, errSlow := readText(struct{ io.Reader }{iotest.OneByteReader(bytes.NewReader(b))})
		if ahead != slow {
			t.Fatalf("read ahead:\n%s\nbyte by byte:\n%s", ahead, slow)
		}
		if errAhead != nil {
			failures++
		}
		if fmt.Sprint(errAhead) != fmt.Sprint(errSlow) && !errors.Is(errAhead, replay.ErrTruncated) { // its size is known: it is told earlier
			t.Fatalf("read ahead: %v, byte by byte: %v", errAhead, errSlow)
		}
	}
	if failures < count/5 {
		t.Errorf("%d of %d were found damaged; want many", failures, count)
	}
}

// readText prints all frames that can be read, with their commands.
func readText(in io.Reader) (text string, err error) {
	r, err := replay.NewReader(in)
	if err != nil {
		return "", err
	}
	var f replay.Frame
	var b strings.Builder
	for {
		if err := r.Next(&f); err == io.EOF {
			return b.String(), nil
		} else if err != nil {
			return b.String(), err
		}
		fmt.Fprintf(&b, "%d %x at %d\n", f.Tick, f.Hash, r.Offset())
		for i := range f.Records {
			c, err := f.Records[i].Command()
			if err == nil {
				fmt.Fprintf(&b, "%x\n", c.Append(nil))
			} else {
				fmt.Fprintf(&b, "%v\n", err)
			}
		}
	}
}
