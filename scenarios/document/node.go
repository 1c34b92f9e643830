package document

import (
	"fmt"
	"io"
	"io/fs"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// A Node is one value of a document.
type Node struct {
	Kind      Kind
	Quoted    bool    // a scalar written in quotes or as a block of text, which is never a number
	Line, Col int32   // from 1; columns count characters
	Raw       string  // a scalar's text
	Kids      []*Node // of a list: the items; of a mapping: key, value, key, value, …
	Source    *Source
}

// A Kind is the kind of a node.
type Kind uint8

// The kinds of nodes.
const (
	Scalar Kind = iota
	List
	Mapping
)

// What a document may have at most.
const (
	MaxBytes = 16 << 20
	MaxNodes = 1 << 18
	MaxDepth = 64
)

// A Source is the text that nodes come from.
type Source struct {
	Name  string
	Text  string
	Files fs.FS // has the files that the document names; nil if it may name none
}

// Clone returns a copy of the tree, of the same source.
func (n *Node) Clone() *Node {
	c := *n
	if n.Kids != nil {
		c.Kids = make([]*Node, len(n.Kids))
		for i, k := range n.Kids {
			c.Kids[i] = k.Clone()
		}
	}
	return &c
}

// Get returns the value of a key of a mapping, or nil.
func (n *Node) Get(key string) *Node {
	if n == nil || n.Kind != Mapping {
		return nil
	}
	for i := 0; i < len(n.Kids); i += 2 {
		if n.Kids[i].Raw == key {
			return n.Kids[i+1]
		}
	}
	return nil
}

// At returns the value of a key if there is one, else n itself: the best place to
// point at.
func (n *Node) At(key string) *Node {
	if v := n.Get(key); v != nil {
		return v
	}
	return n
}

// Find follows a path of keys and indexes, such as table.0.become, and returns the
// last node on it that exists.
func (n *Node) Find(path string) *Node {
	for _, e := range strings.Split(path, ".") {
		next := n.Get(e)
		if i, err := strconv.Atoi(e); n.Kind == List && err == nil && i >= 0 && i < len(n.Kids) {
			next = n.Kids[i]
		}
		if next == nil {
			break
		}
		n = next
	}
	return n
}

// Scalar returns the text of a mapping's key, or "".
func (n *Node) Scalar(key string) string {
	if v := n.Get(key); v != nil && v.Kind == Scalar {
		return v.Raw
	}
	return ""
}

// Admit returns an error if a mapping cannot have one more key.
func (n *Node) Admit(key *Node) error {
	const mostKeys = 1 << 10 // looking through them takes time
	switch {
	case n.Get(key.Raw) != nil:
		return key.Errorf("the key %q stands here twice", key.Raw)
	case len(n.Kids) >= 2*mostKeys:
		return key.Errorf("a mapping has more than %d keys", mostKeys)
	}
	return nil
}

// IsNull reports whether a scalar stands for nothing.
func (n *Node) IsNull() bool {
	if n.Kind != Scalar || n.Quoted {
		return false
	}
	switch n.Raw {
	case "", "~", "null", "Null", "NULL":
		return true
	}
	return false
}

// Bool reads true or false.
func (n *Node) Bool() (v, ok bool) {
	if n.Kind != Scalar || n.Quoted {
		return false, false
	}
	switch n.Raw {
	case "true", "True", "TRUE":
		return true, true
	case "false", "False", "FALSE":
		return false, true
	}
	return false, false
}

// Text reads a text. Plain words that YAML takes for something else must be quoted.
func (n *Node) Text() (string, error) {
	switch _, isBool := n.Bool(); {
	case n.Kind != Scalar || n.IsNull():
		return "", n.Errorf("%s stands where a text belongs", n.What())
	case isBool || n.IsNumber():
		return "", n.Errorf("%s is not a text; write %q", n.What(), n.Raw)
	case !utf8.ValidString(n.Raw):
		return "", n.Errorf("%s is not UTF-8 text", n.What())
	case strings.ContainsFunc(n.Raw, isControl):
		return "", n.Errorf("%s holds a control character", n.What())
	}
	return n.Raw, nil
}

// isControl reports whether a terminal might obey a character.
func isControl(r rune) bool { return unicode.IsControl(r) && r != '\n' && r != '\t' }

// What describes a node for people.
func (n *Node) What() string {
	switch {
	case n.Kind == List:
		return "a list"
	case n.Kind == Mapping:
		return "a mapping"
	case n.IsNull():
		return "nothing"
	case n.Quoted:
		return fmt.Sprintf("the text %q", Shorten(n.Raw))
	}
	return Shorten(n.Raw)
}

// Shorten returns the beginning of a text, fit to be printed.
func Shorten(s string) string {
	const most = 40
	var out []rune
	for _, r := range s {
		if len(out) == most {
			return string(out) + "…"
		}
		if !unicode.IsPrint(r) {
			r = '·'
		}
		out = append(out, r)
	}
	return string(out)
}

// ReadAll reads a file of at most [MaxBytes]. Name stands in errors.
func ReadAll(name string, r io.Reader) ([]byte, error) {
	b, err := io.ReadAll(io.LimitReader(r, MaxBytes+1))
	if err == nil && len(b) > MaxBytes {
		return nil, &Error{File: name, Msg: fmt.Sprintf("has more than %d bytes", MaxBytes)}
	}
	return b, err
}
