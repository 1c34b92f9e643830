package components

import (
	"fmt"
	"math"

	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/engine/physics"
	"github.com/murksim/murksim/exact/fixed"
	"github.com/murksim/murksim/scenarios"
)

type bodies struct {
	Kind        scenarios.Kind     `yaml:"kind" doc:"The kind that moves; all if left out."`
	X           scenarios.FieldRef `yaml:"x,required" is:"an attribute of entities" doc:"How far east they are, in cells from the western edge."`
	Y           scenarios.FieldRef `yaml:"y,required" is:"an attribute of entities" doc:"How far south, in cells from the northern edge."`
	Height      scenarios.FieldRef `yaml:"height,required" is:"an attribute of entities" doc:"How high."`
	VX          scenarios.FieldRef `yaml:"vx,required" is:"an attribute of entities" doc:"Their velocity eastward, in cells a tick."`
	VY          scenarios.FieldRef `yaml:"vy,required" is:"an attribute of entities" doc:"The same southward."`
	VZ          scenarios.FieldRef `yaml:"vz,required" is:"an attribute of entities" doc:"The same upward."`
	Ground      scenarios.FieldRef `yaml:"ground,required" is:"a field of fixed-point numbers" doc:"The height at the centre of each cell."`
	Clearance   scenarios.FieldRef `yaml:"clearance" is:"an attribute of entities" doc:"Gets how high above the ground they are."`
	Gravity     float64            `yaml:"gravity" default:"9.8" min:"0" doc:"In cells/s²."`
	Terminal    float64            `yaml:"terminal" min:"0" doc:"The fastest that they fall, in cells a second; left out, any speed."`
	Restitution float64            `yaml:"restitution" default:"0.5" min:"0" max:"1" doc:"The share of their speed that they bounce back with."`
	Friction    float64            `yaml:"friction" default:"0.25" min:"0" max:"1000" doc:"The steepest slope on which they stay at rest, in rise by run."`
}

func (p *bodies) System(b *scenarios.Builder, name string) (engine.System, error) {
	if n := b.Occupancy(); n > 0 {
		return nil, fmt.Errorf("bodies fall onto a cell in any number; the entities must have no occupancy, not %d", n)
	}
	_, _, cell := engine.EntityColumns(len(b.Defs()))
	s := &physics.System{
		Name: name, X: b.Field(p.X), Y: b.Field(p.Y), Height: b.Field(p.Height),
		VX: b.Field(p.VX), VY: b.Field(p.VY), VZ: b.Field(p.VZ), Ground: b.Field(p.Ground), Cell: cell, Clearance: b.Optional(p.Clearance),
	}
	if p.Kind != "" {
		kind := b.Kind(p.Kind)
		s.Kind = &kind
	}
	dt := 1 / b.TickRate()
	for _, c := range []struct {
		to    *fixed.Fixed
		value float64
		unit  float64 // what the value is rounded to a multiple of
	}{
		{&s.Fall.Gravity, float64(float64(p.Gravity*dt) * dt), 2. / 65536}, // even, for flight to be exact
		{&s.Fall.Terminal, float64(p.Terminal * dt), 1. / 65536},
		{&s.Surface.Restitution, p.Restitution, 1. / 65536},
		{&s.Surface.Friction, p.Friction, 1. / 65536},
	} {
		v, err := fixed.FromFloat(float64(math.RoundToEven(c.value/c.unit) * c.unit))
		if err != nil {
			return nil, err
		}
		*c.to = v
	}
	return s, nil
}
