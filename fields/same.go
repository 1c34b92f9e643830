package fields

import (
	"slices"

	"github.com/murksim/murksim/internal/kernel"
)

// SameBits reports whether two columns of one element and length hold the same bits in
// elements lo to hi, lo < hi.
func (c *Column) SameBits(other *Column, lo, hi int) bool {
	switch {
	case c.Float32 != nil:
		v, w := c.Float32[lo:hi], other.Float32[lo:hi]
		return &v[0] == &w[0] || kernel.Same(v, w)
	case c.Int32 != nil:
		return same(c.Int32[lo:hi], other.Int32[lo:hi])
	case c.Fixed != nil:
		return same(c.Fixed[lo:hi], other.Fixed[lo:hi])
	}
	return same(c.Uint64[lo:hi], other.Uint64[lo:hi])
}

func same[T int32 | int64 | uint64](a, b []T) bool {
	if &a[0] == &b[0] {
		return true
	}
	const step = 64 // the compiler compares arrays with vector code
	for len(a) >= step && len(b) >= step {
		if *(*[step]T)(a) != *(*[step]T)(b) {
			return false
		}
		a, b = a[step:], b[step:]
	}
	return slices.Equal(a, b)
}
