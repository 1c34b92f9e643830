// Package faults holds what must never get into a simulation: systems that break the
// rules of determinism, and wrappers that change what a system of a configuration does.
// They are planted from outside, to see that they are caught.
package faults

import (
	"fmt"
	"slices"

	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/fields"
	"github.com/murksim/murksim/space"
)

// A Fault is something wrong that shows for the first time at its tick. The zero value
// is none.
type Fault struct {
	Name   string
	Tick   uint64
	Entity uint64 // whom it is about, if it is about one
}

// Plant puts the fault into the configuration of a colony.
func (f Fault) Plant(c *engine.Config) error {
	lattice, err := c.Space.Build()
	if err != nil {
		return err
	}
	p := &plot{Fault: f, c: c, lattice: lattice}
	switch f.Name {
	case "":
	case "identity":
		p.identity()
	case "tie":
		p.tie()
	case "nudge", "hair":
		by := map[string]int64{"nudge": 7, "hair": 1}[f.Name]
		p.lift(func(tick uint64) int64 { return only(tick == f.Tick, by) })
	case "draw in ai":
		p.draw("ai", f.Entity, func(tick uint64) bool { return tick == f.Tick })
	case "draws in physics":
		p.draw("physics", 0, func(tick uint64) bool { return tick >= f.Tick })
	case "skip":
		p.every(func(e *engine.SystemContext, next func() error) error { return unless(e.Tick() == f.Tick, next) })
	case "double":
		p.wrap("bio", nil, func(e *engine.SystemContext, next func() error) error { return p.twice(e, next) })
	case "slow":
		p.every(slow)
	case "hidden":
		calls := int64(0)
		p.lift(func(tick uint64) int64 { calls++; return only(tick >= f.Tick, calls) })
	case "package":
		p.lift(func(tick uint64) int64 { return only(tick >= f.Tick, called()) })
	case "processors":
		p.lift(func(tick uint64) int64 { return only(tick >= f.Tick, bySum()) })
	case "clock":
		p.lift(func(tick uint64) int64 { return only(tick == f.Tick, now()) })
	case "order", "backwards":
		p.feast(f.Name)
	default:
		return fmt.Errorf("there is no fault %q", f.Name)
	}
	return p.err
}

// only is v if it applies, else 0.
func only(applies bool, v int64) int64 {
	if applies {
		return v
	}
	return 0
}

func unless(skip bool, next func() error) error {
	if skip {
		return nil
	}
	return next()
}

// A plot is a configuration into which a fault is being planted.
type plot struct {
	Fault
	c       *engine.Config
	lattice *space.Lattice
	err     error
}

// column finds a field by its name.
func (p *plot) column(name string) fields.ID {
	i := slices.IndexFunc(p.c.Fields, func(d fields.Def) bool { return d.Name == name })
	if i < 0 {
		p.err = fmt.Errorf("the world has no field %q to plant %q in", name, p.Name)
		return 0
	}
	return fields.ID(i)
}

// wrapped does something else in place of a system, which it may let act by next. It
// keeps its name, and with it its random streams.
type wrapped struct {
	engine.System
	writes []fields.ID // what it writes beside what the system does
	do     func(c *engine.SystemContext, next func() error) error
}

// Spec implements [engine.System]. Nothing is written in full, for do may leave it out.
func (w wrapped) Spec(l *space.Lattice) engine.Spec {
	s := w.System.Spec(l)
	s.Incremental = slices.Clone(s.Incremental)
	for _, id := range slices.Concat(s.Full, w.writes) {
		if !slices.Contains(s.Incremental, id) {
			s.Incremental = append(s.Incremental, id)
		}
	}
	s.Full = nil
	return s
}

// Update implements [engine.System].
func (w wrapped) Update(c *engine.SystemContext) error {
	return w.do(c, func() error { return w.System.Update(c) })
}

// wrap wraps the system of a name.
func (p *plot) wrap(name string, writes []fields.ID, do func(*engine.SystemContext, func() error) error) {
	for i, s := range p.c.Systems {
		if s.Spec(p.lattice).Name == name {
			p.c.Systems[i] = wrapped{s, writes, do}
			return
		}
	}
	p.err = fmt.Errorf("the world has no system %q to plant %q in", name, p.Name)
}

// every wraps all systems.
func (p *plot) every(do func(*engine.SystemContext, func() error) error) {
	for i, s := range p.c.Systems {
		p.c.Systems[i] = wrapped{s, nil, do}
	}
}

// lift adds raw units to the altitude of the entity when physics is done.
func (p *plot) lift(by func(tick uint64) int64) {
	altitude := p.column("altitude")
	p.wrap("physics", engine.Fields(altitude), func(c *engine.SystemContext, next func() error) error {
		if err := next(); err != nil {
			return err
		}
		raw := by(c.Tick())
		if slot, ok := c.Slot(p.Entity); ok {
			c.NextColumn(altitude).Fixed[slot] += raw
		}
		return nil
	})
}

// draw takes a number from a stream of a system when that is done, for nothing.
func (p *plot) draw(system string, number uint64, at func(tick uint64) bool) {
	p.wrap(system, nil, func(c *engine.SystemContext, next func() error) error {
		err := next()
		if at(c.Tick()) {
			c.Stream(number).Uint64()
		}
		return err
	})
}

// twice lets a system act twice at the tick.
func (p *plot) twice(c *engine.SystemContext, next func() error) error {
	if err := next(); err != nil || c.Tick() != p.Tick {
		return err
	}
	return next()
}
