package yaml

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/scanner"
	"github.com/goccy/go-yaml/token"

	"github.com/murksim/murksim/scenarios/document"
)

// Document reads one YAML document, which need not be a scenario, as a tree. Name stands in errors.
func Document(name string, text []byte) (*document.Node, error) {
	return parse(&document.Source{Name: name, Text: string(text)})
}

// parse reads one YAML document. Anchors, aliases, merge keys, tags, explicit
// keys and directives are refused: a scenario says everything where it stands.
func parse(src *document.Source) (n *document.Node, err error) {
	if err := checkText(src); err != nil {
		return nil, err
	}
	text := strings.TrimPrefix(strings.ReplaceAll(src.Text, "\r\n", "\n"), "\ufeff")
	defer func() {
		if v := recover(); v != nil {
			n, err = nil, &document.Error{File: src.Name, Msg: fmt.Sprintf("the YAML parser fails: %v", v)}
		}
	}()
	y := &reader{src: src, lines: strings.Split(text, "\n")}
	file, err := y.parse(text)
	if err != nil {
		return nil, y.quote(err)
	}
	return y.document(file)
}

// parse splits and parses a text.
func (y *reader) parse(text string) (*ast.File, error) {
	tokens := tokenize(text)
	if err := y.checkTokens(tokens); err != nil {
		return nil, err
	}
	file, err := parser.Parse(tokens, 0)
	if err != nil {
		return nil, y.syntaxError(err)
	}
	return file, nil
}

// bareText is a line with a key and what may be meant as a text, though it has signs that are YAML's own: a formula, say.
var bareText = regexp.MustCompile(`^((?: |- )*[A-Za-z_][A-Za-z0-9_]*: +)([^"'\[{#].*?) *$`)

// quote adds to the error of a line with a key and a text how to quote the text, if that is all that it takes to parse the line.
func (y *reader) quote(err error) error {
	e, ok := errors.AsType[*document.Error](err)
	if !ok || e.Line < 1 || e.Line > len(y.lines) {
		return err
	}
	line := bareText.FindStringSubmatch(y.lines[e.Line-1])
	if line == nil || e.Col <= len(line[1]) || strings.HasPrefix(line[2], "!!") {
		return err
	}
	quoted := line[1] + "'" + strings.ReplaceAll(line[2], "'", "''") + "'"
	if _, err := y.parse(quoted + "\n"); err == nil {
		e.Hint = "if it is a text, such as a formula, put it in quotes: " + strings.TrimLeft(quoted, " -")
	}
	return e
}

// tokenize splits a text as the library does, but ends with the first token that is wrong.
func tokenize(text string) (tokens token.Tokens) {
	var s scanner.Scanner
	s.Init(text)
	for {
		more, err := s.Scan()
		tokens.Add(more...)
		if err != nil { // io.EOF, or the last token says what is wrong
			return tokens
		}
	}
}

type reader struct {
	src   *document.Source
	lines []string
	line  int    // of runes, from 1
	runes []rune // of the line looked at last: many values may stand on one
}

func (y *reader) at(t *token.Token) *document.Node {
	n := &document.Node{Source: y.src}
	if t != nil && t.Position != nil {
		n.Line, n.Col = int32(t.Position.Line), int32(t.Position.Column)
	}
	return n
}

func (y *reader) syntaxError(err error) error {
	bad, ok := errors.AsType[yaml.Error](err)
	if !ok {
		return &document.Error{File: y.src.Name, Msg: err.Error(), Err: err}
	}
	msg := bad.GetMessage()
	if strings.Contains(msg, "tab character") || strings.Contains(msg, "'\t'") {
		msg = "a tab; YAML indents with spaces"
	}
	return y.at(bad.GetToken()).Errorf("%s", msg).Because(err)
}

