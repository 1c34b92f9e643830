package main

import (
	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/fields"
	"github.com/murksim/murksim/space"
)

// faults are planted by self-tests, which must see them caught. Each writes into the first
// field, within the bounds that scenarios set.
var faults = map[string]func() engine.Propagator{
	"order":  func() engine.Propagator { return planted(sumInMapOrder) },
	"fused":  func() engine.Propagator { return planted(sumOfProducts) },
	"memory": func() engine.Propagator { return &memory{} },
}

// field is the one that faults write.
const field fields.ID = 0

// A planted propagator writes what a function of the tick returns, from tick 20 on.
type planted func(tick uint64) float32

// Spec implements [engine.Propagator].
func (planted) Spec(*space.Lattice) engine.Spec {
	return engine.Spec{Name: "planted", Incremental: engine.Fields(field)}
}

// Step implements [engine.Propagator].
func (f planted) Step(c *engine.Context) error {
	if c.Tick() >= 20 {
		c.Next(field)[0] = f(c.Tick())
	}
	return nil
}

// sumInMapOrder adds up numbers in the order of a map, which differs from run to run.
func sumInMapOrder(uint64) (sum float32) {
	terms := map[int]float32{}
	for i := range 64 {
		terms[i] = 1 / float32(1+i*i*i)
	}
	for _, v := range terms {
		sum += v
	}
	return sum / 4
}

// sumOfProducts adds products that are not rounded first, which some processors do in one
// operation.
func sumOfProducts(tick uint64) (sum float32) {
	for i := range uint64(64) {
		sum += 1 / float32(1+i*i) * (1 / float32(tick+i)) // sic: the product is not rounded
	}
	return sum
}

// A memory writes how often it was called, which no state holds.
type memory struct{ calls float32 }

// Spec implements [engine.Propagator].
func (m *memory) Spec(*space.Lattice) engine.Spec {
	return engine.Spec{Name: "memory", Incremental: engine.Fields(field)}
}

// Step implements [engine.Propagator].
func (m *memory) Step(c *engine.Context) error {
	m.calls++
	c.Next(field)[0] = m.calls / 1024
	return nil
}
