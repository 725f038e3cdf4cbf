package main

import (
	"os"
	"strconv"
	"strings"
)

// cpuSeconds returns what this process has kept the processors busy for, 0 where
// the system does not say so.
func cpuSeconds() float64 {
	text, err := os.ReadFile("/proc/self/stat")
	if err != nil {
		return 0
	}
	// The name of the program may have blanks; what follows has none.
	_, rest, _ := strings.Cut(string(text), ") ")
	fields := strings.Fields(rest)
	if len(fields) < 13 {
		return 0
	}
	user, _ := strconv.ParseFloat(fields[11], 64)
	system, _ := strconv.ParseFloat(fields[12], 64)
	return (user + system) / 100
}
