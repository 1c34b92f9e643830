package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// reacts is the kernel of Reaction.
var reacts = stencil{
	name: "reactVectors", doc: "reactVectors computes rows of a Reaction, which w begins; offsets and pitch are in bytes.",
	columns: []string{"u", "v", "nextU", "nextV"}, read: 2, around: 2,
	constants: 6, vectors: half, sums: 2, add: addBoth, finish: react,
}

// addBoth adds the neighbours in the first two columns.
func addBoth(_ *stencil, sum []VecVirtual, near func(int) Op) {
	VADDPS(near(0), sum[0], sum[0])
	VADDPS(near(1), sum[1], sum[1])
}

// react computes the formula of Reaction.
func react(s *stencil, sum []VecVirtual, here func(int) VecVirtual) []VecVirtual {
	sumU, sumV, u, v := sum[0], sum[1], here(0), here(1)
	spreadU, spreadV, feed, loss, dt, n := s.c[0], s.c[1], s.c[2], s.c[3], s.c[4], s.c[5]
	eaten, t := YMM(), YMM()
	VMULPS(v, v, eaten)
	VMULPS(eaten, u, eaten)
	VMULPS(eaten, dt, eaten)

	VMULPS(u, n, t)
	VSUBPS(t, sumU, sumU)
	VMULPS(sumU, spreadU, sumU)
	VADDPS(sumU, u, sumU)
	VSUBPS(eaten, sumU, sumU)
	VMOVUPS(eight(0x3f800000), t)
	VSUBPS(u, t, t)
	VMULPS(t, feed, t)
	VADDPS(t, sumU, sumU)

	VMULPS(v, n, t)
	VSUBPS(t, sumV, sumV)
	VMULPS(sumV, spreadV, sumV)
	VADDPS(sumV, v, sumV)
	VADDPS(eaten, sumV, sumV)
	VMULPS(v, loss, t)
	VSUBPS(t, sumV, sumV)
	return []VecVirtual{sumU, sumV}
}
