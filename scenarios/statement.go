package scenarios

import (
	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/fields"
	"github.com/murksim/murksim/scenarios/rules"
)

// A statement is a formula about the whole world, and the fields and parameters that it can name.
type statement struct {
	*rules.Statement
	fields []fields.ID
}

// statement finds out what a formula about the whole world means.
func (d *decoder) statement(f *formula, check func(*rules.Scope, *rules.Node) (*rules.Statement, error)) (*statement, error) {
	scope, ids, err := d.s.wholeScope()
	if err != nil {
		return nil, err
	}
	s := &statement{fields: ids}
	if s.Statement, err = check(scope, f.node); err != nil {
		return nil, located(f.at, err)
	}
	return s, f.canonical(d)
}

// spendOn counts what a formula about the whole world makes before the first tick that it looks at.
func (d *decoder) spendOn(f *formula, x *statement) error {
	return d.spend(f.at, "the formula", uint64(x.Columns())*columnSteps*uint64(d.s.lattice.Cells()))
}

// wholeScope is what formulas about the whole world can name: fields of cells, then attributes of entities; kinds; and entities that have a name.
func (s *Scenario) wholeScope() (scope *rules.Scope, ids []fields.ID, err error) {
	scope, ids = s.scope()
	if s.Entities == nil {
		return scope, ids, nil
	}
	scope.KindNames = s.Entities.Kinds
	for i := range s.Fields {
		if f := &s.Fields[i]; f.Domain != "cells" {
			x := scopeField(f)
			x.Attribute = true
			scope.Fields, ids = append(scope.Fields, x), append(ids, fields.ID(i))
		}
	}
	if err := s.listNamed(); err != nil {
		return nil, nil, err
	}
	for i := range s.named {
		scope.Named = append(scope.Named, rules.Named{Name: s.named[i].name, ID: s.named[i].id})
	}
	return scope, ids, nil
}

// read lets a state be that of a world, until its next tick.
func (f *statement) read(s *Scenario, w *engine.World, state *rules.State) {
	state.Prev, state.Fixed[0], state.World = state.Prev[:0], state.Fixed[0][:0], state.World[:0]
	for _, id := range f.fields {
		c := w.Column(id)
		state.Prev, state.Fixed[0] = append(state.Prev, c.Float32), append(state.Fixed[0], c.Fixed)
	}
	for _, p := range s.Parameters {
		v, _ := w.Parameter(p.Key)
		state.World = append(state.World, v)
	}
	state.Dt, state.Tick = w.Dt(), w.Tick()
	all := w.Entities()
	state.See(all.ID, all.Kind, all.Cell)
}
