package statehash

import (
	"math"

	"github.com/murksim/murksim/fields"
	"github.com/murksim/murksim/internal/kernel"
)

// lanes is the number of hashes that are computed side by side. Each byte of a hash waits
// for the one before it, so one hash alone leaves the multiplier idle for three cycles of
// four. Eight lanes are slower than four: there are not enough registers.
const lanes = 4

// word32 folds in four bytes as [fields.Hash.Uint32] does, without a test for zero.
func word32(h uint64, v uint32) uint64 {
	h = (h ^ uint64(v&0xff)) * kernel.FNVPrime
	h = (h ^ uint64(v>>8&0xff)) * kernel.FNVPrime
	h = (h ^ uint64(v>>16&0xff)) * kernel.FNVPrime
	return (h ^ uint64(v>>24)) * kernel.FNVPrime
}

// sidePlain is side in plain Go.
func sidePlain(h *[lanes]uint64, c *[lanes]fields.Column) {
	switch {
	case c[0].Float32 != nil:
		sideFloat32(h, c[0].Float32, c[1].Float32, c[2].Float32, c[3].Float32)
	case c[0].Int32 != nil:
		sideInt32(h, c[0].Int32, c[1].Int32, c[2].Int32, c[3].Int32)
	case c[0].Fixed != nil:
		side64(h, c[0].Fixed, c[1].Fixed, c[2].Fixed, c[3].Fixed)
	default:
		side64(h, c[0].Uint64, c[1].Uint64, c[2].Uint64, c[3].Uint64)
	}
}

func sideFloat32(h *[lanes]uint64, a, b, c, d []float32) {
	b, c, d = b[:len(a)], c[:len(a)], d[:len(a)]
	ha, hb, hc, hd := h[0], h[1], h[2], h[3]
	for i := range a {
		va, vb, vc, vd := math.Float32bits(a[i]), math.Float32bits(b[i]), math.Float32bits(c[i]), math.Float32bits(d[i])
		if va|vb|vc|vd == 0 {
			ha, hb, hc, hd = ha*kernel.FNVPrime4, hb*kernel.FNVPrime4, hc*kernel.FNVPrime4, hd*kernel.FNVPrime4
			continue
		}
		ha, hb, hc, hd = word32(ha, va), word32(hb, vb), word32(hc, vc), word32(hd, vd)
	}
	h[0], h[1], h[2], h[3] = ha, hb, hc, hd
}

func sideInt32(h *[lanes]uint64, a, b, c, d []int32) {
	b, c, d = b[:len(a)], c[:len(a)], d[:len(a)]
	ha, hb, hc, hd := h[0], h[1], h[2], h[3]
	for i := range a {
		va, vb, vc, vd := uint32(a[i]), uint32(b[i]), uint32(c[i]), uint32(d[i])
		if va|vb|vc|vd == 0 {
			ha, hb, hc, hd = ha*kernel.FNVPrime4, hb*kernel.FNVPrime4, hc*kernel.FNVPrime4, hd*kernel.FNVPrime4
			continue
		}
		ha, hb, hc, hd = word32(ha, va), word32(hb, vb), word32(hc, vc), word32(hd, vd)
	}
	h[0], h[1], h[2], h[3] = ha, hb, hc, hd
}

func side64[T int64 | uint64](h *[lanes]uint64, a, b, c, d []T) {
	b, c, d = b[:len(a)], c[:len(a)], d[:len(a)]
	ha, hb, hc, hd := h[0], h[1], h[2], h[3]
	for i := range a {
		va, vb, vc, vd := uint64(a[i]), uint64(b[i]), uint64(c[i]), uint64(d[i])
		if va|vb|vc|vd == 0 {
			ha, hb, hc, hd = ha*kernel.FNVPrime8, hb*kernel.FNVPrime8, hc*kernel.FNVPrime8, hd*kernel.FNVPrime8
			continue
		}
		ha, hb, hc, hd = word32(ha, uint32(va)), word32(hb, uint32(vb)), word32(hc, uint32(vc)), word32(hd, uint32(vd))
		ha, hb, hc, hd = word32(ha, uint32(va>>32)), word32(hb, uint32(vb>>32)), word32(hc, uint32(vc>>32)), word32(hd, uint32(vd>>32))
	}
	h[0], h[1], h[2], h[3] = ha, hb, hc, hd
}
