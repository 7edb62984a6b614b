#include "textflag.h"

// func Row(val, idx unsafe.Pointer)
TEXT ·Row(SB), NOSPLIT, $0-16
	MOVQ val+0(FP), AX
	MOVQ idx+8(FP), BX
	PREFETCHT0 (AX)
	PREFETCHT0 64(AX)
	PREFETCHT0 128(AX)
	PREFETCHT0 192(AX)
	PREFETCHT0 (BX)
	PREFETCHT0 64(BX)
	RET

// func Ahead(val, idx unsafe.Pointer)
TEXT ·Ahead(SB), NOSPLIT, $0-16
	MOVQ val+0(FP), AX
	MOVQ idx+8(FP), BX
	PREFETCHT0 1024(AX)
	PREFETCHT0 1088(AX)
	PREFETCHT0 1024(BX)
	RET
