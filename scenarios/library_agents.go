package scenarios

import (
	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/engine/propagators"
)

// agentKinds let agents on cells act on fields.
var agentKinds = []kind{
	{"movement", 1, "Moves agents from cell to cell, each as its action says.", "", func() params { return new(movement) }},
	{"emission", 1, "Leaves something in a field wherever somebody is.", "", func() params { return new(emission) }},
	{"reward", 1, "Says what being at a cell is worth.", "", func() params { return new(reward) }},
	{"morphology", 1, "Grows or shrinks the region where a field exceeds a threshold.", "", func() params { return new(morphology) }},
	{"copy", 1, "Copies a field into another.", "", func() params { return new(copying) }},
}

type movement struct {
	Agents  FieldRef `yaml:"agents,required" is:"a scalar field" doc:"0 where nobody is, else the number of the agent."`
	Actions FieldRef `yaml:"actions,required" is:"a field of cells" doc:"At an agent's cell: 0 to stay, k for a step in the k-th direction."`
	Keep    bool     `yaml:"keep" doc:"Leave the actions standing instead of setting them to 0."`
}

func (p *movement) propagator(b *builder, name string) (engine.Propagator, error) {
	return propagators.Movement{Name: name, Agents: b.field(p.Agents), Actions: b.field(p.Actions), Keep: p.Keep}, nil
}

type emission struct {
	Presence  FieldRef `yaml:"presence,required" is:"a field of cells" doc:"Somebody is where this is not 0."`
	Field     FieldRef `yaml:"field,required" is:"a scalar field" doc:"What they leave it in."`
	Intensity float64  `yaml:"intensity,required" doc:"How much, per tick."`
	Set       bool     `yaml:"set" doc:"Set the field to it, and to 0 elsewhere, instead of adding it."`
}

func (p *emission) propagator(b *builder, name string) (engine.Propagator, error) {
	return propagators.Emission{
		Name: name, Presence: b.field(p.Presence), Field: b.field(p.Field), Intensity: p.Intensity, Set: p.Set,
	}, nil
}

type reward struct {
	Heat      FieldRef `yaml:"heat,required" is:"a scalar field" doc:"What is worth being at."`
	Presence  FieldRef `yaml:"presence,required" is:"a field of cells" doc:"Somebody is where this is not 0."`
	Field     FieldRef `yaml:"field,required" is:"a scalar field" doc:"Gets the reward; 0 where nobody is."`
	HeatBonus float64  `yaml:"heat_bonus,required" doc:"Reward for each unit of heat."`
	StepCost  float64  `yaml:"step_cost" doc:"Added wherever somebody is; below 0 it is a cost."`
}

func (p *reward) propagator(b *builder, name string) (engine.Propagator, error) {
	return propagators.Reward{
		Name: name, Heat: b.field(p.Heat), Presence: b.field(p.Presence), Field: b.field(p.Field),
		HeatBonus: p.HeatBonus, StepCost: p.StepCost,
	}, nil
}

type morphology struct {
	Field     FieldRef `yaml:"field,required" is:"a field of cells" doc:"What is looked at."`
	Output    FieldRef `yaml:"output,required" is:"a field of cells" doc:"Gets 1 where it is so, else 0."`
	Op        string   `yaml:"op" enum:"dilate,erode" default:"dilate" doc:"Whether any or all of the cells around must exceed the threshold."`
	Radius    int      `yaml:"radius,required" min:"0" doc:"How far around, in steps to a neighbour."`
	Threshold float64  `yaml:"threshold" doc:"What a cell must exceed to count."`
}

func (p *morphology) propagator(b *builder, name string) (engine.Propagator, error) {
	op, err := propagators.ParseMorphologyOp(p.Op)
	return propagators.Morphology{
		Name: name, Field: b.field(p.Field), Output: b.field(p.Output), Op: op, Radius: p.Radius, Threshold: p.Threshold,
	}, err
}

type copying struct {
	Field  FieldRef `yaml:"field,required" is:"a field of cells" doc:"What is copied."`
	Output FieldRef `yaml:"output,required" is:"a field of cells" doc:"Where to."`
	Now    bool     `yaml:"now" doc:"As earlier propagators of the tick left it, instead of as it stood before the tick."`
}

func (p *copying) propagator(b *builder, name string) (engine.Propagator, error) {
	return propagators.Copy{Name: name, Field: b.field(p.Field), Output: b.field(p.Output), Now: p.Now}, nil
}
