package neuraltree

import (
	"math"

	"github.com/accrete-ml/accrete/internal/pocket"
)

// criteria by name: what a unit makes small, 0 being perfect and 1 or more no
// progress. The paper minimises the error, and names the other two as
// worth considering.
var criteria = map[string]pocket.Criterion{
	"error":   {Value: imbalance, Rising: true},
	"entropy": {Value: remainingEntropy, Rising: false},
	"cluster": {Value: outsideCluster, Rising: false},
}

// imbalance is the paper's equation 2, E = m⁺/N⁺ + m⁻/N⁻.
func imbalance(missedPos, pos, missedNeg, neg float64) float64 {
	return missedPos/pos + missedNeg/neg
}

// remainingEntropy is the entropy of the class when the side is known, as a
// share of what it was before.
func remainingEntropy(missedPos, pos, missedNeg, neg float64) float64 {
	right, left := (pos-missedPos)+missedNeg, missedPos+(neg-missedNeg)
	before := (pos + neg) * entropy(pos, pos+neg)
	return (right*entropy(missedNeg, right) + left*entropy(missedPos, left)) / before
}

// entropy returns the bits of two classes of which one has so much of all.
func entropy(part, all float64) float64 {
	if !(part > 0 && part < all) {
		return 0
	}
	p := part / all
	return -p*math.Log2(p) - (1-p)*math.Log2(1-p)
}

// outsideCluster is the share of rows outside the larger side that holds one
// class alone; without such a side, above 1, by the errors (Marchand, Golea
// and Ruján 1990 cut off the largest cluster of one class).
func outsideCluster(missedPos, pos, missedNeg, neg float64) float64 {
	cluster := 0.0
	if missedNeg == 0 {
		cluster = pos - missedPos
	}
	if missedPos == 0 {
		cluster = max(cluster, neg-missedNeg)
	}
	if cluster == 0 {
		return 1 + imbalance(missedPos, pos, missedNeg, neg)
	}
	return 1 - cluster/(pos+neg)
}
