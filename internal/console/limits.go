package console

import (
	"fmt"
	"math"
	"strconv"

	"github.com/spf13/pflag"
)

// Every number that a flag takes has a range, which is checked when the flag
// is read: what comes later can rely on it.

// MostCount is more than anything is counted to, and far from overflow.
const MostCount = 1_000_000_000

// wholeFlag is a whole number of a range.
type wholeFlag struct {
	value       *int
	least, most int
}

func (f wholeFlag) String() string {
	if f.value == nil {
		return "0"
	}
	return strconv.Itoa(*f.value)
}
func (wholeFlag) Type() string { return "int" }

func (f wholeFlag) Set(text string) error {
	n, err := strconv.Atoi(text)
	if err != nil || n < f.least || n > f.most {
		return fmt.Errorf("expected a whole number from %d to %d", f.least, f.most)
	}
	*f.value = n
	return nil
}

// CountVar defines a flag for a whole number from least to most.
func CountVar(flags *pflag.FlagSet, value *int, name string, otherwise, least, most int, usage string) {
	*value = otherwise
	flags.Var(wholeFlag{value, least, most}, name, usage)
}

// realFlag is a number of a range.
type realFlag struct {
	value       *float64
	least, most float64
}

func (f realFlag) String() string {
	if f.value == nil {
		return "0"
	}
	return strconv.FormatFloat(*f.value, 'g', -1, 64)
}
func (realFlag) Type() string { return "float" }

func (f realFlag) Set(text string) error {
	x, err := strconv.ParseFloat(text, 64)
	if err != nil || !(x >= f.least && x <= f.most) {
		if f.most == math.MaxFloat64 {
			return fmt.Errorf("expected a number from %g", f.least)
		}
		return fmt.Errorf("expected a number from %g to %g", f.least, f.most)
	}
	*f.value = x
	return nil
}

// ShareVar defines a flag for a number from 0 to 1.
func ShareVar(flags *pflag.FlagSet, value *float64, name string, otherwise float64, usage string) {
	*value = otherwise
	flags.Var(realFlag{value, 0, 1}, name, usage)
}

// WeightVar defines a flag for a number from 0.
func WeightVar(flags *pflag.FlagSet, value *float64, name string, otherwise float64, usage string) {
	*value = otherwise
	flags.Var(realFlag{value, 0, math.MaxFloat64}, name, usage)
}
