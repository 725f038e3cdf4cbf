//go:build !amd64

package nearest

const vectors = false

func squaresVector(int, *float32, *float32, int, *float32)           {}
func squaresAtVector(int, *float32, *float32, int, *int32, *float32) {}
func outsideVector(int, *float32, *float32) float32                  { return 0 }
func turnVector(int, int, *float64, *float64, *float32)              {}
