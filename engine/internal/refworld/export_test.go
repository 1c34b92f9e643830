package refworld

import (
	"slices"

	"github.com/murksim/murksim/space"
)

// Faults that tests plant, to see that they are noticed.

// ReverseMoves turns the order of every cell's neighbours round.
func (w *World) ReverseMoves() {
	for _, c := range w.grid.cells {
		slices.Reverse(w.grid.moves[c])
	}
}

// ReverseQueue makes commands arrive in the opposite order.
func (w *World) ReverseQueue() { slices.Reverse(w.queue) }

// SkipArrival loses an arrival number.
func (w *World) SkipArrival() { w.state.arrival++ }

// DropEvent forgets the last event that waits.
func (w *World) DropEvent() {
	if n := len(w.state.events); n > 0 {
		w.state.events = w.state.events[:n-1]
	}
}

// Topology gives the cells of a space in canonical order and the ranks of their
// neighbours in contract order.
func Topology(s space.Space) (cells []space.Coord, neighbours [][]int) {
	g := newGrid(s)
	for _, c := range g.cells {
		ranks := []int{}
		for _, m := range g.moves[c] {
			ranks = append(ranks, g.rank[m.To])
		}
		neighbours = append(neighbours, ranks)
	}
	return g.cells, neighbours
}
