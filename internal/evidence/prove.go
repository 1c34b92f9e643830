package evidence

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/fields"
	"github.com/murksim/murksim/internal/report"
	"github.com/murksim/murksim/internal/words"
	"github.com/murksim/murksim/replay/audit"
	"github.com/murksim/murksim/scenarios"
	"github.com/murksim/murksim/scenarios/document"
	"github.com/murksim/murksim/space"
)

// LayoutOf returns the columns of a scenario's states.
func LayoutOf(s *scenarios.Scenario) *audit.Layout {
	var defs []fields.Def
	for i := range s.Fields {
		defs = append(defs, s.Fields[i].Def())
	}
	capacity := 0
	if s.Entities != nil {
		capacity = s.Entities.Capacity
	}
	return audit.LayoutOf(defs, s.Lattice().Cells(), capacity)
}

// Prove makes the proof of a cell or an entity in the state of a tick.
func Prove(j *Chain, l *audit.Link, state []byte, subject audit.Subject) (*audit.Proof, error) {
	y := LayoutOf(j.Scenario)
	var list []audit.Elements
	if subject.Entity == 0 {
		x, err := CellOf(j.Scenario, y, subject)
		if err != nil {
			return nil, err
		}
		list = append(list, x)
	} else {
		s, err := engine.ReadState(state)
		if err != nil {
			return nil, err
		}
		slot := -1
		if y.IDs() >= 0 {
			slot = slices.Index(s.Columns[y.IDs()].Column().Uint64, subject.Entity)
		}
		if slot < 0 {
			return nil, fmt.Errorf("there is no entity %d at tick %s", subject.Entity, words.Number(l.Tick))
		}
		list = y.Entity(slot)
	}
	p, err := audit.Prove(l, j.Evidence.Run().Genesis, state, list...)
	if err != nil {
		return nil, err
	}
	p.Subject = subject
	return p, nil
}

// CellOf returns the elements of a cell in a field.
func CellOf(s *scenarios.Scenario, y *audit.Layout, of audit.Subject) (e audit.Elements, err error) {
	i := slices.IndexFunc(s.Fields, func(f scenarios.Field) bool { return f.Name == of.Field })
	if i < 0 {
		var names []string
		for k := range s.Fields {
			names = append(names, s.Fields[k].Name)
		}
		return e, fmt.Errorf("there is no field %q%s", of.Field, document.Suggestion(of.Field, names))
	}
	c, err := space.MakeCoord(of.Cell)
	if err != nil {
		return e, err
	}
	rank, ok := s.Lattice().Rank(c)
	if !ok {
		return e, fmt.Errorf("there is no cell %v in %s", c, s.Lattice().Space())
	}
	return y.Cell(of.Field, rank)
}

// ProvenState returns the state of a tick: a snapshot that belongs to it, or what is computed from the last one before it, if that is the committed one.
func ProvenState(ctx context.Context, j *Chain, l *audit.Link) ([]byte, error) {
	snapshots, err := j.Evidence.Snapshots(ctx)
	if err != nil {
		return nil, err
	}
	if slices.Contains(snapshots, l.Tick) {
		s, _, err := audit.Open(ctx, j.Evidence, l.Tick)
		if _, refused := errors.AsType[*audit.EvidenceError](err); !refused {
			if err != nil {
				return nil, err
			}
			return s.State, nil
		}
	}
	first := j.Evidence.Run().First
	for _, from := range slices.Backward(append([]uint64{first}, snapshots...)) {
		if from < first || from >= l.Tick && from != first {
			continue
		}
		state, err := provenFrom(ctx, j, l, from)
		if e, refused := errors.AsType[*audit.EvidenceError](err); refused && e.Table == "snapshots" && from > first {
			continue // the one before it
		}
		if _, differs := errors.AsType[*audit.DivergenceError](err); differs && from > first { // what counts is where the first tick leads to
			return provenFrom(ctx, j, l, first)
		}
		return state, err
	}
	return nil, &audit.EvidenceError{Table: "snapshots", Row: fmt.Sprintf("tick %d", first), Reason: "it is missing"}
}

// provenFrom computes the state of a tick from the snapshot of another, or from genesis.
func provenFrom(ctx context.Context, j *Chain, l *audit.Link, from uint64) ([]byte, error) {
	r := &audit.Rerun{Evidence: j.Evidence, Descriptor: j.Evidence.Run().Genesis, To: l.Tick}
	if err := j.Place(ctx, j.Evidence, j.Scenario, r, from); err != nil {
		return nil, err
	}
	m := j.Opener.Meter(l.Tick)
	m.First, r.Passed = from, m.Show
	defer m.Clear()
	s, err := r.At(ctx, l.Tick, 0)
	if err == nil {
		err = s.Divergence()
	}
	if d, ok := errors.AsType[*audit.DivergenceError](err); ok {
		return nil, report.Exit(report.StatusDiverged, fmt.Errorf("run %s: the state of tick %s, as this program computes it, is not the committed one, so nothing can be proved of it: %w", j.Evidence.Run().ID, words.Number(l.Tick), words.InWords(d)))
	}
	if err != nil {
		return nil, err
	}
	return s.State, nil
}