// checkTokens refuses what the parser would recurse on too deeply, and too much of anything.
func (y *reader) checkTokens(tokens token.Tokens) error {
	if len(tokens) > 4*document.MaxNodes {
		return &document.Error{File: y.src.Name, Msg: fmt.Sprintf("has more than %d values", document.MaxNodes)}
	}
	flow, deepest := 0, 0
	var columns []int // of the open block collections
	var counts tally
	for i, t := range tokens {
		if t.Type == token.CommentType {
			continue
		}
		if msg := counts.add(t); msg != "" {
			return y.at(t).Errorf("%s", msg)
		}
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
			return y.at(t).Errorf("explicit keys (\"?\") are not allowed")
		case token.AnchorType, token.AliasType, token.MergeKeyType:
			return y.at(t).Errorf("anchors, aliases and merge keys are not allowed: write the value out")
		case token.TagType:
			return y.at(t).Errorf("tags (%q) are not allowed", t.Value)
		case token.DirectiveType:
			return y.at(t).Errorf("directives are not allowed")
		}
		if column > 0 && flow == 0 {
			for len(columns) > 0 && columns[len(columns)-1] > column {
				columns = columns[:len(columns)-1]
			}
			if len(columns) == 0 || columns[len(columns)-1] < column {
				columns = append(columns, column)
			}
		}
		if flow+len(columns) > document.MaxDepth {
			return y.at(t).Errorf("is nested more than %d deep", document.MaxDepth)
		}
		deepest = max(deepest, flow+len(columns))
	}
	if msg := counts.add(nil); msg != "" {
		return &document.Error{File: y.src.Name, Msg: msg}
	}
	if counts.longest > 0 && deepest*counts.all > maxPaths/counts.longest {
		return &document.Error{File: y.src.Name, Msg: fmt.Sprintf(
			"has keys of up to %d bytes, nested up to %d deep: too long for so many values", counts.longest, deepest)}
	}
	return nil
}

func (y *reader) document(file *ast.File) (*document.Node, error) {
	var body ast.Node
	for _, d := range file.Docs {
		switch {
		case d.Body == nil:
		case body != nil:
			second, err := y.node(d.Body)
			if err != nil {
				return nil, err
			}
			return nil, second.Errorf("a second document; a scenario is one")
		default:
			body = d.Body
		}
	}
	if body == nil {
		return nil, &document.Error{File: y.src.Name, Msg: "is empty"}
	}
	return y.node(body)
}

func (y *reader) node(n ast.Node) (*document.Node, error) {
	switch n := n.(type) {
	case *ast.MappingNode:
		return y.mapping(y.at(n.GetToken()), n.Values, n.IsFlowStyle)
	case *ast.MappingValueNode:
		return y.mapping(y.at(n.GetToken()), []*ast.MappingValueNode{n}, false)
	case *ast.SequenceNode:
		list := y.at(n.GetToken())
		list.Kind = document.List
		for _, v := range n.Values {
			item, err := y.node(v)
			if err != nil {
				return nil, err
			}
			list.Kids = append(list.Kids, item)
		}
		return list, nil
	case *ast.LiteralNode:
		s := y.at(n.GetToken())
		s.Raw, s.Quoted = n.Value.Value, true
		return s, nil
	case *ast.StringNode, *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode, *ast.NullNode, *ast.InfinityNode, *ast.NanNode:
		return y.scalar(n.GetToken()), nil
	}
	return nil, y.at(n.GetToken()).Errorf("%s is not allowed in a scenario", strings.ToLower(n.Type().String()))
}

func (y *reader) mapping(m *document.Node, values []*ast.MappingValueNode, flow bool) (*document.Node, error) {
	m.Kind = document.Mapping
	for _, v := range values {
		key, err := y.node(v.Key)
		if err != nil {
			return nil, err
		}
		if key.Kind != document.Scalar {
			return nil, key.Errorf("a key must be one word")
		}
		if err := m.Admit(key); err != nil {
			return nil, err
		}
		value, err := y.node(v.Value)
		if err != nil {
			return nil, err
		}
		m.Kids = append(m.Kids, key, value)
	}
	if !flow && len(m.Kids) > 0 {
		m.Line, m.Col = m.Kids[0].Line, m.Kids[0].Col
	}
	return m, nil
}

func (y *reader) scalar(t *token.Token) *document.Node {
	s := y.at(t)
	s.Raw = t.Value
	s.Quoted = t.Type == token.SingleQuoteType || t.Type == token.DoubleQuoteType
	if !s.Quoted && s.Line >= 1 && int(s.Line) <= len(y.lines) {
		s.Col = y.column(s)
	}
	return s
}

const maxSpaces = 1000 // that are looked through

// column corrects the lexer, which gives a wrong column to words followed by spaces.
func (y *reader) column(s *document.Node) int32 {
	if y.line != int(s.Line) {
		y.line, y.runes = int(s.Line), []rune(y.lines[s.Line-1])
	}
	first, _, _ := strings.Cut(s.Raw, "\n")
	r, word := y.runes, []rune(first)
	end := min(int(s.Col), len(r))
	for col := end; col >= max(1, end-maxSpaces); col-- {
		if len(r)-(col-1) >= len(word) && slices.Equal(r[col-1:col-1+len(word)], word) {
			return int32(col)
		}
	}
	return s.Col
}
