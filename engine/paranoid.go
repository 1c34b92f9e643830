package engine

import (
	"fmt"
	"slices"

	"github.com/murksim/murksim/fields"
)

// The values that fill Full outputs beforehand, so that an element left unwritten shows: a NaN with
// a payload, and numbers that no computation gives.
const (
	poison32 uint32 = 0x7fc0dead
	poison64 uint64 = 0x7fc0dead7fc0dead
)

func poison(c *fields.Column) {
	for i := range c.Len() {
		c.SetBits(i, poisonOf(c))
	}
}

func poisonOf(c *fields.Column) uint64 {
	if c.Float32 != nil || c.Int32 != nil {
		return uint64(poison32)
	}
	return poison64
}

// runParanoid does the work of runStage and checks that the stage keeps to its Spec and,
// where the rules allow no state outside the world's, does the same twice.
func (w *World) runParanoid(s *stage) error {
	before, were := w.fingerprint(s), w.outputs(s)
	if w.rules.strict() {
		if err := w.twice(s, before, were); err != nil {
			return err
		}
	} else {
		if err := w.runWorkers(s); err != nil {
			return err
		}
		w.noteFinite(s)
		if err := w.suspect(s, before); err != nil {
			return err
		}
	}
	w.noteChanges(s)
	return w.checkChanges(s, were)
}

// fingerprint hashes everything that a stage may not write.
func (w *World) fingerprint(s *stage) []uint64 {
	var sums []uint64
	for i := range w.defs {
		id := fields.ID(i)
		sums = append(sums, uint64(fields.NewHash().Column(w.store.Current(id))))
		if s.may[id]&mayNext == 0 {
			sums = append(sums, w.store.FieldHash(id))
		}
	}
	return sums
}

// outputs returns copies of the columns that the outputs of a stage are compared with.
func (w *World) outputs(s *stage) []fields.Column {
	all := make([]fields.Column, len(w.defs))
	for _, id := range s.spec.Full {
		all[id] = w.store.Current(id).Clone()
	}
	for _, id := range s.spec.Incremental {
		all[id] = w.store.Now(id).Clone()
	}
	return all
}

// checkChanges returns an error if a stage reported its changes of an output but left one
// out.
func (w *World) checkChanges(s *stage, were []fields.Column) error {
	for i := range were {
		id := fields.ID(i)
		if !s.reportsChanges(id) {
			continue
		}
		now := w.store.Now(id)
	elements:
		for e := range were[i].Len() {
			if now.Bits(e) == were[i].Bits(e) {
				continue
			}
			for k := range s.workers {
				if set := &s.workers[k].ctx.changes[id]; set.tiles[e/set.tileLen] {
					continue elements
				}
			}
			return fmt.Errorf("changed element %d of field %q without reporting it", e, w.defs[i].Name)
		}
	}
	return nil
}

// oneByOne runs the workers of a stage one after another, and reports what one wrote of
// another's share, and what a local one read further away than it may.
func (w *World) oneByOne(s *stage) error {
	for k := range s.workers {
		c := &s.workers[k].ctx
		were := w.written(s)
		among := w.amongStrangers(s, c, were)
		if err := s.step(c); err != nil {
			return err
		}
		lo, hi := c.Range()
		for id, was := range were {
			now, components := w.store.Now(fields.ID(id)), w.defs[id].Type.Components()
			for e := range was.Len() {
				cell := e / components
				switch inside := lo <= cell && cell < hi; {
				case !inside && was.Bits(e) != now.Bits(e):
					return &CellError{cell, w.lattice.Coord(cell), fmt.Sprintf("field %q was written for cells %d to %d, this is another", w.defs[id].Name, lo, hi)}
				case inside && among != nil && among[id].Bits(e) != now.Bits(e):
					return &CellError{cell, w.lattice.Coord(cell), fmt.Sprintf("field %q depends on cells that are no neighbours; the Spec says Local", w.defs[id].Name)}
				}
			}
		}
	}
	return nil
}

// amongStrangers gives what a local stage makes of its outputs when all cells that are
// neither of a worker's share nor neighbours of it are changed: that must be the same. It
// puts the outputs back. There is nothing to compare if the stage is not local, or does not
// bear the change.
func (w *World) amongStrangers(s *stage, c *SystemContext, were []fields.Column) []fields.Column {
	if !s.spec.Local {
		return nil
	}
	lo, hi := c.Range()
	near := make([]bool, w.lattice.Cells())
	for cell := lo; cell < hi; cell++ {
		near[cell] = true
		for _, n := range w.lattice.AppendNeighbours(nil, cell) {
			near[n] = true
		}
	}
	c.strange = make([]fields.Column, len(w.defs))
	for _, id := range s.spec.Prev {
		if w.defs[id].Domain != fields.Cells {
			continue
		}
		c.strange[id] = w.store.Current(id).Clone()
		for e := range c.strange[id].Len() {
			if !near[e/w.defs[id].Type.Components()] {
				c.strange[id].SetBits(e, c.strange[id].Bits(e)^1<<22) // of a float32 the highest bit of the fraction
			}
		}
	}
	err := func() error {
		defer func() { c.strange = nil }() // also if step ends the goroutine
		return s.step(c)
	}()
	among := w.written(s)
	for id := range were {
		if were[id].Len() > 0 {
			w.store.Now(fields.ID(id)).CopyFrom(&were[id])
		}
	}
	if err != nil {
		return nil
	}
	return among
}

// written gives copies of a stage's outputs of cells as they stand.
func (w *World) written(s *stage) []fields.Column {
	all := make([]fields.Column, len(w.defs))
	for i := range w.defs {
		if id := fields.ID(i); s.may[i]&mayNext != 0 && w.defs[i].Domain == fields.Cells {
			all[i] = w.store.Now(id).Clone()
		}
	}
	return all
}

// suspect reports what a stage did against its Spec.
func (w *World) suspect(s *stage, before []uint64) error {
	after := w.fingerprint(s)
	for i, k := 0, 0; i < len(w.defs); i++ {
		if before[k] != after[k] {
			return fmt.Errorf("wrote to field %q as it stood at the start of the tick", w.defs[i].Name)
		}
		k++
		if s.may[i]&mayNext == 0 {
			if before[k] != after[k] {
				return fmt.Errorf("wrote field %q, which its Spec does not declare", w.defs[i].Name)
			}
			k++
		}
	}
	for i := range w.finite {
		if id := fields.ID(i); s.may[i]&mayNext != 0 && w.finite[i] {
			if bad := w.defs[i].Bad(w.store.Now(id)); bad >= 0 {
				return fmt.Errorf("called field %q finite, but %w", w.defs[i].Name, w.badValue(id, bad))
			}
		}
	}
	if !w.rules.strict() {
		return nil // a Full writer may leave elements as they are
	}
	for _, id := range slices.Concat(s.spec.Full, s.fresh) {
		c := w.store.Now(id)
		for i := range c.Len() {
			if c.Bits(i) == poisonOf(c) {
				return w.unwritten(id, i)
			}
		}
	}
	return nil
}

func (w *World) unwritten(id fields.ID, element int) error {
	d := &w.defs[id]
	at, part := element/d.Type.Components(), element%d.Type.Components()
	reason := fmt.Sprintf("component %d of field %q was left unwritten by a Full or Rewrite writer", part, d.Name)
	if d.Domain == fields.Entities {
		return fmt.Errorf("slot %d: %s", at, reason)
	}
	return &CellError{at, w.lattice.Coord(at), reason}
}
