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

// unpacking makes unpackVectors: 32 elements at a time, then 8, then those that are left under a mask. It fetches
// what it is to write ahead of need, often while the next bits are counted.
func unpacking() {
	TEXT("unpackVectors", NOSPLIT, "func(src *uint64, dst *float32, n int)")
	Pragma("noescape")
	Doc("unpackVectors writes 1 or 0 for each of n bits.")
	src, dst, left := parameter("src"), parameter("dst"), parameter("n")
	const ahead = 2048
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
	PREFETCHT0(Mem{Base: dst, Disp: ahead})
	PREFETCHT0(Mem{Base: dst, Disp: ahead + 64})
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

// A counter holds the registers of countVectors.
type counter struct {
	array, near, cases GPVirtual
	n, most, left      GPVirtual
	digit              [digits]VecVirtual // the binary digits of the counts
	x, y, t, z         VecVirtual
	alive, result      VecVirtual
}

// counting makes countVectors, which counts for 256 elements at a time. A vector for each binary
// digit of the counts holds that digit of all; two neighbours at a time are added, with ripple carry.
func counting() {
	TEXT("countVectors", NOSPLIT, "func(out, array, own, near *uint64, n int, cases *uint64, most, blocks int)")
	Pragma("noescape")
	Doc("countVectors computes blocks of four words of Census.Count.")
	out, own, blocks := parameter("out"), parameter("own"), parameter("blocks")
	c := counter{array: parameter("array"), n: parameter("n"), most: parameter("most"), near: GP64(), cases: GP64(), left: GP64()}
	for _, v := range []*VecVirtual{&c.x, &c.y, &c.t, &c.z, &c.alive, &c.result} {
		*v = YMM()
	}
	for i := range c.digit {
		c.digit[i] = YMM()
	}
	Label("block")
	c.count()
	c.bits(own, 0, c.alive)
	c.rule()
	VMOVDQU(c.result, Mem{Base: out})
	ADDQ(U32(vector), out)
	ADDQ(U32(vector), c.array)
	DECQ(blocks)
	JNZ(LabelRef("block"))
	VZEROUPPER()
	RET()
}

// count counts the neighbours.
func (c *counter) count() {
	for _, d := range c.digit {
		VPXOR(d, d, d)
	}
	Load(Param("near"), c.near)
	MOVQ(c.n, c.left)
	JMP(LabelRef("test"))
	Label("pair") // a full adder of the lowest digits, and its carry
	c.bits(c.near, 0, c.x)
	c.bits(c.near, placeSize, c.y)
	VPXOR(c.x, c.digit[0], c.z)
	VPAND(c.x, c.digit[0], c.x)
	VPAND(c.y, c.z, c.t)
	VPXOR(c.y, c.z, c.digit[0])
	VPOR(c.t, c.x, c.x)
	c.ripple(1, "added")
	ADDQ(U32(2*placeSize), c.near)
	Label("test")
	SUBQ(U32(2), c.left)
	JAE(LabelRef("pair"))
	CMPQ(c.left, I32(-1))
	JNE(LabelRef("counted"))
	c.bits(c.near, 0, c.x)
	c.ripple(0, "last")
	Label("counted")
}

// bits loads the bits at a place. To shift by a vector of numbers is faster than by one number.
func (c *counter) bits(place GPVirtual, disp int, to VecVirtual) {
	at := GP64()
	MOVQ(Mem{Base: place, Disp: disp}, at)
	VMOVDQU(Mem{Base: c.array, Index: at, Scale: 8}, to)
	VMOVDQU(Mem{Base: c.array, Index: at, Scale: 8, Disp: 8}, c.z)
	VPBROADCASTQ(Mem{Base: place, Disp: disp + placeRight}, c.t)
	VPSRLVQ(c.t, to, to)
	VPBROADCASTQ(Mem{Base: place, Disp: disp + placeLeft}, c.t)
	VPSLLVQ(c.t, c.z, c.z)
	VPOR(c.z, to, to)
}

// ripple adds x to the digits from one on, in a few of them if that is enough for n.
func (c *counter) ripple(from int, label string) {
	carry, with := c.x, c.t
	for i, d := range c.digit[from:] {
		if from+i == few {
			c.enough(label)
		}
		VPAND(d, carry, with)
		VPXOR(carry, d, d)
		carry, with = with, carry
	}
	Label(label)
}

func (c *counter) enough(label string) {
	CMPQ(c.n, U32(1<<few-1))
	JBE(LabelRef(label))
}

// rule gathers the elements for which one of the cases is true.
func (c *counter) rule() {
	VPXOR(c.result, c.result, c.result)
	Load(Param("cases"), c.cases)
	MOVQ(c.most, c.left)
	JMP(LabelRef("any"))
	Label("case")
	VPBROADCASTQ(Mem{Base: c.cases, Disp: censusLive}, c.x)
	VPBROADCASTQ(Mem{Base: c.cases, Disp: censusBorn}, c.t)
	VPAND(c.alive, c.x, c.x)
	VPANDN(c.t, c.alive, c.t)
	VPOR(c.t, c.x, c.x)
	for i, d := range c.digit {
		if i == few {
			c.enough("matched")
		}
		VPBROADCASTQ(Mem{Base: c.cases, Disp: 8 * i}, c.t)
		VPXOR(d, c.t, c.t)
		VPAND(c.t, c.x, c.x)
	}
	Label("matched")
	VPOR(c.x, c.result, c.result)
	ADDQ(U32(censusSize), c.cases)
	Label("any")
	DECQ(c.left)
	JGE(LabelRef("case"))
}
