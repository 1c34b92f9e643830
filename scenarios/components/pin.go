package components

import (
	"strconv"

	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/fields"
	"github.com/murksim/murksim/scenarios"
	"github.com/murksim/murksim/space"
)

type pin struct {
	Field scenarios.FieldRef `yaml:"field,required" is:"a field of cells" doc:"The field that keeps the value."`
	Where scenarios.FieldRef `yaml:"where,required" is:"a field of cells" doc:"The field keeps the value where this field is not 0."`
	Value float64            `yaml:"value" doc:"The value; default 0."`
}

func (p *pin) Propagator(b *scenarios.Builder, name string) (engine.Propagator, error) {
	return pinned{name, b.Field(p.Field), b.Field(p.Where), float32(p.Value)}, nil
}

// pinned keeps every component of a field at a value wherever another field is not zero.
type pinned struct {
	name         string
	field, where fields.ID
	value        float32
}

// Spec implements [engine.Propagator].
func (p pinned) Spec(*space.Lattice) engine.Spec {
	return engine.Spec{Name: p.name, Prev: engine.Fields(p.where), Incremental: engine.Fields(p.field), Parallel: true}
}

// Check implements [engine.Checker].
func (p pinned) Check(_ *space.Lattice, defs []fields.Def) error {
	if n := defs[p.where].Type.Components(); n != 1 {
		return engine.ArgErrorf("where", "where: field %q has %d components; 1 is needed", defs[p.where].Name, n)
	}
	d := &defs[p.field]
	if _, ok := d.Bits(float64(p.value)); !ok {
		return engine.ArgErrorf("value", "value: field %q, a %v of %v, cannot hold %v", d.Name, d.Type, d.Element, p.value)
	}
	return nil
}

// Step implements [engine.Propagator].
func (p pinned) Step(c *engine.Context) error {
	lo, hi := c.Range()
	where, v, n := c.Prev(p.where), c.Next(p.field), c.Components(p.field)
	for cell := lo; cell < hi; cell++ {
		if where[cell] == 0 {
			continue
		}
		for i := range n {
			v[cell*n+i] = p.value
		}
	}
	return nil
}

// Explain implements [engine.Explainer].
func (p pinned) Explain(c *engine.Context, _ fields.ID, element int) []engine.Term {
	column := c.NextColumn(p.field)
	if c.Prev(p.where)[element/c.Components(p.field)] != 0 {
		return []engine.Term{{What: "pinned at", Value: strconv.FormatFloat(float64(p.value), 'g', -1, 32), Join: engine.Set, Number: p.value}}
	}
	if column.Float32 == nil {
		return nil
	}
	here := column.Float32[element]
	return []engine.Term{{What: "here", Value: strconv.FormatFloat(float64(here), 'g', -1, 32), Join: engine.Set, Number: here}}
}
