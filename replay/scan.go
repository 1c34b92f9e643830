package replay

import (
	"cmp"
	"fmt"
	"io"
	"slices"
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

// A scanner reads JSON values one after another. It is strict: a value must be of the kind
// that the caller wants, keys must be known and unique, text must be UTF-8. It
// keeps its first error and yields zeros from then on. Its memory is bounded by the
// limits that its callers give, and grows with the bytes that arrive.
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
	if utf8.RuneStart(c) || s.at.column == 0 { // what begins a line has a column, also in text that is not UTF-8
		s.at.column++
	}
}

// skip advances by n bytes of the window, each of which must be a whole character.
func (s *scanner) skip(n int) {
	s.i += n - 1
	s.at.column += int64(n) - 1
	s.advance()
}

// fill reads another window and reports whether it holds anything.
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

// peek skips spaces within the line and returns the next byte.
func (s *scanner) peek() int {
	for s.next == ' ' || s.next == '\t' || s.next == '\r' {
		s.advance()
	}
	return s.next
}

// here skips spaces within the line and returns the place of the next byte.
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

// object reads an object that may have these keys, at most 32. It calls value for each key
// that is present, to read its value, and returns the keys present as a set of bits.
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
			s.fail(at, ErrMalformed, "the key %q occurs twice", keys[k])
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
