//go:build !amd64

package neural

const vectors, fused = false, false

func multiplyVector(int, *float32, int, int, *float32, int, *tile) {}

func moveVector(_, _, _, _ *[side]float32, _ *adamSizes) {}

func multiplyFused(int, *float64, int, *float32, int, *[side * side]float64) {}
