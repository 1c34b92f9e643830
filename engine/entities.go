package engine

import (
	"math/bits"

	"github.com/google/btree"

	"github.com/murksim/murksim/internal/store"
)

// entities holds the indexes of the population: id → slot and cell → slots. They
// follow the current columns and can always be rebuilt from them.
type entities struct {
	store    *store.Store
	cols     columns
	cells    int // of the space
	capacity int
	live     int
	gaps     gaps
	spawned  int // in this tick

	byID    *btree.BTreeG[idSlot]
	byCell  *btree.BTreeG[place]
	idStale bool // byID, live and gaps must be rebuilt
	atStale bool // byCell must be rebuilt
	crowd   crowd
}

// A crowd is the index by cell for use after many moves: byCell follows single changes,
// a crowd is rebuilt as a whole, about ten times as fast as byCell.
type crowd struct {
	stale bool
	first []int32 // by cell, and one more: where its slots begin
	slots []int32 // by cell, then ascending
}

// build sorts the slots by cell, counting them first.
func (c *crowd) build(at []int32, cells int) {
	c.stale = false
	if c.first == nil {
		c.first, c.slots = make([]int32, cells+1), make([]int32, len(at))
	}
	clear(c.first)
	for _, cell := range at {
		if cell >= 0 {
			c.first[cell+1]++
		}
	}
	for i := range cells {
		c.first[i+1] += c.first[i]
	}
	for slot, cell := range at {
		if cell >= 0 {
			c.slots[c.first[cell]] = int32(slot)
			c.first[cell]++
		}
	}
	copy(c.first[1:], c.first[:cells]) // each has advanced to where the next begins
	c.first[0] = 0
}

// gaps are the free slots: a bit for each, and a bit for each 64 of them that says whether one of these is free.
type gaps struct{ slots, groups []uint64 }

func (g *gaps) init(capacity int) {
	words := (capacity + 63) / 64
	g.slots, g.groups = make([]uint64, words), make([]uint64, (words+63)/64)
}

func (g *gaps) clear() {
	clear(g.slots)
	clear(g.groups)
}

func (g *gaps) add(slot int) {
	g.slots[slot/64] |= 1 << (slot % 64)
	g.groups[slot/4096] |= 1 << (slot / 64 % 64)
}

func (g *gaps) remove(slot int) {
	if g.slots[slot/64] &^= 1 << (slot % 64); g.slots[slot/64] == 0 {
		g.groups[slot/4096] &^= 1 << (slot / 64 % 64)
	}
}

// first returns the lowest free slot.
func (g *gaps) first() (slot int, ok bool) {
	for i, group := range g.groups {
		if group != 0 {
			word := 64*i + bits.TrailingZeros64(group)
			return 64*word + bits.TrailingZeros64(g.slots[word]), true
		}
	}
	return 0, false
}

type idSlot struct {
	id   uint64
	slot int32
}

// A place is a cell and, in the low word, the slot of an entity there.
type place uint64

func placeOf(cell, slot int32) place { return place(cell)<<32 | place(slot) }

const maxSpawns = 1<<20 - 1 // in one tick, by the layout of ids

func newEntities(store *store.Store, cols columns, cells, capacity int) *entities {
	const degree = 32
	freeNodes := capacity/16 + 16 // as many as a full tree has, so that a steady state allocates nothing
	e := &entities{
		store: store, cols: cols, cells: cells, capacity: capacity, idStale: true,
		byID:   btree.NewWithFreeListG(degree, func(a, b idSlot) bool { return a.id < b.id }, btree.NewFreeListG[idSlot](freeNodes)),
		byCell: btree.NewWithFreeListG(degree, func(a, b place) bool { return a < b }, btree.NewFreeListG[place](freeNodes)),
	}
	e.gaps.init(capacity)
	return e
}

// stale marks the index by cell for rebuilding, and that by id if ids says so, after the
// columns changed without them.
func (e *entities) stale(ids bool) {
	e.atStale, e.crowd.stale = true, true
	e.idStale = e.idStale || ids
}

// refresh rebuilds id → slot if it is stale.
func (e *entities) refresh() {
	if !e.idStale || e.capacity == 0 {
		return
	}
	e.idStale = false
	e.byID.Clear(true)
	e.live = 0
	e.gaps.clear()
	for slot, id := range e.store.Current(e.cols.id).Uint64 {
		if id == 0 {
			e.gaps.add(slot)
			continue
		}
		e.live++
		e.byID.ReplaceOrInsert(idSlot{id, int32(slot)})
	}
}

func (e *entities) slot(id uint64) (int, bool) {
	if e.capacity == 0 || id == 0 {
		return 0, false
	}
	e.refresh()
	s, ok := e.byID.Get(idSlot{id: id})
	return int(s.slot), ok
}

// gap returns the lowest free slot.
func (e *entities) gap() (int, bool) {
	if e.capacity == 0 {
		return 0, false
	}
	e.refresh()
	return e.gaps.first()
}

// refreshAt rebuilds cell → slots if it is stale.
func (e *entities) refreshAt() {
	if !e.atStale {
		return
	}
	e.atStale = false
	e.byCell.Clear(true)
	for slot, at := range e.store.Current(e.cols.cell).Int32 {
		if at >= 0 {
			e.byCell.ReplaceOrInsert(placeOf(at, int32(slot)))
		}
	}
}

// countAt counts the entities on a cell, up to a limit.
func (e *entities) countAt(cell, limit int) (n int) {
	e.refreshAt()
	e.byCell.AscendGreaterOrEqual(placeOf(int32(cell), 0), func(p place) bool {
		if int(p>>32) == cell {
			n++
		}
		return int(p>>32) == cell && n < limit
	})
	return n
}

func (e *entities) appendAt(dst []int32, cell int) []int32 {
	if e.capacity == 0 || cell < 0 || cell >= e.cells {
		return dst
	}
	if e.atStale {
		if e.crowd.stale {
			e.crowd.build(e.store.Current(e.cols.cell).Int32, e.cells)
		}
		return append(dst, e.crowd.slots[e.crowd.first[cell]:e.crowd.first[cell+1]]...)
	}
	e.byCell.AscendGreaterOrEqual(placeOf(int32(cell), 0), func(p place) bool {
		if int(p>>32) != cell {
			return false
		}
		dst = append(dst, int32(uint32(p)))
		return true
	})
	return dst
}

// add adds an entity that has just been written into a free slot.
func (e *entities) add(slot int, id uint64, cell int) {
	e.live++
	e.spawned++
	e.gaps.remove(slot)
	e.byID.ReplaceOrInsert(idSlot{id, int32(slot)})
	e.crowd.stale = true
	if !e.atStale {
		e.byCell.ReplaceOrInsert(placeOf(int32(cell), int32(slot)))
	}
}

// move records that an entity has moved to another cell.
func (e *entities) move(slot int, from, to int32) {
	e.crowd.stale = true
	if !e.atStale {
		e.byCell.Delete(placeOf(from, int32(slot)))
		e.byCell.ReplaceOrInsert(placeOf(to, int32(slot)))
	}
}

// remove records that an entity is gone from a slot.
func (e *entities) remove(slot int, id uint64, cell int32) {
	e.live--
	e.gaps.add(slot)
	e.byID.Delete(idSlot{id: id})
	e.crowd.stale = true
	if !e.atStale {
		e.byCell.Delete(placeOf(cell, int32(slot)))
	}
}
