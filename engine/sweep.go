package engine

import (
	"slices"

	"github.com/murksim/murksim/commands"
	"github.com/murksim/murksim/fields"
	"github.com/murksim/murksim/space"
)

// Run advances the world by that many ticks, with the same bits as that many calls of
// [World.Step]. It stops at the first tick that fails and returns its error; the world
// is as it was before that tick. Receipts are lost: call Step to get them. Nothing else ends
// Run early, not even [World.Stop]: to be able to stop, run a few ticks at a time.
//
// Where nothing looks at the state between ticks, Run computes several of them in one
// sweep over the cells, so that a large world goes through the processor's cache once
// for all of them. This requires the rules Murksim, no Paranoid, no recorder, no watcher, no
// waiting input and no event that is due. All parts of the tick must be propagators
// whose Spec says Local, and their outputs Full, of Float32 and without bounds. Several
// workers sweep a part each, if the parts are large enough; a world that stays in the cache
// anyway gains nothing. Inputs submitted during a sweep are
// taken by the first tick after it; a sweep has at most [MaxSweep] ticks.
func (w *World) Run(ticks uint64) error {
	_, err := w.run(ticks)
	return err
}

// run does what Run does, and returns the receipts of the last tick.
func (w *World) run(ticks uint64) (receipts []commands.Receipt, err error) {
	w.made()
	for ticks > 0 {
		n := w.sweepable(ticks)
		if n > 1 && w.sweep.run(w, n) {
			ticks -= uint64(n)
			receipts = w.receipts
			continue
		}
		for range max(1, n) { // after a sweep that failed, single steps find the tick
			if receipts, err = w.Step(); err != nil {
				return receipts, err
			}
			ticks--
		}
	}
	return receipts, nil
}

// MaxSweep is the most ticks that [World.Run] computes in one sweep.
const MaxSweep = 12

// A sweep computes several ticks in one pass through the cells, tile by tile. Its first
// tick is always one tile ahead of the second, the second of the third, and so on. No tile
// except the last is smaller than the distance to the furthest neighbour, so what a tile
// needs of the tick before is there. Outputs have two columns that ticks write in turn. A
// tile that is overwritten belongs to the tick before the last, and is no longer needed.
// The state at the start is not touched, so that a sweep that fails leaves it.
//
// Several workers have a lane of tiles each. First each goes through its lane. Where another
// lane begins, every tick leaves out one tile more than the tick before, because neighbours
// are missing. Then the wedges left out around each such border are filled, each by one
// worker:
//
//	tick 3   1 1 1 1 - - - - - - 2 2 2 2
//	tick 2   1 1 1 1 1 - - - - 2 2 2 2 2
//	tick 1   1 1 1 1 1 1 - - 2 2 2 2 2 2
//	tick 0   1 1 1 1 1 1 1 2 2 2 2 2 2 2
//
// What a wedge needs of the tick before still stands along its slopes: tiles that overwrite
// it begin one tile further away. Where the lattice wraps along its first dimension, the last
// tile borders on the first, also if there is one lane only.
type sweep struct {
	known   bool
	depth   int     // ticks at most; below 2: none
	tiles   []share // side by side
	ring    bool    // the last tile borders on the first
	lanes   []lane  // one a worker
	outputs []fields.ID
	columns [][2]*fields.Column // by field; nil if it is no output

	// Of the sweep under way.
	ticks  int
	wedges bool
	jobs   []func() // by lane; made once, so that running them allocates nothing
}

// A lane is the tiles from first to last, without last, that one worker computes.
type lane struct {
	first, last int
	contexts    []*SystemContext // by stage
	failed      bool
}

const (
	leastTile  = 1024    // cells: so many make the cost of a Step small
	mostTile   = 4096    // cells, if the furthest neighbour is no further
	tileBytes  = 1 << 16 // of columns in a tile, between these limits
	tileMemory = 1 << 10 // what a tile takes beside its spans, at most
	sweepBytes = 1 << 20 // of columns that a sweep works on at a time: less than a core's cache holds today
)

// sweepable returns how many ticks the next sweep may take; less than 2: none.
func (w *World) sweepable(ticks uint64) int {
	s := &w.sweep
	if !s.known {
		s.known = true
		if w.local() {
			s.layOut(w, leastTile, mostTile, sweepBytes/2)
		}
	}
	if s.depth < 2 || w.phase != between || w.recorder != nil || len(w.watchers) > 0 || w.looker != nil || w.halted.Load() || w.queue.Len() > 0 {
		return 0
	}
	ticks = min(ticks, LastTick-w.tick)
	if due, ok := w.events.Due(); ok {
		ticks = min(ticks, due-1-w.tick)
	}
	return int(min(ticks, uint64(s.depth)))
}

