package propagators

// Recent keeps what passed the faces that cells own, for the latest runs, so that their neighbours
// do not compute it again: those in the same row, and mostly those in the row before.
type recent struct {
	pairs  int // of opposite faces
	slots  int
	latest int
	runs   [mostRecent]struct {
		first, count int
		offsets      [maxDirections / 2]int // by pair: where the face leads; 0: no cell of the run owns one
	}
	planes []float32 // by slot and pair, longest elements each
}

const (
	mostRecent   = 8   // runs
	recentPlanes = 16  // that the cache should hold
	fewCells     = 384 // so few are computed again faster than they are found
	mostMissing  = 2   // cells at the ends of a run that may be computed again
)

// recentRuns returns how many runs are kept.
func recentRuns(pairs int) int { return min(max(recentPlanes/max(pairs, 1), 2), mostRecent) }

// layOut takes the planes from scratch memory, recentRuns·pairs·longest elements.
func (w *recent) layOut(pairs int, planes []float32) {
	w.pairs, w.slots, w.planes = pairs, recentRuns(pairs), planes
}

// begin forgets the oldest run, and takes its place for a new one.
func (w *recent) begin(r *run) {
	w.latest = (w.latest + 1) % w.slots
	e := &w.runs[w.latest]
	e.first, e.count, e.offsets = r.first, r.count, [len(e.offsets)]int{}
	if r.stride != 1 {
		e.count = 0 // nobody finds it
	}
}

// own returns the plane for what passes a face that the cells of the latest run own.
func (w *recent) own(r *run, f *face) []float32 {
	w.runs[w.latest].offsets[f.pair] = f.offset
	return w.plane(w.latest, f.pair)[:r.count]
}

func (w *recent) plane(slot, pair int) []float32 {
	return w.planes[(slot*w.pairs+pair)*longest:][:longest]
}

// find returns what passes a face that the neighbours of a run own, for its cells from number from to
// before number to; none if it is not known for nearly all.
func (w *recent) find(r *run, f *face) (known []float32, from, to int) {
	if r.stride != 1 || r.count < fewCells {
		return nil, 0, 0
	}
	first := r.first + f.offset
	for slot := range w.slots {
		e := &w.runs[slot]
		from, to := max(e.first-first, 0), min(e.first+e.count-first, r.count)
		if to-from >= r.count-mostMissing && e.offsets[f.pair] == -f.offset {
			return w.plane(slot, f.pair)[first+from-e.first:][:to-from], from, to
		}
	}
	return nil, 0, 0
}

// part returns the cells of a run from number from to before number to.
func (r *run) part(from, to int) run {
	p := *r
	p.first, p.count = r.first+from*r.stride, to-from
	p.extent = (p.count-1)*p.stride + 1
	return p
}
