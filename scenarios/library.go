package scenarios

import (
	"slices"

	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/engine/propagators"
)

// kinds are all components that a scenario can name. A version goes up when the
// same parameters give other results.
var kinds = slices.Concat(fieldKinds, agentKinds, flowKinds, latticeKinds, physicsKinds, worldKinds)

// fieldKinds carry a field forward from what its cells and their neighbours hold.
var fieldKinds = []kind{
	{"diffusion", 1, "Pulls every cell toward the mean of its neighbours.", "rate", func() params { return new(diffusion) }},
	{"wave", 1, "Lets every cell swing about the mean of its neighbours.", "speed", func() params { return new(wave) }},
	{"gradient", 1, "Computes the slope of a field.", "", func() params { return new(gradient) }},
	{"flow", 1, "Computes the direction in which a field falls.", "", func() params { return new(flow) }},
	{"resource", 1, "Grows back, and is eaten where somebody is.", "regrowth", func() params { return new(resource) }},
	{"decay", 1, "Lets a field shrink by a fixed share.", "", func() params { return new(decay) }},
	{"noise", 1, "Adds random numbers.", "", func() params { return new(noise) }},
}

// worldKinds belong to the worlds that come with the program.
var worldKinds = []kind{
	{"pin", 1, "Keeps a field at a value where another is not zero.", "", func() params { return new(pin) }},
	{"forest_fire", 1, "Burns and regrows a forest, with wind and lightning.", "", func() params { return new(forestFire) }},
	{"crystal_growth", 1, "Freezes cells onto a crystal from a vapour around it.", "", func() params { return new(crystalGrowth) }},
	{"grazing", 1, "Lets entities walk to the richest cell near them, eat, breed and starve.", "", func() params { return new(grazing) }},
	{"hunting", 1, "Lets entities hunt another kind, breed and starve.", "", func() params { return new(hunting) }},
	{"colony_ai", 1, "Lets the people of a colony decide what to do.", "", func() params { return new(colonyAI) }},
	{"colony_work", 1, "Carries out what the people of a colony decided, if they have the energy.", "", func() params { return new(colonyWork) }},
	{"colony_physics", 1, "Lets the people of a colony fall to the ground, and counts them by cell.", "", func() params { return new(colonyPhysics) }},
	{"colony_bio", 1, "Makes the people of a colony hungry, tired and older; they have children and die.", "", func() params { return new(colonyBiology) }},
	{"colony_terrain", 1, "Lets food and wood grow back and walls crumble.", "", func() params { return new(colonyTerrain) }},
}

// Hold keeps the cells of a region at a value.
type Hold struct {
	Region
	Value Value `yaml:"value" doc:"The value there."`
}

func (h *Hold) check(_ *decoder, n *node) error {
	if v := h.take(); v != nil {
		h.Value = v
	}
	switch {
	case len(h.Value) != 1:
		return n.errorf("a hold needs one value")
	case h.all():
		return n.errorf("a hold needs one of rect, disk and cells")
	}
	return h.checkRegion(n)
}

type diffusion struct {
	Field     FieldRef `yaml:"field,required" is:"a field of cells" doc:"What spreads."`
	Rate      float64  `yaml:"rate,required" min:"0" doc:"Per second and neighbour; stable while rate × dt × neighbours is at most 1."`
	Decay     float64  `yaml:"decay" min:"0" doc:"Per second."`
	BlockedBy FieldRef `yaml:"blocked_by" is:"a field of cells" doc:"Where this field is not 0 stands a wall."`
	Hold      []Hold   `yaml:"hold" doc:"Cells that keep a value."`
	Min       *float64 `yaml:"min" doc:"Lower limit of the result."`
	Max       *float64 `yaml:"max" doc:"Upper limit of the result."`
	Output    FieldRef `yaml:"output" is:"a field of cells" doc:"Gets the result, in place of field."`
	Gradient  FieldRef `yaml:"gradient" is:"a vector of 2" doc:"Also gets the slope."`
}

func (p *diffusion) check(_ *decoder, n *node) error {
	if p.BlockedBy == p.Field {
		return n.get("blocked_by").errorf("field and blocked_by are both %q", p.Field)
	}
	return nil
}

func (p *diffusion) propagator(b *builder, name string) (engine.Propagator, error) {
	d := propagators.Diffusion{
		Name: name, Field: b.field(p.Field), Rate: p.Rate, Decay: p.Decay,
		BlockedBy: b.optional(p.BlockedBy), Min: p.Min, Max: p.Max, Output: b.optional(p.Output), Gradient: b.optional(p.Gradient),
	}
	for i := range p.Hold {
		ranks, err := p.Hold[i].ranks(b.lattice)
		if err != nil {
			return nil, err
		}
		h := propagators.Hold{Value: p.Hold[i].Value[0]}
		for _, r := range ranks {
			h.Cells = append(h.Cells, int(r))
		}
		d.Hold = append(d.Hold, h)
	}
	return d, nil
}