// local reports whether each cell's next state depends on its neighbourhood only.
func (w *World) local() bool {
	if !w.rules.strict() || w.paranoid || len(w.stages) == 0 {
		return false
	}
	for _, s := range w.stages {
		if !s.spec.Local || len(s.spec.Now) > 0 || len(s.spec.Incremental) > 0 || s.may[w.cols.rest] != 0 {
			return false
		}
		for _, id := range s.spec.Full {
			if d := &w.defs[id]; d.Element != fields.Float32 || d.Bounds != nil {
				return false
			}
		}
	}
	return true
}

// layOut cuts the cells into tiles of least to most cells, or more where neighbours are
// further away, and finds how many ticks stay in the cache. A ring of up to so many bytes of
// columns stays one tile.
func (s *sweep) layOut(w *World, least, most, whole int) {
	perCell, cells := s.survey(w), w.lattice.Cells()
	reach, ring := reachOf(w.lattice)
	size := max(least, min(tileBytes/perCell, most), reach)
	if ring && cells*perCell <= whole {
		size = cells
	}
	row := rowOf(w.whole.bands)
	size = min((size+row-1)/row*row, cells)
	s.depth = min(MaxSweep, sweepBytes/(size*perCell)-2)
	if size == cells && cells*perCell <= sweepBytes/2 { // all of it stays
		s.depth = MaxSweep
	}
	if s.depth < 2 {
		return
	}
	s.cut(w, size, reach, ring)
	s.layLanes(w)
}

// cut makes the tiles. The last one may be smaller than the others, but not, on a ring, than
// the distance to the furthest neighbour.
func (s *sweep) cut(w *World, size, reach int, ring bool) {
	cells := w.lattice.Cells()
	for lo, hi := 0, 0; lo < cells; lo = hi {
		if hi = min(lo+size, cells); ring && cells-hi < reach {
			hi = cells
		}
		spans := w.lattice.SpansIn(nil, lo, hi)
		s.tiles = append(s.tiles, share{lo, hi, spans, space.Bands(spans)})
	}
	s.ring = ring && len(s.tiles) > 1
}

// reachOf returns the distance to the furthest neighbour in ranks, and whether the first cells
// are neighbours of the last: then the distance goes around.
func reachOf(l *space.Lattice) (reach int, ring bool) {
	for _, p := range l.Patterns() {
		for _, o := range p.Offsets {
			o = max(o, -o)
			if 2*o > l.Cells() {
				o, ring = l.Cells()-o, true
			}
			reach = max(reach, o)
		}
	}
	return reach, ring
}

// layLanes gives each worker a lane. A sweep of n ticks needs lanes of 2n-1 tiles, or wedges
// would touch.
func (s *sweep) layLanes(w *World) {
	workers := 1
	for _, t := range w.stages {
		workers = max(workers, len(t.workers))
	}
	if n := len(s.tiles) / workers; workers > 1 || s.ring {
		if s.depth = min(s.depth, (n+1)/2); s.depth < 2 {
			return // stepping with all workers is faster
		}
	}
	s.lanes, s.jobs = make([]lane, workers), nil
	for i := range s.lanes {
		l := &s.lanes[i]
		l.first, l.last = i*len(s.tiles)/workers, (i+1)*len(s.tiles)/workers
		for _, t := range w.stages {
			if i < len(t.workers) {
				l.contexts = append(l.contexts, &t.workers[i].ctx)
			} else {
				l.contexts = append(l.contexts, &SystemContext{Context: Context{w: w, s: t, scratch: make([]float32, t.spec.Scratch)}})
			}
		}
		s.jobs = append(s.jobs, func() {
			l.failed = true // unless it runs to its end
			if s.wedges {
				l.failed = (s.ring || i < workers-1) && !s.wedge(w, l)
			} else {
				l.failed = !s.waves(w, l)
			}
		})
	}
}

// survey finds the outputs, and returns how many bytes of columns a sweep has for each cell.
func (s *sweep) survey(w *World) (perCell int) {
	s.columns = make([][2]*fields.Column, len(w.defs))
	for i := range w.defs {
		d, id := &w.defs[i], fields.ID(i)
		bytes := d.Type.Components() * d.Element.Size()
		switch {
		case w.writer[i] != nil:
			s.outputs = append(s.outputs, id)
			perCell += 2 * bytes
		case d.Domain == fields.Cells && slices.ContainsFunc(w.stages, func(t *stage) bool { return t.may[id]&mayPrev != 0 }):
			perCell += bytes
		}
	}
	return max(1, perCell)
}

