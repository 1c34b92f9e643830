package files

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"
)

// TestFileThatShrinks holds that reading a file which another process cuts off fails; where a
// file is mapped, the system would else end the program.
func TestFileThatShrinks(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	whole := bytes.Repeat([]byte("murksim "), 64<<10)
	if err := os.WriteFile(path, whole, 0o666); err != nil {
		t.Fatal(err)
	}
	f, size, err := OpenSeekable(path)
	if err != nil || size != int64(len(whole)) {
		t.Fatalf("%d bytes, %v; want %d", size, err, len(whole))
	}
	defer f.Close()
	b := make([]byte, 16)
	if n, err := f.ReadAt(b, size-8); n != 8 || err != io.EOF || string(b[:n]) != "murksim " {
		t.Errorf("at the end it reads %q, %v", b[:n], err)
	}
	for _, at := range []int64{size, size + 1, 1 << 40} {
		if n, err := f.ReadAt(b, at); n != 0 || err != io.EOF {
			t.Errorf("at %d it reads %d bytes, %v; want the end", at, n, err)
		}
	}
	if err := os.Truncate(path, 100); err != nil {
		t.Logf("it cannot be cut off while it is mapped: %v", err) // on Windows
		return
	}
	if n, err := f.ReadAt(b, size/2); n != 0 || !errors.Is(err, errShrunk) && err != io.EOF {
		t.Errorf("it reads %d bytes of what was cut off, %v", n, err)
	}
	if n, err := f.ReadAt(b, 0); n != 16 || err != nil {
		t.Errorf("of what is left it reads %d bytes, %v", n, err)
	}
}
