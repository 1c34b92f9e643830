package colony

import (
	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/engine/physics"
	"github.com/murksim/murksim/exact/fixed"
	"github.com/murksim/murksim/scenarios"
	"github.com/murksim/murksim/space"
)

type colonyPhysics struct{}

func (p *colonyPhysics) System(b *scenarios.Builder, name string) (engine.System, error) {
	c, err := find(b, name)
	return gravity{c}, err
}

// gravity lets bodies fall to the ground and lifts them onto it. A fall of more than
// one unit hurts. It also counts the people on each cell.
type gravity struct{ colony }

// Spec implements [engine.System].
func (x gravity) Spec(*space.Lattice) engine.Spec {
	s := x.spec(engine.Fields(x.height, x.dug, x.built, x.cell), engine.Fields(x.altitude, x.fall, x.health))
	s.Full = engine.Fields(x.crowd)
	return s
}

// colonyFall is how the people of a colony fall.
var colonyFall = physics.Fall{Gravity: fixed.One / 8, Terminal: fixed.One}

// Update implements [engine.System]. A body in the air moves by colonyFall and stops
// exactly on the ground.
func (x gravity) Update(c *engine.SystemContext) error {
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
		var m fixed.Calc
		floor := m.Add(m.Sub(fixed.Fixed(height[cell]), fixed.Fixed(dug[cell])), fixed.Fixed(built[cell]))
		at, speed, landed := stand(&m, floor, fixed.Fixed(altitude[slot]), fixed.Fixed(fall[slot]))
		if err := m.Err(); err != nil {
			return c.Fault(slot, x.altitude, err)
		}
		altitude[slot], fall[slot] = int64(at), int64(speed)
		if hit := min(int64(landed), most*one) - one/2; hit > 0 {
			health[slot] = within(health[slot] - 8*hit)
		}
	}
	return nil
}

// stand computes a tick of a body above a floor: altitude and speed downward after it,
// and, if it has reached the floor, its speed there.
func stand(m *fixed.Calc, floor, altitude, fall fixed.Fixed) (at, speed, landed fixed.Fixed) {
	if altitude <= floor {
		return floor, 0, 0
	}
	at, speed = colonyFall.Step(m, altitude, m.Neg(fall))
	speed = m.Neg(speed)
	if at <= floor {
		return floor, 0, speed
	}
	return at, speed, 0
}
