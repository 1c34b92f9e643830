package scenarios

import (
	"fmt"

	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/fields"
	"github.com/murksim/murksim/space"
)

// The actions of a colonist, in the order of the column's values.
const (
	idle = iota
	eat
	sleep
	walk
	gather
	craft
	mine
	build
	speak
	actions
)

// Why a colonist does something, in the order of the column's values.
const (
	content = iota
	hungry
	tired
	needsFood
	needsWood
	needsStone
	needsTool
	wantsWall
	lonely
	curious
	tooWeak
	reasons
)

// What a colonist carries; a tool is counted by what it can still bear.
const (
	carriedFood = iota
	carriedWood
	carriedStone
	carriedTool
	goods
)

// The hormones.
const (
	cortisol = iota
	oxytocin
	dopamine
	melatonin
	testosterone
	estrogen
	insulin
	thyroid
	hormones
)

// What the field "lives" counts at each cell.
const (
	born = iota
	starved
	aged
	ends
)

const (
	one   = 1 << 16 // in fixed-point numbers
	most  = 100     // of health, energy, hunger, fatigue and each hormone
	adult = 240     // ticks
)

// colony are the columns of a colony. They are found by their names.
type colony struct {
	name       string
	rows, cols int

	health, energy, hunger, fatigue, hormones, carried fields.ID
	action, busy, target, reason, age                  fields.ID
	altitude, fall, mother, father                     fields.ID
	cell                                               fields.ID

	height, food, wood, stone, dug, built, crowd, decided, lives fields.ID
}

// colony finds the columns of the scenario's colony.
func (b *builder) colony(name string) (colony, error) {
	_, _, cell := engine.EntityColumns(len(b.s.Fields))
	c := colony{name: name, cell: cell}
	if b.lattice.Kind() != "square8" {
		return c, fmt.Errorf("needs a space of square8, not %s", b.lattice.Kind())
	}
	axes := b.lattice.Axes()
	c.rows, c.cols = axes[0].Extent, axes[1].Extent
	for _, want := range []struct {
		name   string
		id     *fields.ID
		domain string
		typ    fields.Type
	}{
		{"health", &c.health, "entities", fields.Scalar},
		{"energy", &c.energy, "entities", fields.Scalar},
		{"hunger", &c.hunger, "entities", fields.Scalar},
		{"fatigue", &c.fatigue, "entities", fields.Scalar},
		{"hormones", &c.hormones, "entities", fields.Vector(hormones)},
		{"carried", &c.carried, "entities", fields.Vector(goods)},
		{"action", &c.action, "entities", fields.Categorical(actions)},
		{"busy", &c.busy, "entities", fields.Scalar},
		{"target", &c.target, "entities", fields.Scalar},
		{"reason", &c.reason, "entities", fields.Categorical(reasons)},
		{"age", &c.age, "entities", fields.Scalar},
		{"altitude", &c.altitude, "entities", fields.Scalar},
		{"fall", &c.fall, "entities", fields.Scalar},
		{"mother", &c.mother, "entities", fields.Scalar},
		{"father", &c.father, "entities", fields.Scalar},
		{"height", &c.height, "cells", fields.Scalar},
		{"food", &c.food, "cells", fields.Scalar},
		{"wood", &c.wood, "cells", fields.Scalar},
		{"stone", &c.stone, "cells", fields.Scalar},
		{"dug", &c.dug, "cells", fields.Scalar},
		{"built", &c.built, "cells", fields.Scalar},
		{"crowd", &c.crowd, "cells", fields.Scalar},
		{"decided", &c.decided, "cells", fields.Vector(actions)},
		{"lives", &c.lives, "cells", fields.Vector(ends)},
	} {
		f := b.s.field(want.name)
		if f == nil || f.Domain != want.domain || f.def.Type != want.typ || f.Element != "fixed" {
			return c, fmt.Errorf("needs a field %q of %s: %v, element fixed", want.name, want.domain, want.typ)
		}
		*want.id = b.field(FieldRef(want.name))
	}
	return c, nil
}

// spec declares what a system of the colony reads and writes.
func (x *colony) spec(reads, writes []fields.ID) engine.Spec {
	return engine.Spec{Name: x.name, Now: reads, Incremental: writes}
}

// now and next are columns of fixed-point numbers.
func now(c *engine.SystemContext, id fields.ID) []int64  { return c.NowColumn(id).Fixed }
func next(c *engine.SystemContext, id fields.ID) []int64 { return c.NextColumn(id).Fixed }

// within clamps a level to what it may be.
func within(v int64) int64 { return min(max(v, 0), most*one) }

// whole is the whole part of a level.
func whole(v int64) int { return int(within(v) >> 16) }

// small16 is a whole number of a column, 0 if it is none below the limit.
func small16(v int64, limit int) int {
	if v < 0 || v>>16 >= int64(limit) {
		return 0
	}
	return int(v >> 16)
}

// cellOf is the cell that a target names; false for none.
func (x *colony) cellOf(target int64) (cell int, ok bool) {
	if target < 0 || target>>16 >= int64(x.rows*x.cols) {
		return 0, false
	}
	return int(target >> 16), true
}

