package replay

import (
	"cmp"
	"encoding/hex"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// A LineError locates what is wrong with a recording in JSON lines.
type LineError struct {
	Line, Column int64 // from 1; columns count characters
	Kind         Kind
	Detail       string // for people
}

// Error implements error.
func (e *LineError) Error() string {
	return fmt.Sprintf("replay: %s at line %d, column %d: %s", e.Kind, e.Line, e.Column, e.Detail)
}

// Unwrap returns the kind.
func (e *LineError) Unwrap() error { return e.Kind }

// A scanner reads values of JSON one after the other. It is strict: a value must be
// of the kind that is asked for, keys must be known and unique, text must be UTF-8. It
// keeps its first error and yields zeros from then on. Its memory is bounded by the
// limits that its callers name, and grows with the bytes that arrive.
type scanner struct {
	r      io.Reader
	window []byte // read ahead; window[i] is the next byte
	i      int
	next   int  // the next byte, or end
	at     spot // of the next byte
	err    error
	text   []byte // of the string or number that was read last
}

// A spot is a place in text, counted from 1.
type spot struct{ line, column int64 }

const (
	end       = -1
	maxKey    = 64   // bytes
	maxNumber = 2048 // bytes; enough to write out any float64 in full
	maxWhole  = 1 << 53
	maxEmpty  = 100 // reads in a row that yield nothing, before giving up
)

func newScanner(r io.Reader) *scanner {
	s := &scanner{r: r, window: make([]byte, 0, flushSize), i: -1, at: spot{line: 1}}
	s.advance()
	return s
}

// advance goes on to the next byte.
func (s *scanner) advance() {
	if s.next == end {
		return
	}
	if s.next == '\n' {
		s.at = spot{line: s.at.line + 1}
	}
	if s.i++; s.i == len(s.window) && !s.fill() {
		s.next = end
		s.at.column++
		return
	}
	c := s.window[s.i]
	s.next = int(c)
	if utf8.RuneStart(c) {
		s.at.column++
	}
}

// skip goes on by n bytes of the window, all of them characters of their own.
func (s *scanner) skip(n int) {
	s.i += n - 1
	s.at.column += int64(n) - 1
	s.advance()
}

// fill reads another window.
func (s *scanner) fill() bool {
	for range maxEmpty {
		n, err := s.r.Read(s.window[:cap(s.window)])
		if s.window, s.i = s.window[:n], 0; n > 0 {
			return true // an error comes again with the next read
		}
		if err == io.EOF {
			return false
		}
		if err != nil {
			s.err = cmp.Or(s.err, fmt.Errorf("replay: reading line %d: %w", s.at.line, err))
			return false
		}
	}
	s.err = cmp.Or(s.err, fmt.Errorf("replay: reading line %d: %w", s.at.line, io.ErrNoProgress))
	return false
}

// fail records an error at a position, unless there is one already, and ends the input.
func (s *scanner) fail(at spot, kind Kind, format string, args ...any) {
	if s.err == nil {
		s.err = &LineError{at.line, at.column, kind, fmt.Sprintf(format, args...)}
	}
	s.next = end
}

// unexpected fails at the next byte, where something else belongs.
func (s *scanner) unexpected(what string) {
	switch c := s.next; {
	case c == end:
		s.fail(s.at, ErrTruncated, "the input ends where %s belongs", what)
	case c == '\n':
		s.fail(s.at, ErrMalformed, "the line ends where %s belongs; an object is one line", what)
	case c < utf8.RuneSelf:
		s.fail(s.at, ErrMalformed, "%q stands where %s belongs", rune(c), what)
	default:
		s.fail(s.at, ErrMalformed, "other text stands where %s belongs", what)
	}
}

// peek returns the next byte that is no space of the line.
func (s *scanner) peek() int {
	for s.next == ' ' || s.next == '\t' || s.next == '\r' {
		s.advance()
	}
	return s.next
}

// here is the place of the next byte that is no space of the line.
func (s *scanner) here() spot {
	s.peek()
	return s.at
}

// token takes one byte, after spaces.
func (s *scanner) token(c byte, what string) {
	if s.peek() != int(c) {
		s.unexpected(what)
		return
	}
	s.advance()
}

// more goes to the next line that is not empty and reports whether there is one.
func (s *scanner) more() bool {
	for s.peek() == '\n' {
		s.advance()
	}
	return s.next != end
}

// endLine takes the end of a line, or of the input.
func (s *scanner) endLine() {
	if c := s.peek(); c != '\n' && c != end {
		s.unexpected("the end of the line")
	}
	s.advance()
}

// object reads an object that may have these keys, at most 32. It calls value for each
// that is there, to read its value, and returns which there were as a set of bits.
func (s *scanner) object(what string, keys []string, value func(key int)) (seen uint32) {
	s.token('{', what)
	if s.peek() == '}' {
		s.advance()
		return 0
	}
	for s.err == nil {
		at := s.here()
		k := s.key(keys)
		if seen>>k&1 != 0 {
			s.fail(at, ErrMalformed, "the key %q is there twice", keys[k])
		}
		seen |= 1 << k
		s.token(':', "a colon")
		if s.err != nil {
			break
		}
		value(k)
		if s.peek() == '}' {
			s.advance()
			break
		}
		s.token(',', "a comma or a brace")
	}
	return seen
}

// key reads a key and returns its index.
func (s *scanner) key(keys []string) int {
	at := s.at
	b := s.string(maxKey, "a key")
	for i, k := range keys {
		if string(b) == k {
			return i
		}
	}
	hint := didYouMean(string(b), keys)
	if keys[0] == headerKeys[0] && slices.Contains(frameKeys, string(b)) {
		hint = "; the first line is the header"
	}
	s.fail(at, ErrMalformed, "unknown key %q%s", b, hint)
	return 0
}

// array calls element for every element of an array, to read it.
func (s *scanner) array(what string, element func()) {
	s.token('[', what)
	if s.peek() == ']' {
		s.advance()
		return
	}
	for s.err == nil {
		element()
		if s.peek() == ']' {
			s.advance()
			return
		}
		s.token(',', "a comma or a bracket")
	}
}

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

// plain is how many bytes b begins with, at most, that stand for themselves in a string.
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
		s.fail(at, ErrMalformed, "%s is %s; it is a whole number from 0 to %d", what, s.shown(), most)
	case v > maxWhole && !quoted:
		s.fail(at, ErrMalformed, `%s is above 2^53, where JSON's numbers lose digits; write it as a string, "%d"`, what, v)
	default:
		return v
	}
	return 0
}

// shown is what was read last, cut where it is long.
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
		s.fail(at, ErrMalformed, "%s is %s; it is a whole number from %d to %d", what, s.shown(), math.MinInt32, math.MaxInt32)
	}
	return int32(v)
}

// A float is a number that was read before it is known whether it is a float32 or a
// float64: its bits as either, where it can be one.
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
		s.fail(f.at, ErrMalformed, "%s is %s; it is a number, or 0x and the hexadecimal digits of its bits", what, s.shown())
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
		s.fail(f.at, ErrMalformed, "%s is %s; bits are 0x and 8 hexadecimal digits of a float32, 16 of a float64", what, s.shown())
	}
	return f
}

// single is f as a float32's bits.
func (s *scanner) single(f float) uint32 {
	if !f.isSingle {
		s.fail(f.at, ErrMalformed, "the value is no float32, whose bits are 8 hexadecimal digits and which ends at 3.4e38")
	}
	return f.single
}

// double is f as a float64's bits.
func (s *scanner) double(f float) uint64 {
	if !f.isDouble {
		s.fail(f.at, ErrMalformed, "the value is no float64, whose bits are 16 hexadecimal digits and which ends at 1.8e308")
	}
	return f.double
}
