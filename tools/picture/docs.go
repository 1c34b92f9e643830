package main

// docs are the pictures that the documents show.
var docs = map[string]picture{
	"heat.png":      {scenario: "heat", mask: "wall", ticks: 1000, cell: 4, palette: "fire", lo: -10, hi: 150},
	"waves.png":     {scenario: "waves", field: "height", mask: "land", ticks: 105, cell: 2, palette: "sea", lo: -2, hi: 2},
	"predators.png": {scenario: "predators", field: "grass", ticks: 60, cell: 2, palette: "grass", lo: 0, hi: 0.8},
	"colony.png":    {scenario: "colony", field: "wood", mask: "built", ticks: 1000, cell: 4, palette: "grass", lo: 0, hi: 4},
	"physics.png":   {scenario: "bodies", mask: "entity.cell", ticks: 1000, cell: 4, palette: "grass"},
	"fire.png":      {scenario: "fire", ticks: 150, cell: 2},
	"crystal.png":   {scenario: "crystal", field: "frost", ticks: 1000, cell: 4, z: 6, palette: "sea", lo: 0, hi: 1.2},
	"life.png":      {scenario: "life", ticks: 200, cell: 2},

	// Pages of propagators.
	"propagators/diffusion.png":     {scenario: "diffusion", mask: "stone", ticks: 450, cell: 6, palette: "fire", lo: 0, hi: 100},
	"propagators/wave.png":          {scenario: "wave", ticks: 90, cell: 6, palette: "sea", lo: -3, hi: 3},
	"propagators/gradient.png":      {scenario: "gradient", ticks: 380, cell: 6, component: "direction", lo: 0, hi: 1.5},
	"propagators/flow.png":          {scenario: "flow", ticks: 400, cell: 6, component: "direction"},
	"propagators/resource.png":      {scenario: "resource", ticks: 400, cell: 6, palette: "grass"},
	"propagators/decay.png":         {scenario: "decay", ticks: 400, every: 3, cell: 3, palette: "fire"},
	"propagators/noise.png":         {scenario: "noise", ticks: 180, every: 1, cell: 3, palette: "sea"},
	"propagators/gray_scott.png":    {scenario: "gray_scott", field: "v", ticks: 2500, cell: 3, palette: "fire", lo: 0, hi: 0.4},
	"propagators/automaton.png":     {scenario: "automaton", ticks: 150, cell: 8},
	"propagators/majority.png":      {scenario: "majority", ticks: 300, cell: 6},
	"propagators/percolation.png":   {scenario: "percolation", ticks: 120, cell: 6},
	"propagators/distance.png":      {scenario: "distance", mask: "wall", ticks: 60, cell: 6, palette: "sea"},
	"propagators/sight.png":         {scenario: "sight", mask: "wall", ticks: 240, cell: 6, palette: "fire", lo: 0, hi: 3},
	"propagators/movement.png":      {scenario: "movement", ticks: 400, cell: 6, palette: "fire"},
	"propagators/emission.png":      {scenario: "emission", ticks: 400, cell: 6, palette: "fire"},
	"propagators/reward.png":        {scenario: "reward", ticks: 395, cell: 6, palette: "fire"},
	"propagators/morphology.png":    {scenario: "morphology", ticks: 600, cell: 6, palette: "fire", lo: -0.5, hi: 3},
	"propagators/copy.png":          {scenario: "copy", ticks: 60, cell: 6, palette: "sea"},
	"propagators/shallow_water.png": {scenario: "shallow_water", ticks: 160, cell: 5, palette: "sea", lo: 0, hi: 3.5},
	"propagators/advection.png":     {scenario: "advection", ticks: 800, cell: 5, palette: "sea", lo: 0, hi: 8},
}
