package scenarios

import (
	"fmt"

	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/fields"
	"github.com/murksim/murksim/space"
)

type crystalGrowth struct {
	Field  FieldRef `yaml:"field,required" is:"a categorical field" doc:"0 is vapour, 1 is ice."`
	Vapour FieldRef `yaml:"vapour,required" is:"a scalar field" doc:"How much vapour a cell holds; freezing uses it up."`
	Rate   float64  `yaml:"rate,required" min:"0" doc:"Per second, per unit of vapour and per frozen neighbour."`
	Flat   float64  `yaml:"flat" default:"1" min:"0" doc:"How much a frozen neighbour in the same layer counts, against 1 for others."`
}

func (p *crystalGrowth) propagator(b *builder, name string) (engine.Propagator, error) {
	return crystal{name, b.field(p.Field), b.field(p.Vapour), p.Rate, p.Flat}, nil
}

// crystal freezes cells beside ice. A cell freezes with the chance
//
//	min(Rate·dt·vapour·(Flat·a + b), 1)
//
// where a frozen neighbours lie in its own layer, that is, at the same last
// coordinate, and b in others. The vapour of a frozen cell is gone.
type crystal struct {
	name       string
	ice        fields.ID
	vapour     fields.ID
	rate, flat float64
}

// Spec implements [engine.Propagator].
func (x crystal) Spec(*space.Lattice) engine.Spec {
	return engine.Spec{
		Name: x.name, Prev: engine.Fields(x.ice), Full: engine.Fields(x.ice), Incremental: engine.Fields(x.vapour), Parallel: true,
	}
}

// Check implements [engine.Checker].
func (x crystal) Check(_ *space.Lattice, defs []fields.Def) error {
	if n := defs[x.ice].Type.N; n < 2 {
		return fmt.Errorf("field %q has %d values; vapour and ice are needed", defs[x.ice].Name, n)
	}
	return nil
}

// Step implements [engine.Propagator].
func (x crystal) Step(c *engine.Context) error {
	prev, next, vapour, draws := c.Prev(x.ice), c.Next(x.ice), c.Next(x.vapour), c.Bulk(0)
	rate, flat := float32(float64(x.rate*c.Dt())), float32(x.flat)
	for _, s := range c.Spans() {
		for i, cell := 0, s.First; i < s.Count; i, cell = i+1, cell+s.Stride {
			v := prev[cell]
			if v == 0 {
				if w := frozen(prev, cell, s.Pattern, flat); w > 0 && draws.Float32(uint64(cell)) < float32(float32(rate*vapour[cell])*w) {
					v = 1
				}
			}
			if next[cell] = v; v != 0 {
				vapour[cell] = 0
			}
		}
	}
	return nil
}

// frozen is the weighted number of a cell's frozen neighbours.
func frozen(ice []float32, cell int, p *space.Pattern, flat float32) (w float32) {
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
