package wire_test

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/murksim/murksim/replay/wire"
)

// sample holds 1, 2, 3 and "four", each in its layout, 21 bytes in all.
var sample = wire.AppendBytes([]byte{1, 2, 0, 0, 0, 3, 0, 0, 0, 0, 0, 0, 0x80}, "four")

func TestDecoder(t *testing.T) {
	for name, r := range map[string]io.Reader{
		"at once":      bytes.NewReader(sample),
		"byte by byte": iotest.OneByteReader(bytes.NewReader(sample)),
		"with its end": iotest.DataErrReader(bytes.NewReader(sample)),
	} {
		d := wire.NewDecoder(r, -1)
		a, b, c := d.Uint8("a"), d.Uint32("b"), d.Uint64("c")
		if s := d.String(4, "s"); a != 1 || b != 2 || c != 3|1<<63 || s != "four" || d.Err() != nil {
			t.Errorf("%s: %d, %d, %x, %q, %v; want 1, 2, 8…3, four", name, a, b, c, s, d.Err())
		}
		if d.Offset() != 21 || d.More() || d.Err() != nil {
			t.Errorf("%s: at byte %d of 21, more: %v, %v; want a clean end", name, d.Offset(), d.More(), d.Err())
		}
		if v := d.Uint8("v"); v != 0 || !errors.Is(d.Err(), wire.ErrTruncated) {
			t.Errorf("%s: beyond the end: %d, %v, want 0, %v", name, v, d.Err(), wire.ErrTruncated)
		}
	}
}

// TestFirstErrorStays: after an error there are only zeros, and the error is the first.
func TestFirstErrorStays(t *testing.T) {
	d := wire.NewDecoder(bytes.NewReader(sample), int64(len(sample)))
	d.Uint8("a")
	if n := d.Count(1, 1, "count"); n != 0 {
		t.Errorf("Count beyond its limit = %d, want 0", n)
	}
	want := wire.Error{Offset: 1, Kind: wire.ErrLimit, Detail: "count: 2, the limit is 1"}
	d.Fail(7, wire.ErrMalformed, "a later one")
	if a, b, s, p := d.Uint8("a"), d.Uint64("b"), d.String(9, "s"), d.Append(nil, 3, "p"); a != 0 || b != 0 || s != "" || p != nil || d.More() {
		t.Errorf("after an error: %d, %d, %q, %x, want zeros and no more", a, b, s, p)
	}
	if got, ok := errors.AsType[*wire.Error](d.Err()); !ok || *got != want {
		t.Errorf("Err = %v, want %v", d.Err(), &want)
	}
	if got := d.Err().Error(); got != "limit exceeded at byte 1: count: 2, the limit is 1" {
		t.Errorf("Err reads %q", got)
	}
}

func TestAppend(t *testing.T) {
	long := bytes.Repeat([]byte("0123456789abcdef"), 300_000) // more than one chunk
	for _, size := range []int64{-1, int64(len(long))} {
		d := wire.NewDecoder(iotest.HalfReader(bytes.NewReader(long)), size)
		if got := d.Append([]byte("x"), len(long), "bytes"); d.Err() != nil || !bytes.Equal(got[1:], long) || got[0] != 'x' {
			t.Errorf("size %d: Append = %d bytes, %v, want x and the same %d", size, len(got), d.Err(), len(long))
		}
	}
	d := wire.NewDecoder(bytes.NewReader(long[:100]), -1)
	got := d.Append(nil, 1<<30, "bytes")
	if e, ok := errors.AsType[*wire.Error](d.Err()); !ok || e.Kind != wire.ErrTruncated || e.Offset != 0 || cap(got) > 2<<20 {
		t.Errorf("Append of 1 GiB from 100 bytes = %v with %d bytes allocated, want %v at 0 and few", d.Err(), cap(got), wire.ErrTruncated)
	}
}

func TestSize(t *testing.T) {
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
		if got := wire.Size(tt.r); got != tt.want {
			t.Errorf("%s: Size = %d, want %d", tt.name, got, tt.want)
		}
	}
	if got := wire.NewDecoder(file, wire.Size(file)).Uint32("rest"); got != 3<<24 {
		t.Errorf("after Size the file yields %x, want %x: its position is kept", got, 3<<24)
	}
}
