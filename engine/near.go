package engine

import (
	"cmp"
	"slices"

	"github.com/murksim/murksim/space"
)

// AppendIn appends the slots of the entities that stood on a region's cells at the
// start of the tick, commands applied: cell by cell as the plan lists them, those on
// one cell in slot order.
func (c *SystemContext) AppendIn(dst []int32, region *space.Plan) []int32 {
	return c.world().AppendIn(dst, region)
}

// AppendNearest appends the slots of the entities nearest to a cell at the start of
// the tick, commands applied: at most limit of them, at most radius steps away from
// neighbour to neighbour, nearer ones first, equally near ones by ascending id. Only
// entities for which want returns true count; nil means all. It appends nothing for a cell
// outside the space or a radius below 0.
func (c *SystemContext) AppendNearest(dst []int32, cell, radius, limit int, want func(slot int32) bool) []int32 {
	return c.world().AppendNearest(dst, cell, radius, limit, want)
}

// near is the memory of searches outward from a cell.
type near struct {
	round   uint32
	seen    []uint32 // by cell: the round in which it was met last
	ring    []int32  // cells at the current distance
	outside []int32  // those one step further
}

func (n *near) appendNearest(w *World, dst []int32, cell, radius, limit int, want func(slot int32) bool) []int32 {
	own := *n
	*n = near{} // for a search by want
	dst = own.search(w, dst, cell, radius, limit, want)
	*n = own
	return dst
}

func (n *near) search(w *World, dst []int32, cell, radius, limit int, want func(slot int32) bool) []int32 {
	if w.entities.capacity == 0 || limit <= 0 || radius < 0 || cell < 0 || cell >= w.lattice.Cells() {
		return dst
	}
	if n.seen == nil {
		n.seen = make([]uint32, w.lattice.Cells())
	}
	if n.round++; n.round == 0 { // 2^32 searches: old marks would count again
		clear(n.seen)
		n.round = 1
	}
	ids := w.store.Current(w.cols.id).Uint64
	full := len(dst) + min(limit, w.entities.capacity)
	n.ring, n.seen[cell] = append(n.ring[:0], int32(cell)), n.round
	for step := 0; len(n.ring) > 0; step++ {
		first := len(dst)
		for _, at := range n.ring {
			dst = w.entities.appendAt(dst, int(at))
		}
		if want != nil {
			dst = keep(dst, first, want)
		}
		//detcheck:allow sort ids are unique
		slices.SortFunc(dst[first:], func(a, b int32) int { return cmp.Compare(ids[a], ids[b]) })
		if len(dst) >= full {
			return dst[:full]
		}
		if step == radius {
			return dst
		}
		n.grow(w.lattice)
	}
	return dst
}

// keep drops the slots of dst[first:] for which want returns false.
func keep(dst []int32, first int, want func(slot int32) bool) []int32 {
	kept := dst[:first]
	for _, slot := range dst[first:] {
		if want(slot) {
			kept = append(kept, slot)
		}
	}
	return kept
}

// grow moves the ring one step outward.
func (n *near) grow(l *space.Lattice) {
	var room [64]int32
	n.outside = n.outside[:0]
	for _, at := range n.ring {
		for _, to := range l.AppendNeighbours(room[:0], int(at)) {
			if n.seen[to] != n.round {
				n.seen[to] = n.round
				n.outside = append(n.outside, to)
			}
		}
	}
	n.ring, n.outside = n.outside, n.ring
}