// around calls f for the cells within radius steps of one, row by row.
func (x *colony) around(cell, radius int, f func(cell int)) {
	row, col := cell/x.cols, cell%x.cols
	for r := max(row-radius, 0); r <= min(row+radius, x.rows-1); r++ {
		for q := max(col-radius, 0); q <= min(col+radius, x.cols-1); q++ {
			f(r*x.cols + q)
		}
	}
}

// steps is the distance of two cells.
func (x *colony) steps(a, b int) int {
	dr, dc := a/x.cols-b/x.cols, a%x.cols-b%x.cols
	return max(dr, -dr, dc, -dc)
}

// toward is the cell beside one on the straight way to another.
func (x *colony) toward(from, to int) int {
	sign := func(v int) int { return min(max(v, -1), 1) }
	return from + sign(to/x.cols-from/x.cols)*x.cols + sign(to%x.cols-from%x.cols)
}

// A colonyClock says what time it is. Tick 0 is at six in the morning of day 1.
type colonyClock struct {
	Day int `yaml:"day" default:"240" min:"24" max:"1000000" doc:"How many ticks a day has; night is its last third."`
}

// at is the number of the day, and the minutes after midnight.
func (k colonyClock) at(tick uint64) (day uint64, minutes int) {
	const minutesADay = 24 * 60
	total := tick%uint64(k.Day)*minutesADay/uint64(k.Day) + 6*60
	return tick/uint64(k.Day) + 1 + total/minutesADay, int(total % minutesADay)
}

func (k colonyClock) night(tick uint64) bool { return tick%uint64(k.Day)*3 >= uint64(k.Day)*2 }

type colonyAI struct {
	colonyClock
	Sight int `yaml:"sight" default:"6" min:"1" max:"32" doc:"How many cells far they see."`
}

func (p *colonyAI) system(b *builder, name string) (engine.System, error) {
	c, err := b.colony(name)
	return minds{c, p.colonyClock, p.Sight}, err
}

type colonyWork struct {
	Walls int `yaml:"walls" default:"30" min:"1" max:"10000" doc:"How many ticks a wall takes."`
}

func (p *colonyWork) system(b *builder, name string) (engine.System, error) {
	c, err := b.colony(name)
	return hands{c, p.Walls}, err
}

type colonyBiology struct {
	colonyClock
	Life  int `yaml:"life" default:"2400" min:"1" max:"1000000000" doc:"The ticks after which they may die of old age."`
	Young int `yaml:"young" default:"400" min:"1" max:"1000000000" doc:"A pair that is well has a child every so many ticks, on average."`
}

func (p *colonyBiology) system(b *builder, name string) (engine.System, error) {
	_, kinds, _ := engine.EntityColumns(len(b.s.Fields))
	c, err := b.colony(name)
	return bodies{c, p.colonyClock, kinds, p.Life, p.Young}, err
}

type colonyTerrain struct {
	Food    int `yaml:"food" default:"2400" min:"1" max:"1000000000" doc:"A cell gets a meal every so many ticks, on average; most on the plain."`
	Wood    int `yaml:"wood" default:"3000" min:"1" max:"1000000000" doc:"The same for wood."`
	Stone   int `yaml:"stone" default:"3000" min:"1" max:"1000000000" doc:"The same for stone that comes to light."`
	Crumble int `yaml:"crumble" default:"1500" min:"1" max:"1000000000" doc:"A wall lasts so many ticks, on average."`
}

func (p *colonyTerrain) system(b *builder, name string) (engine.System, error) {
	c, err := b.colony(name)
	return ground{c, *p}, err
}

// ground lets food and wood grow back, brings stone to light and lets walls crumble.
type ground struct {
	colony
	often colonyTerrain
}

// Spec implements [engine.System].
func (x ground) Spec(*space.Lattice) engine.Spec {
	return x.spec(engine.Fields(x.height), engine.Fields(x.food, x.wood, x.stone, x.built))
}

// Update implements [engine.System], by one random number a cell for each.
func (x ground) Update(c *engine.SystemContext) error {
	const room = 8 * one
	height, draws := now(c, x.height), c.Bulk(0)
	food, wood, stone, built := next(c, x.food), next(c, x.wood), next(c, x.stone), next(c, x.built)
	grow := func(f []int64, cell, every int, w uint32) {
		if below(w, every) && f[cell] < room {
			f[cell] = min(f[cell]+one, room)
		}
	}
	for cell := range food {
		w := draws.Block(uint64(cell), 0)
		hills := small16(height[cell], 64)
		grow(food, cell, x.often.Food*(4+hills)/8, w[0])
		grow(wood, cell, x.often.Wood, w[1])
		grow(stone, cell, x.often.Stone*8/(2+hills), w[2])
		if built[cell] > 0 && below(w[3], x.often.Crumble) {
			built[cell] = 0
		}
	}
	return nil
}

// below is true once in so many words, on average.
func below(word uint32, every int) bool {
	return uint64(word)*uint64(max(every, 1))>>32 == 0
}
