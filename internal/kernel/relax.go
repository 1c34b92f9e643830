package kernel

// Weights are those of [Relax].
type Weights struct {
	k, n, decay float32 // in the order that the vector code knows
	decays      uint32  // 1: multiply by decay
	ahead       int     // bytes from an element to what is fetched ahead of need; 0: nothing
}

// NewWeights returns the weights for n neighbours, at least 1.
func NewWeights(k, decay float32, n int) Weights {
	w := Weights{k: k, n: float32(n), decay: decay}
	if decay != 1 {
		w.decays = 1
	}
	return w
}

// Relax gives elements a share k of what each of their n neighbours has more than they:
//
//	out = decay·(in + k·((Σ neighbours) - n·in))
//
// The sum is a left fold, every operation is rounded. It reports whether all results
// are finite. Out must not share memory with in, and there must be a neighbour.
func Relax(out, in []float32, r Rows, n Neighbours, w *Weights) (finite bool) {
	if r.Count > longest {
		head, tail := r.split()
		finite = Relax(out, in, head, n, w)
		return Relax(out, in, tail, n, w) && finite
	}
	r.check(out, in, &n)
	if !vectors || len(n.Offsets) > mostNeighbours {
		return relaxPlain(out, in, r, n, w)
	}
	var buffer [mostNeighbours]int
	offsets := n.bytes(&buffer)
	w.ahead = n.ahead(in)
	to, from := &out[r.First], &in[r.First]
	if r.Stride == 1 {
		return relaxVectors(to, from, &offsets[0], len(offsets), r.Count, r.Rows, 4*r.Pitch, &w.k) != exponent
	}
	return relaxApart(to, from, &offsets[0], len(offsets), r.Count, 4*r.Stride, r.Rows, 4*r.Pitch, &w.k) != exponent
}

// RelaxSeeing is Relax, and reports whether any element of out has other bits than that of
// in: what is in registers anyway is compared for nothing. It may say so of rows that are
// not of neighbouring elements, or without vector code, although there is none.
func RelaxSeeing(out, in []float32, r Rows, n Neighbours, w *Weights) (finite, changed bool) {
	if !vectors || r.Stride != 1 || r.Count > longest || len(n.Offsets) > mostNeighbours {
		return Relax(out, in, r, n, w), true
	}
	r.check(out, in, &n)
	var buffer [mostNeighbours]int
	offsets := n.bytes(&buffer)
	w.ahead = n.ahead(in)
	worst, bits := relaxSeeing(&out[r.First], &in[r.First], &offsets[0], len(offsets), r.Count, r.Rows, 4*r.Pitch, &w.k)
	return worst != exponent, bits != 0
}

// relaxPlain is Relax in plain Go.
func relaxPlain(out, in []float32, r Rows, n Neighbours, w *Weights) (finite bool) {
	finite = true
	for first, extent := range r.pieces() {
		sums := out[first : first+extent]
		sumPiece(sums, in, first, n, r.Stride)
		w.blend(sums, in[first:first+extent], r.Stride)
		finite = finitePlain(sums, r.Stride) && finite
	}
	return finite
}

// blend turns sums of neighbours into results.
func (w *Weights) blend(sums, here []float32, stride int) {
	here = here[:len(sums)]
	k, n := w.k, w.n
	i := 0
	if stride == 1 {
		for ; i < len(sums)-3; i += 4 {
			s, h := sums[i:i+4:i+4], here[i:i+4:i+4]
			s[0] = h[0] + float32(k*(s[0]-float32(n*h[0])))
			s[1] = h[1] + float32(k*(s[1]-float32(n*h[1])))
			s[2] = h[2] + float32(k*(s[2]-float32(n*h[2])))
			s[3] = h[3] + float32(k*(s[3]-float32(n*h[3])))
		}
	}
	for j := uint(i); j < uint(len(sums)); j += uint(stride) {
		sums[j] = here[j] + float32(k*(sums[j]-float32(n*here[j])))
	}
	if w.decays != 0 {
		for j := uint(0); j < uint(len(sums)); j += uint(stride) {
			sums[j] = float32(sums[j] * w.decay)
		}
	}
}
