package propagators_test

import (
	"fmt"

	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/engine/propagators"
	"github.com/murksim/murksim/fields"
	"github.com/murksim/murksim/space"
)

// A rod of nine cells, its left end held at 100 degrees, with a wall behind its sixth cell.
func ExampleDiffusion() {
	const heat, wall = fields.ID(0), fields.ID(1)
	world, err := engine.New(engine.Config{
		Space: space.Line{Length: 9},
		Fields: []fields.Def{
			{Name: "heat", Unit: "K"},
			{Name: "wall", Mutability: fields.Static, Initial: fields.Values([]float64{0, 0, 0, 0, 0, 0, 1, 0, 0})},
		},
		Propagators: []engine.Propagator{
			propagators.Diffusion{
				Field: heat, Rate: 8, BlockedBy: new(wall),
				Hold: []propagators.Hold{{Cells: []int{0}, Value: 100}},
			},
		},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	for range 40 {
		if _, err := world.Step(); err != nil {
			fmt.Println(err)
			return
		}
	}
	for cell := range 9 {
		fmt.Printf("%.0f ", world.Value(heat, cell))
	}
	// Output: 100 90 81 74 68 65 0 0 0
}
