//go:build !amd64

package linear

const vectors = false

func addFourVector(int, *float64, *four, *[lanes]float64) {}

func dotFourVector(int, *float64, *four, *[lanes]float64) {}

func logisticVector(int, *float64, *float64, *float64, *[lanes]float64, *[lanes]float64) {}
