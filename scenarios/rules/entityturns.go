package rules

import (
	"math"
	"slices"
)

// takeTurns puts everybody on their cells, and those that act into their order.
func (m *stage) takeTurns() {
	w, t := &m.crowd, &m.turns
	t.order = t.order[:0]
	if w.asked() || m.Occupancy > 0 {
		m.gather()
	} else {
		first, several := int32(m.rule.For[0]), len(m.rule.For) > 1
		for slot, kind := range w.kinds { // mostly of others
			if (kind == first || several && m.acts(kind)) && w.ids[slot] != 0 && !w.dying[slot] {
				t.order = append(t.order, int32(slot))
			}
		}
		t.sortByID(w.ids)
	}
	if m.rule.Order == Shuffled {
		t.shuffle(m)
	}
}

// gather puts everybody on their cells, the oldest first, so that each is the last there, and leaves in order those that act.
func (m *stage) gather() {
	w, t := &m.crowd, &m.turns
	for slot, id := range w.ids {
		if id != 0 && !w.dying[slot] {
			t.order = append(t.order, int32(slot))
		}
	}
	t.sortByID(w.ids)
	n := 0
	for _, slot := range t.order {
		w.join(int(slot))
		if m.Occupancy > 0 {
			m.count[w.cells[slot]]++
		}
		if m.acts(w.kinds[slot]) {
			t.order[n] = slot
			n++
		}
	}
	t.order, t.keys = t.order[:n], t.keys[:n]
}

// acts reports whether entities of a kind act.
func (m *stage) acts(kind int32) bool { return slices.Contains(m.rule.For, int(kind)) }

// turns are the slots of those that act, in their order.
type turns struct {
	order, to []int32
	keys      []uint32 // of those in order
	keysTo    []uint32
}

// sortByID sorts by the ids, which differ: by their low halves, then by their high ones.
func (t *turns) sortByID(ids []uint64) {
	n := len(t.order)
	t.to, t.keys, t.keysTo = slices.Grow(t.to[:0], n)[:n], slices.Grow(t.keys[:0], n)[:n], slices.Grow(t.keysTo[:0], n)[:n]
	sorted := true
	for i := 1; i < n && sorted; i++ {
		sorted = ids[t.order[i-1]] < ids[t.order[i]]
	}
	if sorted { // nobody was born into the place of another one
		return
	}
	for _, shift := range []int{0, 32} {
		for i, slot := range t.order {
			t.keys[i] = uint32(ids[slot] >> shift)
		}
		t.sort()
	}
}

// shuffle sorts by words that are drawn. They are in the order of their ids, and those whose words are equal stay so.
func (t *turns) shuffle(m *stage) {
	for i := 0; i < len(t.order); i += atOnce {
		m.bulks[0].FillEach(t.keys[i:min(i+atOnce, len(t.order))], m.idsOf(t.order[i:])) // of orderPlace, the first of the streams
	}
	t.sort()
}

// sort sorts by the keys; equal ones keep their order. It sorts by digits, the last one first, and leaves out those that all have in common.
func (t *turns) sort() {
	const digit, digits = 11, 1 << 11
	differ := uint32(0)
	for _, k := range t.keys {
		differ |= k ^ t.keys[0]
	}
	t.to, t.keysTo = t.to[:len(t.keys)], t.keysTo[:len(t.keys)]
	for shift := 0; shift < 32; shift += digit {
		if differ>>shift&(digits-1) == 0 {
			continue
		}
		var places [digits]int32
		for _, k := range t.keys {
			places[k>>shift&(digits-1)]++
		}
		sum := int32(0)
		for i, n := range places {
			places[i] = sum
			sum += n
		}
		for i, k := range t.keys {
			p := &places[k>>shift&(digits-1)]
			t.to[*p], t.keysTo[*p] = t.order[i], k
			*p++
		}
		t.order, t.to, t.keys, t.keysTo = t.to, t.order, t.keysTo, t.keys
	}
}

// atOnce is how many turns are made ready at once.
const atOnce = 96

// A ready is what was fetched for some turns before they come. Words of random numbers, made side by side, take a fifth of the time (BenchmarkFillEach of package rng), and memory that is not at hand
// is waited for once and not again and again.
type ready struct {
	ids    [atOnce]uint64
	drawn  [][]uint32 // by stream: the words of the turns; nil: they are drawn when they are needed
	warmed uint32     // of what was read, so that it is read
}

// idsOf are the ids of the next turns, until the next call.
func (m *stage) idsOf(slots []int32) []uint64 {
	slots = slots[:min(len(slots), atOnce)]
	for i, slot := range slots {
		m.ready.ids[i] = m.crowd.ids[slot]
	}
	return m.ready.ids[:len(slots)]
}

// prepare makes turns ready.
func (m *stage) prepare(slots []int32) {
	ids, r := m.idsOf(slots), &m.ready
	for i := range m.streams {
		if m.sure[i] {
			if r.drawn == nil {
				r.drawn = make([][]uint32, len(m.streams))
			}
			if r.drawn[i] == nil {
				r.drawn[i] = make([]uint32, atOnce)
			}
			m.bulks[i].FillEach(r.drawn[i][:len(ids)], ids)
		}
	}
	for i := range m.warm {
		column, n := m.state.Now[i], max(1, m.scope.Fields[i].N)
		switch {
		case !m.warm[i]:
		case m.scope.Fields[i].Attribute:
			for _, slot := range slots {
				r.warmed |= math.Float32bits(column[int(slot)*n])
			}
		default:
			for _, slot := range slots {
				r.warmed |= math.Float32bits(column[int(m.crowd.cells[slot])*n])
			}
		}
	}
}

// drawnSurely reports for each stream whether every entity that acts draws from it, or nearly every one.
func (a *Agents) drawnSurely(s *Scope, streams []stream) []bool {
	sure := make([]bool, len(streams))
	mark := func(place string, is bool) {
		for i := range streams {
			sure[i] = sure[i] || is && streams[i].place == place
		}
	}
	for i := range a.items {
		x := &a.items[i]
		mark(x.Name+".when", x.With == nil)
		mark(x.Name+".chance", x.With == nil && x.When == nil)
		always := x.With == nil && x.When == nil && x.Chance == nil
		mark(x.Name+".move", always)
		for k := range x.Set {
			mark(x.Name+".set."+s.target(&x.Set[k]), always && x.Move == nil)
		}
	}
	return sure
}
