package scenarios

import (
	"math"

	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/engine/physics"
	"github.com/murksim/murksim/exact/fixed"
)

// physicsKinds move entities by the laws of mechanics.
var physicsKinds = []kind{
	{"bodies", 1, "Lets entities fall, bounce, slide and come to rest on hilly ground, in fixed-point numbers.", "", func() params { return new(falling) }},
}

type falling struct {
	Kind        Kind     `yaml:"kind" doc:"Who moves; left out, all."`
	X           FieldRef `yaml:"x,required" is:"an attribute of entities" doc:"How far east they are, in cells from the western edge."`
	Y           FieldRef `yaml:"y,required" is:"an attribute of entities" doc:"How far south, in cells from the northern edge."`
	Height      FieldRef `yaml:"height,required" is:"an attribute of entities" doc:"How high."`
	VX          FieldRef `yaml:"vx,required" is:"an attribute of entities" doc:"Their velocity eastward, in cells a tick."`
	VY          FieldRef `yaml:"vy,required" is:"an attribute of entities" doc:"The same southward."`
	VZ          FieldRef `yaml:"vz,required" is:"an attribute of entities" doc:"The same upward."`
	Ground      FieldRef `yaml:"ground,required" is:"a field of fixed-point numbers" doc:"The height at the centre of each cell."`
	Clearance   FieldRef `yaml:"clearance" is:"an attribute of entities" doc:"Gets how high above the ground they are."`
	Gravity     float64  `yaml:"gravity" default:"9.8" min:"0" doc:"In cells/s²."`
	Terminal    float64  `yaml:"terminal" min:"0" doc:"The fastest that they fall, in cells a second; left out, any speed."`
	Restitution float64  `yaml:"restitution" default:"0.5" min:"0" max:"1" doc:"The share of their speed that they bounce back with."`
	Friction    float64  `yaml:"friction" default:"0.25" min:"0" max:"1000" doc:"The steepest slope on which they stay at rest, in rise by run."`
}

func (p *falling) system(b *builder, name string) (engine.System, error) {
	_, _, cell := engine.EntityColumns(len(b.s.Fields))
	s := &physics.System{
		Name: name, X: b.field(p.X), Y: b.field(p.Y), Height: b.field(p.Height),
		VX: b.field(p.VX), VY: b.field(p.VY), VZ: b.field(p.VZ), Ground: b.field(p.Ground), Cell: cell, Clearance: b.optional(p.Clearance),
	}
	if p.Kind != "" {
		kind := int32(b.s.kind(p.Kind))
		s.Kind = &kind
	}
	dt := 1 / b.s.TickRate
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
