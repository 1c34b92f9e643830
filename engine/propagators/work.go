package propagators

import (
	"math/bits"

	"github.com/murksim/murksim/space"
)

// maxSteps bounds the work of a tick where it grows with a radius times cells: steps of some
// nanoseconds, in all a minute or two. A tick cannot be interrupted.
const maxSteps = 1 << 35

// ball returns how many cells there are at most within a radius of one.
func ball(l *space.Lattice, radius int) uint64 {
	n := uint64(1) // at most the product of the extents, which fits
	for _, a := range l.Axes() {
		n *= min(2*uint64(radius)+1, uint64(a.Extent))
	}
	return n
}

// across returns how many steps there are at most from a cell to another within a radius.
func across(l *space.Lattice, radius int) uint64 {
	n := uint64(0)
	for _, a := range l.Axes() {
		n += uint64(a.Extent)
	}
	return min(n, uint64(radius))
}

// product multiplies; a product that does not fit is the largest number.
func product(a, b uint64) uint64 {
	high, low := bits.Mul64(a, b)
	if high > 0 {
		return 1<<64 - 1
	}
	return low
}
