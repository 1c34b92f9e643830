package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// slope makes slopeVectors. Rows have at least a vector; the last of a row ends with it.
func slope() {
	TEXT("slopeVectors", NOSPLIT, "func(out, in *float32, north, south, west, east, count, rows, pitch int, w *float32) (worst uint32)")
	Pragma("noescape")
	Doc("slopeVectors computes rows of at least 8 cells; offsets and pitch are in bytes of in. w is the factor, 1/2 or -1/2,",
		"and the least length of what is made a unit vector.")
	out, in := parameter("out"), parameter("in")
	var offsets [4]GPVirtual
	for i, name := range []string{"north", "south", "west", "east"} {
		offsets[i] = parameter(name)
	}
	count, w, left, t := parameter("count"), parameter("w"), GP64(), GP64()
	factor, least := YMM(), YMM()
	VBROADCASTSS(Mem{Base: w}, factor)
	VBROADCASTSS(Mem{Base: w, Disp: lane}, least)
	var r relaxer
	r.exponent, r.worst = YMM(), YMM()
	VBROADCASTSS(exponent, r.exponent)
	VPXOR(r.worst, r.worst, r.worst)

	Label("row")
	MOVQ(count, left)
	Label("vector")
	var v [4]VecVirtual
	for i, o := range offsets {
		v[i] = YMM()
		VMOVUPS(Mem{Base: in, Index: o, Scale: 1}, v[i])
	}
	y, x := v[1], v[3]
	VSUBPS(v[0], y, y)
	VSUBPS(v[2], x, x)
	VMULPS(factor, y, y)
	VMULPS(factor, x, x)
	shorten(x, y, least)
	low, high := YMM(), YMM()
	VUNPCKLPS(y, x, low)
	VUNPCKHPS(y, x, high)
	for i, half := range []uint8{0x20, 0x31} {
		VPERM2F128(U8(half), high, low, v[0])
		VMOVUPS(v[0], Mem{Base: out, Disp: i * vector})
		r.see(v[0])
	}
	ADDQ(U32(vector), in)
	ADDQ(U32(2*vector), out)
	SUBQ(U32(8), left)
	CMPQ(left, U32(8))
	JGE(LabelRef("vector"))
	TESTQ(left, left)
	JZ(LabelRef("next"))
	SUBQ(U32(8), left)
	LEAQ(Mem{Base: in, Index: left, Scale: 4}, in)
	LEAQ(Mem{Base: out, Index: left, Scale: 8}, out)
	MOVQ(U32(8), left)
	JMP(LabelRef("vector"))

	Label("next") // the pointers are at the end of the row
	Load(Param("pitch"), t)
	MOVQ(count, left)
	SHLQ(U8(2), left)
	SUBQ(left, t)
	ADDQ(t, in)
	LEAQ(Mem{Base: out, Index: t, Scale: 2}, out)
	Load(Param("rows"), t)
	DECQ(t)
	Store(t, Param("rows"))
	JNZ(LabelRef("row"))
	r.finish()
}

// shorten divides x and y by their length where that is above the least, which none is
// if it is infinite; then it is no work.
func shorten(x, y, least VecVirtual) {
	t := GP32()
	VMOVD(least.AsX(), t)
	CMPL(t, U32(0x7f800000))
	JE(LabelRef("long"))
	length, square, above := YMM(), YMM(), YMM()
	VMULPS(x, x, length)
	VMULPS(y, y, square)
	VADDPS(square, length, length)
	VSQRTPS(length, length)
	VCMPPS(U8(0x1e), least, length, above) // greater than, and never for a NaN
	VDIVPS(length, x, square)
	VBLENDVPS(above, square, x, x)
	VDIVPS(length, y, square)
	VBLENDVPS(above, square, y, y)
	Label("long")
}
