package rules

// index is where a column has what a term is: by cell or by slot.
func (e *evaluator) index(t *Term, at *place) int {
	switch {
	case t.Who == Living:
		return at.slot
	case e.agents == nil || t.Who == Near:
		return at.cell
	case t.Who == Here:
		return at.own
	case t.Who == Other:
		return at.other
	}
	return at.slot
}

// cellOf is the cell whose coordinate or degree a term is.
func (e *evaluator) cellOf(t *Term, at *place) int {
	switch {
	case e.agents == nil || t.Who == Near:
		return at.cell
	case t.Who == Other:
		return int(e.crowd.cells[at.other])
	}
	return at.own
}

// drawsFor is whose word a draw takes.
func (e *evaluator) drawsFor(at *place) int {
	if e.agents == nil {
		return at.cell
	}
	return at.slot
}

// countOn counts entities on a cell, without the one that asks.
func (e *evaluator) countOn(t *Term, at *place) (v value, err error) {
	cell := at.own
	if t.Who == Near {
		cell = at.cell
	}
	if t.Where == nil {
		return value{f: float64(e.standing(t, at))}, nil
	}
	w, looked := e.crowd, 0
	for slot := w.first[cell]; slot >= 0 && looked < mostLooked; slot = w.after[slot] {
		if int(slot) == at.slot || !w.is(t.Kinds, at.slot, int(slot)) {
			continue
		}
		there := *at
		there.other = int(slot)
		holds, err := e.eval(t.Where, &there)
		if err != nil {
			return v, err
		}
		looked++
		v.f += holds.f
	}
	return v, nil
}

// standing is how many entities of some kinds are on a cell, without the one that asks.
func (e *evaluator) standing(t *Term, at *place) (n int) {
	cell, w := at.own, e.crowd
	if t.Who == Near {
		cell = at.cell
	}
	switch k := &t.Kinds; {
	case k.Anyone:
		for _, count := range w.counts {
			n += int(count[cell])
		}
	case k.Kin:
		n = int(w.counts[w.kindOf(at.slot)][cell])
	default:
		for _, kind := range k.List {
			n += int(w.counts[kind][cell])
		}
	}
	if int(w.cells[at.slot]) == cell && !w.gone[at.slot] && w.is(t.Kinds, at.slot, at.slot) {
		n--
	}
	return n
}

// A crowd is who stands where, as it is while the entities act: by cell the living, by ascending id.
type crowd struct {
	ids    []uint64
	kinds  []int32
	cells  []int32
	dying  []bool
	gone   []bool    // who died, and is not seen any more
	counts [][]int32 // by kind and cell: how many there are; the last one is of those without a kind of the scenario; nil: nobody asks
	listed bool      // who they are is known, too
	first  []int32   // by cell: the slot of the oldest there; -1: nobody is
	last   []int32
	after  []int32 // by slot: who follows on the cell
	before []int32
}

// asked reports whether somebody asks who stands where.
func (w *crowd) asked() bool { return w.listed || w.counts != nil }

// stand begins with nobody.
func (w *crowd) stand(cells int) {
	for i := range w.counts {
		if w.counts[i] == nil {
			w.counts[i] = make([]int32, cells)
		}
		clear(w.counts[i])
	}
	if !w.listed {
		return
	}
	if len(w.first) != cells || len(w.after) != len(w.ids) {
		w.first, w.last = make([]int32, cells), make([]int32, cells)
		w.after, w.before = make([]int32, len(w.ids)), make([]int32, len(w.ids))
	}
	for i := range w.first {
		w.first[i], w.last[i] = -1, -1
	}
}

// kindOf is where the kind of an entity is counted: commands may give it any number.
func (w *crowd) kindOf(slot int) int {
	if kind := int(w.kinds[slot]); kind >= 0 && kind < len(w.counts)-1 {
		return kind
	}
	return len(w.counts) - 1
}

// join puts an entity into its place on its cell.
func (w *crowd) join(slot int) {
	cell := w.cells[slot]
	if w.counts != nil {
		w.counts[w.kindOf(slot)][cell]++
	}
	if !w.listed {
		return
	}
	older := w.last[cell]
	for older >= 0 && w.ids[older] > w.ids[slot] {
		older = w.before[older]
	}
	younger := w.first[cell]
	if older >= 0 {
		younger = w.after[older]
		w.after[older] = int32(slot)
	} else {
		w.first[cell] = int32(slot)
	}
	if younger >= 0 {
		w.before[younger] = int32(slot)
	} else {
		w.last[cell] = int32(slot)
	}
	w.before[slot], w.after[slot] = older, younger
}

// leave takes an entity from its cell.
func (w *crowd) leave(slot int) {
	if w.counts != nil {
		w.counts[w.kindOf(slot)][w.cells[slot]]--
	}
	if !w.listed {
		return
	}
	cell, older, younger := w.cells[slot], w.before[slot], w.after[slot]
	if older >= 0 {
		w.after[older] = younger
	} else {
		w.first[cell] = younger
	}
	if younger >= 0 {
		w.before[younger] = older
	} else {
		w.last[cell] = older
	}
}

// is reports whether an entity is of the kinds that another one looks for.
func (w *crowd) is(k Kinds, who, slot int) bool {
	if k.Anyone || k.Kin && w.kinds[slot] == w.kinds[who] {
		return true
	}
	for _, kind := range k.List {
		if int(w.kinds[slot]) == kind {
			return true
		}
	}
	return false
}
