package rules

import "slices"

// takeTurns puts everybody on their cells, and those that act into their order.
func (m *stage) takeTurns() {
	w := &m.crowd
	t := &m.turns
	t.order = t.order[:0]
	acts, asked := 0, w.asked() || m.Occupancy > 0
	if len(m.rule.For) == 1 {
		acts = m.rule.For[0]
	}
	for slot, id := range w.ids {
		if id == 0 || w.dying[slot] {
			continue
		}
		if asked {
			w.join(slot)
			if m.Occupancy > 0 {
				m.count[w.cells[slot]]++
			}
		}
		if kind := int(w.kinds[slot]); kind == acts && len(m.rule.For) == 1 || len(m.rule.For) > 1 && slices.Contains(m.rule.For, kind) {
			t.order = append(t.order, int32(slot))
		}
	}
	t.sortByID(w.ids)
	if m.rule.Order == Shuffled {
		t.shuffle(m)
	}
}

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
	for i, slot := range t.order {
		t.keys[i] = m.word(0, int(slot)) // of orderPlace, the first of the streams
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
