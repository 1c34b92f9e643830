package scenarios

import (
	"fmt"
	"math"
	"runtime"
	"slices"

	"github.com/murksim/murksim/commands"
	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/fields"
	"github.com/murksim/murksim/rng"
)

// Memory estimates the bytes that the world and its initial values take, for any
// number of workers, without making them.
func (s *Scenario) Memory() (uint64, error) {
	c := s.config()
	c.Workers = 1 // counts the spans twice: the workers' shares of them add up to all
	total, err := c.Memory()
	if err != nil {
		return 0, s.Locate(err)
	}
	const (
		initialBytes   = 8       // an element's initial value
		cellBytes      = 4*4 + 8 // a cell of a region while it is being laid out
		componentBytes = 4096 + engine.MaxWorkers*6*1024
		eventBytes     = 2400 // with its receipt, what undoes it, and room to grow
	)
	total += uint64(len(s.Propagators)+len(s.Systems)) * componentBytes
	cells, most := uint64(s.lattice.Cells()), uint64(0) // most: what is taken while something is made
	for i := range s.Fields {
		f := &s.Fields[i]
		if f.Initial.constant() {
			continue
		}
		total += cells * uint64(f.def.Type.Components()) * initialBytes
		for j := range f.Initial {
			if !f.Initial[j].all() {
				most = max(most, uint64(f.Initial[j].size(s.lattice))*cellBytes)
			}
		}
	}
	b := &Builder{s: s}
	for _, list := range [...][]Instance{s.Propagators, s.Systems} {
		for i := range list {
			if p, ok := list[i].params.(MemoryUser); ok {
				kept, making := p.Memory(b)
				total, most = total+kept, max(most, making)
			}
		}
	}
	looked := uint64(0) // bytes of a cell, while a formula is looked at
	for i := range s.Expect {
		if that := s.Expect[i].that; that != nil {
			looked = 9
			total += uint64(that.Columns()) * numberBytes * cells
		}
	}
	for i := range s.Stats {
		looked = 9
		total += uint64(s.Stats[i].that.Columns()) * numberBytes * cells
	}
	total += looked * cells
	if s.Entities != nil && looked > 0 {
		const each = 9 + 24 + 8 // bytes of an entity, likewise
		total += each * uint64(s.Entities.Capacity)
	}
	if s.Entities != nil {
		if s.Entities.Occupancy > 0 {
			most = cells * 4 // how many stand on each, while the first population is checked
		}
		if n := uint64(len(s.Systems)); n > 0 { // each may despawn or double every entity at once, and hunters their prey
			total += min((n+1)*uint64(s.Entities.Capacity), commands.MaxEvents) * eventBytes
		}
		for i := range s.Entities.Spawn {
			most = max(most, uint64(s.Entities.Spawn[i].size(s.lattice))*cellBytes)
		}
	}
	return total + most, nil
}

// MaxState returns how many bytes a saved state of the scenario's world takes at most.
func (s *Scenario) MaxState() (int64, error) {
	const other, eventBytes = 1 << 20, 128
	total, err := s.Memory() // has each column three times
	if err != nil {
		return 0, err
	}
	total += other
	custom := func(c Command) bool { return c.Custom != nil }
	if len(s.Systems) > 0 || slices.ContainsFunc(s.Commands, custom) { // they can schedule events
		total += commands.MaxPending * eventBytes
	}
	return int64(min(total, math.MaxInt64)), nil
}

// config returns the configuration without initial values and components. A generator
// that does not exist is left to checkSettings.
func (s *Scenario) config() engine.Config {
	if s.built != nil {
		c := s.built.config
		c.Seed = s.Seed
		return c
	}
	generator, _ := rng.ParseGenerator(s.Generator)
	rules, _ := engine.ParseRules(s.Rules)
	c := engine.Config{Space: s.Space.space(), Rules: rules, TickRate: s.TickRate, Seed: s.Seed, Generator: generator}
	for i := range s.Fields {
		c.Fields = append(c.Fields, s.Fields[i].def)
	}
	for _, p := range s.AllParameters() {
		c.Parameters = append(c.Parameters, engine.Parameter{Key: p.Key, Name: p.Name, Value: p.Value})
	}
	if s.Entities != nil {
		c.Capacity, c.Occupancy = s.Entities.Capacity, s.Entities.Occupancy
	}
	if len(s.named) > 0 {
		c.Accept = s.acceptSpawned
	}
	return c
}

