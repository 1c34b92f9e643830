package components

import (
	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/engine/propagators"
	"github.com/murksim/murksim/scenarios"
)

type movement struct {
	Agents    scenarios.FieldRef `yaml:"agents,required" is:"a scalar field" doc:"0 in empty cells, otherwise the number of the agent; one component."`
	Actions   scenarios.FieldRef `yaml:"actions,required" is:"a field of cells" doc:"At an agent's cell: 0 means stay, k means a step in the k-th direction; one component, scalar or categorical."`
	BlockedBy scenarios.FieldRef `yaml:"blocked_by" is:"a field of cells" doc:"Cells where this field, of one component, is not 0 are walls: an agent does not step onto them, and can leave one."`
	Keep      bool               `yaml:"keep" doc:"Leave the actions as they are instead of setting them to 0."`
}

func (p *movement) Propagator(b *scenarios.Builder, name string) (engine.Propagator, error) {
	return propagators.Movement{
		Name: name, Agents: b.Field(p.Agents), Actions: b.Field(p.Actions), BlockedBy: b.Optional(p.BlockedBy), Keep: p.Keep,
	}, nil
}

type emission struct {
	Presence  scenarios.FieldRef `yaml:"presence,required" is:"a field of cells" doc:"A cell is occupied where this field, of one component, is not 0."`
	Field     scenarios.FieldRef `yaml:"field,required" is:"a scalar field" doc:"The field that gets the emission; one component; must not be presence."`
	Intensity float64            `yaml:"intensity,required" doc:"How much per tick, in units of the field; a negative value takes away."`
	Set       bool               `yaml:"set" doc:"Set the field to the intensity, and to 0 elsewhere, instead of adding."`
}

func (p *emission) Propagator(b *scenarios.Builder, name string) (engine.Propagator, error) {
	return propagators.Emission{
		Name: name, Presence: b.Field(p.Presence), Field: b.Field(p.Field), Intensity: p.Intensity, Set: p.Set,
	}, nil
}

type reward struct {
	Heat      scenarios.FieldRef `yaml:"heat,required" is:"a scalar field" doc:"The field that gives the reward; one component."`
	Presence  scenarios.FieldRef `yaml:"presence,required" is:"a field of cells" doc:"A cell is occupied where this field, of one component, is not 0."`
	Field     scenarios.FieldRef `yaml:"field,required" is:"a scalar field" doc:"Gets the reward; 0 in empty cells; one component; must not be heat or presence."`
	HeatBonus float64            `yaml:"heat_bonus,required" doc:"Reward for each unit of heat."`
	StepCost  float64            `yaml:"step_cost" doc:"Added per tick in every occupied cell, in units of the reward; a negative value is a cost."`
}

func (p *reward) Propagator(b *scenarios.Builder, name string) (engine.Propagator, error) {
	return propagators.Reward{
		Name: name, Heat: b.Field(p.Heat), Presence: b.Field(p.Presence), Field: b.Field(p.Field),
		HeatBonus: p.HeatBonus, StepCost: p.StepCost,
	}, nil
}

type morphology struct {
	Field     scenarios.FieldRef `yaml:"field,required" is:"a field of cells" doc:"The input; one component."`
	Output    scenarios.FieldRef `yaml:"output,required" is:"a field of cells" doc:"Gets 1 where the condition holds, otherwise 0; one component, scalar or categorical; may be field."`
	Op        string             `yaml:"op" enum:"dilate,erode" default:"dilate" doc:"dilate or erode: whether any or all of the cells around must exceed the threshold."`
	Radius    int                `yaml:"radius,required" min:"0" doc:"How far around, in steps to a neighbour; with 0 only the threshold applies."`
	Threshold float64            `yaml:"threshold" doc:"What a cell must exceed to count, in units of the field; rounded to float32."`
}

func (p *morphology) Propagator(b *scenarios.Builder, name string) (engine.Propagator, error) {
	op, err := propagators.ParseMorphologyOp(p.Op)
	return propagators.Morphology{
		Name: name, Field: b.Field(p.Field), Output: b.Field(p.Output), Op: op, Radius: p.Radius, Threshold: p.Threshold,
	}, err
}

type copyField struct {
	Field  scenarios.FieldRef `yaml:"field,required" is:"a field of cells" doc:"The input; any number of components."`
	Output scenarios.FieldRef `yaml:"output,required" is:"a field of cells" doc:"Where to; as many components; with now, it must not be field."`
	Now    bool               `yaml:"now" doc:"Read the field as earlier propagators of the tick left it, not as it was before the tick."`
}

func (p *copyField) Propagator(b *scenarios.Builder, name string) (engine.Propagator, error) {
	return propagators.Copy{Name: name, Field: b.Field(p.Field), Output: b.Field(p.Output), Now: p.Now}, nil
}
