package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// swings is the kernel of Swing.
var swings = stencil{
	name: "swingVectors", doc: "swingVectors computes rows of a Swing, which w begins; offsets and pitch are in bytes.",
	columns: []string{"here", "velocity", "next", "nextVelocity"}, read: 2, around: 1,
	constants: 4, vectors: wide, sums: 1, add: addHere, finish: swing,
}

// addHere adds the neighbour in the first column.
func addHere(_ *stencil, sum []VecVirtual, near func(int) Op) { VADDPS(near(0), sum[0], sum[0]) }

// swing computes the formula of Swing.
func swing(s *stencil, sums []VecVirtual, here func(int) VecVirtual) []VecVirtual {
	sum, at, velocity, next := sums[0], here(0), here(1), YMM()
	pull, damping, dt, n := s.c[0], s.c[1], s.c[2], s.c[3]
	VDIVPS(n, sum, sum)
	VSUBPS(at, sum, sum)
	VMULPS(sum, pull, sum)
	VMULPS(velocity, damping, next)
	VSUBPS(next, sum, sum)
	VMULPS(sum, dt, sum)
	VADDPS(sum, velocity, velocity)
	VMULPS(velocity, dt, sum)
	VADDPS(sum, at, sum)
	return []VecVirtual{sum, velocity}
}
