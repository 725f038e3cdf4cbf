package units

import (
	"math"

	"github.com/accrete-ml/accrete/datasets"
)

// ALVINN returns the network that drove a car at 70 miles per hour (Pomerleau
// 1993; Mitchell 1997, figure 4.1): 32 by 30 pixels, four hidden units, and an
// output for each of 30 directions from sharp left to sharp right, of which
// the strongest wins. All weights are 0.
func ALVINN() *Network {
	return Layered(Sigmoid, Sigmoid, datasets.RoadWidth*datasets.RoadHeight, 4, datasets.Directions)
}

// SteeringTarget returns ALVINN's targets for a direction: a hill around it, so
// that directions that are nearly right count as nearly right.
func SteeringTarget(direction int) []float64 {
	targets := make([]float64, datasets.Directions)
	for i := range targets {
		distance := float64(i - direction)
		targets[i] = 0.1 + 0.8*math.Exp(-distance*distance/10)
	}
	return targets
}
