// Package wire holds the one binary cursor that all codecs of this module share: it
// reads values from bytes or from a stream, keeps its first error, knows its offset, and
// never allocates what the input cannot account for. Values are little-endian, but for those
// that [Decoder.Big] reads.
//
// Its appending half is [encoding/binary]'s, and [AppendBytes] for what a length
// precedes.
package wire

import (
	"encoding/binary"
	"fmt"
	"io"
	"math/bits"
	"unicode/utf8"
)

// A Kind says what is wrong with an input. Each codec has public kinds of its own and
// makes them from these.
type Kind string

// Error implements error.
func (k Kind) Error() string { return string(k) }

// The kinds that the cursor itself finds.
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
	window []byte // bytes read ahead, or all
	next   int    // of the next byte in window
	base   int64  // offset of window[0] in the input
	size   int64  // offset of the input's end, -1 if unknown
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

// Of returns a decoder of bytes, which it does not copy.
func Of(b []byte) *Decoder {
	return &Decoder{window: b, size: int64(len(b)), ended: io.EOF}
}

// At sets the offset of the next byte, for a decoder of a part of an input.
// It returns the decoder.
func (d *Decoder) At(offset int64) *Decoder {
	by := offset - d.Offset()
	d.base += by
	if d.size >= 0 {
		d.size += by
	}
	return d
}

// Buffered returns how many bytes were read from the source and not decoded yet.
func (d *Decoder) Buffered() int { return len(d.window) - d.next }

// Err returns the first error: an [*Error], or that of the source.
func (d *Decoder) Err() error { return d.err }

// Offset returns the offset of the next byte in the input.
func (d *Decoder) Offset() int64 { return d.base + int64(d.next) }

// Left returns how many bytes are left of an input of known size.
func (d *Decoder) Left() int64 { return max(d.size-d.Offset(), 0) }

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

// End fails if an input of known size has another byte.
func (d *Decoder) End() {
	if d.More() {
		d.Fail(d.Offset(), ErrMalformed, "%d bytes are left over", d.Left())
	}
}

// fill reads ahead until the window, which has fewer, holds n bytes, at most the buffer's
// size. It returns false if the source ends before.
func (d *Decoder) fill(n int) bool {
	if d.err != nil || d.ended != nil { // as it is for a decoder of bytes, without a source
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

// Window returns the bytes that have been read ahead, at least n of them if the input
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

// Uint16 reads two bytes.
func (d *Decoder) Uint16(what string) uint16 { return uint16(d.slow(2, what)) }

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

// Big reads a big-endian value of n bytes, 1 to 8.
func (d *Decoder) Big(n int, what string) uint64 {
	if end := d.next + n; end <= len(d.window) {
		switch b := d.window[d.next:end]; n {
		case 4:
			d.next = end
			return uint64(binary.BigEndian.Uint32(b))
		case 8:
			d.next = end
			return binary.BigEndian.Uint64(b)
		}
	}
	return bits.ReverseBytes64(d.slow(n, what)) >> (64 - 8*n)
}

// slow reads a value of n bytes that the window may not hold yet.
func (d *Decoder) slow(n int, what string) (v uint64) {
	if len(d.window)-d.next < n && !d.fill(n) {
		d.short(d.Offset(), len(d.window)-d.next, n, what)
		return 0
	}
	for i, c := range d.window[d.next : d.next+n] {
		v |= uint64(c) << (8 * i)
	}
	d.next += n
	return v
}

// Optional reads a presence flag, 0 or 1, and after a 1 eight bytes.
func (d *Decoder) Optional(what string) (present bool, v uint64) {
	switch flag := d.Uint8(what); flag {
	case 0:
		return false, 0
	case 1:
		return true, d.Uint64(what)
	default:
		d.Fail(d.Offset()-1, ErrMalformed, "presence flag of the %s is %d, neither 0 nor 1", what, flag)
		return false, 0
	}
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
	if d.size >= 0 && int64(n)*int64(size) > d.Left() {
		d.Fail(at, ErrTruncated, "%s: %d, but only %d bytes are left", what, n, d.Left())
		return 0
	}
	return int(n)
}

// Bytes returns the next n bytes, or nil. Of a decoder of bytes they are a part of
// those; else they are a copy, of which it allocates at most 1 MiB more than it has
// read.
func (d *Decoder) Bytes(n int, what string) []byte {
	if d.source != nil {
		if b := d.Append(nil, n, what); d.err == nil {
			return b
		}
		return nil
	}
	if n > len(d.window)-d.next {
		d.short(d.Offset(), len(d.window)-d.next, n, what)
		return nil
	}
	d.next += n
	return d.window[d.next-n : d.next : d.next]
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
		dst = append(grow(dst, k, left), d.window[d.next:d.next+k]...)
		d.next += k
		left -= k
	}
	return dst
}

// grow makes room for k more bytes, of n that are to come, and where it allocates for as
// many of those as may be allocated ahead.
func grow(b []byte, k, n int) []byte {
	if cap(b)-len(b) >= k {
		return b
	}
	return append(make([]byte, 0, len(b)+min(n, max(len(b), maxChunk))), b...)
}

// String reads a uint32 length, at most limit, and as many bytes of UTF-8.
func (d *Decoder) String(limit uint32, what string) string {
	n := d.Count(limit, 1, what)
	at := d.Offset()
	b := d.Bytes(n, what)
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
// [Decoder.Bytes], or [Decoder.String], read them back.
func AppendBytes[T string | []byte](b []byte, v T) []byte {
	b = binary.LittleEndian.AppendUint32(b, uint32(len(v)))
	return append(b, v...)
}
