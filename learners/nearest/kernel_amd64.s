#include "textflag.h"

// TOTAL adds up the lanes of Y0, in the order of the function added.
#define TOTAL \
	VEXTRACTF128 $1, Y0, X1; \
	VADDPS       X1, X0, X0; \
	VPERMILPS    $0x0E, X0, X1; \
	VADDPS       X1, X0, X0; \
	VPERMILPS    $1, X0, X1; \
	VADDSS       X1, X0, X0

// func squaresVector(blocks int, asked, rows *float32, n int, out *float32)
TEXT ·squaresVector(SB), NOSPLIT, $0-40
	MOVQ blocks+0(FP), CX
	MOVQ asked+8(FP), SI
	MOVQ rows+16(FP), DI
	MOVQ n+24(FP), R8
	MOVQ out+32(FP), DX
	CMPQ CX, $2
	JEQ  heads

row:
	MOVQ   SI, R9
	MOVQ   CX, R10
	VXORPS Y0, Y0, Y0

block:
	VMOVUPS (R9), Y1
	VSUBPS  (DI), Y1, Y1
	VMULPS  Y1, Y1, Y1
	VADDPS  Y1, Y0, Y0
	ADDQ    $32, R9
	ADDQ    $32, DI
	DECQ    R10
	JNZ     block
	TOTAL
	MOVSS X0, (DX)
	ADDQ  $4, DX
	DECQ  R8
	JNZ   row
	VZEROUPPER
	RET

heads:
	VMOVUPS (SI), Y6
	VMOVUPS 32(SI), Y7

head:
	VSUBPS (DI), Y6, Y1
	VSUBPS 32(DI), Y7, Y2
	VMULPS Y1, Y1, Y1
	VMULPS Y2, Y2, Y2
	VADDPS Y2, Y1, Y0
	TOTAL
	MOVSS  X0, (DX)
	ADDQ   $64, DI
	ADDQ   $4, DX
	DECQ   R8
	JNZ    head
	VZEROUPPER
	RET

// func squaresAtVector(blocks int, asked, rows *float32, n int, at *int32, out *float32)
TEXT ·squaresAtVector(SB), NOSPLIT, $0-48
	MOVQ blocks+0(FP), CX
	MOVQ asked+8(FP), SI
	MOVQ rows+16(FP), BX
	MOVQ n+24(FP), R8
	MOVQ at+32(FP), R11
	MOVQ out+40(FP), DX
	MOVQ CX, R12
	SHLQ $5, R12            // bytes of a row
	CMPQ CX, $2
	JEQ  heads

row:
	MOVLQSX (R11), DI
	IMULQ   R12, DI
	ADDQ    BX, DI
	MOVQ    SI, R9
	MOVQ    CX, R10
	VXORPS  Y0, Y0, Y0

block:
	VMOVUPS (R9), Y1
	VSUBPS  (DI), Y1, Y1
	VMULPS  Y1, Y1, Y1
	VADDPS  Y1, Y0, Y0
	ADDQ    $32, R9
	ADDQ    $32, DI
	DECQ    R10
	JNZ     block
	TOTAL
	MOVSS X0, (DX)
	ADDQ  $4, DX
	ADDQ  $4, R11
	DECQ  R8
	JNZ   row
	VZEROUPPER
	RET

heads:
	VMOVUPS (SI), Y6
	VMOVUPS 32(SI), Y7

head:
	CMPQ R8, $8
	JLE  near
	MOVLQSX    32(R11), DI // the row that is eight rows ahead
	SHLQ       $6, DI
	PREFETCHT0 (BX)(DI*1)

near:
	MOVLQSX (R11), DI
	SHLQ    $6, DI
	ADDQ    BX, DI
	VSUBPS  (DI), Y6, Y1
	VSUBPS  32(DI), Y7, Y2
	VMULPS  Y1, Y1, Y1
	VMULPS  Y2, Y2, Y2
	VADDPS  Y2, Y1, Y0
	TOTAL
	MOVSS   X0, (DX)
	ADDQ    $4, DX
	ADDQ    $4, R11
	DECQ    R8
	JNZ     head
	VZEROUPPER
	RET

// func outsideVector(blocks int, asked, box *float32) float32
TEXT ·outsideVector(SB), NOSPLIT, $0-28
	MOVQ   blocks+0(FP), CX
	MOVQ   asked+8(FP), SI
	MOVQ   box+16(FP), DI
	MOVQ   CX, R8
	SHLQ   $5, R8
	ADDQ   DI, R8           // the greatest corner
	VXORPS Y0, Y0, Y0
	VXORPS Y4, Y4, Y4

block:
	VMOVUPS (SI), Y1
	VMOVUPS (DI), Y2
	VSUBPS  Y1, Y2, Y2
	VSUBPS  (R8), Y1, Y3
	VMAXPS  Y2, Y3, Y3
	VMAXPS  Y4, Y3, Y3
	VMULPS  Y3, Y3, Y3
	VADDPS  Y3, Y0, Y0
	ADDQ    $32, SI
	ADDQ    $32, DI
	ADDQ    $32, R8
	DECQ    CX
	JNZ     block
	TOTAL
	VZEROUPPER
	MOVSS X0, ret+24(FP)
	RET

// func turnVector(quads, rows int, axes, p *float64, out *float32)
TEXT ·turnVector(SB), NOSPLIT, $0-40
	MOVQ quads+0(FP), CX
	MOVQ rows+8(FP), R8
	MOVQ axes+16(FP), DI
	MOVQ p+24(FP), SI
	MOVQ out+32(FP), DX

axis:
	MOVQ   SI, R9
	MOVQ   CX, R10
	VXORPD Y0, Y0, Y0

quad:
	VMOVUPD (R9), Y1
	VMULPD  (DI), Y1, Y1
	VADDPD  Y1, Y0, Y0
	ADDQ    $32, R9
	ADDQ    $32, DI
	DECQ    R10
	JNZ     quad
	VEXTRACTF128 $1, Y0, X1
	VADDPD       X1, X0, X0
	VPERMILPD    $1, X0, X1
	VADDSD       X1, X0, X0
	VCVTSD2SS    X0, X0, X0
	MOVSS        X0, (DX)
	ADDQ $4, DX
	DECQ R8
	JNZ  axis
	VZEROUPPER
	RET
