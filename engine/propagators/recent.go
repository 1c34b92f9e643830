package propagators

import "github.com/murksim/murksim/internal/kernel"

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
	memory []float32                     // by slot and pair, planeLength elements each, and then one for each direction
	passed [maxDirections]kernel.Passage // by face of the latest run
}

const (
	mostRecent   = 8   // runs
	recentPlanes = 16  // that the cache should hold
	fewCells     = 256 // so few are computed again faster than they are found
	mostMissing  = 2   // cells at the ends of a run that may be computed again
	margin       = 8   // elements before a plane and after it, for those
	planeLength  = longest + 2*margin
)

// recentRuns returns how many runs are kept.
func recentRuns(pairs int) int { return min(max(recentPlanes/max(pairs, 1), 2), mostRecent) }

// recentScratch returns how much scratch memory recent takes.
func recentScratch(f *faces) int { return (recentRuns(f.pairs)*f.pairs + f.n) * planeLength }

// layOut takes the memory.
func (w *recent) layOut(pairs int, memory []float32) {
	w.pairs, w.slots, w.memory = pairs, recentRuns(pairs), memory
}

// plane returns where what passes a face of the cells of a run begins in memory.
func (w *recent) plane(slot, pair int) int { return (slot*w.pairs+pair)*planeLength + margin }

// begin takes the place of the oldest run for a new one.
func (w *recent) begin(r *run) {
	w.latest = (w.latest + 1) % w.slots
	e := &w.runs[w.latest]
	e.first, e.count, e.offsets = r.first, r.count, [len(e.offsets)]int{}
	if r.stride != 1 {
		e.count = 0 // nobody finds it
	}
}

// own returns where to write what passes face number i, which the cells of the run own.
func (w *recent) own(r *run, f *face, i int) []float32 {
	w.runs[w.latest].offsets[f.pair] = f.offset
	at := w.plane(w.latest, f.pair)
	w.passed[i] = kernel.Passage{Moved: at, There: f.offset}
	return w.memory[at : at+r.count]
}

// others returns what passes face number i, which the neighbours of the run own, if it is known for nearly
// all of them: for cells number from to to. Else it returns where to write it, and from and to are 0. What is not known is to
// be written as the owners count it, outward, if inward is true, else as the cells do.
func (w *recent) others(r *run, f *face, i int, inward bool) (plane []float32, from, to int) {
	for slot := range w.slots {
		e := &w.runs[slot]
		ahead := r.first + f.offset - e.first
		from, to := max(-ahead, 0), min(e.count-ahead, r.count)
		if r.stride == 1 && r.count >= fewCells && e.offsets[f.pair] == -f.offset && from <= mostMissing && to >= r.count-mostMissing {
			at := w.plane(slot, f.pair) + ahead
			w.passed[i] = kernel.Passage{Moved: at, There: f.offset, In: true}
			return w.memory[at : at+r.count], from, to
		}
	}
	at := (w.slots*w.pairs+i)*planeLength + margin
	w.passed[i] = kernel.Passage{Moved: at, There: f.offset, In: inward}
	return w.memory[at : at+r.count], 0, 0
}

// part returns the cells of a run from number from to before number to.
func (r *run) part(from, to int) run {
	p := *r
	p.first, p.count = r.first+from*r.stride, to-from
	p.extent = (p.count-1)*p.stride + 1
	return p
}
