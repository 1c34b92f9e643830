package scenarios

import (
	"github.com/murksim/murksim/scenarios/document"
)

// A Quantity is a number that belongs to an agent or to the world.
type Quantity struct {
	Field    FieldRef `yaml:"field" doc:"A field at the agent's cell, or an attribute of the agent."`
	Cell     *Cell    `yaml:"cell" doc:"With field: its value at this cell, wherever the agent is."`
	Probe    string   `yaml:"probe" doc:"The same for the field and cell of one of the probes."`
	Total    FieldRef `yaml:"total" is:"a scalar field" doc:"The sum of a field over all cells."`
	Param    ParamRef `yaml:"param" doc:"A parameter."`
	Count    Kind     `yaml:"count" doc:"How many entities of a kind live."`
	Near     *Near    `yaml:"near" doc:"How many entities of a kind are near the agent."`
	Happened string   `yaml:"happened" enum:"blocked,died" doc:"1 in the step in which it happened to the agent, else 0: blocked, it stayed where it is although it chose to move; died, it lives no more."`
}

// A Near counts the other entities of a kind around an agent.
type Near struct {
	Kind   Kind `yaml:"kind,required" doc:"The kind."`
	Radius int  `yaml:"radius" min:"0" max:"64" doc:"At most so many steps away; 0: on the same cell."`
}

// A Term is a part of the reward: a quantity times a weight, or a constant. With a condition,
// it is the weight where the condition holds, and else 0.
type Term struct {
	Quantity
	Constant *float64 `yaml:"constant" doc:"The same in every step."`
	Change   bool     `yaml:"change" doc:"Not the quantity, but how much it has grown in the step."`
	Weight   float64  `yaml:"weight" default:"1" doc:"What it is multiplied by."`
	Bounds
}

// A Condition is about a quantity.
type Condition struct {
	Quantity
	Change bool `yaml:"change" doc:"Not the quantity, but how much it has grown in the step."`
	Bounds
}

// Bounds are a condition on a number. Without any, they hold for all but 0.
type Bounds struct {
	Above *float64 `yaml:"above" doc:"It must be above this."`
	Below *float64 `yaml:"below" doc:"It must be below this."`
}

// Given reports whether there is a condition.
func (b *Bounds) Given() bool { return b.Above != nil || b.Below != nil }

// Hold reports whether a number is within the bounds.
func (b *Bounds) Hold(v float64) bool {
	if !b.Given() {
		return v != 0
	}
	return (b.Above == nil || v > *b.Above) && (b.Below == nil || v < *b.Below)
}

// OfWorld reports whether the quantity is the same for all agents.
func (q *Quantity) OfWorld() bool {
	return (q.Field == "" || q.Cell != nil) && q.Near == nil && q.Happened == ""
}

func (q *Quantity) given() int {
	return count(q.Field != "", q.Probe != "", q.Total != "", q.Param != "", q.Count != "", q.Near != nil, q.Happened != "")
}

func (q *Quantity) checkQuantity(d *decoder, n *document.Node) error {
	if q.Probe != "" {
		if err := q.useProbe(d.s, n); err != nil {
			return err
		}
	}
	if f := d.s.field(string(q.Field)); f != nil {
		switch {
		case f.Type.Components() != 1:
			return n.At("field").Errorf("field %q has %d components; one is needed here", f.Name, f.Type.Components())
		case f.Domain == "entities" && q.Cell != nil:
			return n.At("cell").Errorf("field %q belongs to entities; a cell has no value of it", f.Name)
		case f.Domain == "entities" && d.agents().Kind == "":
			return n.At("field").Errorf("field %q belongs to entities; the agents are cells", f.Name)
		}
	}
	if q.Cell != nil && q.Field == "" {
		return n.At("cell").Errorf("\"cell\" goes with field")
	}
	if (q.Happened != "" || q.Near != nil) && d.agents().Kind == "" {
		return n.Errorf("agents that are cells neither move nor meet")
	}
	return nil
}

// useProbe replaces the name of a probe by what it stands for: recordings do not hold probes.
func (q *Quantity) useProbe(s *Scenario, n *document.Node) error {
	var names []string
	for i := range s.Probes {
		if p := &s.Probes[i]; p.Name == q.Probe {
			q.Field, q.Cell, q.Probe = p.Field, &p.Cell, ""
			return nil
		}
		names = append(names, s.Probes[i].Name)
	}
	return n.At("probe").Errorf("there is no probe %q%s", q.Probe, document.Suggestion(q.Probe, names))
}

func (t *Term) check(d *decoder, n *document.Node) error {
	given := t.given()
	switch {
	case given+count(t.Constant != nil) != 1:
		return n.Errorf("a term has one of field, probe, total, param, count, near, happened and constant")
	case t.Constant != nil && (t.Change || t.Given() || n.Get("weight") != nil):
		return n.Errorf("a constant stands alone")
	}
	return t.checkQuantity(d, n)
}

func (c *Condition) check(d *decoder, n *document.Node) error {
	if c.given() != 1 {
		return n.Errorf("a condition has one of field, probe, total, param, count, near and happened")
	}
	return c.checkQuantity(d, n)
}
