package measure

import (
	"math/rand/v2"

	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/engine/propagators"
	"github.com/murksim/murksim/fields"
	"github.com/murksim/murksim/space"
)

// gridTimestep and gridRate make a diffusion stable for twelve neighbours.
const (
	gridTimestep = 0.0625
	gridRate     = 1.0
)

// dense are values of which no two bytes in a row are alike.
func dense(n int) []float32 {
	random := rand.New(rand.NewPCG(1, 2))
	v := make([]float32, n)
	for i := range v {
		v[i] = 1 + random.Float32()
	}
	return v
}

// diffusingWorld is a world with nothing but a diffusion of dense values.
func diffusingWorld(s space.Space) (*engine.World, error) {
	f := diffusion(gridRate)
	w, _, err := f.build(s)
	return w, err
}

func wide(v []float32) []float64 {
	w := make([]float64, len(v))
	for i, x := range v {
		w[i] = float64(x)
	}
	return w
}

// step is a contender: ticks of a world.
func step(w *engine.World) contender {
	return timed(func(n int) error {
		for range n {
			if _, err := w.Step(); err != nil {
				return err
			}
		}
		return nil
	})
}

// runTicks is step by World.Run.
func runTicks(w *engine.World) contender {
	return timed(func(n int) error { return w.Run(uint64(n)) })
}

// againstCopy measures a diffusion against copying the same bytes.
func againstCopy(s space.Space) func(*run) ([]reading, error) {
	return func(r *run) ([]reading, error) {
		w, err := diffusingWorld(s)
		if err != nil {
			return nil, err
		}
		values := dense(w.Lattice().Cells())
		to := make([]float32, len(values))
		return r.against(float64(len(values)), runTicks(w), timed(func(n int) error {
			for range n {
				copy(to, values)
			}
			return nil
		}))
	}
}

// twoWorkers measures a diffusion on two workers against one.
func twoWorkers(r *run) ([]reading, error) {
	grid, f := space.Square4{Rows: 512, Cols: 512}, diffusion(gridRate)
	two, _, err := f.buildFor(grid, 2)
	if err != nil {
		return nil, err
	}
	one, err := diffusingWorld(grid)
	if err != nil {
		return nil, err
	}
	return r.against(float64(one.Lattice().Cells()), step(two), step(one))
}

// profile is the original engine's reference profile: two diffusions, gradient,
// movement and reward, with four agents, on a square.
func profile(side int) func(*run) ([]reading, error) {
	return func(r *run) ([]reading, error) {
		const heat, velocity, presence, gradient, reward, floor = 0, 1, 2, 3, 4, 5
		cells := side * side
		agents, arrows := make([]float64, cells), make([]float64, cells)
		for k := range 4 {
			agents[cells/5*(k+1)] = float64(k + 1)
		}
		for i := range arrows {
			arrows[i] = float64(i * 7 % 5)
		}
		w, err := engine.New(engine.Config{
			Space: space.Square4{Rows: side, Cols: side}, TickRate: 10,
			Fields: []fields.Def{
				heat:     {Name: "heat", Initial: fields.Values(wide(dense(cells)))},
				velocity: {Name: "velocity", Type: fields.Vector(2), Initial: fields.Values(wide(dense(2 * cells)))},
				presence: {Name: "agent_presence", Initial: fields.Values(agents)},
				gradient: {Name: "heat_gradient", Type: fields.Vector(2)},
				reward:   {Name: "reward"},
				floor:    {Name: "floor", Type: fields.Categorical(5), Mutability: fields.Static, Initial: fields.Values(arrows)},
			},
			Propagators: []engine.Propagator{
				propagators.Diffusion{Name: "heat", Field: heat, Rate: 0.1},
				propagators.Diffusion{Name: "velocity", Field: velocity, Rate: 0.1},
				propagators.Gradient{Field: heat, Output: gradient},
				propagators.Movement{Agents: presence, Actions: floor, Keep: true},
				propagators.Reward{Heat: heat, Presence: presence, Field: reward, HeatBonus: 1, StepCost: -0.01},
			},
		})
		if err != nil {
			return nil, err
		}
		return r.alone(float64(cells), step(w))
	}
}

// normals measures noise with a normal number for every cell.
func normals(r *run) ([]reading, error) {
	const side = 512
	w, err := engine.New(engine.Config{
		Space: space.Square4{Rows: side, Cols: side}, Fields: []fields.Def{{Name: "noise"}},
		Propagators: []engine.Propagator{propagators.Noise{Kind: propagators.Gaussian, Scale: 0.01}},
	})
	if err != nil {
		return nil, err
	}
	return r.alone(side*side, step(w))
}
