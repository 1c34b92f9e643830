// Package components has the propagators and systems of the engine's library as
// scenarios name them: for each a struct of parameters, which makes it.
//
// They are written as those of any other module are: see [scenarios.Component].
package components

import "github.com/murksim/murksim/scenarios"

// weighed is the last program whose diffusion weighs means, which does not conserve.
const weighed = "github.com/murksim/murksim/cmd/murksim@afcd7c42ae75"

// All lists the components. A version goes up when the same parameters give other
// results.
func All() []scenarios.Component {
	return []scenarios.Component{
		{Name: "rule", Version: 1, Params: func() any { return new(scenarios.Rule) },
			About: "Computes fields by formulas that the scenario holds."},
		{Name: "rule", Version: 1, Title: "rule of entities", Params: func() any { return new(scenarios.EntityRule) },
			About: "Lets entities act by formulas that the scenario holds."},
		{Name: "diffusion", Version: 2, Earlier: []string{weighed}, Lower: "rate", Params: func() any { return new(diffusion) },
			About: "Pulls every cell toward the mean of its neighbours."},
		{Name: "wave", Version: 1, Lower: "speed", Params: func() any { return new(wave) },
			About: "Makes every cell oscillate about the mean of its neighbours."},
		{Name: "gradient", Version: 1, Params: func() any { return new(gradient) },
			About: "Computes the slope of a field."},
		{Name: "flow", Version: 1, Params: func() any { return new(flow) },
			About: "Computes the direction in which a field falls."},
		{Name: "resource", Version: 1, Lower: "regrowth", Params: func() any { return new(resource) },
			About: "Lets a resource grow back, and be eaten in occupied cells."},
		{Name: "decay", Version: 1, Params: func() any { return new(decay) },
			About: "Lets a field decay at a constant rate."},
		{Name: "noise", Version: 1, Params: func() any { return new(noise) },
			About: "Adds random numbers."},
		{Name: "movement", Version: 1, Params: func() any { return new(movement) },
			About: "Moves agents from cell to cell, each according to its action."},
		{Name: "emission", Version: 1, Params: func() any { return new(emission) },
			About: "Adds a value to a field in occupied cells."},
		{Name: "reward", Version: 1, Params: func() any { return new(reward) },
			About: "Computes the reward for an agent at each cell."},
		{Name: "morphology", Version: 1, Params: func() any { return new(morphology) },
			About: "Grows or shrinks the region where a field exceeds a threshold."},
		{Name: "copy", Version: 1, Params: func() any { return new(copyField) },
			About: "Copies a field into another."},
		{Name: "gray_scott", Version: 1, Lower: "diff_u", Bound: "max_v", Params: func() any { return new(grayScott) },
			About: "Lets two substances diffuse and react: spots, stripes and waves."},
		{Name: "shallow_water", Version: 1, Lower: "gravity", Params: func() any { return new(shallowWater) },
			About: "Lets water flow over a bed, make waves and come to rest."},
		{Name: "advection", Version: 1, Lower: "max_speed", Params: func() any { return new(advection) },
			About: "Transports a field with a velocity."},
		{Name: "automaton", Version: 1, Params: func() any { return new(automaton) },
			About: "Runs a cellular automaton such as Conway's Life or WireWorld."},
		{Name: "majority", Version: 1, Params: func() any { return new(majority) },
			About: "Gives every cell the state that most of its neighbours have."},
		{Name: "percolation", Version: 1, Params: func() any { return new(percolation) },
			About: "Lets a liquid seep from cell to cell through cells that are open at random."},
		{Name: "distance", Version: 1, Params: func() any { return new(distances) },
			About: "Computes the number of steps to the nearest source, around obstacles."},
		{Name: "sight", Version: 1, Params: func() any { return new(sight) },
			About: "Counts the viewers that see each cell."},
		{Name: "bodies", Version: 1, Params: func() any { return new(bodies) },
			About: "Lets entities fall, bounce, slide and come to rest on hilly ground, in fixed-point numbers."},
		{Name: "pin", Version: 1, Params: func() any { return new(pin) },
			About: "Keeps a field at a value where another is not zero."},
	}
}
