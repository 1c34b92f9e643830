package colony

import (
	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/scenarios"
	"github.com/murksim/murksim/space"
)

type colonyTerrain struct {
	Food    int `yaml:"food" default:"4000" min:"1" max:"1000000000" doc:"A cell gets a meal every so many ticks, on average, at height 6; twice as often for each unit lower."`
	Wood    int `yaml:"wood" default:"1500" min:"1" max:"1000000000" doc:"A cell gets a unit of wood every so many ticks, on average."`
	Stone   int `yaml:"stone" default:"1500" min:"1" max:"1000000000" doc:"The same for stone that comes to light; more often in the hills."`
	Crumble int `yaml:"crumble" default:"900" min:"1" max:"1000000000" doc:"A wall lasts so many ticks, on average."`
}

func (p *colonyTerrain) System(b *scenarios.Builder, name string) (engine.System, error) {
	c, err := find(b, name)
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

// Update implements [engine.System]. In each tick it is the turn of an eighth of the
// land, with eight times the chance, and one random number for each thing.
func (x ground) Update(c *engine.SystemContext) error {
	const turns, middle = 8, 6
	height, draws := now(c, x.height), c.Bulk(0)
	food, wood, stone, built := next(c, x.food), next(c, x.wood), next(c, x.stone), next(c, x.built)
	part := (len(food) + turns - 1) / turns
	lo := min(part*int(c.Tick()%turns), len(food))
	for cell := lo; cell < min(lo+part, len(food)); cell++ {
		w := draws.Block(uint64(cell), 0)
		hills := min(small16(height[cell], 64), 2*middle)
		grow(food, cell, w[0], int64(x.often.Food)<<hills>>middle/turns)
		grow(wood, cell, w[1], int64(x.often.Wood)/turns)
		grow(stone, cell, w[2], int64(x.often.Stone)*8/int64(2+hills)/turns)
		if built[cell] > 0 && below(w[3], int64(x.often.Crumble)/turns) {
			built[cell] = 0
		}
	}
	return nil
}

// grow adds a unit to a cell that has room, once in so many words.
func grow(of []int64, cell int, word uint32, every int64) {
	const room = 3 * one
	if of[cell] < room && below(word, every) {
		of[cell] = min(of[cell]+one, room)
	}
}
