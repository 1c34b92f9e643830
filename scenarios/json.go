package scenarios

import (
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"
)

// parseJSON reads one JSON value strictly: no key twice, no deep nesting, nothing
// after it. Numbers stay text.
func parseJSON(src *source) (*node, error) {
	if !utf8.ValidString(src.text) {
		return nil, &Error{File: src.name, Msg: "is not UTF-8 text"}
	}
	p := jsonReader{src: src}
	n, err := p.value(0)
	if err != nil {
		return nil, err
	}
	p.space()
	if p.pos < len(src.text) {
		return nil, p.here().errorf("something follows the document")
	}
	return n, nil
}

type jsonReader struct {
	src   *source
	pos   int
	nodes int
}

func (p *jsonReader) here() *node { return &node{src: p.src, line: 1, col: int32(p.pos + 1)} }

func (p *jsonReader) space() {
	for p.pos < len(p.src.text) && strings.IndexByte(" \t\r\n", p.src.text[p.pos]) >= 0 {
		p.pos++
	}
}

// peek is the next byte that is no space; 0 at the end.
func (p *jsonReader) peek() byte {
	p.space()
	if p.pos == len(p.src.text) {
		return 0
	}
	return p.src.text[p.pos]
}

func (p *jsonReader) value(depth int) (*node, error) {
	c := p.peek()
	n := p.here()
	if p.nodes++; p.nodes > maxNodes {
		return nil, n.errorf("has more than %d values", maxNodes)
	}
	if depth > maxDepth {
		return nil, n.errorf("is nested more than %d deep", maxDepth)
	}
	switch c {
	case '{':
		n.kind = mappingNode
		return n, p.items('}', func() error { return p.member(n, depth) })
	case '[':
		n.kind = sequenceNode
		return n, p.items(']', func() error {
			item, err := p.value(depth + 1)
			n.kids = append(n.kids, item)
			return err
		})
	case '"':
		n.quoted = true
		return n, p.text(n)
	}
	start := p.pos
	for p.pos < len(p.src.text) && strings.IndexByte(" \t\r\n,]}:", p.src.text[p.pos]) < 0 {
		p.pos++
	}
	n.raw = p.src.text[start:p.pos]
	if !json.Valid([]byte(n.raw)) {
		return nil, n.errorf("%s is no JSON value", n.what())
	}
	return n, nil
}

// items reads what stands between brackets, separated by commas.
func (p *jsonReader) items(end byte, item func() error) error {
	p.pos++
	if p.peek() == end {
		p.pos++
		return nil
	}
	for {
		if err := item(); err != nil {
			return err
		}
		c := p.peek()
		if c != ',' && c != end {
			return p.here().errorf("a comma or %q is missing", string(end))
		}
		p.pos++
		if c == end {
			return nil
		}
	}
}

func (p *jsonReader) member(m *node, depth int) error {
	if p.peek() != '"' {
		return p.here().errorf("a key in quotes is missing")
	}
	key := p.here()
	key.quoted = true
	if err := p.text(key); err != nil {
		return err
	}
	if err := m.admit(key); err != nil {
		return err
	}
	if p.peek() != ':' {
		return p.here().errorf("a colon is missing")
	}
	p.pos++
	v, err := p.value(depth + 1)
	m.kids = append(m.kids, key, v)
	return err
}

// text reads a string in quotes.
func (p *jsonReader) text(n *node) error {
	rest := p.src.text[p.pos:]
	for i := 1; i < len(rest); i++ {
		switch rest[i] {
		case '\\':
			i++
		case '"':
			if err := json.Unmarshal([]byte(rest[:i+1]), &n.raw); err != nil {
				return n.errorf("a text that is no JSON: %v", err)
			}
			p.pos += i + 1
			return nil
		}
	}
	return n.errorf("a text that does not end")
}

const hexDigits = "0123456789abcdef"

// appendText appends s as a JSON string: quotes, backslashes and control
// characters escaped, the last as \u00xx; all else as it is.
func appendText(b []byte, s string) []byte {
	b = append(b, '"')
	for i := range len(s) {
		switch c := s[i]; {
		case c == '"' || c == '\\':
			b = append(b, '\\', c)
		case c < 0x20:
			b = fmt.Appendf(b, "\\u00%c%c", hexDigits[c>>4], hexDigits[c&15])
		default:
			b = append(b, c)
		}
	}
	return append(b, '"')
}
