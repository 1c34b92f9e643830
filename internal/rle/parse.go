package rle

import (
	"fmt"
	"strconv"
	"strings"
)

const mostCells = 1<<31 - 1 // in a row, and rows

// Parse reads a pattern, run-length encoded or as plain text; its content decides. Refuses, if it is not nil, says why a
// state cannot be; "" if it can. An error is an [*Error].
func Parse(text string, refuses func(state uint8) string) (*Pattern, error) {
	p := &Pattern{}
	p.States[0] = 1
	s := scanner{text: text}
	if s.isPlain() {
		s.plain = true
	} else if err := p.header(&s); err != nil {
		return nil, err
	}
	begin := s
	if err := p.measure(&s, refuses); err != nil {
		return nil, err
	}
	b := Builder{Multi: p.States != [4]uint64{p.States[0] & 3}}
	for {
		t, err := begin.next()
		switch {
		case err != nil:
			return nil, err
		case t.what == end:
			p.Runs = string(b.Text())
			return p, nil
		case t.what == rowEnd:
			b.End(t.count)
		default:
			b.Add(t.state, t.count)
		}
	}
}

// measure finds the states and the size of a pattern, whose header has been read.
func (p *Pattern) measure(s *scanner, refuses func(state uint8) string) error {
	var row, col, rows, cols int64
	for {
		t, err := s.next()
		if err != nil {
			return err
		}
		switch t.what {
		case end:
			if !s.bounded {
				p.Rows, p.Cols = int(rows), int(cols)
			}
			return nil
		case rowEnd:
			if row, col = row+t.count, 0; row > mostCells {
				return t.errorf("a pattern has at most %d rows", mostCells)
			}
			continue
		}
		if col += t.count; col > mostCells {
			return t.errorf("a row has at most %d cells", mostCells)
		}
		if t.state == 0 && !s.plain {
			continue
		}
		rows, cols = max(rows, row+1), max(cols, col)
		switch {
		case t.state == 0:
		case s.bounded && (row >= int64(p.Rows) || col > int64(p.Cols)):
			return t.errorf("a live cell in row %d, column %d (from 0) lies outside of x = %d, y = %d", row, max(col-1, 0), p.Cols, p.Rows)
		case !p.Has(t.state) && refuses != nil:
			if why := refuses(t.state); why != "" {
				return t.errorf("state %d %s", t.state, why)
			}
		}
		p.States[t.state/64] |= 1 << (t.state % 64)
	}
}

// header reads the line that begins with x, if there is one.
func (p *Pattern) header(s *scanner) error {
	s.skipLines("#")
	t := token{line: s.line + 1, col: 1}
	if !s.atHeader() {
		return nil
	}
	line, _, _ := strings.Cut(s.rest(), "\n")
	s.skipLine()
	fields := strings.SplitN(line, ",", 3)
	for i, f := range fields {
		key, value, ok := strings.Cut(f, "=")
		key, value = strings.ToLower(strings.TrimSpace(key)), strings.TrimSpace(value)
		if !ok || key != [...]string{"x", "y", "rule"}[i] {
			return t.errorf("the header must look like x = 3, y = 3, rule = B3/S23")
		}
		if i == 2 {
			p.Rule = value
			break
		}
		n, err := strconv.ParseUint(value, 10, 31)
		if err != nil {
			return t.errorf("%s must be 0 to %d, not %s", key, mostCells, strconv.Quote(value[:min(len(value), 24)]))
		}
		if i == 0 {
			p.Cols = int(n)
		} else {
			p.Rows = int(n)
		}
	}
	if len(fields) < 2 {
		return t.errorf("the header must look like x = 3, y = 3, rule = B3/S23")
	}
	s.bounded = true
	return nil
}

// A token is some cells of a state, or the end of rows, or the end of all.
type token struct {
	what      uint8
	state     uint8
	count     int64
	line, col int
}

const (
	cells uint8 = iota
	rowEnd
	end
)

func (t *token) errorf(format string, args ...any) error {
	return &Error{t.line, t.col, fmt.Sprintf(format, args...)}
}

// A scanner goes through a text.
type scanner struct {
	text    string
	at      int
	line    int // from 0
	begin   int // of the line
	plain   bool
	bounded bool // a header has said how large the pattern is
	passed  bool // plain: a row has been begun
}

func (s *scanner) rest() string { return s.text[s.at:] }

// here returns a token that stands where the scanner is.
func (s *scanner) here() token { return token{line: s.line + 1, col: s.at - s.begin + 1, count: 1} }

