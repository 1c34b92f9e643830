package main

import (
	"encoding/json"
	"fmt"

	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/fields"
	"github.com/murksim/murksim/replay"
	"github.com/murksim/murksim/space"
)

// The one field, and what a cell can be in it. Each cell is a person who meets the four neighbours.
const (
	Health fields.ID = iota

	Susceptible, Infected, Recovered = 0, 1, 2
)

// A Model is an epidemic of Kermack and McKendrick on a torus. It begins with one infected person.
type Model struct {
	Side  int     `json:"side"`  // rows, and columns
	Beta  float64 `json:"beta"`  // probability that an infected person infects a susceptible neighbour in a tick
	Gamma float64 `json:"gamma"` // probability that an infected person recovers in a tick
}

// A descriptor says in a recording which model it is of. Change the version when the rules change.
type descriptor struct {
	Model   string `json:"model"`
	Version int    `json:"version"`
	With    Model  `json:"with"`
}

// Descriptor is what a recording of the model begins with.
func (m Model) Descriptor() ([]byte, error) { return json.Marshal(descriptor{"epidemic", 1, m}) }

// Build builds the world of a recording: a [replay.Builder]. A recording may come from anyone, so World checks the numbers.
func Build(h *replay.Header) (*engine.World, error) {
	var d descriptor
	if err := json.Unmarshal(h.World(), &d); err != nil || d.Model != "epidemic" || d.Version != 1 {
		return nil, fmt.Errorf("not a recording of version 1 of the epidemic: %q", h.World())
	}
	return d.With.World(h.Seed)
}

// World builds the world at tick 0.
func (m Model) World(seed uint64) (*engine.World, error) {
	if m.Side < 1 || m.Side > 4096 {
		return nil, fmt.Errorf("side must be 1 to 4096, not %d", m.Side)
	}
	return engine.New(m.Config(seed))
}

// Config is what the world is made of.
func (m Model) Config(seed uint64) engine.Config {
	first := make([]float64, m.Side*m.Side)
	first[len(first)/2] = Infected
	return engine.Config{
		Space: space.Square4{Rows: m.Side, Cols: m.Side, Edge: space.Wrap},
		Fields: []fields.Def{
			Health: {Name: "health", Type: fields.Categorical(3), Initial: fields.Values(first),
				Values: []string{"susceptible", "infected", "recovered"}},
		},
		Propagators: []engine.Propagator{contagion{m}},
		Seed:        seed,
	}
}

// Count counts the people of each sort.
func Count(w *engine.World) (people [3]int) {
	for _, health := range w.Column(Health).Float32 {
		people[int(health)]++
	}
	return people
}

// A contagion is the rule. It keeps nothing but the numbers of the model: what a later tick needs is in the field.
type contagion struct{ Model }

// Spec implements [engine.Propagator].
func (contagion) Spec(*space.Lattice) engine.Spec {
	return engine.Spec{Name: "contagion", Prev: engine.Fields(Health), Full: engine.Fields(Health), Parallel: true}
}

// Check implements [engine.Checker].
func (p contagion) Check(*space.Lattice, []fields.Def) error {
	if !(p.Beta >= 0 && p.Beta <= 1) {
		return engine.ArgErrorf("beta", "beta must be 0 to 1, not %v", p.Beta)
	}
	if !(p.Gamma >= 0 && p.Gamma <= 1) {
		return engine.ArgErrorf("gamma", "gamma must be 0 to 1, not %v", p.Gamma)
	}
	return nil
}

// Step implements [engine.Propagator]. The draw of a cell depends on the seed, the tick and the cell alone, so any number of workers may
// share the cells.
func (p contagion) Step(c *engine.Context) error {
	prev, next, chance := c.Prev(Health), c.Next(Health), c.Bulk(0)
	spared, gamma := float32(1-p.Beta), float32(p.Gamma)
	for _, s := range c.Spans() {
		for cell := s.First; cell < s.First+s.Count*s.Stride; cell += s.Stride {
			next[cell] = prev[cell]
			switch prev[cell] {
			case Susceptible:
				escape := float32(1) // the probability that no neighbour infects this one
				for _, offset := range s.Pattern.Offsets {
					if prev[cell+offset] == Infected {
						escape = float32(escape * spared)
					}
				}
				if chance.Float32(uint64(cell)) >= escape {
					next[cell] = Infected
				}
			case Infected:
				if chance.Float32(uint64(cell)) < gamma {
					next[cell] = Recovered
				}
			}
		}
	}
	return nil
}
