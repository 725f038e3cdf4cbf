#include "textflag.h"

// LINE adds one element of a, times the row of b in Y8, to a row of the tile.
#define LINE(address, product, sum) \
	VBROADCASTSS address, product; \
	VMULPS       Y8, product, product; \
	VADDPS       product, sum, sum

// func multiplyVector(n int, a *float32, row, step int, b *float32, stride int, c *tile)
TEXT ·multiplyVector(SB), NOSPLIT, $0-56
	MOVQ n+0(FP), CX
	MOVQ a+8(FP), SI
	MOVQ row+16(FP), R8
	MOVQ step+24(FP), R9
	MOVQ b+32(FP), DI
	MOVQ stride+40(FP), R10
	MOVQ c+48(FP), DX
	SHLQ $2, R8             // floats to bytes
	SHLQ $2, R9
	SHLQ $2, R10
	LEAQ (R8)(R8*2), R11    // 3, 5 and 7 rows
	LEAQ (R8)(R8*4), R12
	LEAQ (R11)(R8*4), R13
	VXORPS Y0, Y0, Y0
	VXORPS Y1, Y1, Y1
	VXORPS Y2, Y2, Y2
	VXORPS Y3, Y3, Y3
	VXORPS Y4, Y4, Y4
	VXORPS Y5, Y5, Y5
	VXORPS Y6, Y6, Y6
	VXORPS Y7, Y7, Y7

next:
	VMOVUPS (DI), Y8
	LINE((SI), Y9, Y0)
	LINE((SI)(R8*1), Y10, Y1)
	LINE((SI)(R8*2), Y11, Y2)
	LINE((SI)(R11*1), Y12, Y3)
	LINE((SI)(R8*4), Y9, Y4)
	LINE((SI)(R12*1), Y10, Y5)
	LINE((SI)(R11*2), Y11, Y6)
	LINE((SI)(R13*1), Y12, Y7)
	ADDQ R9, SI
	ADDQ R10, DI
	DECQ CX
	JNZ  next

	VMOVUPS Y0, 0(DX)
	VMOVUPS Y1, 32(DX)
	VMOVUPS Y2, 64(DX)
	VMOVUPS Y3, 96(DX)
	VMOVUPS Y4, 128(DX)
	VMOVUPS Y5, 160(DX)
	VMOVUPS Y6, 192(DX)
	VMOVUPS Y7, 224(DX)
	VZEROUPPER
	RET

// func moveVector(w, gradient, first, second *[8]float32, s *adamSizes)
TEXT ·moveVector(SB), NOSPLIT, $0-40
	MOVQ w+0(FP), DI
	MOVQ gradient+8(FP), SI
	MOVQ first+16(FP), R8
	MOVQ second+24(FP), R9
	MOVQ s+32(FP), DX
	VMOVUPS (SI), Y0
	VMOVUPS (R8), Y1
	VMOVUPS (R9), Y2

	// first += follow1 (gradient - first)
	VBROADCASTSS 12(DX), Y4
	VSUBPS Y1, Y0, Y3
	VMULPS Y4, Y3, Y3
	VADDPS Y3, Y1, Y1
	VMOVUPS Y1, (R8)

	// second += follow2 (gradient² - second)
	VBROADCASTSS 16(DX), Y4
	VMULPS Y0, Y0, Y5
	VSUBPS Y2, Y5, Y5
	VMULPS Y4, Y5, Y5
	VADDPS Y5, Y2, Y2
	VMOVUPS Y2, (R9)

	// w -= size first / (√second + small) + decay w
	VBROADCASTSS 0(DX), Y4
	VBROADCASTSS 4(DX), Y5
	VBROADCASTSS 8(DX), Y6
	VMOVUPS (DI), Y8
	VSQRTPS Y2, Y2
	VADDPS Y5, Y2, Y2
	VMULPS Y4, Y1, Y7
	VDIVPS Y2, Y7, Y7
	VMULPS Y6, Y8, Y9
	VADDPS Y9, Y7, Y7
	VSUBPS Y7, Y8, Y8
	VMOVUPS Y8, (DI)
	VZEROUPPER
	RET

// FUSED adds one element of a, times the four columns in Y8, to a row of sums.
#define FUSED(address, element, sum) \
	VBROADCASTSD address, element; \
	VFMADD231PD  Y8, element, sum

// func multiplyFused(n int, a *float64, row int, b *float32, stride int, c *[64]float64)
TEXT ·multiplyFused(SB), NOSPLIT, $0-48
	MOVQ row+16(FP), R8
	MOVQ b+24(FP), BX
	MOVQ stride+32(FP), R10
	MOVQ c+40(FP), DX
	SHLQ $3, R8             // doubles to bytes
	SHLQ $2, R10            // floats to bytes
	LEAQ (R8)(R8*2), R11    // 3, 5 and 7 rows
	LEAQ (R8)(R8*4), R12
	LEAQ (R11)(R8*4), R13
	MOVQ $2, R9             // halves

half:
	MOVQ n+0(FP), CX
	MOVQ a+8(FP), SI
	MOVQ BX, DI
	VXORPD Y0, Y0, Y0
	VXORPD Y1, Y1, Y1
	VXORPD Y2, Y2, Y2
	VXORPD Y3, Y3, Y3
	VXORPD Y4, Y4, Y4
	VXORPD Y5, Y5, Y5
	VXORPD Y6, Y6, Y6
	VXORPD Y7, Y7, Y7

row:
	VCVTPS2PD (DI), Y8
	FUSED((SI), Y9, Y0)
	FUSED((SI)(R8*1), Y10, Y1)
	FUSED((SI)(R8*2), Y11, Y2)
	FUSED((SI)(R11*1), Y12, Y3)
	FUSED((SI)(R8*4), Y9, Y4)
	FUSED((SI)(R12*1), Y10, Y5)
	FUSED((SI)(R11*2), Y11, Y6)
	FUSED((SI)(R13*1), Y12, Y7)
	ADDQ $8, SI
	ADDQ R10, DI
	DECQ CX
	JNZ  row

	VMOVUPD Y0, 0(DX)
	VMOVUPD Y1, 64(DX)
	VMOVUPD Y2, 128(DX)
	VMOVUPD Y3, 192(DX)
	VMOVUPD Y4, 256(DX)
	VMOVUPD Y5, 320(DX)
	VMOVUPD Y6, 384(DX)
	VMOVUPD Y7, 448(DX)
	ADDQ $16, BX            // four floats on
	ADDQ $32, DX            // four doubles on
	DECQ R9
	JNZ  half
	VZEROUPPER
	RET
