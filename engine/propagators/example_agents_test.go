package propagators_test

import (
	"fmt"

	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/engine/propagators"
	"github.com/murksim/murksim/fields"
	"github.com/murksim/murksim/space"
)

// run steps a world and prints a field of it after each tick.
func run(c engine.Config, ticks int, id fields.ID) {
	world, err := engine.New(c)
	if err != nil {
		fmt.Println(err)
		return
	}
	for range ticks {
		if _, err := world.Step(); err != nil {
			fmt.Println(err)
			return
		}
		var row []float64
		for cell := range world.Lattice().Cells() {
			row = append(row, world.Value(id, cell))
		}
		fmt.Println(row)
	}
}

// Two lamps light their cells more and more, while half of the light fades each tick.
func ExampleEmission() {
	const lamps, light = 0, 1
	run(engine.Config{
		Space:    space.Line{Length: 5},
		TickRate: 1,
		Fields: []fields.Def{
			{Name: "lamps", Mutability: fields.Static, Initial: fields.Values([]float64{0, 1, 0, 0, 1})}, {Name: "light"},
		},
		Propagators: []engine.Propagator{
			propagators.Decay{Field: light, Rate: 0.6931471805599453}, // ln 2
			propagators.Emission{Presence: lamps, Field: light, Intensity: 4},
		},
	}, 3, light)
	// Output:
	// [0 4 0 0 4]
	// [0 6 0 0 6]
	// [0 7 0 0 7]
}

// What lies at most two cells from where it is warmer than ten degrees.
func ExampleMorphology() {
	const heat, near = 0, 1
	run(engine.Config{
		Space:  space.Line{Length: 9},
		Fields: []fields.Def{{Name: "heat", Initial: fields.Values([]float64{0, 5, 0, 12, 0, 0, 0, 0, 8})}, {Name: "near"}},
		Propagators: []engine.Propagator{
			propagators.Morphology{Field: heat, Output: near, Op: propagators.Dilate, Radius: 2, Threshold: 10},
		},
	}, 1, near)
	// Output:
	// [0 1 1 1 1 1 0 0 0]
}

// A field of what another was a tick ago.
func ExampleCopy() {
	const grows, before = 0, 1
	run(engine.Config{
		Space:    space.Line{Length: 3},
		TickRate: 1,
		Fields: []fields.Def{
			{Name: "grows", Initial: fields.Values([]float64{1, 2, 3})}, {Name: "before"},
		},
		Propagators: []engine.Propagator{
			propagators.Decay{Field: grows, Rate: -0.6931471805599453}, // doubles
			propagators.Copy{Field: grows, Output: before},
		},
	}, 2, before)
	// Output:
	// [1 2 3]
	// [2 4 6]
}

// Agents 1, 2 and 3 follow arrows that point right. Number 1 stands behind the others
// and acts first, so it waits until there is room.
func ExampleMovement() {
	const agents, arrows = 0, 1
	line := space.Line{Length: 6}
	run(engine.Config{
		Space: line,
		Fields: []fields.Def{
			{Name: "agents", Initial: fields.Values([]float64{1, 2, 3, 0, 0, 0})},
			{Name: "arrows", Mutability: fields.Static, Initial: fields.Fill(2)}, // direction 1 of a line leads up
		},
		Propagators: []engine.Propagator{propagators.Movement{Agents: agents, Actions: arrows, Keep: true}},
	}, 4, agents)
	// Output:
	// [1 2 0 3 0 0]
	// [1 0 2 0 3 0]
	// [0 1 0 2 0 3]
	// [0 0 1 0 2 3]
}

// An agent on its way into the warmth pays one for each tick and gets half of the heat.
func ExampleReward() {
	const agents, arrows, heat, reward = 0, 1, 2, 3
	run(engine.Config{
		Space: space.Line{Length: 4},
		Fields: []fields.Def{
			{Name: "agents", Initial: fields.Values([]float64{7, 0, 0, 0})},
			{Name: "arrows", Mutability: fields.Static, Initial: fields.Fill(2)},
			{Name: "heat", Mutability: fields.Static, Initial: fields.Values([]float64{0, 1, 4, 9})},
			{Name: "reward"},
		},
		Propagators: []engine.Propagator{
			propagators.Movement{Agents: agents, Actions: arrows, Keep: true},
			propagators.Reward{Heat: heat, Presence: agents, Field: reward, HeatBonus: 0.5, StepCost: -1},
		},
	}, 3, reward)
	// Output:
	// [0 -0.5 0 0]
	// [0 0 1 0]
	// [0 0 0 3.5]
}
