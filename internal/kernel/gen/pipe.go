package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// pipes is the kernel of Pipe. It reports nothing: what it writes is looked at when it is complete.
var pipes = []elementwise{
	{
		name: "pipeVectors", doc: "pipeVectors computes Pipe.Move; w begins a Pipe.", silent: true,
		columns: []string{"here", "there", "bedHere", "bedThere", "flux", "moved", "nextFlux"}, read: 5,
		written: []string{"moved", "nextFlux"}, constants: 5, large: []string{"there", "bedThere"},
		compute: func(v, c []VecVirtual) {
			v[5] = pipe(v, c, v[6])
		},
	},
}

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
