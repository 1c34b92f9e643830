package wire_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"
	"testing/iotest"

	"github.com/murksim/murksim/internal/wire"
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

func TestBig(t *testing.T) {
	in := []byte{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}
	d := wire.NewDecoder(iotest.OneByteReader(bytes.NewReader(in)), -1)
	a, b, c := d.Big(1, "a"), d.Big(2, "b"), d.Big(8, "c")
	if a != 0x01 || b != 0x0203 || c != 0x0405060708090a0b || d.Offset() != 11 || d.Err() != nil {
		t.Errorf("%x, %x, %x, at byte %d, %v", a, b, c, d.Offset(), d.Err())
	}
	want := wire.Error{Offset: 11, Kind: wire.ErrTruncated, Detail: "d is cut short: 1 of 4 bytes"}
	if v := d.Big(4, "d"); v != 0 {
		t.Errorf("beyond the end: %x, want 0", v)
	}
	if got, ok := errors.AsType[*wire.Error](d.Err()); !ok || *got != want {
		t.Errorf("Err = %v, want %v", d.Err(), &want)
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

// TestOf holds that a decoder of bytes gives parts of them, with the offsets of what they
// are a part of, and fails at the byte where what it reads begins.
func TestOf(t *testing.T) {
	b := []byte{1, 2, 3, 4, 1, 9, 0, 0, 0, 0, 0, 0, 0, 0, 5}
	d := wire.Of(b).At(100)
	part := d.Bytes(2, "part")
	if &part[0] != &b[0] || cap(part) != 2 {
		t.Errorf("Bytes = %x with room for %d, want the first two bytes themselves", part, cap(part))
	}
	v := d.Uint16("v")
	has, w := d.Optional("w")
	hasMore, x := d.Optional("x")
	if v != 0x403 || !has || w != 9 || hasMore || x != 0 || d.Offset() != 114 || d.Left() != 1 || d.Err() != nil {
		t.Errorf("%x, %v %d, %v %d, at byte %d, %d left, %v", v, has, w, hasMore, x, d.Offset(), d.Left(), d.Err())
	}
	for _, tt := range []struct {
		read func(d *wire.Decoder)
		want wire.Error
	}{
		{func(d *wire.Decoder) { d.End() }, wire.Error{Offset: 114, Kind: wire.ErrMalformed, Detail: "1 bytes are left over"}},
		{func(d *wire.Decoder) { d.Optional("x") }, wire.Error{Offset: 114, Kind: wire.ErrMalformed, Detail: "presence flag of the x is 5, neither 0 nor 1"}},
		{func(d *wire.Decoder) { d.Bytes(3, "p") }, wire.Error{Offset: 114, Kind: wire.ErrTruncated, Detail: "p is cut short: 1 of 3 bytes"}},
		{func(d *wire.Decoder) { d.Append(nil, 3, "p") }, wire.Error{Offset: 114, Kind: wire.ErrTruncated, Detail: "p is cut short: 1 of 3 bytes"}},
		{func(d *wire.Decoder) { d.Uint16("v") }, wire.Error{Offset: 114, Kind: wire.ErrTruncated, Detail: "v is cut short: 1 of 2 bytes"}},
	} {
		d := *d
		tt.read(&d)
		if e, ok := d.Err().(*wire.Error); !ok || *e != tt.want || d.More() {
			t.Errorf("Err = %v, want %v", d.Err(), &tt.want)
		}
	}
}

// TestInputsAgree holds that it makes no difference whether the input comes as bytes, at
// once or byte by byte, of known size or not, nor where it is said to begin.
func TestInputsAgree(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	whole, failed := 0, 0
	for range 20_000 {
		b := make([]byte, random.IntN(60))
		for i := range b {
			if random.IntN(3) == 0 {
				b[i] = byte(random.IntN(4))
			}
		}
		calls, base := random.Uint64(), int64(random.IntN(1000))
		want, err := program(wire.Of(b).At(base), base, calls)
		for name, d := range map[string]*wire.Decoder{
			"known": wire.NewDecoder(bytes.NewReader(b), int64(len(b))), "unknown": wire.NewDecoder(bytes.NewReader(b), -1),
			"byte by byte": wire.NewDecoder(iotest.OneByteReader(bytes.NewReader(b)), int64(len(b))),
		} {
			if got, e := program(d, 0, calls); !slices.Equal(got, want) || (e == nil) != (err == nil) || name != "unknown" && fmt.Sprint(e) != fmt.Sprint(err) {
				t.Fatalf("%x, calls %x, %s: %v, %v; of bytes %v, %v", b, calls, name, got, e, want, err)
			}
		}
		if whole++; err != nil {
			failed++
		}
	}
	if failed < whole/10 || failed > whole*9/10 {
		t.Errorf("%d of %d programs fail, want many of both", failed, whole)
	}
}

// TestTrickle holds that bytes which arrive one by one cost no more memory than others.
func TestTrickle(t *testing.T) {
	const n = 20_000
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	d := wire.NewDecoder(iotest.OneByteReader(bytes.NewReader(make([]byte, n))), -1)
	got := d.Append(nil, 16<<20, "data")
	runtime.ReadMemStats(&after)
	if len(got) != n || d.Err() == nil {
		t.Errorf("%d bytes, %v; want %d and an error", len(got), d.Err(), n)
	}
	if size := after.TotalAlloc - before.TotalAlloc; size > 4<<20 {
		t.Errorf("%d bytes of memory for %d of input, want 4 MiB at most", size, n)
	}
}

// program reads eight values, which calls chooses, and tells them and the first error, its
// offset counted from base.
func program(d *wire.Decoder, base int64, calls uint64) (got []uint64, err error) {
	add := func(v uint64) { got = append(got, v) }
	for range 8 {
		switch calls % 8 {
		case 0:
			add(uint64(d.Uint8("v")))
		case 1:
			add(uint64(d.Uint16("v")))
		case 2:
			add(uint64(d.Uint32("v")))
		case 3:
			add(d.Uint64("v"))
		case 4:
			_, v := d.Optional("v")
			add(v)
		case 5:
			add(uint64(len(d.String(9, "v"))))
		case 6:
			for _, c := range d.Bytes(5, "v") {
				add(uint64(c))
			}
		case 7:
			w := d.Window(3)
			n := min(3, len(w))
			for _, c := range w[:n] {
				add(uint64(c))
			}
			d.Skip(n)
		}
		if calls /= 8; d.Err() != nil {
			break
		}
		add(uint64(d.Offset() - base))
	}
	if e, ok := d.Err().(*wire.Error); ok {
		e.Offset -= base
	}
	return got, d.Err()
}

// TestLastByteAfterTheBuffer holds that a single byte that is left over where the memory of
// the decoder ends is not taken for a clean end.
func TestLastByteAfterTheBuffer(t *testing.T) {
	const buffer = 64 << 10
	input := make([]byte, buffer+1)
	for _, size := range []int64{-1, buffer + 1} {
		for _, taken := range []int{buffer, buffer - 1, 1} {
			d := wire.NewDecoder(bytes.NewReader(input), size)
			for d.Offset() < int64(taken) {
				d.Uint8("byte")
			}
			d.Bytes(buffer-taken, "the rest of the buffer")
			if !d.More() {
				t.Errorf("size %d: no more at byte %d of %d", size, d.Offset(), len(input))
			}
			d.End()
			if e, ok := errors.AsType[*wire.Error](d.Err()); !ok || e.Kind != wire.ErrMalformed || e.Offset != buffer {
				t.Errorf("size %d: End = %v, want %v at byte %d", size, d.Err(), wire.ErrMalformed, buffer)
			}
		}
	}
}
