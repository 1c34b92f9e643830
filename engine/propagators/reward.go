package propagators

import (
	"time"

	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/fields"
	"github.com/murksim/murksim/internal/kernel"
	"github.com/murksim/murksim/space"
)

// Reward computes what being at a cell is worth:
//
//	reward = Heat·HeatBonus + StepCost   where Presence is not 0
//	reward = 0                           elsewhere
//
// Heat and presence are read as earlier propagators of the tick left them, so an
// agent that moved in this tick is rewarded where it is now. Bonus and cost are
// rounded to float32, then the product, then the sum. It works on any lattice and
// any dt; bonus and cost are per tick. The formula is that of the original Murk
// engine.
type Reward struct {
	Name      string    // default "reward"
	Heat      fields.ID // of one component
	Presence  fields.ID // of one component
	Field     fields.ID // of one component; written in full; neither Heat nor Presence
	HeatBonus float64   // reward for each unit of heat
	StepCost  float64   // added wherever an agent is: below 0 it is a cost
}

// Spec implements [engine.Propagator].
func (r Reward) Spec(*space.Lattice) engine.Spec {
	return engine.Spec{
		Name: named(r.Name, "reward"), Now: engine.Fields(r.Heat, r.Presence), Full: engine.Fields(r.Field), Parallel: true, Cost: 500 * time.Nanosecond,
	}
}

// Check implements [engine.Checker].
func (r Reward) Check(_ *space.Lattice, defs []fields.Def) error {
	c := checker{defs: defs}
	c.sized("heat", r.Heat, 1)
	c.sized("presence", r.Presence, 1)
	c.sized("field", r.Field, 1)
	c.distinct("field", r.Field, "heat", r.Heat)
	c.distinct("field", r.Field, "presence", r.Presence)
	c.number("heat_bonus", r.HeatBonus, -maxFloat32)
	c.number("step_cost", r.StepCost, -maxFloat32)
	return c.err
}

// Step implements [engine.Propagator].
func (r Reward) Step(c *engine.Context) error {
	lo, hi := c.Range()
	v, heat, presence := c.Next(r.Field)[lo:hi], c.Now(r.Heat)[lo:hi], c.Now(r.Presence)[lo:hi]
	if kernel.Earn(v, heat, presence, float32(r.HeatBonus), float32(r.StepCost)) {
		c.Finite(r.Field)
	}
	return nil
}
