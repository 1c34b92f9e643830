package kernel

import (
	"math"
	"slices"
)

// Earn writes what elements are worth where something is present:
//
//	out = heat·bonus + cost   where presence is not 0, else 0
//
// It reports whether all results are finite. The slices have one length; out may be
// one of the others.
func Earn(out, heat, presence []float32, bonus, cost float32) (finite bool) {
	heat, presence = heat[:len(out)], presence[:len(out)]
	if !vectors {
		return earnPlain(out, heat, presence, bonus, cost)
	}
	w := [2]float32{bonus, cost}
	finite = true
	for len(out) > 0 {
		n := min(piece, len(out))
		if bitsVectors(&presence[0], n)<<1 != 0 {
			finite = earnVectors(&heat[0], &presence[0], &out[0], n, &w[0]) != exponent && finite
		} else if bitsVectors(&out[0], n) != 0 { // most have nothing present, and then heat need not be
			clear(out[:n]) // fetched, nor zeros be stored where there are zeros
		}
		out, heat, presence = out[n:], heat[n:], presence[n:]
	}
	return finite
}

func earnPlain(out, heat, presence []float32, bonus, cost float32) (finite bool) {
	heat, presence = heat[:len(out)], presence[:len(out)]
	for i := range out {
		// A mask in place of an unpredictable branch.
		p := math.Float32bits(presence[i]) << 1
		present := uint32(int32(p|-p) >> 31)
		out[i] = math.Float32frombits(math.Float32bits(float32(heat[i]*bonus)+cost) & present)
	}
	return finitePlain(out, 1)
}

// Add adds more to v, element by element, and reports whether all sums are finite.
func Add(v, more []float32) (finite bool) {
	more = more[:len(v)]
	if !vectors {
		return addPlain(v, more)
	}
	finite = true
	for part := range slices.Chunk(v, longest) {
		finite = addVectors(&part[0], &more[0], len(part), nil) != exponent && finite
		more = more[len(part):]
	}
	return finite
}

func addPlain(v, more []float32) (finite bool) {
	add1(v, more, 1)
	return finitePlain(v, 1)
}
