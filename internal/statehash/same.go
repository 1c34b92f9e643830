package statehash

import (
	"slices"

	"github.com/murksim/murksim/fields"
	"github.com/murksim/murksim/internal/kernel"
)

// SameBits reports whether two columns of one element and length hold the same bits in
// elements lo to hi, lo < hi.
func SameBits(a, b *fields.Column, lo, hi int) bool {
	switch {
	case a.Float32 != nil:
		v, w := a.Float32[lo:hi], b.Float32[lo:hi]
		return &v[0] == &w[0] || kernel.Same(v, w)
	case a.Int32 != nil:
		return same(a.Int32[lo:hi], b.Int32[lo:hi])
	case a.Fixed != nil:
		return same(a.Fixed[lo:hi], b.Fixed[lo:hi])
	}
	return same(a.Uint64[lo:hi], b.Uint64[lo:hi])
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

// isZero reports whether all bits of a column are zeros.
func isZero(c *fields.Column) bool {
	for i := range c.Len() {
		if c.Bits(i) != 0 {
			return false
		}
	}
	return true
}
