package kernel

import "math"

// Finite reports whether all elements of the rows are finite.
func Finite(v []float32, r Rows) bool {
	finite := true
	for range r.Rows {
		finite = finitePiece(v[r.First:r.First+(r.Count-1)*r.Stride+1], r.Stride) && finite
		r.First += r.Pitch
	}
	return finite
}

// finitePiece reports whether every stride-th element is finite.
func finitePiece(v []float32, stride int) bool {
	worst := uint32(0)
	for i := uint(0); i < uint(len(v)); i += uint(stride) {
		worst = max(worst, math.Float32bits(v[i])&exponent)
	}
	return worst != exponent
}

const exponent = 0xff << 23 // all ones in what is not finite

// Scale multiplies elements by a factor:
//
//	out = factor·in
//
// It reports whether all results are finite.
func Scale(out, in []float32, r Rows, factor float32) (finite bool) {
	finite = true
	for range r.Rows {
		extent := (r.Count-1)*r.Stride + 1
		to, from := out[r.First:r.First+extent], in[r.First:r.First+extent]
		for i := uint(0); i < uint(len(to)) && i < uint(len(from)); i += uint(r.Stride) {
			to[i] = float32(from[i] * factor)
		}
		finite = finitePiece(to, r.Stride) && finite
		r.First += r.Pitch
	}
	return finite
}
