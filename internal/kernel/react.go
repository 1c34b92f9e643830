package kernel

// A Reaction holds the numbers of [Reaction.React], in the order that vector code knows.
type Reaction struct {
	SpreadU, SpreadV, Feed, Loss, Dt float32
	N                                float32 // neighbours that are summed
}

// React gives the next values of two substances that spread and react:
//
//	eaten = Dt·(u·(v·v))
//	nextU = u + SpreadU·((Σ neighbours' u) - N·u) - eaten + Feed·(1 - u)
//	nextV = v + SpreadV·((Σ neighbours' v) - N·v) + eaten - Loss·v
//
// Sums are left folds. React reports whether all results are finite. What it writes must
// not share memory with what it reads, and there must be a neighbour.
func (k *Reaction) React(nextU, nextV, u, v []float32, r Rows, n Neighbours) (finite bool) {
	if r.Count > longest {
		head, tail := r.split()
		finite = k.React(nextU, nextV, u, v, head, n)
		return k.React(nextU, nextV, u, v, tail, n) && finite
	}
	r.check(nextU, u, &n)
	r.check(nextV, v, &n)
	if !vectors || r.Stride != 1 || len(n.Offsets) > mostNeighbours {
		return k.reactPlain(nextU, nextV, u, v, r, n)
	}
	var buffer [mostNeighbours]int
	offsets, at := n.bytes(&buffer), r.First
	return reactVectors(&u[at], &v[at], &nextU[at], &nextV[at], &offsets[0], len(offsets), r.Count, r.Rows, 4*r.Pitch, n.ahead(u), &k.SpreadU) != exponent
}

func (k *Reaction) reactPlain(nextU, nextV, u, v []float32, r Rows, n Neighbours) (finite bool) {
	finite = true
	for first, extent := range r.pieces() {
		sumU, sumV := nextU[first:first+extent], nextV[first:first+extent]
		sumPiece(sumU, u, first, n, r.Stride)
		sumPiece(sumV, v, first, n, r.Stride)
		k.reactPiece(sumU, sumV, u[first:first+extent], v[first:first+extent], r.Stride)
		finite = finitePlain(sumU, r.Stride) && finitePlain(sumV, r.Stride) && finite
	}
	return finite
}

// reactPiece turns sums of neighbours into results.
func (k *Reaction) reactPiece(sumU, sumV, u, v []float32, stride int) {
	sumV, u, v = sumV[:len(sumU)], u[:len(sumU)], v[:len(sumU)]
	s, i := *k, 0
	if stride == 1 {
		for ; i < len(sumU)-3; i += 4 {
			a, b, x, y := sumU[i:i+4:i+4], sumV[i:i+4:i+4], u[i:i+4:i+4], v[i:i+4:i+4]
			a[0], b[0] = s.cell(a[0], b[0], x[0], y[0])
			a[1], b[1] = s.cell(a[1], b[1], x[1], y[1])
			a[2], b[2] = s.cell(a[2], b[2], x[2], y[2])
			a[3], b[3] = s.cell(a[3], b[3], x[3], y[3])
		}
	}
	for j := uint(i); j < uint(len(sumU)); j += uint(stride) {
		sumU[j], sumV[j] = s.cell(sumU[j], sumV[j], u[j], v[j])
	}
}

// cell is the formula for one cell.
func (k *Reaction) cell(sumU, sumV, u, v float32) (nextU, nextV float32) {
	eaten := float32(k.Dt * float32(u*float32(v*v)))
	nextU = u + float32(k.SpreadU*(sumU-float32(k.N*u))) - eaten + float32(k.Feed*(1-u))
	nextV = v + float32(k.SpreadV*(sumV-float32(k.N*v))) + eaten - float32(k.Loss*v)
	return nextU, nextV
}
