package colony

import (
	"github.com/murksim/murksim/commands"
	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/fields"
	"github.com/murksim/murksim/scenarios"
	"github.com/murksim/murksim/space"
)

type colonyBiology struct {
	colonyClock
	Life    int `yaml:"life" default:"2400" min:"1" max:"1000000000" doc:"The ticks after which they grow weak, and may die of old age."`
	Young   int `yaml:"young" default:"450" min:"1" max:"1000000000" doc:"A pair that is well has a child every so many ticks, on average."`
	Crowded int `yaml:"crowded" default:"4" min:"1" max:"1000000000" doc:"A pair has no child where more than so many live within three cells."`
}

func (p *colonyBiology) System(b *scenarios.Builder, name string) (engine.System, error) {
	_, kinds, _ := engine.EntityColumns(len(b.Defs()))
	c, err := find(b, name)
	return bodies{c, *p, kinds}, err
}

// bodies get hungry and tired, older, and fewer or more.
type bodies struct {
	colony
	colonyBiology
	kinds fields.ID
}

// Spec implements [engine.System].
func (x bodies) Spec(*space.Lattice) engine.Spec {
	return x.spec(engine.Fields(x.action, x.carried, x.crowd, x.built), engine.Fields(
		x.health, x.energy, x.hunger, x.fatigue, x.hormones, x.age, x.lives))
}

// vitals are the columns of what is well with a body.
type vitals struct{ health, energy, hunger, fatigue, age, carried []int64 }

// Update implements [engine.System]. Deaths and births are events of the next tick. A pair
// has a child only if there is room for it.
func (x bodies) Update(c *engine.SystemContext) error {
	v := vitals{next(c, x.health), next(c, x.energy), next(c, x.hunger), next(c, x.fatigue), next(c, x.age), now(c, x.carried)}
	levels, lives := next(c, x.hormones), next(c, x.lives)
	action, crowd, built := now(c, x.action), now(c, x.crowd), now(c, x.built)
	all, draws, night := c.Entities(), c.EntityBulk(0), x.night(c.Tick())
	room := len(all.ID) - c.Population()
	for slot, id := range all.ID {
		if id == 0 {
			continue
		}
		cell := int(all.Cell[slot])
		level := levels[slot*hormones:][:hormones]
		if v.age[slot] == 0 && id>>20 > 1 {
			lives[cell*ends+born] += one
		}
		x.wear(&v, slot, action[slot] == sleep*one, built[cell] > 0, level[thyroid])
		x.secrete(level, &bodyState{v.hunger[slot], v.fatigue[slot], v.age[slot], whole(crowd[cell]) - 1, night})
		words := draws.Block(id, 0)
		if end := x.end(v.health[slot], v.hunger[slot], v.age[slot], words[0]); end >= 0 {
			lives[cell*ends+end] += one
			if _, err := c.Schedule(c.Tick()+1, commands.Despawn(id)); err != nil {
				return err
			}
		} else if room > 0 && below(words[1], int64(x.Young)) {
			child, err := x.beget(c, slot, &v)
			if err != nil {
				return err
			}
			if child {
				room--
			}
		}
	}
	return nil
}

// wear applies the wear of a tick to a body. Sleep behind a wall is better rest.
func (x *bodies) wear(v *vitals, slot int, asleep, wall bool, thyroid int64) {
	const hungerAwake, hungerAsleep, longest = one / 4, one / 8, 1 << 46
	rate := int64(50 + whole(thyroid)) // percent
	if asleep {
		rest := one
		if wall {
			rest += one / 2
		}
		v.hunger[slot] = within(v.hunger[slot] + hungerAsleep*rate/100)
		v.fatigue[slot], v.energy[slot] = within(v.fatigue[slot]-rest), within(v.energy[slot]+rest/2)
	} else {
		v.hunger[slot] = within(v.hunger[slot] + hungerAwake*rate/100)
		v.fatigue[slot], v.energy[slot] = within(v.fatigue[slot]+one/4), within(v.energy[slot]+one/16)
	}
	v.age[slot] = min(v.age[slot]+one, longest)
	v.energy[slot] = min(v.energy[slot], x.strength(v.age[slot]))
	switch {
	case v.hunger[slot] == most*one:
		v.health[slot] = within(v.health[slot] - one)
	case v.fatigue[slot] == most*one:
		v.health[slot] = within(v.health[slot] - one/16)
	default:
		v.health[slot] = within(v.health[slot] + one/8)
	}
}

// strength returns the most energy that one of an age has: the old lose half a unit of it
// in every tick, until they are too weak for all that costs any.
func (x *bodies) strength(age int64) int64 {
	return within(most*one - max(age-int64(x.Life)*one, 0)/2)
}

// end returns how a life ends in this tick, or -1.
func (x *bodies) end(health, hunger, age int64, word uint32) int {
	const lastTicks = 300 // how long the old live, on average
	switch {
	case health <= 0 && hunger == most*one:
		return starved
	case health <= 0 || age>>16 >= int64(x.Life) && below(word, lastTicks):
		return aged
	}
	return -1
}

// fit reports whether a colonist may have a child: it must be grown up and well and have food.
func (v *vitals) fit(slot int) bool {
	const fed, strong = 50 * one, 40 * one
	return v.age[slot] >= adult*one && v.hunger[slot] <= fed && v.energy[slot] >= strong &&
		v.health[slot] >= strong && v.carried[slot*goods+carriedFood] >= one
}

// beget makes a child of a pair, if both are fit, and reports whether it did: see mate.
func (x *bodies) beget(c *engine.SystemContext, slot int, v *vitals) (child bool, err error) {
	const price = 20 * one
	if !v.fit(slot) {
		return false, nil
	}
	mate := x.mate(c, slot, v)
	if mate < 0 {
		return false, nil
	}
	v.energy[slot], v.energy[mate] = v.energy[slot]-price, v.energy[mate]-price
	_, err = c.Schedule(c.Tick()+1, commands.Spawn(c.Lattice().Coord(int(c.Entities().Cell[slot])),
		commands.FieldValue{Field: uint32(x.kinds), Value: 0},
		commands.FieldValue{Field: uint32(x.hunger), Value: 20},
		commands.FieldValue{Field: uint32(x.mother), Value: float32(slot)},
		commands.FieldValue{Field: uint32(x.father), Value: float32(mate)}))
	return true, err
}

// mate returns the first fit other of those who stood near at the start of the tick; -1 if
// there is none, or if too many stood there.
func (x *bodies) mate(c *engine.SystemContext, slot int, v *vitals) int {
	const reach = 3
	var room [64]int32
	mate, near := -1, 0
	x.around(int(c.Entities().Cell[slot]), reach, func(cell int) {
		for _, other := range c.AppendAt(room[:0], cell) {
			near++
			if s := int(other); mate < 0 && s != slot && v.fit(s) {
				mate = s
			}
		}
	})
	if near > x.Crowded {
		return -1
	}
	return mate
}
