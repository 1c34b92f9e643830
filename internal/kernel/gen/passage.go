package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// A passer sums over the faces of cells, which lie together.
type passer struct {
	relaxer
	memory, faces    GPVirtual
	face, at, moved  GPVirtual // the face, bytes from the first cell, what moved through the face
	there            GPVirtual
	flip, zero, most VecVirtual
	carries          bool // with shares, not what they carry
}

// passages makes settleVectors and carryVectors.
func passages() {
	TEXT("settleVectors", NOSPLIT, "func(out, in, memory *float32, faces *int, n, count int) (worst uint32)")
	Pragma("noescape")
	Doc("settleVectors computes Settle; faces begins passages.")
	new(passer).generate()
	TEXT("carryVectors", NOSPLIT, "func(out, in, memory *float32, faces *int, n, count int) (worst uint32, most float32)")
	Pragma("noescape")
	Doc("carryVectors computes Carry; faces begins passages.")
	(&passer{carries: true}).generate()
}

// generate makes the body: two vectors at a time, then one, then what is left under a mask.
func (p *passer) generate() {
	p.out, p.in, p.memory, p.faces, p.n = parameter("out"), parameter("in"), parameter("memory"), parameter("faces"), parameter("n")
	left := parameter("count")
	p.face, p.at, p.moved, p.there, p.k = GP64(), GP64(), GP64(), GP64(), GP64()
	p.flip, p.zero, p.worst = YMM(), YMM(), YMM()
	VPXOR(p.zero, p.zero, p.zero)
	VPXOR(p.worst, p.worst, p.worst)
	if p.carries {
		p.most = YMM()
		VPXOR(p.most, p.most, p.most)
	}
	XORQ(p.at, p.at)
	JMP(LabelRef("test"))
	Label("pair")
	p.block(half, nil)
	ADDQ(U32(half*vector), p.at)
	Label("test")
	SUBQ(U32(8*half), left)
	JAE(LabelRef("pair"))
	ADDQ(U32(8*half), left)
	SUBQ(U32(8), left)
	JB(LabelRef("few"))
	p.block(1, nil)
	ADDQ(U32(vector), p.at)
	SUBQ(U32(8), left)
	Label("few")
	ADDQ(U32(8), left)
	JZ(LabelRef("done"))
	p.block(1, maskOf(left))
	Label("done")
	if p.carries {
		p.storeMost()
	}
	p.finish()
}

// block computes so many vectors, or one under a mask.
func (p *passer) block(vectors int, mask VecVirtual) {
	label := labels()
	load := func(base GPVirtual, i int) VecVirtual {
		v, from := YMM(), Mem{Base: base, Index: p.at, Scale: 1, Disp: i * vector}
		if mask == nil {
			VMOVUPS(from, v)
		} else {
			VMASKMOVPS(from, mask, v)
		}
		return v
	}
	here, to, lost := make([]VecVirtual, vectors), make([]VecVirtual, vectors), make([]VecVirtual, vectors)
	for i := range vectors {
		here[i], to[i] = load(p.in, i), YMM()
		VMOVAPS(here[i], to[i])
		if p.carries {
			lost[i] = YMM()
			VXORPS(lost[i], lost[i], lost[i])
		}
	}
	if vectors > 1 {
		PREFETCHT0(Mem{Base: p.out, Index: p.at, Scale: 1, Disp: 1024})
	}
	MOVQ(p.faces, p.face)
	MOVQ(p.n, p.k)
	Label(label("face"))
	MOVQ(Mem{Base: p.face}, p.moved)
	ADDQ(p.memory, p.moved)
	VPBROADCASTD(Mem{Base: p.face, Disp: 16}, p.flip)
	if p.carries {
		MOVQ(Mem{Base: p.face, Disp: 8}, p.there)
		ADDQ(p.in, p.there)
		if vectors > 1 { // for it is in rows that come next
			PREFETCHT0(Mem{Base: p.there, Index: p.at, Scale: 1, Disp: 1024})
		}
	}
	for i := range vectors {
		moved := load(p.moved, i)
		VXORPS(p.flip, moved, moved)
		if p.carries {
			share := moved
			moved = p.carry(share, here[i], load(p.there, i))
			VMAXPS(p.zero, share, share) // of two zeros, or with NaN, the second operand of the instruction
			VADDPS(share, lost[i], lost[i])
		}
		VSUBPS(moved, to[i], to[i])
	}
	ADDQ(U32(24), p.face)
	DECQ(p.k)
	JNZ(LabelRef(label("face")))
	for i, v := range to {
		if mask == nil {
			VMOVUPS(v, Mem{Base: p.out, Index: p.at, Scale: 1, Disp: i * vector})
		} else {
			VMASKMOVPS(v, mask, Mem{Base: p.out, Index: p.at, Scale: 1, Disp: i * vector})
			VPAND(mask, v, v)
		}
		VPAND(eight(0x7f800000), v, v)
		VPMAXUD(v, p.worst, p.worst)
		if p.carries {
			VMAXPS(lost[i], p.most, p.most)
		}
	}
}

// carry returns what a share carries: of what is here if it is above 0, else of what is there, and nothing if
// it is 0.
func (p *passer) carry(share, here, there VecVirtual) VecVirtual {
	mask := YMM()
	VBLENDVPS(share, there, here, there) // by the sign
	VMULPS(share, there, there)
	VCMPPS(U8(unequal), p.zero, share, mask)
	VANDPS(mask, there, there)
	return there
}

// storeMost returns the largest share.
func (p *passer) storeMost() {
	high, low := XMM(), p.most.AsX()
	VEXTRACTF128(U8(1), p.most, high)
	VMAXPS(high, low, low)
	VPSHUFD(U8(0x4e), low, high)
	VMAXPS(high, low, low)
	VPSHUFD(U8(0xb1), low, high)
	VMAXPS(high, low, low)
	Store(low, ReturnIndex(1))
}
