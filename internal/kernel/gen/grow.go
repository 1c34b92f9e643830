package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// growths are the kernels of Growth.
var growths = []elementwise{
	{
		name: "growLinear", doc: "growLinear computes Growth.Grow; w begins a Growth.",
		columns: []string{"in", "presence", "out"}, read: 2, written: []string{"out"}, constants: 3, large: []string{"in", "presence", "out"},
		compute: func(v, c []VecVirtual) {
			eat(v, c[0])
			VADDPS(c[1], v[0], v[0])
			fill(v[0], c[2], v[2])
		},
	},
	{
		name: "growLogistic", doc: "growLogistic computes Growth.Grow; w begins a Growth.",
		columns: []string{"in", "presence", "out"}, read: 2, written: []string{"out"}, constants: 4, large: []string{"in", "presence", "out"},
		compute: func(v, c []VecVirtual) {
			eat(v, c[0])
			x, free, more, mask := v[0], YMM(), YMM(), v[1]
			VDIVPS(c[2], x, free)
			VMOVUPS(eight(0x3f800000), more)
			VSUBPS(free, more, free)
			VMULPS(c[1], x, more)
			VMULPS(free, more, more)
			VMULPS(c[3], more, more)
			VADDPS(more, x, more)
			VXORPS(mask, mask, mask)
			VCMPPS(U8(greater), mask, x, mask)
			VBLENDVPS(mask, more, x, x)
			fill(x, c[2], v[2])
		},
	},
}

// eat takes from v[0] where v[1] is not 0.
func eat(v []VecVirtual, eaten VecVirtual) {
	zero := YMM()
	VXORPS(zero, zero, zero)
	VCMPPS(U8(unequal), zero, v[1], zero)
	VANDPS(eaten, zero, zero)
	VSUBPS(zero, v[0], v[0])
}

// fill makes out x between 0 and the capacity. Of two equal ones, the second operand of the instruction
// stays.
func fill(x, capacity, out VecVirtual) {
	zero := YMM()
	VXORPS(zero, zero, zero)
	VMAXPS(x, zero, x)
	VMINPS(x, capacity, out)
}
