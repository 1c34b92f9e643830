package scenarios

import (
	"strconv"

	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/fields"
	"github.com/murksim/murksim/scenarios/document"
)

// A built is what a program gives instead of a document.
type built struct {
	config     engine.Config // of the world that was built first, without what belongs to one world alone
	descriptor []byte
	build      func() (engine.Config, error)
}

// Built returns the scenario of a world that a program builds in Go, without a document, so that whatever looks
// at worlds of scenarios looks at it, too. It has the configuration's fields, kinds, parameters and names of propagators; it has no
// commands, no expectations, and no end: [Scenario.PlannedTicks] is 0. The descriptor is that of the world's recordings. Build is called for
// each world that is made, and must return the same configuration each time, with propagators, systems and handlers of its own; the
// world's Workers, Share, Recorder and Paranoid are not taken from it.
func Built(name string, descriptor []byte, build func() (engine.Config, error)) (*Scenario, error) {
	c, err := build()
	if err != nil {
		return nil, err
	}
	l, err := c.Space.Build()
	if err != nil {
		return nil, err
	}
	s := &Scenario{
		Murksim: formVersion, Name: name, Seed: c.Seed, Generator: c.Generator.String(), Rules: c.Rules.String(), TickRate: 1 / c.Dt(), Ticks: engine.LastTick,
		at: &document.Node{Kind: document.Mapping, Source: &document.Source{Name: name}}, lattice: l,
	}
	for i := range c.Fields {
		s.Fields = append(s.Fields, builtField(c.Fields[i]))
	}
	if c.Capacity > 0 {
		const kinds = 8 // that are told apart where the program has no names for them
		s.Entities = &Entities{Capacity: c.Capacity, Kinds: c.Kinds, Occupancy: c.Occupancy}
		if c.Kinds == nil {
			s.Entities.Kinds = numbers("kind", kinds)
		}
	}
	for _, p := range c.Parameters {
		s.Parameters = append(s.Parameters, Parameter{p.Name, p.Key, p.Value})
	}
	for _, p := range c.Propagators {
		s.Propagators = append(s.Propagators, Instance{Component: p.Spec(l).Name, Name: p.Spec(l).Name, at: s.at})
	}
	for _, p := range c.Systems {
		s.Systems = append(s.Systems, Instance{Component: p.Spec(l).Name, Name: p.Spec(l).Name, at: s.at})
	}
	s.built = &built{config: c, descriptor: descriptor, build: build}
	s.built.config.Propagators, s.built.config.Systems, s.built.config.Handlers = nil, nil, nil
	return s, nil
}

// builtField describes a column that no document does.
func builtField(def fields.Def) Field {
	f := Field{Name: def.Name, Type: fieldType{def.Type}, Values: def.Values, Element: "float32", Domain: def.Domain.String(), Mutability: def.Mutability.String(), Unit: def.Unit, def: def}
	if def.Element != fields.Float32 {
		f.Element = def.Element.String()
	}
	if b := def.Bounds; b != nil {
		f.Min, f.Max, f.AtBound = &b.Min, &b.Max, b.Mode.String()
	}
	f.def.Initial = fields.Initial{}
	if n := def.Type.N; def.Type.Kind == fields.CategoricalKind && len(f.Values) != n {
		f.Values = nil
		if n <= maxNames {
			f.Values = numbers("", n)
		}
	}
	return f
}

// configure returns the configuration of another world.
func (b *built) configure(s *Scenario) (c engine.Config, err error) {
	c, err = b.build()
	c.Seed, c.Recorder, c.Paranoid, c.Share = s.Seed, nil, false, 0
	return c, err
}

// PlannedTicks is how many ticks a run has; 0: nothing says it, as in a world that is [Built].
func (s *Scenario) PlannedTicks() uint64 {
	if s.built != nil && s.Ticks == engine.LastTick {
		return 0
	}
	return s.Ticks
}

// numbers returns names of what has none.
func numbers(prefix string, n int) (names []string) {
	for i := range n {
		names = append(names, prefix+strconv.Itoa(i))
	}
	return names
}
