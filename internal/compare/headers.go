package compare

import (
	"fmt"
	"slices"
	"strings"

	"github.com/murksim/murksim/internal/words"
	"github.com/murksim/murksim/replay"
	"github.com/murksim/murksim/replay/diff"
	"github.com/murksim/murksim/scenarios/document"
)

// headerValues lists the differences of two headers: the values of the scenarios one by one, by
// paths like those of --set. Builds do not count.
func headerValues(a, b *replay.Header) []headerValue {
	var v values
	x, errA := document.ParseJSON("a", a.World())
	y, errB := document.ParseJSON("b", b.World())
	if errA == nil && errB == nil {
		v.compare("", x, y)
		v.begins(a, b)
	} else if string(a.Descriptor) != string(b.Descriptor) {
		v.add("descriptor", words.Size(int64(len(a.Descriptor))), words.Size(int64(len(b.Descriptor)))+", others")
	}
	if !slices.ContainsFunc(v.list, func(h headerValue) bool { return h.Key == "seed" }) {
		v.add("seed", fmt.Sprint(a.Seed), fmt.Sprint(b.Seed))
	}
	if len(v.list) == 0 {
		v.add("config hash", words.Hash16(a.ConfigHash), words.Hash16(b.ConfigHash))
		v.add("fields", words.Number(uint64(a.FieldCount)), words.Number(uint64(b.FieldCount)))
		v.add("cells", words.Number(a.CellCount), words.Number(b.CellCount))
	}
	return v.list
}

// values collects the values that differ between two scenarios.
type values struct{ list []headerValue }

func (v *values) add(key, a, b string) {
	if a != b && len(v.list) < diff.MaxDifferences {
		v.list = append(v.list, headerValue{key, valuePair{a, b}})
	}
}

// begins compares where two recordings begin. The states themselves are left out.
func (v *values) begins(a, b *replay.Header) {
	texts := func(h *replay.Header) (tick, sum string) {
		b, err := h.Begin()
		if err != nil || b == nil { // the replay reports the error
			return "", ""
		}
		return fmt.Sprint(b.Tick), fmt.Sprintf("%x", b.SHA256)
	}
	tickA, sumA := texts(a)
	tickB, sumB := texts(b)
	v.add("begin.tick", tickA, tickB)
	v.add("begin.sha256", sumA, sumB)
}

// compare compares two nodes, of which one may be nil.
func (v *values) compare(path string, a, b *document.Node) {
	switch {
	case a == nil || b == nil || a.Kind != b.Kind || a.Kind == document.Scalar || plainList(a) && plainList(b):
		v.add(path, nodeText(a), nodeText(b))
	case a.Kind == document.Mapping:
		keysA, keysB := members(a), members(b)
		for _, m := range keysA {
			v.compare(join(path, m.label), m.value, b.Get(m.label))
		}
		for _, m := range keysB {
			if a.Get(m.label) == nil {
				v.compare(join(path, m.label), nil, m.value)
			}
		}
	default:
		v.lists(path, a, b)
	}
}

// lists compares lists whose elements have names by these, others by their places.
func (v *values) lists(path string, a, b *document.Node) {
	x, namedA := elements(a)
	y, namedB := elements(b)
	if !namedA || !namedB {
		byPlace(x)
		byPlace(y)
	}
	in := func(list []member, label string) int {
		return slices.IndexFunc(list, func(m member) bool { return m.label == label })
	}
	for _, m := range x {
		var other *document.Node
		if j := in(y, m.label); j >= 0 {
			other = y[j].value
			v.add(join(path, m.label), m.version, y[j].version)
		}
		v.compare(join(path, m.label), m.value, other)
	}
	for _, m := range y {
		if in(x, m.label) < 0 {
			v.compare(join(path, m.label), nil, m.value)
		}
	}
}

// A member is a value of a mapping or a list, and what a path calls it.
type member struct {
	label   string
	version string // of a component: its key
	value   *document.Node
}

func members(n *document.Node) (list []member) {
	for i := 0; i+1 < len(n.Kids); i += 2 {
		list = append(list, member{label: n.Kids[i].Raw, value: n.Kids[i+1]})
	}
	return list
}

// elements names the elements of a list, a component by its name or key, a pair of a name and a value by the name,
// others by their names, and reports whether all have different ones.
func elements(n *document.Node) (list []member, named bool) {
	seen := map[string]bool{"": true}
	named = true
	for _, kid := range n.Kids {
		m := member{value: kid}
		if kid.Kind == document.Mapping && len(kid.Kids) == 2 && strings.Contains(kid.Kids[0].Raw, "@") {
			m.version, m.value = kid.Kids[0].Raw, kid.Kids[1]
			m.label, _, _ = strings.Cut(m.version, "@")
		}
		if pair := kid.Kids; kid.Kind == document.List && len(pair) == 2 && pair[0].Kind == document.Scalar && pair[0].Quoted { // of a rule
			m.label, m.value = pair[0].Raw, pair[1]
		}
		if name := m.value.Get("name"); name != nil {
			m.label = name.Raw
		}
		named = named && !seen[m.label]
		seen[m.label] = true
		list = append(list, m)
	}
	return list, named
}

// byPlace names elements by their places.
func byPlace(list []member) {
	for i := range list {
		list[i].label = fmt.Sprint(i)
	}
}

func join(path, key string) string {
	if path == "" {
		return key
	}
	return path + "." + key
}

// plainList reports whether a node is a list of scalars.
func plainList(n *document.Node) bool {
	return n.Kind == document.List && !slices.ContainsFunc(n.Kids, func(k *document.Node) bool { return k.Kind != document.Scalar })
}

// nodeText writes a value on one line; of a long one the beginning. A value that is left
// out is empty.
func nodeText(n *document.Node) string {
	const longest = 500
	if n == nil {
		return ""
	}
	var b strings.Builder
	appendNode(&b, n, longest)
	if b.Len() > longest {
		return strings.ToValidUTF8(b.String()[:longest], "") + "…"
	}
	return b.String()
}

func appendNode(b *strings.Builder, n *document.Node, longest int) {
	if b.Len() > longest {
		return
	}
	switch n.Kind {
	case document.Scalar:
		if b.WriteString(n.Raw); n.Raw == "" {
			b.WriteString(`""`)
		}
	case document.List:
		b.WriteByte('[')
		for i, kid := range n.Kids {
			if i > 0 {
				b.WriteString(", ")
			}
			appendNode(b, kid, longest)
		}
		b.WriteByte(']')
	default:
		b.WriteByte('{')
		for i, m := range members(n) {
			if i > 0 {
				b.WriteString(", ")
			}
			b.WriteString(m.label + ": ")
			appendNode(b, m.value, longest)
		}
		b.WriteByte('}')
	}
}
