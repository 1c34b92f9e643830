package yaml

import (
	"fmt"
	"unicode/utf8"

	"github.com/goccy/go-yaml/token"

	"github.com/murksim/murksim/scenarios/document"
)

// What a text may have at most. The YAML library takes time that grows with the square
// of some of these, and up to a kilobyte for each mark. Together they keep what a text
// takes below 160 MB and two seconds, whether it is accepted or refused.
const (
	maxText  = 2 << 20  // bytes
	maxMarks = 100_000  // characters that may begin or end a value
	maxBlank = 50       // blank lines in a row: each copies the text before it
	maxTabs  = 100      // tabs on a line: each may look through the rest of the line
	maxLess  = 100      // "<" in a row: each looks through the rest of them
	maxEmpty = 1 << 10  // keys and items of lists without a value: each moves all tokens behind it
	maxKeys  = 1 << 10  // of a mapping: each copies those behind it
	maxEnds  = 1 << 4   // lines "---" and "...": each copies the list of documents
	maxPaths = 32 << 20 // bytes: the library keeps the keys that lead to each value
)

// A survey counts what is in a text before anything is allocated for it.
type survey struct {
	marks, blank, tabs, less int
	something                bool // on this line
}

// add counts a byte and returns what there is too much of, or "".
func (s *survey) add(c, next byte) string {
	if c != '<' {
		s.less = 0
	}
	switch c {
	case '\r', '\n':
		if c == '\n' || next != '\n' {
			s.line()
		}
	case '\t':
		s.tabs++
	case '<':
		s.less++
		s.marks++
	case '[', ']', '{', '}', ',', ':', '&', '*', '!', '%', '"', '\'':
		s.marks++
	case '-', '?':
		if next == ' ' || next == '\t' {
			s.marks++
		}
	}
	if c > ' ' {
		s.something = true
	}
	switch {
	case s.marks > maxMarks:
		return fmt.Sprintf("more than %d lines, commas, colons and brackets so far", maxMarks)
	case s.blank > maxBlank:
		return fmt.Sprintf("more than %d blank lines in a row", maxBlank)
	case s.tabs > maxTabs:
		return fmt.Sprintf("more than %d tabs on one line", maxTabs)
	case s.less > maxLess:
		return fmt.Sprintf("more than %d \"<\" in a row", maxLess)
	}
	return ""
}

// line ends a line.
func (s *survey) line() {
	s.marks++
	s.blank++
	if s.something {
		s.blank = 0
	}
	s.tabs, s.something = 0, false
}

// checkText refuses a text that would take the YAML library long or much memory.
func checkText(src *document.Source) error {
	switch text := src.Text; {
	case len(text) > maxText:
		return &document.Error{File: src.Name, Msg: fmt.Sprintf("has %d bytes; at most %d are allowed", len(text), maxText)}
	case !utf8.ValidString(text):
		return &document.Error{File: src.Name, Msg: "is not UTF-8 text"}
	default:
		return checkMarks(src)
	}
}

func checkMarks(src *document.Source) error {
	var s survey
	line, begin, text := int32(1), 0, src.Text
	for i := range len(text) {
		next := byte('\n')
		if i+1 < len(text) {
			next = text[i+1]
		}
		if msg := s.add(text[i], next); msg != "" {
			at := &document.Node{Source: src, Line: line, Col: int32(utf8.RuneCountInString(text[begin:i])) + 1}
			err := at.Errorf("%s", msg)
			if s.marks > maxMarks {
				err.Hint = "give large fields as png or npy, and what repeats with every, rect or count"
			}
			return err
		}
		if text[i] == '\n' {
			line, begin = line+1, i+1
		}
	}
	return nil
}

// A tally counts what is in the tokens of a text, but for comments, before the library
// parses them.
type tally struct {
	before, last *token.Token // the two that came last
	empty, ends  int
	all, longest int    // tokens; bytes of the longest key
	open         []byte // the brackets that are open
	blocks       []block
	keys         int // of the mapping to which the last key belongs
}

// A block is a mapping without braces, whose keys stand in a column.
type block struct{ column, keys int }

// key counts a key of a mapping without braces.
func (c *tally) key(t *token.Token) {
	column := t.Position.Column
	c.leave(column)
	if n := len(c.blocks); n == 0 || c.blocks[n-1].column < column {
		c.blocks = append(c.blocks, block{column: column})
	}
	b := &c.blocks[len(c.blocks)-1]
	b.keys++
	c.keys = b.keys
}

// leave ends the mappings whose keys stand to the right of a column.
func (c *tally) leave(column int) {
	for len(c.blocks) > 0 && c.blocks[len(c.blocks)-1].column > column {
		c.blocks = c.blocks[:len(c.blocks)-1]
	}
}

// add counts a token, or at the end nil, and returns what there is too much of, or "".
func (c *tally) add(t *token.Token) string {
	if c.last != nil {
		c.count(c.before, c.last, t)
	}
	c.before, c.last = c.last, t
	switch {
	case c.ends > maxEnds:
		return fmt.Sprintf("more than %d lines --- and ...; a scenario is one document", maxEnds)
	case c.keys > maxKeys:
		return fmt.Sprintf("more than %d keys in one mapping", maxKeys)
	case c.empty > maxEmpty:
		return fmt.Sprintf("more than %d keys and items without a value so far", maxEmpty)
	}
	return ""
}

// count counts a token that stands between two others, of which either may be nil.
func (c *tally) count(before, t, after *token.Token) {
	c.all++
	switch t.Type {
	case token.DocumentHeaderType, token.DocumentEndType:
		c.ends++
		c.leave(0)
	case token.SequenceStartType, token.MappingStartType:
		c.open = append(c.open, t.Value[0])
	case token.SequenceEndType, token.MappingEndType:
		c.open = c.open[:max(len(c.open)-1, 0)]
	case token.SequenceEntryType:
		if len(c.open) == 0 {
			c.leave(t.Position.Column)
		}
		if c.isEmpty(t, after) {
			c.empty++
		}
	case token.MappingValueType:
		if before == nil {
			return
		}
		c.longest = max(c.longest, len(before.Value))
		if len(c.open) == 0 {
			c.key(before)
		}
		if c.isEmpty(before, after) {
			c.empty++
		}
	default: // a key in braces may stand alone
		first := before != nil && (before.Type == token.MappingStartType || before.Type == token.CollectEntryType)
		if n := len(c.open); n > 0 && c.open[n-1] == '{' && first && endsValue(after) {
			c.empty++
		}
	}
}

// isEmpty reports whether a key or the dash of an item has no value, given the token behind it.
func (c *tally) isEmpty(key, after *token.Token) bool {
	if endsValue(after) {
		return true
	}
	if len(c.open) > 0 || after.Position.Line == key.Position.Line {
		return false
	}
	least := key.Position.Column + 1
	if after.Type == token.SequenceEntryType && key.Type != token.SequenceEntryType {
		least-- // the list of a key may stand below it
	}
	return after.Position.Column < least
}

// endsValue reports whether a token, or the end, cannot begin a value.
func endsValue(t *token.Token) bool {
	if t == nil {
		return true
	}
	switch t.Type {
	case token.CollectEntryType, token.MappingEndType, token.SequenceEndType, token.DocumentHeaderType, token.DocumentEndType:
		return true
	}
	return false
}
