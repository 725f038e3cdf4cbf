package datasets

import "github.com/accrete-ml/accrete/table"

// rectangle is points of the unit square, inside or outside of a rectangle
// whose edges are parallel to the axes.
var rectangle = generator{
	set: Set{
		Name: "rectangle", Title: "Points inside and outside of the rectangle from (0.3, 0.2) to (0.8, 0.6)", Target: "inside",
		Source: "as in Mitchell 1997, exercise 4.12",
		Parameters: []Parameter{
			{"rows", "200", "number of points"},
			noiseParameter("0", "probability that a point is on the wrong side"),
			seedParameter,
		},
	},
	plan: func(a *arguments) plan {
		rows, noise, seed := a.whole("rows", 1, maxRows), a.fraction("noise", 0, 1), a.seed()
		fill := func(columns []table.Column) {
			r := random(seed, streamRectangle)
			for row := range rows {
				x, y := r.Float64(), r.Float64()
				columns[0].Floats[row], columns[1].Floats[row] = x, y
				inside := x >= 0.3 && x <= 0.8 && y >= 0.2 && y <= 0.6
				if (r.Float64() < noise) != inside {
					columns[2].Codes[row] = 1
				}
			}
		}
		return plan{[]table.Attribute{
			{Name: "x", Kind: table.Numeric},
			{Name: "y", Kind: table.Numeric},
			{Name: "inside", Kind: table.Nominal, Values: []string{"no", "yes"}},
		}, rows, fill}
	},
}
