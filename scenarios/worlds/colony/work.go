package colony

import (
	"github.com/murksim/murksim/commands"
	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/scenarios"
	"github.com/murksim/murksim/space"
)

type colonyWork struct {
	Walls int `yaml:"walls" default:"30" min:"1" max:"10000" doc:"How many ticks a wall takes."`
}

func (p *colonyWork) System(b *scenarios.Builder, name string) (engine.System, error) {
	c, err := find(b, name)
	return hands{c, p.Walls}, err
}

// labour says what an action costs in energy at its start, and how many ticks it
// takes. A walk takes one a step, a wall as many as the scenario says.
var labour = [actions]struct{ cost, ticks int64 }{
	idle: {0, 6}, eat: {0, 4}, sleep: {0, 24}, walk: {1, 1}, gather: {2, 5}, craft: {5, 10}, mine: {8, 16}, build: {10, 1}, speak: {1, 4},
}

// hands carry out what minds decided. An action that costs more energy than there is
// becomes idle, and says so. What it gives comes at its end: a wall by an event.
type hands struct {
	colony
	walls int
}

// Spec implements [engine.System].
func (x hands) Spec(*space.Lattice) engine.Spec {
	return x.spec(engine.Fields(x.target), engine.Fields(
		x.energy, x.hunger, x.hormones, x.carried, x.action, x.busy, x.reason, x.velocity, x.cell, x.food, x.wood, x.stone, x.dug))
}

// Update implements [engine.System].
func (x hands) Update(c *engine.SystemContext) error {
	target, action, busy := now(c, x.target), next(c, x.action), next(c, x.busy)
	cells, velocity := c.NextColumn(x.cell).Int32, next(c, x.velocity)
	for slot, id := range c.Entities().ID {
		if id == 0 {
			continue
		}
		from := int(cells[slot])
		to, ok := x.cellOf(target[slot])
		if !ok {
			to = from
		}
		if busy[slot] <= 0 {
			if err := x.begin(c, slot, from, to); err != nil {
				return err
			}
		}
		does, here := small16(action[slot], actions), from
		if does == walk {
			here = x.toward(from, to)
		}
		cells[slot] = int32(here)
		velocity[2*slot], velocity[2*slot+1] = int64(here/x.cols-from/x.cols)*one, int64(here%x.cols-from%x.cols)*one
		if busy[slot] -= one; busy[slot] <= 0 {
			busy[slot] = 0
			x.finish(c, slot, does, here)
		}
	}
	return nil
}

// begin takes the energy of an action that has been decided on, or vetoes it.
func (x *hands) begin(c *engine.SystemContext, slot, from, to int) error {
	action, energy, has := next(c, x.action), next(c, x.energy), next(c, x.carried)[slot*goods:][:goods]
	wanted := small16(action[slot], actions)
	does := veto(wanted, energy[slot])
	if does != wanted {
		action[slot], next(c, x.reason)[slot] = idle, tooWeak*one
	}
	energy[slot] = within(energy[slot] - labour[does].cost*one)
	next(c, x.busy)[slot] = x.duration(does, from, to, has[carriedTool] > 0) * one
	if does == build {
		return x.found(c, has, from)
	}
	return nil
}

// veto returns the action that the energy allows.
func veto(does int, energy int64) int {
	if labour[does].cost*one > energy {
		return idle
	}
	return does
}

// duration returns the number of ticks of an action.
func (x *hands) duration(does, from, to int, tool bool) int64 {
	switch {
	case does == walk:
		return int64(max(x.steps(from, to), 1))
	case does == build:
		return int64(x.walls)
	case does == mine && tool:
		return labour[mine].ticks / 2
	}
	return labour[does].ticks
}

// found lays two of wood and stone into a wall, which stands when the work is done,
// whatever becomes of the builder.
func (x *hands) found(c *engine.SystemContext, has []int64, cell int) error {
	has[carriedWood] = max(has[carriedWood]-2*one, 0)
	has[carriedStone] = max(has[carriedStone]-2*one, 0)
	_, err := c.Schedule(c.Tick()+uint64(x.walls), commands.SetField(c.Lattice().Coord(cell), uint32(x.built), 1))
	return err
}

// finish applies the effect of an action that is done.
func (x *hands) finish(c *engine.SystemContext, slot, does, cell int) {
	has, level := next(c, x.carried)[slot*goods:][:goods], next(c, x.hormones)[slot*hormones:][:hormones]
	raise := func(hormone int, by int64) { level[hormone] = within(level[hormone] + by*one) }
	switch does {
	case eat:
		if has[carriedFood] >= one {
			has[carriedFood] -= one
			hunger, energy := next(c, x.hunger), next(c, x.energy)
			hunger[slot], energy[slot] = within(hunger[slot]-40*one), within(energy[slot]+15*one)
			raise(insulin, 40)
			raise(dopamine, 10)
		}
	case gather:
		if small16(next(c, x.reason)[slot], reasons) == needsWood {
			take(next(c, x.wood), cell, has, carriedWood)
			has[carriedTool] = max(has[carriedTool]-one, 0)
		} else {
			take(next(c, x.food), cell, has, carriedFood)
		}
	case mine:
		if take(next(c, x.stone), cell, has, carriedStone) {
			dug := next(c, x.dug)
			dug[cell] = min(dug[cell]+one/8, 4*one)
			has[carriedTool] = max(has[carriedTool]-one, 0)
		}
	case craft:
		if has[carriedWood] >= one && has[carriedStone] >= one {
			has[carriedWood], has[carriedStone] = has[carriedWood]-one, has[carriedStone]-one
			has[carriedTool] = 6 * one
			raise(dopamine, 30)
		}
	case build:
		raise(dopamine, 40)
	case speak:
		raise(oxytocin, 40)
		raise(dopamine, 10)
	}
}

// take moves up to two units from the ground into a colonist's load.
func take(ground []int64, cell int, has []int64, what int) bool {
	if ground[cell] < one {
		return false // another colonist was faster
	}
	n := min(ground[cell]&^(one-1), 2*one)
	ground[cell] -= n
	has[what] = min(has[what]+n, most*one)
	return true
}
