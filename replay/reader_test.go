package replay_test

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/murksim/murksim/replay"
)

// vectors returns a folder of the conformance vectors.
func vectors(name string) string {
	root := os.Getenv("MURKSIM_VECTORS")
	if root == "" {
		root = filepath.Join("..", "testdata", "vectors")
	}
	return filepath.Join(root, filepath.FromSlash(name))
}

// recordings returns every recording in the folders of the codec's vectors.
func recordings(t testing.TB) map[string][]byte {
	t.Helper()
	files := map[string][]byte{}
	for _, folder := range []string{"murk/codec", "murk/malformed"} {
		entries, err := os.ReadDir(vectors(folder))
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			if strings.HasSuffix(e.Name(), ".murkreplay") {
				b, err := os.ReadFile(filepath.Join(vectors(folder), e.Name()))
				if err != nil {
					t.Fatal(err)
				}
				files[e.Name()] = b
			}
		}
	}
	return files
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
	for name, b := range recordings(t) {
		for _, size := range []int64{-1, int64(len(b))} {
			got, _, err := copied(t, bytes.NewReader(b), size)
			if err != nil || !bytes.Equal(got, b) {
				t.Errorf("%s, size %d: copy = %d bytes, %v; want the same %d bytes", name, size, len(got), err, len(b))
			}
		}
	}
}
