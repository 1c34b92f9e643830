package scenarios

import (
	"github.com/murksim/murksim/commands"
	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/fields"
	"github.com/murksim/murksim/space"
)

// bodies get hungry and tired, older, and fewer or more.
type bodies struct {
	colony
	colonyClock
	kinds       fields.ID
	life, young int
}

// Spec implements [engine.System].
func (x bodies) Spec(*space.Lattice) engine.Spec {
	return x.spec(engine.Fields(x.action, x.carried, x.crowd, x.built), engine.Fields(
		x.health, x.energy, x.hunger, x.fatigue, x.hormones, x.age, x.lives))
}

// Update implements [engine.System]. Deaths and births are events of the next tick.
func (x bodies) Update(c *engine.SystemContext) error {
	health, energy, hunger, fatigue := next(c, x.health), next(c, x.energy), next(c, x.hunger), next(c, x.fatigue)
	levels, age, lives := next(c, x.hormones), next(c, x.age), next(c, x.lives)
	action, crowd, built := now(c, x.action), now(c, x.crowd), now(c, x.built)
	all, draws, night := c.Entities(), c.EntityBulk(0), x.night(c.Tick())
	for slot, id := range all.ID {
		if id == 0 {
			continue
		}
		cell := int(all.Cell[slot])
		level := levels[slot*hormones:][:hormones]
		if age[slot] == 0 && id>>20 > 1 {
			lives[cell*ends+born] += one
		}
		if age[slot] < 1<<46 {
			age[slot] += one
		}
		x.wear(slot, action[slot] == sleep*one, built[cell] > 0, level[thyroid], health, energy, hunger, fatigue)
		x.secrete(level, hunger[slot], fatigue[slot], age[slot], whole(crowd[cell])-1, night)
		if end := x.end(health[slot], hunger[slot], age[slot], draws.Block(id, 0)[0]); end >= 0 {
			lives[cell*ends+end] += one
			if _, err := c.Schedule(c.Tick()+1, commands.Despawn(id)); err != nil {
				return err
			}
			continue
		}
		if below(draws.Block(id, 0)[1], x.young) {
			if err := x.beget(c, slot, health, energy, hunger, age); err != nil {
				return err
			}
		}
	}
	return nil
}

// wear is what a tick does to a body. Who sleeps behind a wall rests better.
func (x *bodies) wear(slot int, asleep, wall bool, thyroid int64, health, energy, hunger, fatigue []int64) {
	const awakeHunger, asleepHunger, awakeFatigue = one / 4, one / 8, one / 4
	rate := int64(50 + whole(thyroid)) // percent
	if asleep {
		rest := int64(one)
		if wall {
			rest += one / 2
		}
		hunger[slot] = within(hunger[slot] + asleepHunger*rate/100)
		fatigue[slot], energy[slot] = within(fatigue[slot]-rest), within(energy[slot]+rest/2)
	} else {
		hunger[slot] = within(hunger[slot] + awakeHunger*rate/100)
		fatigue[slot], energy[slot] = within(fatigue[slot]+awakeFatigue), within(energy[slot]+one/16)
	}
	switch {
	case hunger[slot] == most*one:
		health[slot] = within(health[slot] - one/2)
	case fatigue[slot] == most*one:
		health[slot] = within(health[slot] - one/16)
	default:
		health[slot] = within(health[slot] + one/8)
	}
}

// secrete moves each hormone by a sixteenth toward where it belongs, oxytocin by a
// 128th:
//
//	cortisol      the worse of hunger and fatigue
//	oxytocin      20 for each other on the cell
//	dopamine      50 - fatigue/4
//	melatonin     80 at night, 0 by day
//	testosterone  60 - cortisol/4, 10 before they are grown up
//	estrogen      60 - cortisol/4, 10 before they are grown up, in waves of three days
//	insulin       30 - hunger/4
//	thyroid       60 - fatigue/4
func (x *bodies) secrete(level []int64, hunger, fatigue, age int64, others int, night bool) {
	stress := max(hunger, fatigue)
	var goal [hormones]int64
	goal[cortisol] = stress
	goal[oxytocin] = int64(20*max(others, 0)) * one
	goal[dopamine] = 50*one - fatigue/4
	if night {
		goal[melatonin] = 80 * one
	}
	goal[testosterone], goal[estrogen] = 10*one, 10*one
	if age >= adult*one {
		wave := age / one % int64(3*x.Day) * 60 / int64(3*x.Day) // 0 to 59
		goal[testosterone] = 60*one - level[cortisol]/4
		goal[estrogen] = (30+max(wave-30, 30-wave))*one - level[cortisol]/4
	}
	goal[insulin] = 30*one - hunger/4
	goal[thyroid] = 60*one - fatigue/4
	for i := range level {
		level[i] = within(level[i])
		slow := 4
		if i == oxytocin {
			slow = 7
		}
		level[i] = within(level[i] + (within(goal[i])-level[i])>>slow)
	}
}

// end says how a life ends in this tick, or -1.
func (x *bodies) end(health, hunger, age int64, word uint32) int {
	const lastTicks = 300 // how long the old live, on average
	switch {
	case health > 0 && (age>>16 < int64(x.life) || !below(word, lastTicks)):
		return -1
	case health <= 0 && hunger == most*one:
		return starved
	}
	return aged
}

// beget gives a pair a child if both are grown up and well and have food: see mate.
func (x *bodies) beget(c *engine.SystemContext, slot int, health, energy, hunger, age []int64) error {
	const fed, strong, price = 50 * one, 40 * one, 20 * one
	carried := now(c, x.carried)
	fit := func(s int) bool {
		return age[s] >= adult*one && hunger[s] <= fed && energy[s] >= strong && health[s] >= strong && carried[s*goods+carriedFood] >= one
	}
	if !fit(slot) {
		return nil
	}
	mate := x.mate(c, slot, fit)
	if mate < 0 {
		return nil
	}
	energy[slot], energy[mate] = energy[slot]-price, energy[mate]-price
	_, err := c.Schedule(c.Tick()+1, commands.Spawn(c.Lattice().Coord(int(c.Entities().Cell[slot])),
		commands.FieldValue{Field: uint32(x.kinds), Value: 0},
		commands.FieldValue{Field: uint32(x.hunger), Value: 20},
		commands.FieldValue{Field: uint32(x.mother), Value: float32(slot)},
		commands.FieldValue{Field: uint32(x.father), Value: float32(mate)}))
	return err
}

// mate is the first fit other of those who stood near, at the start of the tick; -1
// if there is none.
func (x *bodies) mate(c *engine.SystemContext, slot int, fit func(int) bool) int {
	const reach = 2
	var room [32]int32
	mate := -1
	x.around(int(c.Entities().Cell[slot]), reach, func(cell int) {
		if mate >= 0 {
			return
		}
		for _, other := range c.AppendAt(room[:0], cell) {
			if s := int(other); mate < 0 && s != slot && fit(s) {
				mate = s
			}
		}
	})
	return mate
}
