#include "textflag.h"

// func sameVectors(a, b *float32, n int) bool
//
// SSE2, which every amd64 has, keeps up with the memory.
TEXT ·sameVectors(SB), NOSPLIT, $0-25
	MOVQ a+0(FP), SI
	MOVQ b+8(FP), DI
	MOVQ n+16(FP), CX
loop:
	MOVOU 0(SI), X0
	MOVOU 16(SI), X1
	MOVOU 32(SI), X2
	MOVOU 48(SI), X3
	MOVOU 0(DI), X4
	MOVOU 16(DI), X5
	MOVOU 32(DI), X6
	MOVOU 48(DI), X7
	PCMPEQL X4, X0
	PCMPEQL X5, X1
	PCMPEQL X6, X2
	PCMPEQL X7, X3
	PAND X1, X0
	PAND X3, X2
	PAND X2, X0
	PMOVMSKB X0, AX
	CMPL AX, $0xffff
	JNE differ
	ADDQ $64, SI
	ADDQ $64, DI
	SUBQ $16, CX
	JNZ loop
	MOVB $1, ret+24(FP)
	RET
differ:
	MOVB $0, ret+24(FP)
	RET
