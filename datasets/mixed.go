package datasets

import (
	"fmt"
	"math"

	"github.com/accrete-ml/accrete/internal/crew"
	"github.com/accrete-ml/accrete/table"
)

// mixed is a table for measuring speed: ten numeric columns of several
// shapes, ten nominal ones of 2 to 20 values, and a class that depends on
// some of them, alone and together, so that there is something to learn.
var mixed = generator{
	set: Set{
		Name: "mixed", Title: "Ten numbers, ten names and a class that depends on some of them", Target: "class",
		Source: "for measuring speed",
		Parameters: []Parameter{
			{"rows", "10000", "number of rows"},
			noiseParameter("0.1", "probability that the class is wrong"),
			{"missing", "0", "probability that a cell is missing"},
			seedParameter,
		},
	},
	plan: func(a *arguments) plan {
		rows, noise, missing, seed := a.whole("rows", 1, maxRows), a.fraction("noise", 0, 1), a.fraction("missing", 0, 1), a.seed()
		var attributes []table.Attribute
		for i := range mixedNumbers {
			attributes = append(attributes, table.Attribute{Name: fmt.Sprintf("x%d", i+1), Kind: table.Numeric})
		}
		for i, arity := range mixedArities {
			values := make([]string, arity)
			for v := range values {
				values[v] = fmt.Sprintf("v%d", v+1)
			}
			attributes = append(attributes, table.Attribute{Name: fmt.Sprintf("c%d", i+1), Kind: table.Nominal, Values: values})
		}
		attributes = append(attributes, table.Attribute{Name: "class", Kind: table.Nominal, Values: []string{"no", "yes"}})
		fill := func(columns []table.Column) {
			class := len(columns) - 1
			// A stream for each column: columns are made at the same time,
			// and are the same on any number of cores.
			var group crew.Group
			for c := range class {
				group.Go(func() { fillMixed(columns[c], c, seed) })
			}
			group.Wait()
			r := random(seed, streamMixed+uint64(class))
			for row := range rows {
				yes := mixedScore(columns, row) > 0
				if r.Float64() < noise {
					yes = !yes
				}
				if yes {
					columns[class].Codes[row] = 1
				}
			}
			// Cells go missing last, so that the class depends on what
			// they were.
			if missing > 0 {
				for c := range class {
					group.Go(func() { loseCells(columns[c], missing, seed, uint64(streamMixed+len(columns)+c)) })
				}
				group.Wait()
			}
		}
		return plan{attributes, rows, fill}
	},
}

const mixedNumbers = 10

var mixedArities = [10]int{2, 2, 3, 3, 4, 5, 6, 8, 12, 20}

// fillMixed fills the cells of one column but the class.
func fillMixed(column table.Column, c int, seed uint64) {
	r := random(seed, streamMixed+uint64(c))
	for row := range column.Floats {
		var x float64
		switch c {
		case 0, 1, 2, 3, 4:
			x = r.NormFloat64()
		case 5, 6:
			x = 100 * r.Float64()
		case 7:
			x = r.ExpFloat64()
		case 8: // few distinct values: years of age
			x = float64(18 + r.IntN(73))
		default: // two decimals: an amount of money
			x = math.Round(100*math.Exp(4+r.NormFloat64())) / 100
		}
		column.Floats[row] = x
	}
	if column.Codes == nil {
		return
	}
	arity := mixedArities[c-mixedNumbers]
	for row := range column.Codes {
		v := r.IntN(arity)
		if c%2 == 1 { // every other column prefers its first values
			v = min(v, r.IntN(arity))
		}
		column.Codes[row] = int32(v)
	}
}

// mixedScore is above 0 for the class yes, before noise: about half of all
// rows.
func mixedScore(columns []table.Column, row int) float64 {
	x := func(i int) float64 { return columns[i-1].Floats[row] }
	c := func(i int) int32 { return columns[mixedNumbers+i-1].Codes[row] }
	score := x(1) - 0.7*x(2)
	if x(3) > 0.5 && x(4) < 0.8 {
		score += 1.5
	}
	if x(6) < 30 {
		score--
	}
	if x(9) >= 65 && c(1) == 0 {
		score += 1.2
	}
	if c(2) == c(3) {
		score += 0.8
	}
	switch {
	case c(5) == 3:
		score += 0.6
	case c(10) < 6:
		score -= 0.8
	}
	return score - 0.4
}

func loseCells(column table.Column, missing float64, seed, stream uint64) {
	r := random(seed, stream)
	for row := range column.Floats {
		if r.Float64() < missing {
			column.Floats[row] = table.NA
		}
	}
	for row := range column.Codes {
		if r.Float64() < missing {
			column.Codes[row] = table.Missing
		}
	}
}
