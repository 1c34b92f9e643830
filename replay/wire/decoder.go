// Package wire holds the one cursor that all codecs of this module share: it
// reads little-endian values from a stream, keeps its first error, knows its
// offset, and never allocates what the input cannot account for.
package wire

import (
	"encoding/binary"
	"fmt"
	"io"
	"os"
	"unicode/utf8"
)

// A Kind says what is wrong with an input and is its own sentinel:
// errors.Is(err, ErrTruncated). Codecs add kinds of their own.
type Kind string

// Error implements error.
func (k Kind) Error() string { return string(k) }

// The kinds that every codec knows.
const (
	ErrTruncated Kind = "input ends early"
	ErrMalformed Kind = "malformed input"
	ErrLimit     Kind = "limit exceeded"
)

// An Error locates input that cannot be decoded.
type Error struct {
	Offset int64 // of the first byte that could not be used
	Kind   Kind
	Detail string
}

// Error implements error.
func (e *Error) Error() string {
	return fmt.Sprintf("%s at byte %d: %s", e.Kind, e.Offset, e.Detail)
}

// Unwrap returns the kind.
func (e *Error) Unwrap() error { return e.Kind }

const (
	windowSize = 64 << 10
	maxChunk   = 1 << 20 // bytes allocated ahead of the bytes that fill them
	maxEmpty   = 100     // reads in a row that yield nothing, before giving up
)

// A Decoder reads values one after the other. After its first error it yields
// zeros, so that a layout reads straight down and the caller checks Err once. The
// argument what of its methods names the value in an error.
type Decoder struct {
	window []byte // bytes read ahead
	next   int    // of the next byte in window
	base   int64  // offset of window[0] in the input
	size   int64  // of the whole input, -1 if unknown
	source io.Reader
	ended  error // what ended the source: io.EOF or a failure
	err    error
	buffer []byte
}

// NewDecoder returns a decoder of r, which holds size bytes; -1 stands for an
// unknown size. Where it is known, lengths are checked against what is left before
// anything is allocated; where not, memory grows with the bytes that arrive.
func NewDecoder(r io.Reader, size int64) *Decoder {
	n := int64(windowSize)
	if size >= 0 {
		n = min(n, size+1) // one more, to see the end
	}
	return &Decoder{source: r, size: size, buffer: make([]byte, max(n, 16))}
}

// Size returns how many bytes r still holds if it can tell without being read: a
// regular file, anything else that seeks, or a reader with a Len method. Else -1.
func Size(r io.Reader) int64 {
	switch r := r.(type) {
	case interface{ Len() int }:
		return int64(r.Len())
	case *os.File:
		if info, err := r.Stat(); err != nil || !info.Mode().IsRegular() {
			return -1
		}
		return seekSize(r)
	case io.Seeker:
		return seekSize(r)
	}
	return -1
}

func seekSize(s io.Seeker) int64 {
	at, err := s.Seek(0, io.SeekCurrent)
	if err != nil {
		return -1
	}
	end, err := s.Seek(0, io.SeekEnd)
	if err != nil {
		return -1
	}
	if _, err := s.Seek(at, io.SeekStart); err != nil {
		return -1
	}
	return max(end-at, 0)
}

// Err is the first error: an *[Error], or what the source failed with.
func (d *Decoder) Err() error { return d.err }

// Offset is the offset of the next byte in the input.
func (d *Decoder) Offset() int64 { return d.base + int64(d.next) }

// Fail records an error at an offset, unless there is one already.
func (d *Decoder) Fail(offset int64, kind Kind, format string, args ...any) {
	if d.err == nil {
		d.stop(&Error{offset, kind, fmt.Sprintf(format, args...)})
	}
}

// stop keeps the error and lets every later read take its slow path and fail.
func (d *Decoder) stop(err error) {
	d.err = err
	d.base += int64(d.next)
	d.window, d.next = nil, 0
}

// More reports whether there is another byte. At a clean end it returns false and
// Err stays nil.
func (d *Decoder) More() bool {
	if d.next < len(d.window) || d.fill(1) {
		return true
	}
	if d.err == nil && d.ended != io.EOF {
		d.stop(d.ended)
	}
	return false
}

// fill reads ahead until the window holds n bytes, at most the buffer's size. It
// returns false if the source ends before.
func (d *Decoder) fill(n int) bool {
	if d.err != nil {
		return false
	}
	rest := copy(d.buffer, d.window[d.next:])
	d.base += int64(d.next)
	d.window, d.next = d.buffer[:rest], 0
	for empty := 0; len(d.window) < n && d.ended == nil; {
		got, err := d.source.Read(d.buffer[len(d.window):])
		d.window, d.ended = d.buffer[:len(d.window)+got], err
		if empty++; got > 0 {
			empty = 0
		} else if err == nil && empty == maxEmpty {
			d.ended = io.ErrNoProgress
		}
	}
	return len(d.window) >= n
}

