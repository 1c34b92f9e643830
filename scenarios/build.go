package scenarios

import (
	"errors"
	"fmt"
	"math"
	"reflect"
	"runtime"
	"strconv"
	"strings"

	"github.com/murksim/murksim/commands"
	"github.com/murksim/murksim/engine"
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
	cells, most := uint64(s.lattice.Cells()), uint64(0)
	for i := range s.Fields {
		f := &s.Fields[i]
		if f.Initial.constant() {
			continue
		}
		total += cells * uint64(f.def.Type.Components()) * initialBytes
		for j := range f.Initial {
			if !f.Initial[j].all() {
				most = max(most, uint64(f.Initial[j].size(s.lattice)))
			}
		}
	}
	for i := range s.Propagators {
		if p, ok := s.Propagators[i].params.(*diffusion); ok {
			for j := range p.Hold {
				size := uint64(p.Hold[j].size(s.lattice))
				total, most = total+size*3*initialBytes, max(most, size)
			}
		}
	}
	if s.Entities != nil {
		if n := uint64(len(s.Systems)); n > 0 { // each may despawn or double every entity at once, and hunters their prey
			total += min((n+1)*uint64(s.Entities.Capacity), commands.MaxEvents) * eventBytes
		}
		for i := range s.Entities.Spawn {
			most = max(most, uint64(s.Entities.Spawn[i].size(s.lattice)))
		}
	}
	return total + most*cellBytes, nil
}

// config is the configuration without initial values and components. A generator
// that does not exist is left to checkSettings.
func (s *Scenario) config() engine.Config {
	generator, _ := rng.ParseGenerator(s.Generator)
	rules, _ := engine.ParseRules(s.Rules)
	c := engine.Config{Space: s.Space.space(), Rules: rules, TickRate: s.TickRate, Seed: s.Seed, Generator: generator}
	for i := range s.Fields {
		c.Fields = append(c.Fields, s.Fields[i].def)
	}
	for _, p := range s.Parameters {
		c.Parameters = append(c.Parameters, engine.Parameter{Key: p.Key, Name: p.Name, Value: p.Value})
	}
	if s.Entities != nil {
		c.Capacity, c.Occupancy = s.Entities.Capacity, s.Entities.Occupancy
	}
	return c
}

// Config is the configuration of the scenario's world, run by a number of workers; 0 is
// one a processor, where that pays.
// It computes the initial values, so it takes memory: see [Scenario.Memory].
func (s *Scenario) Config(workers int) (engine.Config, error) {
	c := s.config()
	if c.Workers = workers; workers == 0 {
		//detcheck:allow environment no bit of the result depends on it
		c.Workers, c.Share = min(runtime.GOMAXPROCS(0), engine.MaxWorkers), engine.GoodShare
	}
	if err := s.checkSettings(); err != nil {
		return c, err
	}
	for i := range s.Fields {
		initial, err := s.initial(&s.Fields[i])
		if err != nil {
			return c, s.Fields[i].at.errorf("field %q: %s", s.Fields[i].Name, plain(err)).because(err)
		}
		c.Fields[i].Initial = initial
	}
	b := &builder{s, s.lattice}
	for i := range s.Propagators {
		p := &s.Propagators[i]
		propagator, err := p.params.(propagating).propagator(b, p.Name)
		if err != nil {
			return c, p.at.errorf("%s %q: %s", p.Kind, p.Name, plain(err)).because(err)
		}
		c.Propagators = append(c.Propagators, propagator)
	}
	for i := range s.Systems {
		p := &s.Systems[i]
		system, err := p.params.(systematic).system(b, p.Name)
		if err != nil {
			return c, p.at.errorf("%s %q: %s", p.Kind, p.Name, plain(err)).because(err)
		}
		c.Systems = append(c.Systems, system)
	}
	return c, nil
}

// World builds the scenario's world at genesis; workers are those of Config.
func (s *Scenario) World(workers int) (*engine.World, error) {
	c, err := s.Config(workers)
	if err != nil {
		return nil, err
	}
	w, err := engine.New(c)
	return w, s.Locate(err)
}

