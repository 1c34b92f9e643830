package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// What is where in a Weave, in bytes.
const (
	weaveDecay   = 0
	weaveShare   = 4
	weaveCount   = 8  // of neighbours, 4 bytes
	weaveStep    = 16 // phase after a wide block
	weaveWrap    = 24 // phase that is the same as 0
	weaveBack    = 32 // phase of the last wide block of a row
	weaveLanes   = 64 * lane
	weaveDegrees = 64
	weaveNear    = weaveDegrees + weaveLanes // for each neighbour its offset, and where its masks are: 0, or from the weave's begin
)

// A weaver holds the registers of relaxWoven.
type weaver struct {
	relaxer
	weave, phase GPVirtual // phase is in bytes
	t            GPVirtual
	nothing      VecVirtual // -0
}

// woven makes relaxWoven: Relax for neighbours that only some elements have, in a
// pattern that repeats along a row. Number and masks of each element are read from
// tables, at the phase of a block. A neighbour that is not there counts as -0, which
// changes no sum. All blocks are wide; the last of a row is moved back so that it ends
// with it.
func woven() {
	TEXT("relaxWoven", NOSPLIT, "func(out, in *float32, count, rows, pitch int, w *float32) (worst uint32)")
	Pragma("noescape")
	Doc("relaxWoven computes rows of at least 32 elements; pitch is in bytes, w begins a Weave.")
	var r weaver
	r.out, r.in, r.at, r.k = parameter("out"), parameter("in"), GP64(), GP64()
	count, left := parameter("count"), GP64()
	r.load()

	Label("row")
	MOVQ(count, left)
	XORQ(r.phase, r.phase)
	Label("wide")
	r.weigh(r.sum())
	r.advance(U32(wide * vector))
	ADDQ(Mem{Base: r.weave, Disp: weaveStep}, r.phase)
	MOVQ(r.phase, r.t)
	SUBQ(Mem{Base: r.weave, Disp: weaveWrap}, r.t)
	CMOVQGE(r.t, r.phase)
	SUBQ(U32(8*wide), left)
	CMPQ(left, U32(8*wide))
	JGE(LabelRef("wide"))
	TESTQ(left, left)
	JZ(LabelRef("next"))
	SUBQ(U32(8*wide), left) // back to where what is left is a block
	SHLQ(U8(2), left)
	r.advance(left)
	MOVQ(U32(8*wide), left)
	MOVQ(Mem{Base: r.weave, Disp: weaveBack}, r.phase)
	JMP(LabelRef("wide"))

	Label("next") // the pointers are at the end of the row
	Load(Param("pitch"), r.t)
	MOVQ(count, left)
	SHLQ(U8(2), left)
	SUBQ(left, r.t)
	ADDQ(r.t, r.in)
	ADDQ(r.t, r.out)
	Load(Param("rows"), r.t)
	DECQ(r.t)
	Store(r.t, Param("rows"))
	JNZ(LabelRef("row"))
	r.finish()
}

// load loads the constants.
func (r *weaver) load() {
	r.weave, r.phase, r.t = parameter("w"), GP64(), GP64()
	r.exponent, r.worst, r.decay, r.share, r.nothing = YMM(), YMM(), YMM(), YMM(), YMM()
	VBROADCASTSS(exponent, r.exponent)
	VPXOR(r.worst, r.worst, r.worst)
	VBROADCASTSS(Mem{Base: r.weave, Disp: weaveDecay}, r.decay)
	VBROADCASTSS(Mem{Base: r.weave, Disp: weaveShare}, r.share)
	VBROADCASTSS(constant("nothing", 1<<31), r.nothing)
}

// sum sums the neighbours of a wide block.
func (r *weaver) sum() []VecVirtual {
	near, mask := GP64(), GP64()
	sum := make([]VecVirtual, wide)
	for i := range sum {
		sum[i] = YMM()
		VMOVAPS(r.nothing, sum[i])
	}
	LEAQ(Mem{Base: r.weave, Disp: weaveNear}, near)
	MOVL(Mem{Base: r.weave, Disp: weaveCount}, r.k.As32())
	Label("neighbour")
	MOVQ(Mem{Base: near}, r.at)
	MOVQ(Mem{Base: near, Disp: 8}, mask)
	ADDQ(r.in, r.at)
	TESTQ(mask, mask)
	JNZ(LabelRef("masked"))
	for i, s := range sum {
		VADDPS(Mem{Base: r.at, Disp: i * vector}, s, s)
	}
	JMP(LabelRef("added"))
	Label("masked")
	ADDQ(r.weave, mask)
	ADDQ(r.phase, mask)
	for i, s := range sum {
		v := YMM()
		VMOVUPS(Mem{Base: r.at, Disp: i * vector}, v)
		VANDPS(Mem{Base: mask, Disp: i * vector}, v, v)
		VORPS(Mem{Base: mask, Disp: i*vector + weaveLanes}, v, v)
		VADDPS(v, s, s)
	}
	Label("added")
	ADDQ(U32(16), near)
	DECQ(r.k)
	JNZ(LabelRef("neighbour"))
	return sum
}

// weigh turns sums into results and stores them.
func (r *weaver) weigh(sum []VecVirtual) {
	LEAQ(Mem{Base: r.weave, Index: r.phase, Scale: 1}, r.t)
	for i, s := range sum {
		here, whole := YMM(), YMM()
		VMOVUPS(Mem{Base: r.in, Disp: i * vector}, here)
		VMULPS(Mem{Base: r.t, Disp: weaveDegrees + i*vector}, here, whole)
		VSUBPS(whole, s, s)
		VMULPS(r.share, s, s)
		VADDPS(here, s, s)
		VMULPS(r.decay, s, s)
		VMOVUPS(s, Mem{Base: r.out, Disp: i * vector})
		r.see(s)
	}
}
