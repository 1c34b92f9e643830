package scenarios

import (
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/fields"
	"github.com/murksim/murksim/rng"
	"github.com/murksim/murksim/space"
)

// A Component is a propagator or a system and how it is set up. In a scenario it
// is a mapping with its kind as the only key: "diffusion: {field: heat, rate: 0.8}".
type Component struct {
	Kind string // one of those that [Components] lists
	Name string // of the instance and of its random streams

	params params
	at     *node // the parameters
}

// A kind describes a component that scenarios can name.
type kind struct {
	name    string
	version int // raised when its results change
	doc     string
	stiff   string // the parameter to lower where the time step is too long; may be empty
	params  func() params
}

// params are the parameters of a component: a pointer to a struct that makes what
// it describes.
type params any

// propagating parameters make a propagator, systematic ones a system.
type (
	propagating interface {
		propagator(b *builder, name string) (engine.Propagator, error)
	}
	systematic interface {
		system(b *builder, name string) (engine.System, error)
	}
)

func is[T any](p params) bool {
	_, ok := p.(T)
	return ok
}

// id is the kind with its version, as descriptors name it.
func (k *kind) id() string { return fmt.Sprintf("%s@%d", k.name, k.version) }

// Components lists the propagators and systems that scenarios can name, as
// name@version, with one line about each.
func Components() (ids, about []string) {
	for i := range kinds {
		ids, about = append(ids, kinds[i].id()), append(about, kinds[i].doc)
	}
	return ids, about
}

func kindOf(name string) *kind {
	for i := range kinds {
		if kinds[i].name == name {
			return &kinds[i]
		}
	}
	return nil
}

func (c *Component) decode(d *decoder, n *node) error {
	if n.kind == scalarNode && kindOf(n.raw) != nil {
		return n.errorf("%s lacks what it is to do; write \"%s: {…}\"", n.raw, n.raw)
	}
	if n.kind == mappingNode && len(n.kids) > 2 {
		return n.errorf("a component has one key, its kind, as in \"diffusion: {…}\"; here are %d, the second is %q", len(n.kids)/2, n.kids[2].raw)
	}
	if n.kind != mappingNode || len(n.kids) != 2 {
		return n.errorf("%s stands where one component, such as \"diffusion: {…}\", belongs", n.what())
	}
	name, params := n.kids[0], n.kids[1]
	k, err := d.kind(name)
	if err != nil {
		return err
	}
	c.Kind, c.params, c.at = k.name, k.params(), n
	v := reflect.ValueOf(c.params).Elem()
	if params.kind == mappingNode {
		params = c.takeName(params)
	}
	if c.Name != "" && (!namePattern.MatchString(c.Name) || rng.CheckName(c.Name) != nil) {
		return params.errorf("%q cannot name a component; use up to 64 letters, digits, _ and -, a letter first", c.Name)
	}
	return d.decodeStruct(params, v)
}

// takeName reads the name and returns the parameters without it.
func (c *Component) takeName(params *node) *node {
	at := params.get("name")
	if at == nil || at.kind != scalarNode || at.isNull() {
		return params
	}
	c.Name = at.raw
	rest := *params
	rest.kids = nil
	for i := 0; i < len(params.kids); i += 2 {
		if params.kids[i].raw != "name" {
			rest.kids = append(rest.kids, params.kids[i], params.kids[i+1])
		}
	}
	return &rest
}

// kind finds the component that a key names. In a descriptor it is name@version.
func (d *decoder) kind(n *node) (*kind, error) {
	name := n.raw
	if d.descriptor {
		base, version, _ := strings.Cut(name, "@")
		k := kindOf(base)
		switch {
		case k == nil:
			return nil, &IncompatibleError{Component: shorten(name)}
		case strconv.Itoa(k.version) != version:
			return nil, &IncompatibleError{Component: shorten(name), Have: []string{k.id()}}
		}
		return k, nil
	}
	k := kindOf(name)
	if k == nil {
		var names []string
		for i := range kinds {
			names = append(names, kinds[i].name)
		}
		return nil, n.errorf("unknown key %q%s", name, suggestion(name, names))
	}
	return k, nil
}

func (c Component) appendJSON(b []byte) []byte {
	b = appendKey(append(b, '{'), kindOf(c.Kind).id())
	b = appendText(appendKey(append(b, '{'), "name"), c.Name)
	b = appendMembers(b, reflect.ValueOf(c.params).Elem())
	return append(b, "}}"...)
}

// A builder makes propagators and systems of their parameters.
type builder struct {
	s       *Scenario
	lattice *space.Lattice
}

// id is a field's id.
func (s *Scenario) id(r FieldRef) fields.ID {
	return fields.ID(slices.IndexFunc(s.Fields, func(f Field) bool { return f.Name == string(r) }))
}

func (b *builder) field(r FieldRef) fields.ID { return b.s.id(r) }

// optional is the id of a field that may be left out.
func (b *builder) optional(r FieldRef) *fields.ID {
	if r == "" {
		return nil
	}
	id := b.s.id(r)
	return &id
}
