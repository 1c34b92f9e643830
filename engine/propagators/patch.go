package propagators

import (
	"math"

	"github.com/murksim/murksim/space"
)

// A layout says how a run and its neighbours lie in windows on the field. Neighbours whose windows
// overlap share one, so that each value is loaded about once for every row of the neighbourhood
// and not once for every neighbour.
type layout struct {
	pattern *space.Pattern
	stride  int
	windows [maxNear + 1]window
	count   int                 // of windows
	of      [maxNear + 1]uint8  // by neighbour: the window that holds it; the cell itself is the last
	at      [maxNear + 1]uint16 // by neighbour: where the run begins in its window
}

// A window is a stretch of the field: elements lo, lo+stride, … from the cell on, and
// spread more of them than the piece has cells.
type window struct{ lo, spread int }

const (
	maxNear   = 63 // neighbours; a count of them fits six bits; no space has more than maxDirections
	maxSpread = 64 // elements that a window may have beyond the cells of a piece
)

// A patch holds a piece of a run as bytes: the states of its cells and of their neighbours.
type patch struct {
	layout
	capacity int // bytes of a window
	cells    int // of the piece
	buf      [16 << 10]uint8
}

// fill loads the cells of a run from number from on, as many as fit, and returns their
// number. There must be at least one.
func (p *patch) fill(r *run, field []float32, from, states int) int {
	if p.layOut(r) {
		p.capacity = len(p.buf) / p.count
	}
	p.cells = min(r.count-from, p.capacity-maxSpread)
	first := r.first + from*r.stride
	for i, w := range p.windows[:p.count] {
		n := p.cells + w.spread
		lo := first + w.lo
		dst, src := p.buf[i*p.capacity:][:n], field[lo:lo+(n-1)*r.stride+1]
		loadStates(dst, src, r.stride, states)
	}
	return p.cells
}

// layOut finds the windows of a run's pattern, and reports whether they are other ones than before.
func (p *layout) layOut(r *run) bool {
	if p.pattern == r.pattern && p.stride == r.stride {
		return false
	}
	p.pattern, p.stride, p.count = r.pattern, r.stride, 0
	n := r.degree()
	for k := range n + 1 {
		p.of[k] = uint8(p.window(p.offset(k)))
	}
	for k := range n + 1 {
		p.at[k] = uint16((p.offset(k) - p.windows[p.of[k]].lo) / p.stride)
	}
	return true
}

// offset returns how far neighbour k is from a cell; the last is the cell itself.
func (p *layout) offset(k int) int {
	if k == len(p.pattern.Offsets) {
		return 0
	}
	return p.pattern.Offsets[k]
}

// window returns the number of a window that covers the offset: it extends one that is near,
// or makes a new one.
func (p *layout) window(offset int) int {
	for i := range p.count {
		w := &p.windows[i]
		if (offset-w.lo)%p.stride != 0 {
			continue
		}
		lo, hi := min(w.lo, offset), max(w.lo+w.spread*p.stride, offset)
		if spread := (hi - lo) / p.stride; spread <= maxSpread {
			w.lo, w.spread = lo, spread
			return i
		}
	}
	p.windows[p.count] = window{lo: offset}
	p.count++
	return p.count - 1
}

// near returns the bytes of neighbour k of each cell of the piece.
func (p *patch) near(k int) []uint8 {
	at := p.start(k)
	return p.buf[at : at+p.cells]
}

// start returns where in buf the bytes of neighbour k begin.
func (p *patch) start(k int) int { return int(p.of[k])*p.capacity + int(p.at[k]) }

// here returns the bytes of the cells themselves.
func (p *patch) here() []uint8 { return p.near(len(p.pattern.Offsets)) }

// loadStates writes each state below states, at most 256, as a byte, and 0 for every other
// value.
func loadStates(dst []uint8, src []float32, stride, states int) {
	if stride == 1 {
		src = src[:len(dst)]
		for i := range dst {
			dst[i] = stateOf(src[i], states)
		}
		return
	}
	for i := range dst {
		dst[i] = stateOf(src[i*stride], states)
	}
}

// stateOf returns v if it is a whole number in [0, states), else 0. Adding 2^23 leaves the
// nearest whole number in the low bits, so that no conversion can overflow.
func stateOf(v float32, states int) uint8 {
	s := math.Float32bits(v+1<<23) & 0xff
	if float32(s) != v || int(s) >= states {
		return 0
	}
	return uint8(s)
}
