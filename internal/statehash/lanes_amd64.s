#include "textflag.h"

// BYTE is one byte of each lane: an xor into the low byte of the hash, and the multiply.
#define BYTE(i) \
	XORB i(SI), AX; \
	XORB i(DI), BX; \
	XORB i(R8), CX; \
	XORB i(R9), DX; \
	IMULQ R11, AX; \
	IMULQ R11, BX; \
	IMULQ R11, CX; \
	IMULQ R11, DX

// func sideFloats(h *[lanes]uint64, a, b, c, d *float32, n int, zeros uint64)
//
// Four multiplies a byte of four lanes are all that the processor can do; they leave
// hardly any room for other instructions, which is why Go's code for the same is slower.
TEXT ·sideFloats(SB), NOSPLIT, $0-56
	MOVQ h+0(FP), R10
	MOVQ a+8(FP), SI
	MOVQ b+16(FP), DI
	MOVQ c+24(FP), R8
	MOVQ d+32(FP), R9
	MOVQ n+40(FP), R12
	MOVQ zeros+48(FP), R13
	MOVQ 0(R10), AX
	MOVQ 8(R10), BX
	MOVQ 16(R10), CX
	MOVQ 24(R10), DX
	MOVQ $0x100000001b3, R11
	PXOR X1, X1
loop:
	PREFETCHT0 1024(SI)
	PREFETCHT0 1024(DI)
	PREFETCHT0 1024(R8)
	PREFETCHT0 1024(R9)
	MOVOU 0(SI), X0
	MOVOU 0(DI), X2
	MOVOU 0(R8), X3
	MOVOU 0(R9), X4
	POR X2, X0
	POR X4, X3
	POR X3, X0
	PCMPEQL X1, X0
	PMOVMSKB X0, R15
	CMPL R15, $0xffff
	JEQ zero
	BYTE(0)
	BYTE(1)
	BYTE(2)
	BYTE(3)
	BYTE(4)
	BYTE(5)
	BYTE(6)
	BYTE(7)
	BYTE(8)
	BYTE(9)
	BYTE(10)
	BYTE(11)
	BYTE(12)
	BYTE(13)
	BYTE(14)
	BYTE(15)
next:
	ADDQ $16, SI
	ADDQ $16, DI
	ADDQ $16, R8
	ADDQ $16, R9
	SUBQ $16, R12
	JNZ loop
	MOVQ AX, 0(R10)
	MOVQ BX, 8(R10)
	MOVQ CX, 16(R10)
	MOVQ DX, 24(R10)
	RET
zero:
	IMULQ R13, AX
	IMULQ R13, BX
	IMULQ R13, CX
	IMULQ R13, DX
	JMP next

// func sideInts(h *[lanes]uint64, a, b, c, d *int32, n int, zeros uint64)
TEXT ·sideInts(SB), NOSPLIT, $0-56
	JMP ·sideFloats(SB)

// func sideFixed(h *[lanes]uint64, a, b, c, d *int64, n int, zeros uint64)
TEXT ·sideFixed(SB), NOSPLIT, $0-56
	JMP ·sideFloats(SB)

// func sideWords(h *[lanes]uint64, a, b, c, d *uint64, n int, zeros uint64)
TEXT ·sideWords(SB), NOSPLIT, $0-56
	JMP ·sideFloats(SB)
