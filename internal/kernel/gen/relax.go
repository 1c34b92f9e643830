package main

import (
	"strconv"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// A relaxer holds the registers of relaxVectors.
type relaxer struct {
	out, in    GPVirtual   // at the block
	near       []GPVirtual // each neighbour of the block, if their number is known
	offsets, n GPVirtual   // bytes of each neighbour
	k, at      GPVirtual   // the neighbour, if it is not
	left, step GPVirtual   // bytes of the row that are left, and to the next block

	bytes, turn Mem // bytes of a row, and from its end to the next one
	decays      Mem // whether to multiply by decay

	share, degree, decay VecVirtual
	exponent, worst      VecVirtual // the largest exponent seen, in its place
	changed              VecVirtual // the bits in which something changed, if it sees
	sees                 bool       // see what changes
	shift                GPVirtual  // bytes from the first vector of a pair to the second; nil: no pair is made
	ahead                GPVirtual  // where to fetch ahead, first from in; 0: do not
	fetch                bool       // whether what is made now does so
}

// relax makes relaxVectors and relaxSeeing, which also sees what changes.
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
}

// rows makes the body. A row of at least a wide block is done in wide blocks, in loops
// of their own for the common numbers of neighbours. A shorter row is done in vectors.
func (r *relaxer) rows() {
	r.out, r.in, r.offsets, r.n = parameter("out"), parameter("in"), parameter("offsets"), parameter("n")
	count := parameter("count")
	r.k, r.at, r.left = GP64(), GP64(), GP64()
	r.bytes, r.turn = AllocLocal(8), AllocLocal(8)
	r.step = parameter("pitch")
	MOVQ(count, r.left)
	SHLQ(U8(2), r.left)
	MOVQ(r.left, r.bytes)
	SUBQ(r.left, r.step)
	MOVQ(r.step, r.turn)
	r.load(parameter("w"))
	CMPQ(r.left, U32(wide*vector))
	JB(LabelRef("short"))
	TESTQ(r.ahead, r.ahead)
	JZ(LabelRef("wide"))
	r.choose("far")
	Label("wide")
	r.choose("wide")
	for _, n := range append([]int{0}, unrolled...) {
		r.long("wide", n)
		r.fetch = true
		r.long("far", n)
		r.fetch = false
	}
	r.short()
	Label("done")
	r.finish()
}

// unrolled are the numbers of neighbours for which wide blocks have a loop of their own.
var unrolled = []int{2, 4, 6, 8}

// choose goes to the loop for the number of neighbours.
func (r *relaxer) choose(name string) {
	for _, n := range unrolled {
		CMPQ(r.n, U32(n))
		JE(LabelRef(name + strconv.Itoa(n)))
	}
	JMP(LabelRef(name + "0"))
}

// long does rows of at least a wide block, of n neighbours, or if that is 0 of any
// number. The first block begins with the row. The second one overlaps it, so that from
// there on the output is aligned, for a store across two lines of the cache takes twice as
// long. The last one, of half the size if that is enough, ends with the row. What is done
// twice gives the same values, for no input is an output.
func (r *relaxer) long(name string, n int) {
	name += strconv.Itoa(n)
	Label(name)
	r.near = make([]GPVirtual, n)
	for k := range r.near {
		r.near[k] = GP64()
		MOVQ(Mem{Base: r.offsets, Disp: 8 * k}, r.near[k])
		ADDQ(r.in, r.near[k])
	}
	if r.fetch { // from here on the place itself
		ADDQ(r.in, r.ahead)
	}
	Label(name + "row")
	MOVQ(r.out, r.step)
	ANDQ(U32(vector-1), r.step)
	NEGQ(r.step)
	ADDQ(U32(wide*vector), r.step)
	MOVQ(r.bytes, r.left)
	Label(name + "block")
	r.block(wide, nil, n)
	r.advance(r.step)
	SUBQ(r.step, r.left)
	MOVQ(U32(wide*vector), r.step)
	CMPQ(r.left, r.step)
	JAE(LabelRef(name + "block"))
	TESTQ(r.left, r.left)
	JZ(LabelRef(name + "next"))
	CMPQ(r.left, U32(half*vector))
	JBE(LabelRef(name + "half"))
	SUBQ(r.step, r.left) // back to where what is left is a block
	r.advance(r.left)
	MOVQ(r.step, r.left)
	JMP(LabelRef(name + "block"))
	Label(name + "half")
	SUBQ(U32(half*vector), r.left)
	r.advance(r.left)
	r.block(half, nil, n)
	r.advance(U32(half * vector))
	Label(name + "next")
	r.next(name + "row")
}

