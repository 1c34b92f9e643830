package replay_test

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/murksim/murksim/replay"
)

func TestSize(t *testing.T) {
	sample := []byte("twenty-one bytes here")
	path := filepath.Join(t.TempDir(), "f")
	if err := os.WriteFile(path, sample, 0o600); err != nil {
		t.Fatal(err)
	}
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if _, err := file.Seek(2, io.SeekStart); err != nil {
		t.Fatal(err)
	}
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	defer w.Close()
	for _, tt := range []struct {
		name string
		r    io.Reader
		want int64
	}{
		{"strings", strings.NewReader("four"), 4},
		{"buffer", bytes.NewBuffer(sample), 21},
		{"section", io.NewSectionReader(bytes.NewReader(sample), 3, 5), 5},
		{"file", file, 19},
		{"pipe", r, -1},
		{"stream", iotest.OneByteReader(file), -1},
	} {
		if got := replay.SizeOf(tt.r); got != tt.want {
			t.Errorf("%s: Size = %d, want %d", tt.name, got, tt.want)
		}
	}
	rest, err := io.ReadAll(file)
	if want := sample[2:]; err != nil || !bytes.Equal(rest, want) {
		t.Errorf("after Size the file yields %x, want %x: its position is kept", rest, want)
	}
}

// An unseekable is an input whose nth call of Seek fails.
type unseekable struct {
	*strings.Reader
	fails int
}

// Len hides that of the reader.
func (s *unseekable) Len() {}

func (s *unseekable) Seek(offset int64, whence int) (int64, error) {
	if s.fails--; s.fails == 0 {
		return 0, errors.New("planned")
	}
	return s.Reader.Seek(offset, whence)
}

// TestSizeOfInputThatCannotSeek holds that an input of which Seek fails has no known size,
// and is read where it stands if it has not been moved.
func TestSizeOfInputThatCannotSeek(t *testing.T) {
	for fails, left := range []int{1: 4, 2: 4, 3: 0} {
		if fails == 0 {
			continue
		}
		s := &unseekable{strings.NewReader("four"), fails}
		if got := replay.SizeOf(s); got != -1 {
			t.Errorf("size %d of an input whose %dth Seek fails, want -1", got, fails)
		}
		if rest, err := io.ReadAll(s); len(rest) != left || err != nil {
			t.Errorf("%d bytes are left when the %dth Seek has failed, %v; want %d", len(rest), fails, err, left)
		}
	}
	var out bytes.Buffer
	sample := sampleRecording(t)
	for fails := 1; fails <= 2; fails++ {
		out.Reset()
		_, err := replay.Convert(&out, &unseekable{strings.NewReader(string(sample)), fails})
		if err != nil || out.String() != sampleLines {
			t.Errorf("Convert of an input whose %dth Seek fails = %v and %d bytes, want %d", fails, err, out.Len(), len(sampleLines))
		}
	}
}
