package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// bitwise makes the kernels of bits.
func bitwise() {
	packing("packEqual", "packEqual sets the bits of the elements that are w[0]; it writes whole bytes.", 0)
	packing("packAbove", "packAbove sets the bits of the elements above w[0]; it writes whole bytes.", less)
	unpacking()
	counting()
}

// packing makes a kernel that compares elements with a number: 32 at a time, then 8, then those
// that are left under a mask.
func packing(name, doc string, predicate uint8) {
	TEXT(name, NOSPLIT, "func(src *float32, dst *uint64, n int, w *float32)")
	Pragma("noescape")
	Doc(doc)
	src, dst, left, w := parameter("src"), parameter("dst"), parameter("n"), parameter("w")
	with, order := YMM(), YMM()
	VBROADCASTSS(Mem{Base: w}, with)
	VMOVDQU(vectorOf("orderOfPacked", 0, 4, 1, 5, 2, 6, 3, 7), order)
	v := []VecVirtual{YMM(), YMM(), YMM(), YMM()}
	b := GP32()
	JMP(LabelRef("test"))
	Label("wide")
	for i := range v {
		VCMPPS(U8(predicate), Mem{Base: src, Disp: i * vector}, with, v[i])
	}
	VPACKSSDW(v[1], v[0], v[0])
	VPACKSSDW(v[3], v[2], v[2])
	VPACKSSWB(v[2], v[0], v[0])
	VPERMD(v[0], order, v[0])
	VPMOVMSKB(v[0], b)
	MOVL(b, Mem{Base: dst})
	ADDQ(U32(wide*vector), src)
	ADDQ(U32(wide), dst)
	Label("test")
	SUBQ(U32(8*wide), left)
	JAE(LabelRef("wide"))
	ADDQ(U32(8*wide), left)
	JMP(LabelRef("some"))
	Label("vector")
	VCMPPS(U8(predicate), Mem{Base: src}, with, v[0])
	VMOVMSKPS(v[0], b)
	MOVB(b.As8(), Mem{Base: dst})
	ADDQ(U32(vector), src)
	INCQ(dst)
	Label("some")
	SUBQ(U32(8), left)
	JAE(LabelRef("vector"))
	ADDQ(U32(8), left)
	JZ(LabelRef("done"))
	mask := maskOf(left)
	VMASKMOVPS(Mem{Base: src}, mask, v[0])
	VCMPPS(U8(predicate), v[0], with, v[0])
	VANDPS(mask, v[0], v[0])
	VMOVMSKPS(v[0], b)
	MOVB(b.As8(), Mem{Base: dst})
	Label("done")
	VZEROUPPER()
	RET()
}

// unpacking makes unpackVectors: 32 elements at a time, then 8, then those that are left under a mask.
func unpacking() {
	TEXT("unpackVectors", NOSPLIT, "func(src *uint64, dst *float32, n int)")
	Pragma("noescape")
	Doc("unpackVectors writes 1 or 0 for each of n bits.")
	src, dst, left := parameter("src"), parameter("dst"), parameter("n")
	one := YMM()
	VMOVUPS(eight(0x3f800000), one)
	var bit [wide]VecVirtual
	for i := range bit {
		bit[i] = YMM()
		var b [8]uint32
		for k := range b {
			b[k] = 1 << (8*i + k)
		}
		VMOVDQU(vectorOf("bits"+string(rune('0'+i)), b[:]...), bit[i])
	}
	all, v := YMM(), YMM()
	JMP(LabelRef("test"))
	Label("wide")
	VPBROADCASTD(Mem{Base: src}, all)
	for i, b := range bit {
		VPAND(b, all, v)
		VPCMPEQD(b, v, v)
		VPAND(one, v, v)
		VMOVDQU(v, Mem{Base: dst, Disp: i * vector})
	}
	ADDQ(U32(wide), src)
	ADDQ(U32(wide*vector), dst)
	Label("test")
	SUBQ(U32(8*wide), left)
	JAE(LabelRef("wide"))
	ADDQ(U32(8*wide), left)
	JMP(LabelRef("some"))
	Label("vector")
	VPBROADCASTB(Mem{Base: src}, all)
	VPAND(bit[0], all, v)
	VPCMPEQD(bit[0], v, v)
	VPAND(one, v, v)
	VMOVDQU(v, Mem{Base: dst})
	INCQ(src)
	ADDQ(U32(vector), dst)
	Label("some")
	SUBQ(U32(8), left)
	JAE(LabelRef("vector"))
	ADDQ(U32(8), left)
	JZ(LabelRef("done"))
	VPBROADCASTB(Mem{Base: src}, all)
	VPAND(bit[0], all, v)
	VPCMPEQD(bit[0], v, v)
	VPAND(one, v, v)
	VMASKMOVPS(v, maskOf(left), Mem{Base: dst})
	Label("done")
	VZEROUPPER()
	RET()
}

