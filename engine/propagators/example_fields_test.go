package propagators_test

import (
	"fmt"

	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/engine/propagators"
	"github.com/murksim/murksim/fields"
	"github.com/murksim/murksim/space"
)

// after builds a world and lets it run for some ticks.
func after(ticks int, config engine.Config) *engine.World {
	world, err := engine.New(config)
	if err != nil {
		fmt.Println(err)
		return nil
	}
	for range ticks {
		if _, err := world.Step(); err != nil {
			fmt.Println(err)
			return nil
		}
	}
	return world
}

// show prints one component of each cell.
func show(world *engine.World, field fields.ID, component, components int) {
	for cell := range world.Lattice().Cells() {
		if cell > 0 {
			fmt.Print(" ")
		}
		fmt.Printf("%.2f", world.Value(field, cell*components+component)+0) // + 0 makes -0 a 0
	}
	fmt.Println()
}

// A hump in the middle of a string parts and runs to both ends.
func ExampleWave() {
	const height, velocity = fields.ID(0), fields.ID(1)
	config := engine.Config{
		Space: space.Line{Length: 11, Edge: space.Clamp},
		Fields: []fields.Def{
			{Name: "height", Unit: "mm", Initial: fields.Values([]float64{0, 0, 0, 0, 1, 2, 1, 0, 0, 0, 0})},
			{Name: "velocity", Unit: "mm/s"},
		},
		Propagators: []engine.Propagator{propagators.Wave{Displacement: height, Velocity: velocity, Speed: 28}}, // up to 28.28 is stable
		TickRate:    20,
	}
	for ticks := range 5 {
		show(after(ticks, config), height, 0, 1)
	}
	// Output:
	// 0.00 0.00 0.00 0.00 1.00 2.00 1.00 0.00 0.00 0.00 0.00
	// 0.00 0.00 0.00 0.98 1.00 0.04 1.00 0.98 0.00 0.00 0.00
	// 0.00 0.00 0.96 1.02 0.04 -0.04 0.04 1.02 0.96 0.00 0.00
	// 0.00 0.94 1.04 0.04 -0.04 0.04 -0.04 0.04 1.04 0.94 0.00
	// 0.92 1.05 0.04 -0.04 0.03 -0.03 0.03 -0.04 0.04 1.05 0.92
}

// The slope of a ramp with a step, from west to east.
func ExampleGradient() {
	const height, slope = fields.ID(0), fields.ID(1)
	world := after(1, engine.Config{
		Space: space.Square4{Rows: 1, Cols: 6},
		Fields: []fields.Def{
			{Name: "height", Unit: "m", Initial: fields.Values([]float64{0, 1, 2, 6, 7, 8})},
			{Name: "slope", Type: fields.Vector(2), Unit: "m/cell"},
		},
		Propagators: []engine.Propagator{propagators.Gradient{Field: height, Output: slope}},
	})
	show(world, slope, 0, 2) // eastward: at the rims only half of it is seen
	show(world, slope, 1, 2) // southward: nothing
	// Output:
	// 0.50 1.00 2.50 2.50 1.00 0.50
	// 0.00 0.00 0.00 0.00 0.00 0.00
}

// Water on a roof runs down on both sides.
func ExampleFlow() {
	const height, down = fields.ID(0), fields.ID(1)
	world := after(1, engine.Config{
		Space: space.Square4{Rows: 1, Cols: 7},
		Fields: []fields.Def{
			{Name: "height", Unit: "m", Initial: fields.Values([]float64{0, 1, 2, 3, 2, 1, 0})},
			{Name: "down", Type: fields.Vector(2)},
		},
		Propagators: []engine.Propagator{propagators.Flow{Field: height, Output: down, Normalise: true}},
	})
	show(world, down, 0, 2) // eastward; on the ridge there is no direction
	// Output:
	// -1.00 -1.00 -1.00 0.00 1.00 1.00 1.00
}

// Where a herd stands, grass is eaten faster than it grows; bare ground stays bare.
func ExampleResource() {
	const grass, herd = fields.ID(0), fields.ID(1)
	config := engine.Config{
		Space: space.Line{Length: 3},
		Fields: []fields.Def{
			{Name: "grass", Initial: fields.Values([]float64{0.9, 0.9, 0})},
			{Name: "herd", Initial: fields.Values([]float64{0, 1, 0})},
		},
		Propagators: []engine.Propagator{
			propagators.Resource{Field: grass, Presence: new(herd), Consumption: 0.8, Regrowth: 0.5, Logistic: true, Capacity: 1},
		},
		TickRate: 20,
	}
	for _, ticks := range []int{0, 20, 40} {
		show(after(ticks, config), grass, 0, 1) // growth is a share of what is there
	}
	// Output:
	// 0.90 0.90 0.00
	// 0.94 0.20 0.00
	// 0.96 0.00 0.00
}

// Half of a glow is gone after half a second.
func ExampleDecay() {
	const glow = fields.ID(0)
	config := engine.Config{
		Space:       space.Line{Length: 2},
		Fields:      []fields.Def{{Name: "glow", Initial: fields.Values([]float64{1, 8})}},
		Propagators: []engine.Propagator{propagators.Decay{Field: glow, Rate: 1.386294361}}, // 2 ln 2
		TickRate:    20,
	}
	for _, ticks := range []int{10, 20, 30} {
		show(after(ticks, config), glow, 0, 1)
	}
	// Output:
	// 0.50 4.00
	// 0.25 2.00
	// 0.12 1.00
}

// Each cell walks at random; the same seed gives the same walk.
func ExampleNoise() {
	const value = fields.ID(0)
	config := engine.Config{
		Space:       space.Ring{Length: 6},
		Fields:      []fields.Def{{Name: "value"}},
		Propagators: []engine.Propagator{propagators.Noise{Field: value, Kind: propagators.Gaussian, Scale: 0.1}},
		Seed:        7,
	}
	show(after(100, config), value, 0, 1)
	config.Workers = 4
	show(after(100, config), value, 0, 1)
	// Output:
	// 0.12 1.46 0.73 0.75 0.06 1.43
	// 0.12 1.46 0.73 0.75 0.06 1.43
}
