package propagators

import "github.com/murksim/murksim/internal/kernel"

// A crowd holds a run as bits: which of its cells and of their neighbours have the value 1, and are
// alive.
type crowd struct {
	layout
	kernel.Census
	cells  int
	widest int                                   // spread of a window
	memory [2][(maxNear + 1) * crowdWords]uint64 // a window each
	packed [2][maxNear + 1]stretch               // what is in memory
	latest int                                   // which memory
	result [longest/64 + 3]uint64
	spare  [longest + maxSpread]float32
}

// A stretch is a run of neighbouring cells in a window; none if count is 0.
type stretch struct{ first, count int }

// crowdWords hold a window, and what a census may read beyond it.
const crowdWords = (longest+maxSpread)/64 + 5

// fill loads a run. It reports whether its pattern is another one than before.
func (c *crowd) fill(r *run, field []float32) (other bool) {
	if other = c.layOut(r); other {
		c.Reset()
		for k := range r.degree() {
			c.Near(c.begin(k))
		}
		c.widest = 0
		for _, w := range c.windows[:c.count] {
			c.widest = max(c.widest, w.spread)
		}
	}
	c.cells, c.latest = r.count, 1-c.latest
	for i, w := range c.windows[:c.count] {
		n, lo := r.count+w.spread, r.first+w.lo
		if r.stride != 1 {
			c.packed[c.latest][i].count = 0
			c.pack(i, field[lo:lo+(n-1)*r.stride+1], r.stride)
		} else if !c.recall(i, lo, n) {
			n = min(r.count+c.widest, len(field)-lo) // enough for whichever window has these cells next
			c.packed[c.latest][i] = stretch{lo, n}
			c.pack(i, field[lo:lo+n], 1)
		}
	}
	return other
}

// pack packs a window.
func (c *crowd) pack(i int, src []float32, stride int) {
	n := (len(src)-1)/stride + 1
	if stride != 1 {
		kernel.Gather(c.spare[:n], src, stride)
		src = c.spare[:n]
	}
	kernel.PackOnes(c.memory[c.latest][i*crowdWords:], src)
}

// recall copies a window of neighbouring cells from those of the run before, if one of them holds it: a row is in
// three windows, one after the other. All runs of a step read the same field, so an old window is still true.
func (c *crowd) recall(i, first, count int) bool {
	old := 1 - c.latest
	for k, p := range c.packed[old][:c.count] {
		skip := first - p.first
		if skip < 0 || skip >= 64 || p.count-skip < count {
			continue
		}
		kernel.Shift(c.memory[c.latest][i*crowdWords:(i+1)*crowdWords], c.memory[old][k*crowdWords:(k+1)*crowdWords], skip)
		c.packed[c.latest][i] = stretch{first, p.count - skip}
		return true
	}
	return false
}

// begin returns the bit with which neighbour k of the run begins.
func (c *crowd) begin(k int) int { return int(c.of[k])*crowdWords*64 + int(c.at[k]) }

// near returns 1 if neighbour k of a cell of the run is alive, else 0.
func (c *crowd) near(k, cell int) float32 {
	bit := c.begin(k) + cell
	return float32(c.memory[c.latest][bit/64] >> (bit % 64) & 1)
}

// after returns which cells of the run are alive afterwards, 64 in a word; bits beyond the last cell
// are clear. The rule of the census must be set.
func (c *crowd) after() []uint64 {
	n := kernel.Words(c.cells)
	c.Count(c.result[:], c.memory[c.latest][:], c.begin(len(c.pattern.Offsets)), n)
	if rest := c.cells % 64; rest != 0 {
		c.result[n-1] &= 1<<rest - 1
	}
	return c.result[:n]
}

// next writes 1 to the cells of the run that are alive afterwards, 0 to the others.
func (c *crowd) next(r *run, dst []float32) {
	alive := c.after()
	if r.stride == 1 {
		kernel.Unpack(r.of(dst), alive)
		return
	}
	kernel.Unpack(c.spare[:c.cells], alive)
	kernel.Scatter(r.of(dst), c.spare[:c.cells], r.stride)
}
