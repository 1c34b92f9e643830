package view

import (
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/murksim/murksim/fields"
)

// A historyAnswer says which ticks the values belong to: From, From+Every and so on.
type historyAnswer struct {
	From  uint64 `json:"from"`
	To    uint64 `json:"to"` // the last tick reached; ask for the rest
	Every uint64 `json:"every"`
}

// answerHistory answers with a field's values in a cell, in an entity, or, given neither, in all cells. It
// covers the ticks from one to another, as far as time allows. An entity has NaN at ticks at which it does
// not exist.
func (r *Recording) answerHistory(q *request, a *answer, deadline time.Time) error {
	if q.Field < 0 || q.Field >= len(r.scenario.Fields) {
		return fmt.Errorf("there is no field %d; there are %d", q.Field, len(r.scenario.Fields))
	}
	every := max(q.Every, 1)
	if q.To < q.Tick || (q.To-q.Tick)/every > mostPoints {
		return fmt.Errorf("a history has at most %d values, from a tick to a later one", mostPoints)
	}
	if err := r.has(q.Tick); err != nil {
		return err
	}
	var list []float64
	n, most := uint64(0), (min(q.To, r.end())-q.Tick)/every
	for ; n <= most && (n == 0 || time.Now().Before(deadline) && len(list) <= mostValues); n++ {
		if err := r.history.to(q.Tick+n*every, deadline); err == errNotYet && n > 0 {
			break
		} else if err != nil {
			return err
		}
		var err error
		if list, err = r.append(list, q); err != nil {
			return err
		}
	}
	a.float64s("values", list)
	a.head = historyAnswer{q.Tick, q.Tick + (n-1)*every, every}
	return nil
}

const mostValues = 1 << 20 // per answer; when it has more, it ends with the current tick

// append appends the requested values at the history's tick.
func (r *Recording) append(list []float64, q *request) ([]float64, error) {
	w := r.history.player.World
	id := fields.ID(q.Field)
	d := &w.Defs()[id]
	if (d.Domain == fields.Entities) != (q.Entity != "") {
		return nil, fmt.Errorf("field %s is one of %s", d.Name, map[fields.Domain]string{fields.Cells: "cells", fields.Entities: "entities"}[d.Domain])
	}
	n := d.Type.Components()
	from, to := 0, w.Column(id).Len()
	if q.Cell != nil || q.Entity != "" {
		i, entity, err := r.find(q, w)
		switch {
		case err != nil && entity:
			return append(list, slices.Repeat([]float64{math.NaN()}, n)...), nil
		case err != nil:
			return nil, err
		}
		from, to = i*n, (i+1)*n
	}
	for i := from; i < to; i++ {
		list = append(list, w.Value(id, i))
	}
	return list, nil
}
