package scenarios

import (
	"fmt"
	"reflect"
	"regexp"
	"slices"

	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/rng"
	"github.com/murksim/murksim/space"
)

// A Scenario describes a world, what is done to it and what is expected of it. Make
// one with [Load], [Open], [Parse] or [FromDescriptor]. Seed, TickRate, Ticks and
// Generator may be changed afterwards; the rest is checked and must stay.
type Scenario struct {
	Murksim     int         `yaml:"murksim,required" min:"1" max:"1" doc:"Version of this form: 1."`
	Name        string      `yaml:"name,required" doc:"A short name: letters, digits, _ and -."`
	About       string      `yaml:"about" doc:"One line for people."`
	Seed        uint64      `yaml:"seed" doc:"Master seed of all random numbers."`
	Generator   string      `yaml:"generator" enum:"chacha8,chacha20" default:"chacha8" doc:"Generator of sequential random streams."`
	Rules       string      `yaml:"rules" enum:"murksim,murk-0.1.9" default:"murksim" doc:"How a tick works: as here, or as in the original Murk engine."`
	TickRate    float64     `yaml:"tick_rate" default:"20" min:"1e-9" max:"1e9" doc:"Ticks a second; the step dt is 1/tick_rate."`
	Ticks       uint64      `yaml:"ticks" default:"1000" min:"1" max:"1e15" doc:"How many ticks a run has."`
	Space       Space       `yaml:"space,required" doc:"Where the cells are."`
	Fields      []Field     `yaml:"fields,required" doc:"The columns of the world, in order."`
	Entities    *Entities   `yaml:"entities" doc:"Things that live on cells."`
	Parameters  Parameters  `yaml:"parameters" doc:"Named numbers that propagators read and commands set."`
	Propagators []Component `yaml:"propagators" doc:"What carries the fields forward each tick, in order."`
	Systems     []Component `yaml:"systems" doc:"What the entities do each tick, in order, after the propagators."`
	Commands    []Command   `yaml:"commands" doc:"What is done to the world, and when."`
	Expect      []Expect    `yaml:"expect" doc:"What must hold; a run that breaks it fails."`

	at      *node
	lattice *space.Lattice
	spawns  int // entities of the initial population
	orders  int // commands that the document's commands stand for
}

// What a scenario may have at most.
const (
	maxFields     = 1024
	maxComponents = 1024
	maxLayers     = 4096                    // of a field
	maxNames      = 4096                    // of a field's values, and of kinds
	maxOrders     = engine.DefaultQueue / 2 // the other half of the queue is for the first population
)

// Form is the version of the YAML form.
const Form = 1

