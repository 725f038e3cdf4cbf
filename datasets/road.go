package datasets

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"

	"github.com/accrete-ml/accrete/table"
)

// The sizes of ALVINN's picture, of a camera that looks ahead, and its number
// of steering directions.
const (
	RoadWidth, RoadHeight = 32, 30
	roadBlock             = 4 // camera pixels in a row of a pixel's block
	Directions            = 30
)

// Road makes a picture for ALVINN, pixels from −½ (black) to ½, row by row: a
// road that bends, from −1 for sharp left to 1 for sharp right, seen by a car
// that stands so much of half the road's width to the right of its middle.
// Pixels are taken at random from the camera's, which have noise.
func Road(bend, offset float64, random *rand.Rand) []float64 {
	const width, height = RoadWidth * roadBlock, RoadHeight * roadBlock
	const horizon = height / 4
	camera := make([]float64, width*height)
	for y := range height {
		// From 0 at the horizon to 1 before the car; things shrink and
		// bends add up with the distance.
		near := float64(y-horizon+1) / (height - horizon)
		middle := width/2 - offset*near*width/4 + bend*(1-near)*(1-near)*width/2
		for x := range width {
			light := 0.9 // the sky
			switch beside := math.Abs(float64(x) + 0.5 - middle); {
			case near <= 0:
			case beside < near*width/4:
				light = 0.6
			default:
				light = 0.3
			}
			camera[y*width+x] = min(max(light+0.05*random.NormFloat64(), 0), 1) - 0.5
		}
	}
	picture := make([]float64, 0, RoadWidth*RoadHeight)
	for top := 0; top < height; top += roadBlock {
		for left := 0; left < width; left += roadBlock {
			picture = append(picture, camera[(top+random.IntN(roadBlock))*width+left+random.IntN(roadBlock)])
		}
	}
	return picture
}

// Steering returns the direction for a road, from 0 to 29: along its bend, and
// back to its middle.
func Steering(bend, offset float64) int {
	turn := min(max(0.7*bend-0.3*offset, -1), 1)
	return int(math.Round((turn + 1) / 2 * (Directions - 1)))
}

// road is pictures for ALVINN with the direction that a driver would steer to.
var road = generator{
	set: Set{
		Name: "road", Title: "Roads seen by a car, 32 by 30 pixels, and where to steer", Target: "steer",
		Source: "as in Pomerleau 1993, ALVINN (Mitchell 1997, section 4.2)",
		Parameters: []Parameter{
			{"rows", "300", "number of pictures"},
			seedParameter,
		},
	},
	plan: func(a *arguments) plan {
		const most = 100_000 // of 960 pixels each
		rows, seed := a.whole("rows", 1, most), a.seed()
		fill := func(columns []table.Column) {
			r := random(seed, streamRoad)
			for row := range rows {
				bend, offset := 2*r.Float64()-1, 2*r.Float64()-1
				for pixel, light := range Road(bend, offset, r) {
					columns[pixel].Floats[row] = light
				}
				columns[RoadWidth*RoadHeight].Codes[row] = int32(Steering(bend, offset))
			}
		}
		var attributes []table.Attribute
		for y := range RoadHeight {
			for x := range RoadWidth {
				attributes = append(attributes, table.Attribute{Name: fmt.Sprintf("p%02d-%02d", y+1, x+1), Kind: table.Numeric})
			}
		}
		var directions []string
		for i := range Directions {
			directions = append(directions, strconv.Itoa(i+1))
		}
		return plan{append(attributes, table.Attribute{Name: "steer", Kind: table.Nominal, Values: directions}), rows, fill}
	},
}
