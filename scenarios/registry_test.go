package scenarios_test

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/fields"
	"github.com/murksim/murksim/scenarios"
	"github.com/murksim/murksim/scenarios/components"
	"github.com/murksim/murksim/scenarios/document"
	"github.com/murksim/murksim/scenarios/yaml"
	"github.com/murksim/murksim/space"
)

// bloom is a propagator as another module would have it, with all that one can be.
type bloom struct {
	Field  scenarios.FieldRef `yaml:"field,required" is:"a scalar field" doc:"What blooms."`
	Rate   float64            `yaml:"rate" default:"0.5" min:"0" doc:"Per second."`
	Sun    scenarios.ParamRef `yaml:"sun" doc:"How strong the sun is."`
	Kind   scenarios.Kind     `yaml:"kind" doc:"Who picks."`
	Beds   []bed              `yaml:"beds" doc:"Where it blooms."`
	Colour string             `yaml:"colour" enum:"red,blue" default:"red" doc:"Of the blossoms."`

	Seen []uint64 // not a key
}

type bed struct {
	scenarios.Patch
	Deep *int `yaml:"deep" max:"9" doc:"How deep the soil is."`
}

// Check implements [scenarios.ParamsChecker].
func (p *bloom) Check(b *scenarios.Builder) error {
	for i := range p.Beds {
		if n := b.MaxCells(&p.Beds[i].Region); n > 4 {
			return engine.ArgErrorf(fmt.Sprintf("beds.%d.rect", i), "a bed of %d cells; at most 4 are allowed", n)
		}
	}
	if p.Colour == "blue" && p.Sun == "" {
		return errors.New("blue needs a sun")
	}
	return nil
}

// Memory implements [scenarios.MemoryUser].
func (p *bloom) Memory(*scenarios.Builder) (kept, making uint64) { return 1 << 20, 1 << 21 }

// Propagator implements [scenarios.PropagatorMaker].
func (p *bloom) Propagator(b *scenarios.Builder, name string) (engine.Propagator, error) {
	x := blooming{name: name, field: b.Field(p.Field), rate: p.Rate}
	x.sun, x.sunny = b.Parameter(p.Sun)
	for i := range p.Beds {
		cells, err := b.Cells(&p.Beds[i].Region)
		if err != nil {
			return nil, err
		}
		x.cells = append(x.cells, cells...)
	}
	return x, nil
}

// Story implements [scenarios.StoryTeller].
func (p *bloom) Story(b *scenarios.Builder, _ *engine.World) scenarios.Story {
	if b.Kind(p.Kind) < 0 {
		return nil
	}
	return telling{}
}

type telling struct{}

// Observe implements [scenarios.Story].
func (telling) Observe(w *engine.World) []scenarios.Happening {
	return []scenarios.Happening{{Tick: w.Tick(), Who: "Ana", What: "picks", Where: "[1]"}}
}

type blooming struct {
	name  string
	field fields.ID
	rate  float64
	sun   uint32
	sunny bool
	cells []int32
}

// Spec implements [engine.Propagator].
func (x blooming) Spec(*space.Lattice) engine.Spec {
	return engine.Spec{Name: x.name, Incremental: engine.Fields(x.field), MaxDt: 1 / x.rate}
}

// Check implements [engine.Checker].
func (x blooming) Check(_ *space.Lattice, defs []fields.Def) error {
	if defs[x.field].Bounds != nil {
		return engine.ArgErrorf("field", "field %q has bounds", defs[x.field].Name)
	}
	return nil
}

// Step implements [engine.Propagator].
func (x blooming) Step(c *engine.Context) error {
	for _, cell := range x.cells {
		c.Next(x.field)[cell] += float32(x.rate)
	}
	return nil
}

func own(version int) []scenarios.Component {
	return append(components.All(), scenarios.Component{
		Name: "bloom", Version: version, Lower: "rate", Params: func() any { return new(bloom) }, About: "Lets beds bloom.",
	})
}

