package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// philoxGroups are the vectors of indices side by side: a round waits for the one before, and so many rounds keep a processor busy. A vector has 16 words.
const philoxGroups = 3

// philox makes philoxWords. A lane of 64 bits holds a product, of whose halves a round takes the high one and the next round the low one. So an exclusive or of both with
// their keys serves two rounds: in odd rounds it is that of p, the product of c0, in even ones that of q, the product of c2. See package kernel for the first two rounds.
func philox() {
	TEXT("philoxWords", NOSPLIT, "func(to *uint32, keys *uint64, first uint64, n int, need *float32, step int)")
	Pragma("noescape")
	Doc("philoxWords writes n words, a multiple of 48: the four of each index from first on, whose low word must not overflow. Keys are what",
		"the products of the ten rounds are combined with. It leaves out 48 words if the 48 elements of need have no bits; need goes on by so many bytes.")
	to, keys, first, left, need, step := parameter("to"), parameter("keys"), parameter("first"), parameter("n"), parameter("need"), parameter("step")
	index := YMM()
	steps := GLOBL("steps", RODATA|NOPTR)
	for i, s := range []uint64{0, 2, 1, 3} { // as they are woven together in the end
		DATA(8*i, U64(s))
	}
	x := XMM()
	MOVQ(first, x)
	VPBROADCASTQ(x, index)
	VPADDQ(steps, index, index)
	rounds := AllocLocal(10 * vector) // the keys, four times each
	for r := range 10 {
		key := YMM()
		VPBROADCASTQ(Mem{Base: keys, Disp: 8 * r}, key)
		VMOVDQU(key, rounds.Offset(vector*r))
	}
	Label("block")
	some := YMM()
	VMOVUPS(Mem{Base: need}, some)
	VPTEST(some, some)
	JNZ(LabelRef("needed")) // mostly
	for i := range 2*philoxGroups - 1 {
		VORPS(Mem{Base: need, Disp: vector * (i + 1)}, some, some)
	}
	VPTEST(some, some)
	JNZ(LabelRef("needed"))
	VPADDQ(quad(4*philoxGroups), index, index)
	JMP(LabelRef("next"))
	Label("needed")
	var groups [philoxGroups]philoxLanes
	for g := range groups {
		groups[g] = philoxLanes{c0: YMM(), c2: YMM(), p: YMM(), q: YMM()}
		VMOVDQA(index, groups[g].c0)
		VPADDQ(quad(4), index, index)
	}
	for r := 1; r <= 10; r++ {
		for g := range groups {
			groups[g].round(r, rounds.Offset(vector*(r-1)))
		}
	}
	for g := range groups {
		groups[g].write(to, 2*vector*g)
	}
	Label("next")
	ADDQ(U32(2*philoxGroups*vector), to)
	ADDQ(step, need)
	SUBQ(U32(16*philoxGroups), left)
	JNZ(LabelRef("block"))
	VZEROUPPER()
	RET()
}

// philoxLanes are four counters: the two words that are multiplied next, and the products of the last round, whose low halves are the others.
type philoxLanes struct{ c0, c2, p, q VecVirtual }

// round goes from one round to the next; after the last one c0 and c2 are what the high halves of the products are combined with.
func (s *philoxLanes) round(r int, key Mem) {
	m0, m1 := quad(0xd2511f53), quad(0xcd9e8d57)
	before := *s
	*s = philoxLanes{c0: YMM(), c2: YMM(), p: YMM(), q: YMM()}
	if r != 2 { // in which it is the same for all
		VPMULUDQ(m0, before.c0, s.p)
	}
	if r != 1 {
		VPMULUDQ(m1, before.c2, s.q)
	}
	if r%2 == 1 {
		VPXOR(key, s.p, s.p)
	} else {
		VPXOR(key, s.q, s.q)
	}
	switch r {
	case 1:
		VPSRLQ(U8(32), s.p, s.c2)
		return
	case 2:
		VPSRLQ(U8(32), s.q, s.c0)
		s.c2 = before.p
		return
	case 10:
		s.c0, s.c2 = before.q, before.p
		return
	}
	VPSRLQ(U8(32), s.q, s.c0)
	VPXOR(before.q, s.c0, s.c0)
	VPSRLQ(U8(32), s.p, s.c2)
	if r != 3 { // in which it is among the keys
		VPXOR(before.p, s.c2, s.c2)
	}
}

