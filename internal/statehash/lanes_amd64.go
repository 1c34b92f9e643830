package statehash

import (
	"github.com/murksim/murksim/fields"
	"github.com/murksim/murksim/internal/kernel"
)

// sideFloats hashes n bytes of each lane; n must be a multiple of 16 and not 0.
//
//go:noescape
//detcheck:allow foreign it has a plain twin with the same bits
func sideFloats(h *[lanes]uint64, a, b, c, d *float32, n int)

//go:noescape
//detcheck:allow foreign it has a plain twin with the same bits
func sideInts(h *[lanes]uint64, a, b, c, d *int32, n int)

//go:noescape
//detcheck:allow foreign it has a plain twin with the same bits
func sideFixed(h *[lanes]uint64, a, b, c, d *int64, n int)

//go:noescape
//detcheck:allow foreign it has a plain twin with the same bits
func sideWords(h *[lanes]uint64, a, b, c, d *uint64, n int)

// side hashes four columns of one element and length side by side, each into its own
// hash, as [fields.Hash.Column] does for one. sidePlain gives the same bits. It hashes the
// rest of fewer than 16 bytes, and everything where vector code is off.
func side(h *[lanes]uint64, c *[lanes]fields.Column) {
	n := c[0].Size() &^ 15
	if !kernel.Vectors() {
		n = 0
	}
	if n > 0 {
		switch a, b, c, d := &c[0], &c[1], &c[2], &c[3]; {
		case a.Float32 != nil:
			k := n/4 - 1
			_, _, _ = b.Float32[k], c.Float32[k], d.Float32[k]
			sideFloats(h, &a.Float32[0], &b.Float32[0], &c.Float32[0], &d.Float32[0], n)
		case a.Int32 != nil:
			k := n/4 - 1
			_, _, _ = b.Int32[k], c.Int32[k], d.Int32[k]
			sideInts(h, &a.Int32[0], &b.Int32[0], &c.Int32[0], &d.Int32[0], n)
		case a.Fixed != nil:
			k := n/8 - 1
			_, _, _ = b.Fixed[k], c.Fixed[k], d.Fixed[k]
			sideFixed(h, &a.Fixed[0], &b.Fixed[0], &c.Fixed[0], &d.Fixed[0], n)
		default:
			k := n/8 - 1
			_, _, _ = b.Uint64[k], c.Uint64[k], d.Uint64[k]
			sideWords(h, &a.Uint64[0], &b.Uint64[0], &c.Uint64[0], &d.Uint64[0], n)
		}
	}
	if n == c[0].Size() {
		return
	}
	var rest [lanes]fields.Column
	for j := range rest {
		size := c[j].Size() / c[j].Len()
		rest[j] = c[j].Slice(n/size, c[j].Len())
	}
	sidePlain(h, &rest)
}
