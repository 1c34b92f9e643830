//go:build !amd64

package fields

func sameBits32(a, b []float32) bool { return sameFloat32(a, b) }
