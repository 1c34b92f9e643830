package replay

import (
	"encoding/hex"
	"fmt"
	"math"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// string reads a string of at most limit bytes. It is valid until the next value is read.
func (s *scanner) string(limit int, what string) []byte {
	s.text = s.text[:0]
	at := s.here()
	s.token('"', what)
	for s.err == nil && s.next != '"' {
		switch c := s.next; {
		case c == '\\':
			s.escape()
		case c < ' ':
			s.unexpected("the rest of a string")
		case c < utf8.RuneSelf:
			n := plain(s.window[s.i:], limit+1-len(s.text))
			s.text = append(s.text, s.window[s.i:s.i+n]...)
			s.skip(n)
		default:
			s.text = append(s.text, byte(c))
			s.advance()
		}
		if len(s.text) > limit {
			s.fail(at, ErrLimit, "%s has more than %d bytes", what, limit)
		}
	}
	if s.err == nil && !utf8.Valid(s.text) {
		s.fail(at, ErrMalformed, "%s is not UTF-8", what)
	}
	if s.err != nil {
		return nil
	}
	s.advance()
	return s.text
}

// plain returns the number of bytes at the start of b, at most most, that stand for
// themselves in a string.
func plain(b []byte, most int) int {
	n := 0
	for n < min(len(b), most) && b[n] >= ' ' && b[n] < utf8.RuneSelf && b[n] != '"' && b[n] != '\\' {
		n++
	}
	return n
}

var escapes = map[int]byte{'"': '"', '\\': '\\', '/': '/', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t'}

// escape reads a backslash and what it stands for.
func (s *scanner) escape() {
	at := s.at
	s.advance()
	if c, ok := escapes[s.next]; ok {
		s.text = append(s.text, c)
		s.advance()
		return
	}
	r := s.unicode()
	if utf16.IsSurrogate(r) {
		if s.next != '\\' {
			s.fail(at, ErrMalformed, "half a character: a surrogate stands alone")
			return
		}
		s.advance()
		if r = utf16.DecodeRune(r, s.unicode()); r == utf8.RuneError { // which no pair decodes to
			s.fail(at, ErrMalformed, "half a character: a surrogate stands alone")
		}
	}
	s.text = utf8.AppendRune(s.text, r)
}

// unicode reads what follows a backslash: u and four hexadecimal digits.
func (s *scanner) unicode() (r rune) {
	if s.next != 'u' {
		s.unexpected("an escape of JSON")
		return 0
	}
	s.advance()
	for range 4 {
		r = r<<4 | rune(s.hexDigit())
	}
	return r
}

const noDigit = 0xff

// hexDigits are the values of hexadecimal digits.
var hexDigits = func() (values [256]byte) {
	for c := range values {
		values[c] = noDigit
	}
	for v := range byte(16) {
		values["0123456789abcdef"[v]], values["0123456789ABCDEF"[v]] = v, v
	}
	return values
}()

func (s *scanner) hexDigit() byte {
	if s.next == end || hexDigits[s.next] == noDigit {
		s.unexpected("a hexadecimal digit")
		return 0
	}
	v := hexDigits[s.next]
	s.advance()
	return v
}

// hex reads a string of hexadecimal digits, two a byte, of at most limit bytes, and
// appends the bytes to dst.
func (s *scanner) hex(dst []byte, limit int, what string) []byte {
	at, start := s.here(), len(dst)
	s.token('"', what+", a string of hexadecimal digits,")
	for s.err == nil && s.next != '"' {
		if len(dst)-start == limit {
			s.fail(at, ErrLimit, "%s has more than %d bytes", what, limit)
		}
		dst = append(dst, s.hexDigit()<<4|s.hexDigit())
		dst = s.hexPairs(dst, limit-(len(dst)-start))
	}
	s.advance()
	return dst
}

// hexPairs appends at most most bytes whose digits the window holds.
func (s *scanner) hexPairs(dst []byte, most int) []byte {
	b, n := s.window[s.i:], 0
	for ; n < most && len(b) >= 2; n, b = n+1, b[2:] {
		high, low := hexDigits[b[0]], hexDigits[b[1]]
		if high == noDigit || low == noDigit {
			break
		}
		dst = append(dst, high<<4|low)
	}
	if n > 0 {
		s.skip(2 * n)
	}
	return dst
}

// hash reads a string of 16 hexadecimal digits.
func (s *scanner) hash(what string) (v uint64) {
	s.token('"', what+", a string of 16 hexadecimal digits,")
	for range 16 {
		v = v<<4 | uint64(s.hexDigit())
	}
	s.token('"', "the end of "+what)
	return v
}

// number reads a number as it is written, into s.text.
func (s *scanner) number(what string) {
	s.text = s.text[:0]
	if s.peek() == '-' {
		s.take()
	}
	if s.next == '0' {
		s.take()
	} else {
		s.digits(what)
	}
	if s.next == '.' {
		s.take()
		s.digits("a digit")
	}
	if s.next == 'e' || s.next == 'E' {
		s.take()
		if s.next == '+' || s.next == '-' {
			s.take()
		}
		s.digits("a digit")
	}
}

func (s *scanner) take() {
	s.text = append(s.text, byte(s.next))
	s.advance()
}

func (s *scanner) digits(what string) {
	if s.next < '0' || s.next > '9' {
		s.unexpected(what)
	}
	for '0' <= s.next && s.next <= '9' {
		if len(s.text) == maxNumber {
			s.fail(s.at, ErrLimit, "a number has more than %d digits", maxNumber)
			return
		}
		s.take()
	}
}

// uint reads a whole number from 0 to most: a number up to 2^53, and from there on, or
// always, a string of its digits.
func (s *scanner) uint(most uint64, what string) uint64 {
	quoted := s.peek() == '"'
	at := s.at
	if quoted {
		const digits = 20
		s.string(digits, what)
	} else {
		s.number(what)
	}
	if s.err != nil {
		return 0
	}
	v, err := strconv.ParseUint(string(s.text), 10, 64)
	switch {
	case err != nil || v > most || len(s.text) > 1 && s.text[0] == '0':
		s.fail(at, ErrMalformed, "%s must be a whole number from 0 to %d, not %s", what, most, s.shown())
	case v > maxWhole && !quoted:
		s.fail(at, ErrMalformed, `%s is above 2^53, where JSON's numbers lose digits; write it as a string, "%d"`, what, v)
	default:
		return v
	}
	return 0
}

// shown returns the text that was read last, quoted, and cut if it is long.
func (s *scanner) shown() string {
	const longest = 24
	if len(s.text) > longest {
		return fmt.Sprintf("%q…", s.text[:longest])
	}
	return fmt.Sprintf("%q", s.text)
}

func (s *scanner) int32(what string) int32 {
	at := s.here()
	s.number(what)
	if s.err != nil {
		return 0
	}
	v, err := strconv.ParseInt(string(s.text), 10, 32)
	if err != nil || string(s.text) == "-0" {
		s.fail(at, ErrMalformed, "%s must be a whole number from %d to %d, not %s", what, math.MinInt32, math.MaxInt32, s.shown())
	}
	return int32(v)
}

// A float is a number that was read before its size is known: its bits as a float32 and as
// a float64, where it can be one.
type float struct {
	at                 spot
	single             uint32
	double             uint64
	isSingle, isDouble bool
}

// float reads a number, or a string of 0x and the 8 or 16 hexadecimal digits of its bits.
func (s *scanner) float(what string) (f float) {
	quoted := s.peek() == '"'
	f.at = s.at
	if !quoted {
		s.number(what)
		single, err := strconv.ParseFloat(string(s.text), 32)
		f.single, f.isSingle = math.Float32bits(float32(single)), err == nil
		double, err := strconv.ParseFloat(string(s.text), 64)
		f.double, f.isDouble = math.Float64bits(double), err == nil
		return f
	}
	const digits = 18
	b := s.string(digits, what)
	if len(b) < 2 || string(b[:2]) != "0x" {
		s.fail(f.at, ErrMalformed, "%s must be a number, or 0x and the hexadecimal digits of its bits, not %s", what, s.shown())
		return f
	}
	var bits [8]byte
	n, err := hex.Decode(bits[:], b[2:])
	switch {
	case err == nil && n == 4:
		v, _ := strconv.ParseUint(string(b[2:]), 16, 32)
		f.single, f.isSingle = uint32(v), true
	case err == nil && n == 8:
		f.double, _ = strconv.ParseUint(string(b[2:]), 16, 64)
		f.isDouble = true
	default:
		s.fail(f.at, ErrMalformed, "%s must be 0x and the bits in hexadecimal, 8 digits for a float32 or 16 for a float64, not %s", what, s.shown())
	}
	return f
}

// single returns f as the bits of a float32.
func (s *scanner) single(f float) uint32 {
	if !f.isSingle {
		s.fail(f.at, ErrMalformed, "the value must be a float32, at most 3.4e38, or 0x and 8 hexadecimal digits of its bits")
	}
	return f.single
}

// double returns f as the bits of a float64.
func (s *scanner) double(f float) uint64 {
	if !f.isDouble {
		s.fail(f.at, ErrMalformed, "the value must be a float64, at most 1.8e308, or 0x and 16 hexadecimal digits of its bits")
	}
	return f.double
}
