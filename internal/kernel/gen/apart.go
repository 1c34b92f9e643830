package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// apart makes relaxApart: Relax for elements that do not lie together. Four of them
// are summed one by one, side by side, and then blended as a vector. What is left of
// a row is done one by one.
func apart() {
	TEXT("relaxApart", NOSPLIT, "func(out, in *float32, offsets *int, n, count, stride, rows, pitch int, w *float32) (worst uint32)")
	Pragma("noescape")
	Doc("relaxApart is relaxVectors for elements that are stride bytes apart.")
	var r relaxer
	r.out, r.in, r.offsets, r.n = parameter("out"), parameter("in"), parameter("offsets"), parameter("n")
	stride, count, w := parameter("stride"), parameter("count"), parameter("w")
	r.k, r.at = GP64(), GP64()
	r.load(w)
	left, three := GP64(), GP64()
	LEAQ(Mem{Base: stride, Index: stride, Scale: 2}, three)

	Label("row")
	MOVQ(count, left)
	Label("four")
	CMPQ(left, U32(4))
	JB(LabelRef("one"))
	r.cells(4, stride, three)
	LEAQ(Mem{Base: r.in, Index: stride, Scale: 4}, r.in)
	LEAQ(Mem{Base: r.out, Index: stride, Scale: 4}, r.out)
	SUBQ(U32(4), left)
	JMP(LabelRef("four"))
	Label("one")
	TESTQ(left, left)
	JZ(LabelRef("next"))
	r.cells(1, stride, three)
	ADDQ(stride, r.in)
	ADDQ(stride, r.out)
	DECQ(left)
	JMP(LabelRef("one"))

	Label("next") // the pointers are a stride beyond the row
	back := GP64()
	MOVQ(count, back)
	IMULQ(stride, back)
	SUBQ(back, r.in)
	SUBQ(back, r.out)
	Load(Param("pitch"), back)
	ADDQ(back, r.in)
	ADDQ(back, r.out)
	Load(Param("rows"), back)
	DECQ(back)
	Store(back, Param("rows"))
	JNZ(LabelRef("row"))
	r.finish()
}

// cells computes one element or four.
func (r *relaxer) cells(count int, stride, three GPVirtual) {
	label := labels()
	place := func(base GPVirtual, i int) Mem {
		return []Mem{{Base: base}, {Base: base, Index: stride, Scale: 1}, {Base: base, Index: stride, Scale: 2}, {Base: base, Index: three, Scale: 1}}[i]
	}
	sum := make([]VecVirtual, count)
	MOVQ(Mem{Base: r.offsets}, r.at)
	ADDQ(r.in, r.at)
	for i := range sum {
		sum[i] = XMM()
		VMOVSS(place(r.at, i), sum[i])
	}
	MOVQ(U32(1), r.k)
	JMP(LabelRef(label("test")))
	Label(label("neighbour"))
	MOVQ(Mem{Base: r.offsets, Index: r.k, Scale: 8}, r.at)
	ADDQ(r.in, r.at)
	for i := range sum {
		VADDSS(place(r.at, i), sum[i], sum[i])
	}
	INCQ(r.k)
	Label(label("test"))
	CMPQ(r.k, r.n)
	JB(LabelRef(label("neighbour")))

	here := XMM()
	VMOVSS(place(r.in, 0), here)
	all := sum[0]
	for i := 1; i < count; i++ {
		VINSERTPS(U8(i<<4), sum[i], all, all)
		VINSERTPS(U8(i<<4), place(r.in, i), here, here)
	}
	r.mix(all, here)
	VMOVSS(all, place(r.out, 0))
	for i := 1; i < count; i++ {
		VEXTRACTPS(U8(i), all, place(r.out, i))
	}
	r.see(all.AsY())
}

// mix blends one vector of sums.
func (r *relaxer) mix(sum, here VecVirtual) {
	whole := XMM()
	VMULPS(r.degree.AsX(), here, whole)
	VSUBPS(whole, sum, sum)
	VMULPS(r.share.AsX(), sum, sum)
	VADDPS(here, sum, sum)
	VMULPS(r.decay.AsX(), sum, sum)
}