var named = map[string]Mem{} // vectors of numbers

// vectorOf returns a vector of eight numbers in read-only memory.
func vectorOf(name string, numbers ...uint32) Mem {
	if m, ok := named[name]; ok {
		return m
	}
	m := GLOBL(name, RODATA|NOPTR)
	named[name] = m
	for i, n := range numbers {
		DATA(i*lane, U32(n))
	}
	return m
}

// What is where in a place and in a census, in bytes.
const (
	placeRight = 16
	placeLeft  = 32
	placeSize  = 48
	digits     = 6 // of a count
	few        = 4 // that are enough for most spaces
	censusBorn = 8 * digits
	censusLive = censusBorn + 8
	censusSize = censusLive + 8
)

// counting makes countVectors, which counts for 256 elements at a time. A vector for each binary
// digit of the counts holds that digit of all; two neighbours at a time are added, with ripple carry.
func counting() {
	TEXT("countVectors", NOSPLIT, "func(out, array, own, near *uint64, n int, cases *uint64, most, blocks int)")
	Pragma("noescape")
	Doc("countVectors computes blocks of four words of Census.Count.")
	out, array, own, n := parameter("out"), parameter("array"), parameter("own"), parameter("n")
	most, blocks := parameter("most"), parameter("blocks")
	var digit [digits]VecVirtual
	for i := range digit {
		digit[i] = YMM()
	}
	x, y, t, z, alive, result, left := YMM(), YMM(), YMM(), YMM(), YMM(), YMM(), GP64()
	near, cases := GP64(), GP64()
	bits := func(p GPVirtual, disp int, to VecVirtual) {
		at := GP64()
		MOVQ(Mem{Base: p, Disp: disp}, at)
		VMOVDQU(Mem{Base: array, Index: at, Scale: 8}, to)
		VMOVDQU(Mem{Base: array, Index: at, Scale: 8, Disp: 8}, z)
		VPBROADCASTQ(Mem{Base: p, Disp: disp + placeRight}, t) // shifts by a register of numbers are faster than by one
		VPSRLVQ(t, to, to)
		VPBROADCASTQ(Mem{Base: p, Disp: disp + placeLeft}, t)
		VPSLLVQ(t, z, z)
		VPOR(z, to, to)
	}
	ripple := func(carry VecVirtual, from int, label string) { // adds to the digits from one on
		with := t
		for i, d := range digit[from:] {
			if from+i == few {
				CMPQ(n, U32(1<<few-1))
				JBE(LabelRef(label))
			}
			VPAND(d, carry, with)
			VPXOR(carry, d, d)
			carry, with = with, carry
		}
		Label(label)
	}

	Label("block")
	for _, d := range digit {
		VPXOR(d, d, d)
	}
	Load(Param("near"), near)
	MOVQ(n, left)
	JMP(LabelRef("test"))
	Label("pair") // a full adder of the lowest digits, and its carry
	bits(near, 0, x)
	bits(near, placeSize, y)
	VPXOR(x, digit[0], z)
	VPAND(x, digit[0], x)
	VPAND(y, z, t)
	VPXOR(y, z, digit[0])
	VPOR(t, x, x)
	ripple(x, 1, "added")
	ADDQ(U32(2*placeSize), near)
	Label("test")
	SUBQ(U32(2), left)
	JAE(LabelRef("pair"))
	CMPQ(left, I32(-1))
	JNE(LabelRef("counted"))
	bits(near, 0, x)
	ripple(x, 0, "last")
	Label("counted")

	bits(own, 0, alive)
	VPXOR(result, result, result)
	Load(Param("cases"), cases)
	MOVQ(most, left)
	JMP(LabelRef("any"))
	Label("case")
	VPBROADCASTQ(Mem{Base: cases, Disp: censusLive}, x)
	VPBROADCASTQ(Mem{Base: cases, Disp: censusBorn}, t)
	VPAND(alive, x, x)
	VPANDN(t, alive, t)
	VPOR(t, x, x)
	for i, d := range digit {
		if i == few {
			CMPQ(n, U32(1<<few-1))
			JBE(LabelRef("matched"))
		}
		VPBROADCASTQ(Mem{Base: cases, Disp: 8 * i}, t)
		VPXOR(d, t, t)
		VPAND(t, x, x)
	}
	Label("matched")
	VPOR(x, result, result)
	ADDQ(U32(censusSize), cases)
	Label("any")
	DECQ(left)
	JGE(LabelRef("case"))
	VMOVDQU(result, Mem{Base: out})
	ADDQ(U32(vector), out)
	ADDQ(U32(vector), array)
	DECQ(blocks)
	JNZ(LabelRef("block"))
	VZEROUPPER()
	RET()
}
