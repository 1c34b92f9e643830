package scenarios

import (
	"errors"
	"fmt"
	"reflect"

	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/rng"
	"github.com/murksim/murksim/scenarios/document"
)

// An Instance is a component and how it is set up. In a scenario it is a mapping
// with the component's name as the only key: "diffusion: {field: heat, rate: 0.8}".
type Instance struct {
	Component string // its name
	Name      string // of the instance and of its random streams

	of     *Component
	params any
	at     *document.Node
}

func (x *Instance) decode(d *decoder, n *document.Node) error {
	if n.Kind == document.Scalar && d.registry.find(n.Raw) != nil {
		return n.Errorf("%s lacks what it is to do; write \"%s: {…}\"", n.Raw, n.Raw)
	}
	if n.Kind == document.Mapping && len(n.Kids) > 2 {
		return n.Errorf("a component has one key, its kind, as in \"diffusion: {…}\"; here are %d, the second is %q", len(n.Kids)/2, n.Kids[2].Raw)
	}
	if n.Kind != document.Mapping || len(n.Kids) != 2 {
		return n.Errorf("%s stands where one component, such as \"diffusion: {…}\", belongs", n.What())
	}
	of, err := d.registry.read(n.Kids[0], d.descriptor, d.systems)
	if err != nil {
		return err
	}
	params := n.Kids[1]
	x.Component, x.of, x.params, x.at = of.Name, of, of.Params(), n
	if params.Kind == document.Mapping {
		params = x.takeName(params)
	}
	if x.Name != "" && (!namePattern.MatchString(x.Name) || rng.CheckName(x.Name) != nil) {
		return params.Errorf("%q cannot name a component; use up to 64 letters, digits, _ and -, a letter first", x.Name)
	}
	d.field = nil // earlier ones do not count here
	if err := d.decodeStruct(params, reflect.ValueOf(x.params).Elem()); err != nil {
		return err
	}
	if r, ok := x.params.(*Rule); ok {
		if err := r.named(x.Name, n.Kids[0]); err != nil {
			return err
		}
	}
	if err := d.spend(params, x.Component, x.work(d.builder())); err != nil {
		return err
	}
	if c, ok := x.params.(ParamsChecker); ok {
		if err := c.Check(d.builder()); err != nil {
			return x.place(err, params).Errorf("%s", plain(err)).Because(err)
		}
	}
	return nil
}

// takeName reads the name and returns the parameters without it.
func (x *Instance) takeName(params *document.Node) *document.Node {
	at := params.Get("name")
	if at == nil || at.Kind != document.Scalar || at.IsNull() {
		return params
	}
	x.Name = at.Raw
	rest := *params
	rest.Kids = nil
	for i := 0; i < len(params.Kids); i += 2 {
		if params.Kids[i].Raw != "name" {
			rest.Kids = append(rest.Kids, params.Kids[i], params.Kids[i+1])
		}
	}
	return &rest
}

// place returns the node of the argument that an error names, or another.
func (x *Instance) place(err error, otherwise *document.Node) *document.Node {
	params := x.at.Kids[1]
	if e, ok := errors.AsType[*engine.ArgError](err); ok {
		if at := params.Find(e.Arg); at != params {
			return at
		}
	}
	return otherwise
}

// parameters are those of a rule.
func (x *Instance) parameters() ruleParameters {
	switch r := x.params.(type) {
	case *Rule:
		return r.Parameters
	case *EntityRule:
		return r.Parameters
	}
	return nil
}

// errorf makes an error of one that the component's maker or the engine returns.
func (x *Instance) errorf(err error) *document.Error {
	what := x.Component
	if x.Name != x.Component {
		what += fmt.Sprintf(" %q", x.Name)
	}
	return x.place(err, x.at).Errorf("%s: %s", what, plain(err)).Because(err)
}

// work returns the steps that making the component takes, beside the listing of regions.
func (x *Instance) work(b *Builder) uint64 {
	if w, ok := x.params.(WorkUser); ok {
		return min(w.Work(b), maxWork+1)
	}
	return 0
}

func (x Instance) appendJSON(b []byte) []byte {
	b = appendKey(append(b, '{'), x.of.ID())
	b = document.AppendText(appendKey(append(b, '{'), "name"), x.Name)
	b = appendMembers(b, reflect.ValueOf(x.params).Elem())
	return append(b, "}}"...)
}

// nameInstances names every instance without a name after its component, numbered from
// the second on, and a rule of entities after its first kind; it checks that no two have one name.
func nameInstances(lists ...[]Instance) error {
	taken := map[string]bool{}
	for _, list := range lists {
		for i := range list {
			if r, ok := list[i].params.(*EntityRule); ok && list[i].Name == "" {
				list[i].Name = r.For.names[0]
			}
			name := list[i].Name
			if name != "" && taken[name] {
				return list[i].at.Errorf("there is a propagator or system %q already", name)
			}
			taken[name] = true
		}
	}
	number := map[string]int{} // of the last instance of a component
	for _, list := range lists {
		for i := range list {
			x := &list[i]
			if x.Name != "" {
				continue
			}
			for x.Name == "" || taken[x.Name] {
				x.Name = x.Component
				if number[x.Component]++; number[x.Component] > 1 {
					x.Name = fmt.Sprintf("%s_%d", x.Component, number[x.Component])
				}
			}
			taken[x.Name] = true
		}
	}
	return nil
}
