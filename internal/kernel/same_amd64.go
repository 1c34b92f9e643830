package kernel

// sameVectors is samePlain for n elements, a multiple of 16 and not 0. The Go compiler
// turns the comparison of integers into vector code by itself, but not that of the bits
// of float32.
//
//go:noescape
//detcheck:allow foreign it has a plain twin with the same results
func sameVectors(a, b *float32, n int) bool