// write writes the words of the four indices.
func (s *philoxLanes) write(to GPVirtual, at int) {
	pair := func(product, other VecVirtual) VecVirtual {
		words, low := YMM(), YMM()
		VPSHUFD(U8(0xb1), product, words)
		VPAND(quad(0xffffffff), other, low)
		VPXOR(low, words, words)
		return words
	}
	a, b := pair(s.q, s.c0), pair(s.p, s.c2)
	one, two := YMM(), YMM()
	VPUNPCKLQDQ(b, a, one)
	VPUNPCKHQDQ(b, a, two)
	VMOVDQU(one, Mem{Base: to, Disp: at})
	VMOVDQU(two, Mem{Base: to, Disp: at + vector})
}

// philoxEach makes the first words of Philox4x32-10 of any indices. The counter has both halves of an index, so no round is the same for all; see philoxLanes.
func philoxEach() {
	TEXT("philoxEach", NOSPLIT, "func(to *uint32, keys *uint64, indices *uint64, n int)")
	Pragma("noescape")
	Doc("philoxEach writes the first word of each of n indices, a multiple of 12. Keys are the two of each of the ten rounds.")
	to, keys, indices, left := parameter("to"), parameter("keys"), parameter("indices"), parameter("n")
	rounds := AllocLocal(20 * vector) // the keys, four times each
	for r := range 20 {
		key := YMM()
		VPBROADCASTQ(Mem{Base: keys, Disp: 8 * r}, key)
		VMOVDQU(key, rounds.Offset(vector*r))
	}
	Label("block")
	var groups [philoxGroups]philoxLanes
	for g := range groups {
		s := philoxLanes{c0: YMM(), c2: YMM(), p: YMM(), q: YMM()}
		VMOVDQU(Mem{Base: indices, Disp: vector * g}, s.c0)
		VPSRLQ(U8(32), s.c0, s.q) // the second word of the counter; the others are 0
		VPXOR(s.c2, s.c2, s.c2)
		VPXOR(s.p, s.p, s.p)
		groups[g] = s
	}
	for r := range 10 {
		for g := range groups {
			groups[g].next(rounds.Offset(2*vector*r), rounds.Offset(2*vector*r+vector))
		}
	}
	for g := range groups {
		words, half := YMM(), XMM()
		VPSHUFD(U8(0x08), groups[g].c0, words) // the low halves of each two lanes side by side
		VPERMQ(U8(0x08), words, words)
		VEXTRACTI128(U8(0), words, half)
		VMOVDQU(half, Mem{Base: to, Disp: vector / 2 * g})
	}
	ADDQ(U32(philoxGroups*vector/2), to)
	ADDQ(U32(philoxGroups*vector), indices)
	SUBQ(U32(4*philoxGroups), left)
	JNZ(LabelRef("block"))
	VZEROUPPER()
	RET()
}

// next goes from one round to the next: the words that are not multiplied are the low halves of the products before.
func (s *philoxLanes) next(key0, key1 Mem) {
	before := *s
	*s = philoxLanes{c0: YMM(), c2: YMM(), p: YMM(), q: YMM()}
	VPMULUDQ(quad(0xd2511f53), before.c0, s.p)
	VPMULUDQ(quad(0xcd9e8d57), before.c2, s.q)
	VPSRLQ(U8(32), s.q, s.c0)
	VPXOR(before.q, s.c0, s.c0)
	VPXOR(key0, s.c0, s.c0)
	VPSRLQ(U8(32), s.p, s.c2)
	VPXOR(before.p, s.c2, s.c2)
	VPXOR(key1, s.c2, s.c2)
}
