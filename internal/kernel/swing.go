package kernel

// A Swing holds the numbers of [Swing.Move], in the order that vector code knows.
type Swing struct {
	Pull, Damping, Dt float32
	N                 float32 // neighbours summed
}

// Move lets every stride-th element swing about the mean of its neighbours:
//
//	acc = Pull·(sums/N - here) - Damping·velocity
//	nextVelocity = velocity + acc·Dt
//	sums = here + nextVelocity·Dt
//
// It reports whether all that it has written is finite. The slices have one length
// and share no memory.
func (s *Swing) Move(sums, nextVelocity, here, velocity []float32, stride int) (finite bool) {
	nextVelocity, here, velocity = nextVelocity[:len(sums)], here[:len(sums)], velocity[:len(sums)]
	if vectors && stride == 1 && len(sums) > 0 {
		return swingVectors(&sums[0], &here[0], &velocity[0], &nextVelocity[0], len(sums), &s.Pull) != exponent
	}
	return s.movePlain(sums, nextVelocity, here, velocity, stride)
}

func (s *Swing) movePlain(sums, nextVelocity, here, velocity []float32, stride int) (finite bool) {
	nextVelocity, here, velocity = nextVelocity[:len(sums)], here[:len(sums)], velocity[:len(sums)]
	for i := uint(0); i < uint(len(sums)); i += uint(stride) {
		acc := float32(s.Pull*(sums[i]/s.N-here[i])) - float32(s.Damping*velocity[i])
		v := velocity[i] + float32(acc*s.Dt)
		nextVelocity[i] = v
		sums[i] = here[i] + float32(v*s.Dt)
	}
	return finitePlain(sums, stride) && finitePlain(nextVelocity, stride)
}
