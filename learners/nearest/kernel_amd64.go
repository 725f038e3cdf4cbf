package nearest

import "golang.org/x/sys/cpu"

// vectors says whether the processor has the instructions of the functions
// below, which round as plain Go does: they multiply and add in separate steps.
var vectors = cpu.X86.HasAVX

//go:noescape
func squaresVector(blocks int, asked, rows *float32, n int, out *float32)

//go:noescape
func squaresAtVector(blocks int, asked, rows *float32, n int, at *int32, out *float32)

//go:noescape
func outsideVector(blocks int, asked, box *float32) float32

//go:noescape
func turnVector(quads, rows int, axes, p *float64, out *float32)
