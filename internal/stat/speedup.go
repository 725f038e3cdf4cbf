package stat

import (
	"cmp"
	"math"
	"slices"
)

// Cost is what a problem took to solve, or, where it was given up, at least took.
type Cost struct {
	Value   float64
	GivenUp bool
}

// Speedup compares what the same problems cost before and after something was
// learnt that should make solving them faster (Segre, Elkan & Russell 1991; Etzioni
// & Etzioni 1994). Costs are far from normal, and some problems are given up, so
// that only the least that they cost is known: the tests are the sign test and
// Wilcoxon's signed ranks, both of one side. Of a problem that was given up once it
// is known which time took longer; where it was given up afterwards its rank is the
// highest, where before it is that of the least difference, which never makes the
// case for learning better than it is. One given up both times says nothing.
type Speedup struct {
	Faster, Slower, Same, Open int     // problems
	Sign, Ranks                float64 // probability of as much or more if nothing was gained; 1 of no problems
}

// SpeedupOf tests pairs of costs.
func SpeedupOf(before, after []Cost) Speedup {
	var s Speedup
	var gains []float64 // above 0: faster
	for i, b := range before {
		a := after[i]
		gain := b.Value - a.Value
		switch {
		case a.GivenUp && b.GivenUp:
			s.Open++
			continue
		case a.GivenUp:
			gain = math.Inf(-1)
		case b.GivenUp:
			gain = max(gain, math.SmallestNonzeroFloat64)
		case gain == 0:
			s.Same++
			continue
		}
		gains = append(gains, gain)
		if gain > 0 {
			s.Faster++
		} else {
			s.Slower++
		}
	}
	n := float64(len(gains))
	s.Sign, s.Ranks = 1, 1
	if len(gains) > 0 {
		s.Sign = BinomialCDF(float64(s.Slower), n, 0.5)
		s.Ranks = signedRanks(gains)
	}
	return s
}

// exactRanks is up to how many pairs the distribution of the ranks is counted out.
const exactRanks = 60

// signedRanks is the probability that the ranks of the gains add up to as much, or
// more, if each had either sign alike. Equal ones share their ranks.
func signedRanks(gains []float64) float64 {
	slices.SortFunc(gains, func(a, b float64) int { return cmp.Compare(math.Abs(a), math.Abs(b)) })
	doubled := make([]int, len(gains)) // twice the rank, so that shared ones are whole
	sum, squares := 0, 0.0
	for from := 0; from < len(gains); {
		to := from + 1
		for to < len(gains) && math.Abs(gains[to]) == math.Abs(gains[from]) {
			to++
		}
		for i := from; i < to; i++ {
			doubled[i] = from + to + 1
			squares += float64(doubled[i]) * float64(doubled[i])
			if gains[i] > 0 {
				sum += doubled[i]
			}
		}
		from = to
	}
	total := 0
	for _, r := range doubled {
		total += r
	}
	if len(gains) > exactRanks {
		return 1 - NormalCDF((float64(sum)-1-float64(total)/2)/math.Sqrt(squares/4))
	}
	ways := make([]float64, total+1) // probability of each sum
	ways[0] = 1
	for _, r := range doubled {
		for at := total; at >= 0; at-- {
			ways[at] /= 2
			if at >= r {
				ways[at] += ways[at-r] / 2
			}
		}
	}
	p := 0.0
	for _, w := range slices.Backward(ways[sum:]) {
		p += w
	}
	return min(p, 1)
}
