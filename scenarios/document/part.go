package document

import (
	"strings"
	"unicode/utf8"
)

// ErrorIn makes an error about some bytes of a scalar's text, which it underlines: in the line where they stand, also of a text of several lines.
func (n *Node) ErrorIn(at, end int, format string, args ...any) *Error {
	e := n.Errorf(format, args...)
	from, ok := n.find(at)
	if !ok {
		return e
	}
	text := n.Source.Text
	start := strings.LastIndexByte(text[:from], '\n') + 1
	e.Line, e.Col = 1+strings.Count(text[:from], "\n"), 1+utf8.RuneCountInString(text[start:from])
	last, _ := n.find(max(at, end-1))
	width := 1
	if last > from {
		marked, _, _ := strings.Cut(text[from:last+1], "\n")
		width = utf8.RuneCountInString(marked)
	}
	e.Excerpt = n.Source.excerpt(e.Line, e.Col)
	if e.Excerpt != "" {
		const most = 40
		e.Excerpt += strings.Repeat("^", min(width-1, most))
	}
	return e
}

// Followed reports whether a character follows a scalar in its source.
func (n *Node) Followed(by byte) bool {
	p, ok := n.find(len(n.Raw))
	return ok && n.Source.Text[p] == by
}

// find is where a byte of a scalar's text stands in its source. YAML may have folded and moved the lines of the text: but for blanks, the characters are the
// same, in the same order. Not ok if they are not, as in a text with escapes.
func (n *Node) find(at int) (offset int, ok bool) {
	text := n.Source.Text
	p := 0
	for line := int32(1); line < n.Line; line++ {
		next := strings.IndexByte(text[p:], '\n')
		if next < 0 {
			return 0, false
		}
		p += next + 1
	}
	for col := int32(1); col < n.Col && p < len(text); col++ {
		_, size := utf8.DecodeRuneInString(text[p:])
		p += size
	}
	if p < len(text) && n.Quoted {
		switch text[p] {
		case '|', '>':
			p += strings.IndexByte(text[p:]+"\n", '\n')
		case '"', '\'':
			p++
		}
	}
	for i := 0; ; i++ {
		for p < len(text) && blank(text[p]) {
			p++
		}
		for i < len(n.Raw) && blank(n.Raw[i]) {
			i++
		}
		switch {
		case p >= len(text) || i >= len(n.Raw):
			return p, i >= at && p < len(text)
		case i >= at:
			return p, text[p] == n.Raw[i]
		case text[p] != n.Raw[i]:
			return 0, false
		}
		p++
	}
}

func blank(c byte) bool { return c == ' ' || c == '\t' || c == '\n' || c == '\r' }
