package colony_test

import (
	"fmt"
	"testing"

	"github.com/murksim/murksim/commands"
	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/fields"
	"github.com/murksim/murksim/scenarios"
	"github.com/murksim/murksim/scenarios/internal/scenariotest"
	"github.com/murksim/murksim/space"
)

// What the columns of a colony hold, as COLONY.md and colony.yaml say.
const (
	idle, eat, sleep, walk, gather, craft, mine, build, speak = 0, 1, 2, 3, 4, 5, 6, 7, 8

	content, hungry, tired, needsFood, needsWood, needsStone, needsTool, wantsWall, lonely, curious, tooWeak = 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10

	cortisol, oxytocin, dopamine, melatonin, testosterone, estrogen, insulin, thyroid = 0, 1, 2, 3, 4, 5, 6, 7

	colonySeed = 7
	landSide   = 16
)

// barren is a colony's land on which nothing is and grows.
var barren = []string{
	"space.rows=16", "space.cols=16", "expect=[]",
	"fields.height.initial=5", "fields.food.initial=0", "fields.wood.initial=0", "fields.stone.initial=0",
	"systems.terrain={food: 1000000000, wood: 1000000000, stone: 1000000000, crumble: 1000000000}", "systems.bio.young=1000000000",
}

// people are some colonists on barren land, in the slots from 0 on, who wait on cells
// far from each other: the first on [3, 3].
type people struct {
	t *testing.T
	s *scenarios.Scenario
	w *engine.World
}

func settle(t *testing.T, n int, sets ...string) *people {
	t.Helper()
	homes := []space.Coord{space.At(3, 3), space.At(3, 12), space.At(12, 3), space.At(12, 12), space.At(8, 8)}[:n]
	spawn := ""
	for _, at := range homes {
		spawn += fmt.Sprintf("{kind: colonist, cells: [%v]}, ", at)
	}
	s, err := scenariotest.Open("colony", append(append([]string{"entities.spawn=[" + spawn + "]"}, barren...), sets...)...)
	if err != nil {
		t.Fatal(err)
	}
	w, err := s.World(1)
	if err != nil {
		t.Fatal(err)
	}
	p := &people{t, s, w}
	p.step(1)
	for slot, at := range homes {
		p.submit(commands.Move(p.id(slot), at))
		p.waits(slot)
	}
	return p
}

// step computes some ticks.
func (p *people) step(ticks int) {
	p.t.Helper()
	for range ticks {
		scenariotest.Step(p.t, p.s, p.w)
	}
}

func (p *people) submit(c commands.Command) {
	p.t.Helper()
	if _, err := p.w.Submit(c); err != nil {
		p.t.Fatal(err)
	}
}

// id is who lives in a slot.
func (p *people) id(slot int) uint64 { return uint64(p.of(slot, "entity.id", 0)) }

// of is what somebody has of an attribute.
func (p *people) of(slot int, name string, component int) float64 {
	p.t.Helper()
	id := scenariotest.Column(p.t, p.w, name)
	return p.w.Value(id, slot*p.w.Defs()[id].Type.Components()+component)
}

// set changes an attribute at the start of the next tick.
func (p *people) set(slot int, name string, component int, value float64) {
	p.t.Helper()
	id, at := scenariotest.Column(p.t, p.w, name), commands.EntityCoord(p.id(slot))
	if p.w.Defs()[id].Type.Kind == fields.VectorKind {
		at = at.Append(int32(component))
	}
	p.submit(commands.SetField(at, uint32(id), float32(value)))
}

// land changes a cell at the start of the next tick; ground reads one.
func (p *people) land(row, col int32, name string, value float64) {
	p.t.Helper()
	p.submit(commands.SetField(space.At(row, col), uint32(scenariotest.Column(p.t, p.w, name)), float32(value)))
}

func (p *people) ground(row, col int, name string, component int) float64 {
	p.t.Helper()
	id := scenariotest.Column(p.t, p.w, name)
	return p.w.Value(id, (row*landSide+col)*p.w.Defs()[id].Type.Components()+component)
}

// A state is what a test wants a colonist to be like; what is not said is that of
// somebody who is well, fed, rested and alone, and would rather walk than rest.
type state struct {
	hunger, fatigue, less float64 // less energy than 100
	hormones              map[int]float64
	food, wood, stone     float64
	tool                  float64
	age                   float64 // 0: 1000
	busy                  float64 // if above 0, it is idle for so long
}

// be puts somebody into a state at the start of the next tick.
func (p *people) be(slot int, s state) {
	p.t.Helper()
	if s.age == 0 {
		s.age = 1000
	}
	for name, v := range map[string]float64{"health": 100, "energy": 100 - s.less, "hunger": s.hunger, "fatigue": s.fatigue, "age": s.age, "busy": s.busy} {
		p.set(slot, name, 0, v)
	}
	if s.busy > 0 {
		p.set(slot, "action", 0, idle)
	}
	for i := range 8 {
		level, there := s.hormones[i]
		if !there {
			level = map[int]float64{dopamine: 50, oxytocin: 60, thyroid: 50}[i]
		}
		p.set(slot, "hormones", i, level)
	}
	for i, v := range []float64{s.food, s.wood, s.stone, s.tool} {
		p.set(slot, "carried", i, v)
	}
}

// waits makes somebody do nothing for long.
func (p *people) waits(slot int) {
	p.t.Helper()
	p.set(slot, "action", 0, idle)
	p.set(slot, "busy", 0, 1e6)
}

// decides puts the first colonist into a state on the cell [3, 3], and gives the
// action that it then decides on and the reason.
func (p *people) decides(s state) (action, reason float64) {
	p.t.Helper()
	p.submit(commands.Move(p.id(0), space.At(3, 3)))
	p.be(0, s)
	p.waits(0)
	p.step(1) // so that the others are counted where they stand
	p.be(0, s)
	p.step(1)
	return p.of(0, "action", 0), p.of(0, "reason", 0)
}

// near fails unless a number is what it should be, to a unit of the last place.
func near(t *testing.T, what string, got, want float64) {
	t.Helper()
	if d := got - want; d > 2.0/65536 || d < -2.0/65536 {
		t.Errorf("%s is %v, want %v", what, got, want)
	}
}
