// Package colony is a settlement whose people decide for themselves: they eat,
// sleep, work, talk, have children and die, and their story can be told.
// docs/COLONY.md describes it.
package colony

import (
	"fmt"
	"math"
	"slices"

	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/exact/fixed"
	"github.com/murksim/murksim/fields"
	"github.com/murksim/murksim/scenarios"
)

// Components lists what the world is made of. A version goes up when the same
// parameters give other results.
func Components() []scenarios.Component {
	return []scenarios.Component{
		{Name: "colony_ai", Version: 1, Params: func() any { return new(colonyAI) },
			About: "Lets the people of a colony decide what to do."},
		{Name: "colony_work", Version: 1, Params: func() any { return new(colonyWork) },
			About: "Carries out what the people of a colony decided, if they have the energy."},
		{Name: "colony_physics", Version: 1, Params: func() any { return new(colonyPhysics) },
			About: "Lets the people of a colony fall to the ground, and counts them by cell."},
		{Name: "colony_bio", Version: 2, Params: func() any { return new(colonyBiology) },
			About: "Makes the people of a colony hungry, tired and older; they have children and die."},
		{Name: "colony_terrain", Version: 1, Params: func() any { return new(colonyTerrain) },
			About: "Lets food and wood grow back and walls crumble."},
	}
}

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

// What the field "lives" counts at each cell.
const (
	born = iota
	starved
	aged
	ends
)

const (
	one   = int64(fixed.One)
	most  = 100 // of health, energy, hunger, fatigue and each hormone
	adult = 240 // ticks
)

// colony are the columns of a colony. They are found by their names.
type colony struct {
	name       string
	rows, cols int

	health, energy, hunger, fatigue, hormones, carried fields.ID
	action, busy, target, reason, age                  fields.ID
	altitude, fall, velocity, mother, father           fields.ID
	cell                                               fields.ID

	height, food, wood, stone, dug, built, crowd, decided, lives fields.ID
}

// find finds the columns of the scenario's colony.
func find(b *scenarios.Builder, name string) (colony, error) {
	defs := b.Defs()
	_, _, cell := engine.EntityColumns(len(defs))
	c := colony{name: name, cell: cell}
	y, ok := b.Lattice().Layout()
	if !ok || b.Lattice().Dim() != 2 || y.Shift != 0 || len(b.Lattice().Directions()) != 8 {
		return c, fmt.Errorf("needs a space of square8, not %s", b.Lattice().Kind())
	}
	if n := b.Occupancy(); n > 0 {
		return c, fmt.Errorf("people stand on a cell in any number; the entities must have no occupancy, not %d", n)
	}
	c.rows, c.cols = y.Rows, y.Cols
	for _, want := range []struct {
		name   string
		id     *fields.ID
		domain fields.Domain
		typ    fields.Type
	}{
		{"health", &c.health, fields.Entities, fields.Scalar},
		{"energy", &c.energy, fields.Entities, fields.Scalar},
		{"hunger", &c.hunger, fields.Entities, fields.Scalar},
		{"fatigue", &c.fatigue, fields.Entities, fields.Scalar},
		{"hormones", &c.hormones, fields.Entities, fields.Vector(hormones)},
		{"carried", &c.carried, fields.Entities, fields.Vector(goods)},
		{"action", &c.action, fields.Entities, fields.Categorical(actions)},
		{"busy", &c.busy, fields.Entities, fields.Scalar},
		{"target", &c.target, fields.Entities, fields.Scalar},
		{"reason", &c.reason, fields.Entities, fields.Categorical(reasons)},
		{"age", &c.age, fields.Entities, fields.Scalar},
		{"altitude", &c.altitude, fields.Entities, fields.Scalar},
		{"fall", &c.fall, fields.Entities, fields.Scalar},
		{"velocity", &c.velocity, fields.Entities, fields.Vector(2)},
		{"mother", &c.mother, fields.Entities, fields.Scalar},
		{"father", &c.father, fields.Entities, fields.Scalar},
		{"height", &c.height, fields.Cells, fields.Scalar},
		{"food", &c.food, fields.Cells, fields.Scalar},
		{"wood", &c.wood, fields.Cells, fields.Scalar},
		{"stone", &c.stone, fields.Cells, fields.Scalar},
		{"dug", &c.dug, fields.Cells, fields.Scalar},
		{"built", &c.built, fields.Cells, fields.Scalar},
		{"crowd", &c.crowd, fields.Cells, fields.Scalar},
		{"decided", &c.decided, fields.Cells, fields.Vector(actions)},
		{"lives", &c.lives, fields.Cells, fields.Vector(ends)},
	} {
		i := slices.IndexFunc(defs, func(d fields.Def) bool { return d.Name == want.name })
		if i < 0 || defs[i].Domain != want.domain || defs[i].Type != want.typ || defs[i].Element != fields.Fixed {
			return c, fmt.Errorf("needs a field %q of %v: %v, element fixed", want.name, want.domain, want.typ)
		}
		*want.id = fields.ID(i)
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

// whole returns the whole part of a level.
func whole(v int64) int { return int(within(v) >> 16) }

// small16 returns a whole number of a column, or 0 if it is not below the limit.
func small16(v int64, limit int) int {
	if v < 0 || v>>16 >= int64(limit) {
		return 0
	}
	return int(v >> 16)
}

// cellOf returns the cell that a target names; false for none.
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

// steps returns the distance of two cells.
func (x *colony) steps(a, b int) int {
	dr, dc := a/x.cols-b/x.cols, a%x.cols-b%x.cols
	return max(dr, -dr, dc, -dc)
}

// toward returns the cell beside one on the straight way to another.
func (x *colony) toward(from, to int) int {
	sign := func(v int) int { return min(max(v, -1), 1) }
	return from + sign(to/x.cols-from/x.cols)*x.cols + sign(to%x.cols-from%x.cols)
}

// A colonyClock computes the time of day. Tick 0 is at six in the morning of day 1.
type colonyClock struct {
	Day int `yaml:"day" default:"240" min:"24" max:"1000000" doc:"How many ticks a day has; night is its last third."`
}

// at returns the number of the day, and the minutes after midnight.
func (k colonyClock) at(tick uint64) (day uint64, minutes int) {
	const minutesADay = 24 * 60
	total := tick%uint64(k.Day)*minutesADay/uint64(k.Day) + 6*60
	return tick/uint64(k.Day) + 1 + total/minutesADay, int(total % minutesADay)
}

func (k colonyClock) night(tick uint64) bool { return tick%uint64(k.Day)*3 >= uint64(k.Day)*2 }

// below is true once in so many words, on average.
func below(word uint32, every int64) bool {
	return uint64(word)*uint64(min(max(every, 1), math.MaxUint32))>>32 == 0
}
