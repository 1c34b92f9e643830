//go:build !amd64

package kernel

func hasVectors() bool { return false }

func hasSHA256() bool { return false }

func sameVectors(a, b *float32, n int) bool { panic("kernel: no vector code") }
