package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// ages is the kernel of Age.
var ages = []elementwise{
	{
		name: "ageVectors", doc: "ageVectors computes Age; w is the number of states.", silent: true,
		columns: []string{"was", "next"}, read: 2, written: []string{"next"}, constants: 1,
		compute: age,
	},
}

// age computes the formula of Age.
func age(v, c []VecVirtual) {
	was, next, states := v[0], v[1], c[0]
	old, mask, aged, zero := YMM(), YMM(), YMM(), YMM()
	VXORPS(zero, zero, zero)
	VCMPPS(U8(0), zero, next, zero)
	VCMPPS(U8(0), eight(0x3f800000), was, mask)
	VANDPS(zero, mask, mask)
	VMOVUPS(eight(0x40000000), old) // 2
	VBLENDVPS(mask, old, next, next)

	VCMPPS(U8(least), old, was, old)
	VCMPPS(U8(less), states, was, mask)
	VANDPS(mask, old, old)
	VROUNDPS(U8(3), was, mask) // toward 0
	VCMPPS(U8(0), mask, was, mask)
	VANDPS(mask, old, old)
	VADDPS(eight(0x3f800000), was, aged)
	VCMPPS(U8(less), states, aged, mask)
	VANDPS(mask, aged, aged)
	VBLENDVPS(old, aged, next, next)
}
