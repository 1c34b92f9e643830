package rules

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// A tokenKind is what a token is.
type tokenKind uint8

const (
	tokenEnd tokenKind = iota
	tokenNumber
	tokenName
	tokenQuoted // a name between backquotes
	tokenWord   // a keyword
	tokenSign   // an operator, or a bracket
)

// A token is one of the language.
type token struct {
	kind    tokenKind
	text    string // a name without its backquotes
	value   float64
	at, end int
}

// is reports whether it is an operator, a bracket or a keyword.
func (t *token) is(text string) bool {
	return (t.kind == tokenSign || t.kind == tokenWord) && t.text == text
}

// isWord reports whether a name is a keyword.
func isWord(s string) bool {
	switch s {
	case "if", "then", "else", "or", "and", "not", "where", "true", "false":
		return true
	}
	return false
}

// signs are the operators and brackets, longer ones first.
var signs = []string{"==", "!=", "<=", ">=", "<", ">", "+", "-", "*", "/", "(", ")", "[", "]", ",", "."}

// others are signs that other languages have, and what to write here.
var others = []struct{ sign, instead string }{
	{"&&", "write and"}, {"||", "write or"}, {"**", "write pow(a, b)"}, {"^", "write pow(a, b)"}, {"%", "write mod(a, b)"},
	{"=", "write == to compare"}, {"!", "write not"}, {"&", "write and"}, {"|", "write or"}, {"?", "write if a then b else c"},
	{"÷", "write /"}, {"×", "write *"}, {"−", "write -"}, {"≤", "write <="}, {"≥", "write >="}, {"≠", "write !="},
	{"'", "a name has no quotes; write it as it is, or between backquotes"}, {`"`, "a name has no quotes; write it as it is, or between backquotes"},
}

func letter(c byte) bool { return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_' }
func digit(c byte) bool  { return c >= '0' && c <= '9' }

// operator reports whether a byte ends an operator.
func operator(c byte) bool { return strings.IndexByte("+-*/<>=!", c) >= 0 }

// A scanner reads tokens.
type scanner struct {
	text string
	at   int
}

// next reads a token. Blanks and comments separate tokens.
func (s *scanner) next() (t token, err error) {
	s.skip()
	begin := s.at
	rest := s.text[begin:]
	if rest == "" {
		return token{at: begin, end: begin}, nil
	}
	switch c := rest[0]; {
	case digit(c), c == '.' && len(rest) > 1 && digit(rest[1]):
		return s.number()
	case letter(c):
		n := 1
		for n < len(rest) && (letter(rest[n]) || digit(rest[n])) {
			n++
		}
		s.at += n
		t = token{kind: tokenName, text: rest[:n], at: begin, end: s.at}
		if isWord(t.text) {
			t.kind = tokenWord
		}
		return t, nil
	case c == '`':
		n := strings.IndexAny(rest[1:], "`\n")
		if n < 0 || rest[1+n] == '\n' {
			return t, s.wrong(begin, begin+1, "there is no second backquote behind it")
		}
		if n == 0 {
			return t, s.wrong(begin, begin+2, "there is no name between the backquotes")
		}
		s.at += n + 2
		return token{kind: tokenQuoted, text: rest[1 : 1+n], at: begin, end: s.at}, nil
	}
	for _, o := range others {
		if strings.HasPrefix(rest, o.sign) && !strings.HasPrefix(rest, "==") && !strings.HasPrefix(rest, "!=") {
			return t, s.wrong(begin, begin+len(o.sign), "%s is no sign of this language; %s", o.sign, o.instead)
		}
	}
	for _, sign := range signs {
		if strings.HasPrefix(rest, sign) {
			s.at += len(sign)
			return token{kind: tokenSign, text: sign, at: begin, end: s.at}, nil
		}
	}
	r := []rune(rest)[0]
	return t, s.wrong(begin, begin+len(string(r)), "%q is no sign of this language", r)
}

// skip passes over what separates tokens.
func (s *scanner) skip() {
	for s.at < len(s.text) {
		switch s.text[s.at] {
		case ' ', '\t', '\n', '\r':
			s.at++
		case '#':
			n := strings.IndexByte(s.text[s.at:], '\n')
			if n < 0 {
				n = len(s.text) - s.at
			}
			s.at += n
		default:
			return
		}
	}
}

// number reads a number, which is the nearest float64.
func (s *scanner) number() (token, error) {
	begin := s.at
	digits := func() int {
		from := s.at
		for s.at < len(s.text) && digit(s.text[s.at]) {
			s.at++
		}
		return s.at - from
	}
	whole := digits()
	if s.at < len(s.text) && s.text[s.at] == '.' {
		s.at++
		part := digits()
		switch written := s.text[begin:s.at]; {
		case whole == 0 && begin > 0 && strings.IndexByte(" \t\r\n(,[", s.text[begin-1]) < 0 && !operator(s.text[begin-1]):
			return token{}, s.wrong(begin, s.at, "a component is written [%s]", written[1:])
		case whole == 0:
			return token{}, s.wrong(begin, s.at, "write 0%s", written)
		case part == 0:
			return token{}, s.wrong(begin, s.at, "write %s0", written)
		}
	}
	if s.at < len(s.text) && (s.text[s.at] == 'e' || s.text[s.at] == 'E') {
		s.at++
		if s.at < len(s.text) && (s.text[s.at] == '+' || s.text[s.at] == '-') {
			s.at++
		}
		if digits() == 0 {
			return token{}, s.wrong(begin, s.at, "there are no digits behind the e")
		}
	}
	if s.at < len(s.text) && letter(s.text[s.at]) {
		return token{}, s.wrong(begin, s.at+1, "a name cannot stand right behind a number; write 2 * x for 2x")
	}
	text := s.text[begin:s.at]
	v, err := strconv.ParseFloat(text, 64)
	if err != nil || math.IsInf(float64(float32(v)), 0) {
		return token{}, s.wrong(begin, s.at, "%.40s is too large for a float32", text)
	}
	return token{kind: tokenNumber, text: text, value: v, at: begin, end: s.at}, nil
}

// wrong is an error about some bytes of the text.
func (s *scanner) wrong(at, end int, format string, args ...any) error {
	return &Error{Formula: s.text, At: at, End: min(end, len(s.text)), Reason: fmt.Sprintf(format, args...)}
}
