package measure

import (
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/engine/propagators"
	"github.com/murksim/murksim/fields"
	"github.com/murksim/murksim/space"
)

// A family is a propagator and the C loop that computes the same.
type family struct {
	loop   string // rival/<loop>.c
	settle int    // ticks before the measuring begins

	// world returns a world without its space, and the numbers that the C loop takes.
	world func(l *space.Lattice) (engine.Config, []float32)
}

// build makes the world, with one worker.
func (f *family) build(s space.Space) (*engine.World, []float32, error) { return f.buildFor(s, 1) }

func (f *family) buildFor(s space.Space, workers int) (*engine.World, []float32, error) {
	l, err := s.Build()
	if err != nil {
		return nil, nil, err
	}
	c, numbers := f.world(l)
	c.Space, c.Workers = s, workers
	w, err := engine.New(c)
	if err == nil {
		err = w.Run(uint64(f.settle))
	}
	return w, numbers, err
}

// againstC measures a family, ticked as a contender does, against its C loop.
func againstC(f family, s space.Space, ticks func(*engine.World) contender) func(*run) ([]reading, error) {
	return func(r *run) ([]reading, error) {
		w, numbers, err := f.build(s)
		if err != nil {
			return nil, err
		}
		c, err := r.startLoop(f.loop, w, numbers)
		if err != nil {
			return nil, err
		}
		defer c.stop()
		if err := sameBits(w, c, ticks(w)); err != nil {
			return nil, err
		}
		return r.against(float64(w.Lattice().Cells()), ticks(w), c.ticks)
	}
}

// sameBits compares the world and the C loop after a few ticks: a loop that gives
// other bits computes something else, and is no rival.
func sameBits(w *engine.World, c *cLoop, ours contender) error {
	const ticks = 5
	if _, err := ours(ticks); err != nil {
		return err
	}
	if _, err := c.ticks(ticks); err != nil {
		return err
	}
	theirs, err := c.state()
	if err != nil {
		return err
	}
	for id, mine := range fieldsOf(w) {
		if i := compareWords(mine, theirs[:len(mine)]); i >= 0 {
			return fmt.Errorf("the C loop has other bits: %s at %v is %v there and %v here after %d ticks",
				w.Defs()[id].Name, w.Lattice().Coord(i*w.Lattice().Cells()/len(mine)), theirs[i], mine[i], ticks)
		}
		theirs = theirs[len(mine):]
	}
	return nil
}

// field is a field with these values.
func field(name string, v []float32) fields.Def {
	return fields.Def{Name: name, Initial: fields.Values(wide(v))}
}

// states is a field of two states.
func states(name string, v []float32) fields.Def {
	d := field(name, v)
	d.Type = fields.Categorical(2)
	return d
}

// scattered are zeros, among which a share of the cells has ones.
func scattered(n int, share float64) []float32 {
	random := rand.New(rand.NewPCG(3, 4))
	v := make([]float32, n)
	for i := range v {
		if random.Float64() < share {
			v[i] = 1
		}
	}
	return v
}

// between are values anywhere between two numbers.
func between(n int, least, most float32) []float32 {
	random := rand.New(rand.NewPCG(5, 6))
	v := make([]float32, n)
	for i := range v {
		v[i] = least + random.Float32()*(most-least)
	}
	return v
}

// diffusion is a diffusion of dense values with a rate.
func diffusion(rate float64) family {
	return family{loop: "diffusion", world: func(l *space.Lattice) (engine.Config, []float32) {
		return engine.Config{
			Timestep:    gridTimestep,
			Fields:      []fields.Def{field("heat", dense(l.Cells()))},
			Propagators: []engine.Propagator{propagators.Diffusion{Rate: rate}},
		}, []float32{float32(rate * gridTimestep)}
	}}
}

// walls is a diffusion in which 3 % of the cells are walls.
var walls = family{loop: "walls", world: func(l *space.Lattice) (engine.Config, []float32) {
	wall := states("wall", scattered(l.Cells(), 0.03))
	wall.Mutability = fields.Static
	return engine.Config{
		Timestep:    gridTimestep,
		Fields:      []fields.Def{field("heat", dense(l.Cells())), wall},
		Propagators: []engine.Propagator{propagators.Diffusion{Rate: gridRate, BlockedBy: new(fields.ID(1))}},
	}, []float32{float32(gridRate * gridTimestep)}
}}

// life is Conway's, some time after a random beginning.
var life = family{loop: "life", settle: 50, world: func(l *space.Lattice) (engine.Config, []float32) {
	return engine.Config{
		Timestep:    1,
		Fields:      []fields.Def{states("alive", scattered(l.Cells(), 0.3))},
		Propagators: []engine.Propagator{propagators.Automaton{Rule: propagators.Rule{Born: 1 << 3, Survive: 1<<2 | 1<<3}}},
	}, nil
}}

// majority is a vote of neighbours between two states, at random in the beginning.
var majority = family{loop: "majority", world: func(l *space.Lattice) (engine.Config, []float32) {
	return engine.Config{
		Timestep:    1,
		Fields:      []fields.Def{states("opinion", scattered(l.Cells(), 0.5))},
		Propagators: []engine.Propagator{propagators.Majority{Ties: propagators.KeepOwn}},
	}, nil
}}

// wave has waves of all lengths that lose a little.
var wave = family{loop: "wave", world: func(l *space.Lattice) (engine.Config, []float32) {
	const speed, damping, dt = 2.0, 0.01, 0.0625
	return engine.Config{
		Timestep: dt,
		Fields:   []fields.Def{field("displacement", dense(l.Cells())), field("velocity", between(l.Cells(), -1, 1))},
		Propagators: []engine.Propagator{
			propagators.Wave{Displacement: 0, Velocity: 1, Speed: speed, Damping: damping},
		},
	}, []float32{speed * speed, damping, dt}
}}

