package scenarios

import (
	"github.com/murksim/murksim/commands"
	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/fields"
	"github.com/murksim/murksim/scenarios/rules"
)

// A statement is a formula about the whole world, and the fields and parameters that it can name.
type statement struct {
	*rules.Statement
	fields []fields.ID
}

// statement finds out what a formula about the whole world means. The error is that of the formula, without its place.
func (s *Scenario) statement(n *rules.Node, check func(*rules.Scope, *rules.Node) (*rules.Statement, error)) (*statement, error) {
	scope, ids, err := s.wholeScope()
	if err != nil {
		return nil, err
	}
	x, err := check(scope, n)
	return &statement{x, ids}, err
}

// statement finds out what a formula of the document about the whole world means.
func (d *decoder) statement(f *formula, check func(*rules.Scope, *rules.Node) (*rules.Statement, error)) (*statement, error) {
	x, err := d.s.statement(f.node, check)
	if err != nil {
		return nil, located(f.at, err)
	}
	return x, f.canonical(d)
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

// A Statement is a formula about the whole world, as in an expectation: most(heat) > 250; it can also say what happened in a tick: died(hunter) > 0. It is for one
// goroutine at a time.
type Statement struct {
	that  *statement
	s     *Scenario
	text  string
	state rules.State
}

// A StatementError says where a formula about the whole world is wrong, and what to do.
type StatementError struct {
	Text    string // the formula
	At, End int    // its bytes that are meant; none: the whole
	Reason  string
}

// Error implements error.
func (e *StatementError) Error() string { return e.Reason }

// Statement reads a formula about the whole world of the scenario. The error is a [*StatementError].
func (s *Scenario) Statement(text string) (*Statement, error) {
	n, err := rules.Parse(text)
	t := &Statement{s: s}
	if err == nil {
		t.that, err = s.statement(n, rules.CheckCondition)
	}
	if e, ok := err.(*rules.Error); ok {
		return nil, &StatementError{text, e.At, e.End, e.Reason}
	} else if err != nil {
		return nil, err
	}
	t.text = n.String()
	return t, nil
}

// Names reports whether the statement calls an entity by the name that the scenario gives it.
func (t *Statement) Names() bool { return t.that.Named() }

// String returns the formula in its canonical form.
func (t *Statement) String() string { return t.text }

// Happens reports whether the statement says what happened in a tick.
func (t *Statement) Happens() bool { return t.that.Happens() }

// Start says that the statement is looked at next in the world as it is now, and then after each of its ticks. One that [Statement.Happens] needs that: in the state of the
// start nothing has happened if it is that of tick 0, and nothing is known if it is another one.
func (t *Statement) Start(w *engine.World) {
	if t.Happens() {
		t.read(w)
		t.that.Start(&t.state)
	}
}

// read lets the state be that of a world.
func (t *Statement) read(w *engine.World) {
	t.that.read(t.s, w, &t.state)
	if !t.Happens() {
		return
	}
	t.state.Refused, t.state.Refusal = 0, nil
	receipts := w.Receipts()
	for i := range receipts {
		if r := &receipts[i]; r.Event || r.Reason == commands.Applied {
			continue
		}
		if t.state.Refused++; t.state.Refused == 1 {
			t.state.Refusal = func() string { return Names{t.s}.DescribeBriefly(receipts[i].Command) + "; " + receipts[i].Why() }
		}
	}
}

// Holds reports whether the statement is true of a world of the scenario as it is now. An error says what cannot be computed, such as a sum that is
// beyond the range of its numbers.
func (t *Statement) Holds(w *engine.World) (bool, error) {
	t.read(w)
	return t.that.Holds(&t.state)
}

// Found says what the terms of the statement came to when Holds was called last: "most(heat) is 251.5".
func (t *Statement) Found() string { return t.that.Found() }
