package kernel

// relaxRows is Relax in vector code.
func relaxRows(out, in []float32, r *Rows, n *Neighbours, w *Weights) (finite bool) {
	var buffer [mostNeighbours]int
	offsets := n.bytes(&buffer)
	if r.Stride != 1 {
		return relaxApart(&out[r.First], &in[r.First], &offsets[0], len(offsets), r.Count, 4*r.Stride, r.Rows, 4*r.Pitch, &w.rest) != exponent
	}
	return relaxVectors(&out[r.First], &in[r.First], &offsets[0], len(offsets), r.Count, r.Rows, 4*r.Pitch, &w.rest) != exponent
}

func relaxWovenRows(out, in []float32, r *Rows, v *Weave) (finite bool) {
	return relaxWoven(&out[r.First], &in[r.First], r.Count, r.Rows, 4*r.Pitch, &v.decay) != exponent
}
