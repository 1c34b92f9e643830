//go:build !amd64

package kernel

func hasVectors() bool { return false }

func hasSHA256() bool { return false }

// These are never called, since there is no vector code.

func relaxVectors(out *float32, in *float32, offsets *int, n int, count int, rows int, pitch int, w *float32) (worst uint32) {
	panic("kernel: no vector code")
}

func relaxSeeing(out *float32, in *float32, offsets *int, n int, count int, rows int, pitch int, w *float32) (worst uint32, changed uint32) {
	panic("kernel: no vector code")
}

func sumVectors(out *float32, in *float32, offsets *int, n int, count int, rows int, pitch int) {
	panic("kernel: no vector code")
}

func relaxApart(out *float32, in *float32, offsets *int, n int, count int, stride int, rows int, pitch int, w *float32) (worst uint32) {
	panic("kernel: no vector code")
}

func relaxWoven(out *float32, in *float32, count int, rows int, pitch int, w *float32) (worst uint32) {
	panic("kernel: no vector code")
}

func finiteVectors(v *float32, n int, w *float32) (worst uint32) { panic("kernel: no vector code") }

func clampVectors(v *float32, n int, w *float32) (worst uint32) { panic("kernel: no vector code") }

func scaleVectors(in *float32, out *float32, n int, w *float32) (worst uint32) {
	panic("kernel: no vector code")
}

func swingVectors(here *float32, velocity *float32, next *float32, nextVelocity *float32, offsets *int, n int, count int, rows int, pitch int, w *float32) (worst uint32) {
	panic("kernel: no vector code")
}

func reactVectors(u *float32, v *float32, nextU *float32, nextV *float32, offsets *int, n int, count int, rows int, pitch int, w *float32) (worst uint32) {
	panic("kernel: no vector code")
}

func relaxWalled(in *float32, walls *float32, out *float32, offsets *int, n int, count int, rows int, pitch int, w *float32) (worst uint32) {
	panic("kernel: no vector code")
}

func slopeVectors(out *float32, in *float32, north int, south int, west int, east int, count int, rows int, pitch int, w *float32) (worst uint32) {
	panic("kernel: no vector code")
}

func bitsVectors(v *float32, n int) (bits uint32) { panic("kernel: no vector code") }

func earnVectors(heat *float32, presence *float32, out *float32, n int, w *float32) (worst uint32) {
	panic("kernel: no vector code")
}

func addVectors(v *float32, more *float32, n int, w *float32) (worst uint32) {
	panic("kernel: no vector code")
}

func drawVectors(q *float64, far *float64, at *uint64, n int, w *uint64) (tails int) {
	panic("kernel: no vector code")
}

func centreVectors(out *float32, q *float64, n int, w *uint64, c *float64) {
	panic("kernel: no vector code")
}

func tailVectors(out *float32, q *float64, n int, w *uint64, c *float64) {
	panic("kernel: no vector code")
}

func sha256Vectors(state *uint32, a *byte, b *byte, blocks int) { panic("kernel: no vector code") }

func sameVectors(a, b *float32, n int) bool { panic("kernel: no vector code") }
