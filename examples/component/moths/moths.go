// Package moths has two components: a wind, and moths that look for what it carries.
package moths

import (
	"errors"

	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/fields"
	"github.com/murksim/murksim/scenarios"
	"github.com/murksim/murksim/space"
)

// Components lists what scenarios can name. Raise a version when the same parameters give other results.
func Components() []scenarios.Component {
	return []scenarios.Component{
		{Name: "wind", Version: 1, About: "Blows a field along, in gusts.", Lower: "speed", Params: func() any { return new(windParams) }},
		{Name: "moths", Version: 1, About: "Lets entities look for a scent.", Params: func() any { return new(mothParams) }},
	}
}

// mothParams are the keys of moths in a scenario.
type mothParams struct {
	Kind   scenarios.Kind     `yaml:"kind,required" doc:"The kind of entities that are moths."`
	Scent  scenarios.FieldRef `yaml:"scent,required" is:"a scalar field" doc:"What they follow."`
	Visits scenarios.FieldRef `yaml:"visits,required" is:"a scalar field" doc:"How many steps have led to a cell."`
	Keen   float64            `yaml:"keen" default:"0.5" min:"0" max:"1" doc:"How likely a step follows the scent; the others go anywhere."`
}

// System implements [scenarios.SystemMaker].
func (p *mothParams) System(b *scenarios.Builder, name string) (engine.System, error) {
	if b.Occupancy() != 0 {
		return nil, errors.New("moths share cells; leave out occupancy")
	}
	_, _, cell := engine.EntityColumns(len(b.Defs()))
	return moths{name, b.Kind(p.Kind), b.Field(p.Scent), b.Field(p.Visits), cell, float32(p.Keen)}, nil
}

type moths struct {
	name                string
	kind                int32
	scent, visits, cell fields.ID
	keen                float32
}

// Spec implements [engine.System].
func (m moths) Spec(*space.Lattice) engine.Spec {
	return engine.Spec{Name: m.name, Now: engine.Fields(m.scent), Incremental: engine.Fields(m.visits, m.cell)}
}

// Update implements [engine.System]: each moth goes one step.
func (m moths) Update(c *engine.SystemContext) error {
	all, draws := c.Entities(), c.EntityBulk(0)
	scent, visits, cells := c.Now(m.scent), c.Next(m.visits), c.NextColumn(m.cell).Int32
	var near []int32
	for slot := range all.Live() {
		near = c.Lattice().AppendNeighbours(near[:0], int(cells[slot]))
		if all.Kind[slot] != m.kind || len(near) == 0 {
			continue
		}
		words := draws.Words(all.ID[slot])
		to := near[words.Below(uint64(len(near)))]
		if words.Float32() < m.keen {
			for _, cell := range near {
				if scent[cell] > scent[to] {
					to = cell
				}
			}
		}
		cells[slot] = to
		visits[to]++
	}
	return nil
}
