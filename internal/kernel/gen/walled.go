package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// walled are the kernels of Walled.
var walled = []stencil{
	{
		name: "relaxWalled", doc: "relaxWalled computes rows of Walled, which w begins; offsets and pitch are in bytes, n is at most 7.",
		columns: []string{"in", "walls", "out"}, read: 2, around: 2,
		fixed: []uint32{0, 1 << 31}, vectors: half, sums: 2, add: addOpen, finish: relaxOpen,
	},
	{
		name: "relaxWalledMany", doc: "relaxWalledMany is relaxWalled for n at most 15.",
		columns: []string{"in", "walls", "out"}, read: 2, around: 2,
		fixed: []uint32{0, 1 << 31}, vectors: half, sums: 2, add: addOpen, finish: relaxMany,
	},
}

// What is where in a Walled, in bytes.
const (
	walledAlpha = 0         // by the number of open neighbours
	walledRest  = 48 * lane // the same
	walledDecay = 96 * lane
)

// addOpen adds a neighbour that is no wall to the first sum, and 1 to the second, which is a
// whole number beside the sign bit that it begins with. A wall counts as -0, which changes no sum.
func addOpen(s *stencil, sum []VecVirtual, near func(int) Op) {
	open, v, zero, nothing := YMM(), YMM(), s.c[0], s.c[1]
	VCMPPS(U8(0), near(1), zero, open)
	VPSUBD(open, sum[1], sum[1])
	VBLENDVPS(open, near(0), nothing, v)
	VADDPS(v, sum[0], sum[0])
}

// relaxOpen computes the formula of Walled, for up to 7 neighbours.
func relaxOpen(s *stencil, sums []VecVirtual, here func(int) VecVirtual) []VecVirtual {
	return s.among(sums, here, func(n VecVirtual, table int) VecVirtual {
		v := YMM()
		VPERMPS(Mem{Base: s.w, Disp: table}, n, v)
		return v
	})
}

// relaxMany does it for up to 15: two tables of eight float32, and the sign of second says which.
func relaxMany(s *stencil, sums []VecVirtual, here func(int) VecVirtual) []VecVirtual {
	return s.among(sums, here, func(n VecVirtual, table int) VecVirtual {
		low, high, second := YMM(), YMM(), YMM()
		VPSLLD(U8(31-3), n, second) // its sign: from 8 on
		VPERMPS(Mem{Base: s.w, Disp: table}, n, low)
		VPERMPS(Mem{Base: s.w, Disp: table + vector}, n, high)
		VBLENDVPS(second, high, low, low)
		return low
	})
}

// among computes the formula, given how to look up a table at each lane's number.
func (s *stencil) among(sums []VecVirtual, here func(int) VecVirtual, entry func(n VecVirtual, table int) VecVirtual) []VecVirtual {
	sum, n, at, wall := sums[0], sums[1], here(0), here(1)
	count, next := YMM(), YMM()
	VPXOR(s.c[1], n, n)
	VCVTDQ2PS(n, count)
	VMAXPS(eight(0x3f800000), count, count)
	VDIVPS(count, sum, sum)
	VMULPS(entry(n, walledAlpha), sum, sum)
	VMULPS(entry(n, walledRest), at, next)
	VADDPS(sum, next, next)
	VBROADCASTSS(Mem{Base: s.w, Disp: walledDecay}, sum)
	VMULPS(sum, next, next)
	VCMPPS(U8(0), wall, s.c[0], wall)
	VBLENDVPS(wall, next, at, at)
	return []VecVirtual{at}
}
