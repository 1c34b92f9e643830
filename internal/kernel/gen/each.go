package main

import (
	"slices"
	"strings"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// An elementwise kernel computes each element of some columns by itself.
type elementwise struct {
	name, doc string
	columns   []string
	read      int // so many of the columns, the first ones
	written   []string
	constants int      // float32 at w
	silent    bool     // nothing is returned
	large     []string // columns that may be larger than a cache
	compute   func(v, c []VecVirtual)
	looks     func(v []VecVirtual, w GPVirtual) // instead of compute
	w         GPVirtual
}

// generate makes the kernel: vector by vector, and what is left under a mask. Unless it is silent,
// it returns the largest exponent in the columns that it has written, or if there are
// none, read.
func (e *elementwise) generate() {
	result := " (worst uint32)"
	if e.silent {
		result = ""
	}
	TEXT(e.name, NOSPLIT, "func("+strings.Join(e.columns, ", ")+" *float32, n int, w *float32)"+result)
	Pragma("noescape")
	Doc(e.doc)
	column := make([]GPVirtual, len(e.columns))
	for i, c := range e.columns {
		column[i] = parameter(c)
	}
	left, at := parameter("n"), GP64()
	constants := make([]VecVirtual, e.constants)
	if e.looks != nil {
		e.w = parameter("w")
	}
	if e.constants > 0 {
		w := parameter("w")
		for i := range constants {
			constants[i] = YMM()
			VBROADCASTSS(Mem{Base: w, Disp: i * lane}, constants[i])
		}
	}
	var r relaxer
	if !e.silent {
		r.exponent, r.worst = YMM(), YMM()
		VBROADCASTSS(exponent, r.exponent)
		VPXOR(r.worst, r.worst, r.worst)
	}
	XORQ(at, at)
	if e.silent { // short operations: most of a turn would be the loop
		JMP(LabelRef("wideTest"))
		Label("wide")
		for j := range wide {
			e.step(column, Mem{Index: at, Scale: 1, Disp: vector * j}, constants, &r, nil)
		}
		ADDQ(U32(wide*vector), at)
		Label("wideTest")
		SUBQ(U32(wide*8), left)
		JAE(LabelRef("wide"))
		ADDQ(U32(wide*8), left)
	}
	here := Mem{Index: at, Scale: 1}
	JMP(LabelRef("test"))
	Label("vector")
	e.step(column, here, constants, &r, nil)
	ADDQ(U32(vector), at)
	Label("test")
	SUBQ(U32(8), left)
	JAE(LabelRef("vector"))
	ADDQ(U32(8), left)
	JZ(LabelRef("done"))
	e.step(column, here, constants, &r, maskOf(left))
	Label("done")
	if e.silent {
		VZEROUPPER()
		RET()
		return
	}
	r.finish()
}

// step computes one vector.
func (e *elementwise) step(column []GPVirtual, at Mem, constants []VecVirtual, r *relaxer, mask VecVirtual) {
	v := make([]VecVirtual, len(column))
	place := func(i int) Mem {
		m := at
		m.Base = column[i]
		return m
	}
	for i := range v {
		v[i] = YMM()
		switch {
		case i >= e.read:
		case mask != nil:
			VMASKMOVPS(place(i), mask, v[i])
		default:
			VMOVUPS(place(i), v[i])
		}
	}
	for i, name := range e.columns { // half a page ahead, for the processor does not look beyond a page
		if mask == nil && slices.Contains(e.large, name) {
			PREFETCHT0(place(i).Offset(2048))
		}
	}
	if e.looks != nil {
		e.looks(v, e.w)
	} else {
		e.compute(v, constants)
	}
	for i, name := range e.columns {
		written := slices.Contains(e.written, name)
		if written && mask != nil {
			VMASKMOVPS(v[i], mask, place(i))
		} else if written {
			VMOVUPS(v[i], place(i))
		}
		if !e.silent && (written || len(e.written) == 0) {
			if mask != nil {
				VPAND(mask, v[i], v[i])
			}
			r.see(v[i])
		}
	}
}

// each makes the kernels that compute each element by itself.
func each() {
	for _, e := range slices.Concat([]elementwise{
		{
			name: "finiteVectors", doc: "finiteVectors only looks at the elements.",
			columns: []string{"v"}, read: 1, compute: func(v, c []VecVirtual) {},
		},
		{
			name: "clampVectors", doc: "clampVectors puts elements between w[0] and w[1].",
			columns: []string{"v"}, read: 1, written: []string{"v"}, constants: 2,
			compute: func(v, c []VecVirtual) { // of two equal ones, the second operand of the instruction stays
				VMAXPS(v[0], c[0], v[0])
				VMINPS(v[0], c[1], v[0])
			},
		},
		{
			name: "outsideVectors", doc: "outsideVectors returns 0 if all elements are from w[0] to w[1].",
			columns: []string{"v"}, read: 1, constants: 2,
			compute: func(v, c []VecVirtual) {
				below := YMM()
				VCMPPS(U8(notLeast), c[0], v[0], below)
				VCMPPS(U8(notMost), c[1], v[0], v[0])
				VORPS(below, v[0], v[0])
			},
		},
		{
			name: "strangeVectors", doc: "strangeVectors returns 0 if all elements are whole numbers from 0 to below w[0].",
			columns: []string{"v"}, read: 1, constants: 1,
			compute: func(v, c []VecVirtual) {
				whole, zero := YMM(), YMM()
				VROUNDPS(U8(3), v[0], whole) // toward 0
				VCMPPS(U8(unequal), whole, v[0], whole)
				VXORPS(zero, zero, zero)
				VCMPPS(U8(notLeast), zero, v[0], zero)
				VCMPPS(U8(notLess), c[0], v[0], v[0])
				VORPS(zero, v[0], v[0])
				VORPS(whole, v[0], v[0])
			},
		},
		{
			name: "scaleVectors", doc: "scaleVectors is in·w[0].",
			columns: []string{"in", "out"}, read: 1, written: []string{"out"}, constants: 1, large: []string{"in", "out"},
			compute: func(v, c []VecVirtual) { VMULPS(v[0], c[0], v[1]) },
		},
		{
			name: "earnVectors", doc: "earnVectors computes a piece of Earn; w is bonus, cost.",
			columns: []string{"heat", "presence", "out"}, read: 2, written: []string{"out"}, constants: 2,
			compute: earn,
		},
		{
			name: "addVectors", doc: "addVectors is v+more, in v.",
			columns: []string{"v", "more"}, read: 2, written: []string{"v"},
			compute: func(v, c []VecVirtual) { VADDPS(v[1], v[0], v[0]) },
		},
	}, ages, pipes, flows, growths, columns()) {
		e.generate()
	}
	bits()
	planes()
}

// bits makes bitsVectors: bits are gathered from wide blocks, then
// from vectors, then from what is left.
func bits() {
	TEXT("bitsVectors", NOSPLIT, "func(v *float32, n int) (bits uint32)")
	Pragma("noescape")
	Doc("bitsVectors returns the bits that are set in some element.")
	v, left := parameter("v"), parameter("n")
	sum, one := YMM(), YMM()
	VPXOR(sum, sum, sum)
	Label("wide")
	CMPQ(left, U32(8*wide))
	JB(LabelRef("vector"))
	VMOVDQU(Mem{Base: v}, one)
	for i := 1; i < wide; i++ {
		VPOR(Mem{Base: v, Disp: i * vector}, one, one)
	}
	VPOR(one, sum, sum)
	ADDQ(U32(wide*vector), v)
	SUBQ(U32(8*wide), left)
	JMP(LabelRef("wide"))
	Label("vector")
	CMPQ(left, U32(8))
	JB(LabelRef("rest"))
	VPOR(Mem{Base: v}, sum, sum)
	ADDQ(U32(vector), v)
	SUBQ(U32(8), left)
	JMP(LabelRef("vector"))
	Label("rest")
	TESTQ(left, left)
	JZ(LabelRef("done"))
	VMASKMOVPS(Mem{Base: v}, maskOf(left), one)
	VPOR(one, sum, sum)
	Label("done")
	high := XMM()
	VEXTRACTI128(U8(1), sum, high)
	VPOR(high, sum.AsX(), high)
	VPSHUFD(U8(0x4e), high, one.AsX())
	VPOR(one.AsX(), high, high)
	VPSHUFD(U8(0xb1), high, one.AsX())
	VPOR(one.AsX(), high, high)
	all := GP32()
	VMOVD(high, all)
	VZEROUPPER()
	Store(all, ReturnIndex(0))
	RET()
}

// earn computes the formula of Earn.
func earn(v, c []VecVirtual) {
	heat, presence, out := v[0], v[1], v[2]
	bonus, cost := c[0], c[1]
	VMULPS(heat, bonus, out)
	VADDPS(cost, out, out)
	VXORPS(heat, heat, heat)
	VCMPPS(U8(4), heat, presence, presence) // not equal, or NaN
	VANDPS(presence, out, out)
}
