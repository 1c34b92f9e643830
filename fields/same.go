package fields

import (
	"math"
	"slices"
)

// Same reports whether two slices of one length hold the same bits.
func Same(v, w []float32) bool { return sameBits32(v, w[:len(v)]) }

// sameBits reports whether two columns of one element and length hold the same bits in
// elements lo to hi, lo < hi.
func sameBits(a, b *Column, lo, hi int) bool {
	switch {
	case a.Float32 != nil:
		v, w := a.Float32[lo:hi], b.Float32[lo:hi]
		return &v[0] == &w[0] || sameBits32(v, w)
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
	const each = 256 // an array is compared by vector code
	for len(a) >= each && len(b) >= each {
		if *(*[each]T)(a) != *(*[each]T)(b) {
			return false
		}
		a, b = a[each:], b[each:]
	}
	return slices.Equal(a, b)
}

// sameFloat32 is the plain twin of sameVectors.
func sameFloat32(a, b []float32) bool {
	for i := range a {
		if math.Float32bits(a[i]) != math.Float32bits(b[i]) {
			return false
		}
	}
	return true
}