var namePattern = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_-]{0,63}$`)

// checkName checks the name of a thing of the scenario, and that it is new.
func checkName(n *node, what, name string, taken []string) error {
	switch {
	case !namePattern.MatchString(name):
		return n.errorf("%q cannot name a %s; use up to 64 letters, digits, _ and -, a letter first", name, what)
	case slices.Contains(taken, name):
		return n.errorf("there is a %s %q already", what, name)
	}
	return nil
}

// check looks at what several parts must agree on.
func (s *Scenario) check(_ *decoder, n *node) error {
	s.at = n
	if err := checkName(n.at("name"), "scenario", s.Name, nil); err != nil {
		return err
	}
	for _, k := range []struct {
		key   string
		there bool
	}{{"entities", s.Entities != nil}, {"parameters", len(s.Parameters) > 0}, {"systems", len(s.Systems) > 0}} {
		if k.there && s.Rules == engine.Murk019.String() {
			return n.at(k.key).errorf("the rules %s have no %s", s.Rules, k.key)
		}
	}
	if count := len(s.Propagators) + len(s.Systems); count > maxComponents {
		return n.errorf("%d propagators and systems; at most %d are allowed", count, maxComponents)
	}
	for i := range s.Fields {
		if f := &s.Fields[i]; f.Domain == "entities" && s.Entities == nil {
			return f.at.errorf("field %q belongs to entities, but the scenario has no \"entities\"", f.Name)
		}
	}
	for i := range s.Propagators {
		if c := &s.Propagators[i]; !is[propagating](c.params) {
			return c.at.errorf("%s is a system: list it under \"systems\"", c.Kind)
		}
	}
	for i := range s.Systems {
		c := &s.Systems[i]
		if !is[systematic](c.params) {
			return c.at.errorf("%s is a propagator: list it under \"propagators\"", c.Kind)
		}
		if s.Entities == nil {
			return c.at.errorf("%s needs entities, but the scenario has no \"entities\"", c.Kind)
		}
	}
	for i := range s.Expect {
		s.Expect[i].last = s.Ticks
	}
	if err := nameComponents(s.Propagators, s.Systems); err != nil {
		return err
	}
	if s.Entities != nil && s.spawns > min(s.Entities.Capacity, engine.DefaultQueue/2) {
		return n.at("entities").at("spawn").errorf("%d entities at the start; capacity is %d, and at most %d can be spawned",
			s.spawns, s.Entities.Capacity, engine.DefaultQueue/2)
	}
	return nil
}

// nameComponents gives every component without a name its kind's, numbered from
// the second on, and checks that no two have one name.
func nameComponents(lists ...[]Component) error {
	var taken []string
	for _, list := range lists {
		for i := range list {
			if list[i].Name == "" {
				continue
			}
			if slices.Contains(taken, list[i].Name) {
				return list[i].at.errorf("there is a propagator or system %q already", list[i].Name)
			}
			taken = append(taken, list[i].Name)
		}
	}
	for _, list := range lists {
		for i := range list {
			c := &list[i]
			if c.Name != "" {
				continue
			}
			for number := 1; c.Name == "" || slices.Contains(taken, c.Name); number++ {
				c.Name = c.Kind
				if number > 1 {
					c.Name = fmt.Sprintf("%s_%d", c.Kind, number)
				}
			}
			taken = append(taken, c.Name)
		}
	}
	return nil
}

// field finds a field by name; nil if there is none.
func (s *Scenario) field(name string) *Field {
	for i := range s.Fields {
		if s.Fields[i].Name == name {
			return &s.Fields[i]
		}
	}
	return nil
}

func (s *Scenario) fieldNames() (names []string) {
	for i := range s.Fields {
		names = append(names, s.Fields[i].Name)
	}
	return names
}

// param finds a parameter's key by its name.
func (s *Scenario) param(name string) (key uint32, ok bool) {
	for _, p := range s.Parameters {
		if p.Name == name {
			return p.Key, true
		}
	}
	return 0, false
}

// checkSettings checks what may be changed after a scenario was read.
func (s *Scenario) checkSettings() error {
	if _, err := rng.ParseGenerator(s.Generator); err != nil {
		return s.at.at("generator").errorf("the generator was set to %q, which is unknown", s.Generator).because(err)
	}
	return nil
}

// Lattice is the scenario's space.
func (s *Scenario) Lattice() *space.Lattice { return s.lattice }

// Parameters are named numbers, in the order of the document.
type Parameters []Parameter

// A Parameter is a named number and the key by which commands know it.
type Parameter struct {
	Name  string
	Key   uint32
	Value float64
}

func (p Parameters) names() (names []string) {
	for _, v := range p {
		names = append(names, v.Name)
	}
	return names
}

// decode reads "name: value", whose key is its position, or "name: {key: 7, value: 1}".
func (p *Parameters) decode(d *decoder, n *node) error {
	if n.kind != mappingNode {
		return n.errorf("%s stands where parameters, such as {wind: 0.3}, belong", n.what())
	}
	for i := 0; i < len(n.kids); i += 2 {
		name, value := n.kids[i], n.kids[i+1]
		if err := checkName(name, "parameter", name.raw, p.names()); err != nil {
			return err
		}
		v := struct {
			Key   uint32  `yaml:"key,required"`
			Value float64 `yaml:"value,required"`
		}{Key: uint32(i / 2)}
		var err error
		if value.kind == mappingNode {
			err = d.decodeStruct(value, reflect.ValueOf(&v).Elem())
		} else {
			v.Value, err = value.float()
		}
		if err != nil {
			return err
		}
		for _, other := range *p {
			if other.Key == v.Key {
				return value.errorf("parameters %q and %q have the same key %d", other.Name, name.raw, v.Key)
			}
		}
		*p = append(*p, Parameter{name.raw, v.Key, v.Value})
	}
	return nil
}

func (p Parameters) appendJSON(b []byte) []byte {
	b = append(b, '{')
	for _, v := range p {
		b = appendKey(b, v.Name)
		b = fmt.Appendf(b, `{"key":%d,"value":`, v.Key)
		b = append(appendFloat(b, v.Value), '}')
	}
	return append(b, '}')
}
