package observe_test

import (
	"fmt"

	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/engine/observe"
	"github.com/murksim/murksim/fields"
	"github.com/murksim/murksim/space"
)

// Two agents on a ring see the heat beside them and know their own place's.
func Example() {
	world, err := engine.New(engine.Config{
		Space:  space.Ring{Length: 6},
		Fields: []fields.Def{{Name: "heat", Initial: fields.Values([]float64{0, 10, 20, 30, 40, 50})}},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	plan, err := observe.Compile(observe.Spec{Entries: []observe.Entry{
		{Name: "near", Region: observe.AgentDisk(1), Transform: observe.Normalize(0, 50)},
		{Name: "here", Region: observe.Self()},
	}}, world.Lattice(), world.Defs())
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, p := range plan.Parts() {
		fmt.Println(p.Name, p.Shape, "at", p.Offset)
	}
	agents := []observe.Agent{{Cell: 0, Slot: -1}, {Cell: 3, Slot: -1}}
	out, mask := make([]float32, len(agents)*plan.Len()), make([]uint8, len(agents)*plan.MaskLen())
	if err := plan.Observer().Float32(world, agents, out, mask); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(out[:4], out[4:])
	// Output:
	// near [3] at 0
	// here [] at 3
	// [1 0 0.2 0] [0.4 0.6 0.8 30]
}
