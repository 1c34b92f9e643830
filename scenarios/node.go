package scenarios

import (
	"fmt"
	"unicode"
)

// A node is one value of a document, YAML or JSON: a tree with positions and the
// raw text of every scalar, so that what it says is judged where its type is known.
type node struct {
	kind      nodeKind
	quoted    bool  // scalar: written in quotes or as a block of text, so never a number
	line, col int32 // from 1; columns count characters
	raw       string
	kids      []*node // sequence: items; mapping: key, value, key, value, …
	src       *source
}

type nodeKind uint8

const (
	scalarNode nodeKind = iota
	sequenceNode
	mappingNode
)

// What a document may be at most.
const (
	maxSource = 16 << 20 // bytes of YAML
	maxNodes  = 1 << 18
	maxDepth  = 64
)

// A source is the text that nodes come from.
type source struct {
	name string
	text string
	dir  string // where files it names are looked for; "" if it may name none
}

// get returns the value of a key of a mapping, or nil.
func (n *node) get(key string) *node {
	if n == nil || n.kind != mappingNode {
		return nil
	}
	for i := 0; i < len(n.kids); i += 2 {
		if n.kids[i].raw == key {
			return n.kids[i+1]
		}
	}
	return nil
}

// at returns the value of a key if there is one, else n itself: the best place to
// point at.
func (n *node) at(key string) *node {
	if v := n.get(key); v != nil {
		return v
	}
	return n
}

// admit says whether a mapping may have one more key.
func (n *node) admit(key *node) error {
	const mostKeys = 1 << 10 // looking through them takes time
	switch {
	case n.get(key.raw) != nil:
		return key.errorf("the key %q stands here twice", key.raw)
	case len(n.kids) >= 2*mostKeys:
		return key.errorf("a mapping has more than %d keys", mostKeys)
	}
	return nil
}

// keys are the keys of a mapping in order.
func (n *node) keys() []string {
	var names []string
	for i := 0; i < len(n.kids); i += 2 {
		names = append(names, n.kids[i].raw)
	}
	return names
}

// isNull says whether a scalar stands for nothing.
func (n *node) isNull() bool {
	if n.kind != scalarNode || n.quoted {
		return false
	}
	switch n.raw {
	case "", "~", "null", "Null", "NULL":
		return true
	}
	return false
}

// what describes a node for people.
func (n *node) what() string {
	switch {
	case n.kind == sequenceNode:
		return "a list"
	case n.kind == mappingNode:
		return "a mapping"
	case n.isNull():
		return "nothing"
	case n.quoted:
		return fmt.Sprintf("the text %q", shorten(n.raw))
	}
	return shorten(n.raw)
}

// shorten gives the beginning of a text, fit to be printed.
func shorten(s string) string {
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

// errorf makes an error that points at the node. A nil node has no place.
func (n *node) errorf(format string, args ...any) *Error {
	const most = 400 // a key or name may be long
	e := &Error{Msg: fmt.Sprintf(format, args...)}
	if r := []rune(e.Msg); len(r) > most {
		e.Msg = string(r[:most]) + "…"
	}
	if n != nil {
		e.File, e.Line, e.Col = n.src.name, int(n.line), int(n.col)
		e.Excerpt = n.src.excerpt(int(n.line), int(n.col))
	}
	return e
}

// scalarOf returns the text of a mapping's key, or "".
func (n *node) scalarOf(key string) string {
	if v := n.get(key); v != nil && v.kind == scalarNode {
		return v.raw
	}
	return ""
}
