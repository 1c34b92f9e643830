package scenarios

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/lexer"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"
)

// parseYAML reads one YAML document. Anchors, aliases, merge keys, tags, explicit
// keys and directives are refused: a scenario says everything where it stands.
func parseYAML(src *source) (n *node, err error) {
	switch {
	case len(src.text) > maxSource:
		return nil, &Error{File: src.name, Msg: fmt.Sprintf("has %d bytes; at most %d are allowed", len(src.text), maxSource)}
	case !utf8.ValidString(src.text):
		return nil, &Error{File: src.name, Msg: "is not UTF-8 text"}
	case marks(src.text) > 2*maxNodes:
		return nil, &Error{File: src.name, Msg: fmt.Sprintf("has more than %d values", maxNodes)}
	}
	text := strings.TrimPrefix(strings.ReplaceAll(src.text, "\r\n", "\n"), "\ufeff")
	defer func() {
		if v := recover(); v != nil {
			n, err = nil, &Error{File: src.name, Msg: fmt.Sprintf("the YAML parser fails: %v", v)}
		}
	}()
	y := &yamlReader{src: src, lines: strings.Split(text, "\n")}
	tokens := lexer.Tokenize(text)
	if err := y.checkTokens(tokens); err != nil {
		return nil, err
	}
	file, err := parser.Parse(tokens, 0)
	if err != nil {
		return nil, y.syntaxError(err)
	}
	return y.document(file)
}

// marks counts the characters that divide values from each other, before anything
// is allocated for them.
func marks(text string) (n int) {
	for i := range len(text) {
		switch text[i] {
		case '[', ']', '{', '}', ',', '&', '*', '!', '\n', '"', '\'':
			n++
		case ' ':
			if i > 0 && (text[i-1] == '-' || text[i-1] == ':' || text[i-1] == '?') {
				n++
			}
		}
	}
	return n
}

type yamlReader struct {
	src   *source
	lines []string
	line  int    // of runes, from 1
	runes []rune // of the line looked at last: many values may stand on one
}

func (y *yamlReader) at(t *token.Token) *node {
	n := &node{src: y.src}
	if t != nil && t.Position != nil {
		n.line, n.col = int32(t.Position.Line), int32(t.Position.Column)
	}
	return n
}

func (y *yamlReader) syntaxError(err error) error {
	bad, ok := errors.AsType[yaml.Error](err)
	if !ok {
		return &Error{File: y.src.name, Msg: err.Error(), Err: err}
	}
	msg := bad.GetMessage()
	if strings.Contains(msg, "tab character") || strings.Contains(msg, "'\t'") {
		msg = "a tab; YAML indents with spaces"
	}
	return y.at(bad.GetToken()).errorf("%s", msg).because(err)
}

// checkTokens refuses what the parser would recurse on too deeply, and too much of anything.
func (y *yamlReader) checkTokens(tokens token.Tokens) error {
	if len(tokens) > 4*maxNodes {
		return &Error{File: y.src.name, Msg: fmt.Sprintf("has more than %d values", maxNodes)}
	}
	flow := 0
	var columns []int // of the open block collections
	for i, t := range tokens {
		column := 0
		switch t.Type {
		case token.SequenceStartType, token.MappingStartType:
			flow++
		case token.SequenceEndType, token.MappingEndType:
			flow--
		case token.SequenceEntryType:
			column = t.Position.Column
		case token.MappingValueType:
			if i > 0 {
				column = tokens[i-1].Position.Column
			}
		case token.MappingKeyType:
			return y.at(t).errorf("explicit keys (\"?\") are not allowed")
		case token.AnchorType, token.AliasType, token.MergeKeyType:
			return y.at(t).errorf("anchors, aliases and merge keys are not allowed: write the value out")
		case token.TagType:
			return y.at(t).errorf("tags (%q) are not allowed", t.Value)
		case token.DirectiveType:
			return y.at(t).errorf("directives are not allowed")
		}
		if column > 0 && flow == 0 {
			for len(columns) > 0 && columns[len(columns)-1] > column {
				columns = columns[:len(columns)-1]
			}
			if len(columns) == 0 || columns[len(columns)-1] < column {
				columns = append(columns, column)
			}
		}
		if flow+len(columns) > maxDepth {
			return y.at(t).errorf("is nested more than %d deep", maxDepth)
		}
	}
	return nil
}

func (y *yamlReader) document(file *ast.File) (*node, error) {
	var body ast.Node
	for _, d := range file.Docs {
		switch {
		case d.Body == nil:
		case body != nil:
			second, err := y.node(d.Body)
			if err != nil {
				return nil, err
			}
			return nil, second.errorf("a second document; a scenario is one")
		default:
			body = d.Body
		}
	}
	if body == nil {
		return nil, &Error{File: y.src.name, Msg: "is empty"}
	}
	return y.node(body)
}

func (y *yamlReader) node(n ast.Node) (*node, error) {
	switch n := n.(type) {
	case *ast.MappingNode:
		return y.mapping(y.at(n.GetToken()), n.Values, n.IsFlowStyle)
	case *ast.MappingValueNode:
		return y.mapping(y.at(n.GetToken()), []*ast.MappingValueNode{n}, false)
	case *ast.SequenceNode:
		list := y.at(n.GetToken())
		list.kind = sequenceNode
		for _, v := range n.Values {
			item, err := y.node(v)
			if err != nil {
				return nil, err
			}
			list.kids = append(list.kids, item)
		}
		return list, nil
	case *ast.LiteralNode:
		s := y.at(n.GetToken())
		s.raw, s.quoted = n.Value.Value, true
		return s, nil
	case *ast.StringNode, *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode, *ast.NullNode, *ast.InfinityNode, *ast.NanNode:
		return y.scalar(n.GetToken()), nil
	}
	return nil, y.at(n.GetToken()).errorf("%s is not allowed in a scenario", strings.ToLower(n.Type().String()))
}

func (y *yamlReader) mapping(m *node, values []*ast.MappingValueNode, flow bool) (*node, error) {
	m.kind = mappingNode
	for _, v := range values {
		key, err := y.node(v.Key)
		if err != nil {
			return nil, err
		}
		if key.kind != scalarNode {
			return nil, key.errorf("a key must be one word")
		}
		if err := m.admit(key); err != nil {
			return nil, err
		}
		value, err := y.node(v.Value)
		if err != nil {
			return nil, err
		}
		m.kids = append(m.kids, key, value)
	}
	if !flow && len(m.kids) > 0 {
		m.line, m.col = m.kids[0].line, m.kids[0].col
	}
	return m, nil
}

func (y *yamlReader) scalar(t *token.Token) *node {
	s := y.at(t)
	s.raw = t.Value
	s.quoted = t.Type == token.SingleQuoteType || t.Type == token.DoubleQuoteType
	if !s.quoted && s.line >= 1 && int(s.line) <= len(y.lines) {
		s.col = y.column(s)
	}
	return s
}

// column corrects the lexer, which gives a wrong column to words followed by spaces.
func (y *yamlReader) column(s *node) int32 {
	if y.line != int(s.line) {
		y.line, y.runes = int(s.line), []rune(y.lines[s.line-1])
	}
	first, _, _ := strings.Cut(s.raw, "\n")
	r, word := y.runes, []rune(first)
	for col := min(int(s.col), len(r)); col >= 1; col-- {
		if len(r)-(col-1) >= len(word) && string(r[col-1:col-1+len(word)]) == first {
			return int32(col)
		}
	}
	return s.col
}
