package main

import (
	"strconv"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// A relaxer holds the registers of relaxVectors.
type relaxer struct {
	out, in        GPVirtual // at the block
	offsets, n     GPVirtual // bytes of each neighbour
	k, at          GPVirtual // the neighbour
	divide, decays GPVirtual // whether to

	rest, alpha, mean, decay VecVirtual
	exponent, worst          VecVirtual // the largest exponent seen, in its place
	changed                  VecVirtual // the bits in which something changed, if it sees
	sums                     bool       // only sum
	sees                     bool       // see what changes
	shift                    GPVirtual  // bytes from the first vector of a pair to the second; nil: no pair is made
	ahead                    GPVirtual  // where to fetch ahead, from in; 0: do not
	fetch                    bool       // whether what is made now does so
}

// relax makes relaxVectors, relaxSeeing, which also sees what changes, and sumVectors,
// which only sums.
func relax() {
	TEXT("relaxVectors", NOSPLIT, "func(out, in *float32, offsets *int, n, count, rows, pitch int, w *float32) (worst uint32)")
	Pragma("noescape")
	Doc("relaxVectors computes rows of neighbouring elements; offsets and pitch are in bytes, w begins a Weights. It returns",
		"the largest exponent of a result, where it stands in a float32: all ones if some result is not finite.")
	new(relaxer).rows()
	TEXT("relaxSeeing", NOSPLIT, "func(out, in *float32, offsets *int, n, count, rows, pitch int, w *float32) (worst, changed uint32)")
	Pragma("noescape")
	Doc("relaxSeeing is relaxVectors; changed is 0 if all elements are as they were.")
	(&relaxer{sees: true}).rows()
	TEXT("sumVectors", NOSPLIT, "func(out, in *float32, offsets *int, n, count, rows, pitch int)")
	Pragma("noescape")
	Doc("sumVectors is relaxVectors without weights.")
	(&relaxer{sums: true}).rows()
}

// rows makes the body. A row is done in blocks of four vectors and then of one; what
// is left of a row of at least a vector is done again with the vector that ends with
// the row, which gives the same values, for no input is an output. A shorter row is
// one vector under a mask.
func (r *relaxer) rows() {
	r.out, r.in, r.offsets, r.n = parameter("out"), parameter("in"), parameter("offsets"), parameter("n")
	count, rows, pitch := parameter("count"), parameter("rows"), parameter("pitch")
	r.k, r.at = GP64(), GP64()
	if !r.sums {
		r.load(parameter("w"))
	}
	left, back := GP64(), GP64()
	Label("row")
	MOVQ(count, left)
	r.wide(count, left, back)
	r.narrow(count, left, back)
	Label("next") // the pointers are at the end of the row
	MOVQ(pitch, back)
	SHLQ(U8(2), count)
	SUBQ(count, back)
	SHRQ(U8(2), count)
	ADDQ(back, r.in)
	ADDQ(back, r.out)
	DECQ(rows)
	JNZ(LabelRef("row"))
	if r.sums {
		VZEROUPPER()
		RET()
	} else {
		r.finish()
	}
}

// wide does blocks of four vectors while they fit, and then, if more than two vectors
// are left, the block that ends with the row.
func (r *relaxer) wide(count, left, back GPVirtual) {
	CMPQ(left, U32(8*wide))
	JB(LabelRef("tail"))
	r.align(left, back)
	CMPQ(left, U32(8*wide))
	JB(LabelRef("tail"))
	if !r.sums {
		TESTQ(r.ahead, r.ahead)
		JZ(LabelRef("wide"))
		r.fetch = true
		r.blocks(left, "far")
		r.fetch = false
	}
	Label("wide")
	r.blocks(left, "wide")
	Label("tail")
	CMPQ(left, U32(16))
	JBE(LabelRef("narrow"))
	CMPQ(count, U32(8*wide))
	JB(LabelRef("narrow"))
	r.stepBack(left, back, 8*wide)
	JMP(LabelRef("wide"))
}

// narrow does the rest of the row: up to two vectors at once, which may overlap.
func (r *relaxer) narrow(count, left, back GPVirtual) {
	Label("narrow")
	CMPQ(left, U32(8))
	JBE(LabelRef("remainder"))
	CMPQ(left, U32(16))
	JA(LabelRef("one"))
	r.shift = back
	MOVQ(left, back)
	SHLQ(U8(2), back)
	SUBQ(U32(vector), back)
	r.block(2, nil, 0)
	r.shift = nil
	SHLQ(U8(2), left)
	ADDQ(left, r.in)
	ADDQ(left, r.out)
	JMP(LabelRef("next"))
	Label("one")
	r.block(1, nil, 0)
	r.advance(1)
	SUBQ(U32(8), left)
	JMP(LabelRef("narrow"))
	Label("remainder")
	TESTQ(left, left)
	JZ(LabelRef("next"))
	CMPQ(count, U32(8))
	JB(LabelRef("masked"))
	r.stepBack(left, back, 8)
	JMP(LabelRef("one"))

	Label("masked")
	r.block(1, maskOf(left), 0)
	SHLQ(U8(2), left)
	ADDQ(left, r.in)
	ADDQ(left, r.out)
}

// maskOf returns the mask for the first lanes, below eight.
func maskOf(lanes GPVirtual) VecVirtual {
	mask, at, t := YMM(), GP64(), GP64()
	LEAQ(masks, at)
	MOVQ(lanes, t)
	SHLQ(U8(2), t)
	SUBQ(t, at)
	VMOVDQU(Mem{Base: at, Disp: vector}, mask)
	return mask
}

// blocks does wide blocks, and goes to tail.
func (r *relaxer) blocks(left GPVirtual, name string) {
	for _, n := range unrolled {
		CMPQ(r.n, U32(n))
		JE(LabelRef(name + strconv.Itoa(n)))
	}
	for _, n := range append([]int{0}, unrolled...) {
		r.repeat(left, name+strconv.Itoa(n), n)
		JMP(LabelRef("tail"))
	}
}

// unrolled are the numbers of neighbours for which wide blocks have a loop of their own.
var unrolled = []int{2, 4, 6, 8}

// repeat does wide blocks of n neighbours, or of any number, while they fit.
func (r *relaxer) repeat(left GPVirtual, name string, n int) {
	Label(name)
	r.block(wide, nil, n)
	r.advance(wide)
	SUBQ(U32(8*wide), left)
	CMPQ(left, U32(8*wide))
	JAE(LabelRef(name))
}

// load loads the constants.
func (r *relaxer) load(w GPVirtual) {
	r.rest, r.alpha, r.mean, r.decay = YMM(), YMM(), YMM(), YMM()
	for i, v := range []VecVirtual{r.rest, r.alpha, r.mean, r.decay} {
		VBROADCASTSS(Mem{Base: w, Disp: lane * i}, v)
	}
	r.divide, r.decays = GP64(), GP64()
	MOVLQZX(Mem{Base: w, Disp: 4 * lane}, r.divide)
	MOVLQZX(Mem{Base: w, Disp: 5 * lane}, r.decays)
	r.ahead = GP64()
	MOVQ(Mem{Base: w, Disp: 6 * lane}, r.ahead)
	r.exponent, r.worst = YMM(), YMM()
	VBROADCASTSS(exponent, r.exponent)
	VPXOR(r.worst, r.worst, r.worst)
	if r.sees {
		r.changed = YMM()
		VPXOR(r.changed, r.changed, r.changed)
	}
}

// align computes a vector and goes on to where the output is aligned, for a store
// across two lines of the cache takes twice as long.
func (r *relaxer) align(left, t GPVirtual) {
	MOVQ(r.out, t)
	ANDQ(U32(vector-1), t)
	JZ(LabelRef("aligned"))
	r.block(1, nil, 0)
	SUBQ(U32(vector), t)
	SUBQ(t, r.in)
	SUBQ(t, r.out)
	SARQ(U8(2), t)
	ADDQ(t, left)
	Label("aligned")
}

func (r *relaxer) advance(vectors int) {
	ADDQ(U32(vectors*vector), r.in)
	ADDQ(U32(vectors*vector), r.out)
}

// stepBack goes back so that all is left that the last so many elements of the row are.
func (r *relaxer) stepBack(left, t GPVirtual, elements int) {
	MOVQ(left, t)
	SUBQ(U32(elements), t)
	SHLQ(U8(2), t)
	ADDQ(t, r.in)
	ADDQ(t, r.out)
	MOVQ(U32(elements), left)
}

// labels gives names for the labels of one more block.
func labels() func(string) string {
	blocks++
	number := strconv.Itoa(blocks)
	return func(what string) string { return what + number }
}

var blocks int // made so far

// block computes so many vectors, or one under a mask, of n neighbours, or if that is
// 0 of any number.
func (r *relaxer) block(vectors int, mask VecVirtual, n int) {
	label := labels()
	if r.fetch {
		PREFETCHT0(Mem{Base: r.in, Index: r.ahead, Scale: 1})
		PREFETCHT0(Mem{Base: r.in, Index: r.ahead, Scale: 1, Disp: 64})
	}
	sum := make([]VecVirtual, vectors)
	MOVQ(Mem{Base: r.offsets}, r.at)
	ADDQ(r.in, r.at)
	for i := range sum {
		sum[i] = YMM()
		if mask != nil {
			VMASKMOVPS(Mem{Base: r.at}, mask, sum[i])
		} else {
			VMOVUPS(r.place(r.at, i), sum[i])
		}
	}
	for k := 1; k < n; k++ {
		MOVQ(Mem{Base: r.offsets, Disp: 8 * k}, r.at)
		ADDQ(r.in, r.at)
		for i := range sum {
			VADDPS(r.place(r.at, i), sum[i], sum[i])
		}
	}
	if n == 0 {
		r.neighbours(sum, mask, label)
	}
	r.blend(sum, mask, label)
}

// place is where vector i of a block is.
func (r *relaxer) place(base GPVirtual, i int) Mem {
	if r.shift != nil && i == 1 {
		return Mem{Base: base, Index: r.shift, Scale: 1}
	}
	return Mem{Base: base, Disp: i * vector}
}

// neighbours adds all neighbours but the first.
func (r *relaxer) neighbours(sum []VecVirtual, mask VecVirtual, label func(string) string) {
	MOVQ(U32(1), r.k)
	JMP(LabelRef(label("test")))
	Label(label("neighbour"))
	MOVQ(Mem{Base: r.offsets, Index: r.k, Scale: 8}, r.at)
	ADDQ(r.in, r.at)
	for i := range sum {
		if mask != nil {
			t := YMM()
			VMASKMOVPS(Mem{Base: r.at}, mask, t)
			VADDPS(t, sum[i], sum[i])
		} else {
			VADDPS(r.place(r.at, i), sum[i], sum[i])
		}
	}
	INCQ(r.k)
	Label(label("test"))
	CMPQ(r.k, r.n)
	JB(LabelRef(label("neighbour")))
}

// blend turns sums into results and stores them.
func (r *relaxer) blend(sum []VecVirtual, mask VecVirtual, label func(string) string) {
	if !r.sums {
		r.weigh(sum, mask, label)
	}
	for i, s := range sum {
		if mask != nil {
			VMASKMOVPS(s, mask, Mem{Base: r.out})
		} else {
			VMOVUPS(s, r.place(r.out, i))
		}
		if r.sees {
			was := YMM()
			if mask != nil {
				VMASKMOVPS(Mem{Base: r.in}, mask, was)
				VPXOR(was, s, was)
				VPAND(mask, was, was)
			} else {
				VPXOR(r.place(r.in, i), s, was)
			}
			VPOR(was, r.changed, r.changed)
		}
		if !r.sums {
			r.see(s)
		}
	}
}

// weigh turns sums into results.
func (r *relaxer) weigh(sum []VecVirtual, mask VecVirtual, label func(string) string) {
	TESTQ(r.divide, r.divide)
	JNZ(LabelRef(label("divide")))
	for _, s := range sum {
		VMULPS(r.mean, s, s)
	}
	JMP(LabelRef(label("blend")))
	Label(label("divide"))
	for _, s := range sum {
		VDIVPS(r.mean, s, s)
	}
	Label(label("blend"))
	for i, s := range sum {
		here := YMM()
		if mask != nil {
			VMASKMOVPS(Mem{Base: r.in}, mask, here)
			VMULPS(here, r.rest, here)
		} else {
			VMULPS(r.place(r.in, i), r.rest, here)
		}
		VMULPS(r.alpha, s, s)
		VADDPS(s, here, s)
	}
	TESTQ(r.decays, r.decays)
	JZ(LabelRef(label("store")))
	for _, s := range sum {
		VMULPS(r.decay, s, s)
	}
	Label(label("store"))
}

// see keeps the largest exponent of a vector, which is lost.
func (r *relaxer) see(v Op) {
	VPAND(r.exponent, v, v)
	VPMAXUD(v, r.worst, r.worst)
}

// finish returns the largest exponent.
func (r *relaxer) finish() {
	high, low := XMM(), r.worst.AsX()
	VEXTRACTI128(U8(1), r.worst, high)
	VPMAXUD(high, low, low)
	VPSHUFD(U8(0x4e), low, high)
	VPMAXUD(high, low, low)
	VPSHUFD(U8(0xb1), low, high)
	VPMAXUD(high, low, low)
	worst := GP32()
	VMOVD(low, worst)
	if r.sees {
		changed := GP32()
		XORL(changed, changed)
		VPTEST(r.changed, r.changed)
		SETNE(changed.As8())
		VZEROUPPER()
		Store(worst, ReturnIndex(0))
		Store(changed, ReturnIndex(1))
		RET()
		return
	}
	VZEROUPPER()
	Store(worst, ReturnIndex(0))
	RET()
}
