package neural

import (
	"math"
	"math/rand/v2"
)

// The sizes of ALVINN's picture, of a camera that looks ahead, and its number
// of steering directions.
const (
	roadWidth, roadHeight = 32, 30
	roadBlock             = 4 // camera pixels in a row of a pixel's block
	Directions            = 30
)

// ALVINN returns the network that drove a car at 70 miles per hour (Pomerleau
// 1993; Mitchell 1997, figure 4.1): 32 by 30 pixels, four hidden units, and an
// output for each of 30 directions from sharp left to sharp right, of which
// the strongest wins. All weights are 0.
func ALVINN() *Network {
	return Layered(Sigmoid, Sigmoid, roadWidth*roadHeight, 4, Directions)
}

// Road makes a picture for ALVINN, pixels from −½ (black) to ½, row by row: a
// road that bends, from −1 for sharp left to 1 for sharp right, seen by a car
// that stands so much of half the road's width to the right of its middle.
// Pixels are taken at random from the camera's, which have noise.
func Road(bend, offset float64, random *rand.Rand) []float64 {
	const width, height = roadWidth * roadBlock, roadHeight * roadBlock
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
	picture, _ := Shrink(camera, width, roadBlock, random) // the sizes fit
	return picture
}

// Steering returns the direction for a road, from 0 to 29: along its bend, and
// back to its middle.
func Steering(bend, offset float64) int {
	turn := min(max(0.7*bend-0.3*offset, -1), 1)
	return int(math.Round((turn + 1) / 2 * (Directions - 1)))
}

// SteeringTarget returns ALVINN's targets for a direction: a hill around it, so
// that directions that are nearly right count as nearly right.
func SteeringTarget(direction int) []float64 {
	targets := make([]float64, Directions)
	for i := range targets {
		distance := float64(i - direction)
		targets[i] = 0.1 + 0.8*math.Exp(-distance*distance/10)
	}
	return targets
}
