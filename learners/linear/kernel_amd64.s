#include "textflag.h"

// func addFourVector(n int, sum *float64, x *four, a *[4]float64)
TEXT ·addFourVector(SB), NOSPLIT, $0-32
	MOVQ n+0(FP), CX
	MOVQ sum+8(FP), DI
	MOVQ x+16(FP), SI
	MOVQ a+24(FP), DX
	MOVQ 0(SI), R8
	MOVQ 8(SI), R9
	MOVQ 16(SI), R10
	MOVQ 24(SI), R11
	VBROADCASTSD 0(DX), Y8
	VBROADCASTSD 8(DX), Y9
	VBROADCASTSD 16(DX), Y10
	VBROADCASTSD 24(DX), Y11
	XORQ AX, AX
	SHLQ $3, CX

next:
	VMULPD  (R8)(AX*1), Y8, Y1
	VMULPD  (R9)(AX*1), Y9, Y2
	VMULPD  (R10)(AX*1), Y10, Y3
	VMULPD  (R11)(AX*1), Y11, Y4
	VADDPD  (DI)(AX*1), Y1, Y0
	VADDPD  Y2, Y0, Y0
	VADDPD  Y3, Y0, Y0
	VADDPD  Y4, Y0, Y0
	VMOVUPD Y0, (DI)(AX*1)
	ADDQ    $32, AX
	CMPQ    AX, CX
	JLT     next
	VZEROUPPER
	RET

// TOTAL adds the lanes of a register to a number in memory: (0 + 2) + (1 + 3).
#define TOTAL(sum, low, address) \
	VEXTRACTF128 $1, sum, X12; \
	VADDPD       X12, low, low; \
	VPERMILPD    $1, low, X12; \
	VADDSD       X12, low, low; \
	VADDSD       address, low, low; \
	VMOVSD       low, address

// func dotFourVector(n int, y *float64, x *four, out *[4]float64)
TEXT ·dotFourVector(SB), NOSPLIT, $0-32
	MOVQ n+0(FP), CX
	MOVQ y+8(FP), DI
	MOVQ x+16(FP), SI
	MOVQ out+24(FP), DX
	MOVQ 0(SI), R8
	MOVQ 8(SI), R9
	MOVQ 16(SI), R10
	MOVQ 24(SI), R11
	VXORPD Y0, Y0, Y0
	VXORPD Y1, Y1, Y1
	VXORPD Y2, Y2, Y2
	VXORPD Y3, Y3, Y3
	XORQ AX, AX
	SHLQ $3, CX

next:
	VMOVUPD (DI)(AX*1), Y4
	VMULPD  (R8)(AX*1), Y4, Y5
	VMULPD  (R9)(AX*1), Y4, Y6
	VMULPD  (R10)(AX*1), Y4, Y7
	VMULPD  (R11)(AX*1), Y4, Y8
	VADDPD  Y5, Y0, Y0
	VADDPD  Y6, Y1, Y1
	VADDPD  Y7, Y2, Y2
	VADDPD  Y8, Y3, Y3
	ADDQ    $32, AX
	CMPQ    AX, CX
	JLT     next
	TOTAL(Y0, X0, 0(DX))
	TOTAL(Y1, X1, 8(DX))
	TOTAL(Y2, X2, 16(DX))
	TOTAL(Y3, X3, 24(DX))
	VZEROUPPER
	RET

// HORNER goes on to the next of the coefficients.
#define HORNER(at) \
	VMULPD       Y4, Y5, Y5; \
	VBROADCASTSD at(R12), Y6; \
	VADDPD       Y6, Y5, Y5

// func logisticVector(n int, odds, is, bent *float64, losses, products *[4]float64)
TEXT ·logisticVector(SB), NOSPLIT, $0-48
	MOVQ n+0(FP), CX
	MOVQ odds+8(FP), DI
	MOVQ is+16(FP), SI
	MOVQ bent+24(FP), R8
	MOVQ losses+32(FP), R9
	MOVQ products+40(FP), R10
	LEAQ ·expParts(SB), R12
	VMOVUPD (R9), Y15
	VMOVUPD (R10), Y14
	VPCMPEQQ Y13, Y13, Y13
	VPSLLQ   $63, Y13, Y13        // the sign
	VBROADCASTSD 128(R12), Y12    // 1
	VBROADCASTSD 112(R12), Y11    // 1/2
	XORQ AX, AX
	SHLQ $3, CX

next:
	VMOVUPD      (DI)(AX*1), Y0   // odds
	VANDNPD      Y0, Y13, Y1      // size
	VBROADCASTSD 0(R12), Y6
	VMINPD       Y6, Y1, Y2
	VBROADCASTSD 8(R12), Y6
	VMULPD       Y6, Y2, Y3
	VROUNDPD     $0, Y3, Y3       // k
	VBROADCASTSD 16(R12), Y6
	VMULPD       Y6, Y3, Y4
	VSUBPD       Y2, Y4, Y4
	VBROADCASTSD 24(R12), Y6
	VMULPD       Y6, Y3, Y5
	VADDPD       Y5, Y4, Y4       // rest
	VBROADCASTSD 32(R12), Y5
	HORNER(40)
	HORNER(48)
	HORNER(56)
	HORNER(64)
	HORNER(72)
	HORNER(80)
	HORNER(88)
	HORNER(96)
	HORNER(104)
	HORNER(112)
	HORNER(120)
	HORNER(128)
	VCVTPD2DQY   Y3, X3
	VPMOVSXDQ    X3, Y3
	VPSLLQ       $52, Y3, Y3
	VPSUBQ       Y3, Y5, Y5       // e
	VADDPD       Y5, Y12, Y6      // 1 + e
	VDIVPD       Y6, Y12, Y7      // p
	VMULPD       Y6, Y14, Y14
	VMOVUPD      (SI)(AX*1), Y8   // is
	VADDPD       Y1, Y0, Y9
	VMULPD       Y11, Y9, Y9
	VMULPD       Y0, Y8, Y10
	VSUBPD       Y10, Y9, Y9
	VADDPD       Y9, Y15, Y15
	VMULPD       Y7, Y5, Y9
	VMULPD       Y7, Y9, Y9
	VMOVUPD      Y9, (R8)(AX*1)
	VSUBPD       Y11, Y7, Y9      // p − 1/2 is not negative
	VANDPD       Y0, Y13, Y10
	VORPD        Y10, Y9, Y9
	VADDPD       Y11, Y9, Y9
	VSUBPD       Y8, Y9, Y9
	VMOVUPD      Y9, (DI)(AX*1)
	ADDQ         $32, AX
	CMPQ         AX, CX
	JLT          next
	VMOVUPD Y15, (R9)
	VMOVUPD Y14, (R10)
	VZEROUPPER
	RET
