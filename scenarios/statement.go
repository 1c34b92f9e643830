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
func (d *decoder) statement(f *formula) (*statement, error) {
	scope, ids := d.s.scope()
	s := &statement{fields: ids}
	var err error
	if s.Statement, err = rules.CheckStatement(scope, f.node); err != nil {
		return nil, located(f.at, err)
	}
	return s, f.canonical(d)
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
}
