// Package crystal is a crystal that grows in a vapour.
package crystal

import (
	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/fields"
	"github.com/murksim/murksim/scenarios"
	"github.com/murksim/murksim/space"
)

// Components lists what the world is made of beside the library. A version goes up
// when the same parameters give other results.
func Components() []scenarios.Component {
	return []scenarios.Component{
		{Name: "crystal_growth", Version: 1, Params: func() any { return new(crystalGrowth) },
			About: "Freezes cells onto a crystal from a vapour around it."},
	}
}

type crystalGrowth struct {
	Field  scenarios.FieldRef `yaml:"field,required" is:"a categorical field" doc:"0 is open, 1 is ice."`
	Vapour scenarios.FieldRef `yaml:"vapour,required" is:"a scalar field" doc:"How much vapour a cell holds."`
	Frost  scenarios.FieldRef `yaml:"frost,required" is:"a scalar field" doc:"How much of it has settled; from 1 on the cell is ice."`
	Rate   float64            `yaml:"rate,required" min:"0" doc:"The share of a cell's vapour that settles a second, for each neighbour of ice."`
	Flat   float64            `yaml:"flat" default:"1" min:"0" doc:"How much ice in the same layer counts, against 1 for others."`
}

func (p *crystalGrowth) Propagator(b *scenarios.Builder, name string) (engine.Propagator, error) {
	return crystal{name, b.Field(p.Field), b.Field(p.Vapour), b.Field(p.Frost), p.Rate, p.Flat}, nil
}

// crystal lets vapour settle beside ice and turn to ice:
//
//	settles = min(vapour·2U·Rate·dt·(Flat·a + b), vapour)
//	vapour -= settles,  frost += settles,  ice where frost ≥ 1
//
// where a neighbours of ice lie in the cell's own layer, that is, at the same last
// coordinate, b in others, and U is uniform in [0, 1). Vapour that is short around
// the ice reaches its tips first: branches form. What a cell holds when it freezes
// becomes frost, so the two together are conserved within rounding.
type crystal struct {
	name               string
	ice, vapour, frost fields.ID
	rate, flat         float64
}

// Spec implements [engine.Propagator].
func (x crystal) Spec(*space.Lattice) engine.Spec {
	return engine.Spec{
		Name: x.name, Parallel: true,
		Prev: engine.Fields(x.ice), Full: engine.Fields(x.ice), Incremental: engine.Fields(x.vapour, x.frost),
	}
}

// Check implements [engine.Checker].
func (x crystal) Check(_ *space.Lattice, defs []fields.Def) error {
	if n := defs[x.ice].Type.N; n < 2 {
		return engine.ArgErrorf("field", "field %q has %d values; open and ice are needed", defs[x.ice].Name, n)
	}
	if x.vapour == x.frost {
		return engine.ArgErrorf("frost", "vapour and frost are both field %q", defs[x.frost].Name)
	}
	return nil
}

// Step implements [engine.Propagator].
func (x crystal) Step(c *engine.Context) error {
	prev, next, vapour, frost := c.Prev(x.ice), c.Next(x.ice), c.Next(x.vapour), c.Next(x.frost)
	draws := c.Bulk(0)
	rate, flat := float32(2*float64(x.rate*c.Dt())), float32(x.flat)
	for _, s := range c.Spans() {
		for i, cell := 0, s.First; i < s.Count; i, cell = i+1, cell+s.Stride {
			next[cell] = prev[cell]
			if prev[cell] != 0 {
				continue
			}
			w := besideIce(prev, cell, s.Pattern, flat)
			if w == 0 {
				continue
			}
			share := min(float32(float32(draws.Float32(uint64(cell))*rate)*w), 1)
			settles := float32(vapour[cell] * share)
			vapour[cell] -= settles
			frost[cell] += settles
			if frost[cell] >= 1 {
				next[cell] = 1
				frost[cell] += vapour[cell]
				vapour[cell] = 0
			}
		}
	}
	return nil
}

// besideIce returns the weighted number of a cell's neighbours of ice.
func besideIce(ice []float32, cell int, p *space.Pattern, flat float32) (w float32) {
	for k, o := range p.Offsets {
		if ice[cell+o] == 0 {
			continue
		}
		if d := p.Deltas[k]; d.At(d.Dim()-1) == 0 {
			w += flat
		} else {
			w++
		}
	}
	return w
}
