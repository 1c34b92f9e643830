package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// sha256Rounds are the constants of FIPS 180-4, 4.2.2.
var sha256Rounds = [64]uint32{
	0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
	0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
	0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
	0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
	0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
	0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
	0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
	0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
}

// A sha256Lane is one of the messages that are hashed side by side.
type sha256Lane struct {
	in         Register
	abef, cdgh VecPhysical
	m          [4]VecPhysical // the message schedule, four words in each
	save       [2]Mem
}

// sha256Two makes sha256Vectors. A round needs the one before it, so with one message the processor's SHA unit idles in between; the lanes
// fill each other's gaps. All registers are in use: X0 is an operand that SHA256RNDS2 does not name, X13 the byte order, X14 and X15
// are free for a moment.
func sha256Two() {
	TEXT("sha256Vectors", NOSPLIT, "func(state *uint32, a, b *byte, blocks int)")
	Pragma("noescape")
	Doc("sha256Vectors adds blocks of 64 bytes, one or more, of two messages to their hashes of 8 words each.")
	keys := GLOBL("sha256Keys", RODATA|NOPTR)
	for i, k := range sha256Rounds {
		DATA(4*i, U32(k))
	}
	order := GLOBL("sha256Order", RODATA|NOPTR)
	DATA(0, U64(0x0405060700010203))
	DATA(8, U64(0x0c0d0e0f08090a0b))

	state := Load(Param("state"), GP64())
	lanes := [2]sha256Lane{
		{in: Load(Param("a"), GP64()), abef: X1, cdgh: X2, m: [4]VecPhysical{X3, X4, X5, X6}},
		{in: Load(Param("b"), GP64()), abef: X7, cdgh: X8, m: [4]VecPhysical{X9, X10, X11, X12}},
	}
	blocks, k := Load(Param("blocks"), GP64()), GP64()
	MOVOU(order, X13)
	LEAQ(keys, k)
	for i := range lanes {
		l := &lanes[i]
		l.save = [2]Mem{AllocLocal(16), AllocLocal(16)}
		MOVOU(Mem{Base: state, Disp: 32 * i}, l.abef)
		MOVOU(Mem{Base: state, Disp: 32*i + 16}, l.cdgh)
		PSHUFD(U8(0xb1), l.abef, l.abef) // CDAB
		PSHUFD(U8(0x1b), l.cdgh, l.cdgh) // EFGH
		MOVOU(l.abef, X15)
		PALIGNR(U8(8), l.cdgh, l.abef)
		PBLENDW(U8(0xf0), X15, l.cdgh)
	}
	Label("block")
	for _, l := range lanes {
		MOVOU(l.abef, l.save[0])
		MOVOU(l.cdgh, l.save[1])
	}
	for group := range 16 {
		for i := range lanes {
			lanes[i].rounds(group, k)
		}
	}
	for _, l := range lanes {
		MOVOU(l.save[0], X14)
		PADDD(X14, l.abef)
		MOVOU(l.save[1], X15)
		PADDD(X15, l.cdgh)
		ADDQ(U32(64), l.in)
	}
	DECQ(blocks)
	JNZ(LabelRef("block"))
	for i, l := range lanes {
		PSHUFD(U8(0x1b), l.abef, l.abef) // FEBA
		PSHUFD(U8(0xb1), l.cdgh, l.cdgh) // DCHG
		MOVOU(l.abef, X15)
		PBLENDW(U8(0xf0), l.cdgh, l.abef)
		PALIGNR(U8(8), X15, l.cdgh)
		MOVOU(l.abef, Mem{Base: state, Disp: 32 * i})
		MOVOU(l.cdgh, Mem{Base: state, Disp: 32*i + 16})
	}
	RET()
}

// rounds makes four rounds, and with them a part of the message schedule of later ones.
func (l *sha256Lane) rounds(group int, k Register) {
	m, before, next := l.m[group%4], l.m[(group+3)%4], l.m[(group+1)%4]
	if group < 4 {
		MOVOU(Mem{Base: l.in, Disp: 16 * group}, m)
		PSHUFB(X13, m)
	}
	MOVOU(Mem{Base: k, Disp: 16 * group}, X0)
	PADDD(m, X0)
	SHA256RNDS2(X0, l.abef, l.cdgh)
	if group >= 3 && group < 15 {
		MOVOU(m, X14)
		PALIGNR(U8(4), before, X14)
		PADDD(X14, next)
		SHA256MSG2(m, next)
	}
	PSHUFD(U8(0x0e), X0, X0)
	SHA256RNDS2(X0, l.cdgh, l.abef)
	if group >= 1 && group < 13 {
		SHA256MSG1(m, before)
	}
}
