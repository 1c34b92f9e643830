package engine

// Sweeps makes sweeps of at most depth ticks, over tiles of at least so many cells.
func (w *World) Sweeps(depth, cells int) {
	if w.sweep = (sweep{known: true}); w.local() {
		w.sweep.layOut(w, cells, cells, 0)
		w.sweep.depth = depth
		w.sweep.layLanes(w)
	}
}

// Sweepable is how many of so many ticks the next sweep may take.
func (w *World) Sweepable(ticks uint64) int { return w.sweepable(ticks) }

// Tiles is how many tiles a sweep has.
func (w *World) Tiles() int { return len(w.sweep.tiles) }

// Lanes is how many workers sweep at once.
func (w *World) Lanes() int { return len(w.sweep.lanes) }

// Ring reports whether the last tile of a sweep borders on the first.
func (w *World) Ring() bool { return w.sweep.ring }
