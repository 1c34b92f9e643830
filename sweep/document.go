package sweep

import (
	"cmp"
	"fmt"
	"iter"
	"math"
	"slices"
	"strings"

	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/scenarios/document"
)

// A Document is what a file with a design says.
type Document struct {
	Design
	Stats []string // fields whose statistics are in the table; nil: not said
}

// keys are those of a file with a design.
var keys = []string{"sweep", "scenario", "ticks", "seeds", "vary", "list", "random", "latin", "sample_seed", "exclude", "stats"}

// IsDesign reports whether a document is a design and not a scenario: only a design names a scenario.
func IsDesign(root *document.Node) bool {
	return root.Get("sweep") != nil || root.Get("scenario") != nil && root.Get("murksim") == nil
}

// Blame takes an error that says where in "path=value" it is, and makes it point at the place of that path in
// the design.
func Blame(root *document.Node, e *document.Error) error {
	for _, n := range []*document.Node{root.Get("vary"), root.Get("list")} {
		for key := range pathsIn(n) {
			if strings.Contains(e.Excerpt, "| "+key.Raw+"=") {
				found := key.Errorf("%s: %s", key.Raw, e.Msg)
				found.Hint = e.Hint
				return found
			}
		}
	}
	return e
}

// pathsIn gives the keys of a mapping, or of the mappings in a list.
func pathsIn(n *document.Node) iter.Seq[*document.Node] {
	return func(yield func(*document.Node) bool) {
		if n == nil || n.Kind == document.Scalar {
			return
		}
		for i, kid := range n.Kids {
			if n.Kind == document.Mapping && i%2 == 0 && !yield(kid) {
				return
			}
			if n.Kind == document.List {
				for key := range pathsIn(kid) {
					if !yield(key) {
						return
					}
				}
			}
		}
	}
}

// ReadDesign reads a design from a document. Its errors are of type [*document.Error].
func ReadDesign(root *document.Node) (*Document, error) {
	if root.Kind != document.Mapping {
		return nil, root.Errorf("%s stands where a design belongs", root.What())
	}
	for i := 0; i < len(root.Kids); i += 2 {
		if k := root.Kids[i]; !slices.Contains(keys, k.Raw) {
			return nil, k.Errorf("unknown key %q%s", k.Raw, document.Suggestion(k.Raw, keys))
		} else if v := root.Kids[i+1]; v.IsNull() {
			return nil, v.Errorf("%s has no value", k.Raw)
		}
	}
	if form := root.Get("sweep"); form == nil || form.Raw != "1" {
		return nil, root.At("sweep").Errorf("the design must say sweep: 1, the version of this form")
	}
	if root.Get("scenario") == nil {
		return nil, root.Errorf(`the key "scenario" is missing`)
	}
	d := &Document{}
	if err := d.read(root); err != nil {
		return nil, err
	}
	if _, err := d.Plan(); err != nil {
		return nil, root.Errorf("%v", err)
	}
	return d, nil
}

func (d *Document) read(root *document.Node) (err error) {
	if d.Scenario, err = root.Get("scenario").Text(); err != nil {
		return err
	}
	if n := root.Get("ticks"); n != nil {
		if d.Ticks, err = n.Uint(engine.LastTick); err != nil {
			return err
		}
		if d.Ticks == 0 {
			return n.Errorf("ticks must be at least 1, not 0")
		}
	}
	return cmp.Or(d.readSeeds(root.Get("seeds")), d.readVary(root.Get("vary")), d.readList(root.Get("list")), d.readSampling(root),
		texts(root.Get("exclude"), &d.Exclude), texts(root.Get("stats"), &d.Stats))
}

func (d *Document) readSeeds(n *document.Node) error {
	if n == nil {
		return nil
	}
	items := []*document.Node{n}
	if n.Kind == document.List {
		items = n.Kids
	}
	for _, item := range items {
		if item.Kind != document.Scalar {
			return item.Errorf("%s stands where a seed belongs", item.What())
		}
		seeds, err := ParseSeeds(item.Raw)
		if err != nil {
			return item.Errorf("%v", err)
		}
		d.Seeds = append(d.Seeds, seeds...)
	}
	return nil
}

