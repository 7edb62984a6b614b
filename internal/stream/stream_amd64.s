#include "textflag.h"

// func copyLines(dst, src unsafe.Pointer, lines int)
TEXT ·copyLines(SB), NOSPLIT, $0-24
	MOVQ dst+0(FP), DI
	MOVQ src+8(FP), SI
	MOVQ lines+16(FP), CX

loop:
	MOVOU 0(SI), X0
	MOVOU 16(SI), X1
	MOVOU 32(SI), X2
	MOVOU 48(SI), X3
	MOVNTO X0, 0(DI)
	MOVNTO X1, 16(DI)
	MOVNTO X2, 32(DI)
	MOVNTO X3, 48(DI)
	ADDQ $64, SI
	ADDQ $64, DI
	DECQ CX
	JNZ loop
	RET

// func fillLines(dst unsafe.Pointer, pattern *[16]byte, lines int)
TEXT ·fillLines(SB), NOSPLIT, $0-24
	MOVQ dst+0(FP), DI
	MOVQ pattern+8(FP), SI
	MOVQ lines+16(FP), CX
	MOVOU 0(SI), X0

loop:
	MOVNTO X0, 0(DI)
	MOVNTO X0, 16(DI)
	MOVNTO X0, 32(DI)
	MOVNTO X0, 48(DI)
	ADDQ $64, DI
	DECQ CX
	JNZ loop
	RET

// func fence()
TEXT ·fence(SB), NOSPLIT, $0-0
	SFENCE
	RET
