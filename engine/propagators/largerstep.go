package propagators

import (
	"math"
	"time"

	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/internal/kernel"
	"github.com/murksim/murksim/space"
)

// cost returns how long a thousand cells take.
func (g *Larger) cost() time.Duration {
	if g.Shape == Moore {
		return 14 * time.Microsecond
	}
	return time.Duration(2*g.Range+1) * 6 * time.Microsecond
}

// largerBlock is how many columns are counted at a time.
const largerBlock = 1024

// A census counts live cells around those of a block of columns. Window is as wide as the block and the range on both sides: of a
// Moore rule it has in each column the live cells of the rows within the range of the current one, else those of one row.
type census struct {
	g      *Larger
	layout space.Layout
	prev   []float32
	lo, hi int // the columns
	widths shapeWidths
	window [largerBlock + 2*largestRange + 1]int32
	count  [largerBlock]int32
}

// step computes a tick: a block of columns after another, from the top.
func (g *Larger) step(c *engine.Context, prev, next []float32) {
	n := census{g: g, prev: prev}
	n.layout, _ = plane(c.Lattice())
	first, end := c.Range()
	g.widths(&n.widths)
	cols := n.layout.Cols
	for n.lo = 0; n.lo < cols; n.lo = n.hi {
		n.hi = min(n.lo+largerBlock, cols)
		started := false
		for row := first / cols; row*cols < end; row++ {
			lo, hi := max(first-row*cols, n.lo), min(end-row*cols, n.hi) // of this row
			if lo >= hi {
				continue
			}
			n.counts(row, started)
			started = true
			from, to := row*cols+lo, row*cols+hi
			g.become(next[from:to], prev[from:to], n.count[lo-n.lo:hi-n.lo])
		}
	}
}

// counts counts around the cells of a row. If it goes on, the counts of the row above have been made last.
func (n *census) counts(row int, goesOn bool) {
	r, wide := n.g.Range, n.hi-n.lo
	if n.g.Shape != Moore {
		clear(n.count[:wide])
		for by := -r; by <= r; by++ {
			w := int(n.widths[max(by, -by)])
			window := n.window[:wide+2*w]
			clear(window)
			if n.addRow(row+by, w, 1) {
				slide(n.count[:wide], window, 2*w+1)
			}
		}
		return
	}
	if goesOn {
		n.addRow(row-1-r, r, -1)
		n.addRow(row+r, r, 1)
	} else {
		clear(n.window[:wide+2*r])
		for by := -r; by <= r; by++ {
			n.addRow(row+by, r, 1)
		}
	}
	clear(n.count[:wide])
	slide(n.count[:wide], n.window[:wide+2*r], 2*r+1)
}

// slide adds to each count the sum of as many elements of the window, from the same place on.
func slide(count, window []int32, width int) {
	sum := int32(0)
	for _, v := range window[:width-1] {
		sum += v
	}
	leave, enter := window[:len(count)], window[width-1:][:len(count)]
	for i := range count {
		sum += enter[i]
		count[i] += sum
		sum -= leave[i]
	}
}

// addRow adds a number to the window where a row has live cells, from so many columns before the block to as many behind it. It
// reports whether there is such a row.
func (n *census) addRow(row, beyond int, by int32) bool {
	rows, cols := n.layout.Rows, n.layout.Cols
	switch {
	case row >= 0 && row < rows:
	case n.layout.Edge == space.Absorb:
		return false
	case n.layout.Edge == space.Clamp:
		row = min(max(row, 0), rows-1)
	default:
		row = around(row, rows)
	}
	cells := n.prev[row*cols:][:cols]
	window := n.window[:n.hi-n.lo+2*beyond]
	before, behind := max(beyond-n.lo, 0), max(n.hi+beyond-cols, 0) // beyond the edges
	if n.layout.Edge == space.Wrap {
		for at := around(n.lo-beyond, cols); len(window) > 0; at = 0 {
			part := cells[at:min(cols, at+len(window))]
			addAlive(window, part, by)
			window = window[len(part):]
		}
		return true
	}
	from, to := n.lo-beyond+before, n.hi+beyond-behind
	addAlive(window[before:], cells[from:to], by)
	if n.layout.Edge == space.Clamp {
		addOf(window[:before], cells[0], by)
		addOf(window[len(window)-behind:], cells[cols-1], by)
	}
	return true
}

// around returns the place of i on an axis that wraps.
func around(i, n int) int {
	if i %= n; i < 0 {
		i += n
	}
	return i
}

// addAlive adds a number where a cell is alive.
func addAlive(window []int32, cells []float32, by int32) {
	window = window[:len(cells)]
	for i, v := range cells {
		window[i] += by & -alive(v)
	}
}

// addOf adds a number everywhere if a cell is alive.
func addOf(window []int32, cell float32, by int32) {
	by &= -alive(cell)
	for i := range window {
		window[i] += by
	}
}

// alive returns 1 for the value 1, else 0, without a branch: live cells are hard to foresee.
func alive(v float32) int32 {
	const one = 0x3f800000 // the bits of 1
	return int32((uint64(math.Float32bits(v)^one) - 1) >> 63)
}

// become makes the next states of cells, given how many are alive around each, itself among them.
func (g *Larger) become(next, prev []float32, count []int32) {
	prev, count = prev[:len(next)], count[:len(next)]
	self := int32(1)
	if g.Self {
		self = 0
	}
	if len(g.Born) <= 1 && len(g.Survive) <= 1 {
		var lo, span [2]uint32
		lo[0], span[0] = bounds(g.Born)
		lo[1], span[1] = bounds(g.Survive)
		result := [2]float32{0, 1}
		for i, v := range prev {
			a := alive(v)
			n := uint32(count[i] - a&self)
			in := (uint64(n-lo[a&1]) - uint64(span[a&1]) - 1) >> 63
			next[i] = result[in&1]
		}
	} else {
		for i, v := range prev {
			a, list := alive(v), g.Born
			if a != 0 {
				list = g.Survive
			}
			if next[i] = 0; among(list, int(count[i]-a&self)) {
				next[i] = 1
			}
		}
	}
	if g.States > 2 {
		kernel.Age(next, prev, g.States)
	}
}

// bounds returns where the only interval of a list begins, and how long it is but for one; without any, one that no count is in.
func bounds(list []Interval) (lo, span uint32) {
	if len(list) == 0 {
		return 1 << 31, 0
	}
	return uint32(list[0].Lo), uint32(list[0].Hi - list[0].Lo)
}

// among reports whether a number is in one of the intervals.
func among(list []Interval, n int) bool {
	i, j := 0, len(list)
	for i < j {
		if h := (i + j) / 2; list[h].Hi < n {
			i = h + 1
		} else {
			j = h
		}
	}
	return i < len(list) && list[i].Lo <= n
}
