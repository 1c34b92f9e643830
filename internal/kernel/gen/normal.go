package main

import (
	"fmt"
	"math"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// Where things stand in a normals, in bytes.
const (
	normalKeys  = 0
	normalScale = normalKeys + 17*vector
	normalIndex = normalScale + vector
)

// A team is vectors of four cells, computed side by side: a float64 and each word of a
// counter have 64 bits.
type team []VecVirtual

func newTeam(size int) team {
	t := make(team, size)
	for g := range t {
		t[g] = YMM()
	}
	return t
}

// each applies f to all.
func (t team) each(f func(g int, v VecVirtual)) {
	for g, v := range t {
		f(g, v)
	}
}

// normal makes drawVectors, centreVectors and tailVectors. Drawing keeps the units for
// integers busy, the rest those for numbers; each by itself has enough side by side,
// which both together would not have registers for.
func normal() {
	chosen = GLOBL("chosen", RODATA|NOPTR)
	for mask := range 16 {
		at := mask * vector
		for i := range uint32(4) {
			if mask>>i&1 == 1 {
				DATA(at, U32(2*i))
				DATA(at+lane, U32(2*i+1))
				at += 2 * lane
			}
		}
		for ; at < (mask+1)*vector; at += lane {
			DATA(at, U32(0))
		}
	}
	draws()
	centres()
	tails()
}

var chosen Mem // for each mask of four lanes, the order in which VPERMD brings those that are set to the front

// quad is four times the same 64 bits in read-only memory.
func quad(bits uint64) Mem {
	if m, ok := made[bits]; ok {
		return m
	}
	m := GLOBL(fmt.Sprintf("quad%016x", bits), RODATA|NOPTR)
	for i := range 4 {
		DATA(8*i, U64(bits))
	}
	made[bits] = m
	return m
}

var made = map[uint64]Mem{}

// number is four times the same number.
func number(v float64) Mem { return quad(math.Float64bits(v)) }

// draws makes drawVectors.
func draws() {
	TEXT("drawVectors", NOSPLIT, "func(q, far *float64, at *uint64, n int, w *uint64) (tails int)")
	Pragma("noescape")
	Doc("drawVectors draws n numbers u, a multiple of 12, and writes q = u - 1/2. It lists q and the counter's low half of those in",
		"the tails, and returns how many there are. It may write 4 more entries of each list.")
	q, far, at, n, w := parameter("q"), parameter("far"), parameter("at"), parameter("n"), parameter("w")
	Label("block")
	v := words(w)
	v.each(func(g int, v VecVirtual) { // without rounding
		VPBLENDD(U8(0xaa), number(0x1p20), v, v) // 2^20 + word·2^-32
		VSUBPD(number(0x1p20+0.5), v, v)
		VADDPD(number(0x1p-33), v, v)
		VMOVUPD(v, Mem{Base: q, Disp: g * vector})
	})
	list(v, far, at, w)
	ADDQ(U32(3*vector), q)
	SUBQ(U32(12), n)
	JNZ(LabelRef("block"))
	Load(Param("far"), n)
	SUBQ(n, far)
	SHRQ(U8(3), far)
	Store(far, ReturnIndex(0))
	VZEROUPPER()
	RET()
}

// centres makes centreVectors.
func centres() {
	TEXT("centreVectors", NOSPLIT, "func(out *float32, q *float64, n int, w *uint64, c *float64)")
	Pragma("noescape")
	Doc("centreVectors computes n numbers, a multiple of 16, of the centre.")
	out, q, n, w, c := parameter("out"), parameter("q"), parameter("n"), parameter("w"), parameter("c")
	Label("block")
	r := newTeam(4)
	r.each(func(g int, r VecVirtual) {
		square := YMM()
		VMOVUPD(Mem{Base: q, Disp: g * vector}, square)
		VMULPD(square, square, square)
		VMOVUPD(number(0.180625), r)
		VSUBPD(square, r, r)
	})
	above, below := ratio(r, c, 0)
	above.each(func(g int, z VecVirtual) {
		VMULPD(Mem{Base: q, Disp: g * vector}, z, z)
		VDIVPD(below[g], z, z)
	})
	store(above, out, w)
	ADDQ(U32(4*vector), q)
	SUBQ(U32(16), n)
	JNZ(LabelRef("block"))
	VZEROUPPER()
	RET()
}

// words makes the first words of Philox4x32-10 of the next counters, in the low halves
// of lanes. What hangs on the other words of a counter alone is in the keys, and what
// the first word does not need is left out.
func words(w GPVirtual) (v team) {
	const size = 3
	m0, m1 := quad(0xd2511f53), quad(0xcd9e8d57)
	next := 0
	key := func() Mem {
		next++
		return Mem{Base: w, Disp: normalKeys + (next-1)*vector}
	}
	c0, c1, c2, c3 := newTeam(size), newTeam(size), newTeam(size), newTeam(size)
	k := key()
	for g := range size { // round 1, where c2 = c3 = 0
		VMOVDQU(Mem{Base: w, Disp: normalIndex + g*vector}, c3[g])
		VPMULUDQ(m0, c3[g], c3[g])
		VPSHUFD(U8(highs), c3[g], c2[g])
		VPXOR(k, c2[g], c2[g])
	}
	k, l := key(), key()
	for g := range size { // round 2, where c0 is the same for all, and c1 = 0
		VPMULUDQ(m1, c2[g], c1[g])
		VPXOR(l, c3[g], c2[g])
		VPSHUFD(U8(highs), c1[g], c0[g])
		VPXOR(k, c0[g], c0[g])
	}
	for round := 3; round <= 9; round++ {
		for g := range size {
			VPMULUDQ(m0, c0[g], c0[g])
			VPMULUDQ(m1, c2[g], c2[g])
		}
		// The products are c3 and c1 of the next round.
		n0, n1, n2, n3 := newTeam(size), c2, c1, c0
		if round < 9 {
			k = key()
		}
		l := key()
		for g := range size {
			if round < 9 {
				VPXOR(k, c1[g], c1[g])
				VPSHUFD(U8(highs), n1[g], n0[g])
				VPXOR(c1[g], n0[g], n0[g])
			} else {
				n2[g] = YMM()
			}
			VPSHUFD(U8(highs), n3[g], n2[g])
			if round == 3 { // c3 is the same for all, and in the key
				VPXOR(l, n2[g], n2[g])
				continue
			}
			VPXOR(l, c3[g], c3[g])
			VPXOR(c3[g], n2[g], n2[g])
		}
		c0, c1, c2, c3 = n0, n1, n2, n3
	}
	k = key()
	for g := range size {
		VPMULUDQ(m1, c2[g], c2[g])
		VPXOR(k, c1[g], c1[g])
		VPSHUFD(U8(highs), c2[g], c2[g])
		VPXOR(c1[g], c2[g], c2[g])
	}
	return c2
}

const highs = 0xf5 // brings high halves of lanes down

// list appends those of v that lie in the tails, and their counters, to the lists, and
// goes on to the next counters.
func list(v team, q, at, w GPVirtual) {
	table := GP64()
	LEAQ(chosen, table)
	v.each(func(g int, v VecVirtual) {
		far, order, index := YMM(), YMM(), YMM()
		mask, count := GP64(), GP64()
		VANDPD(quad(1<<63-1), v, far)
		VCMPPD(U8(0x1e), number(0.425), far, far) // greater than
		VMOVMSKPD(far, mask.As32())
		POPCNTQ(mask, count)
		SHLQ(U8(5), mask)
		VMOVDQU(Mem{Base: table, Index: mask, Scale: 1}, order)
		VPERMD(v, order, far)
		VMOVUPD(far, Mem{Base: q})
		VMOVDQU(Mem{Base: w, Disp: normalIndex + g*vector}, index)
		VPERMD(index, order, far)
		VMOVDQU(far, Mem{Base: at})
		VPADDQ(quad(12), index, index)
		VMOVDQU(index, Mem{Base: w, Disp: normalIndex + g*vector})
		LEAQ(Mem{Base: q, Index: count, Scale: 8}, q)
		LEAQ(Mem{Base: at, Index: count, Scale: 8}, at)
	})
}

// ratio computes two polynomials by Horner's rule, whose coefficients begin at c[from].
func ratio(r team, c GPVirtual, from int) (above, below team) {
	above, below = newTeam(len(r)), newTeam(len(r))
	factor := YMM()
	for k := 7; k >= 0; k-- {
		for i, p := range []team{above, below} {
			VBROADCASTSD(Mem{Base: c, Disp: 8 * (from + 8*i + k)}, factor)
			for g := range p {
				switch k {
				case 7:
					VMULPD(factor, r[g], p[g])
				case 0:
					VADDPD(factor, p[g], p[g])
				default:
					VADDPD(factor, p[g], p[g])
					VMULPD(r[g], p[g], p[g])
				}
			}
		}
	}
	return above, below
}

// store stores numbers.
func store(z team, out, w GPVirtual) {
	z.each(func(g int, z VecVirtual) {
		short := XMM()
		VMULPD(Mem{Base: w, Disp: normalScale}, z, z)
		VCVTPD2PSY(z, short)
		VMOVUPS(short, Mem{Base: out, Disp: g * 4 * lane})
	})
	ADDQ(U32(4*lane*len(z)), out)
}

// tails makes tailVectors.
func tails() {
	TEXT("tailVectors", NOSPLIT, "func(out *float32, q *float64, n int, w *uint64, c *float64)")
	Pragma("noescape")
	Doc("tailVectors computes n numbers, a multiple of 8, of the tails.")
	out, q, n, w, c := parameter("out"), parameter("q"), parameter("n"), parameter("w"), parameter("c")
	Label("block")
	r := newTeam(2)
	r.each(func(g int, r VecVirtual) { // u, or 1-u, without rounding
		a := YMM()
		VMOVUPD(Mem{Base: q, Disp: g * vector}, a)
		VANDPD(quad(1<<63-1), a, a)
		VMOVUPD(number(0.5), r)
		VSUBPD(a, r, r)
	})
	logarithm(r)
	r.each(func(_ int, r VecVirtual) {
		VXORPD(quad(1<<63), r, r)
		VSQRTPD(r, r)
		VSUBPD(number(1.6), r, r)
	})
	above, below := ratio(r, c, 16)
	above.each(func(g int, z VecVirtual) {
		sign := YMM()
		VMOVUPD(quad(1<<63), sign)
		VANDPD(Mem{Base: q, Disp: g * vector}, sign, sign)
		VDIVPD(below[g], z, z)
		VXORPD(sign, z, z)
	})
	store(above, out, w)
	ADDQ(U32(2*vector), q)
	SUBQ(U32(8), n)
	JNZ(LabelRef("block"))
	VZEROUPPER()
	RET()
}

// logarithm is exact.Log of normal numbers above 0, step by step.
func logarithm(x team) {
	e := newTeam(2)
	x.each(func(g int, m VecVirtual) {
		large, t := YMM(), YMM()
		VPSRLQ(U8(52), m, e[g])
		VPOR(number(0x1p52), e[g], e[g])
		VSUBPD(number(0x1p52+1023), e[g], e[g])
		VPAND(quad(1<<52-1), m, m)
		VPOR(number(1), m, m)
		VCMPPD(U8(0x1d), number(0x1.6a09e667f3bcdp+0), m, large) // not less than
		VPAND(number(1), large, t)
		VADDPD(t, e[g], e[g])
		VPAND(quad(1<<52), large, t)
		VPSUBQ(t, m, m)
		VSUBPD(number(1), m, m) // f
	})
	s, even, odd := newTeam(2), newTeam(2), newTeam(2)
	x.each(func(g int, f VecVirtual) {
		z, w, half := YMM(), YMM(), YMM()
		VADDPD(number(2), f, s[g])
		VDIVPD(s[g], f, s[g])
		VMULPD(s[g], s[g], z)
		VMULPD(z, z, w)
		polynomial(odd[g], w, z, 1.479819860510658591e-01, 1.818357216161805012e-01, 2.857142874366239149e-01, 6.666666666666735130e-01)
		polynomial(even[g], w, w, 1.531383769920937332e-01, 2.222219843214978396e-01, 3.999999999940941908e-01)
		VADDPD(even[g], odd[g], odd[g])
		VMULPD(number(0.5), f, half)
		VMULPD(f, half, half)
		VADDPD(odd[g], half, odd[g])
		VMULPD(s[g], odd[g], odd[g])
		VMULPD(number(1.90821492927058770002e-10), e[g], even[g])
		VADDPD(even[g], odd[g], odd[g])
		VSUBPD(odd[g], half, half)
		VSUBPD(f, half, half)
		VMULPD(number(6.93147180369123816490e-01), e[g], e[g])
		VSUBPD(half, e[g], f)
	})
}

// polynomial is p·last, with the polynomial p in w, highest power first.
func polynomial(p, w, last VecVirtual, c ...float64) {
	VMULPD(number(c[0]), w, p)
	for _, c := range c[1 : len(c)-1] {
		VADDPD(number(c), p, p)
		VMULPD(w, p, p)
	}
	VADDPD(number(c[len(c)-1]), p, p)
	VMULPD(last, p, p)
}