// rowOf returns the distance between rows of cells, so that tiles can be whole rows.
func rowOf(bands []space.Band) int {
	row, most := 1, 0
	for _, b := range bands {
		if n := b.Rows * b.Count; b.Rows > 1 && n > most {
			row, most = b.Pitch, n
		}
	}
	return row
}

// run takes n ticks and reports whether all succeeded; if not, it has done nothing.
func (s *sweep) run(w *World, n int) bool {
	for _, id := range s.outputs {
		s.columns[id][0] = w.store.Full(id)
		w.store.Swap(id)
		s.columns[id][1] = w.store.Full(id)
		if n%2 == 1 { // the column of the last tick stays
			w.store.Swap(id)
		}
	}
	if !s.compute(w, n) {
		return false
	}
	w.tick += uint64(n - 1)
	w.inputs = w.inputs[:0]
	w.begin()
	w.hashRest()
	w.commit()
	return true
}

// compute computes n ticks and reports whether all succeeded; if not, it leaves no trace.
func (s *sweep) compute(w *World, n int) (done bool) {
	w.phase, s.ticks = ticking, n
	defer func() {
		for i := range s.lanes {
			for k, c := range s.lanes[i].contexts {
				c.sweep, c.ahead = nil, 0
				if n := len(w.stages[k].workers); i < n {
					c.share = w.share(i, n)
				}
			}
		}
		if !done {
			w.store.Rollback()
		}
		w.phase = between
	}()
	return s.together(w, false) && (len(s.lanes) == 1 && !s.ring || s.together(w, true))
}

// together lets each worker compute its lane, or the wedge at its end, and reports whether
// all succeeded.
func (s *sweep) together(w *World, wedges bool) bool {
	s.wedges = wedges
	for i := range s.lanes {
		for _, c := range s.lanes[i].contexts {
			c.sweep = s
		}
	}
	w.crew.run(s.jobs)
	return !slices.ContainsFunc(s.lanes, func(l lane) bool { return l.failed })
}

// waves computes the tiles of a lane and reports whether all succeeded.
func (s *sweep) waves(w *World, l *lane) bool {
	for wave := l.first; wave < l.last+s.ticks-1; wave++ {
		for ahead := range s.ticks {
			first, last := l.first, l.last
			if first > 0 || s.ring {
				first += ahead
			}
			if last < len(s.tiles) || s.ring {
				last -= ahead
			}
			if tile := wave - ahead; tile >= first && tile < last && !s.tile(w, l, ahead, tile) {
				return false
			}
		}
	}
	return true
}

// wedge computes what is missing around the end of a lane and reports whether it succeeded.
func (s *sweep) wedge(w *World, l *lane) bool {
	for ahead := 1; ahead < s.ticks; ahead++ {
		for tile := l.last - ahead; tile < l.last+ahead; tile++ {
			if !s.tile(w, l, ahead, tile%len(s.tiles)) {
				return false
			}
		}
	}
	return true
}

// tile computes one tile of the tick that is so many ahead of the next.
func (s *sweep) tile(w *World, l *lane, ahead, tile int) bool {
	for i, t := range w.stages {
		if !s.step(w, t, l.contexts[i], ahead, &s.tiles[tile]) {
			return false
		}
	}
	return true
}

// step computes one stage of a tile and reports whether its outputs are valid.
func (s *sweep) step(w *World, t *stage, c *SystemContext, ahead int, tile *share) bool {
	c.ahead, c.share = ahead, *tile
	if t.step(c) != nil {
		return false
	}
	for _, id := range t.spec.Full {
		d := &w.defs[id]
		if slices.Contains(c.valid, id) || d.Type.Kind != fields.CategoricalKind && slices.Contains(c.finite, id) {
			continue
		}
		n := d.Type.Components()
		part := fields.Column{Float32: s.columns[id][ahead&1].Float32[tile.lo*n : tile.hi*n]}
		if d.Bad(&part) >= 0 {
			return false
		}
	}
	return true
}

// prev returns a field as it stood before the tick that is so many ahead of the next.
func (s *sweep) prev(w *World, id fields.ID, ahead int) *fields.Column {
	if ahead == 0 || s.columns[id][0] == nil {
		return w.store.Current(id)
	}
	return s.columns[id][(ahead-1)&1]
}
