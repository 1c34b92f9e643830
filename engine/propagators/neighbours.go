package propagators

import (
	"iter"

	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/internal/kernel"
	"github.com/murksim/murksim/space"
)

// A run is a piece of a span in elements of a field: first, first+stride, …, count
// of them. It is short, so that several loops over it find it in the cache.
type run struct {
	first, count, stride int
	extent               int // from the first to the last, inclusive
	components           int
	pattern              *space.Pattern
}

const longest = 1024 // elements of a run

// runs yields runs that cover every element of the worker's cells exactly once. The
// components of a contiguous span lie together and are one run; those of others are
// a run each.
func runs(c *engine.Context, components int) iter.Seq[run] {
	return func(yield func(run) bool) {
		for _, s := range c.Spans() {
			lanes, count := components, s.Count
			if s.Stride == 1 {
				lanes, count = 1, s.Count*components
			}
			stride := s.Stride * lanes
			for k := range lanes {
				first := s.First*components + k
				for at := 0; at < count; at += longest {
					n := min(longest, count-at)
					if !yield(run{first + at*stride, n, stride, (n-1)*stride + 1, components, s.Pattern}) {
						return
					}
				}
			}
		}
	}
}

// degree returns the number of neighbours of each cell of the run.
func (r *run) degree() int { return len(r.pattern.Offsets) }

// of returns the part of a field from the first element of the run to its last; every
// stride-th belongs to the run.
func (r *run) of(field []float32) []float32 { return r.at(field, 0) }

// neighbour does what of does, for neighbour k of the cells.
func (r *run) neighbour(field []float32, k int) []float32 {
	return r.at(field, r.pattern.Offsets[k]*r.components)
}

func (r *run) at(field []float32, offset int) []float32 {
	first := r.first + offset
	return field[first : first+r.extent]
}

// plane returns a component of a field at the cells that are at an offset from those of the run, side by
// side: from the field itself, or if they are not side by side there, gathered into buffer. The run is one of
// cells.
func (r *run) plane(buffer, field []float32, offset, component, components int) []float32 {
	first, stride := (r.first+offset)*components+component, r.stride*components
	if stride == 1 {
		return field[first : first+r.count]
	}
	kernel.Gather(buffer[:r.count], field[first:], stride)
	return buffer[:r.count]
}

// copy copies the run.
func (r *run) copy(dst, src []float32) { kernel.Take(r.of(dst), r.of(src), r.stride) }

// neighbours returns those of the run's elements as a kernel takes them.
func (r *run) neighbours() kernel.Neighbours {
	return kernel.Neighbours{Offsets: r.pattern.Offsets, Scale: r.components}
}

// rows returns the run as a kernel takes it.
func (r *run) rows() kernel.Rows {
	return kernel.Rows{First: r.first, Count: r.count, Stride: r.stride, Rows: 1, Pitch: 1}
}

// lanes returns the number of sets of rows that hold the components of a band: one where
// cells are contiguous, else one for each component.
func lanes(stride, components int) int {
	if stride == 1 {
		return 1
	}
	return components
}

// rows returns the elements of one lane of one of a band's strands.
func rows(b *space.Band, components, strand, lane int) kernel.Rows {
	r := kernel.Rows{First: (b.First+strand)*components + lane, Count: b.Count, Stride: b.Stride, Rows: b.Rows, Pitch: b.Pitch * components}
	if b.Stride == 1 {
		r.Count *= components
	} else {
		r.Stride *= components
	}
	return r
}

// whole returns the elements of all strands of a band.
func whole(b *space.Band, components int) kernel.Rows {
	return kernel.Rows{
		First: b.First * components, Count: b.Count * len(b.Patterns) * components, Stride: 1,
		Rows: b.Rows, Pitch: b.Pitch * components,
	}
}

// strips yields all elements of the worker's cells, row by row, with their neighbours. A cell
// without neighbours is its own and only one.
func strips(c *engine.Context, components int) iter.Seq2[kernel.Rows, kernel.Neighbours] {
	return func(yield func(kernel.Rows, kernel.Neighbours) bool) {
		bands := c.Bands()
		for i := range bands {
			b := &bands[i]
			for strand, p := range b.Patterns {
				n := kernel.Neighbours{Offsets: p.Offsets, Scale: components}
				if len(n.Offsets) == 0 {
					n.Offsets = itself
				}
				for lane := range lanes(b.Stride, components) {
					if !yield(rows(b, components, strand, lane), n) {
						return
					}
				}
			}
		}
	}
}

var itself = []int{0}
