package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// faces are the kernels of what passes the faces of cells. They report nothing: what they write is
// looked at when it is complete.
var faces = []elementwise{
	{
		name: "pipeVectors", doc: "pipeVectors computes Pipe.Move; w begins a Pipe.", silent: true,
		columns: []string{"here", "there", "bedHere", "bedThere", "flux", "moved", "nextFlux"}, read: 5,
		written: []string{"moved", "nextFlux"}, constants: 5, large: []string{"there", "bedThere"},
		compute: func(v, c []VecVirtual) {
			v[5] = pipe(v, c, v[6])
		},
	},
	{
		name: "negateVectors", doc: "negateVectors is -in.", silent: true,
		columns: []string{"in", "out"}, read: 1, written: []string{"out"},
		compute: func(v, c []VecVirtual) { VXORPS(eight(1<<31), v[0], v[1]) },
	},
	{
		name: "flowVectors", doc: "flowVectors computes Flow; w is normal, factor.", silent: true,
		columns: []string{"here", "there", "shares"}, read: 2, written: []string{"shares"}, constants: 2,
		compute: func(v, c []VecVirtual) {
			VADDPS(v[1], v[0], v[0])
			VMULPS(v[0], c[0], v[0])
			VMULPS(v[0], c[1], v[2])
		},
	},
	{
		name: "addFlowVectors", doc: "addFlowVectors computes AddFlow; w is normal, factor.", silent: true,
		columns: []string{"here", "there", "shares"}, read: 3, written: []string{"shares"}, constants: 2,
		compute: func(v, c []VecVirtual) {
			VADDPS(v[1], v[0], v[0])
			VMULPS(v[0], c[0], v[0])
			VADDPS(v[0], v[2], v[2])
			VMULPS(v[2], c[1], v[2])
		},
	},
}

// How VCMPPS compares.
const (
	unequal  = 0x04 // always, if one is NaN
	less     = 0x11 // never, if one is NaN, like the next two
	greater  = 0x1e
	least    = 0x1d // at least
	notLeast = 0x19
	notMost  = 0x16
	notLess  = 0x15
)

// pipe computes what passes a face: its flux, and what moves.
func pipe(v, c []VecVirtual, flux VecVirtual) (moved VecVirtual) {
	s, t, x, y, old := v[0], v[1], v[2], v[3], v[4]
	keep, limit, pull, smooth, share := c[0], c[1], c[2], c[3], c[4]
	most, low, sill, zero := YMM(), YMM(), YMM(), YMM()
	VXORPS(zero, zero, zero)
	bound := func(depth, to VecVirtual) {
		mask := YMM()
		VCMPPS(U8(least), eight(0x0da24260), depth, mask) // 1e-30
		VMULPS(depth, limit, to)
		VANDPS(mask, to, to)
	}
	bound(s, most)
	bound(t, low)
	VSUBPS(low, zero, low)
	VMAXPS(y, x, sill)
	for _, end := range [][2]VecVirtual{{s, x}, {t, y}} {
		VADDPS(end[1], end[0], end[0])
		VSUBPS(sill, end[0], end[0])
		VMAXPS(zero, end[0], end[0])
	}
	sum, slope := x, y
	VADDPS(t, s, sum)
	VSUBPS(t, s, slope)
	wet := sill
	VCMPPS(U8(greater), zero, sum, wet)
	VMULPS(sum, pull, sum)
	VMULPS(slope, sum, sum)
	VADDPS(sum, old, flux)
	VMULPS(keep, flux, flux)
	VMAXPS(flux, low, flux) // of two equal ones, the second operand of the instruction stays
	VMINPS(flux, most, flux)
	VMULPS(smooth, slope, slope)
	VADDPS(slope, flux, slope)
	VMAXPS(slope, low, slope)
	VMINPS(slope, most, slope)
	VMULPS(share, slope, slope)
	VANDPS(wet, slope, slope)
	VANDPS(wet, flux, flux)
	return slope
}

// planes makes gatherTwo, gatherThree and interleaveTwo.
func planes() {
	TEXT("gatherTwo", NOSPLIT, "func(src, dst *float32, n int)")
	Pragma("noescape")
	Doc("gatherTwo copies every second of 2n elements, n a multiple of 8.")
	src, dst, n := parameter("src"), parameter("dst"), parameter("n")
	a, b := YMM(), YMM()
	Label("vector")
	VMOVUPS(Mem{Base: src}, a)
	VMOVUPS(Mem{Base: src, Disp: vector}, b)
	PREFETCHT0(Mem{Base: src, Disp: 2048})
	VSHUFPS(U8(0x88), b, a, a)
	VPERMPD(U8(0xd8), a, a)
	VMOVUPS(a, Mem{Base: dst})
	ADDQ(U32(2*vector), src)
	ADDQ(U32(vector), dst)
	SUBQ(U32(8), n)
	JNZ(LabelRef("vector"))
	VZEROUPPER()
	RET()

	TEXT("gatherThree", NOSPLIT, "func(src, dst *float32, n int)")
	Pragma("noescape")
	Doc("gatherThree copies every third of 3n elements, n a multiple of 8.")
	src, dst, n = parameter("src"), parameter("dst"), parameter("n")
	order := YMM()
	VMOVDQU(vectorOf("orderOfThree", 0, 3, 6, 1, 4, 7, 2, 5), order)
	Label("vector")
	VMOVUPS(Mem{Base: src}, a)
	VBLENDPS(U8(0b10010010), Mem{Base: src, Disp: vector}, a, a)
	VBLENDPS(U8(0b00100100), Mem{Base: src, Disp: 2 * vector}, a, a)
	VPERMPS(a, order, a)
	VMOVUPS(a, Mem{Base: dst})
	ADDQ(U32(3*vector), src)
	ADDQ(U32(vector), dst)
	SUBQ(U32(8), n)
	JNZ(LabelRef("vector"))
	VZEROUPPER()
	RET()

	TEXT("interleaveTwo", NOSPLIT, "func(a, b, dst *float32, n int)")
	Pragma("noescape")
	Doc("interleaveTwo writes n elements of each of two planes side by side, n a multiple of 8.")
	from, with, to, left := parameter("a"), parameter("b"), parameter("dst"), parameter("n")
	x, y, low, high := YMM(), YMM(), YMM(), YMM()
	Label("vector")
	VMOVUPS(Mem{Base: from}, x)
	VMOVUPS(Mem{Base: with}, y)
	VUNPCKLPS(y, x, low)
	VUNPCKHPS(y, x, high)
	PREFETCHT0(Mem{Base: to, Disp: 2048})
	for i, half := range []uint8{0x20, 0x31} {
		VPERM2F128(U8(half), high, low, x)
		VMOVUPS(x, Mem{Base: to, Disp: i * vector})
	}
	ADDQ(U32(vector), from)
	ADDQ(U32(vector), with)
	ADDQ(U32(2*vector), to)
	SUBQ(U32(8), left)
	JNZ(LabelRef("vector"))
	VZEROUPPER()
	RET()
}
