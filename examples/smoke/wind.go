package main

import (
	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/fields"
	"github.com/murksim/murksim/scenarios"
	"github.com/murksim/murksim/space"
)

// components lists what the world is made of beside the library.
func components() []scenarios.Component {
	return []scenarios.Component{{
		Name: "wind", Version: 1, About: "Blows smoke around a ring, in gusts.",
		Params: func() any { return new(params) },
	}}
}

// params are the keys of a wind in a scenario.
type params struct {
	Field scenarios.FieldRef `yaml:"field,required" is:"a scalar field" doc:"What is blown along."`
}

// Propagator implements [scenarios.PropagatorMaker].
func (p *params) Propagator(b *scenarios.Builder, name string) (engine.Propagator, error) {
	return &wind{name: name, smoke: b.Field(p.Field)}, nil
}

// A wind blows a share of the smoke of each cell into the next. It rises and falls in gusts.
type wind struct {
	name  string
	smoke fields.ID
	gust  float32 // the share
}

// Spec implements [engine.Propagator].
func (w *wind) Spec(*space.Lattice) engine.Spec {
	return engine.Spec{Name: w.name, Incremental: engine.Fields(w.smoke)}
}

// Step implements [engine.Propagator].
func (w *wind) Step(c *engine.Context) error {
	w.gust += float32((c.Stream(0).Float32() - w.gust) / 8) // the mistake: a memory outside of the state
	smoke := c.Next(w.smoke)
	before := smoke[len(smoke)-1]
	for cell, here := range smoke {
		smoke[cell] = here + float32(w.gust*(before-here))
		before = here
	}
	return nil
}