// grayScott keeps both substances everywhere: where v dies out, it becomes so small that the
// processor computes it more slowly.
var grayScott = family{loop: "grayscott", world: func(l *space.Lattice) (engine.Config, []float32) {
	const diffU, diffV, feed, kill, dt = 0.16, 0.08, 0.06, 0.05, 0.25
	return engine.Config{
		Timestep:    dt,
		Fields:      []fields.Def{field("u", between(l.Cells(), 0.4, 0.6)), field("v", between(l.Cells(), 0.2, 0.4))},
		Propagators: []engine.Propagator{propagators.GrayScott{U: 0, V: 1, DiffU: diffU, DiffV: diffV, Feed: feed, Kill: kill}},
	}, []float32{diffU * dt, diffV * dt, feed * dt, (feed + kill) * dt, dt}
}}

// resource is eaten in a twentieth of the cells and grows back in all: at first it has
// any value up to its capacity.
var resource = family{loop: "resource", world: func(l *space.Lattice) (engine.Config, []float32) {
	const consumption, regrowth, capacity, dt = 0.5, 0.25, 2, 0.125
	return engine.Config{
		Timestep: dt,
		Fields:   []fields.Def{field("grass", between(l.Cells(), 0, capacity)), field("grazers", scattered(l.Cells(), 0.05))},
		Propagators: []engine.Propagator{propagators.Resource{
			Field: 0, Presence: new(fields.ID(1)), Consumption: consumption, Regrowth: regrowth, Logistic: true, Capacity: capacity,
		}},
	}, []float32{consumption * dt, regrowth, capacity, dt}
}}

// morphology grows what is there by a radius: little enough that it does not fill the space.
func morphology(radius int) family {
	return family{loop: "morphology", world: func(l *space.Lattice) (engine.Config, []float32) {
		const threshold = 0.5
		return engine.Config{
			Timestep:    1,
			Fields:      []fields.Def{field("seed", scattered(l.Cells(), 0.02)), states("grown", make([]float32, l.Cells()))},
			Propagators: []engine.Propagator{propagators.Morphology{Field: 0, Output: 1, Radius: radius, Threshold: threshold}},
		}, []float32{threshold, float32(radius)}
	}}
}

// water lies in valleys between islands, and has waves.
var water = family{loop: "water", settle: 50, world: func(l *space.Lattice) (engine.Config, []float32) {
	const gravity, drag, viscosity, deepest, dt = 1, 0.01, 0.05, 8, 0.125
	bed, depth := make([]float32, l.Cells()), make([]float32, l.Cells())
	bumps := between(l.Cells(), 0, 0.1)
	for i := range bed {
		at := l.Coord(i)
		y, x := float64(at.At(0)), float64(at.At(1))
		bed[i] = float32(1+math.Sin(x/23)*math.Cos(y/31)) + bumps[i]
		depth[i] = max(0, float32(1+0.2*math.Sin(x/7+y/5))-bed[i])
	}
	ground := field("bed", bed)
	ground.Mutability = fields.Static
	return engine.Config{
		Timestep: dt,
		Fields:   []fields.Def{field("depth", depth), {Name: "flux", Type: fields.Vector(2)}, ground},
		Propagators: []engine.Propagator{propagators.ShallowWater{
			Depth: 0, Flux: 1, Bed: new(fields.ID(2)), Gravity: gravity, Drag: drag, Viscosity: viscosity, MaxDepth: deepest,
		}},
	}, []float32{float32(1 / (1 + drag*dt)), float32((1 - 1.0/(1<<16)) / (4 * dt)), gravity * dt / 2, viscosity, dt}
}}

// advection carries a scalar around in eddies, without sources, sinks or walls in the way of a
// current: no value becomes so small that the processor computes it more slowly.
var advection = family{loop: "advection", world: func(l *space.Lattice) (engine.Config, []float32) {
	const dt = 0.125
	last := l.Coord(l.Cells() - 1)
	x, y := 16*math.Pi/float64(last.At(1)+1), 16*math.Pi/float64(last.At(0)+1)
	velocity := make([]float32, 2*l.Cells())
	for i := range l.Cells() {
		at := l.Coord(i)
		sinY, cosY := math.Sincos(y * (float64(at.At(0)) + 0.5))
		sinX, cosX := math.Sincos(x * (float64(at.At(1)) + 0.5))
		velocity[2*i], velocity[2*i+1] = float32(sinX*cosY), float32(-cosX*sinY)
	}
	current := field("current", velocity)
	current.Type = fields.Vector(2)
	return engine.Config{
		Timestep:    dt,
		Fields:      []fields.Def{field("dye", dense(l.Cells())), current},
		Propagators: []engine.Propagator{propagators.Advection{Field: 0, Velocity: 1, MaxSpeed: 1}},
	}, []float32{dt / 2}
}}

// distance leads around obstacles, a seventh of the cells, to a few sources.
var distance = family{loop: "distance", world: func(l *space.Lattice) (engine.Config, []float32) {
	sources := make([]float32, l.Cells())
	for k := range 8 {
		sources[(2*k+1)*l.Cells()/16] = 1
	}
	return engine.Config{
		Timestep:    1,
		Fields:      []fields.Def{states("source", sources), states("obstacle", scattered(l.Cells(), 1.0/7)), {Name: "distance"}},
		Propagators: []engine.Propagator{propagators.Distance{Source: 0, Blocks: new(fields.ID(1)), Distance: 2}},
	}, nil
}}
