package engine_test

import (
	"fmt"

	"github.com/murksim/murksim/commands"
	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/fields"
	"github.com/murksim/murksim/space"
)

// Cooling is a propagator: it takes a share of every cell's excess away in a second.
type Cooling struct {
	Field fields.ID
	Rate  float64 // per second
}

// Spec implements [engine.Propagator].
func (c Cooling) Spec(*space.Lattice) engine.Spec {
	return engine.Spec{Name: "cooling", Prev: engine.Fields(c.Field), Full: engine.Fields(c.Field), MaxDt: 1 / c.Rate}
}

// Step implements [engine.Propagator].
func (c Cooling) Step(ctx *engine.Context) error {
	prev, next := ctx.Prev(c.Field), ctx.Next(c.Field)
	loss := float32(c.Rate * ctx.Dt())
	for i := range next {
		next[i] = prev[i] - float32(loss*prev[i]) // converting rounds: no processor may fuse the two
	}
	return nil
}

// A world in about twenty lines.
func Example() {
	world, err := engine.New(engine.Config{
		Space:       space.Square4{Rows: 64, Cols: 64, Edge: space.Wrap},
		Fields:      []fields.Def{{Name: "heat", Initial: fields.Fill(20), Unit: "°C"}},
		Propagators: []engine.Propagator{Cooling{Field: 0, Rate: 0.5}},
		TickRate:    20,
		Seed:        42,
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	for range 100 {
		if _, err := world.Submit(commands.SetField(space.At(3, 4), 0, 90)); err != nil {
			fmt.Println(err)
		}
		if _, err := world.Step(); err != nil {
			fmt.Println(err)
			return
		}
	}
	rank, _ := world.Lattice().Rank(space.At(3, 4))
	fmt.Printf("tick %d, heat %.2f there and %.2f elsewhere\n", world.Tick(), world.Value(0, rank), world.Value(0, 0))
	fmt.Printf("hash %016x\n", world.Hash())
	// Output:
	// tick 100, heat 87.75 there and 1.59 elsewhere
	// hash cf8fb0d6972a3c8d
}

// What a propagator's Spec says is held against the world when it is built.
func ExamplePropagator() {
	config := engine.Config{
		Space:       space.Ring{Length: 3},
		Fields:      []fields.Def{{Name: "heat", Initial: fields.Values([]float64{0, 10, 20})}},
		Propagators: []engine.Propagator{Cooling{Field: 0, Rate: 2}},
		TickRate:    4,
	}
	world, err := engine.New(config)
	if err != nil {
		fmt.Println(err)
		return
	}
	if _, err := world.Step(); err != nil {
		fmt.Println(err)
	}
	fmt.Println(world.Value(0, 0), world.Value(0, 1), world.Value(0, 2))

	config.TickRate = 1
	_, err = engine.New(config)
	fmt.Println(err)
	// Output:
	// 0 5 10
	// engine: propagator "cooling": would be unstable: dt is 1 s, the limit on ring 3 (2 neighbours) is 0.5 s
}

// Aging is a system: entities grow older and die. Its field is "age".
type Aging struct {
	Age  fields.ID
	Last float32 // age at which an entity dies
}

// Spec implements [engine.System].
func (a Aging) Spec(*space.Lattice) engine.Spec {
	return engine.Spec{Name: "aging", Incremental: engine.Fields(a.Age)}
}

// Update implements [engine.System].
func (a Aging) Update(c *engine.SystemContext) error {
	age := c.Next(a.Age)
	for slot, id := range c.Entities().ID {
		if id == 0 {
			continue // a free slot
		}
		if age[slot]++; age[slot] == a.Last {
			if _, err := c.Schedule(c.Tick()+1, commands.Despawn(id)); err != nil {
				return err
			}
		}
	}
	return nil
}

// Systems carry out at once what concerns attributes, and schedule the rest.
func ExampleSystem() {
	world, err := engine.New(engine.Config{
		Space:    space.Ring{Length: 10},
		Fields:   []fields.Def{{Name: "age", Domain: fields.Entities}},
		Systems:  []engine.System{Aging{Age: 0, Last: 3}},
		Capacity: 2,
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	if _, err := world.Submit(commands.Spawn(space.At(4))); err != nil {
		fmt.Println(err)
	}
	for range 4 {
		receipts, err := world.Step()
		if err != nil {
			fmt.Println(err)
			return
		}
		for _, r := range receipts {
			fmt.Printf("tick %d: %v %v\n", world.Tick(), r.Kind, r.Reason)
		}
		fmt.Printf("tick %d: %d alive\n", world.Tick(), world.Population())
	}
	// Output:
	// tick 1: spawn applied
	// tick 1: 1 alive
	// tick 2: 1 alive
	// tick 3: 1 alive
	// tick 4: despawn applied
	// tick 4: 0 alive
}

// A world is saved, and goes on elsewhere through the same states; a fork tries what
// would happen otherwise.
func ExampleRestore() {
	config := engine.Config{
		Space:       space.Ring{Length: 5},
		Fields:      []fields.Def{{Name: "heat"}},
		Propagators: []engine.Propagator{Cooling{Field: 0, Rate: 2}},
	}
	world, err := engine.New(config)
	if err != nil {
		fmt.Println(err)
		return
	}
	world.Submit(commands.SetField(space.At(2), 0, 10))
	world.Step()

	state, err := world.Save(nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	again, err := engine.Restore(config, nil, state)
	if err != nil {
		fmt.Println(err)
		return
	}
	fork, err := again.Fork()
	if err != nil {
		fmt.Println(err)
		return
	}
	fork.Submit(commands.SetField(space.At(0), 0, 7))
	for _, w := range []*engine.World{world, again, fork} {
		w.Step()
	}
	fmt.Println(again.Tick(), again.Hash() == world.Hash(), fork.Hash() == world.Hash())
	// Output: 2 true false
}

// A program looks ahead in one fork, which it takes back to the world's state each time.
func ExampleWorld_ForkInto() {
	world, err := engine.New(engine.Config{
		Space:       space.Ring{Length: 5},
		Fields:      []fields.Def{{Name: "heat", Initial: fields.Fill(8)}},
		Propagators: []engine.Propagator{Cooling{Field: 0, Rate: 2}},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	ahead, err := world.Fork()
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, heat := range []float32{0, 20, 40} {
		if err := world.ForkInto(ahead); err != nil {
			fmt.Println(err)
			return
		}
		ahead.Submit(commands.SetField(space.At(2), 0, heat))
		if err := ahead.Run(3); err != nil {
			fmt.Println(err)
			return
		}
		fmt.Printf("with %v: %.3f at tick %d\n", heat, ahead.Value(0, 2), ahead.Tick())
	}
	fmt.Println("the world is at tick", world.Tick())
	// Output:
	// with 0: 0.000 at tick 3
	// with 20: 14.580 at tick 3
	// with 40: 29.160 at tick 3
	// the world is at tick 0
}

// Those who only look see a tick after it has happened.
func ExampleWorld_Watch() {
	world, err := engine.New(engine.Config{
		Space:       space.Ring{Length: 5},
		Fields:      []fields.Def{{Name: "heat", Initial: fields.Fill(8)}},
		Propagators: []engine.Propagator{Cooling{Field: 0, Rate: 2}},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	stop := world.Watch(func(t *engine.Tick) {
		fmt.Printf("tick %d: %d commands, %.2f in the first cell\n", t.Number, len(t.Inputs), world.Value(0, 0))
	})
	world.Submit(commands.SetField(space.At(0), 0, 100))
	world.Run(2)
	stop()
	world.Run(2)
	// Output:
	// tick 1: 1 commands, 90.00 in the first cell
	// tick 2: 0 commands, 81.00 in the first cell
}
