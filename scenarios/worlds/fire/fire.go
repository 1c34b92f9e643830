// Package fire is a forest that burns and grows back.
package fire

import (
	"fmt"

	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/fields"
	"github.com/murksim/murksim/scenarios"
	"github.com/murksim/murksim/space"
)

// Components lists what the world is made of beside the library. A version goes up
// when the same parameters give other results.
func Components() []scenarios.Component {
	return []scenarios.Component{
		{Name: "forest_fire", Version: 1, Params: func() any { return new(forestFire) },
			About: "Burns and regrows a forest, with wind and lightning."},
	}
}

// The states of a cell of a burning forest; all above stay as they are.
const (
	bare    = 0
	tree    = 1
	burning = 2
)

type forestFire struct {
	Field     scenarios.FieldRef `yaml:"field,required" is:"a categorical field" doc:"bare, tree, burning, and any states that do not burn."`
	Spread    float64            `yaml:"spread,required" min:"0" doc:"How often a second a burning neighbour sets a tree on fire, without wind."`
	Burn      float64            `yaml:"burn,required" above:"0" doc:"How many seconds a tree burns, on average."`
	Growth    float64            `yaml:"growth" min:"0" doc:"How often a second a tree grows on bare ground."`
	Lightning float64            `yaml:"lightning" min:"0" doc:"How often a second lightning strikes a tree."`
	Wind      scenarios.ParamRef `yaml:"wind,required" doc:"The parameter that says where the wind blows: 0 east, 1 northeast, up to 5 southeast."`
	Strength  scenarios.ParamRef `yaml:"strength,required" doc:"The parameter that says how strong the wind is, 0 to 1."`
}

func (p *forestFire) Propagator(b *scenarios.Builder, name string) (engine.Propagator, error) {
	wind, _ := b.Parameter(p.Wind)
	strength, _ := b.Parameter(p.Strength)
	return fire{name, b.Field(p.Field), p.Spread, p.Burn, p.Growth, p.Lightning, wind, strength}, nil
}

// fire burns and regrows a forest on hexes, one random number a cell and tick:
//
//	tree    catches fire with 1 - (1 - Lightning·dt)·Π(1 - Spread·dt·f), over its burning neighbours
//	burning goes out with dt/Burn
//	bare    becomes a tree with Growth·dt
//
// where f = 1 + strength·(1 - 2δ/3) and δ, 0 to 3, is the angle between the wind and
// the way the fire goes, in sixths of a turn: with full strength twice as fast with
// the wind, and not at all straight against it.
type fire struct {
	name           string
	field          fields.ID
	spread, burn   float64
	growth, strike float64
	wind, strength uint32 // parameters
}

// Spec implements [engine.Propagator].
func (f fire) Spec(*space.Lattice) engine.Spec {
	return engine.Spec{Name: f.name, Prev: engine.Fields(f.field), Full: engine.Fields(f.field), Parallel: true}
}

// Check implements [engine.Checker].
func (f fire) Check(l *space.Lattice, defs []fields.Def) error {
	if !sixfold(l) {
		return fmt.Errorf("needs a space of hexes, not %s", l.Kind())
	}
	if n := defs[f.field].Type.N; n <= burning {
		return engine.ArgErrorf("field", "field %q has %d values; bare, tree and burning are needed", defs[f.field].Name, n)
	}
	return nil
}

// sixfold reports whether a lattice is a plane with six directions, counterclockwise from
// the east.
func sixfold(l *space.Lattice) bool {
	_, ok := l.Layout()
	dirs := l.Directions()
	return ok && l.Dim() == 2 && len(dirs) == 6 && dirs[0].Name == "east" && dirs[1].Opposite == 4 && dirs[1].Way[1] < 0
}

// Step implements [engine.Propagator].
func (f fire) Step(c *engine.Context) error {
	prev, next, draws := c.Prev(f.field), c.Next(f.field), c.Bulk(0)
	dt := c.Dt()
	safe := f.safe(c)
	noStrike := float32(1 - odds(f.strike, dt))
	out, grow := float32(min(dt/f.burn, 1)), float32(odds(f.growth, dt))
	for _, s := range c.Spans() {
		for i, cell := 0, s.First; i < s.Count; i, cell = i+1, cell+s.Stride {
			v := prev[cell]
			if v > burning {
				next[cell] = v
				continue
			}
			u := draws.Float32(uint64(cell))
			switch {
			case v == tree:
				stays := noStrike
				for k, o := range s.Pattern.Offsets {
					if prev[cell+o] == burning {
						stays = float32(stays * safe[s.Pattern.Dirs[k]])
					}
				}
				if u >= stays {
					v = burning
				}
			case v == burning && u < out:
				v = bare
			case v == bare && u < grow:
				v = tree
			}
			next[cell] = v
		}
	}
	return nil
}

// odds returns the chance of something that happens so often a second.
func odds(rate, dt float64) float64 { return min(float64(rate*dt), 1) }

// safe gives, for a burning neighbour in each direction, the chance that its fire
// does not come over.
func (f fire) safe(c *engine.Context) (safe [6]float32) {
	wind, strength := c.Parameter(f.wind), c.Parameter(f.strength)
	for dir := range safe {
		way := float64((dir + 3) % 6) // the fire goes the other way
		turn := way - wind
		turn = max(turn, -turn)
		if turn > 3 {
			turn = max(6-turn, 0)
		}
		factor := 1 + float64(strength*(1-float64(2*turn)/3))
		safe[dir] = float32(1 - odds(float64(f.spread*max(factor, 0)), c.Dt()))
	}
	return safe
}