const garden = `murksim: 1
name: garden
tick_rate: 4
space: {kind: line, length: 9}
fields: [{name: petals}, {name: few, min: 0, max: 1}]
entities: {capacity: 2, kinds: [bee]}
parameters: {sun: 1}
propagators:
  - bloom: {name: roses, field: petals, rate: 2, kind: bee, sun: sun, beds: [{rect: {from: [1], to: [2]}, value: 3}]}
`

func registry(t *testing.T, list []scenarios.Component) *scenarios.Registry {
	t.Helper()
	r, err := scenarios.NewRegistry(list...)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestOwnComponent holds that a component of another package is read, built, run, written
// and described as those that come with murksim.
func TestOwnComponent(t *testing.T) {
	r := registry(t, own(3))
	s, err := yaml.Parse(r, "garden.yaml", nil, []byte(garden))
	if err != nil {
		t.Fatal(err)
	}
	if want := `{"bloom@3":{"name":"roses","field":"petals","rate":2,"sun":"sun","kind":"bee","beds":[{"rect":{"from":[1],"to":[2]},"value":3}]}}`; !bytes.Contains(s.Descriptor(), []byte(want)) {
		t.Errorf("the descriptor is %s, want in it %s", s.Descriptor(), want)
	}
	again, err := r.FromDescriptor(s.Descriptor())
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range []*scenarios.Scenario{s, again} {
		w, err := s.World(1)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.Step(); err != nil {
			t.Fatal(err)
		}
		if a, b := w.Value(0, 2), w.Value(0, 3); a != 2 || b != 0 {
			t.Errorf("petals are %v and %v, want 2 and 0", a, b)
		}
		story := s.Story(w)
		if story == nil {
			t.Fatal("there is no story")
		}
		h := story.Observe(w)[0]
		if got, want := h.String(), "tick 1  Ana picks at [1]"; got != want {
			t.Errorf("it tells %q, want %q", got, want)
		}
	}
	other, err := yaml.Parse(r, "garden.yaml", nil, []byte(strings.Replace(garden, "kind: bee, ", "", 1)))
	if err != nil {
		t.Fatal(err)
	}
	w, err := other.World(1)
	if err != nil {
		t.Fatal(err)
	}
	if story := other.Story(w); story != nil {
		t.Errorf("without a kind the story is %v, want none", story)
	}
	schema, err := r.Schema()
	if err != nil || !bytes.Contains(schema, []byte(`"description": "How deep the soil is."`)) {
		t.Errorf("the schema does not say how deep the soil is: %v", err)
	}
	_, err = registry(t, own(4)).FromDescriptor(s.Descriptor())
	if e, ok := errors.AsType[*scenarios.IncompatibleError](err); !ok || e.Component != "bloom@3" || fmt.Sprint(e.Have) != "[bloom@4]" {
		t.Errorf("FromDescriptor with bloom@4 = %v, want that it needs bloom@3", err)
	}
	_, err = registry(t, components.All()).FromDescriptor(s.Descriptor())
	if e, ok := errors.AsType[*scenarios.IncompatibleError](err); !ok || e.Component != "bloom@3" || e.Have != nil {
		t.Errorf("FromDescriptor without bloom = %v, want that it needs bloom@3", err)
	}
}

// TestOwnMemory holds that the memory which a component says it takes is counted: what
// it keeps, and the most that any takes while it is made.
func TestOwnMemory(t *testing.T) {
	r := registry(t, own(1))
	memory := func(text string) uint64 {
		s, err := yaml.Parse(r, "garden.yaml", nil, []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		n, err := s.Memory()
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	none, one := memory(garden[:strings.Index(garden, "propagators")]), memory(garden)
	two := memory(garden + "  - bloom: {field: petals}\n")
	if first, second := one-none, two-one; second < 1<<20 || first-second != 2<<20 {
		t.Errorf("one takes %d bytes more than none, the second %d; want 1 MiB at least, and the first 2 MiB more", first, second)
	}
}

// TestOwnErrors holds that errors of a component of another package are shown where
// they belong.
func TestOwnErrors(t *testing.T) {
	r := registry(t, own(1))
	for _, tt := range []struct{ old, new, want string }{
		{"rate: 2", "rate: -1", "9:47: rate must be at least 0, not -1"},
		{"rate: 2", "rte: 2", `9:41: unknown key "rte"; did you mean "rate"?`},
		{"rate: 2", "colour: green", `9:49: colour "green" is unknown; use red or blue`},
		{"field: petals, ", "", `9:12: the key "field" is missing`},
		{"sun: sun", "sun: moon", `9:66: there is no parameter "moon"`},
		{"kind: bee", "kind: be", `9:56: there is no kind "be"; did you mean "bee"?`},
		{"to: [2]", "to: [8]", "9:85: a bed of 8 cells; at most 4 are allowed"},
		{"to: [2]", "to: [9]", "9:101: [9] is no cell of line 9 absorb"},
		{"value: 3", "deep: 10, value: 3", "9:113: 10 is out of range: it must be"},
		{", value: 3", "", "9:78: one value is needed here"},
		{"sun: sun", "colour: blue", "9:12: blue needs a sun"},
		{"petals}, {name: few, min: 0, max: 1}", "petals, min: 0, max: 9}", `9:33: bloom "roses": field "petals" has bounds`},
		{"rate: 2", "rate: 8", `9:5: bloom of "petals" would be unstable: dt is 0.25 s, the limit for rate 8 on line (2 neighbours) is 0.125 s`},
		{"  - bloom", "  - blom", `9:5: unknown propagator or system "blom"; did you mean "bloom"?`},
	} {
		s, err := yaml.Parse(r, "garden.yaml", nil, []byte(strings.Replace(garden, tt.old, tt.new, 1)))
		if err == nil {
			_, err = s.World(1)
		}
		if e, ok := errors.AsType[*document.Error](err); !ok || !strings.HasPrefix(e.Error(), "garden.yaml:"+tt.want) {
			t.Errorf("%s: %v, want %s", tt.new, err, tt.want)
		}
	}
}

// A maker is what the parameters below have in common.
type maker struct{}

func (maker) Propagator(*scenarios.Builder, string) (engine.Propagator, error) { return nil, nil }

type both struct{ maker }

func (both) System(*scenarios.Builder, string) (engine.System, error) { return nil, nil }

type list struct {
	Next []list `yaml:"next"`
}

// TestRegistryRefuses holds what is wrong with components, and that nothing of it panics.
func TestRegistryRefuses(t *testing.T) {
	good := func() any { return &struct{ maker }{} }
	for _, tt := range []struct {
		c    scenarios.Component
		want string
	}{
		{scenarios.Component{Name: "a b", Version: 1, About: "A.", Params: good}, `component "a b": the name must be up to 64`},
		{scenarios.Component{Name: "a@1", Version: 1, About: "A.", Params: good}, "the name must be"},
		{scenarios.Component{Name: "", Version: 1, About: "A.", Params: good}, "the name must be"},
		{scenarios.Component{Name: "diffusion", Version: 1, About: "A.", Params: good}, `two components have the name "diffusion"`},
		{scenarios.Component{Name: "a", About: "A.", Params: good}, "version must be at least 1, not 0"},
		{scenarios.Component{Name: "a", Version: 1, Params: good}, "About must be one line"},
		{scenarios.Component{Name: "a", Version: 1, About: "A.\nB.", Params: good}, "About must be one line"},
		{scenarios.Component{Name: "a", Version: 1, About: "A."}, "Params is nil"},
		{scenarios.Component{Name: "a", Version: 1, About: "A.", Lower: "rate", Params: good}, `Lower is "rate", which is not a key of a float64`},
		{of(nil), "Params must return a pointer to a struct"},
		{of((*bloom)(nil)), "Params must return a pointer to a struct"},
		{of(bloom{}), "Params must return a pointer to a struct"},
		{of(new(int)), "Params must return a pointer to a struct"},
		{of(&struct{}{}), "must have one of the methods Propagator and System"},
		{of(&both{}), "must have one of the methods Propagator and System"},
		{of(&struct {
			maker
			x int `yaml:"x"`
		}{}), "x: has a tag yaml, but is not exported"},
		{of(&struct {
			*maker
		}{}), "maker: only structs of keys can be embedded"},
		{of(&struct {
			maker
			scenarios.Cell
		}{}), "Cell: only structs of keys can be embedded"},
		{of(&struct {
			maker `yaml:"x"`
		}{}), "maker: an embedded struct has no tag yaml"},
		{of(&struct {
			maker
			X int `yaml:"X"`
		}{}), `X: "X" is not a key`},
		{of(&struct {
			maker
			X int `yaml:""`
		}{}), `X: "" is not a key`},
		{of(&struct {
			maker
			X int `yaml:"name"`
		}{}), `the key "name" is that of the instance`},
		{of(&struct {
			maker
			X int `yaml:"x,optional"`
		}{}), `the option "optional" is unknown; required is known`},
		{of(&struct {
			maker
			X int `yaml:"x"`
			Y int `yaml:"x"`
		}{}), `has the key "x" twice`},
		{of(&struct {
			maker
			X map[string]int `yaml:"x"`
		}{}), "a map[string]int cannot be a key"},
		{of(&struct {
			maker
			X int64 `yaml:"x"`
		}{}), "a int64 cannot be a key"},
		{of(&struct {
			maker
			X []list `yaml:"x"`
		}{}), "list is part of itself"},
		{of(&struct {
			maker
			X int `yaml:"x" enum:"a,b"`
		}{}), "only a string has a tag enum"},
		{of(&struct {
			maker
			X string `yaml:"x" is:"a field of cells"`
		}{}), "only a FieldRef has a tag is"},
		{of(&struct {
			maker
			X scenarios.FieldRef `yaml:"x" is:"a big field"`
		}{}), `the tag is says "a big field", which no field is`},
		{of(&struct {
			maker
			X string `yaml:"x" min:"1"`
		}{}), "has a tag min, but is not a number"},
		{of(&struct {
			maker
			X float64 `yaml:"x" max:"much"`
		}{}), `max is "much", which is not a number`},
		{of(&struct {
			maker
			X *int `yaml:"x" above:"0.5"`
		}{}), `above is "0.5", which is not a whole number`},
		{of(&struct {
			maker
			X int `yaml:"x" default:"many"`
		}{}), "many is not a whole number"},
		{of(&struct {
			maker
			X int `yaml:"x" min:"1" default:"0"`
		}{}), "x must be at least 1, not 0"},
		{of(&struct {
			maker
			X float64 `yaml:"x" above:"0" default:"0"`
		}{}), "must be more than 0"},
		{of(&struct {
			maker
			X string `yaml:"x" enum:"a,b" default:"c"`
		}{}), `x "c" is unknown`},
		{of(&struct {
			maker
			X float64 `yaml:"x" default:"1.50"`
		}{}), `the default "1.50" is not written as its value is, 1.5`},
		{of(&struct {
			maker
			X *float64 `yaml:"x" default:"1"`
		}{}), `has the default "1", but is required or of a type without one`},
		{of(&struct {
			maker
			X struct {
				Y complex64 `yaml:"y"`
			} `yaml:"x"`
		}{}), "Y: a complex64 cannot be a key"},
	} {
		_, err := scenarios.NewRegistry(append(components.All(), tt.c)...)
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("NewRegistry = %v, want … %s …", err, tt.want)
		}
	}
}

func of(params any) scenarios.Component {
	return scenarios.Component{Name: "a", Version: 1, About: "A.", Params: func() any { return params }}
}
