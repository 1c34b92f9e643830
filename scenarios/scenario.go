package scenarios

import (
	"cmp"
	"regexp"
	"slices"
	"strings"

	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/rng"
	"github.com/murksim/murksim/scenarios/document"
	"github.com/murksim/murksim/space"
)

// A Scenario describes a world, what is done to it and what is expected of it. Make
// one with [Registry.Decode] or [Registry.FromDescriptor]. Seed, TickRate, Ticks and
// Generator may be changed afterwards; the rest is checked and must stay.
type Scenario struct {
	Murksim     int          `yaml:"murksim,required" min:"1" max:"1" doc:"Version of this form: 1."`
	Name        string       `yaml:"name,required" doc:"A short name: letters, digits, _ and -."`
	About       string       `yaml:"about" doc:"One line for people."`
	Seed        uint64       `yaml:"seed" doc:"Master seed of all random numbers."`
	Generator   string       `yaml:"generator" enum:"chacha8,chacha20" default:"chacha8" doc:"Generator of sequential random streams."`
	Rules       string       `yaml:"rules" enum:"murksim,murk-0.1.9" default:"murksim" doc:"How a tick works: as here, or as in the original Murk engine."`
	TickRate    float64      `yaml:"tick_rate" default:"20" min:"1e-9" max:"1e9" doc:"Ticks a second; the step dt is 1/tick_rate."`
	Ticks       uint64       `yaml:"ticks" default:"1000" min:"1" max:"8796093022207" doc:"How many ticks a run has."`
	Space       Space        `yaml:"space,required" doc:"What the cells are and which are neighbours."`
	Fields      []Field      `yaml:"fields,required" doc:"The columns of the world, in order."`
	Entities    *Entities    `yaml:"entities" doc:"Things that live on cells."`
	Parameters  parameters   `yaml:"parameters" doc:"Named numbers that propagators read and commands set."`
	Propagators []Instance   `yaml:"propagators" doc:"What carries the fields forward each tick, in order."`
	Systems     []Instance   `yaml:"systems" doc:"What the entities do each tick, in order, after the propagators."`
	Commands    []Command    `yaml:"commands" doc:"What is done to the world, and at which ticks."`
	Expect      []Expect     `yaml:"expect" doc:"What must hold; a run that breaks it fails."`
	Stats       Stats        `yaml:"stats" doc:"Numbers of the whole world, of a name each, that are columns of tables and lines of charts: name to formula."`
	YREP        *YREP        `yaml:"yrep" doc:"What the things of the world are called in a YREP file."`
	Probes      []Probe      `yaml:"probes" doc:"Cells whose values run --stats writes down; a recording does not hold them."`
	Environment *Environment `yaml:"environment" doc:"What agents see, do and are rewarded for, so that they can learn in this world."`

	at      *document.Node
	lattice *space.Lattice
	spawns  int // entities of the initial population
	orders  int // commands that the document's commands stand for
	named   []namedSpawn
	headers []ruleHeader   // of patterns of the document
	built   *built         // nil: a document says it
	names   map[string]int // where they stand in named
	listed  bool           // they are known

	work, spawnWork uint64 // steps before the first tick

	nextKey   uint32          // of a rule's parameter that says none
	takenKeys map[uint32]bool // of parameters; looked up only
}

// What a scenario may have at most.
const (
	maxFields     = 1024
	maxComponents = 1024
	maxLayers     = 4096                    // of a field
	maxNames      = 4096                    // of a field's values, and of kinds
	maxOrders     = engine.DefaultQueue / 2 // the other half of the queue is for the first population
)

// formVersion is the version of the form.
const formVersion = 1

var namePattern = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_-]{0,63}$`)

// CheckName returns an error if a scenario cannot have a name.
func CheckName(name string) error { return checkName(nil, "scenario", name, nil) }

// checkName checks the name of a thing of the scenario, and that it is new.
func checkName(n *document.Node, what, name string, taken []string) error {
	switch {
	case !namePattern.MatchString(name):
		return n.Errorf("%q cannot name %s; use up to 64 letters, digits, _ and -, a letter first", name, article(what))
	case slices.Contains(taken, name):
		return n.Errorf("there is %s %q already", article(what), name)
	}
	return nil
}

// article puts "a" or "an" before a word.
func article(what string) string {
	if strings.ContainsAny(what[:1], "aeiou") {
		return "an " + what
	}
	return "a " + what
}

// check looks at what several parts must agree on.
func (s *Scenario) check(_ *decoder, n *document.Node) error {
	s.at = n
	if err := checkName(n.At("name"), "scenario", s.Name, nil); err != nil {
		return err
	}
	for _, k := range []struct {
		key   string
		there bool
	}{{"entities", s.Entities != nil}, {"parameters", len(s.Parameters) > 0}, {"systems", len(s.Systems) > 0}} {
		if k.there && s.Rules == engine.Murk019.String() {
			return n.At(k.key).Errorf("the rules %s have no %s", s.Rules, k.key)
		}
	}
	if count := len(s.Propagators) + len(s.Systems); count > maxComponents {
		return n.Errorf("%d propagators and systems; at most %d are allowed", count, maxComponents)
	}
	for i := range s.Fields {
		if f := &s.Fields[i]; f.Domain == "entities" && s.Entities == nil {
			return f.at.Errorf("field %q belongs to entities, but the scenario has no \"entities\"", f.Name)
		}
	}
	for i := range s.Propagators {
		x := &s.Propagators[i]
		if _, ok := x.params.(PropagatorMaker); !ok {
			return x.at.Errorf("%s is a system: list it under \"systems\"", x.Component)
		}
	}
	for i := range s.Systems {
		x := &s.Systems[i]
		if _, ok := x.params.(SystemMaker); !ok {
			return x.at.Errorf("%s is a propagator: list it under \"propagators\"", x.Component)
		}
		if s.Entities == nil {
			return x.at.Errorf("%s needs entities, but the scenario has no \"entities\"", x.Component)
		}
	}
	for i := range s.Expect {
		s.Expect[i].last = s.Ticks
	}
	if err := nameInstances(s.Propagators, s.Systems); err != nil {
		return err
	}
	if err := cmp.Or(s.nameEntities(), s.checkProbes(n)); err != nil {
		return err
	}
	if s.Entities != nil && s.spawns > min(s.Entities.Capacity, engine.DefaultQueue/2) {
		return n.At("entities").At("spawn").Errorf("%d entities at the start; capacity is %d, and at most %d can be spawned",
			s.spawns, s.Entities.Capacity, engine.DefaultQueue/2)
	}
	return nil
}

// field returns the field with a name, or nil.
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
	for _, p := range s.AllParameters() {
		if p.Name == name {
			return p.Key, true
		}
	}
	return 0, false
}

// AllParameters lists the numbers that commands can set: those of the scenario, and those of its rules, which are called NAME.PARAMETER.
func (s *Scenario) AllParameters() []Parameter {
	all := slices.Clone([]Parameter(s.Parameters))
	for _, list := range [...][]Instance{s.Propagators, s.Systems} {
		for i := range list {
			for _, p := range list[i].parameters() {
				p.Name = list[i].Name + "." + p.Name
				all = append(all, p)
			}
		}
	}
	return all
}

// checkSettings checks what may be changed after a scenario was read.
func (s *Scenario) checkSettings() error {
	if _, err := rng.ParseGenerator(s.Generator); err != nil {
		return s.at.At("generator").Errorf("the generator was set to %q, which is unknown", s.Generator).Because(err)
	}
	return nil
}

// Lattice returns the scenario's space.
func (s *Scenario) Lattice() *space.Lattice { return s.lattice }