type wave struct {
	Displacement FieldRef `yaml:"displacement,required" is:"a field of cells" doc:"How far each cell is from rest."`
	Velocity     FieldRef `yaml:"velocity,required" is:"a field of cells" doc:"How fast it moves, per second."`
	Speed        float64  `yaml:"speed,required" min:"0" doc:"Of the wave, per second; stable while speed² × dt² + damping × dt is at most 2."`
	Damping      float64  `yaml:"damping" min:"0" doc:"Per second."`
}

func (p *wave) propagator(b *builder, name string) (engine.Propagator, error) {
	return propagators.Wave{
		Name: name, Displacement: b.field(p.Displacement), Velocity: b.field(p.Velocity), Speed: p.Speed, Damping: p.Damping,
	}, nil
}

type gradient struct {
	Field  FieldRef `yaml:"field,required" is:"a field of cells" doc:"Whose slope."`
	Output FieldRef `yaml:"output,required" is:"a vector of 2" doc:"Gets the slope: eastward, then southward."`
}

func (p *gradient) propagator(b *builder, name string) (engine.Propagator, error) {
	return propagators.Gradient{Name: name, Field: b.field(p.Field), Output: b.field(p.Output)}, nil
}

type flow struct {
	Field     FieldRef `yaml:"field,required" is:"a field of cells" doc:"What falls."`
	Output    FieldRef `yaml:"output,required" is:"a vector of 2" doc:"Gets the direction: eastward, then southward."`
	Normalise bool     `yaml:"normalise" doc:"Make every direction one long."`
}

func (p *flow) propagator(b *builder, name string) (engine.Propagator, error) {
	return propagators.Flow{Name: name, Field: b.field(p.Field), Output: b.field(p.Output), Normalise: p.Normalise}, nil
}

type resource struct {
	Field       FieldRef `yaml:"field,required" is:"a scalar field" doc:"What grows."`
	Presence    FieldRef `yaml:"presence" is:"a field of cells" doc:"It is eaten where this is not 0."`
	Consumption float64  `yaml:"consumption" min:"0" doc:"Per second, where somebody is."`
	Regrowth    float64  `yaml:"regrowth" min:"0" doc:"Per second; logistic: a share per second."`
	Logistic    bool     `yaml:"logistic" doc:"Grow in proportion to what is there and to what room is left."`
	Capacity    float64  `yaml:"capacity,required" above:"0" doc:"The most a cell holds."`
}

func (p *resource) propagator(b *builder, name string) (engine.Propagator, error) {
	return propagators.Resource{
		Name: name, Field: b.field(p.Field), Presence: b.optional(p.Presence), Consumption: p.Consumption,
		Regrowth: p.Regrowth, Logistic: p.Logistic, Capacity: p.Capacity,
	}, nil
}

type decay struct {
	Field FieldRef `yaml:"field,required" is:"a field of cells" doc:"What shrinks."`
	Rate  float64  `yaml:"rate,required" doc:"Per second; below 0 it grows."`
}

func (p *decay) propagator(b *builder, name string) (engine.Propagator, error) {
	return propagators.Decay{Name: name, Field: b.field(p.Field), Rate: p.Rate}, nil
}

type noise struct {
	Field FieldRef `yaml:"field,required" is:"a field of cells" doc:"What is disturbed."`
	Kind  string   `yaml:"kind" enum:"uniform,gaussian,salt_pepper" default:"uniform" doc:"How the numbers are spread."`
	Scale float64  `yaml:"scale,required" min:"0" doc:"How large they are; salt_pepper: the share of cells hit."`
	Seed  uint64   `yaml:"seed_offset" doc:"With the rules murk-0.1.9: seed of the numbers, which do not depend on the scenario's."`
}

func (p *noise) propagator(b *builder, name string) (engine.Propagator, error) {
	k, err := propagators.ParseNoiseKind(p.Kind)
	return propagators.Noise{Name: name, Field: b.field(p.Field), Kind: k, Scale: p.Scale, SeedOffset: p.Seed}, err
}

// Pin keeps a field at a value wherever another is not zero.
type pin struct {
	Field FieldRef `yaml:"field,required" is:"a field of cells" doc:"What is kept."`
	Where FieldRef `yaml:"where,required" is:"a field of cells" doc:"It is kept where this is not 0."`
	Value float64  `yaml:"value" doc:"At which value; default 0."`
}

func (p *pin) propagator(b *builder, name string) (engine.Propagator, error) {
	return pinning{name, b.field(p.Field), b.field(p.Where), float32(p.Value)}, nil
}
