package linear

import "golang.org/x/sys/cpu"

// vectors says whether the processor has the instructions of the functions
// below. Their n is a multiple of four, and not 0.
var vectors = cpu.X86.HasAVX2

// addFourVector is addFour.
//
//go:noescape
func addFourVector(n int, sum *float64, x *four, a *[lanes]float64)

// dotFourVector is dotFour.
//
//go:noescape
func dotFourVector(n int, y *float64, x *four, out *[lanes]float64)

// logisticVector is logistic up to its logarithms.
//
//go:noescape
func logisticVector(n int, odds, is, bent *float64, losses, products *[lanes]float64)
