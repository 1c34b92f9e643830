package moths

import (
	"slices"

	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/fields"
	"github.com/murksim/murksim/scenarios"
	"github.com/murksim/murksim/space"
)

// windParams are the keys of a wind in a scenario.
type windParams struct {
	Field scenarios.FieldRef `yaml:"field,required" is:"a scalar field" doc:"What is blown along."`
	From  string             `yaml:"from" default:"west" doc:"The direction from which the wind blows."`
	Speed float64            `yaml:"speed,required" min:"0" doc:"Cells a second, in the strongest gusts."`
}

// Propagator implements [scenarios.PropagatorMaker]. An ArgError is shown at its key in the scenario.
func (p *windParams) Propagator(b *scenarios.Builder, name string) (engine.Propagator, error) {
	from := slices.IndexFunc(b.Lattice().Directions(), func(d space.Direction) bool { return d.Name == p.From })
	if from < 0 {
		return nil, engine.ArgErrorf("from", "%s has no direction %q", b.Lattice().Kind(), p.From)
	}
	return wind{name, b.Field(p.Field), uint8(from), p.Speed}, nil
}

// A wind carries a share of what each cell holds into the next one. It keeps nothing between ticks.
type wind struct {
	name  string
	field fields.ID
	from  uint8
	speed float64
}

// Spec implements [engine.Propagator]: the wind goes on with what the propagators before it made of the field. A step longer than MaxDt
// would be unstable.
func (w wind) Spec(*space.Lattice) engine.Spec {
	return engine.Spec{Name: w.name, Now: engine.Fields(w.field), Incremental: engine.Fields(w.field), MaxDt: 1 / w.speed}
}

// Step implements [engine.Propagator].
func (w wind) Step(c *engine.Context) error {
	now, next := c.Now(w.field), c.Next(w.field)
	gust := c.Stream(0).Float32() // of the whole tick
	share := float32(gust * float32(w.speed*c.Dt()))
	for _, s := range c.Spans() {
		upwind := slices.Index(s.Pattern.Dirs, w.from) // -1 at the edge, where clean air comes in
		for cell := s.First; cell < s.First+s.Count*s.Stride; cell += s.Stride {
			coming := float32(0)
			if upwind >= 0 {
				coming = now[cell+s.Pattern.Offsets[upwind]]
			}
			next[cell] = now[cell] + float32(share*(coming-now[cell]))
		}
	}
	return nil
}
