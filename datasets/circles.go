package datasets

import (
	"math"
	"strconv"

	"github.com/accrete-ml/accrete/table"
)

// circles are points in five rings around the origin. Ring k lies between
// the radii k−1 and k, less a gap on both sides of each boundary between two
// rings, and its points are spread evenly over its area. Classes can be
// selected, so that sessions of incremental learning can bring them one after
// the other.
var circles = generator{
	set: Set{
		Name: "circles", Title: "Points in five rings around one centre", Target: "ring",
		Source: "as in Polikar et al. 2001, Learn++",
		Parameters: []Parameter{
			{"rows", "250", "number of rows, shared out evenly over the classes"},
			{"classes", "1,2,3,4,5", "the rings to draw from, 1 being the innermost"},
			{"gap", "0.1", "empty space on each side of a boundary between rings"},
			seedParameter,
		},
	},
	plan: func(a *arguments) plan {
		const rings = 5
		rows, classes, gap, seed := a.whole("rows", 1, maxRows), a.wholes("classes", 1, rings), a.fraction("gap", 0, 0.49), a.seed()
		names := make([]string, len(classes))
		for i, class := range classes {
			names[i] = strconv.Itoa(class)
		}
		fill := func(columns []table.Column) {
			r := random(seed, streamCircles)
			x, y, ring := columns[0].Floats, columns[1].Floats, columns[2].Codes
			for row := range rows {
				ring[row] = int32(row % len(classes))
			}
			r.Shuffle(rows, func(i, j int) { ring[i], ring[j] = ring[j], ring[i] })
			for row := range rows {
				inner, outer := float64(classes[ring[row]]-1)+gap, float64(classes[ring[row]])-gap
				switch classes[ring[row]] {
				case 1:
					inner = 0
				case rings:
					outer = rings
				}
				radius := math.Sqrt(inner*inner + r.Float64()*(outer*outer-inner*inner))
				sin, cos := math.Sincos(2 * math.Pi * r.Float64())
				x[row], y[row] = radius*cos, radius*sin
			}
		}
		return plan{[]table.Attribute{
			{Name: "x", Kind: table.Numeric},
			{Name: "y", Kind: table.Numeric},
			{Name: "ring", Kind: table.Nominal, Values: names},
		}, rows, fill}
	},
}
