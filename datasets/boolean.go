package datasets

import (
	"fmt"
	"math/bits"
	"math/rand/v2"

	"github.com/accrete-ml/accrete/table"
)

// boolean is the noisy Boolean function of the experiments on rule networks:
// three ways to be true, one of which no single attribute hints at.
var boolean = generator{
	set: Set{
		Name: "boolean", Title: "x = (y1 xor y2) or (y3 and y4) or (y5 and y6), sometimes wrong", Target: "x",
		Source: "Higgins & Goodman 1991",
		Parameters: []Parameter{
			{"rows", "1280", "number of random rows"},
			{"each", "", "instead of rows: every one of the 64 patterns so many times, shuffled"},
			noiseParameter("0.1", "probability that x is wrong"),
			seedParameter,
		},
	},
	plan: func(a *arguments) plan {
		noise, seed := a.fraction("noise", 0, 1), a.seed()
		each, rows := 0, 0
		if a.given["each"] {
			each = a.whole("each", 1, maxRows/64)
			rows = each * 64
			if a.given["rows"] {
				a.refuse("each", "no rows beside it: every pattern so many times is 64 times as many rows")
			}
		} else {
			rows = a.whole("rows", 1, maxRows)
		}
		x := func(y uint) bool {
			y1, y2, y3, y4, y5, y6 := y>>5&1, y>>4&1, y>>3&1, y>>2&1, y>>1&1, y&1
			return y1^y2|y3&y4|y5&y6 == 1
		}
		fill := func(columns []table.Column) {
			r := random(seed, streamBoolean)
			patterns := make([]uint32, rows)
			for row := range patterns {
				if each > 0 {
					patterns[row] = uint32(row / each)
				} else {
					patterns[row] = r.Uint32N(64)
				}
			}
			if each > 0 {
				r.Shuffle(rows, func(i, j int) { patterns[i], patterns[j] = patterns[j], patterns[i] })
			}
			fillFunction(columns, func(row int) uint { return uint(patterns[row]) }, x, noise, r)
		}
		return plan{functionOf(6, "y", "x"), rows, fill}
	},
}

// maxBits keeps a complete truth table below maxRows.
const maxBits = 20

// parity is true if an odd number of bits are set: no proper subset of the
// bits says anything about it.
var parity = generator{
	set: Set{
		Name: "parity", Title: "Is the number of bits that are set odd", Target: "odd",
		Source: "Minsky & Papert 1969, Perceptrons",
		Parameters: []Parameter{
			{"bits", "6", "number of bits"},
			{"rows", "0", "number of random rows; 0 gives every pattern once, in order"},
			noiseParameter("0", "probability that the answer is wrong"),
			seedParameter,
		},
	},
	plan: func(a *arguments) plan {
		n, rows, noise, seed := a.whole("bits", 1, maxBits), a.whole("rows", 0, maxRows), a.fraction("noise", 0, 1), a.seed()
		r := func() *rand.Rand { return random(seed, streamParity) }
		odd := func(pattern uint) bool { return bits.OnesCount(pattern)%2 == 1 }
		attributes := functionOf(n, "b", "odd")
		if rows == 0 {
			return plan{attributes, 1 << n, func(columns []table.Column) {
				fillFunction(columns, func(row int) uint { return uint(row) }, odd, noise, r())
			}}
		}
		return plan{attributes, rows, func(columns []table.Column) {
			r := r()
			fillFunction(columns, func(int) uint { return r.UintN(1 << n) }, odd, noise, r)
		}}
	},
}

// randomBoolean is a Boolean function drawn from all 2^(2^n) of them.
var randomBoolean = generator{
	set: Set{
		Name: "random-boolean", Title: "A random Boolean function, every pattern once", Target: "f",
		Source: "as in Frean 1990, the upstart algorithm",
		Parameters: []Parameter{
			{"bits", "6", "number of bits"},
			seedParameter,
		},
	},
	plan: func(a *arguments) plan {
		n, seed := a.whole("bits", 1, maxBits), a.seed()
		return plan{functionOf(n, "b", "f"), 1 << n, func(columns []table.Column) {
			r := random(seed, streamRandomBoolean)
			coin := func(uint) bool { return r.Uint32()>>31 == 1 }
			fillFunction(columns, func(row int) uint { return uint(row) }, coin, 0, nil)
		}}
	},
}

// functionOf returns n inputs, the first being the highest bit of a pattern,
// and the output.
func functionOf(n int, input, output string) []table.Attribute {
	var names []string
	for i := 1; i <= n; i++ {
		names = append(names, fmt.Sprintf("%s%d", input, i))
	}
	return bitsOf(append(names, output)...)
}

// fillFunction writes the bits of each row's pattern and the function's
// value, which is wrong with probability noise.
func fillFunction(columns []table.Column, pattern func(row int) uint, f func(pattern uint) bool, noise float64, r *rand.Rand) {
	n := len(columns) - 1
	for row := range columns[n].Codes {
		p := pattern(row)
		for i := range n {
			columns[i].Codes[row] = int32(p >> (n - 1 - i) & 1)
		}
		value := f(p)
		if noise > 0 && r.Float64() < noise {
			value = !value
		}
		if value {
			columns[n].Codes[row] = 1
		}
	}
}
