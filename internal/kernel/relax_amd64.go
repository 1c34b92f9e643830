package kernel

// relaxRows is Relax in vector code, for rows of neighbouring elements.
func relaxRows(out, in []float32, r *Rows, n *Neighbours, w *Weights) (finite bool) {
	var buffer [mostNeighbours]int
	offsets := n.bytes(&buffer)
	return relaxVectors(&out[r.First], &in[r.First], &offsets[0], len(offsets), r.Count, r.Rows, 4*r.Pitch, &w.rest) != exponent
}
