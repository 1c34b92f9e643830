package main

import (
	"fmt"
	"maps"
	"slices"

	"github.com/murksim/murksim/internal/render"
	"github.com/murksim/murksim/scenarios"
	"github.com/murksim/murksim/scenarios/worlds"
)

// pictures are all pictures that the documents show: docs, and for each propagator's
// page that is not among them the usual one.
func pictures() (map[string]picture, error) {
	all := maps.Clone(docs)
	for _, world := range worlds.Embedded() {
		name := "propagators/" + world.Shows + ".png"
		if _, ok := all[name]; ok || world.Shows == "" {
			continue
		}
		p, err := usual(world.Shows)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		all[name] = p
	}
	return all, nil
}

// usual is how the picture of a propagator's page is drawn unless docs says otherwise:
// the scenario's first field that it writes, in cells as large as fit, of a line or ring
// in time.
func usual(kind string) (picture, error) {
	const most, rows, side = 400, 100, 400 // ticks, rows of a line or ring, pixels
	s, err := open(kind)
	if err != nil {
		return picture{}, err
	}
	c, err := s.Config(1)
	if err != nil {
		return picture{}, err
	}
	l, err := c.Space.Build()
	if err != nil {
		return picture{}, err
	}
	at := slices.IndexFunc(s.Propagators, func(x scenarios.Instance) bool { return x.Component == kind })
	if at < 0 {
		return picture{}, fmt.Errorf("the scenario %s does not use it", kind)
	}
	spec := c.Propagators[at].Spec(l)
	written := slices.Concat(spec.Full, spec.Incremental)
	if len(written) == 0 {
		return picture{}, fmt.Errorf("%s writes no field", kind)
	}
	field := c.Fields[slices.Min(written)]
	p := picture{scenario: kind, field: field.Name, ticks: min(s.Ticks, most), palette: "fire"}
	if field.Type.Components() == 2 {
		p.component = "direction"
	}
	if l.Dim() == 1 {
		p.every = max(1, p.ticks/rows)
	}
	for p.cell = 8; p.cell > 2; p.cell -= 2 {
		// Where a lattice cannot be drawn, drawing says why.
		if size, err := render.Size(l, p.cell); err != nil || max(size.X, size.Y) <= side {
			break
		}
	}
	return p, nil
}

// docs are the pictures that are not drawn as usual.
var docs = map[string]picture{
	"heat.png":      {scenario: "heat", mask: "wall", ticks: 1000, cell: 4, palette: "fire", lo: -10, hi: 150},
	"waves.png":     {scenario: "waves", field: "height", mask: "land", ticks: 105, cell: 2, palette: "sea", lo: -2, hi: 2},
	"predators.png": {scenario: "predators", field: "grass", ticks: 60, cell: 2, palette: "grass", lo: 0, hi: 0.8},
	"colony.png":    {scenario: "colony", field: "wood", mask: "built", ticks: 1000, cell: 4, palette: "grass", lo: 0, hi: 4},
	"physics.png":   {scenario: "bodies", mask: "entity.cell", ticks: 1000, cell: 4, palette: "grass"},
	"minewars.png":  {scenario: "minewars", ticks: 3000, cell: 8},
	"fire.png":      {scenario: "fire", ticks: 150, cell: 2},
	"crystal.png":   {scenario: "crystal", field: "frost", ticks: 1000, cell: 4, z: 6, palette: "sea", lo: 0, hi: 1.2},
	"life.png":      {scenario: "life", ticks: 200, cell: 2},

	// Worlds in which agents learn.
	"learning/heat_seeker.png": {scenario: "heat_seeker", field: "heat", mask: "entity.cell", ticks: 106, cell: 16, palette: "fire", lo: 0, hi: 4},
	"learning/crystal_nav.png": {scenario: "crystal_nav", field: "signal", mask: "entity.cell", ticks: 160, cell: 16, z: 10, palette: "sea", lo: 0, hi: 3},
	"learning/hex_pursuit.png": {scenario: "hex_pursuit", field: "grass", mask: "entity.cell", ticks: 12, cell: 16, palette: "grass", lo: 0, hi: 1},
	"learning/layered_hex.png": {scenario: "layered_hex", field: "plume", mask: "entity.cell", ticks: 130, cell: 16, palette: "sea", lo: 0, hi: 2},
	"learning/hunters.png":     {scenario: "hunters", field: "grass", mask: "entity.cell", ticks: 120, cell: 6, palette: "grass", lo: 0, hi: 0.8},

	// Models whose rules are in the file.
	"start/sir.png":      {scenario: "rules/sir", ticks: 80, cell: 2},
	"start/traffic.png":  {scenario: "rules/traffic", ticks: 300, every: 2, cell: 1, palette: "fire", lo: -1, hi: 5},
	"start/sandpile.png": {scenario: "rules/sandpile", ticks: 30000, cell: 2, palette: "sea", lo: 0, hi: 3},
	"start/waves.png":    {scenario: "rules/waves", ticks: 2000, cell: 2, palette: "fire", lo: -2, hi: 2},
	"start/rps.png":      {scenario: "rules/rps", ticks: 1000, cell: 2},
	"start/ising.png":    {scenario: "rules/ising", ticks: 400, cell: 2, palette: "grey", lo: -1, hi: 1},
	"start/wolfram.png":  {scenario: "rules/wolfram", ticks: 200, every: 1, cell: 1, palette: "grey", lo: 0, hi: 1},

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
