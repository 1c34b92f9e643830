package measure

import (
	"github.com/murksim/murksim/commands"
	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/engine/propagators"
	"github.com/murksim/murksim/fields"
	"github.com/murksim/murksim/space"
)

// nanoseconds turns times a second into how long one takes.
func nanoseconds(all []reading, err error) ([]reading, error) {
	for i := range all {
		all[i].value = 1e9 / all[i].value
	}
	return all, err
}

// emptyTick measures a tick in which nothing happens.
func emptyTick(r *run) ([]reading, error) {
	w, err := engine.New(engine.Config{Space: space.Ring{Length: 64}, Fields: []fields.Def{{Name: "heat"}}})
	if err != nil {
		return nil, err
	}
	return nanoseconds(r.alone(1, step(w)))
}

// smallWorld is a world of 64² cells with two propagators on one dense field, and
// four agents that walk: each gets a command in every tick.
func smallWorld() (w *engine.World, walk func() error, err error) {
	const side, agents = 64, 4
	w, err = engine.New(engine.Config{
		Space: space.Square4{Rows: side, Cols: side, Edge: space.Wrap}, Capacity: agents, Timestep: gridTimestep,
		Fields: []fields.Def{{Name: "heat", Initial: fields.Values(wide(dense(side * side)))}},
		Propagators: []engine.Propagator{
			propagators.Diffusion{Field: 0, Rate: gridRate},
			propagators.Decay{Field: 0, Rate: 1e-9},
		},
	})
	if err != nil {
		return nil, nil, err
	}
	walk = func() error {
		t := int32(w.Tick())
		for k := range int32(agents) {
			at, id := space.At(k*16, (t+k)%side), uint64(1<<20|(k+1)) // all were made in tick 1
			c := commands.Move(id, at)
			if t == 0 {
				c = commands.Spawn(at)
			}
			if _, err := w.Submit(c.From(id, uint64(t))); err != nil {
				return err
			}
		}
		_, err := w.Step()
		return err
	}
	return w, walk, nil
}

func walking(walk func() error) func(n int) error {
	return func(n int) error {
		for range n {
			if err := walk(); err != nil {
				return err
			}
		}
		return nil
	}
}

func smallTicks(r *run) ([]reading, error) {
	_, walk, err := smallWorld()
	if err != nil {
		return nil, err
	}
	return r.alone(1, timed(walking(walk)))
}

func smallTicksRecorded(r *run) ([]reading, error) {
	w, walk, err := smallWorld()
	if err != nil {
		return nil, err
	}
	tape, err := taped(w, timed(walking(walk)))
	if err != nil {
		return nil, err
	}
	return r.alone(1, tape)
}

// manyWorlds measures a thousand worlds on two cores against the same on one.
func manyWorlds(r *run) ([]reading, error) {
	const count, side = 1000, 32
	batch := func(workers int) (contender, error) {
		worlds := make([]*engine.World, count)
		for i := range worlds {
			w, err := diffusingWorld(space.Square4{Rows: side, Cols: side})
			if err != nil {
				return nil, err
			}
			worlds[i] = w
		}
		b, err := engine.NewBatch(worlds, workers)
		return timed(func(n int) error {
			for range n {
				if _, err := b.Run(1); err != nil {
					return err
				}
			}
			return nil
		}), err
	}
	two, err := batch(2)
	if err != nil {
		return nil, err
	}
	one, err := batch(1)
	if err != nil {
		return nil, err
	}
	return r.against(count, two, one)
}

// setFields measures a thousand commands, from SubmitAll to the receipts, in microseconds.
func setFields(r *run) ([]reading, error) {
	const count, side = 1000, 64
	w, err := engine.New(engine.Config{Space: space.Square4{Rows: side, Cols: side}, Fields: []fields.Def{{Name: "heat"}}})
	if err != nil {
		return nil, err
	}
	list := make([]commands.Command, count)
	for i := range list {
		list[i] = commands.SetField(space.At(int32(i/side), int32(i%side)), 0, float32(i))
	}
	readings, err := r.alone(1, timed(func(n int) error {
		for range n {
			if _, _, err := w.SubmitAll(list); err != nil {
				return err
			}
			if _, err := w.Step(); err != nil {
				return err
			}
		}
		return nil
	}))
	for i := range readings {
		readings[i].value = 1e6 / readings[i].value
	}
	return readings, err
}
