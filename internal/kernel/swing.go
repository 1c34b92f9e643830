package kernel

// A Swing holds the numbers of [Swing.Move], in the order that vector code knows.
type Swing struct {
	Pull, Damping, Dt float32
	N                 float32 // neighbours that are summed
}

// Move lets elements swing about the mean of their neighbours:
//
//	acc = Pull·((Σ neighbours)/N - here) - Damping·velocity
//	nextVelocity = velocity + acc·Dt
//	next = here + nextVelocity·Dt
//
// The sum is a left fold. Move reports whether all that it has written is finite. What it
// writes must not share memory with what it reads, and there must be a neighbour.
func (s *Swing) Move(next, nextVelocity, here, velocity []float32, r Rows, n Neighbours) (finite bool) {
	if r.Count > longest {
		head, tail := r.split()
		finite = s.Move(next, nextVelocity, here, velocity, head, n)
		return s.Move(next, nextVelocity, here, velocity, tail, n) && finite
	}
	r.check(next, here, &n)
	r.within(nextVelocity, velocity)
	if !vectors || r.Stride != 1 || len(n.Offsets) > mostNeighbours {
		return s.movePlain(next, nextVelocity, here, velocity, r, n)
	}
	var buffer [mostNeighbours]int
	offsets, at := n.bytes(&buffer), r.First
	return swingVectors(&here[at], &velocity[at], &next[at], &nextVelocity[at], &offsets[0], len(offsets), r.Count, r.Rows, 4*r.Pitch, n.ahead(here), &s.Pull) != exponent
}

func (s *Swing) movePlain(next, nextVelocity, here, velocity []float32, r Rows, n Neighbours) (finite bool) {
	finite = true
	for first, extent := range r.pieces() {
		sums, nextVelocity := next[first:first+extent], nextVelocity[first:first+extent]
		here0, velocity := here[first:first+extent], velocity[first:first+extent]
		sumPiece(sums, here, first, n, r.Stride)
		for i := uint(0); i < uint(len(sums)); i += uint(r.Stride) {
			acc := float32(s.Pull*(sums[i]/s.N-here0[i])) - float32(s.Damping*velocity[i])
			v := velocity[i] + float32(acc*s.Dt)
			nextVelocity[i] = v
			sums[i] = here0[i] + float32(v*s.Dt)
		}
		finite = finitePlain(sums, r.Stride) && finitePlain(nextVelocity, r.Stride) && finite
	}
	return finite
}
