package main

import (
	"math"
	"slices"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// An operation computes d from a and b, of which b may be in memory.
type operation struct {
	name string
	f    func(a VecVirtual, b Op, d VecVirtual)
}

// compares is an operation that gives all bits or none.
func compares(predicate int) func(a VecVirtual, b Op, d VecVirtual) {
	return func(a VecVirtual, b Op, d VecVirtual) { VCMPPS(U8(predicate), b, a, d) }
}

// operations are those of Combine, in its order.
var operations = []operation{
	{"add", func(a VecVirtual, b Op, d VecVirtual) { VADDPS(b, a, d) }},
	{"subtract", func(a VecVirtual, b Op, d VecVirtual) { VSUBPS(b, a, d) }},
	{"multiply", func(a VecVirtual, b Op, d VecVirtual) { VMULPS(b, a, d) }},
	{"divide", func(a VecVirtual, b Op, d VecVirtual) { VDIVPS(b, a, d) }},
	{"equal", compares(equalTo)},
	{"notEqual", compares(unequal)},
	{"less", compares(less)},
	{"lessEqual", compares(atMost)},
	{"greater", compares(greater)},
	{"greaterEqual", compares(least)},
	{"least", nil}, // of two equal ones, and of NaN, the second operand of the instruction stays
	{"most", nil},
	{"and", func(a VecVirtual, b Op, d VecVirtual) { VANDPS(b, a, d) }},
	{"or", func(a VecVirtual, b Op, d VecVirtual) { VORPS(b, a, d) }},
}

// columns are the kernels of Combine and its like.
func columns() (all []elementwise) {
	for _, o := range operations {
		f := func(a, b, d VecVirtual) {
			switch o.name {
			case "least":
				VMINPS(a, b, d)
			case "most":
				VMAXPS(a, b, d)
			default:
				o.f(a, b, d)
			}
		}
		all = append(all, elementwise{
			name: o.name + "Pairs", doc: o.name + "Pairs is Combine.", columns: []string{"a", "b", "to"}, read: 2, written: []string{"to"}, silent: true,
			compute: func(v, c []VecVirtual) { f(v[0], v[1], v[2]) },
		}, elementwise{
			name: o.name + "Each", doc: o.name + "Each is Combine with w[0].", columns: []string{"a", "to"}, read: 1, written: []string{"to"}, constants: 1, silent: true,
			compute: func(v, c []VecVirtual) { f(v[0], c[0], v[1]) },
		})
	}
	return slices.Concat(all, chooses(), singles())
}

// chooses are the kernels of Choose.
func chooses() []elementwise {
	return []elementwise{
		{
			name: "choosePairs", doc: "choosePairs is Choose.", columns: []string{"mask", "yes", "no", "to"}, read: 3, written: []string{"to"}, silent: true,
			compute: func(v, c []VecVirtual) { VBLENDVPS(v[0], v[1], v[2], v[3]) },
		},
		{
			name: "chooseYes", doc: "chooseYes is Choose with w[0] for yes.", columns: []string{"mask", "no", "to"}, read: 2, written: []string{"to"}, constants: 1, silent: true,
			compute: func(v, c []VecVirtual) { VBLENDVPS(v[0], c[0], v[1], v[2]) },
		},
		{
			name: "chooseNo", doc: "chooseNo is Choose with w[0] for no.", columns: []string{"mask", "yes", "to"}, read: 2, written: []string{"to"}, constants: 1, silent: true,
			compute: func(v, c []VecVirtual) { VBLENDVPS(v[0], v[1], c[0], v[2]) },
		},
		{
			name: "chooseEach", doc: "chooseEach is Choose with w[0] for yes and w[1] for no.", columns: []string{"mask", "to"}, read: 1, written: []string{"to"}, constants: 2, silent: true,
			compute: func(v, c []VecVirtual) { VBLENDVPS(v[0], c[0], c[1], v[1]) },
		},
	}
}

// singles are the kernels of one column, and those of random words.
func singles() []elementwise {
	return []elementwise{
		{
			name: "flipEach", doc: "flipEach turns the bits of w[0] round.", columns: []string{"a", "to"}, read: 1, written: []string{"to"}, constants: 1, silent: true,
			compute: func(v, c []VecVirtual) { VXORPS(v[0], c[0], v[1]) },
		},
		{
			name: "floorEach", doc: "floorEach is the next whole number below.", columns: []string{"a", "to"}, read: 1, written: []string{"to"}, silent: true,
			compute: func(v, c []VecVirtual) { VROUNDPS(U8(9), v[0], v[1]) },
		},
		{
			name: "sqrtEach", doc: "sqrtEach is the square root.", columns: []string{"a", "to"}, read: 1, written: []string{"to"}, silent: true,
			compute: func(v, c []VecVirtual) { VSQRTPS(v[0], v[1]) },
		},
		{
			name: "belowEach", doc: "belowEach is Below; w is the limit and 2**31, both as bits, the limit's highest bit turned round.", columns: []string{"a", "to"}, read: 1,
			written: []string{"to"}, constants: 2, silent: true,
			compute: func(v, c []VecVirtual) {
				VPXOR(v[0], c[1], v[0])
				VPCMPGTD(v[0], c[0], v[1])
			},
		},
		{
			name: "belowNeeded", doc: "belowNeeded is Below where an element of need has all bits.", columns: []string{"words", "need", "to"}, read: 2, written: []string{"to"},
			constants: 2, silent: true,
			compute: func(v, c []VecVirtual) {
				VPXOR(v[0], c[1], v[0])
				VPCMPGTD(v[0], c[0], v[0])
				VPAND(v[0], v[1], v[2])
			},
		},
		{
			name: "lookupEach", doc: "lookupEach is Lookup in 16 numbers at w.", columns: []string{"a", "to"}, read: 1, written: []string{"to"}, silent: true,
			looks: func(v []VecVirtual, w GPVirtual) {
				high := YMM()
				VCVTTPS2DQ(v[0], v[0])
				VPERMPS(Mem{Base: w}, v[0], v[1])
				VPERMPS(Mem{Base: w, Disp: vector}, v[0], high)
				VPSLLD(U8(28), v[0], v[0]) // bit 3 to the sign
				VBLENDVPS(v[0], high, v[1], v[1])
			},
		},
		{
			name: "belowPairs", doc: "belowPairs is BelowEach.", columns: []string{"words", "p", "to"}, read: 2, written: []string{"to"}, silent: true,
			compute: func(v, c []VecVirtual) {
				low, high := YMM(), YMM()
				VPSRLD(U8(24), v[0], low)
				VPANDN(v[0], low, low) // without the bit that is half of a unit, so that it is rounded down
				VCVTDQ2PS(low, low)
				VPSRLD(U8(8), v[0], high)
				VCVTDQ2PS(high, high)
				VPADDD(eight(8<<23), high, high) // times 2^8
				VBLENDVPS(v[0], high, low, low)  // from 2^31 on
				VMULPS(eight(math.Float32bits(0x1p-32)), low, low)
				VCMPPS(U8(less), v[1], low, v[2])
			},
		},
	}
}

// nears makes sumNear and countNear: four vectors side by side, then one, then what is left.
func nears() {
	near("sumNear", "sumNear adds the elements at the offsets, in bytes, one after another.", false)
	near("countNear", "countNear counts those that are w[0].", true)
}

// fetches makes fetchColumn.
func fetches() {
	TEXT("fetchColumn", NOSPLIT, "func(v *float32, n int)")
	Pragma("noescape")
	Doc("fetchColumn fetches n elements ahead of need, n not 0.")
	v, left := parameter("v"), parameter("n")
	Label("line")
	PREFETCHT0(Mem{Base: v})
	ADDQ(U32(64), v)
	SUBQ(U32(16), left)
	JA(LabelRef("line"))
	RET()
}

// A nearer makes a kernel over neighbours.
type nearer struct {
	in, to, offsets, degree GPVirtual
	k                       VecVirtual // what is counted; nil: sums
}

func near(name, doc string, counts bool) {
	TEXT(name, NOSPLIT, "func(in, to *float32, offsets *int, degree, n, ahead int, w *float32)")
	Pragma("noescape")
	Doc(doc)
	r := nearer{in: parameter("in"), to: parameter("to"), offsets: parameter("offsets"), degree: parameter("degree")}
	left, ahead := parameter("n"), parameter("ahead")
	if counts {
		r.k = YMM()
		VBROADCASTSS(Mem{Base: parameter("w")}, r.k)
	}
	JMP(LabelRef("wideTest"))
	Label("wide")
	PREFETCHT0(Mem{Base: r.in, Index: ahead, Scale: 1})
	PREFETCHT0(Mem{Base: r.in, Index: ahead, Scale: 1, Disp: 64})
	r.step("wideNear", wide, nil)
	ADDQ(U32(wide*vector), r.in)
	ADDQ(U32(wide*vector), r.to)
	Label("wideTest")
	SUBQ(U32(wide*8), left)
	JAE(LabelRef("wide"))
	ADDQ(U32(wide*8), left)
	JMP(LabelRef("test"))
	Label("vector")
	r.step("vectorNear", 1, nil)
	ADDQ(U32(vector), r.in)
	ADDQ(U32(vector), r.to)
	Label("test")
	SUBQ(U32(8), left)
	JAE(LabelRef("vector"))
	ADDQ(U32(8), left)
	JZ(LabelRef("done"))
	r.step("restNear", 1, maskOf(left))
	Label("done")
	VZEROUPPER()
	RET()
}

// step computes some vectors side by side, or one under a mask.
func (r *nearer) step(label string, size int, mask VecVirtual) {
	sums := make([]VecVirtual, size)
	for j := range sums {
		sums[j] = YMM()
		if VPCMPEQD(sums[j], sums[j], sums[j]); r.k != nil {
			VPXOR(sums[j], sums[j], sums[j])
		} else {
			VPSLLD(U8(31), sums[j], sums[j]) // -0
		}
	}
	i, there := GP64(), GP64()
	XORQ(i, i)
	Label(label)
	MOVQ(Mem{Base: r.offsets, Index: i, Scale: 8}, there)
	ADDQ(r.in, there)
	for j, sum := range sums {
		x := YMM()
		var from Op = Mem{Base: there, Disp: vector * j}
		if mask != nil {
			VMASKMOVPS(from, mask, x)
			from = x
		}
		if r.k != nil {
			VCMPPS(U8(equalTo), from, r.k, x)
			VPSUBD(x, sum, sum)
		} else {
			VADDPS(from, sum, sum)
		}
	}
	INCQ(i)
	CMPQ(i, r.degree)
	JB(LabelRef(label))
	for j, sum := range sums {
		if r.k != nil {
			VCVTDQ2PS(sum, sum)
		}
		if mask != nil {
			VMASKMOVPS(sum, mask, Mem{Base: r.to})
		} else {
			VMOVUPS(sum, Mem{Base: r.to, Disp: vector * j})
		}
	}
}
