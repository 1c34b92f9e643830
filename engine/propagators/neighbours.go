package propagators

import (
	"iter"
	"math"

	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/space"
)

// A run is a piece of a span in elements of a field: first, first+stride, …, count
// of them. Pieces are short, so that several loops over one find it in the cache.
type run struct {
	first, count, stride int
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
					if !yield(run{first + at*stride, min(longest, count-at), stride, components, s.Pattern}) {
						return
					}
				}
			}
		}
	}
}

// degree is the number of neighbours of each cell of the run.
func (r *run) degree() int { return len(r.pattern.Offsets) }

// of is the part of a field that the run covers. The run must be contiguous.
func (r *run) of(field []float32) []float32 { return field[r.first : r.first+r.count] }

// neighbour is of, for neighbour k of the cells.
func (r *run) neighbour(field []float32, k int) []float32 {
	at := r.first + r.pattern.Offsets[k]*r.components
	return field[at : at+r.count]
}

// copy copies the run.
func (r *run) copy(dst, src []float32) {
	if r.stride == 1 {
		copy(r.of(dst), r.of(src))
		return
	}
	for i, e := 0, r.first; i < r.count; i, e = i+1, e+r.stride {
		dst[e] = src[e]
	}
}

// sum writes to each element of the run in dst the sum of its neighbours in src: a
// left fold from -0, which leaves the first as it is.
func (r *run) sum(dst, src []float32) {
	if r.stride != 1 {
		r.sumApart(dst, src)
		return
	}
	n := r.degree()
	out := r.of(dst)
	if n == 0 {
		fill(out, negativeZero)
		return
	}
	copy(out, r.neighbour(src, 0))
	k := 1
	for ; k+4 <= n; k += 4 {
		add4(out, r.neighbour(src, k), r.neighbour(src, k+1), r.neighbour(src, k+2), r.neighbour(src, k+3))
	}
	switch n - k {
	case 3:
		add3(out, r.neighbour(src, k), r.neighbour(src, k+1), r.neighbour(src, k+2))
	case 2:
		add2(out, r.neighbour(src, k), r.neighbour(src, k+1))
	case 1:
		add1(out, r.neighbour(src, k))
	}
}

var negativeZero = float32(math.Copysign(0, -1))

// sumApart is sum in its plainest form, element by element, for any stride.
func (r *run) sumApart(dst, src []float32) {
	for i, e := 0, r.first; i < r.count; i, e = i+1, e+r.stride {
		s := negativeZero
		for _, o := range r.pattern.Offsets {
			s += src[e+o*r.components]
		}
		dst[e] = s
	}
}

func fill(dst []float32, v float32) {
	for i := range dst {
		dst[i] = v
	}
}

// add1 to add4 add one to four neighbours to dst, from the left.

func add1(dst, a []float32) {
	a = a[:len(dst)]
	for i := range dst {
		dst[i] += a[i]
	}
}

func add2(dst, a, b []float32) {
	a, b = a[:len(dst)], b[:len(dst)]
	for i := range dst {
		dst[i] = dst[i] + a[i] + b[i]
	}
}

func add3(dst, a, b, c []float32) {
	a, b, c = a[:len(dst)], b[:len(dst)], c[:len(dst)]
	for i := range dst {
		dst[i] = dst[i] + a[i] + b[i] + c[i]
	}
}

func add4(dst, a, b, c, d []float32) {
	a, b, c, d = a[:len(dst)], b[:len(dst)], c[:len(dst)], d[:len(dst)]
	for i := range dst {
		dst[i] = dst[i] + a[i] + b[i] + c[i] + d[i]
	}
}
