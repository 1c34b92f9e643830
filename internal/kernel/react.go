package kernel

// A Reaction holds the numbers of [Reaction.React], in the order that vector code knows.
type Reaction struct {
	SpreadU, SpreadV, Feed, Loss, Dt float32
	N                                float32 // neighbours summed
}

// React turns every stride-th element of sums of neighbours into the next values of
// two substances that react:
//
//	eaten = Dt·(u·(v·v))
//	sumU = u + SpreadU·(sumU - N·u) - eaten + Feed·(1 - u)
//	sumV = v + SpreadV·(sumV - N·v) + eaten - Loss·v
//
// It reports whether all results are finite. The slices have one length and share no
// memory.
func (k *Reaction) React(sumU, sumV, u, v []float32, stride int) (finite bool) {
	sumV, u, v = sumV[:len(sumU)], u[:len(sumU)], v[:len(sumU)]
	if vectors && stride == 1 && len(sumU) > 0 {
		return reactVectors(&sumU[0], &sumV[0], &u[0], &v[0], len(sumU), &k.SpreadU) != exponent
	}
	return k.reactPlain(sumU, sumV, u, v, stride)
}

func (k *Reaction) reactPlain(sumU, sumV, u, v []float32, stride int) (finite bool) {
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
	return finitePlain(sumU, stride) && finitePlain(sumV, stride)
}

// cell is the formula for one cell.
func (k *Reaction) cell(sumU, sumV, u, v float32) (nextU, nextV float32) {
	eaten := float32(k.Dt * float32(u*float32(v*v)))
	nextU = u + float32(k.SpreadU*(sumU-float32(k.N*u))) - eaten + float32(k.Feed*(1-u))
	nextV = v + float32(k.SpreadV*(sumV-float32(k.N*v))) + eaten - float32(k.Loss*v)
	return nextU, nextV
}
