package scenarios

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// setName stands in errors for the source of what replaces a value.
const setName = "--set"

// applySet carries out one "path=value".
func applySet(root *node, set string) error {
	src := &source{name: setName, text: set}
	arg := &node{src: src, line: 1, col: 1, raw: set}
	path, text, ok := strings.Cut(set, "=")
	if !ok || path == "" {
		return arg.errorf("%q is not of the form path=value", set)
	}
	value := &node{src: src, line: 1, col: int32(len([]rune(path)) + 2)}
	if text != "" {
		v, err := parseYAML(&source{name: setName, text: text})
		if err != nil {
			return err
		}
		v.move(src, value.col-1)
		value = v
	}
	if root.kind != mappingNode {
		return arg.errorf("the scenario is no mapping")
	}
	return root.setPath(path, arg, value)
}

// move makes a tree part of another source, of one line, some columns further right.
func (n *node) move(src *source, columns int32) {
	n.src, n.line, n.col = src, 1, n.col+columns
	for _, k := range n.kids {
		k.move(src, columns)
	}
}

// setPath replaces the value at a dotted path, or adds a key to the mapping there.
// An element of the path is a key, an index into a list, the name of a list's
// element, or the single key of one, such as "diffusion". Errors point at the element.
func (n *node) setPath(path string, arg, value *node) error {
	elements := strings.Split(path, ".")
	at := *arg
	for i, e := range elements {
		last := i == len(elements)-1
		next, err := n.step(e, last, &at)
		if err != nil {
			return err
		}
		if !last {
			n = *next
			at.col += int32(len([]rune(e)) + 1)
			continue
		}
		if next != nil {
			*next = value
			return nil
		}
		key := at
		key.raw, key.quoted = e, false
		n.kids = append(n.kids, &key, value)
	}
	return nil
}

// step finds where the value of one path element is kept; nil if it is a new key.
func (n *node) step(e string, last bool, at *node) (**node, error) {
	switch n.kind {
	case mappingNode:
		for i := 0; i < len(n.kids); i += 2 {
			if n.kids[i].raw == e {
				return &n.kids[i+1], nil
			}
		}
		if err := n.bracketed(e, at); err != nil {
			return nil, err
		}
		if last {
			return nil, nil // the decoder knows whether such a key may be
		}
		return nil, at.errorf("the scenario has no %q%s", e, suggestion(e, n.keys()))
	case sequenceNode:
		return n.element(e, at)
	}
	return nil, at.errorf("%q leads nowhere: the scenario has %s there", e, n.what())
}

// element finds an element of a list by its index, its name or its single key.
func (n *node) element(e string, at *node) (found **node, err error) {
	var names, places []string
	for i, item := range n.kids {
		name := item.scalarOf("name")
		if e == fmt.Sprint(i) || name == e {
			return &n.kids[i], nil
		}
		if name != "" {
			names = append(names, name)
		}
		if item.kind != mappingNode || len(item.kids) != 2 || item.kids[1].kind != mappingNode {
			continue
		}
		labels := []string{item.kids[0].raw}
		if name := item.kids[1].scalarOf("name"); name != "" {
			labels = append(labels, name)
		}
		if slices.Contains(labels, e) {
			found, places = &item.kids[1], append(places, fmt.Sprintf("%d.%s", i, labels[0]))
		}
		names = append(names, labels...)
	}
	switch {
	case len(places) > 1:
		return nil, at.errorf("%q may be any of %d elements; write %s", e, len(places), alternatives(places[:min(len(places), 4)]))
	case found == nil:
		return nil, at.errorf("the list of %d has no %q%s", len(n.kids), e, suggestion(e, names))
	}
	return found, nil
}

var bracketForm = regexp.MustCompile(`^(.+)\[([^\[\]]*)\]$`)

// bracketed says how to write a path element such as fields[0].
func (n *node) bracketed(e string, at *node) error {
	m := bracketForm.FindStringSubmatch(e)
	if m == nil {
		return nil
	}
	err := at.errorf("a path has no brackets")
	err.Hint = fmt.Sprintf("write %s.%s", m[1], m[2])
	if list := n.get(m[1]); list != nil && list.kind == sequenceNode {
		for i, item := range list.kids {
			if name := item.scalarOf("name"); name != "" && fmt.Sprint(i) == m[2] {
				err.Hint += fmt.Sprintf(" or %s.%s", m[1], name)
			}
		}
	}
	return err
}
