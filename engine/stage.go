package engine

import (
	"cmp"
	"slices"
	"time"

	"github.com/murksim/murksim/fields"
	"github.com/murksim/murksim/space"
)

const (
	defaultCost = 10 * time.Microsecond
	maxCost     = 100 * time.Millisecond
)

// newStage prepares a checked propagator or system to run.
func (w *World) newStage(spec Spec, p Propagator, s System, workers int) *stage {
	st := &stage{spec: spec, propagator: p, system: s, may: make([]uint8, len(w.defs))}
	for _, place := range spec.Places {
		st.places = append(st.places, spec.Name+"."+place)
	}
	for _, l := range []struct {
		ids  []fields.ID
		what uint8
	}{{spec.Prev, mayPrev}, {spec.Now, mayNow}, {spec.Full, mayNext}, {spec.Incremental, mayNext}} {
		for _, id := range l.ids {
			st.may[id] |= l.what
		}
	}
	if !w.rules.admit(w, st) || !spec.Parallel || s != nil {
		workers = 1
	}
	workers = max(1, min(workers, w.lattice.Cells()))
	if w.leastShare > 0 {
		work := time.Duration(w.lattice.Cells()) * cmp.Or(spec.Cost, defaultCost) / 1000
		workers = max(1, int(min(time.Duration(workers), work/w.leastShare)))
	}
	st.workers = make([]worker, workers)
	for i := range st.workers {
		wk := &st.workers[i]
		wk.ctx.Context = Context{w: w, s: st, share: w.share(i, workers), scratch: make([]float32, spec.Scratch)}
		st.jobs = append(st.jobs, func() {
			wk.err = ErrGoexit // if step does not return
			wk.err = st.step(&wk.ctx)
		})
	}
	return st
}

// A share is the part of the cells that one worker computes.
type share struct {
	lo, hi int
	spans  []space.Span
	bands  []space.Band
}

// share gives worker i of n its share: the same one in every stage.
func (w *World) share(i, n int) share {
	if n == 1 {
		if w.whole.spans == nil {
			spans := w.lattice.Spans()
			w.whole = share{0, w.lattice.Cells(), spans, space.Bands(spans)}
		}
		return w.whole
	}
	for len(w.shares) < n {
		at := func(k int) int { return int(int64(w.lattice.Cells()) * int64(k) / int64(n)) }
		lo, hi := at(len(w.shares)), at(len(w.shares)+1)
		spans := w.lattice.SpansIn(nil, lo, hi)
		w.shares = append(w.shares, share{lo, hi, spans, space.Bands(spans)})
	}
	return w.shares[i]
}

// step runs one worker's share and turns a panic into an error.
func (s *stage) step(c *SystemContext) (err error) {
	returned := false
	defer func() {
		c.inUse = false
		if !returned {
			err = newPanicError(recover())
		}
	}()
	c.inUse = true
	c.cleared = false
	c.finite, c.valid = c.finite[:0], c.valid[:0]
	for i := range c.changes {
		if set := &c.changes[i]; set.reported {
			set.reported = false
			clear(set.tiles)
		}
	}
	if s.system != nil {
		err = s.system.Update(c)
	} else {
		err = s.propagator.Step(&c.Context)
	}
	returned = true
	return err
}

// runStage prepares the outputs and runs all workers. Of several errors it returns
// that of the lowest share, whatever the order they came in.
func (w *World) runStage(s *stage) error {
	s.bulks, s.made, s.fresh = s.bulks[:0], s.made[:0], s.fresh[:0]
	w.rules.prepare(w, s)
	if w.paranoid {
		return w.runParanoid(s)
	}
	if err := w.runWorkers(s); err != nil {
		return err
	}
	w.noteFinite(s)
	w.noteChanges(s)
	return nil
}

func (w *World) runWorkers(s *stage) error {
	switch {
	case len(s.workers) == 1:
		return s.step(&s.workers[0].ctx)
	case w.paranoid && w.tick%2 == 1: // the others are for the race detector
		return w.oneByOne(s)
	}
	return w.fanOut(s)
}

// noteChanges passes on to the store which outputs' changes a stage has reported.
func (w *World) noteChanges(s *stage) {
	if s.workers[0].ctx.changes == nil || !w.rules.strict() {
		return
	}
	for i := range w.defs {
		id := fields.ID(i)
		if !w.store.Written(id) || !s.reportsChanges(id) {
			continue
		}
		for k := range s.workers {
			w.store.Changed(id, s.workers[k].ctx.changes[id].tiles)
		}
	}
}

// reportsChanges reports whether all workers reported their changes of an output. A stage
// that never asked for the output has not written it, so its reports do not count: they
// would hide what an earlier stage changed.
func (s *stage) reportsChanges(id fields.ID) bool {
	if s.may[id]&nextIsLate != 0 && !slices.Contains(s.made, id) {
		return false
	}
	for i := range s.workers {
		if changes := s.workers[i].ctx.changes; changes == nil || !changes[id].reported {
			return false
		}
	}
	return true
}

// noteFinite records which of a stage's outputs all of its workers found finite, and valid.
func (w *World) noteFinite(s *stage) {
	for _, ids := range [...][]fields.ID{s.spec.Full, s.spec.Incremental} {
		for _, id := range ids {
			w.finite[id] = s.all(id, func(c *Context) []fields.ID { return c.finite })
			w.valid[id] = w.finite[id] && (w.defs[id].Type.Kind != fields.CategoricalKind || s.all(id, func(c *Context) []fields.ID { return c.valid }))
		}
	}
}

// all reports whether all workers reported something of an output.
func (s *stage) all(id fields.ID, reports func(*Context) []fields.ID) bool {
	for i := range s.workers {
		if !slices.Contains(reports(&s.workers[i].ctx.Context), id) {
			return false
		}
	}
	return true
}

func (w *World) fanOut(s *stage) error {
	w.crew.run(s.jobs)
	for i := range s.workers {
		if err := s.workers[i].err; err != nil {
			return err
		}
	}
	return nil
}