// skipLine goes to the next line.
func (s *scanner) skipLine() {
	n := strings.IndexByte(s.rest(), '\n')
	if n < 0 {
		s.at = len(s.text)
		return
	}
	s.at += n + 1
	s.line++
	s.begin = s.at
}

// skipLines skips lines that are blank or begin with a mark.
func (s *scanner) skipLines(mark string) {
	for s.at < len(s.text) {
		line, _, _ := strings.Cut(s.rest(), "\n")
		if !strings.HasPrefix(line, mark) && strings.TrimSpace(line) != "" {
			return
		}
		s.skipLine()
	}
}

// atHeader reports whether the line is a header: x and an equals sign. A state may begin with an x, too.
func (s *scanner) atHeader() bool {
	after, ok := strings.CutPrefix(s.rest(), "x")
	return ok && strings.HasPrefix(strings.TrimLeft(after, " \t"), "=")
}

// isPlain reports whether the text is a plain one: its first line that is neither blank nor a comment of the other form is a
// comment, or has nothing but dots and live cells.
func (s *scanner) isPlain() bool {
	first := *s
	first.skipLines("#")
	line, _, _ := strings.Cut(first.rest(), "\n")
	line = strings.TrimRight(line, " \t\r")
	return line != "" && (line[0] == '!' && len(first.rest()) > len(line) || strings.Trim(line, ".O*") == "")
}

// next returns what comes next.
func (s *scanner) next() (t token, err error) {
	if s.plain {
		return s.nextPlain()
	}
	for s.at < len(s.text) {
		t = s.here()
		c := s.text[s.at]
		switch {
		case c == '\n':
			s.skipLine()
			continue
		case c == ' ' || c == '\t' || c == '\r':
			s.at++
			continue
		case c == '#' && s.at == s.begin:
			s.skipLine()
			continue
		}
		return s.item(t)
	}
	t = s.here()
	t.what = end
	return t, nil
}

// item reads a count and what there is so often.
func (s *scanner) item(t token) (token, error) {
	if d := s.text[s.at]; d >= '0' && d <= '9' {
		for t.count = 0; s.at < len(s.text) && s.text[s.at] >= '0' && s.text[s.at] <= '9'; s.at++ {
			if t.count = t.count*10 + int64(s.text[s.at]-'0'); t.count > mostCells {
				return t, t.errorf("a run has at most %d cells", mostCells)
			}
		}
		for s.at < len(s.text) && strings.IndexByte(" \t\r\n", s.text[s.at]) >= 0 {
			if s.text[s.at] == '\n' {
				s.skipLine()
			} else {
				s.at++
			}
		}
		if t.count == 0 || s.at == len(s.text) || s.text[s.at] == '!' {
			return t, t.errorf("the count %d belongs to nothing", t.count)
		}
	}
	c := s.text[s.at]
	s.at++
	switch {
	case c == '!':
		t.what = end
	case c == '$':
		t.what = rowEnd
	case c == 'b' || c == '.':
	case c == 'o':
		t.state = 1
	case c >= 'A' && c <= 'X':
		t.state = c - 'A' + 1
	case c >= 'p' && c <= 'y' && s.at < len(s.text) && s.text[s.at] >= 'A' && s.text[s.at] <= 'X':
		state := 24*(int(c-'p')+1) + int(s.text[s.at]-'A') + 1
		if s.at++; state > 255 {
			return t, t.errorf("%s is state %d; the last is 255, yO", s.text[s.at-2:s.at], state)
		}
		t.state = uint8(state)
	default:
		return t, t.errorf("%q is not a cell; cells are b and o, or ., A to X and pA to yO", s.rune(s.at-1))
	}
	return t, nil
}

// rune returns the character at a byte.
func (s *scanner) rune(at int) rune {
	for _, r := range s.text[at:] {
		return r
	}
	return 0
}

// nextPlain returns what comes next in a plain text: a row has the length of its line.
func (s *scanner) nextPlain() (t token, err error) {
	for s.at < len(s.text) {
		if s.at == s.begin && !s.passed && (s.text[s.at] == '!' || s.text[s.at] == '#') {
			s.skipLine()
			continue
		}
		t = s.here()
		switch c := s.text[s.at]; c {
		case '\n':
			s.skipLine()
			s.passed = false
			t.what = rowEnd
			return t, nil
		case ' ', '\t', '\r':
			s.at++
		case '.', 'O', '*':
			s.at++
			s.passed = true
			if c != '.' {
				t.state = 1
			}
			return t, nil
		default:
			return t, t.errorf("%q is not a cell; in a plain text cells are . and O", s.rune(s.at))
		}
	}
	t = s.here()
	t.what = end
	return t, nil
}
