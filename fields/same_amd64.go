package fields

import "github.com/murksim/murksim/internal/kernel"

// sameVectors is sameFloat32 for n elements, a multiple of 16 and not 0. The Go compiler
// turns the comparison of integers into vector code by itself, but not that of the bits
// of float32.
//
//go:noescape
//detcheck:allow foreign it has a plain twin with the same results
func sameVectors(a, b *float32, n int) bool

// sameBits32 reports whether two slices of one length hold the same bits.
func sameBits32(a, b []float32) bool {
	n := len(a) &^ 15
	if !kernel.Vectors() {
		n = 0
	}
	if n > 0 && !sameVectors(&a[0], &b[:n][0], n) {
		return false
	}
	return sameFloat32(a[n:], b[n:])
}
