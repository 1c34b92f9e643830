package yaml

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/murksim/murksim/scenarios/document"
)

// setName stands in errors for the source of what replaces a value.
const setName = "--set"

// applySet carries out one "path=value".
func applySet(root *document.Node, set string) error {
	src := &document.Source{Name: setName, Text: set, Files: root.Source.Files}
	arg := &document.Node{Source: src, Line: 1, Col: 1, Raw: set}
	path, text, ok := strings.Cut(set, "=")
	if !ok || path == "" {
		return arg.Errorf("%q is not of the form path=value", set)
	}
	value := &document.Node{Source: src, Line: 1, Col: int32(len([]rune(path)) + 2)}
	if text != "" {
		v, err := parse(&document.Source{Name: setName, Text: text})
		switch plain := strings.TrimSpace(text); {
		case strings.HasPrefix(plain, "#"), err == nil && v.Kind == document.Scalar && !v.Quoted && v.Raw != plain && strings.HasPrefix(plain, v.Raw+" ") && strings.Contains(plain, "#"):
			value.Raw = plain // a value has no comment
			value.Col += int32(strings.Index(text, plain[:1]))
		case err != nil:
			return err
		default:
			move(v, src, value.Col-1)
			value = v
		}
	}
	if root.Kind != document.Mapping {
		return arg.Errorf("the scenario is no mapping")
	}
	return setPath(root, path, arg, value)
}

// move makes a tree part of another source, of one line, some columns further right.
func move(n *document.Node, src *document.Source, columns int32) {
	n.Source, n.Line, n.Col = src, 1, n.Col+columns
	for _, k := range n.Kids {
		move(k, src, columns)
	}
}

// setPath replaces the value at a dotted path, or adds a key to the mapping there.
func setPath(n *document.Node, path string, arg, value *document.Node) error {
	in, place, err := find(n, path, arg)
	if err != nil {
		return err
	}
	if place != nil {
		*place = value
		return nil
	}
	start := strings.LastIndexByte(path, '.') + 1
	key := *arg
	key.Col += int32(len([]rune(path[:start])))
	key.Raw, key.Quoted = path[start:], false
	in.Kids = append(in.Kids, &key, value)
	return nil
}

// find finds where the value at a dotted path is kept; a nil place is that of a new key in a mapping.
// An element of the path is a key, an index into a list, the name of a list's
// element, or the single key of one, such as "diffusion". Errors point at the element.
func find(n *document.Node, path string, arg *document.Node) (in *document.Node, place **document.Node, err error) {
	elements := strings.Split(path, ".")
	at := *arg
	for i, e := range elements {
		if place, err = step(n, e, i == len(elements)-1, &at); err != nil {
			return nil, nil, err
		}
		if i < len(elements)-1 {
			n = *place
			at.Col += int32(len([]rune(e)) + 1)
		}
	}
	return n, place, nil
}

// step finds where the value of one path element is kept; nil if it is a new key.
func step(n *document.Node, e string, last bool, at *document.Node) (**document.Node, error) {
	switch n.Kind {
	case document.Mapping:
		for i := 0; i < len(n.Kids); i += 2 {
			if n.Kids[i].Raw == e {
				return &n.Kids[i+1], nil
			}
		}
		if err := bracketed(n, e, at); err != nil {
			return nil, err
		}
		if last {
			return nil, nil // the decoder knows whether such a key may be
		}
		return nil, at.Errorf("the scenario has no %q%s", e, document.Suggestion(e, keys(n)))
	case document.List:
		return element(n, e, at)
	}
	return nil, at.Errorf("%q leads nowhere: the scenario has %s there", e, n.What())
}

// element finds an element of a list by its index, its name or its single key.
func element(n *document.Node, e string, at *document.Node) (found **document.Node, err error) {
	var names, places []string
	for i, item := range n.Kids {
		name := item.Scalar("name")
		if e == fmt.Sprint(i) || name == e {
			return &n.Kids[i], nil
		}
		if name != "" {
			names = append(names, name)
		}
		if item.Kind != document.Mapping || len(item.Kids) != 2 || item.Kids[1].Kind != document.Mapping {
			continue
		}
		labels := []string{item.Kids[0].Raw}
		if name := cmp.Or(item.Kids[1].Scalar("name"), firstKind(item.Kids[1])); name != "" {
			labels = append(labels, name)
		}
		if slices.Contains(labels, e) {
			found, places = &item.Kids[1], append(places, fmt.Sprintf("%d.%s", i, labels[0]))
		}
		names = append(names, labels...)
	}
	switch {
	case len(places) > 1:
		return nil, at.Errorf("%q may be any of %d elements; write %s", e, len(places), document.Alternatives(places[:min(len(places), 4)]))
	case found == nil:
		return nil, at.Errorf("the list of %d has no %q%s", len(n.Kids), e, document.Suggestion(e, names))
	}
	return found, nil
}

// firstKind is the first of the kinds in for, after which a rule of entities is called that has no name.
func firstKind(rule *document.Node) string {
	if of := rule.Get("for"); of != nil && of.Kind == document.List && len(of.Kids) > 0 && of.Kids[0].Kind == document.Scalar {
		return of.Kids[0].Raw
	}
	return rule.Scalar("for")
}

var bracketForm = regexp.MustCompile(`^(.+)\[([^\[\]]*)\]$`)

// bracketed returns how to write a path element such as fields[0].
func bracketed(n *document.Node, e string, at *document.Node) error {
	m := bracketForm.FindStringSubmatch(e)
	if m == nil {
		return nil
	}
	err := at.Errorf("a path has no brackets")
	err.Hint = fmt.Sprintf("write %s.%s", m[1], m[2])
	if list := n.Get(m[1]); list != nil && list.Kind == document.List {
		for i, item := range list.Kids {
			if name := item.Scalar("name"); name != "" && fmt.Sprint(i) == m[2] {
				err.Hint += fmt.Sprintf(" or %s.%s", m[1], name)
			}
		}
	}
	return err
}

// paths appends the paths below a node that end in a key, as a set has them.
func paths(n *document.Node, key, prefix string, found []string) []string {
	for i, kid := range n.Kids {
		switch {
		case n.Kind == document.List:
			label := fmt.Sprint(i)
			if name := kid.Scalar("name"); name != "" {
				label = name
			} else if kid.Kind == document.Mapping && len(kid.Kids) == 2 && kid.Kids[1].Kind == document.Mapping {
				label = fmt.Sprintf("%d.%s", i, kid.Kids[0].Raw)
				if found, err := element(n, kid.Kids[0].Raw, &document.Node{Source: kid.Source}); err == nil && *found == kid.Kids[1] {
					label = kid.Kids[0].Raw // no other has this key
				}
				kid = kid.Kids[1]
			}
			found = paths(kid, key, prefix+label+".", found)
		case i%2 == 0 || n.Kind != document.Mapping:
		case n.Kids[i-1].Raw == key:
			found = append(found, prefix+key)
		default:
			found = paths(kid, key, prefix+n.Kids[i-1].Raw+".", found)
		}
	}
	return found
}

// keys returns the keys of a mapping in order.
func keys(n *document.Node) (names []string) {
	for i := 0; i < len(n.Kids); i += 2 {
		names = append(names, n.Kids[i].Raw)
	}
	return names
}
