package ask_test

import (
	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/fields"
	"github.com/murksim/murksim/replay"
	"github.com/murksim/murksim/space"
)

// The pond is the world of these tests: a ring with heat that spreads with the wind.
const (
	pondHeat = 0
	pondWind = 1
)

var pondDescriptor = []byte("the pond")

type spread struct{}

func (spread) Spec(*space.Lattice) engine.Spec {
	return engine.Spec{Name: "spread", Prev: engine.Fields(pondHeat), Full: engine.Fields(pondHeat)}
}

func (spread) Step(c *engine.Context) error {
	prev, next, wind := c.Prev(pondHeat), c.Next(pondHeat), float32(c.Parameter(pondWind))
	for i := range next {
		next[i] = prev[i] + float32(wind*(prev[(i+1)%len(prev)]-prev[i]))
	}
	return nil
}

// pond is the builder of recordings of the pond.
func pond(*replay.Header) (*engine.World, error) { return engine.New(pondConfig(spread{})) }

func pondConfig(p engine.Propagator) engine.Config {
	return engine.Config{
		Space:       space.Ring{Length: 6},
		Fields:      []fields.Def{{Name: "heat", Initial: fields.Values([]float64{6, 5, 4, 3, 2, 1})}},
		Propagators: []engine.Propagator{p},
		Parameters:  []engine.Parameter{{Key: pondWind, Name: "wind", Value: 0.375}},
		Seed:        11,
	}
}
