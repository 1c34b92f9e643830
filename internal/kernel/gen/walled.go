package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// walled is the kernel of Walled.
var walled = stencil{
	name: "relaxWalled", doc: "relaxWalled computes rows of Walled, which w begins; offsets and pitch are in bytes.",
	columns: []string{"in", "walls", "out"}, read: 2, around: 2,
	constants: 2, fixed: []uint32{0, 1 << 31}, vectors: wide, sums: 2, add: addOpen, finish: relaxOpen,
}

// addOpen adds a neighbour that is no wall to the first sum, and 1 to the second, which is a
// whole number beside the sign bit that it begins with. A wall counts as -0, which changes no sum.
func addOpen(s *stencil, sum []VecVirtual, near func(int) Op) {
	open, v, zero, nothing := YMM(), YMM(), s.c[2], s.c[3]
	VCMPPS(U8(0), near(1), zero, open)
	VPSUBD(open, sum[1], sum[1])
	VBLENDVPS(open, near(0), nothing, v)
	VADDPS(v, sum[0], sum[0])
}

// relaxOpen computes the formula of Walled.
func relaxOpen(s *stencil, sums []VecVirtual, here func(int) VecVirtual) []VecVirtual {
	share, decay, zero, nothing := s.c[0], s.c[1], s.c[2], s.c[3]
	sum, n, at, wall := sums[0], sums[1], here(0), here(1)
	next, alone := YMM(), YMM()
	VPXOR(nothing, n, n)
	VPCMPEQD(zero, n, alone)
	VCVTDQ2PS(n, next)
	VMULPS(next, at, next)
	VSUBPS(next, sum, next)
	VMULPS(share, next, next)
	VADDPS(next, at, next)
	VBLENDVPS(alone, at, next, next)
	VMULPS(decay, next, next)
	VCMPPS(U8(0), wall, zero, wall)
	VBLENDVPS(wall, next, at, at)
	return []VecVirtual{at}
}
