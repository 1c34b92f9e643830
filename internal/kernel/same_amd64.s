#include "textflag.h"

// func sameVectors(a, b *float32, n int) bool
TEXT ·sameVectors(SB), NOSPLIT, $0-25
	MOVQ a+0(FP), SI
	MOVQ b+8(FP), DI
	MOVQ n+16(FP), CX
loop:
	VMOVDQU 0(SI), Y0
	VMOVDQU 32(SI), Y1
	VPXOR 0(DI), Y0, Y0
	VPXOR 32(DI), Y1, Y1
	VPOR Y1, Y0, Y0
	VPTEST Y0, Y0
	JNZ differ
	ADDQ $64, SI
	ADDQ $64, DI
	SUBQ $16, CX
	JNZ loop
	VZEROUPPER
	MOVB $1, ret+24(FP)
	RET
differ:
	VZEROUPPER
	MOVB $0, ret+24(FP)
	RET
