package kept

import "golang.org/x/sys/cpu"

// vectors says whether the processor has the instructions of hashNumbersVector.
var vectors = cpu.X86.HasAVX2

// hashNumbersVector is hashNumbers for n numbers, a multiple of four and not 0.
//
//go:noescape
func hashNumbersVector(n int, hashes *uint64, xs *float64, salt uint64)