// next goes on to the next row, or to done.
func (r *relaxer) next(row string) {
	MOVQ(r.turn, r.step)
	r.advance(r.step)
	Load(Param("rows"), r.step)
	DECQ(r.step)
	Store(r.step, Param("rows"))
	JNZ(LabelRef(row))
	JMP(LabelRef("done"))
}

// advance moves all pointers.
func (r *relaxer) advance(by Op) {
	ADDQ(by, r.in)
	ADDQ(by, r.out)
	for _, p := range r.near {
		ADDQ(by, p)
	}
	if r.fetch {
		ADDQ(by, r.ahead)
	}
}

// short does rows of less than a wide block: vector by vector, at last up to two at once,
// which may overlap. A row of less than a vector is one under a mask.
func (r *relaxer) short() {
	r.near = nil
	Label("short")
	Label("shortrow")
	MOVQ(r.bytes, r.left)
	CMPQ(r.left, U32(vector))
	JB(LabelRef("masked"))
	Label("vector")
	CMPQ(r.left, U32(2*vector))
	JBE(LabelRef("pair"))
	r.block(1, nil, 0)
	r.advance(U32(vector))
	SUBQ(U32(vector), r.left)
	JMP(LabelRef("vector"))
	Label("pair")
	r.shift = GP64()
	MOVQ(r.left, r.shift)
	SUBQ(U32(vector), r.shift)
	r.block(2, nil, 0)
	r.shift = nil
	JMP(LabelRef("shortnext"))
	Label("masked")
	lanes := GP64()
	MOVQ(r.left, lanes)
	SHRQ(U8(2), lanes)
	r.block(1, maskOf(lanes), 0)
	Label("shortnext")
	r.advance(r.left)
	r.next("shortrow")
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

// load loads the constants.
func (r *relaxer) load(w GPVirtual) {
	r.share, r.degree, r.decay = YMM(), YMM(), YMM()
	for i, v := range []VecVirtual{r.share, r.degree, r.decay} {
		VBROADCASTSS(Mem{Base: w, Disp: lane * i}, v)
	}
	r.ahead = GP64()
	r.decays = AllocLocal(8)
	MOVLQZX(Mem{Base: w, Disp: 3 * lane}, r.ahead)
	MOVQ(r.ahead, r.decays)
	MOVQ(Mem{Base: w, Disp: 4 * lane}, r.ahead)
	r.exponent, r.worst = YMM(), YMM()
	VBROADCASTSS(exponent, r.exponent)
	VPXOR(r.worst, r.worst, r.worst)
	if r.sees {
		r.changed = YMM()
		VPXOR(r.changed, r.changed, r.changed)
	}
}

// labels gives names for the labels of one more block.
func labels() func(string) string {
	blocks++
	number := strconv.Itoa(blocks)
	return func(what string) string { return what + number }
}

var blocks int // made so far

// block computes so many vectors, or one under a mask, of n neighbours at near, or if n is
// 0 of any number.
func (r *relaxer) block(vectors int, mask VecVirtual, n int) {
	label := labels()
	if r.fetch {
		PREFETCHT0(Mem{Base: r.ahead})
		PREFETCHT0(Mem{Base: r.ahead, Disp: 64})
	}
	sum := make([]VecVirtual, vectors)
	for i := range sum {
		sum[i] = YMM()
	}
	if n == 0 {
		r.neighbours(sum, mask, label)
	} else {
		for i, s := range sum {
			VMOVUPS(r.place(r.near[0], i), s)
		}
		for _, near := range r.near[1:] {
			for i, s := range sum {
				VADDPS(r.place(near, i), s, s)
			}
		}
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

// neighbours sums any number of neighbours.
func (r *relaxer) neighbours(sum []VecVirtual, mask VecVirtual, label func(string) string) {
	MOVQ(Mem{Base: r.offsets}, r.at)
	ADDQ(r.in, r.at)
	for i, s := range sum {
		if mask != nil {
			VMASKMOVPS(Mem{Base: r.at}, mask, s)
		} else {
			VMOVUPS(r.place(r.at, i), s)
		}
	}
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

// blend turns sums of neighbours into results and stores them.
func (r *relaxer) blend(sum []VecVirtual, mask VecVirtual, label func(string) string) {
	r.weigh(sum, mask, label)
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
		r.see(s)
	}
}

// weigh turns sums into results.
func (r *relaxer) weigh(sum []VecVirtual, mask VecVirtual, label func(string) string) {
	for i, s := range sum {
		here, whole := YMM(), YMM()
		if mask != nil {
			VMASKMOVPS(Mem{Base: r.in}, mask, here)
		} else {
			VMOVUPS(r.place(r.in, i), here)
		}
		VMULPS(here, r.degree, whole)
		VSUBPS(whole, s, s)
		VMULPS(r.share, s, s)
		VADDPS(here, s, s)
	}
	CMPQ(r.decays, U8(0))
	JE(LabelRef(label("store")))
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
