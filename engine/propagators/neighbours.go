package propagators

import (
	"iter"

	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/space"
)

// A run is a piece of a span in elements of a field: first, first+stride, …, count
// of them. Pieces are short, so that several loops over one find it in the cache.
type run struct {
	first, count, stride int
	extent               int // from the first to the last, that included
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

// degree is the number of neighbours of each cell of the run.
func (r *run) degree() int { return len(r.pattern.Offsets) }

// of is the part of a field from the first element of the run to its last; every
// stride-th is the run's.
func (r *run) of(field []float32) []float32 { return r.at(field, 0) }

// neighbour is of, for neighbour k of the cells.
func (r *run) neighbour(field []float32, k int) []float32 {
	return r.at(field, r.pattern.Offsets[k]*r.components)
}

func (r *run) at(field []float32, offset int) []float32 {
	first := r.first + offset
	return field[first : first+r.extent]
}

// copy copies the run.
func (r *run) copy(dst, src []float32) { take(r.of(dst), r.of(src), r.stride) }

// sum writes to each element of the run in dst the sum of its neighbours in src: a
// left fold from -0, which leaves the first as it is. There must be a neighbour.
func (r *run) sum(dst, src []float32) {
	n := r.degree()
	out := r.of(dst)
	take(out, r.neighbour(src, 0), r.stride)
	k := 1
	for ; k+4 <= n; k += 4 {
		add4(out, r.neighbour(src, k), r.neighbour(src, k+1), r.neighbour(src, k+2), r.neighbour(src, k+3), r.stride)
	}
	switch n - k {
	case 3:
		add3(out, r.neighbour(src, k), r.neighbour(src, k+1), r.neighbour(src, k+2), r.stride)
	case 2:
		add2(out, r.neighbour(src, k), r.neighbour(src, k+1), r.stride)
	case 1:
		add1(out, r.neighbour(src, k), r.stride)
	}
}

// The kernels below work on every stride-th element of slices of one length. Where
// elements lie together they take four at a time, which is about twice as fast, and
// check bounds once for them; the strided loop does the rest and checks none, because
// an unsigned index below one length is below all.

func take(dst, a []float32, stride int) {
	if stride == 1 {
		copy(dst, a)
		return
	}
	a = a[:len(dst)]
	for i := uint(0); i < uint(len(dst)); i += uint(stride) {
		dst[i] = a[i]
	}
}

func multiply(dst []float32, factor float32, stride int) {
	for i := uint(0); i < uint(len(dst)); i += uint(stride) {
		dst[i] = float32(dst[i] * factor)
	}
}

// add1 adds one neighbour to dst, from the left.
func add1(dst, a []float32, stride int) {
	a = a[:len(dst)]
	i := 0
	if stride == 1 {
		for ; i < len(dst)-3; i += 4 {
			d, p := dst[i:i+4:i+4], a[i:i+4:i+4]
			d[0] = d[0] + p[0]
			d[1] = d[1] + p[1]
			d[2] = d[2] + p[2]
			d[3] = d[3] + p[3]
		}
	}
	for j := uint(i); j < uint(len(dst)); j += uint(stride) {
		dst[j] = dst[j] + a[j]
	}
}

// add2 adds two neighbours to dst, from the left.
func add2(dst, a, b []float32, stride int) {
	a, b = a[:len(dst)], b[:len(dst)]
	i := 0
	if stride == 1 {
		for ; i < len(dst)-3; i += 4 {
			d, p, q := dst[i:i+4:i+4], a[i:i+4:i+4], b[i:i+4:i+4]
			d[0] = d[0] + p[0] + q[0]
			d[1] = d[1] + p[1] + q[1]
			d[2] = d[2] + p[2] + q[2]
			d[3] = d[3] + p[3] + q[3]
		}
	}
	for j := uint(i); j < uint(len(dst)); j += uint(stride) {
		dst[j] = dst[j] + a[j] + b[j]
	}
}

// add3 adds three neighbours to dst, from the left.
func add3(dst, a, b, c []float32, stride int) {
	a, b, c = a[:len(dst)], b[:len(dst)], c[:len(dst)]
	i := 0
	if stride == 1 {
		for ; i < len(dst)-3; i += 4 {
			d, p, q, r := dst[i:i+4:i+4], a[i:i+4:i+4], b[i:i+4:i+4], c[i:i+4:i+4]
			d[0] = d[0] + p[0] + q[0] + r[0]
			d[1] = d[1] + p[1] + q[1] + r[1]
			d[2] = d[2] + p[2] + q[2] + r[2]
			d[3] = d[3] + p[3] + q[3] + r[3]
		}
	}
	for j := uint(i); j < uint(len(dst)); j += uint(stride) {
		dst[j] = dst[j] + a[j] + b[j] + c[j]
	}
}

// add4 adds four neighbours to dst, from the left.
func add4(dst, a, b, c, d []float32, stride int) {
	a, b, c, d = a[:len(dst)], b[:len(dst)], c[:len(dst)], d[:len(dst)]
	i := 0
	if stride == 1 {
		for ; i < len(dst)-3; i += 4 {
			d, p, q, r, s := dst[i:i+4:i+4], a[i:i+4:i+4], b[i:i+4:i+4], c[i:i+4:i+4], d[i:i+4:i+4]
			d[0] = d[0] + p[0] + q[0] + r[0] + s[0]
			d[1] = d[1] + p[1] + q[1] + r[1] + s[1]
			d[2] = d[2] + p[2] + q[2] + r[2] + s[2]
			d[3] = d[3] + p[3] + q[3] + r[3] + s[3]
		}
	}
	for j := uint(i); j < uint(len(dst)); j += uint(stride) {
		dst[j] = dst[j] + a[j] + b[j] + c[j] + d[j]
	}
}
