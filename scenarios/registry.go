package scenarios

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/murksim/murksim/rng"
	"github.com/murksim/murksim/scenarios/document"
)

// A Registry is the components that scenarios can name. It never changes and may be
// used from any goroutine.
type Registry struct {
	components []Component
	memory     uint64 // bytes that reading an image or a NumPy file may take; 0: any number
}

// NewRegistry makes a registry. It returns an error if a component is not valid or
// two have one name.
func NewRegistry(components ...Component) (*Registry, error) {
	r := &Registry{components: slices.Clone(components)}
	for i := range r.components {
		c := &r.components[i]
		if err := c.check(); err != nil {
			return nil, fmt.Errorf("scenarios: component %q: %w", c.Name, err)
		}
		if r.of(c.Name, c.isSystem()) != c {
			return nil, fmt.Errorf("scenarios: two components have the name %q", c.Name)
		}
	}
	return r, nil
}

// Within returns a registry with the same components, whose scenarios may name no image
// and no NumPy file that takes more bytes of memory to read.
func (r *Registry) Within(memory uint64) *Registry { return &Registry{r.components, memory} }

// Components lists the components in their order. The list must not be changed.
func (r *Registry) Components() []Component { return r.components }

// find returns the component with a name, or nil.
func (r *Registry) find(name string) *Component {
	for i := range r.components {
		if r.components[i].Name == name {
			return &r.components[i]
		}
	}
	return nil
}

// of returns the system or propagator with a name; if there is none, the other one of that name, or nil.
func (r *Registry) of(name string, system bool) *Component {
	for i := range r.components {
		if c := &r.components[i]; c.Name == name && c.isSystem() == system {
			return c
		}
	}
	return r.find(name)
}

// read finds the component that a key names, of systems or of propagators. In a descriptor it is name@version.
func (r *Registry) read(n *document.Node, descriptor, systems bool) (*Component, error) {
	name := n.Raw
	if descriptor {
		base, version, _ := strings.Cut(name, "@")
		c := r.of(base, systems)
		switch {
		case c == nil:
			return nil, &IncompatibleError{Component: document.Shorten(name)}
		case strconv.Itoa(c.Version) != version:
			e := &IncompatibleError{Component: document.Shorten(name), Have: []string{c.ID()}}
			if v, err := strconv.Atoi(version); err == nil && v >= 1 && v <= len(c.Earlier) {
				e.Last = c.Earlier[v-1]
			}
			return nil, e
		}
		return c, nil
	}
	c := r.of(name, systems)
	if c == nil {
		var names []string
		for i := range r.components {
			names = append(names, r.components[i].Name)
		}
		err := n.Errorf("unknown propagator or system %q%s", name, document.Suggestion(name, names))
		if document.Nearest(name, names) == "" {
			err.Hint = "the command version lists those that this program has"
		}
		return nil, err
	}
	return c, nil
}

// check checks everything that a component declares.
func (c *Component) check() error {
	switch {
	case !namePattern.MatchString(c.Name) || rng.CheckName(c.Name) != nil:
		return errors.New("the name must be up to 64 letters, digits, _ and -, a letter first")
	case c.Version < 1:
		return fmt.Errorf("version must be at least 1, not %d", c.Version)
	case len(c.Earlier) >= c.Version:
		return fmt.Errorf("it has %d earlier versions; its version is %d", len(c.Earlier), c.Version)
	case c.About == "" || strings.ContainsFunc(c.About, unicode.IsControl):
		return errors.New("its About must be one line")
	case c.Params == nil:
		return errors.New("its Params is nil")
	}
	v := reflect.ValueOf(c.Params())
	if v.Kind() != reflect.Pointer || v.IsNil() || v.Elem().Kind() != reflect.Struct {
		return errors.New("its Params must return a pointer to a struct")
	}
	_, propagates := v.Interface().(PropagatorMaker)
	if _, system := v.Interface().(SystemMaker); propagates == system {
		return fmt.Errorf("%v must have one of the methods Propagator and System", v.Type())
	}
	t := v.Type().Elem()
	if err := checkTags(t, nil); err != nil {
		return err
	}
	keys := keysOf(t)
	if slices.ContainsFunc(keys, func(k key) bool { return k.name == "name" }) {
		return errors.New(`the key "name" is that of the instance`)
	}
	isLower := func(k key) bool { return k.name == c.Lower && t.FieldByIndex(k.index).Type.Kind() == reflect.Float64 }
	if c.Lower != "" && !slices.ContainsFunc(keys, isLower) {
		return fmt.Errorf("its Lower is %q, which is not a key of a float64", c.Lower)
	}
	return nil
}

// isSystem reports whether the component is a system; otherwise it is a propagator.
func (c *Component) isSystem() bool {
	_, ok := c.Params().(SystemMaker)
	return ok
}
