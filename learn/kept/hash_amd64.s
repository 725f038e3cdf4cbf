#include "textflag.h"

DATA mix<>+0x00(SB)/8, $0x9e3779b97f4a7c15
DATA mix<>+0x08(SB)/8, $0xbf58476d1ce4e5b9
DATA mix<>+0x10(SB)/8, $0x94d049bb133111eb
GLOBL mix<>(SB), RODATA|NOPTR, $24

// TIMES multiplies four numbers by a constant, whose upper half has a register of
// its own: the lower 64 bits of low·low + (high·low + low·high)·2^32.
#define TIMES(number, low, high) \
	VPSRLQ   $32, number, Y1; \
	VPMULUDQ low, Y1, Y1; \
	VPMULUDQ high, number, Y2; \
	VPMULUDQ low, number, number; \
	VPADDQ   Y2, Y1, Y1; \
	VPSLLQ   $32, Y1, Y1; \
	VPADDQ   Y1, number, number

// XORSHIFT is number ^= number >> bits.
#define XORSHIFT(bits, number) \
	VPSRLQ $bits, number, Y1; \
	VPXOR  Y1, number, number

// func hashNumbersVector(n int, hashes *uint64, xs *float64, salt uint64)
TEXT ·hashNumbersVector(SB), NOSPLIT, $0-32
	MOVQ n+0(FP), CX
	MOVQ hashes+8(FP), DI
	MOVQ xs+16(FP), SI
	VPBROADCASTQ salt+24(FP), Y7
	VPBROADCASTQ mix<>+0x00(SB), Y8
	VPBROADCASTQ mix<>+0x08(SB), Y9
	VPSRLQ $32, Y9, Y10
	VPBROADCASTQ mix<>+0x10(SB), Y11
	VPSRLQ $32, Y11, Y12
	VXORPD Y6, Y6, Y6
	XORQ AX, AX
	SHLQ $3, CX

next:
	VMOVUPD  (SI)(AX*1), Y3
	VCMPPD   $3, Y3, Y3, Y4       // missing
	VADDPD   Y6, Y3, Y0           // −0 is 0
	VPXOR    Y7, Y0, Y0
	VPADDQ   Y8, Y0, Y0
	XORSHIFT(30, Y0)
	TIMES(Y0, Y9, Y10)
	XORSHIFT(27, Y0)
	TIMES(Y0, Y11, Y12)
	XORSHIFT(31, Y0)
	VPANDN   Y0, Y4, Y0
	VPADDQ   (DI)(AX*1), Y0, Y0
	VMOVDQU  Y0, (DI)(AX*1)
	ADDQ     $32, AX
	CMPQ     AX, CX
	JLT      next
	VZEROUPPER
	RET
