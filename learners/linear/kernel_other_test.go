//go:build !amd64

package linear

func setVectors(bool) {}