// readVary reads a mapping of paths to values: a text as ParseAxis takes it, or a list.
func (d *Document) readVary(n *document.Node) error {
	if n == nil {
		return nil
	}
	if n.Kind != document.Mapping {
		return n.Errorf("%s stands where values by their paths belong", n.What())
	}
	for i := 0; i < len(n.Kids); i += 2 {
		a, v := Axis{Path: n.Kids[i].Raw}, n.Kids[i+1]
		var err error
		switch {
		case v.Kind == document.List && len(v.Kids) == 0:
			err = fmt.Errorf("the list of values is empty")
		case v.Kind == document.List:
			for _, item := range v.Kids {
				a.Values = append(a.Values, flow(item))
			}
		case v.Kind == document.Scalar && !v.Quoted:
			a.Values, a.Interval, err = parseValues(v.Raw)
		default:
			a.Values = []string{flow(v)}
		}
		if err != nil {
			return v.Errorf("%v", err)
		}
		d.Axes = append(d.Axes, a)
	}
	return nil
}

// readList reads listed combinations, which must all have the same paths.
func (d *Document) readList(n *document.Node) error {
	if n == nil {
		return nil
	}
	if n.Kind != document.List || len(n.Kids) == 0 {
		return n.Errorf("%s stands where a list of combinations belongs", n.What())
	}
	for row, item := range n.Kids {
		if item.Kind != document.Mapping {
			return item.Errorf("%s stands where values by their paths belong", item.What())
		}
		for i := 0; i < len(item.Kids) && row == 0; i += 2 {
			d.List = append(d.List, Axis{Path: item.Kids[i].Raw})
		}
		if len(item.Kids) != 2*len(d.List) {
			return item.Errorf("a combination has %d values, the first one %d", len(item.Kids)/2, len(d.List))
		}
		for i := range d.List {
			v := item.Get(d.List[i].Path)
			if v == nil {
				return item.Errorf("the combination has no %s, as the first one has", d.List[i].Path)
			}
			d.List[i].Values = append(d.List[i].Values, flow(v))
		}
	}
	return nil
}

func (d *Document) readSampling(root *document.Node) error {
	for _, kind := range [...]string{Random, Latin} {
		n := root.Get(kind)
		if n == nil {
			continue
		}
		if d.Sampling.Kind != "" {
			return n.Errorf("a design is %s or %s, not both", Random, Latin)
		}
		count, err := n.Int(1, maxValues)
		if err != nil {
			return err
		}
		d.Sampling.Kind, d.Sampling.Count = kind, int(count)
	}
	n := root.Get("sample_seed")
	if n == nil {
		return nil
	}
	if d.Sampling.Kind == "" {
		return n.Errorf("sample_seed needs %s or %s", Random, Latin)
	}
	var err error
	d.Sampling.Seed, err = n.Uint(math.MaxUint64)
	return err
}

// texts reads a list of texts, or one.
func texts(n *document.Node, to *[]string) error {
	if n == nil {
		return nil
	}
	items := []*document.Node{n}
	if n.Kind == document.List {
		items = n.Kids
	}
	for _, item := range items {
		text, err := item.Text()
		if err != nil {
			return err
		}
		*to = append(*to, text)
	}
	return nil
}

// flow writes a value on one line, so that it reads back as it is.
func flow(n *document.Node) string { return string(appendFlow(nil, n)) }

func appendFlow(b []byte, n *document.Node) []byte {
	switch n.Kind {
	case document.List:
		b = append(b, '[')
		for i, k := range n.Kids {
			if i > 0 {
				b = append(b, ", "...)
			}
			b = appendFlow(b, k)
		}
		return append(b, ']')
	case document.Mapping:
		b = append(b, '{')
		for i := 0; i < len(n.Kids); i += 2 {
			if i > 0 {
				b = append(b, ", "...)
			}
			b = append(append(b, n.Kids[i].Raw...), ": "...)
			b = appendFlow(b, n.Kids[i+1])
		}
		return append(b, '}')
	}
	if n.Quoted {
		return document.AppendText(b, n.Raw)
	}
	return append(b, n.Raw...)
}
