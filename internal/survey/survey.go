// Package survey adds up what worlds hold.
package survey

import (
	"fmt"
	"math"
	"slices"

	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/fields"
	"github.com/murksim/murksim/scenarios"
	"github.com/murksim/murksim/scenarios/document"
)

// A Survey says what a world holds in all: its fields, and its entities by kind.
type Survey struct {
	Totals     []Total  // of each field, or component of a vector, in the order of the selection
	Population []uint64 // how many entities live of each kind
	Stats      []Stat   // of the scenario, in its order

	looked bool
	s      *scenarios.Scenario
	reader *scenarios.StatsReader // nil: there are none, or nobody has looked yet
}

// A Stat is one of the scenario's own statistics.
type Stat struct {
	Name  string
	Value float64 // 1 for true; NaN if there is none, such as a mean of no entities, or none that is finite
}

// A Total is what the cells hold in a field, or the living entities in an attribute.
type Total struct {
	Field    string // of a component of a vector with its number: flow_0
	Unit     string
	Entities bool    // it is an attribute
	Elements uint64  // cells, or living entities
	Sum      float64 // in the order of ranks, or of slots
	Min, Max float64 // 0 if there are no elements

	Values []string // of a field of categories: their names
	Counts []uint64 // how many elements have each; such a field has no Sum, Min and Max

	Def              fields.Def
	id               fields.ID
	component, every int
}

// Mean returns the mean of all elements; 0 if there are none.
func (t *Total) Mean() float64 {
	if t.Elements == 0 {
		return 0
	}
	return t.Sum / float64(t.Elements)
}

// New makes a survey of fields of a scenario by their names; without any of all its fields.
// An error names what there is not.
func New(s *scenarios.Scenario, names []string) (*Survey, error) {
	v := &Survey{s: s}
	var all []string
	for i := range s.Fields {
		all = append(all, s.Fields[i].Name)
	}
	if len(names) == 0 {
		names = all
	}
	for i, name := range names {
		k := slices.Index(all, name)
		switch {
		case k < 0:
			return nil, fmt.Errorf("there is no field %q%s", name, document.Suggestion(name, all))
		case slices.Contains(names[:i], name):
			return nil, fmt.Errorf("field %q is named twice", name)
		}
		def := s.Fields[k].Def()
		values := s.Fields[k].Values
		for c, title := range Columns(name, def.Type.Components()) {
			v.Totals = append(v.Totals, Total{
				Field: title, Unit: def.Unit, Entities: def.Domain == fields.Entities, Def: def, id: fields.ID(k), component: c, every: def.Type.Components(),
				Values: values, Counts: make([]uint64, len(values)),
			})
		}
	}
	if s.Entities != nil {
		v.Population = make([]uint64, len(s.Entities.Kinds))
	}
	for _, name := range s.Stats.Names() {
		v.Stats = append(v.Stats, Stat{Name: name})
	}
	return v, nil
}

// Clone returns a copy, which keeps what it has.
func (v *Survey) Clone() *Survey {
	c := &Survey{Totals: slices.Clone(v.Totals), Population: slices.Clone(v.Population), Stats: slices.Clone(v.Stats), looked: v.looked, s: v.s}
	for i := range c.Totals {
		c.Totals[i].Counts = slices.Clone(c.Totals[i].Counts)
	}
	return c
}

// Look fills the survey with what a world of the scenario holds. It allocates nothing, once it has looked some times.
func (v *Survey) Look(w *engine.World) {
	all := w.Entities()
	clear(v.Population)
	for slot, id := range all.ID {
		if kind := all.Kind[slot]; id != 0 && int(kind) < len(v.Population) && kind >= 0 {
			v.Population[kind]++
		}
	}
	for i := range v.Totals {
		if t := &v.Totals[i]; !v.looked || t.Def.Mutability != fields.Static {
			t.look(w.Column(t.id), all.ID)
		}
	}
	v.looked = true
	if len(v.Stats) == 0 {
		return
	}
	if v.reader == nil {
		v.reader = v.s.NewStatsReader()
	}
	for i, x := range v.reader.Look(w) {
		v.Stats[i].Value = x.Value
		if x.Err != nil || x.Value-x.Value != 0 {
			v.Stats[i].Value = math.NaN()
		}
	}
}

// look adds up a column. Of entities, slots without one are left out.
func (t *Total) look(c *fields.Column, ids []uint64) {
	t.Elements, t.Sum, t.Min, t.Max = 0, 0, 0, 0
	clear(t.Counts)
	switch {
	case t.Entities || len(t.Counts) > 0:
		t.each(c, ids)
	case c.Float32 != nil:
		t.float32s(c.Float32)
	default:
		t.each(c, nil)
	}
}

// float32s adds up numbers of cells: what each does, several times as fast.
func (t *Total) float32s(v []float32) {
	v = v[t.component:]
	t.Elements = uint64((len(v) + t.every - 1) / t.every)
	if t.every == 1 {
		t.Sum, t.Min, t.Max = SumAndRange(v)
		return
	}
	sum, lo, hi := 0.0, v[0], v[0]
	for i := 0; i < len(v); i += t.every {
		sum += float64(v[i])
		lo, hi = min(lo, v[i]), max(hi, v[i])
	}
	t.Sum, t.Min, t.Max = sum, float64(lo), float64(hi)
}

// SumAndRange returns the sum of at least one number, in their order, and the least and the
// greatest of them.
func SumAndRange(v []float32) (sum, lo, hi float64) {
	least, most := v[0], v[0]
	for _, x := range v {
		sum += float64(x)
		if x < least {
			least = x
		}
		if x > most {
			most = x
		}
	}
	return sum, float64(least), float64(most)
}

// each looks at the elements one by one.
func (t *Total) each(c *fields.Column, ids []uint64) {
	d := &t.Def
	for i, n := t.component, 0; i < c.Len(); i, n = i+t.every, n+1 {
		if t.Entities && ids[n] == 0 {
			continue
		}
		x := d.Value(c.Bits(i))
		if len(t.Counts) > 0 {
			t.Elements++
			t.Counts[min(max(int(x), 0), len(t.Counts)-1)]++
			continue
		}
		if t.Elements == 0 {
			t.Min, t.Max = x, x
		}
		t.Elements++
		t.Sum += x
		t.Min, t.Max = min(t.Min, x), max(t.Max, x)
	}
}

// Columns names the components of a field in a table: a scalar by its name, a vector's as in flow_0.
func Columns(name string, components int) []string {
	if components == 1 {
		return []string{name}
	}
	var list []string
	for i := range components {
		list = append(list, fmt.Sprintf("%s_%d", name, i))
	}
	return list
}
