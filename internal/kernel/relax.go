package kernel

// Weights are those of [Relax].
type Weights struct {
	rest, alpha, mean, decay float32 // in the order that the vector code knows
	divide, decays           uint32  // 1: divide by mean, and multiply by decay
	ahead                    int     // bytes from an element to what is fetched ahead of need; 0: nothing
	n                        float32
}

// NewWeights returns the weights for n neighbours, at least 1.
func NewWeights(alpha, decay float32, n int) Weights {
	w := Weights{rest: 1 - alpha, alpha: alpha, mean: float32(n), decay: decay, divide: 1, n: float32(n)}
	if n&(n-1) == 0 { // to multiply by 1/n rounds as the division does, and takes half the time
		w.mean, w.divide = 1/w.mean, 0
	}
	if decay != 1 {
		w.decays = 1
	}
	return w
}

// Relax pulls elements toward the mean of their n neighbours:
//
//	out = decay·((1-alpha)·in + alpha·(Σ neighbours / n))
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
		return relaxVectors(to, from, &offsets[0], len(offsets), r.Count, r.Rows, 4*r.Pitch, &w.rest) != exponent
	}
	return relaxApart(to, from, &offsets[0], len(offsets), r.Count, 4*r.Stride, r.Rows, 4*r.Pitch, &w.rest) != exponent
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
	worst, bits := relaxSeeing(&out[r.First], &in[r.First], &offsets[0], len(offsets), r.Count, r.Rows, 4*r.Pitch, &w.rest)
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
	rest, alpha, mean := w.rest, w.alpha, w.mean
	i := 0
	switch {
	case stride != 1:
	case w.divide == 0:
		for ; i < len(sums)-3; i += 4 {
			s, h := sums[i:i+4:i+4], here[i:i+4:i+4]
			s[0] = float32(rest*h[0]) + float32(alpha*float32(s[0]*mean))
			s[1] = float32(rest*h[1]) + float32(alpha*float32(s[1]*mean))
			s[2] = float32(rest*h[2]) + float32(alpha*float32(s[2]*mean))
			s[3] = float32(rest*h[3]) + float32(alpha*float32(s[3]*mean))
		}
	default:
		for ; i < len(sums)-3; i += 4 {
			s, h := sums[i:i+4:i+4], here[i:i+4:i+4]
			s[0] = float32(rest*h[0]) + float32(alpha*(s[0]/mean))
			s[1] = float32(rest*h[1]) + float32(alpha*(s[1]/mean))
			s[2] = float32(rest*h[2]) + float32(alpha*(s[2]/mean))
			s[3] = float32(rest*h[3]) + float32(alpha*(s[3]/mean))
		}
	}
	for j := uint(i); j < uint(len(sums)); j += uint(stride) {
		sums[j] = float32(rest*here[j]) + float32(alpha*(sums[j]/w.n))
	}
	if w.decays != 0 {
		for j := uint(0); j < uint(len(sums)); j += uint(stride) {
			sums[j] = float32(sums[j] * w.decay)
		}
	}
}
