package kernel

import "math"

// Same reports whether two slices of one length hold the same bits.
func Same(a, b []float32) bool {
	b = b[:len(a)]
	n := 0
	if vectors {
		n = len(a) &^ 15
	}
	if n > 0 && !sameVectors(&a[0], &b[0], n) {
		return false
	}
	return samePlain(a[n:], b[n:])
}

func samePlain(a, b []float32) bool {
	for i := range a {
		if math.Float32bits(a[i]) != math.Float32bits(b[i]) {
			return false
		}
	}
	return true
}