// Config returns the configuration of the scenario's world, run by a number of workers; 0 is
// one a processor, where that pays.
// It computes the initial values, so it takes memory: see [Scenario.Memory].
func (s *Scenario) Config(workers int) (engine.Config, error) { return s.configure(workers, nil) }

func (s *Scenario) configure(workers int, step func(share float64) error) (engine.Config, error) {
	m := &making{all: s.work + 1, step: step}
	c := s.config()
	if s.built != nil {
		var err error
		if c, err = s.built.configure(s); err != nil {
			return c, err
		}
	}
	if c.Workers = workers; workers == 0 {
		//detcheck:allow environment no bit of the result depends on it
		c.Workers, c.Share = min(runtime.GOMAXPROCS(0), engine.MaxWorkers), engine.GoodShare
	}
	if err := s.checkSettings(); err != nil {
		return c, err
	}
	if s.built != nil {
		return c, nil
	}
	for i := range s.Fields {
		initial, err := s.initial(&s.Fields[i], m)
		if m.ended != nil {
			return c, m.ended
		}
		if err != nil {
			return c, s.Fields[i].at.Errorf("field %q: %s", s.Fields[i].Name, plain(err)).Because(err)
		}
		c.Fields[i].Initial = initial
	}
	b := &Builder{s: s, making: m}
	var before writers
	for i := range s.Propagators {
		x := &s.Propagators[i]
		if err := m.add(x.work(b)); err != nil {
			return c, err
		}
		p, err := x.params.(PropagatorMaker).Propagator(b, x.Name)
		if m.ended != nil {
			return c, m.ended
		}
		if err != nil {
			return c, x.errorf(err)
		}
		if err := before.add(s, x, p); err != nil {
			return c, err
		}
		c.Propagators = append(c.Propagators, p)
		if err := x.handlers(b, &c); err != nil {
			return c, err
		}
	}
	for i := range s.Systems {
		x := &s.Systems[i]
		if err := m.add(x.work(b)); err != nil {
			return c, err
		}
		p, err := x.params.(SystemMaker).System(b, x.Name)
		if m.ended != nil {
			return c, m.ended
		}
		if err != nil {
			return c, x.errorf(err)
		}
		c.Systems = append(c.Systems, p)
		if err := x.handlers(b, &c); err != nil {
			return c, err
		}
	}
	return c, nil
}

// handlers adds those of a component to a configuration.
func (x *Instance) handlers(b *Builder, c *engine.Config) error {
	maker, ok := x.params.(HandlerMaker)
	if !ok {
		return nil
	}
	list, err := maker.Handlers(b)
	if err != nil {
		return x.errorf(err)
	}
	for _, h := range list {
		for _, other := range c.Handlers {
			if h.Type() == other.Type() {
				return x.errorf(fmt.Errorf("another component handles custom commands of type %d already", h.Type()))
			}
		}
	}
	c.Handlers = append(c.Handlers, list...)
	return nil
}

// World builds the scenario's world at genesis; workers are those of Config.
func (s *Scenario) World(workers int) (*engine.World, error) { return s.Make(workers, nil) }

// Make builds the scenario's world as [Scenario.World] does. If that takes long, it calls
// step now and then with the share that is done, from 0 to 1, by estimate; an error of
// step ends it and is returned as it is.
func (s *Scenario) Make(workers int, step func(share float64) error) (*engine.World, error) {
	c, err := s.configure(workers, step)
	if err != nil {
		return nil, err
	}
	w, err := engine.New(c)
	return w, s.Locate(err)
}

// Restore builds the scenario's world in a state that its Save returned for the scenario's
// descriptor; step is that of [Scenario.Make].
func (s *Scenario) Restore(workers int, state []byte, step func(share float64) error) (*engine.World, error) {
	return s.RestoreAs(s.Descriptor(), workers, state, step)
}

// RestoreAs does so with a state that was saved for another descriptor.
func (s *Scenario) RestoreAs(descriptor []byte, workers int, state []byte, step func(share float64) error) (*engine.World, error) {
	c, err := s.configure(workers, step)
	if err != nil {
		return nil, err
	}
	w, err := engine.Restore(c, descriptor, state)
	return w, s.Locate(err)
}

// Setup returns what the header of a recording with this descriptor must say of the
// scenario's world. It makes neither the world nor its initial values.
func (s *Scenario) Setup(descriptor []byte) fields.Setup {
	c := s.config()
	return c.Setup(s.lattice.Cells(), descriptor)
}
