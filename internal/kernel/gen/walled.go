package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// What is where in a Walled, in bytes.
const (
	walledAlpha = 0         // by the number of open neighbours
	walledRest  = 48 * lane // the same
	walledDecay = 96 * lane
)

// addOpen adds a neighbour that is no wall to the first sum, and 1 to the second, which is a
// whole number beside the sign bit that it begins with. A wall counts as -0, which changes no sum.
func addOpen(_ *stencil, sum []VecVirtual, near func(int) Op) {
	open, v := YMM(), YMM()
	VXORPS(v, v, v)
	VCMPPS(U8(0), near(1), v, open)
	VPSUBD(open, sum[1], sum[1])
	VMOVAPS(eight(1<<31), v)
	VBLENDVPS(open, near(0), v, v)
	VADDPS(v, sum[0], sum[0])
}

// relaxOpen computes the formula of Walled.
func relaxOpen(s *stencil, sums []VecVirtual, here func(int) VecVirtual) []VecVirtual {
	sum, n, at, wall := sums[0], sums[1], here(0), here(1)
	count, next, zero := YMM(), YMM(), YMM()
	VPAND(eight(0x7fffffff), n, n)
	VCVTDQ2PS(n, count)
	VMAXPS(eight(0x3f800000), count, count)
	VDIVPS(count, sum, sum)
	second := count
	VPSLLD(U8(31-3), n, second) // its sign: from 8 on
	VMULPS(s.entry(n, second, walledAlpha), sum, sum)
	VMULPS(s.entry(n, second, walledRest), at, next)
	VADDPS(sum, next, next)
	VBROADCASTSS(Mem{Base: s.w, Disp: walledDecay}, sum)
	VMULPS(sum, next, next)
	VXORPS(zero, zero, zero)
	VCMPPS(U8(0), wall, zero, zero)
	VBLENDVPS(zero, next, at, at)
	return []VecVirtual{at}
}

// entry looks up a table of sixteen float32 at each lane's index.
func (s *stencil) entry(index, second VecVirtual, table int) VecVirtual {
	low, high := YMM(), YMM()
	VPERMPS(Mem{Base: s.w, Disp: table}, index, low)
	VPERMPS(Mem{Base: s.w, Disp: table + vector}, index, high)
	VBLENDVPS(second, high, low, low)
	return low
}
