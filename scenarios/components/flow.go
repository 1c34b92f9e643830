package components

import (
	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/engine/propagators"
	"github.com/murksim/murksim/scenarios"
)

type grayScott struct {
	U     scenarios.FieldRef `yaml:"u,required" is:"a scalar field" doc:"The concentration of the substance that is fed, a scalar without unit; 1 is full."`
	V     scenarios.FieldRef `yaml:"v,required" is:"a scalar field" doc:"The concentration of the substance that consumes u and decays, a scalar without unit."`
	DiffU float64            `yaml:"diff_u" min:"0" doc:"How fast u spreads, per second and neighbour, like the rate of diffusion."`
	DiffV float64            `yaml:"diff_v" min:"0" doc:"How fast v spreads, per second and neighbour, like the rate of diffusion."`
	Feed  float64            `yaml:"feed,required" min:"0" doc:"The share of u that is replaced per second; it also washes out v."`
	Kill  float64            `yaml:"kill,required" min:"0" doc:"The share of v that decays per second, in addition to feed."`
	MaxV  *float64           `yaml:"max_v" above:"0" doc:"The greatest v for which the step must be stable; a cell with more fails the tick. Without it, 1, and none fails. Patterns stay below 0.7."`
}

func (p *grayScott) Check(*scenarios.Builder) error {
	if p.U == p.V {
		return engine.ArgErrorf("v", "u and v are both %q", p.U)
	}
	return nil
}

func (p *grayScott) Propagator(b *scenarios.Builder, name string) (engine.Propagator, error) {
	most := 0.0
	if p.MaxV != nil {
		most = *p.MaxV
	}
	return propagators.GrayScott{
		Name: name, U: b.Field(p.U), V: b.Field(p.V), DiffU: p.DiffU, DiffV: p.DiffV, Feed: p.Feed, Kill: p.Kill, MaxV: most,
	}, nil
}

type shallowWater struct {
	Depth     scenarios.FieldRef `yaml:"depth,required" is:"a scalar field" doc:"How deep the water is, in a unit of length such as m; a scalar."`
	Flux      scenarios.FieldRef `yaml:"flux,required" is:"a field of cells" doc:"The flux through the faces, depth times speed, in depth × cells per second; a vector with one number per pair of opposite faces: 1 on a line, 2 on squares, 3 on a hex, 6 on an fcc12. Begin with 0."`
	Bed       scenarios.FieldRef `yaml:"bed" is:"a scalar field" doc:"How high the ground is, in the unit of depth; without it, flat."`
	Gravity   float64            `yaml:"gravity,required" min:"0" doc:"In cells² per second² and unit of depth: small waves travel at the root of gravity × depth, in cells per second."`
	Drag      float64            `yaml:"drag" min:"0" doc:"How fast currents die away, per second."`
	Viscosity float64            `yaml:"viscosity" min:"0" doc:"Artificial: smooths the ripples of steep waves, in cells² per second."`
	MaxDepth  float64            `yaml:"max_depth,required" above:"0" doc:"The greatest depth for which the step must be stable, in the unit of depth; a deeper cell fails the tick."`
}

func (p *shallowWater) Check(*scenarios.Builder) error {
	switch {
	case p.Flux == p.Depth:
		return engine.ArgErrorf("flux", "depth and flux are both %q", p.Depth)
	case p.Bed == p.Depth:
		return engine.ArgErrorf("bed", "depth and bed are both %q", p.Depth)
	case p.Bed == p.Flux:
		return engine.ArgErrorf("bed", "flux and bed are both %q", p.Flux)
	}
	return nil
}

func (p *shallowWater) Propagator(b *scenarios.Builder, name string) (engine.Propagator, error) {
	return propagators.ShallowWater{
		Name: name, Depth: b.Field(p.Depth), Flux: b.Field(p.Flux), Bed: b.Optional(p.Bed),
		Gravity: p.Gravity, Drag: p.Drag, Viscosity: p.Viscosity, MaxDepth: p.MaxDepth,
	}, nil
}

type advection struct {
	Field    scenarios.FieldRef `yaml:"field,required" is:"a field of cells" doc:"The field that is transported: an amount per cell."`
	Velocity scenarios.FieldRef `yaml:"velocity,required" is:"a field of cells" doc:"In cells per second, a number for each axis: 1 on a line, 2 on a plane, eastward and southward, 3 on an fcc12. Read at the start of the tick, so it may change in time."`
	MaxSpeed float64            `yaml:"max_speed" min:"0" doc:"The fastest current expected, in cells per second; a time step too long for it is refused. 0: the step is not checked in advance."`
}

func (p *advection) Check(*scenarios.Builder) error {
	if p.Velocity == p.Field {
		return engine.ArgErrorf("velocity", "field and velocity are both %q", p.Field)
	}
	return nil
}

func (p *advection) Propagator(b *scenarios.Builder, name string) (engine.Propagator, error) {
	return propagators.Advection{Name: name, Field: b.Field(p.Field), Velocity: b.Field(p.Velocity), MaxSpeed: p.MaxSpeed}, nil
}
