package replay_test

import (
	"bytes"
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
