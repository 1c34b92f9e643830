package view

import (
	"time"

	"github.com/murksim/murksim/fields"
	"github.com/murksim/murksim/replay/diff"
)

// An apartAnswer says how much the values of a cell or an entity differ between two recordings: the second minus
// the first.
type apartAnswer struct {
	Tick   uint64       `json:"tick"`
	Values []apartValue `json:"values"` // only fields that differ
}

type apartValue struct {
	Field  int      `json:"field"`
	Deltas []string `json:"deltas,omitempty"` // one per component, signed; "" if equal; none for categories
	Ulps   []uint32 `json:"ulps,omitempty"`   // for float32: units in the last place
}

// apart compares what a cell or an entity holds in two recordings. If a recording lacks the tick, its nearest tick is
// used.
func (s *Session) apart(q *request, a *answer, deadline time.Time) error {
	c, err := s.compared(q)
	if err != nil {
		return err
	}
	of := c.of
	var at [2]int
	head := &apartAnswer{Tick: q.Tick, Values: []apartValue{}}
	entity := false
	for i, r := range of {
		err := r.show.to(max(r.first, min(r.end(), q.Tick)), deadline)
		if err == nil {
			at[i], entity, err = r.find(q, r.show.player.World)
		}
		if err != nil {
			return err
		}
	}
	x, y := of[0].show.player.World, of[1].show.player.World
	for id := range of[0].scenario.Fields {
		d := &x.Defs()[id]
		if (d.Domain == fields.Entities) != entity {
			continue
		}
		n := d.Type.Components()
		if v := between(d, x.Column(fields.ID(id)), y.Column(fields.ID(id)), at[0]*n, at[1]*n); v != nil {
			v.Field = id
			head.Values = append(head.Values, *v)
		}
	}
	a.head = head
	return nil
}

// between compares a field's value at element i of column a with the one at element j of column b. It returns nil if
// they are equal.
func between(d *fields.Def, a, b *fields.Column, i, j int) *apartValue {
	v, equal := &apartValue{}, true
	for c := range d.Type.Components() {
		x, y := a.Bits(i+c), b.Bits(j+c)
		delta, ulps := "", uint32(0)
		if x != y {
			equal = false
			far := diff.Between(d, x, y)
			delta, ulps = far.Delta, far.Ulps
		}
		if d.Type.Kind == fields.CategoricalKind {
			continue
		}
		v.Deltas = append(v.Deltas, delta)
		if d.Element == fields.Float32 {
			v.Ulps = append(v.Ulps, ulps)
		}
	}
	if equal {
		return nil
	}
	return v
}
