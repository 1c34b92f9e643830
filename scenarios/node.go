package scenarios

import (
	"fmt"
	"strings"
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

// setPath replaces the value at a dotted path, or adds a key to the mapping there.
// An element of the path is a key, an index into a list, the name of a list's
// element, or the single key of one, such as "diffusion".
func (n *node) setPath(path string, arg, value *node) error {
	elements := strings.Split(path, ".")
	for i, e := range elements {
		last := i == len(elements)-1
		next, err := n.step(e, last, arg)
		if err != nil {
			return err
		}
		if !last {
			n = *next
			continue
		}
		if next != nil {
			*next = value
			return nil
		}
		key := *arg
		key.raw, key.quoted = e, false
		n.kids = append(n.kids, &key, value)
	}
	return nil
}

// step finds where the value of one path element is kept; nil if it is a new key.
func (n *node) step(e string, last bool, arg *node) (**node, error) {
	switch n.kind {
	case mappingNode:
		for i := 0; i < len(n.kids); i += 2 {
			if n.kids[i].raw == e {
				return &n.kids[i+1], nil
			}
		}
		if last {
			return nil, nil // the decoder knows whether such a key may be
		}
		return nil, arg.errorf("the scenario has no %q%s", e, suggestion(e, n.keys()))
	case sequenceNode:
		var names []string
		for i, item := range n.kids {
			if e == fmt.Sprint(i) || item.scalarOf("name") == e {
				return &n.kids[i], nil
			}
			if len(item.kids) == 2 && item.kind == mappingNode {
				if inner := item.kids[1]; item.kids[0].raw == e || inner.scalarOf("name") == e {
					return &item.kids[1], nil
				}
				names = append(names, item.kids[0].raw)
			}
			if name := item.scalarOf("name"); name != "" {
				names = append(names, name)
			}
		}
		return nil, arg.errorf("the list of %d has no %q%s", len(n.kids), e, suggestion(e, names))
	}
	return nil, arg.errorf("%q leads nowhere: the scenario has %s there", e, n.what())
}

// scalarOf returns the text of a mapping's key, or "".
func (n *node) scalarOf(key string) string {
	if v := n.get(key); v != nil && v.kind == scalarNode {
		return v.raw
	}
	return ""
}
