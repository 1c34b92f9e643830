package view

import (
	"fmt"
	"time"

	"github.com/murksim/murksim/fields"
)

// A historyAnswer says which ticks the values are of: From, From+Every and so on.
type historyAnswer struct {
	From  uint64 `json:"from"`
	To    uint64 `json:"to"` // reached; ask for the rest
	Every uint64 `json:"every"`
}

// answerHistory answers with the values of a field in a cell or an entity, from one tick to another, as far
// as it came. An entity has NaN while it is not there.
func (r *Recording) answerHistory(q *request, a *answer, deadline time.Time) error {
	if q.Field < 0 || q.Field >= len(r.Scenario.Fields) {
		return fmt.Errorf("there is no field %d; there are %d", q.Field, len(r.Scenario.Fields))
	}
	every := max(q.Every, 1)
	if q.To < q.Tick || (q.To-q.Tick)/every > mostPoints {
		return fmt.Errorf("a history has at most %d values, from a tick to a later one", mostPoints)
	}
	n := 0
	var list []float64
	for tick := q.Tick; tick <= min(q.To, r.last); tick += every {
		if err := r.history.to(tick, deadline); err == errNotYet && n > 0 {
			break
		} else if err != nil {
			return err
		}
		w := r.history.player.World
		d := &w.Defs()[q.Field]
		i, entity, err := r.find(q, w)
		switch {
		case entity != (d.Domain == fields.Entities):
			return fmt.Errorf("field %s is not one of %s", d.Name, map[bool]string{false: "cells", true: "entities"}[entity])
		case err != nil && !entity:
			return err
		}
		for c := range d.Type.Components() {
			v := nan
			if err == nil {
				v = w.Value(fields.ID(q.Field), i*d.Type.Components()+c)
			}
			list = append(list, v)
		}
		n++
		if time.Now().After(deadline) {
			break
		}
	}
	a.float64s("values", list)
	a.head = historyAnswer{q.Tick, q.Tick + uint64(max(n-1, 0))*every, every}
	return nil
}