// short records that only got of n bytes of a value at an offset are there.
func (d *Decoder) short(offset int64, got, n int, what string) {
	if d.err == nil && d.ended != io.EOF {
		d.stop(d.ended)
		return
	}
	d.Fail(offset, ErrTruncated, "%s is cut short: %d of %d bytes", what, got, n)
}

// Window gives the bytes that have been read ahead, at least n of them if the input
// has as many and they are not more than 64 KiB. They stay as they are until another
// method is called; [Decoder.Skip] takes them.
func (d *Decoder) Window(n int) []byte {
	if n = min(n, len(d.buffer)); len(d.window)-d.next < n && d.ended == nil {
		d.fill(n)
	}
	return d.window[d.next:]
}

// Skip takes the first n bytes of the [Decoder.Window].
func (d *Decoder) Skip(n int) { d.next += n }

// Uint8 reads a byte.
func (d *Decoder) Uint8(what string) uint8 {
	if end := d.next + 1; end <= len(d.window) {
		d.next = end
		return d.window[end-1]
	}
	return uint8(d.slow(1, what))
}

// Uint32 reads four bytes.
func (d *Decoder) Uint32(what string) uint32 {
	if end := d.next + 4; end <= len(d.window) {
		d.next = end
		return binary.LittleEndian.Uint32(d.window[end-4:])
	}
	return uint32(d.slow(4, what))
}

// Uint64 reads eight bytes.
func (d *Decoder) Uint64(what string) uint64 {
	if end := d.next + 8; end <= len(d.window) {
		d.next = end
		return binary.LittleEndian.Uint64(d.window[end-8:])
	}
	return d.slow(8, what)
}

// slow reads a value of n bytes that the window does not hold yet.
func (d *Decoder) slow(n int, what string) (v uint64) {
	if !d.fill(n) {
		d.short(d.Offset(), len(d.window), n, what)
		return 0
	}
	for i, c := range d.window[d.next : d.next+n] {
		v |= uint64(c) << (8 * i)
	}
	d.next += n
	return v
}

// Count reads the uint32 count of entries that follow, each of at least size
// bytes. More than limit are an ErrLimit, more than the rest of the input can hold
// an ErrTruncated, both at the count.
func (d *Decoder) Count(limit uint32, size int, what string) int {
	at := d.Offset()
	n := d.Uint32(what)
	if n > limit {
		d.Fail(at, ErrLimit, "%s: %d, the limit is %d", what, n, limit)
		return 0
	}
	if left := d.size - d.Offset(); d.size >= 0 && int64(n)*int64(size) > left {
		d.Fail(at, ErrTruncated, "%s: %d, but only %d bytes are left", what, n, max(left, 0))
		return 0
	}
	return int(n)
}

// Append appends the next n bytes to dst. It allocates at most 1 MiB more than it
// has read.
func (d *Decoder) Append(dst []byte, n int, what string) []byte {
	if n <= len(d.window)-d.next {
		dst = append(dst, d.window[d.next:d.next+n]...)
		d.next += n
		return dst
	}
	at := d.Offset()
	for left := n; left > 0; {
		if d.next == len(d.window) && !d.fill(1) {
			d.short(at, n-left, n, what)
			return dst
		}
		k := min(left, len(d.window)-d.next)
		dst = append(grow(dst, left), d.window[d.next:d.next+k]...)
		d.next += k
		left -= k
	}
	return dst
}

// grow makes room for n more bytes, or for as many of them as may be allocated ahead.
func grow(b []byte, n int) []byte {
	if cap(b)-len(b) >= min(n, maxChunk) {
		return b
	}
	return append(make([]byte, 0, len(b)+min(n, max(len(b), maxChunk))), b...)
}

// String reads a uint32 length, at most limit, and as many bytes of UTF-8.
func (d *Decoder) String(limit uint32, what string) string {
	n := d.Count(limit, 1, what)
	at := d.Offset()
	b := d.Append(nil, n, what)
	for i := 0; i < len(b); {
		r, size := utf8.DecodeRune(b[i:])
		if r == utf8.RuneError && size == 1 {
			d.Fail(at+int64(i), ErrMalformed, "%s is not UTF-8", what)
			return ""
		}
		i += size
	}
	return string(b)
}

// AppendBytes appends a uint32 length and the bytes; [Decoder.Count] and
// [Decoder.Append], or [Decoder.String], read them back.
func AppendBytes[T string | []byte](b []byte, v T) []byte {
	b = binary.LittleEndian.AppendUint32(b, uint32(len(v)))
	return append(b, v...)
}
