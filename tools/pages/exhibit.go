package main

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/fields"
	"github.com/murksim/murksim/scenarios"
	"github.com/murksim/murksim/scenarios/worlds"
	"github.com/murksim/murksim/scenarios/yaml"
)

// An exhibit is a propagator and the scenario that shows it.
type exhibit struct {
	scenarios.Component
	world worlds.Info
	about string // what the scenario says about itself

	made  engine.Propagator // the first of its kind in the scenario
	maxDt float64           // its longest stable step there; 0: any
	names []string          // of the scenario's fields, by their ids
	uses  []use             // as it is in the scenario, then with each word of true or false turned on
}

// A use says which field each key of a propagator names, and what it does with it.
type use struct {
	fields map[string]string // by key; looked up only
	spec   engine.Spec
}

// exhibits lists the propagators that have a scenario of their name, as registered.
func exhibits() ([]exhibit, error) {
	var all []exhibit
	shown := worlds.Embedded()
	for _, c := range worlds.Components() {
		i := slices.IndexFunc(shown, func(w worlds.Info) bool { return w.Shows == c.Name })
		if i < 0 {
			continue
		}
		x := exhibit{Component: c, world: shown[i]}
		if err := x.read(); err != nil {
			return nil, fmt.Errorf("%s: %w", c.Name, err)
		}
		all = append(all, x)
	}
	return all, nil
}

// read makes the propagator in every use.
func (x *exhibit) read() error {
	at, err := x.use()
	if err != nil {
		return err
	}
	for _, k := range keysOf(&x.Component) {
		if k.of.Kind() == reflect.Bool && !strings.Contains(k.path, ".") {
			// A use that the scenario does not allow is none.
			_, _ = x.use(fmt.Sprintf("propagators.%d.%s.%s=true", at, x.Name, k.path))
		}
	}
	return nil
}

// use adds a use of the propagator, the scenario changed by sets, and says where in
// the list of propagators it is.
func (x *exhibit) use(sets ...string) (at int, err error) {
	s, err := yaml.Parse(worlds.Registry(), x.world.Name+".yaml", nil, x.world.Source, sets...)
	if err != nil {
		return 0, err
	}
	at = slices.IndexFunc(s.Propagators, func(p scenarios.Instance) bool { return p.Component == x.Name })
	if at < 0 {
		return 0, fmt.Errorf("the scenario does not use it")
	}
	c, err := s.Config(1)
	if err != nil {
		return 0, err
	}
	l, err := c.Space.Build()
	if err != nil {
		return 0, err
	}
	var doc struct {
		Fields      []struct{ Name string }
		Propagators []map[string]map[string]any
	}
	if err := json.Unmarshal(s.Descriptor(), &doc); err != nil {
		return 0, err
	}
	u := use{fields: map[string]string{}, spec: c.Propagators[at].Spec(l)}
	for _, k := range keysOf(&x.Component) {
		if name, ok := doc.Propagators[at][x.ID()][k.path].(string); ok && k.of == reflect.TypeFor[scenarios.FieldRef]() {
			u.fields[k.path] = name
		}
	}
	x.uses = append(x.uses, u)
	if len(sets) == 0 {
		x.made, x.maxDt, x.about = c.Propagators[at], u.spec.MaxDt, s.About
		for _, f := range doc.Fields {
			x.names = append(x.names, f.Name)
		}
	}
	return at, nil
}

// access says for each key that names a field how the field is used.
func (x *exhibit) access() map[string]string {
	all := map[string]string{}
	for _, k := range keysOf(&x.Component) {
		var ways []string
		for i := range x.uses {
			if name, ok := x.uses[i].fields[k.path]; ok {
				if way := x.uses[i].way(fields.ID(slices.Index(x.names, name))); !slices.Contains(ways, way) {
					ways = append(ways, way)
				}
			}
		}
		all[k.path] = strings.ReplaceAll(strings.Join(ways, " or "), "or written", "or")
	}
	return all
}

func (u *use) way(id fields.ID) string {
	switch {
	case slices.Contains(u.spec.Full, id):
		return "written in full"
	case slices.Contains(u.spec.Incremental, id):
		return "written in place"
	}
	return "read"
}

// writes says how it writes its fields, for the index.
func (x *exhibit) writes() string {
	var full, place bool
	for i := range x.uses {
		full = full || len(x.uses[i].spec.Full) > 0
		place = place || len(x.uses[i].spec.Incremental) > 0
	}
	switch {
	case full && place:
		return "in place or in full"
	case full:
		return "in full"
	}
	return "in place"
}
