package measure

import (
	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/engine/propagators"
	"github.com/murksim/murksim/fields"
	"github.com/murksim/murksim/space"
)

// A look ahead makes so many forks of a world, as a tree search does, and computes so many ticks of each.
const aheadForks, aheadTicks = 100, 20

// aheadWorld is a world of 64² cells with four fields, of which two change.
func aheadWorld() (*engine.World, error) {
	const side = 64
	return engine.New(engine.Config{
		Space: space.Square4{Rows: side, Cols: side}, Timestep: gridTimestep,
		Fields: []fields.Def{{Name: "heat", Initial: fields.Values(wide(dense(side * side)))}, {Name: "food", Initial: fields.Fill(1)}, {Name: "wall"}, {Name: "ground", Mutability: fields.Static}},
		Propagators: []engine.Propagator{
			propagators.Diffusion{Field: 0, Rate: gridRate},
			propagators.Decay{Field: 1, Rate: 1e-9},
		},
	})
}

// forks measures a fork and its release.
func forks(r *run) ([]reading, error) {
	w, err := aheadWorld()
	if err != nil {
		return nil, err
	}
	return nanoseconds(r.alone(1, timed(func(n int) error {
		for range n {
			f, err := w.Fork()
			if err == nil {
				err = f.Release()
			}
			if err != nil {
				return err
			}
		}
		return nil
	})))
}

// lookAhead measures looks ahead against the same ticks of one world.
func lookAhead(r *run) ([]reading, error) {
	w, err := aheadWorld()
	if err != nil {
		return nil, err
	}
	one, err := aheadWorld()
	if err != nil {
		return nil, err
	}
	ahead := timed(func(n int) error {
		for range n * aheadForks {
			f, err := w.Fork()
			if err == nil {
				err = ticks(f, aheadTicks)
			}
			if err == nil {
				err = f.Release()
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
	plain := timed(func(n int) error { return ticks(one, n*aheadForks*aheadTicks) })
	return r.against(aheadForks*aheadTicks, ahead, plain)
}

// ticks computes so many ticks, one by one.
func ticks(w *engine.World, n int) error {
	for range n {
		if _, err := w.Step(); err != nil {
			return err
		}
	}
	return nil
}
