package propagators

import (
	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/fields"
	"github.com/murksim/murksim/internal/kernel"
	"github.com/murksim/murksim/space"
)

const together = 1024 // elements of short rows that are compared at once

// wide reports whether a band has long rows, which reportBand compares one by one, and so nothing
// that is not of the band.
func wide(b *space.Band, components int) bool {
	const long = 256 // elements
	return b.Pitch*components >= together && b.Count*len(b.Patterns)*components >= long
}

// reportBand reports to the world which elements of a band of an output have changed. The
// caller calls it while the band is in the cache.
func reportBand(c *engine.Context, id fields.ID, b *space.Band, next, prev []float32, components int) {
	strands := len(b.Patterns)
	if b.Stride > 4*strands { // as where a column is an edge
		for row := range b.Rows {
			for i := range b.Count {
				lo := (b.First + row*b.Pitch + i*b.Stride) * components
				reportRange(c, id, next, prev, lo, lo+strands*components)
			}
		}
		return
	}
	extent := ((b.Count-1)*b.Stride + strands) * components
	first, pitch := b.First*components, b.Pitch*components
	each := max(1, together/pitch)
	for row := 0; row < b.Rows; row += each {
		last := min(row+each, b.Rows) - 1
		reportRange(c, id, next, prev, first+row*pitch, first+last*pitch+extent)
	}
}

func reportRange(c *engine.Context, id fields.ID, next, prev []float32, lo, hi int) {
	if !kernel.Same(next[lo:hi], prev[lo:hi]) {
		c.Changed(id, lo, hi)
	}
}
