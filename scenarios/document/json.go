package document

import (
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"
)

// ParseJSON reads one JSON value strictly: no key twice, no deep nesting, nothing
// after it. Numbers stay text. Name stands in errors.
func ParseJSON(name string, text []byte) (*Node, error) {
	if !utf8.Valid(text) {
		return nil, &Error{File: name, Msg: "is not UTF-8 text"}
	}
	p := jsonReader{src: &Source{Name: name, Text: string(text)}}
	n, err := p.value(0)
	if err != nil {
		return nil, err
	}
	p.space()
	if p.pos < len(p.src.Text) {
		return nil, p.here().Errorf("something follows the document")
	}
	return n, nil
}

type jsonReader struct {
	src   *Source
	pos   int
	nodes int
}

func (p *jsonReader) here() *Node { return &Node{Source: p.src, Line: 1, Col: int32(p.pos + 1)} }

func (p *jsonReader) space() {
	for p.pos < len(p.src.Text) && strings.IndexByte(" \t\r\n", p.src.Text[p.pos]) >= 0 {
		p.pos++
	}
}

// peek returns the next byte that is no space; 0 at the end.
func (p *jsonReader) peek() byte {
	p.space()
	if p.pos == len(p.src.Text) {
		return 0
	}
	return p.src.Text[p.pos]
}

func (p *jsonReader) value(depth int) (*Node, error) {
	c := p.peek()
	n := p.here()
	if p.nodes++; p.nodes > MaxNodes {
		return nil, n.Errorf("has more than %d values", MaxNodes)
	}
	if depth > MaxDepth {
		return nil, n.Errorf("is nested more than %d deep", MaxDepth)
	}
	switch c {
	case '{', '[':
		return n, p.items(n, depth)
	case '"':
		n.Quoted = true
		return n, p.text(n)
	}
	start := p.pos
	for p.pos < len(p.src.Text) && strings.IndexByte(" \t\r\n,]}:", p.src.Text[p.pos]) < 0 {
		p.pos++
	}
	n.Raw = p.src.Text[start:p.pos]
	_, short := n.short()
	if !(short && (n.Raw == "0" || n.Raw[0] != '0' && n.Raw[0] != '-')) && !json.Valid([]byte(n.Raw)) {
		return nil, n.Errorf("%s is no JSON value", n.What())
	}
	return n, nil
}

// items reads what stands between brackets, separated by commas, into a list or a mapping.
func (p *jsonReader) items(n *Node, depth int) error {
	end := byte(']')
	if n.Kind = List; p.src.Text[p.pos] == '{' {
		n.Kind, end = Mapping, '}'
	}
	p.pos++
	if p.peek() == end {
		p.pos++
		return nil
	}
	for {
		if err := p.item(n, depth); err != nil {
			return err
		}
		c := p.peek()
		if c != ',' && c != end {
			return p.here().Errorf("a comma or %q is missing", string(end))
		}
		p.pos++
		if c == end {
			return nil
		}
	}
}

// item reads one item of a list, or one member of a mapping.
func (p *jsonReader) item(n *Node, depth int) error {
	if n.Kind == Mapping {
		return p.member(n, depth)
	}
	item, err := p.value(depth + 1)
	n.Kids = append(n.Kids, item)
	return err
}

func (p *jsonReader) member(m *Node, depth int) error {
	if p.peek() != '"' {
		return p.here().Errorf("a key in quotes is missing")
	}
	key := p.here()
	key.Quoted = true
	if err := p.text(key); err != nil {
		return err
	}
	if err := m.Admit(key); err != nil {
		return err
	}
	if p.peek() != ':' {
		return p.here().Errorf("a colon is missing")
	}
	p.pos++
	v, err := p.value(depth + 1)
	m.Kids = append(m.Kids, key, v)
	return err
}

// text reads a string in quotes.
func (p *jsonReader) text(n *Node) error {
	rest := p.src.Text[p.pos:]
	plain := true // it stands for itself
	for i := 1; i < len(rest); i++ {
		switch c := rest[i]; {
		case c == '\\':
			plain = false
			i++
		case c < 0x20:
			plain = false
		case c == '"' && plain:
			n.Raw = rest[1:i]
			p.pos += i + 1
			return nil
		case c == '"':
			if err := json.Unmarshal([]byte(rest[:i+1]), &n.Raw); err != nil {
				return n.Errorf("a text that is no JSON: %v", err)
			}
			p.pos += i + 1
			return nil
		}
	}
	return n.Errorf("a text that does not end")
}

const hexDigits = "0123456789abcdef"

// AppendText appends s as a JSON string: quotes, backslashes and control
// characters escaped, the last as \u00xx; all else as it is.
func AppendText(b []byte, s string) []byte {
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
