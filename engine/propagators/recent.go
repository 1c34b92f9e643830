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
	tasks  [2 * maxDirections]task
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

// A task is to compute what passes a face of some cells of a run.
type task struct {
	face     int  // its index in the list of the run's faces
	from, to int  // the numbers of the cells: from before to
	at       int  // the place in memory for the first of them
	known    bool // whether memory has what passes the face of the run's other cells: what leaves their neighbours
}

// plan finds what passes each face of a new run, and forgets the oldest run. It returns what is left to compute: first
// for the faces that cells of the run own, then for those that their neighbours own. For the latter, the
// caller computes what leaves the neighbours if outward is true, and else what leaves the cells of the run.
func (w *recent) plan(r *run, faces []face, outward bool) []task {
	w.latest = (w.latest + 1) % w.slots
	e := &w.runs[w.latest]
	e.first, e.count, e.offsets = r.first, r.count, [len(e.offsets)]int{}
	if r.stride != 1 {
		e.count = 0 // so no lookup finds it
	}
	n := 0
	for i := range faces {
		if f := &faces[i]; f.owner {
			e.offsets[f.pair] = f.offset
			at := w.plane(w.latest, f.pair)
			w.passed[i] = kernel.Passage{Moved: at, There: f.offset}
			w.tasks[n] = task{face: i, to: r.count, at: at}
			n++
		}
	}
	for i := range faces {
		f := &faces[i]
		if f.owner {
			continue
		}
		at, from, to, known := w.find(r, f)
		if !known {
			at = (w.slots*w.pairs+i)*planeLength + margin
		}
		w.passed[i] = kernel.Passage{Moved: at, There: f.offset, In: known || outward}
		if from > 0 {
			w.tasks[n] = task{face: i, to: from, at: at, known: known}
			n++
		}
		if to < r.count {
			w.tasks[n] = task{face: i, from: to, to: r.count, at: at + to, known: known}
			n++
		}
	}
	return w.tasks[:n]
}

// find returns where what passes a face that the neighbours of a run own is, if it is known for nearly all of
// them: for cells number from to before number to.
func (w *recent) find(r *run, f *face) (at, from, to int, known bool) {
	if r.stride != 1 || r.count < fewCells {
		return 0, 0, 0, false
	}
	for slot := range w.slots {
		e := &w.runs[slot]
		ahead := r.first + f.offset - e.first
		from, to := max(-ahead, 0), min(e.count-ahead, r.count)
		if e.offsets[f.pair] == -f.offset && from <= mostMissing && to >= r.count-mostMissing {
			return w.plane(slot, f.pair) + ahead, from, to, true
		}
	}
	return 0, 0, 0, false
}

// part returns the cells of a run from number from to before number to: the run itself, or what it makes
// of memory.
func (r *run) part(from, to int, memory *run) *run {
	if to-from == r.count {
		return r
	}
	*memory = *r
	memory.first, memory.count = r.first+from*r.stride, to-from
	memory.extent = (memory.count-1)*r.stride + 1
	return memory
}
