package neuraltree

import "math"

// criterion is what a unit makes small. Of the weight pos of positive and neg
// of negative targets, the unit gets missedPos and missedNeg wrong: 0 is
// perfect, and 1 or more is no progress.
type criterion struct {
	value func(missedPos, pos, missedNeg, neg float64) float64
	// rising says that the value only rises with further errors, so that
	// counting them can stop once it is too high.
	rising bool
}

// criteria by name. The paper minimises the error, and names the other two as
// worth considering.
var criteria = map[string]criterion{
	"error":   {imbalance, true},
	"entropy": {remainingEntropy, false},
	"cluster": {outsideCluster, false},
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