// Locate turns an error of the engine about the scenario's configuration into an
// [*Error] that points at the place in the document. Other errors it returns as
// they are.
func (s *Scenario) Locate(err error) error {
	e, ok := errors.AsType[*engine.ConfigError](err)
	if !ok {
		return err
	}
	switch {
	case e.Part == "space":
		return s.at.at("space").errorf("%s", plain(e.Err)).because(err)
	case e.Part == "field" && e.Index >= 0 && e.Index < len(s.Fields):
		return s.Fields[e.Index].at.errorf("%s", plain(e.Err)).because(err)
	case e.Part == "propagator" && e.Index >= 0 && e.Index < len(s.Propagators):
		return s.locate(&s.Propagators[e.Index], e)
	case e.Part == "system" && e.Index >= 0 && e.Index < len(s.Systems):
		return s.locate(&s.Systems[e.Index], e)
	}
	return s.at.errorf("%s", plain(err)).because(err)
}

// locate points at a component.
func (s *Scenario) locate(c *Component, err *engine.ConfigError) error {
	unstable, ok := errors.AsType[*engine.UnstableError](err)
	if !ok {
		text := plain(err.Err)
		at, what := c.keyIn(text), c.Kind
		if c.Name != c.Kind {
			what += fmt.Sprintf(" %q", c.Name)
		}
		return at.errorf("%s: %s", what, text).because(err)
	}
	k, params, of := kindOf(c.Kind), c.at.kids[1], ""
	for _, key := range [...]string{"field", "displacement"} {
		if field := params.scalarOf(key); field != "" {
			of = fmt.Sprintf(" of %q", field)
		}
	}
	rate, limit, lower := "", unstable.MaxDt, ""
	if v := params.get(k.stiff); v != nil {
		if now, bad := v.float(); bad == nil {
			rate = fmt.Sprintf("for %s %v ", k.stiff, now)
			if text, ok := s.stable(c, k.stiff, float64(now*(limit/unstable.Dt)), unstable.Dt); ok {
				lower = fmt.Sprintf(", or lower %s to %s", k.stiff, text)
			}
		}
	}
	e := c.at.errorf("%s%s would be unstable: dt is %v s, the limit %son %s (%d neighbours) is %s s",
		c.Kind, of, unstable.Dt, rate, s.lattice.Kind(), unstable.MaxDegree, roundDown(limit))
	e.Hint = fmt.Sprintf("raise tick_rate to %s or more%s", roundUp(1/limit), lower)
	return e.because(err)
}

// keyIn is the parameter that a message begins with, or the component.
func (c *Component) keyIn(text string) *node {
	words := strings.Fields(strings.NewReplacer(":", " ", ",", " ").Replace(text))
	key := ""
	for i := 0; i < min(len(words), 3); i++ {
		key = strings.TrimPrefix(key+"_"+words[i], "_")
		if at := c.at.kids[1].get(key); at != nil {
			return at
		}
	}
	return c.at
}

// stable finds a value of a propagator's parameter, near one or below, with which
// the time step is short enough.
func (s *Scenario) stable(c *Component, parameter string, near, dt float64) (text string, ok bool) {
	const tries = 100
	v := reflect.New(reflect.TypeOf(c.params).Elem())
	v.Elem().Set(reflect.ValueOf(c.params).Elem())
	for _, k := range keysOf(v.Type().Elem()) {
		if k.name != parameter {
			continue
		}
		for range tries {
			text = roundDown(near)
			lower, err := strconv.ParseFloat(text, 64)
			if err != nil {
				return "", false
			}
			v.Elem().FieldByIndex(k.index).SetFloat(lower)
			p, err := v.Interface().(propagating).propagator(&builder{s, s.lattice}, c.Name)
			if err != nil {
				return "", false
			}
			if limit := p.Spec(s.lattice).MaxDt; limit == 0 || dt <= limit {
				return text, lower > 0
			}
			near = float64(near * 0.97)
		}
	}
	return "", false
}

// roundDown is v to four digits, not above it.
func roundDown(v float64) string {
	s := strconv.FormatFloat(v, 'g', 4, 64)
	if r, err := strconv.ParseFloat(s, 64); err == nil && r > v {
		s = strconv.FormatFloat(v-(r-v)-float64(math.Abs(v)*1e-4), 'g', 4, 64)
	}
	return s
}

// roundUp is v as a whole number, not below it, if it is above 1; else to four digits.
func roundUp(v float64) string {
	if v >= 1 {
		return strconv.FormatFloat(math.Ceil(v*(1-1e-12)), 'f', -1, 64)
	}
	return strconv.FormatFloat(float64(v*1.001), 'g', 4, 64)
}
