#include "textflag.h"

// The powers of the prime: so many zero bytes multiply a hash by them.
DATA p2<>(SB)/8, $0x000366000002e329
GLOBL p2<>(SB), RODATA|NOPTR, $8
DATA p3<>(SB)/8, $0x08a97b0004e7feab
GLOBL p3<>(SB), RODATA|NOPTR, $8
DATA p4<>(SB)/8, $0x9ffaac085635bc91
GLOBL p4<>(SB), RODATA|NOPTR, $8
DATA p5<>(SB)/8, $0x0caee32a7d4f6a63
GLOBL p5<>(SB), RODATA|NOPTR, $8
DATA p6<>(SB)/8, $0xdc966432edf1c639
GLOBL p6<>(SB), RODATA|NOPTR, $8
DATA p7<>(SB)/8, $0xc5527b8a51d3d2db
GLOBL p7<>(SB), RODATA|NOPTR, $8
DATA p8<>(SB)/8, $0x1efac7090aef4a21
GLOBL p8<>(SB), RODATA|NOPTR, $8
DATA p16<>(SB)/8, $0x4efe15c813151841
GLOBL p16<>(SB), RODATA|NOPTR, $8

// ALL multiplies each hash by one factor.
#define ALL(factor) \
	IMULQ factor, AX; \
	IMULQ factor, BX; \
	IMULQ factor, CX; \
	IMULQ factor, DX

// STEP is one byte of each lane: an xor into the low byte of the hash, and a multiply that
// includes the zero bytes after it.
#define STEP(i, factor) \
	XORB i(SI), AX; \
	XORB i(DI), BX; \
	XORB i(R8), CX; \
	XORB i(R9), DX; \
	ALL(factor)

#define BYTE(i) STEP(i, R11)

#define BYTES4(i) \
	BYTE(i); \
	BYTE(i+1); \
	BYTE(i+2); \
	BYTE(i+3)

// LOAD takes the arguments of a function of this file.
#define LOAD \
	MOVQ h+0(FP), R10; \
	MOVQ a+8(FP), SI; \
	MOVQ b+16(FP), DI; \
	MOVQ c+24(FP), R8; \
	MOVQ d+32(FP), R9; \
	MOVQ n+40(FP), R12; \
	MOVQ 0(R10), AX; \
	MOVQ 8(R10), BX; \
	MOVQ 16(R10), CX; \
	MOVQ 24(R10), DX; \
	MOVQ $0x100000001b3, R11; \
	MOVQ p16<>(SB), R13

// NEXT goes on to the next 16 bytes.
#define NEXT \
	ADDQ $16, SI; \
	ADDQ $16, DI; \
	ADDQ $16, R8; \
	ADDQ $16, R9; \
	SUBQ $16, R12

#define STORE \
	MOVQ AX, 0(R10); \
	MOVQ BX, 8(R10); \
	MOVQ CX, 16(R10); \
	MOVQ DX, 24(R10)

#define PREFETCH \
	PREFETCHT0 1024(SI); \
	PREFETCHT0 1024(DI); \
	PREFETCHT0 1024(R8); \
	PREFETCHT0 1024(R9)

// EITHER puts into R14 which bits are set in either of two words of any lane.
#define EITHER \
	MOVQ 0(SI), R14; \
	ORQ 8(SI), R14; \
	ORQ 0(DI), R14; \
	ORQ 8(DI), R14; \
	ORQ 0(R8), R14; \
	ORQ 8(R8), R14; \
	ORQ 0(R9), R14; \
	ORQ 8(R9), R14

// func sideFloats(h *[lanes]uint64, a, b, c, d *float32, n int)
//
// Four multiplies a byte of four lanes are all that the processor can do; they leave
// hardly any room for other instructions, which is why Go's code for the same is slower.
TEXT ·sideFloats(SB), NOSPLIT, $0-48
	LOAD
	PXOR X1, X1
loop:
	PREFETCH
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
	BYTES4(0)
	BYTES4(4)
	BYTES4(8)
	BYTES4(12)
next:
	NEXT
	JNZ loop
	STORE
	RET
zero:
	ALL(R13)
	JMP next

// func sideInts(h *[lanes]uint64, a, b, c, d *int32, n int)
//
// Most are categories and counts. Of four small numbers in each lane only one or two bytes
// each are not zero.
TEXT ·sideInts(SB), NOSPLIT, $0-48
	LOAD
loop:
	PREFETCH
	EITHER
	MOVQ R14, R15
	SHRQ $32, R15
	ORL R14, R15
	JEQ zero
	CMPL R15, $0x100
	JCS one
	CMPL R15, $0x10000
	JCS two
	BYTES4(0)
	BYTES4(4)
	BYTES4(8)
	BYTES4(12)
next:
	NEXT
	JNZ loop
	STORE
	RET
zero:
	ALL(R13)
	JMP next
one:
	STEP(0, p4<>(SB))
	STEP(4, p4<>(SB))
	STEP(8, p4<>(SB))
	STEP(12, p4<>(SB))
	JMP next
two:
	BYTE(0)
	STEP(1, p3<>(SB))
	BYTE(4)
	STEP(5, p3<>(SB))
	BYTE(8)
	STEP(9, p3<>(SB))
	BYTE(12)
	STEP(13, p3<>(SB))
	JMP next

// func sideFixed(h *[lanes]uint64, a, b, c, d *int64, n int)
//
// Most numbers are small: their upper bytes are zeros, and of whole ones also the lower two,
// which are the fraction.
TEXT ·sideFixed(SB), NOSPLIT, $0-48
	LOAD
loop:
	PREFETCH
	EITHER
	TESTQ R14, R14
	JEQ zero
	MOVQ R14, R15
	SHRQ $32, R15
	JNE all
	TESTL $0xff00ffff, R14
	JEQ count
	TESTL $0xffff, R14
	JEQ whole
	CMPL R14, $0x10000
	JCS two
	CMPL R14, $0x1000000
	JCS three
	BYTE(0)
	BYTE(1)
	BYTE(2)
	STEP(3, p5<>(SB))
	BYTE(8)
	BYTE(9)
	BYTE(10)
	STEP(11, p5<>(SB))
next:
	NEXT
	JNZ loop
	STORE
	RET
zero:
	ALL(R13)
	JMP next
count:
	ALL(p2<>(SB))
	STEP(2, p8<>(SB))
	STEP(10, p6<>(SB))
	JMP next
whole:
	ALL(p2<>(SB))
	BYTE(2)
	STEP(3, p7<>(SB))
	BYTE(10)
	STEP(11, p5<>(SB))
	JMP next
two:
	BYTE(0)
	STEP(1, p7<>(SB))
	BYTE(8)
	STEP(9, p7<>(SB))
	JMP next
three:
	BYTE(0)
	BYTE(1)
	STEP(2, p6<>(SB))
	BYTE(8)
	BYTE(9)
	STEP(10, p6<>(SB))
	JMP next
all:
	BYTES4(0)
	BYTES4(4)
	BYTES4(8)
	BYTES4(12)
	JMP next

// func sideWords(h *[lanes]uint64, a, b, c, d *uint64, n int)
TEXT ·sideWords(SB), NOSPLIT, $0-48
	JMP ·sideFixed(SB)
