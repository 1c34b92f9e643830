package kernel

import "slices"

const exponent = 0xff << 23 // all ones in what is not finite

// Finite reports whether all elements of the rows are finite.
func Finite(v []float32, r Rows) bool {
	finite := true
	for range r.Rows {
		finite = AllFinite(v[r.First:r.First+(r.Count-1)*r.Stride+1], r.Stride) && finite
		r.First += r.Pitch
	}
	return finite
}

// AllFinite reports whether every stride-th element is finite.
func AllFinite(v []float32, stride int) bool {
	if !vectors || stride != 1 {
		return finitePlain(v, stride)
	}
	finite := true
	for part := range slices.Chunk(v, longest) {
		finite = finiteVectors(&part[0], len(part), nil) != exponent && finite
	}
	return finite
}

func finitePlain(v []float32, stride int) bool {
	// x*0 is 0 for a finite x and NaN otherwise, and a NaN stays in the sum.
	var a, b, c, d float32
	i := 0
	if stride == 1 {
		for ; i+4 <= len(v); i += 4 {
			w := v[i : i+4 : i+4]
			a += float32(w[0] * 0)
			b += float32(w[1] * 0)
			c += float32(w[2] * 0)
			d += float32(w[3] * 0)
		}
	}
	for j := uint(i); j < uint(len(v)); j += uint(stride) {
		a += float32(v[j] * 0)
	}
	sum := a + b + c + d
	return sum == sum
}

// AllZero reports whether every stride-th element is zero, of either sign.
func AllZero(v []float32, stride int) bool {
	if vectors && stride == 1 && len(v) > 0 {
		return bitsVectors(&v[0], len(v))<<1 == 0
	}
	return zeroPlain(v, stride)
}

func zeroPlain(v []float32, stride int) bool {
	for i := uint(0); i < uint(len(v)); i += uint(stride) {
		if v[i] != 0 {
			return false
		}
	}
	return true
}

// Clamp puts elements, none of which is NaN, between lo and hi: one that is in between,
// or equal to either, stays as it is, whatever the sign of a zero.
func Clamp(v []float32, lo, hi float32) {
	if !vectors {
		clampPlain(v, lo, hi)
		return
	}
	w := [2]float32{lo, hi}
	for part := range slices.Chunk(v, longest) {
		clampVectors(&part[0], len(part), &w[0])
	}
}

func clampPlain(v []float32, lo, hi float32) {
	for i, x := range v {
		if x < lo {
			v[i] = lo
		} else if x > hi {
			v[i] = hi
		}
	}
}

// Within reports whether all elements are from lo to hi. NaN is not.
func Within(v []float32, lo, hi float32) bool {
	if !vectors {
		return withinPlain(v, lo, hi)
	}
	within, w := true, [2]float32{lo, hi}
	for part := range slices.Chunk(v, longest) {
		within = outsideVectors(&part[0], len(part), &w[0]) == 0 && within
	}
	return within
}

func withinPlain(v []float32, lo, hi float32) bool {
	for _, x := range v {
		if !(x >= lo && x <= hi) {
			return false
		}
	}
	return true
}

// AllStates reports whether all elements are whole numbers from 0 to below n, at most 2^24.
func AllStates(v []float32, n float32) bool {
	if !vectors {
		return statesPlain(v, n)
	}
	all := true
	for part := range slices.Chunk(v, longest) {
		all = strangeVectors(&part[0], len(part), &n) == 0 && all
	}
	return all
}

func statesPlain(v []float32, n float32) bool {
	for _, x := range v {
		if !(x >= 0 && x < n) || x != float32(int32(x)) {
			return false
		}
	}
	return true
}

// Scale multiplies elements by a factor:
//
//	out = factor·in
//
// It reports whether all results are finite. Out may be in.
func Scale(out, in []float32, r Rows, factor float32) (finite bool) {
	if r.Count > longest {
		head, tail := r.split()
		finite = Scale(out, in, head, factor)
		return Scale(out, in, tail, factor) && finite
	}
	finite = true
	for range r.Rows {
		extent := (r.Count-1)*r.Stride + 1
		to, from := out[r.First:r.First+extent], in[r.First:r.First+extent]
		if vectors && r.Stride == 1 {
			finite = scaleVectors(&from[0], &to[0], r.Count, &factor) != exponent && finite
		} else {
			finite = scalePlain(to, from, r.Stride, factor) && finite
		}
		r.First += r.Pitch
	}
	return finite
}

func scalePlain(out, in []float32, stride int, factor float32) (finite bool) {
	in = in[:len(out)]
	for i := uint(0); i < uint(len(out)); i += uint(stride) {
		out[i] = float32(in[i] * factor)
	}
	return finitePlain(out, stride)
}
