package view

import (
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/fields"
)

// A stateAnswer says which state the answer shows.
type stateAnswer struct {
	Tick     uint64 `json:"tick"`
	Recorded string `json:"recorded,omitempty"` // the recorded hash; empty where the recording begins
	Alive    int    `json:"alive"`              // number of entities
}

// state answers with fields of the world at a tick.
func (r *Recording) state(q *request, a *answer, deadline time.Time) error {
	if err := r.show.to(q.Tick, deadline); err != nil {
		return err
	}
	w := r.show.player.World
	defs := w.Defs()
	if all := len(r.scenario.Fields); len(q.Fields) > all {
		return fmt.Errorf("%d fields are asked for; there are %d", len(q.Fields), all)
	}
	for _, id := range q.Fields {
		if id < 0 || id >= len(r.scenario.Fields) {
			return fmt.Errorf("there is no field %d; there are %d", id, len(r.scenario.Fields))
		}
		a.column("field "+strconv.Itoa(id), &defs[id], w.Column(fields.ID(id)))
	}
	all := w.Entities()
	if q.Entities {
		var ids []uint64
		var slots, kinds, cells []int32
		for slot, id := range all.ID {
			if id != 0 {
				ids, slots, kinds, cells = append(ids, id), append(slots, int32(slot)), append(kinds, all.Kind[slot]), append(cells, all.Cell[slot])
			}
		}
		a.uint64s("ids", ids)
		a.int32s("slots", slots)
		a.int32s("kinds", kinds)
		a.int32s("cells", cells)
	}
	var parameters []float64
	for _, p := range r.scenario.AllParameters() {
		v, _ := w.Parameter(p.Key)
		parameters = append(parameters, v)
	}
	a.float64s("parameters", parameters)
	a.head = stateAnswer{Tick: w.Tick(), Recorded: r.show.recorded(), Alive: w.Population()}
	return nil
}

// recorded returns the hash that the recording has for the current tick, or "".
func (c *cursor) recorded() string {
	if f := c.player.Frame(); f.Tick == c.player.World.Tick() && f.Tick > c.of.first {
		return fmt.Sprintf("%016x", f.Hash)
	}
	return ""
}

// A lookAnswer holds all values of a cell or an entity.
type lookAnswer struct {
	Tick     uint64       `json:"tick"`
	Cell     int          `json:"cell"`
	Coord    []int32      `json:"coord,omitempty"`
	Entity   string       `json:"entity,omitempty"`
	Kind     string       `json:"kind,omitempty"`
	Name     string       `json:"name,omitempty"`
	Values   []lookValue  `json:"values"`
	Details  []Detail     `json:"details,omitempty"`  // for an entity of a film
	Entities []lookEntity `json:"entities,omitempty"` // on the cell
}

type lookValue struct {
	Field  int      `json:"field"`
	Values []string `json:"values"` // per component, the shortest decimal that parses to the same value
}

type lookEntity struct {
	ID   string `json:"id"`
	Kind string `json:"kind"`
	Name string `json:"name,omitempty"`
}

// look answers with what a cell or an entity holds at a tick.
func (r *Recording) look(q *request, a *answer, deadline time.Time) error {
	if err := r.show.to(q.Tick, deadline); err != nil {
		return err
	}
	w := r.show.player.World
	l := &lookAnswer{Tick: w.Tick(), Values: []lookValue{}}
	i, entity, err := r.find(q, w)
	if err != nil {
		return err
	}
	if l.Cell = i; entity {
		all := w.Entities()
		l.Cell, l.Entity, l.Kind, l.Name = int(all.Cell[i]), q.Entity, r.scenario.KindName(all.Kind[i]), r.scenario.EntityName(all.ID[i])
	}
	if l.Cell >= 0 {
		l.Coord = w.Lattice().Coord(l.Cell).AppendTo(nil)
	}
	for id := range r.scenario.Fields {
		d := &w.Defs()[id]
		if (d.Domain == fields.Entities) != entity {
			continue
		}
		v := lookValue{Field: id}
		for c := range d.Type.Components() {
			v.Values = append(v.Values, r.value(w, id, i*d.Type.Components()+c))
		}
		l.Values = append(l.Values, v)
	}
	if !entity {
		all := w.Entities()
		for _, slot := range w.AppendAt(nil, i) {
			l.Entities = append(l.Entities, lookEntity{strconv.FormatUint(all.ID[slot], 10), r.scenario.KindName(all.Kind[slot]), r.scenario.EntityName(all.ID[slot])})
		}
	}
	a.head = l
	return nil
}

// find returns the cell, or the entity's slot, that a request names.
func (r *Recording) find(q *request, w *engine.World) (i int, entity bool, err error) {
	if q.Cell != nil {
		if i = *q.Cell; i < 0 || i >= w.Lattice().Cells() {
			return 0, false, fmt.Errorf("there is no cell %d; there are %d", i, w.Lattice().Cells())
		}
		return i, false, nil
	}
	id, err := strconv.ParseUint(q.Entity, 10, 64)
	if err != nil {
		return 0, false, errors.New("a request needs a cell, or the id of an entity")
	}
	slot, ok := w.Slot(id)
	if !ok {
		return 0, true, fmt.Errorf("there is no entity %d at tick %d", id, w.Tick())
	}
	return slot, true, nil
}

// value returns an element of a field, in words.
func (r *Recording) value(w *engine.World, id, i int) string {
	v := w.Value(fields.ID(id), i)
	if names := r.scenario.Fields[id].Values; v >= 0 && v < float64(len(names)) {
		return names[int(v)]
	}
	if _, cell := r.scenario.Label(r.scenario.Fields[id].Name); cell && v >= 0 && v < float64(w.Lattice().Cells()) {
		return fmt.Sprint(w.Lattice().Coord(int(v)))
	}
	bits := 64
	if w.Defs()[id].Element == fields.Float32 {
		bits = 32
	}
	return strconv.FormatFloat(v, 'g', -1, bits)
}
