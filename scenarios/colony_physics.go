package scenarios

import (
	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/space"
)

type colonyPhysics struct{}

func (p *colonyPhysics) system(b *builder, name string) (engine.System, error) {
	c, err := b.colony(name)
	return gravity{c}, err
}

// gravity lets bodies fall to the ground and lifts them onto it. A fall of more than
// one unit hurts. It also counts who stands where.
type gravity struct{ colony }

// Spec implements [engine.System].
func (x gravity) Spec(*space.Lattice) engine.Spec {
	s := x.spec(engine.Fields(x.height, x.dug, x.built, x.cell), engine.Fields(x.altitude, x.fall, x.health))
	s.Full = engine.Fields(x.crowd)
	return s
}

// Update implements [engine.System]. A body in the air gets faster by an eighth a
// tick, at most one, and stops exactly on the ground.
func (x gravity) Update(c *engine.SystemContext) error {
	const pull, fastest = one / 8, one
	height, dug, built := now(c, x.height), now(c, x.dug), now(c, x.built)
	altitude, fall, health, crowd := next(c, x.altitude), next(c, x.fall), next(c, x.health), next(c, x.crowd)
	clear(crowd)
	all := c.Entities()
	for slot, id := range all.ID {
		if id == 0 {
			continue
		}
		cell := all.Cell[slot]
		crowd[cell] += one
		floor := height[cell] - dug[cell] + built[cell]
		if altitude[slot] <= floor {
			altitude[slot], fall[slot] = floor, 0
			continue
		}
		fall[slot] = min(fall[slot]+pull, fastest)
		if altitude[slot]-fall[slot] > floor {
			altitude[slot] -= fall[slot]
			continue
		}
		if hit := fall[slot] - one/2; hit > 0 {
			health[slot] = within(health[slot] - 8*hit)
		}
		altitude[slot], fall[slot] = floor, 0
	}
	return nil
}
